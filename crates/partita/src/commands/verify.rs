//! `partita verify`: reads a whole database and checks every checksum. Changes nothing.

use super::Failure;
use super::progress::{Progress, size};
use clap::Args;
use engine::{OpenError, VerifyReport};
use rt::RealDisk;
use server::control;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Checks the manifest, the catalogue, the commit log and every block of every table file: checksums, the order of
keys, the form of every row, that files are the ones the manifest names. Nothing is changed. If a server is running, a
snapshot of it is checked (recent writes are flushed first); the snapshot does not contain the log.

Exit 0: all is well. Exit 1: damage, one line each with file and offset. Then: keep the folder as it is, copy it if the
disk may be failing, and either put back the named file from a copy or restore a backup:
  partita restore --from BACKUP --data NEW-FOLDER";

#[derive(Args)]
#[command(after_help = HELP)]
pub struct VerifyOptions {
    /// The database, or a backup
    #[arg(long, env = "PARTITA_DATA", value_name = "DIR", default_value = "partita-data")]
    data: PathBuf,
}

pub fn run(options: VerifyOptions) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(error.to_string());
    let lease = control::request_snapshot(&options.data).map_err(|e| failed(&e))?;
    if lease.is_some() {
        eprintln!("the server is running: checking a snapshot of it");
    }
    let dir: &Path = lease.as_ref().map_or(&options.data, |lease| &lease.dir);
    let mut progress = Progress::begin("checking");
    let report = engine::verify(&RealDisk, dir, &mut |now| progress.show(now));
    let took = progress.end();
    let report = report.map_err(|error| match error {
        OpenError::ManifestMissing { dir } => {
            Failure::Failed(format!("{dir} is not a database: it has no MANIFEST"))
        }
        error => failed(&error),
    })?;
    print(&report, &options.data, &took);
    if report.problems.is_empty() { Ok(()) } else { Err(Failure::Findings) }
}

fn print(report: &VerifyReport, data: &Path, took: &str) {
    for problem in &report.problems {
        println!("damage: {problem}");
    }
    for end in &report.torn {
        println!(
            "note: {} ends at offset {} with something unreadable. After a crash that is usual and was never \
             acknowledged; after a clean stop it is damage",
            end.file, end.offset
        );
    }
    let checked = format!(
        "{} files, {} ({} entries, {} log records) in {took}",
        report.files,
        size(report.bytes),
        report.entries,
        report.log_records
    );
    match report.problems.len() {
        0 => println!("{}: all is well: {checked}", data.display()),
        count => println!(
            "{}: {count} damaged or missing: {checked}. Nothing was changed. Put back the named files from a copy, or \
             `partita restore --from BACKUP --data NEW-FOLDER`",
            data.display()
        ),
    }
}
