//! `partita dynamo`: items of a table of the DynamoDB API out to files and back, through a running endpoint.

mod csv;
mod endpoint;
mod export;
mod import;
mod source;

use super::Failure;
use clap::{Args, Subcommand, ValueEnum};
use endpoint::Endpoint;
use serde_json::Value;
use std::path::PathBuf;

const HELP: &str = "\
Reads and writes through the API, so it works while the server serves, and with any endpoint that speaks plain HTTP.
DynamoDB JSON is written in the service's own layout (AWSDynamoDB/ID/data/*.json.gz with two manifests), and exports of the
service can be read. CSV has a header; an import gives keys the types of the table and reads everything else as text.
Requests are signed if AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set.

Examples:
  partita dynamo export --table orders --to backup
  partita dynamo import --table orders2 --from backup --create
  partita dynamo export --table orders --to orders.csv --format csv";

#[derive(Args)]
#[command(after_help = HELP)]
pub struct DynamoOptions {
    #[command(subcommand)]
    command: DynamoCommand,
}

#[derive(Subcommand)]
enum DynamoCommand {
    /// Write all items of a table to files
    Export(ExportOptions),
    /// Put the items of files into a table
    Import(ImportOptions),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    DynamodbJson,
    Csv,
}

/// Where the table is.
#[derive(Args)]
pub struct TableAt {
    /// The table; a CQL table is keyspace.table
    #[arg(long)]
    table: String,
    /// The endpoint of the API
    #[arg(
        long,
        value_name = "URL",
        env = "PARTITA_DYNAMO_ENDPOINT",
        default_value = "http://127.0.0.1:8000"
    )]
    endpoint: String,
    /// The region to sign for
    #[arg(long, env = "AWS_REGION", default_value = "us-east-1")]
    region: String,
    #[arg(long, env = "AWS_ACCESS_KEY_ID", hide = true)]
    access_key: Option<String>,
    #[arg(long, env = "AWS_SECRET_ACCESS_KEY", hide = true, hide_env_values = true)]
    secret_key: Option<String>,
}

impl TableAt {
    fn connect(&self) -> Result<Endpoint, Failure> {
        let keys = self.access_key.clone().zip(self.secret_key.clone());
        Endpoint::new(&self.endpoint, &self.region, keys)
    }
}

#[derive(Args)]
pub struct ExportOptions {
    #[command(flatten)]
    at: TableAt,
    /// A folder for DynamoDB JSON, a file for CSV
    #[arg(long, value_name = "PATH")]
    to: PathBuf,
    #[arg(long, value_enum, default_value = "dynamodb-json")]
    format: Format,
    /// Items per file of DynamoDB JSON
    #[arg(long, default_value_t = 1_000_000)]
    items_per_file: u64,
}

#[derive(Args)]
pub struct ImportOptions {
    #[command(flatten)]
    at: TableAt,
    /// A file, or a folder with files: .json, .csv, each also as .gz
    #[arg(long, value_name = "PATH")]
    from: PathBuf,
    #[arg(long, value_enum, default_value = "dynamodb-json")]
    format: Format,
    /// Make the table as the export's table.json, or --definition, says
    #[arg(long)]
    create: bool,
    /// What CreateTable takes, or DescribeTable gives, as a JSON file
    #[arg(long, value_name = "FILE")]
    definition: Option<PathBuf>,
    /// Connections that write at the same time
    #[arg(long, default_value_t = 4)]
    connections: usize,
}

pub fn run(options: DynamoOptions) -> Result<(), Failure> {
    match options.command {
        DynamoCommand::Export(options) => export::run(&options),
        DynamoCommand::Import(options) => import::run(&options),
    }
}

/// A table's description.
fn described(endpoint: &mut Endpoint, table: &str) -> Result<Value, Failure> {
    let answer = endpoint.call("DescribeTable", &serde_json::json!({"TableName": table}));
    answer.map(|mut answer| answer["Table"].take()).map_err(|error| Failure::Failed(error.to_string()))
}

/// The names of the key attributes, HASH first.
fn key_names(description: &Value) -> Vec<String> {
    let parts = description["KeySchema"].as_array().cloned().unwrap_or_default();
    parts.iter().filter_map(|part| part["AttributeName"].as_str().map(str::to_string)).collect()
}
