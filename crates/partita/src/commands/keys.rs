//! `partita keys`: access keys for the DynamoDB API.

use super::Failure;
use clap::{Args, Subcommand};
use server::control;
use std::path::PathBuf;

const HELP: &str = "\
With --auth password, requests of the DynamoDB API must be signed. A key belongs to a role and may do what the role may
(GRANT ... ON KEYSPACE dynamo). Its secret is shown once; the server keeps it in system_auth.access_keys, because it
needs the secret to check a signature. Run this on the server's machine, as its user, while it runs.

Examples:
  partita keys create app                  # two lines for ~/.aws/credentials
  partita keys list
  partita keys delete AKIA...";

#[derive(Args)]
#[command(after_help = HELP)]
pub struct KeysOptions {
    /// The data folder of the running server
    #[arg(long, global = true, env = "PARTITA_DATA", value_name = "DIR", default_value = "partita-data")]
    data: PathBuf,
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Make a key for a role and show its secret, only this once
    Create { role: String },
    /// List keys and their roles
    List { role: Option<String> },
    /// Delete a key
    Delete { key: String },
}

pub fn run(options: KeysOptions) -> Result<(), Failure> {
    let request = match &options.command {
        KeysCommand::Create { role } => format!("create {role}"),
        KeysCommand::List { role } => format!("list {}", role.as_deref().unwrap_or_default()),
        KeysCommand::Delete { key } => format!("delete {key}"),
    };
    if request.contains('\n') {
        return Err(Failure::Usage("a name with a line end".into()));
    }
    let answer =
        control::request_keys(&options.data, &request).map_err(|e| Failure::Failed(e.to_string()))?;
    let Some(lines) = answer else {
        let data = options.data.display();
        return Err(Failure::Failed(format!("no server runs on {data}; name its folder with --data")));
    };
    for line in lines {
        println!("{line}");
    }
    Ok(())
}
