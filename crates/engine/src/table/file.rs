//! The file under a table: checked reads, header and footer (layout: docs/format/table.md).

use super::frame::FrameAt;
use rt::DiskFile;
use std::io;
use std::sync::Arc;
use store::StoreError;
use xxhash_rust::xxh3::xxh3_64;

pub const MAGIC: [u8; 8] = *b"PRTTABLE";
/// Blocks as `block` describes them.
pub const VERSION_PLAIN: u8 = 1;
/// Data blocks may be packed (see `pack`).
pub const VERSION_PACKED: u8 = 2;
pub const HEADER_BYTES: usize = 24;
pub const FOOTER_BYTES: usize = 40;

/// An open file with the name that error messages use.
#[derive(Debug)]
pub struct TableFile {
    pub file: Arc<dyn DiskFile>,
    pub name: String,
    pub len: u64,
}

impl TableFile {
    pub fn corrupt(&self, offset: u64, what: impl Into<String>) -> StoreError {
        StoreError::Corrupt { file: self.name.clone(), offset, what: what.into() }
    }

    /// Reads exactly `buffer.len()` bytes.
    pub fn read_exact(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > self.len) {
            return Err(self.corrupt(offset, "the file is too short for what it should hold"));
        }
        self.file.read_exact_at(offset, buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.corrupt(offset, "the file ends early"),
            _ => StoreError::Io { context: format!("reading {} at offset {offset}: {error}", self.name) },
        })
    }
}

pub fn header(version: u8) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8] = version;
    let sum = xxh3_64(&header[..16]);
    header[16..].copy_from_slice(&sum.to_le_bytes());
    header
}

pub fn footer(properties: FrameAt, version: u8) -> [u8; FOOTER_BYTES] {
    let mut footer = [0; FOOTER_BYTES];
    footer[..8].copy_from_slice(&properties.offset.to_le_bytes());
    footer[8..12].copy_from_slice(&properties.len.to_le_bytes());
    footer[12] = version;
    let len = properties.offset + u64::from(properties.len) + FOOTER_BYTES as u64;
    footer[16..24].copy_from_slice(&len.to_le_bytes());
    let sum = xxh3_64(&footer[..24]);
    footer[24..32].copy_from_slice(&sum.to_le_bytes());
    footer[32..].copy_from_slice(&MAGIC);
    footer
}

/// Checks header and footer; returns where the properties lie.
pub fn check_ends(file: &TableFile) -> Result<FrameAt, StoreError> {
    if file.len < (HEADER_BYTES + FOOTER_BYTES) as u64 {
        return Err(file.corrupt(0, format!("{} bytes are too few for a table", file.len)));
    }
    let mut found = [0; HEADER_BYTES];
    file.read_exact(0, &mut found)?;
    if found[..8] != MAGIC {
        return Err(file.corrupt(0, "not a table file"));
    }
    let version = found[8];
    if !is_known(version) || found != header(version) {
        return Err(file.corrupt(8, version_or_damage(version, "the header is damaged")));
    }
    let at = file.len - FOOTER_BYTES as u64;
    let mut found = [0; FOOTER_BYTES];
    file.read_exact(at, &mut found)?;
    let sum = xxh3_64(&found[..24]).to_le_bytes();
    if found[24..32] != sum || found[32..] != MAGIC {
        return Err(file.corrupt(at, "the footer is damaged or the file was cut short"));
    }
    let word = |at: usize| {
        let bytes = found.get(at..at + 8).and_then(|b| b.first_chunk::<8>());
        bytes.map_or(0, |b| u64::from_le_bytes(*b))
    };
    let properties = FrameAt { offset: word(0), len: word(8) as u32 };
    if found != footer(properties, version) || word(16) != file.len {
        return Err(file.corrupt(at, version_or_damage(found[12], "the footer does not fit the file")));
    }
    Ok(properties)
}

fn is_known(version: u8) -> bool {
    (VERSION_PLAIN..=VERSION_PACKED).contains(&version)
}

fn version_or_damage(version: u8, damage: &str) -> String {
    match version {
        version if is_known(version) => damage.into(),
        other => format!("format version {other}; this program reads versions 1 to {VERSION_PACKED}"),
    }
}
