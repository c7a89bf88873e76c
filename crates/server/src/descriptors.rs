//! File descriptors: how many this process may have, and who gets them.
//!
//! Clients decide how many connections there are; the engine must open its next log segment and its next table all the
//! same. So the soft limit is raised to the hard one, a part is set aside for the engine, and connections are bounded by
//! what is left. This division is a promise of the server's: connections never cost the engine a descriptor.

use crate::config::Limits;

/// Standard streams, listeners, signals, the log and audit files.
const OWN: usize = 32;
/// A shard's event loop with its wakers, and what it hands to background threads.
const PER_SHARD: usize = 4;
/// The engine gets at least so many, and half of all if that is more.
const ENGINE_MIN: usize = 96;
/// Of connections that were told to leave and have not yet, one for each of so many places.
const LEAVING_SHARE: usize = 8;
/// With less the server cannot be used at all.
const CONNECTIONS_MIN: usize = 8;

/// Raises the soft limit to the hard one and says what it is now.
pub fn raise() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let before = getrlimit(Resource::Nofile);
    let unlimited = usize::MAX as u64;
    if before.current != before.maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before })
    {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
    getrlimit(Resource::Nofile).current.unwrap_or(unlimited) as usize
}

/// The limits with no more connections than there are descriptors for; says in words if that changed anything.
pub fn within(limits: Limits, descriptors: usize, shards: usize) -> Limits {
    let engine = (descriptors / 2).max(ENGINE_MIN);
    let left = descriptors.saturating_sub(engine + OWN + PER_SHARD * shards);
    // Some more are open for a moment while strangers leave.
    let places = left - left / (LEAVING_SHARE + 1);
    // Metrics must be readable when clients have taken everything else.
    let http = limits.http_connections_max.min((places / 8).max(CONNECTIONS_MIN));
    let connections = limits.connections_max.min(places.saturating_sub(http).max(CONNECTIONS_MIN));
    if connections < limits.connections_max {
        tracing::warn!(
            "this process may open only {descriptors} files, and {engine} of them are set aside for data: connections are \
             limited to {connections} instead of {}. Raise the hard limit (ulimit -Hn, LimitNOFILE= of systemd)",
            limits.connections_max
        );
    }
    Limits { connections_max: connections, http_connections_max: http, ..limits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_never_cost_the_engine_a_descriptor() {
        let wanted = Limits::default();
        for shards in [1, 2, 16] {
            for descriptors in [256, 512, 1024, 4096, 1 << 20] {
                let limits = within(wanted.clone(), descriptors, shards);
                let clients = limits.connections_max + limits.http_connections_max;
                let leaving = clients / LEAVING_SHARE;
                let used = clients + leaving + OWN + PER_SHARD * shards;
                assert!(descriptors - used >= ENGINE_MIN, "{descriptors} with {shards} shards: {limits:?}");
                assert!(limits.connections_max >= CONNECTIONS_MIN);
            }
        }
        let enough = within(wanted.clone(), 1 << 20, 16);
        assert_eq!(enough.connections_max, wanted.connections_max);
        assert_eq!(enough.http_connections_max, wanted.http_connections_max);
    }

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        use rustix::process::{Resource, getrlimit};
        let limit = raise();
        let now = getrlimit(Resource::Nofile);
        assert_eq!(now.current, now.maximum);
        assert!(limit >= 256);
    }
}
