//! `partita review`: reads CQL files and tables of DynamoDB, and says which keys will hurt, before a row is written.
//!
//! Exit 0 without error findings, 1 with one or with a statement that could not be read, 2 for bad usage. Reads the named files, and with
//! `--from` the schema of a running server or cluster, which it changes in no way.

use super::Failure;
use super::files::{read, write_out};
use super::server_at::connect;
use clap::{Args, ValueEnum};
use design::output::{explain, html, json, sarif, text};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Options of `partita review`.
#[derive(Args)]
pub struct ReviewOptions {
    /// CQL files with tables, access patterns and queries; or CreateTable JSON, CloudFormation, Terraform or NoSQL Workbench files with
    /// a JSON file of operations; `-` reads standard input.
    files: Vec<PathBuf>,
    /// Review the schema of a running server or Cassandra cluster (4.0 or later), together with the files; it is only read
    #[arg(long, value_name = "HOST[:PORT]")]
    from: Option<String>,
    /// With --from: the role to log in as, if the server asks. The password is PARTITA_PASSWORD
    #[arg(long, value_name = "ROLE", env = "PARTITA_USER", default_value = client::FIRST_LOGIN.0)]
    user: String,
    /// With --from: only this keyspace
    #[arg(long, value_name = "NAME", requires = "from")]
    keyspace: Option<String>,
    /// Where repairs are to run: anywhere (buckets are columns that the application computes), or on Partita (a bucketing clause)
    #[arg(long, value_enum, default_value_t = For::Cassandra)]
    target: For,
    /// Find what this server would refuse: cassandra-4, cassandra-5, keyspaces or scylla
    #[arg(long, value_enum, value_name = "SERVER")]
    act_as: Option<crate::options::ActAs>,
    /// How to write the findings.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Explain a rule with a good and a bad example; `all` lists the rules.
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Where repairs are to run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum For {
    Cassandra,
    Partita,
}

impl From<For> for design::Target {
    fn from(target: For) -> design::Target {
        match target {
            For::Cassandra => design::Target::Cassandra,
            For::Partita => design::Target::Partita,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
    Html,
}

/// Runs the review.
pub fn run(options: ReviewOptions) -> Result<(), Failure> {
    if let Some(id) = &options.explain {
        let lesson = if id == "all" { Some(explain::list()) } else { explain::rule(id) };
        let lesson = lesson.ok_or_else(|| {
            Failure::Usage(format!("there is no rule {id}; the rules are\n{}", explain::list()))
        })?;
        write_out(&options.output, &lesson)?;
        return Ok(());
    }
    if options.files.is_empty() && options.from.is_none() {
        return Err(Failure::Usage("name at least one file (CQL, or JSON, YAML or Terraform with tables of DynamoDB), `-` for standard input, or a server with --from".into()));
    }
    let mut files = Vec::new();
    if let Some(from) = &options.from {
        files.push((format!("{from}.cql"), schema_of(from, &options)?));
    }
    for path in &options.files {
        files.push((path.display().to_string(), read(path)?));
    }
    let review = design::review_as(options.target.into(), options.act_as.map(Into::into), files);
    let colour = if options.output.is_none() && std::io::stdout().is_terminal() {
        text::Colour::Always
    } else {
        text::Colour::Never
    };
    let mut written = match options.format {
        Format::Text => text::write(&review, colour),
        Format::Json => json::write(&review),
        Format::Sarif => sarif::write(&review),
        Format::Html => html::write(&review),
    };
    if !written.ends_with('\n') {
        written.push('\n');
    }
    write_out(&options.output, &written)?;
    // What could not be read was not reviewed: that is no pass.
    if review.has_errors() || !review.errors().is_empty() { Err(Failure::Findings) } else { Ok(()) }
}

/// The schema as the server describes it. Behind a front end or not, that is the cluster's.
fn schema_of(from: &str, options: &ReviewOptions) -> Result<String, Failure> {
    let mut client = connect(from, &options.user)?;
    let query = match &options.keyspace {
        Some(keyspace) => format!("DESCRIBE KEYSPACE \"{}\"", keyspace.replace('"', "\"\"")),
        None => "DESCRIBE SCHEMA".into(),
    };
    let described = client.texts(&query).map_err(|error| {
        Failure::Failed(format!(
            "{from}: {error}. The schema is read with DESCRIBE, which Cassandra has since 4.0"
        ))
    })?;
    let statements: Vec<String> =
        described.into_iter().filter_map(|mut row| row.remove("create_statement")).collect();
    if statements.is_empty() {
        return Err(Failure::Failed(format!("{from}: there is no schema to review")));
    }
    Ok(statements.join("\n\n"))
}
