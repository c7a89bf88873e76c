//! `partita patterns`: what a running server is asked, or what a file asks, as access patterns to keep, review and hold it to.

use super::server_at::ServerAt;
use super::{Failure, query_log};
use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
A review of an existing application in two commands, with its schema beside it:
  cqlsh -e 'DESCRIBE KEYSPACE app' > app.cql && partita patterns --keyspace app >> app.cql
  partita review app.cql
Without a server: partita patterns schema.cql statements.cql
From the full query log of a Cassandra node: partita patterns schema.cql /var/log/cassandra/fql";

#[derive(Args)]
#[command(after_help = HELP)]
pub struct PatternsOptions {
    /// Files with a schema and statements, or the full query log of a Cassandra node (its folder, or .cq4 files), read one
    /// after the other; then no server is asked
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    server: ServerAt,
    /// Only patterns of this keyspace
    #[arg(long, value_name = "NAME")]
    keyspace: Option<String>,
    /// Leave out statements that were called less often
    #[arg(long, value_name = "N", default_value_t = 1)]
    calls: u64,
}

pub fn run(options: &PatternsOptions) -> Result<(), Failure> {
    if !options.files.is_empty() {
        return from_files(options);
    }
    let mut client = options.server.connect()?;
    let failed = |error: client::ClientError| Failure::Failed(error.to_string());
    let declared = client
        .texts(
            "SELECT keyspace_name, create_statement, calls, status, detail FROM system_views.access_patterns",
        )
        .map_err(failed)?;
    let others = client
        .texts("SELECT keyspace_name, declare, calls, class, rows_per_call FROM system_views.unmatched_statements")
        .map_err(failed)?;
    let wanted = |row: &&std::collections::BTreeMap<String, String>| {
        let keyspace = row.get("keyspace_name").map(String::as_str).unwrap_or_default();
        options.keyspace.as_deref().is_none_or(|only| only == keyspace)
    };
    let text = |row: &std::collections::BTreeMap<String, String>, column: &str| {
        row.get(column).cloned().unwrap_or_default()
    };
    let mut count = 0;
    for row in declared.iter().filter(wanted) {
        count += 1;
        let detail = row.get("detail").map(|detail| format!(" ({detail})")).unwrap_or_default();
        println!("-- declared, called {} times: {}{detail}", text(row, "calls"), text(row, "status"));
        println!("{}\n", text(row, "create_statement"));
    }
    let mut seen: Vec<_> = others.iter().filter(wanted).collect();
    seen.sort_by_key(|row| std::cmp::Reverse(text(row, "calls").parse::<u64>().unwrap_or(0)));
    for row in seen {
        let calls: u64 = text(row, "calls").parse().unwrap_or(0);
        let Some(declare) = row.get("declare").filter(|_| calls >= options.calls) else { continue };
        count += 1;
        println!("-- not declared, called {calls} times, {}", text(row, "class"));
        println!("{declare}\n");
    }
    if count == 0 {
        eprintln!("{} has not been asked anything yet", options.server.name());
    }
    Ok(())
}

fn from_files(options: &PatternsOptions) -> Result<(), Failure> {
    let mut learner = cql::learn::Learner::default();
    for path in &options.files {
        match query_log::files(path)? {
            Some(logs) => {
                for log in logs {
                    query_log::read(&log, &mut |logged| hear(&mut learner, &logged))?;
                }
            }
            None => {
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
                learner.read(&text);
            }
        }
    }
    let lesson = learner.finish();
    lesson.problems.iter().for_each(|problem| eprintln!("left out: {problem}"));
    let mut shown = 0;
    for learnt in &lesson.learnt {
        let is_wanted = options.keyspace.as_deref().is_none_or(|only| learnt.keyspace == only);
        if !is_wanted || (learnt.statements as u64) < options.calls {
            continue;
        }
        shown += 1;
        println!("-- {} statements, {}\n{}\n", learnt.statements, learnt.class, learnt.declare);
    }
    eprintln!("{shown} patterns; {} statements are declared already", lesson.declared);
    Ok(())
}

fn hear(learner: &mut cql::learn::Learner, logged: &query_log::Logged) {
    for text in &logged.statements {
        learner.hear(&cql::learn::Asked {
            keyspace: logged.keyspace.as_deref(),
            text,
            at_millis: logged.at_millis,
        });
    }
}
