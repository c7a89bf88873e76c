//! Runs every repair that the review prints for the evidence on a server, and says how many it takes.
//!
//! ```sh
//! conformance/cassandra/node start --dir /tmp/node --port 23042 --fresh --heap 512M
//! cargo run -p design --example repairs -- 127.0.0.1:23042
//! conformance/cassandra/node stop --dir /tmp/node
//! ```
//!
//! With `partita` as a second word it asks for the repairs that are for Partita. It makes a keyspace per project and drops it again. Not part of `./test`: a real Cassandra needs a minute to start.

use client::Client;
use std::path::Path;

const SETS: &[&str] = &["learning", "locked", "second", "third", "fourth"];

/// Statements of a script without comments.
fn statements(cql: &str) -> Vec<String> {
    let without: Vec<&str> = cql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
    without.join("\n").split(';').map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect()
}

fn main() {
    let address = std::env::args().nth(1).expect("an address, for example 127.0.0.1:9042");
    let target = match std::env::args().nth(2).as_deref() {
        Some("partita") => design::Target::Partita,
        _ => design::Target::Cassandra,
    };
    let mut client = Client::connect(address.as_str()).expect("a connection");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence");
    let (mut refused, mut all) = (0, 0);
    for set in SETS {
        let (mut projects, mut ran) = (0, 0);
        let mut paths: Vec<_> = std::fs::read_dir(folder.join(set))
            .expect("evidence")
            .map(|entry| entry.expect("entry").path())
            .filter(|path| path.extension().is_some_and(|e| e == "cql"))
            .collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("schema");
            let keyspace = format!("repairs_{set}_{projects}");
            projects += 1;
            let mut run = |statement: &str| {
                let outcome = client.must(statement);
                if let Err(error) = &outcome {
                    println!("{}: {error:?}\n{statement}", path.display());
                }
                outcome.is_ok()
            };
            run(&format!("DROP KEYSPACE IF EXISTS {keyspace}"));
            run(&format!(
                "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
            ));
            for made in statements(&text).iter().filter_map(|s| s.strip_prefix("CREATE TYPE ")) {
                run(&format!("CREATE TYPE {keyspace}.{made}"));
            }
            let review = design::review_for(target, [("schema.cql", format!("USE {keyspace};\n{text}"))]);
            let mut done: Vec<&str> = Vec::new();
            for finding in &review.findings {
                if done.contains(&finding.fix.as_str()) {
                    continue;
                }
                done.push(&finding.fix);
                for statement in statements(&finding.fix) {
                    // A repair may alter a table of the schema: then that has to be there.
                    if let Some(table) = finding.table.as_deref().filter(|_| statement.starts_with("ALTER")) {
                        run(&format!("CREATE TABLE IF NOT EXISTS {keyspace}.{table} (k int PRIMARY KEY)"));
                    }
                    refused += usize::from(!run(&statement));
                    ran += 1;
                }
            }
            run(&format!("DROP KEYSPACE {keyspace}"));
        }
        println!("{set}: {ran} statements of repairs of {projects} projects");
        all += ran;
    }
    println!("{all} statements, {refused} refused");
}
