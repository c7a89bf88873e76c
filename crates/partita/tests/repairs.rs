//! Every repair that the review prints for real schemas runs on Partita. That it takes no name of the schema it repairs is
//! tested where the repairs are made.

use partita::{Database, Durability, Options};
use std::path::Path;

/// Statements of a script without comments.
fn statements(cql: &str) -> Vec<String> {
    let without: Vec<&str> = cql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
    without.join("\n").split(';').map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect()
}

#[test]
fn every_repair_of_the_evidence_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../design/tests/evidence");
    let dir = tempfile::tempdir().expect("a folder");
    let options = Options {
        dir: dir.path().to_path_buf(),
        shards: 1,
        durability: Durability::Periodic,
        functions: false,
    };
    let database = Database::open_with(options).expect("a database");
    let sets = ["learning", "locked", "second", "third", "fourth"]
        .map(|set| std::fs::read_dir(folder.join(set)).expect("evidence"));
    let mut paths: Vec<_> = sets.into_iter().flatten().map(|entry| entry.expect("entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "cql"));
    paths.sort();
    let (mut projects, mut made, mut served) = (0, 0, 0);
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("schema");
        projects += 1;
        let run = |statement: &str| {
            if let Err(error) = database.execute(statement, ()) {
                panic!("{}: {error}\n{statement}", path.display());
            }
        };
        for (letter, target) in [("p", design::Target::Cassandra), ("q", design::Target::Partita)] {
            let keyspace = format!("{letter}{projects}");
            run(&format!(
                "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}} AND review = 'off'"
            ));
            // Repairs use the types of the schema.
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
                    run(&statement);
                    made += 1;
                    served += usize::from(statement.contains("bucketing = "));
                }
            }
        }
    }
    database.close().expect("closed");
    assert!(projects >= 290, "{projects}");
    assert!(made >= 700 && served >= 100, "only {made} statements of repairs ran, {served} with a clause");
    eprintln!("{made} statements of repairs of {projects} projects ran, {served} with a bucketing clause");
}
