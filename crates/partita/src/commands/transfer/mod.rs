//! `partita unload`, `load` and `migrate`: rows out of any CQL server, into any, and from one to the other.

mod load;
mod migrate;
mod ranges;
mod table;
mod unload;
mod values;

use super::{Failure, csv, server_at};
use clap::{Args, ValueEnum};
use client::{Client, ClientError};
use cql_wire::Consistency;
use server::config::ClusterTls;
use std::path::PathBuf;

const UNLOAD_HELP: &str = "\
CSV has a header, nothing for null, \"\" for an empty text, and JSON for collections. JSON is one object per line. Both are read back
by `partita load` without loss. Times and TTLs of values are not written: `partita migrate` keeps them.

Examples:
  partita unload --table app.orders --to orders.csv
  partita unload --from 10.0.0.1 --table app.orders --to orders --format json      # a folder with a file for each connection
  partita unload --table app.orders --columns 'id, total' --to - | head";

const LOAD_HELP: &str = "\
Names in the header (or members of the objects) are columns; columns that are not named are left alone, and so are nulls unless
--write-nulls is given. If a row is refused, its file and line are named, the others are loaded, and the exit code is 1. Loading
the same rows again changes nothing, except for counters, which are added to.

Examples:
  partita load --table app.orders --from orders.csv
  partita load --to 10.0.0.1 --table app.orders --from orders --format json
  partita load --table app.orders --from orders.csv --dry-run";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Csv,
    /// One object per line
    Json,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }
}

#[derive(Args)]
#[command(after_help = UNLOAD_HELP)]
pub struct UnloadOptions {
    /// The table: keyspace.table
    #[arg(long, value_name = "TABLE")]
    table: String,
    /// The server: Partita, Cassandra or ScyllaDB
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9042", env = "PARTITA_CQL")]
    from: String,
    /// A file (with an ending), a folder, or - for standard output
    #[arg(long, value_name = "PATH")]
    to: PathBuf,
    /// The columns to write [default: all]
    #[arg(long, value_name = "LIST")]
    columns: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
#[command(after_help = LOAD_HELP)]
pub struct LoadOptions {
    /// The table: keyspace.table
    #[arg(long, value_name = "TABLE")]
    table: String,
    /// The server: Partita, Cassandra or ScyllaDB
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9042", env = "PARTITA_CQL")]
    to: String,
    /// A file, a folder of files, or - for standard input
    #[arg(long, value_name = "PATH")]
    from: PathBuf,
    /// Let nulls delete stored values instead of leaving them alone
    #[arg(long)]
    write_nulls: bool,
    /// Read and check everything, send nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Common {
    /// [default: by the ending of the file, else csv]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The role to log in as, if the server asks. The password is PARTITA_PASSWORD
    #[arg(long, value_name = "ROLE", env = "PARTITA_USER", default_value = client::FIRST_LOGIN.0)]
    user: String,
    /// Authorities (PEM) that sign the server's certificate; with it, the server is reached over TLS
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Connections that work side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    connections: u16,
}

/// TLS to a server whose certificate one of these authorities signs.
fn tls(ca: Option<&PathBuf>) -> Option<ClusterTls> {
    ca.map(|ca| ClusterTls { ca: ca.clone(), own: None })
}

impl Common {
    fn format(&self, path: &std::path::Path) -> Format {
        let by_name = || match path.extension().and_then(|ending| ending.to_str()) {
            Some("json" | "jsonl") => Format::Json,
            _ => Format::Csv,
        };
        self.format.unwrap_or_else(by_name)
    }
}

/// A server and who logs in there.
#[derive(Clone, Copy)]
pub struct Server<'o> {
    address: &'o str,
    user: &'o str,
    /// Unless it is PARTITA_PASSWORD.
    password: Option<&'o str>,
    consistency: Consistency,
    tls: Option<&'o ClusterTls>,
}

impl<'o> Server<'o> {
    pub fn new(address: &'o str, user: &'o str) -> Server<'o> {
        Server { address, user, password: None, consistency: Consistency::One, tls: None }
    }

    pub fn connect(&self) -> Result<Client, Failure> {
        let mut client = match (self.tls, self.password) {
            (Some(tls), password) => server_at::connect_tls(self.address, self.user, password, tls),
            (None, Some(password)) => server_at::connect_with(self.address, self.user, password),
            (None, None) => server_at::connect(self.address, self.user),
        }?;
        client.consistency = self.consistency;
        Ok(client)
    }
}

fn failed(error: ClientError) -> Failure {
    Failure::Failed(error.to_string())
}

pub fn unload(options: &UnloadOptions) -> Result<(), Failure> {
    let UnloadOptions { table, from, to, columns, common } = options;
    let tls = tls(common.tls_ca.as_ref());
    let unload = unload::Unload {
        server: Server { tls: tls.as_ref(), ..Server::new(from, &common.user) },
        table,
        columns: columns.as_deref(),
        to,
        format: common.format(to),
        connections: usize::from(common.connections),
    };
    unload.run()
}

pub fn load(options: &LoadOptions) -> Result<(), Failure> {
    let LoadOptions { table, to, from, write_nulls, dry_run, common } = options;
    let tls = tls(common.tls_ca.as_ref());
    let load = load::Load {
        server: Server { tls: tls.as_ref(), ..Server::new(to, &common.user) },
        table,
        from,
        format: common.format(from),
        connections: usize::from(common.connections),
        write_nulls: *write_nulls,
        dry_run: *dry_run,
    };
    load.run()
}

pub use migrate::{MigrateOptions, migrate};
