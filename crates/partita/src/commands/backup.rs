//! `partita backup` and `partita restore`: verified copies of a whole database.
//!
//! A backup is itself a database folder: it can be verified, restored, or served as it is.

use super::Failure;
use super::progress::Progress;
use clap::Args;
use engine::{CopyError, OpenError, copy_database};
use rt::{Disk, RealDisk};
use server::control;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const BACKUP_HELP: &str = "\
The server may be running or stopped. A running one is asked (over a socket in its data folder, so run this on its
machine, as its user) for a snapshot: recent writes are flushed, table files are hard-linked, and clients wait only
for the links. Then the snapshot is copied. Every batch is in the backup whole or not at all.

Every copied file is read back and every checksum checked before the backup counts. An interrupted or failed backup is
not a database; the same command clears it and starts over.

Examples:
  partita backup --data /var/lib/partita --to /backup/monday
  partita verify --data /backup/monday               # whenever you like
  partita restore --from /backup/monday --data /var/lib/partita-new
  partita serve --data /var/lib/partita-new";

const RESTORE_HELP: &str = "\
The new folder must be empty or not exist: nothing is ever overwritten. Every file is read back and every checksum
checked before the database counts; damage in the backup is reported with file and offset, and nothing stays in
the new folder. When this succeeds, start the server on the new folder.

Example:
  partita restore --from /backup/monday --data /var/lib/partita-new";

#[derive(Args)]
#[command(after_help = BACKUP_HELP)]
pub struct BackupOptions {
    /// The database to back up
    #[arg(long, env = "PARTITA_DATA", value_name = "DIR", default_value = "partita-data")]
    data: PathBuf,
    /// Where the backup goes: a folder that does not exist yet, or an empty one
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

#[derive(Args)]
#[command(after_help = RESTORE_HELP)]
pub struct RestoreOptions {
    /// The backup
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Where the database will live: a folder that does not exist yet, or an empty one
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
}

pub fn backup(options: BackupOptions) -> Result<(), Failure> {
    let lease = control::request_snapshot(&options.data).map_err(|e| Failure::Failed(e.to_string()))?;
    match &lease {
        Some(lease) => {
            eprintln!("the server is running: copying a snapshot");
            copy("backed up", &lease.dir, &options.to).map_err(|text| match lease.dir.exists() {
                true => text,
                false => format!(
                    "{text}\nthe server stopped meanwhile, and its snapshot went with it; run this again"
                ),
            })
        }
        None => copy("backed up", &options.data, &options.to),
    }
    .map_err(Failure::Failed)
}

pub fn restore(options: RestoreOptions) -> Result<(), Failure> {
    copy("restored", &options.from, &options.data).map_err(Failure::Failed)
}

fn copy(verb: &str, from: &Path, to: &Path) -> Result<(), String> {
    if !from.is_dir() {
        return Err(format!("{}: there is no such folder", from.display()));
    }
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut progress = Progress::begin("copying");
    let copied = copy_database(&disk, from, to, &mut |now| progress.show(now));
    let took = progress.end();
    let copied = copied.map_err(|error| explain(error, from, to))?;
    if copied.left_out_count > 0 {
        println!(
            "note: {} of the names in {} are no part of a database and were left out: {}",
            copied.left_out_count,
            from.display(),
            copied.left_out.join(", ")
        );
    }
    println!(
        "{verb} {} files, {} ({} entries, {} log records) to {} in {took}; every checksum is right",
        copied.files,
        super::progress::size(copied.bytes),
        copied.entries,
        copied.log_records,
        to.display()
    );
    Ok(())
}

fn explain(error: CopyError, from: &Path, to: &Path) -> String {
    let untouched = format!("{} holds no database", to.display());
    match error {
        CopyError::Source(OpenError::Locked { dir }) => format!(
            "{dir} is open in another process that offers no snapshot (an embedded database, or another command); stop it first"
        ),
        CopyError::Source(OpenError::ManifestMissing { dir }) => {
            format!("{dir} is not a database: it has no MANIFEST")
        }
        CopyError::Source(error) => {
            format!("{error}\n{untouched}; `partita verify --data {}` lists all damage", from.display())
        }
        CopyError::Occupied { .. } => error.to_string(),
        error => format!("{error}\n{untouched}"),
    }
}
