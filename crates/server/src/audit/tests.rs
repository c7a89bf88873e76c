//! The queue, the file and the counting together.

use super::*;

fn entry(n: usize) -> Entry {
    Entry {
        number: 0,
        at_micros: 0,
        event: "login",
        role: Some(format!("role{n}").into()),
        address: ([127, 0, 0, 1], 1).into(),
        keyspace: None,
        table: None,
        statement: None,
        outcome: Outcome::Done,
    }
}

fn lines(dir: &std::path::Path) -> Vec<serde_json::Value> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    texts
        .flat_map(|text| text.lines().map(|l| serde_json::from_str(l).unwrap()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn every_entry_is_in_the_file_or_counted_there() {
    let dir = tempfile::tempdir().unwrap();
    let rules = Rules::usual();
    let settings = Settings { dir: dir.path().join("a"), rules, file_bytes_max: 64 << 10, files_max: 1000 };
    let (audit, thread) = Audit::start(Some(&settings)).unwrap();
    let count = 5 * QUEUE_MAX;
    (0..count).for_each(|n| audit.record(entry(n)));
    audit.close();
    thread.unwrap().join().unwrap();
    let (recorded, lost) = audit.counts();
    let lines = lines(&settings.dir);
    let (told, written): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line["event"] == "lost");
    let told: u64 = told.iter().map(|line| line["count"].as_u64().unwrap()).sum();
    assert_eq!(recorded, count as u64);
    assert_eq!(written.len() as u64 + lost, recorded);
    assert_eq!(told, lost);
    let recent = audit.recent();
    assert_eq!((recent.len(), recent[RECENT_MAX - 1].number), (RECENT_MAX, recorded));
}

#[test]
fn without_settings_nothing_is_written() {
    let (audit, thread) = Audit::start(None).unwrap();
    assert!(thread.is_none() && audit.rules().categories.is_empty());
    assert_eq!(audit.counts(), (0, 0));
}
