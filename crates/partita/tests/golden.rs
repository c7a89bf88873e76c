//! Data folders that earlier releases wrote still open, and answer as they did then.
//!
//! `golden/<when>/{closed,killed}` are such folders: stopped cleanly, and killed with commits that only the log has.
//! Trailing zeros of their files are cut off; `LENGTHS` says how long each file was. `answers.txt` holds queries and
//! the answers of the release that wrote the folders. They were made with types, tables of several compactions and
//! compressions, indexes, a view, a dropped and an emptied table, deletions, a condition, a batch, a counter.

use partita::{Database, Durability, Options};
use std::fs;
use std::path::{Path, PathBuf};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/2026-11")
}

/// Writes the folder out as it was.
fn lay_out(from: &Path, to: &Path) {
    let lengths = fs::read_to_string(from.join("LENGTHS")).unwrap();
    for line in lengths.lines() {
        let (length, name) = line.split_once(' ').unwrap();
        let target = to.join(name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(name), &target).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&target).unwrap();
        file.set_len(length.parse().unwrap()).unwrap();
    }
    fs::create_dir_all(to.join("log")).unwrap();
}

/// The queries of `answers.txt` with what the database answers now, in the same form.
fn answers(database: &Database, queries: &str) -> String {
    let mut text = String::new();
    for query in queries.lines().filter(|line| !line.starts_with(' ')) {
        let rows = database.execute(query, ()).unwrap_or_else(|error| panic!("{query}: {error}"));
        let mut lines: Vec<String> =
            rows.rows().iter().map(|row| row.get::<String>("[json]").unwrap()).collect();
        lines.sort();
        text += &format!("{query}\n");
        lines.iter().for_each(|line| text += &format!("  {line}\n"));
    }
    text
}

#[test]
fn folders_of_an_earlier_release_open_and_answer_as_they_did() {
    let expected = fs::read_to_string(golden().join("answers.txt")).unwrap();
    assert!(expected.lines().count() > 100);
    for name in ["closed", "killed"] {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        lay_out(&golden().join(name), &data);
        let report = engine::verify(&rt::RealDisk, &data, &mut |_| {}).unwrap();
        assert!(report.problems.is_empty() && report.torn.is_empty(), "{name}: {report:?}");
        assert_eq!(report.log_records > 0, name == "killed", "{name}: {report:?}");
        // As many shards as then; fewer; more, so that every file is divided; and again, after a clean stop.
        for shards in [2, 1, 3, 3] {
            let durability = Durability::Sync;
            let database =
                Database::open_with(Options { dir: data.clone(), shards, durability, functions: false })
                    .unwrap();
            assert_eq!(answers(&database, &expected), expected, "{name} with {shards} shards");
            let insert = format!("INSERT INTO golden.people (id, city) VALUES ({}, 'Kiel')", 1000 + shards);
            database.execute(&insert, ()).unwrap();
            let delete = format!("DELETE FROM golden.people WHERE id = {}", 1000 + shards);
            database.execute(&delete, ()).unwrap();
            database.close().unwrap();
        }
        let report = engine::verify(&rt::RealDisk, &data, &mut |_| {}).unwrap();
        assert!(report.problems.is_empty() && report.torn.is_empty(), "{name}: {report:?}");
    }
}
