//! `partita design`: from entities and access patterns to tables, with the reasons, as CQL that passes review.
//!
//! Exit 0 when the derived schema has no error finding, 1 when it has one, 2 for a catalogue that cannot be read.

use super::Failure;
use clap::Args;
use design::output::text;
use std::io::Write;
use std::path::PathBuf;

/// Options of `partita design`.
#[derive(Args)]
pub struct DesignOptions {
    /// The catalogue: a TOML file with `[[entity]]` and `[[pattern]]` tables (see docs/review.md).
    catalogue: PathBuf,
}

pub fn run(options: DesignOptions) -> Result<(), Failure> {
    let path = options.catalogue.display();
    let source = std::fs::read_to_string(&options.catalogue)
        .map_err(|e| Failure::Usage(format!("cannot read {path}: {e}")))?;
    let plan = design::derive::derive(&source).map_err(|e| Failure::Usage(format!("{path}: {e}")))?;
    let cql = design::derive::print(&plan);
    // A closed pipe (`| head`) is the reader's business.
    let _ = std::io::stdout().write_all(cql.as_bytes());
    let review = design::review([("derived schema", cql)]);
    if !review.findings.is_empty() {
        eprint!("{}", text::write(&review, text::Colour::Never));
    }
    if review.has_errors() { Err(Failure::Findings) } else { Ok(()) }
}
