//! `partita migrate --once`: the schema and the rows of keyspaces from one CQL server to another, with the time and the expiry of
//! every value, and a comparison of both sides at the end.
//!
//! For a database that nobody writes to meanwhile. What CQL cannot tell is inferred: a row's marker is there, as old as the row's
//! oldest value, and expires with the last of its values if all of them expire. Values of a list get the time of the newest.

mod cells;
mod copy;
mod live;
mod schema;
mod verify;

use super::table::Table;
use super::{Failure, Server, failed, tls};
use clap::Args;
use copy::Copying;
use schema::Schema;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Both sides are reached by CQL: Partita (also one that is a front end), Cassandra or ScyllaDB. Nothing is changed on the source. Tables
that exist on the target must have the same columns and, unless --into-existing is given, no rows. Indexes and views are made after
the rows. An unfinished table can be migrated again: values keep their times, so nothing doubles. Lists and
counters are the exceptions: empty those tables first.

Examples:
  partita migrate --once --from 127.0.0.1:9042 --to 10.0.0.1 --keyspace app
  partita migrate --once --from 10.0.0.1 --to 127.0.0.1:9042 --keyspace app --replication \"{'class': 'SimpleStrategy', 'replication_factor': 1}\"
  partita migrate --once --from A --to B --table app.orders --verify-only";

#[derive(Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct MigrateOptions {
    #[command(subcommand)]
    command: Option<live::LiveCommand>,
    /// The server that has the data
    #[arg(long, value_name = "HOST:PORT", required = true)]
    from: Option<String>,
    /// The server that gets it
    #[arg(long, value_name = "HOST:PORT", required = true)]
    to: Option<String>,
    /// Copy a database that nobody writes to, then compare
    #[arg(long)]
    once: bool,
    /// A keyspace, with all that is in it; may be given several times
    #[arg(long, value_name = "NAME", required_unless_present = "table")]
    keyspace: Vec<String>,
    /// A table: keyspace.table; may be given several times. It must exist on the target
    #[arg(long, value_name = "TABLE", conflicts_with = "keyspace")]
    table: Vec<String>,
    /// Replication of the keyspaces on the target [default: that of the source]
    #[arg(long, value_name = "MAP")]
    replication: Option<String>,
    /// Copy into tables that have rows already
    #[arg(long)]
    into_existing: bool,
    /// Copy nothing, compare both sides
    #[arg(long)]
    verify_only: bool,
    /// Compare lists by their values: after a migration of a database in use, their times differ between the sides
    #[arg(long)]
    live: bool,
    /// The role on the source. The password is PARTITA_PASSWORD
    #[arg(long, value_name = "ROLE", env = "PARTITA_USER", default_value = client::FIRST_LOGIN.0)]
    user: String,
    /// The role on the target [default: that on the source]. The password is PARTITA_TO_PASSWORD, or PARTITA_PASSWORD
    #[arg(long, value_name = "ROLE")]
    to_user: Option<String>,
    /// A file that holds the password of the role on the target
    #[arg(long, value_name = "FILE")]
    to_password_file: Option<PathBuf>,
    /// Authorities (PEM) that sign the source's certificate; with it, the source is reached over TLS
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// The same of the target
    #[arg(long, value_name = "FILE")]
    to_tls_ca: Option<PathBuf>,
    /// Connections to each side that work side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    connections: u16,
}

pub fn migrate(options: &MigrateOptions) -> Result<(), Failure> {
    if let Some(command) = &options.command {
        return live::live(command);
    }
    if !options.once {
        return Err(Failure::Usage(
            "say --once: a copy of a database that nobody writes to. A database that is written to moves with `partita migrate run`, \
             behind a front end (docs/moving-data.md)"
                .into(),
        ));
    }
    let (Some(from_at), Some(to_at)) = (&options.from, &options.to) else {
        return Err(Failure::Usage("say --from and --to".into()));
    };
    let to_password = options.to_password()?;
    let (tls, to_tls) = (tls(options.tls_ca.as_ref()), tls(options.to_tls_ca.as_ref()));
    let source = Server { tls: tls.as_ref(), ..Server::new(from_at, &options.user) };
    let user = options.to_user.as_deref().unwrap_or(&options.user);
    let target =
        Server { password: to_password.as_deref(), tls: to_tls.as_ref(), ..Server::new(to_at, user) };
    let (mut from, mut to) = (source.connect()?, target.connect()?);
    let schema = Schema::read(&mut from, &options.keyspace)?;
    if !options.verify_only {
        schema.make_tables(&mut to, options.replication.as_deref())?;
    }
    let names = if options.table.is_empty() { schema.tables() } else { options.table.clone() };
    let mut tables = Vec::new();
    for name in names {
        let (table, there) = (Table::find(&mut from, &name)?, Table::find(&mut to, &name)?);
        schema::same_columns(&table, &there)?;
        if !options.verify_only && !options.into_existing && schema::has_rows(&mut to, &there)? {
            return Err(Failure::Failed(format!(
                "{name}: the target has rows in it already. Empty it, or say --into-existing"
            )));
        }
        tables.push(table);
    }
    drop((from, to));
    let copying =
        Copying { source, target, connections: usize::from(options.connections), live: options.live };
    if !options.verify_only {
        for table in &tables {
            copying.copy(table)?;
        }
    }
    let mut different = 0;
    for table in &tables {
        different += u64::from(!verify::compare(&copying, table)?);
    }
    if different > 0 {
        return Err(Failure::Failed(format!("{different} of {} tables differ", tables.len())));
    }
    if !options.verify_only {
        schema.make_copies(&mut target.connect()?)?;
    }
    println!("{} tables are the same on both sides", tables.len());
    Ok(())
}

impl MigrateOptions {
    fn to_password(&self) -> Result<Option<String>, Failure> {
        password_of(self.to_password_file.as_deref())
    }
}

/// The password of the role on the target: in a file, or a variable.
fn password_of(file: Option<&Path>) -> Result<Option<String>, Failure> {
    let Some(path) = file else { return Ok(std::env::var("PARTITA_TO_PASSWORD").ok()) };
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_string()))
}
