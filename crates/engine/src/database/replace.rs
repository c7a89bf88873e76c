//! Replacing the catalogue while the engine runs.
//!
//! The manifest first names both the old and the new one, so that no third one can be taken for either. A step that fails for a
//! reason that may pass (`rt::may_pass`) either leaves the old one in force or is tried again until it is clear which
//! one is. Only if that cannot be found out, nothing more may be acknowledged.

use super::catalogue::{Catalogue, NO_CATALOGUE, fingerprint, write_catalogue};
use super::shared::Shared;
use crate::manifest::Edit;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::StoreError;

/// How often an attempt to put the old one back is repeated.
const RETRY: Duration = Duration::from_millis(100);

/// Why the new catalogue is not in force.
pub(crate) enum Replaced {
    /// The old one is as it was.
    Not(StoreError),
    /// The old one was written again, under this version.
    Back { version: u64, error: StoreError },
}

/// Puts `new` in the place of `old`, durably. For a background thread.
pub(crate) fn replace_catalogue(shared: &Shared, old: &Catalogue, new: &Catalogue) -> Result<(), Replaced> {
    let failed =
        |error: &dyn std::fmt::Display| StoreError::Io { context: format!("writing the catalogue: {error}") };
    // The first change of a new database replaces none.
    let before = if old.version == 0 { NO_CATALOGUE } else { fingerprint(Some(old)) };
    let known = vec![before, fingerprint(Some(new))];
    if let Err(error) = shared.manifest.publish(&[Edit::Catalogues(known.clone())]) {
        return Err(Replaced::Not(failed(&error)));
    }
    let Err(reason) = write_catalogue(&*shared.disk, &shared.layout.dir, new) else {
        // If this fails, both stay named until the next change or the next open.
        if let Err(error) = shared.manifest.publish(&[Edit::Catalogues(vec![fingerprint(Some(new))])]) {
            tracing::warn!(%error, "the manifest still names the catalogue that was replaced");
        }
        return Ok(());
    };
    if reason.unchanged {
        return Err(Replaced::Not(failed(&reason.error)));
    }
    // The new one may or may not be on disk: the old one is written again under a newer version.
    let back = Catalogue { version: old.version + 2, ..old.clone() };
    while let Err(passing) = put_back(shared, &known, &back) {
        if !passing || shared.options.inline || shared.stopping.load(Ordering::Acquire) {
            // Nobody knows what the next open will find.
            shared.log.fail(format!("writing the catalogue failed: {}", reason.error));
            break;
        }
        rt::threads::pause(RETRY);
    }
    Err(Replaced::Back { version: back.version, error: failed(&reason.error) })
}

/// `Err` says whether another attempt may succeed.
fn put_back(shared: &Shared, known: &[u64], back: &Catalogue) -> Result<(), bool> {
    let mut known = known.to_vec();
    known.push(fingerprint(Some(back)));
    shared.manifest.publish(&[Edit::Catalogues(known)]).map_err(|error| error.may_pass())?;
    write_catalogue(&*shared.disk, &shared.layout.dir, back).map_err(|failed| rt::may_pass(&failed.error))
}
