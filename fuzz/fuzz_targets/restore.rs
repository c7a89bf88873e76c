//! A backup of somebody else's making is verified, restored and opened: each says no in words or yes, none panics, hangs or
//! takes memory without end.
//!
//! The first byte says what the rest is. Checksums are put right where they would only keep the fuzzer out: they guard
//! against decay, not against whoever can compute them.
#![no_main]

use engine::manifest::{FileId, FileRecord, Manifest, ManifestState};
use engine::table::Table;
use engine::{Engine, EngineOptions, copy_database, verify};
use libfuzzer_sys::fuzz_target;
use model::key::token_of;
use rt::{Disk, ManualClock, SimDisk};
use std::path::Path;
use std::sync::Arc;
use store::TableId;

const DIR: &str = "/backup";

fuzz_target!(|data: &[u8]| {
    let Some((mode, rest)) = data.split_first() else { return };
    let disk = SimDisk::new();
    for dir in ["", "/log", "/tables"] {
        disk.create_dir_all(Path::new(&format!("{DIR}{dir}"))).unwrap();
    }
    let (left, right) = rest.split_at(rest.len() / 2);
    match mode % 6 {
        // As they are.
        0 => {
            put(&disk, "MANIFEST", left);
            put(&disk, "CATALOGUE", right);
        }
        1 => put(&disk, "MANIFEST", &manifest(&[rest])),
        2 => put(&disk, "MANIFEST", &manifest(&[left, right])),
        3 => {
            put(&disk, "MANIFEST", &manifest(&[&[6, 1]]));
            put(&disk, "CATALOGUE", &catalogue(rest));
        }
        4 => {
            put(&disk, "MANIFEST", &manifest(&[&[6, 0]]));
            put(&disk, "log/0000000000000001.log", &segment(1, &[left, right]));
        }
        _ => {
            put(&disk, "tables/0000000000000001.table", rest);
            name_table(&disk);
        }
    }
    let _ = verify(&disk, Path::new(DIR), &mut |_| {});
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    if copy_database(&shared, Path::new(DIR), Path::new("/restored"), &mut |_| {}).is_ok() {
        let report = verify(&disk, Path::new("/restored"), &mut |_| {}).expect("what was restored can be verified");
        assert!(report.problems.is_empty(), "{:?}", report.problems);
    }
    let mut options = EngineOptions::new(DIR);
    options.inline = true;
    options.log_segment_bytes = 4096;
    let _ = Engine::open(shared, Arc::new(ManualClock::at_micros(1)), options);
});

fn put(disk: &SimDisk, name: &str, bytes: &[u8]) {
    let file = disk.create(Path::new(&format!("{DIR}/{name}"))).unwrap();
    file.write_at(0, bytes).unwrap();
}

/// A manifest with these records.
fn manifest(records: &[&[u8]]) -> Vec<u8> {
    let mut bytes = b"PRTAMAN\x01".to_vec();
    for record in records {
        let mut summed = (bytes.len() as u64).to_le_bytes().to_vec();
        summed.extend_from_slice(&(record.len() as u32).to_le_bytes());
        summed.extend_from_slice(record);
        bytes.extend_from_slice(&(record.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32c::crc32c(&summed).to_le_bytes());
        bytes.extend_from_slice(record);
    }
    bytes
}

/// A manifest that names the table file as it is, if it opens, and says that no log is needed.
fn name_table(disk: &SimDisk) {
    let path = format!("{DIR}/tables/0000000000000001.table");
    let Ok(table) = Table::open(disk, Path::new(&path), 1) else { return put(disk, "MANIFEST", &manifest(&[&[6, 1]])) };
    let properties = table.properties();
    let (first, last) = (token_of(&properties.first_prefix), token_of(&properties.last_prefix));
    let record = FileRecord {
        id: FileId(1),
        table: TableId(properties.table),
        incarnation: properties.incarnation,
        first_token: first.min(last),
        last_token: first.max(last),
        bytes: table.bytes(),
        log_max: table.statistics().log_max,
        details: Vec::new(),
    };
    let mut state = ManifestState { closed: true, next_file: 2, ..ManifestState::default() };
    state.files.insert(record.id, record);
    Manifest::write_copy(Arc::new(disk.clone()), Path::new(DIR), state).unwrap();
    put(disk, "CATALOGUE", &catalogue(&[0, 0]));
}

fn catalogue(body: &[u8]) -> Vec<u8> {
    let version = 1u64.to_le_bytes();
    let mut bytes = b"PRTACAT\x01".to_vec();
    bytes.extend_from_slice(&version);
    bytes.extend_from_slice(&crc32c::crc32c(&[&version, body].concat()).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// A segment of version 2 with these payloads.
fn segment(id: u64, payloads: &[&[u8]]) -> Vec<u8> {
    let capacity = 64 + payloads.iter().map(|payload| payload.len() as u32 + 16).sum::<u32>();
    let mut bytes = b"PRTALOG\x02".to_vec();
    bytes.extend_from_slice(&id.to_le_bytes());
    bytes.extend_from_slice(&capacity.to_le_bytes());
    let crc = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes.resize(32, 0);
    for payload in payloads.iter().filter(|payload| !payload.is_empty()) {
        let head = [payload.len() as u32, 32, crc32c::crc32c(payload)];
        let mut summed = id.to_le_bytes().to_vec();
        summed.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        head.iter().for_each(|word| summed.extend_from_slice(&word.to_le_bytes()));
        head.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes.extend_from_slice(&crc32c::crc32c(&summed).to_le_bytes());
        bytes.extend_from_slice(payload);
    }
    bytes.resize(capacity as usize, 0);
    bytes
}
