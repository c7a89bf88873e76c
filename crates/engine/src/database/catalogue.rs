//! The catalogue file: the schema as an opaque blob, and the tables the engine must know (docs/format/manifest.md).
//!
//! Written under a temporary name, synced, renamed: it is the old one or the new one, never a mixture.

use model::vint;
use rt::Disk;
use std::io;
use std::path::Path;
use store::{Compaction, Compression, TableConfig, TableId};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"PRTACAT\x01";
const NAME: &str = "CATALOGUE";
const TEMPORARY: &str = "CATALOGUE.tmp";
const HEADER_LEN: usize = 20;
/// No catalogue is longer.
const BYTES_MAX: u64 = 256 << 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    /// Counts the changes.
    pub version: u64,
    pub tables: Vec<TableConfig>,
    pub blob: Vec<u8>,
}

#[derive(Debug)]
pub enum CatalogueError {
    /// Not a catalogue, or its checksum is wrong.
    Damage {
        offset: u64,
        what: String,
    },
    Io(io::Error),
}

impl From<io::Error> for CatalogueError {
    fn from(error: io::Error) -> CatalogueError {
        CatalogueError::Io(error)
    }
}

/// The catalogue in `dir`; `None` in a database that never had one.
pub fn read_catalogue(disk: &dyn Disk, dir: &Path) -> Result<Option<Catalogue>, CatalogueError> {
    let path = dir.join(NAME);
    if !disk.exists(&path)? {
        return Ok(None);
    }
    let bytes = disk.open(&path)?.read_all_up_to(BYTES_MAX)?;
    decode(&bytes).map(Some).ok_or_else(|| damage(&bytes))
}

fn damage(bytes: &[u8]) -> CatalogueError {
    match bytes.starts_with(&MAGIC) {
        true => {
            let what = format!("the checksum of bytes 8 to {} does not match", bytes.len());
            CatalogueError::Damage { offset: MAGIC.len() as u64, what }
        }
        false => {
            let what = "the file does not begin as a catalogue of this version does".to_owned();
            CatalogueError::Damage { offset: 0, what }
        }
    }
}

/// Why a catalogue was not written.
#[derive(Debug)]
pub struct WriteFailed {
    pub error: io::Error,
    /// The old one is certainly still in force.
    pub unchanged: bool,
}

pub fn write_catalogue(disk: &dyn Disk, dir: &Path, catalogue: &Catalogue) -> Result<(), WriteFailed> {
    let temporary = dir.join(TEMPORARY);
    prepare(disk, &temporary, catalogue).map_err(|error| WriteFailed { error, unchanged: true })?;
    let renamed = disk.rename(&temporary, &dir.join(NAME)).and_then(|()| disk.sync_dir(dir));
    renamed.map_err(|error| WriteFailed { error, unchanged: false })
}

fn prepare(disk: &dyn Disk, temporary: &Path, catalogue: &Catalogue) -> io::Result<()> {
    if disk.exists(temporary)? {
        disk.remove(temporary)?;
    }
    let bytes = encode(catalogue);
    if bytes.len() as u64 > BYTES_MAX {
        let text = format!("{} bytes are too many for a catalogue", bytes.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    debug_assert_eq!(
        decode(&bytes).as_ref(),
        Some(&Catalogue { tables: stored(&catalogue.tables), ..catalogue.clone() })
    );
    let file = disk.create(temporary)?;
    file.write_at(0, &bytes)?;
    file.sync_data()
}

/// Tells this catalogue from every other one that this or another database ever had; [`NO_CATALOGUE`] for none.
pub fn fingerprint(catalogue: Option<&Catalogue>) -> u64 {
    catalogue.map_or(NO_CATALOGUE, |catalogue| xxh3_64(&encode(catalogue)))
}

pub const NO_CATALOGUE: u64 = 0;

fn checksum(version: u64, body: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&version.to_le_bytes()), body)
}

fn encode(catalogue: &Catalogue) -> Vec<u8> {
    let mut body = Vec::new();
    vint::put(&mut body, catalogue.tables.len() as u64);
    catalogue.tables.iter().for_each(|table| put_table(&mut body, table));
    vint::put_slice(&mut body, &catalogue.blob);
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&catalogue.version.to_le_bytes());
    bytes.extend_from_slice(&checksum(catalogue.version, &body).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

fn decode(bytes: &[u8]) -> Option<Catalogue> {
    let (header, mut body) = bytes.split_at_checked(HEADER_LEN)?;
    let version = u64::from_le_bytes(header.get(8..16)?.try_into().ok()?);
    let crc = u32::from_le_bytes(header.get(16..20)?.try_into().ok()?);
    if !header.starts_with(&MAGIC) || crc != checksum(version, body) {
        return None;
    }
    let count = vint::take(&mut body)?;
    let tables = (0..count).map(|_| take_table(&mut body)).collect::<Option<Vec<_>>>()?;
    let blob = vint::take_slice(&mut body)?.to_vec();
    body.is_empty().then_some(Catalogue { version, tables, blob })
}

/// What is stored of tables: indexes, views and buckets come from the schema.
fn stored(tables: &[TableConfig]) -> Vec<TableConfig> {
    let bare = |table: &TableConfig| TableConfig {
        indexes: Vec::new(),
        views: Vec::new(),
        limit: None,
        buckets: None,
        spill: None,
        mirror: None,
        groups: None,
        later: Vec::new(),
        pending: None,
        row_ttl: None,
        ..table.clone()
    };
    tables.iter().map(bare).collect()
}

fn put_table(out: &mut Vec<u8>, table: &TableConfig) {
    vint::put(out, u64::from(table.id.0));
    vint::put(out, u64::from(table.incarnation));
    out.push(match table.compression {
        Compression::None => 0,
        Compression::Lz4 => 1,
        Compression::Zstd => 2,
    });
    let (kind, parameter) = match table.compaction {
        Compaction::Off => (0, 0),
        Compaction::Unified { scaling } => (1, i64::from(scaling)),
        Compaction::TimeWindow { window_seconds } => (2, window_seconds as i64),
    };
    out.push(kind);
    vint::put_signed(out, parameter);
    vint::put(out, u64::from(table.gc_grace_seconds));
}

fn take_byte(body: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = body.split_first()?;
    *body = rest;
    Some(byte)
}

fn take_table(body: &mut &[u8]) -> Option<TableConfig> {
    Some(TableConfig {
        id: TableId(vint::take_u32(body)?),
        incarnation: vint::take_u32(body)?,
        compression: match take_byte(body)? {
            0 => Compression::None,
            1 => Compression::Lz4,
            2 => Compression::Zstd,
            _ => return None,
        },
        compaction: match (take_byte(body)?, vint::take_signed(body)?) {
            (0, _) => Compaction::Off,
            (1, scaling) => Compaction::Unified { scaling: i32::try_from(scaling).ok()? },
            (2, seconds) => Compaction::TimeWindow { window_seconds: seconds as u64 },
            _ => return None,
        },
        gc_grace_seconds: vint::take_u32(body)?,
        indexes: Vec::new(),
        views: Vec::new(),
        limit: None,
        buckets: None,
        spill: None,
        mirror: None,
        groups: None,
        later: Vec::new(),
        pending: None,
        row_ttl: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rt::{CrashImage, Fault, SimDisk};

    fn sample(version: u64) -> Catalogue {
        let mut tables = vec![TableConfig::new(TableId(1)), TableConfig::new(TableId(700))];
        tables[1].compaction = Compaction::TimeWindow { window_seconds: 86_400 };
        tables[1].compression = Compression::Zstd;
        tables[0].incarnation = version as u32;
        Catalogue { version, tables, blob: vec![7; version as usize] }
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_noticed() {
        let bytes = encode(&sample(5));
        assert_eq!(decode(&bytes), Some(sample(5)));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            assert_eq!(decode(&flipped), None, "flip at {at}");
            assert_eq!(decode(&bytes[..at]), None, "cut at {at}");
        }
    }

    /// Compaction is a tag and one number. Another strategy takes the next tag, and what it needs behind its number; these bytes stay.
    #[test]
    fn the_bytes_of_a_table_are_those_of_the_first_release() {
        let check = |compaction: Compaction, expect: &[u8]| {
            let table = TableConfig {
                compression: Compression::Zstd,
                compaction,
                gc_grace_seconds: 864_000,
                ..TableConfig::new(TableId(700))
            };
            let bytes = [&[0xbc, 0x05, 0, 2], expect, &[0x80, 0xde, 0x34]].concat();
            let mut put = Vec::new();
            put_table(&mut put, &table);
            assert_eq!(put, bytes, "{compaction:?}");
            assert_eq!(take_table(&mut &bytes[..]).map(|read| read.compaction), Some(compaction));
        };
        check(Compaction::Off, &[0, 0]);
        check(Compaction::Unified { scaling: -8 }, &[1, 15]);
        check(Compaction::TimeWindow { window_seconds: 86_400 }, &[2, 0x80, 0xc6, 0x0a]);
        let unknown = [0xbc, 0x05, 0, 2, 3, 0, 0x80, 0xde, 0x34];
        assert_eq!(take_table(&mut &unknown[..]), None, "a strategy of a newer server is damage to this one");
    }

    #[test]
    fn a_crash_at_every_io_leaves_the_old_or_the_new_one() {
        for k in 1.. {
            let disk = SimDisk::new();
            let dir = Path::new("/db");
            disk.create_dir_all(dir).unwrap();
            disk.fault_at(k, Fault::Crash);
            let done =
                (1..=3).take_while(|v| write_catalogue(&disk, dir, &sample(*v)).is_ok()).count() as u64;
            for seed in 0..20 {
                let image = disk.image(CrashImage::Random { seed });
                let found = read_catalogue(&image, dir).unwrap().map_or(0, |c| c.version);
                assert!(found == done || found == done + 1, "k {k}: {found} after {done}");
            }
            if !disk.is_crashed() {
                assert!(k > 12);
                return;
            }
        }
    }
}
