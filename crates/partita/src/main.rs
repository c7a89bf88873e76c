//! The `partita` command.

mod commands;
mod options;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Requests allocate a dozen small pieces each; this takes a third of the system allocator's instructions for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Partita: a wide-column database that knows your access patterns.
///
/// Speaks CQL to unmodified Cassandra drivers and cqlsh, and the DynamoDB API to unmodified AWS SDKs. One process, one data folder,
/// nothing else to install.
#[derive(Parser)]
#[command(name = "partita", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server.
    Serve(Box<options::ServeOptions>),
    /// Copy a database, running or stopped, to a folder and check every byte of the copy.
    Backup(commands::backup::BackupOptions),
    /// Make a database from a backup, in a new folder, and check every byte of it.
    Restore(commands::backup::RestoreOptions),
    /// Check every checksum of every file of a database or backup. Exit 1 on damage.
    Verify(commands::verify::VerifyOptions),
    /// Make, list and delete access keys for the DynamoDB API.
    Keys(commands::keys::KeysOptions),
    /// Write the items of a DynamoDB table to files, or files into a table.
    Dynamo(commands::dynamo::DynamoOptions),
    /// Write the rows of a table to files, CSV or JSON, from any CQL server.
    Unload(commands::transfer::UnloadOptions),
    /// Write the rows of files, CSV or JSON, into a table of any CQL server.
    Load(commands::transfer::LoadOptions),
    /// Copy keyspaces from one CQL server to another, with the time and expiry of every value, and compare.
    Migrate(Box<commands::transfer::MigrateOptions>),
    /// Review CQL files, or DynamoDB tables with their operations: which keys will hurt, which queries have no answer. Exit 1 on errors.
    Review(commands::review::ReviewOptions),
    /// The review as a language server over standard input and output, for editors.
    Lsp(commands::lsp::LspOptions),
    /// Derive tables from entities and access patterns, with the reasons.
    Design(commands::design::DesignOptions),
    /// Show which partitions of a running server are hot, live.
    Top(commands::top::TopOptions),
    /// Write the access patterns that a running server sees, as CREATE ACCESS PATTERN statements.
    Patterns(commands::patterns::PatternsOptions),
    /// Look at a Cassandra cluster: its nodes, whether they agree, and who may write. Exit 1 if something is wrong.
    Cluster(commands::cluster::ClusterOptions),
    /// Predict partition sizes, hot partitions, fan-out and the load of every node at 1x, 10x, 100x.
    Simulate(Box<commands::simulate::SimulateOptions>),
}

fn main() -> ExitCode {
    // clap exits with 2 for bad usage by itself.
    let outcome = match Cli::parse().command {
        Command::Serve(options) => commands::serve::run(*options),
        Command::Backup(options) => commands::backup::backup(options),
        Command::Restore(options) => commands::backup::restore(options),
        Command::Verify(options) => commands::verify::run(options),
        Command::Keys(options) => commands::keys::run(options),
        Command::Dynamo(options) => commands::dynamo::run(options),
        Command::Unload(options) => commands::transfer::unload(&options),
        Command::Load(options) => commands::transfer::load(&options),
        Command::Migrate(options) => commands::transfer::migrate(&options),
        Command::Review(options) => commands::review::run(options),
        Command::Lsp(options) => commands::lsp::run(&options),
        Command::Design(options) => commands::design::run(options),
        Command::Top(options) => commands::top::run(options),
        Command::Patterns(options) => commands::patterns::run(&options),
        Command::Cluster(options) => commands::cluster::run(&options),
        Command::Simulate(options) => commands::simulate::run(*options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(commands::Failure::Usage(text)) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
        Err(commands::Failure::Findings) => ExitCode::FAILURE,
        Err(commands::Failure::Failed(text)) => {
            eprintln!("error: {text}");
            ExitCode::FAILURE
        }
    }
}
