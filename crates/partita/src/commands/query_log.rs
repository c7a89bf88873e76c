//! Reads the full query log of a Cassandra node (`nodetool enablefullquerylog`, 4.0 and later): who asked what, and when.
//!
//! A log is a folder of `.cq4` files. A file is a row of records, each with four bytes of length and flags before it, on multiples of four;
//! zeros follow the last one. A record of ours is a row of named values. Names and values say their own type and length, so values that
//! nobody here needs (options, bound values) are passed over without knowing what is in them. A node that runs may be writing:
//! a record that is not finished ends what can be read. Layout learnt from what Cassandra 5.0.6 wrote.

use super::Failure;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// In the four bytes before a record.
const LENGTH: u32 = 0x3FFF_FFFF;
const OF_THE_FILE: u32 = 0x4000_0000;
const UNFINISHED: u32 = 0x8000_0000;
/// No request is longer than a frame, and no frame than this; a longer record is damage.
const RECORD_BYTES_MAX: u32 = 512 << 20;

/// One request of a log; a batch has several statements.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Logged {
    pub at_millis: i64,
    pub keyspace: Option<String>,
    pub statements: Vec<String>,
}

/// The files of a log in the order in which they were written; `None` if this is not a log.
pub fn files(path: &Path) -> Result<Option<Vec<PathBuf>>, Failure> {
    let is_log = |path: &Path| path.extension().is_some_and(|end| end == "cq4");
    if !path.is_dir() {
        return Ok(is_log(path).then(|| vec![path.to_path_buf()]));
    }
    let failed = |error| Failure::Failed(format!("{}: {error}", path.display()));
    let entries = std::fs::read_dir(path).map_err(failed)?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.map_err(failed)?.path());
    }
    files.retain(|file| is_log(file));
    files.sort();
    match files.is_empty() {
        true => Err(Failure::Usage(format!(
            "{} holds no .cq4 files, so it is not a full query log",
            path.display()
        ))),
        false => Ok(Some(files)),
    }
}

/// Hands over the requests of a file, one by one.
pub fn read(path: &Path, each: &mut dyn FnMut(Logged)) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    let mut source = BufReader::new(File::open(path).map_err(failed)?);
    records(&mut source, each).map_err(failed)
}

fn records(source: &mut impl Read, each: &mut dyn FnMut(Logged)) -> std::io::Result<()> {
    let damaged = |what: String| std::io::Error::new(ErrorKind::InvalidData, what);
    let (mut at, mut body) = (0u64, Vec::new());
    loop {
        let mut head = [0; 4];
        match source.read_exact(&mut head) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let head = u32::from_le_bytes(head);
        if head == 0 || head & UNFINISHED != 0 {
            return Ok(());
        }
        let length = head & LENGTH;
        if length > RECORD_BYTES_MAX {
            return Err(damaged(format!(
                "a record of {length} bytes at byte {at}: this is no query log, or damaged"
            )));
        }
        let padded = u64::from(length).next_multiple_of(4);
        body.clear();
        // Grows with what is there, not with what is promised.
        let taken = source.by_ref().take(padded).read_to_end(&mut body)? as u64;
        if taken < u64::from(length) {
            return Ok(());
        }
        body.truncate(length as usize);
        if head & OF_THE_FILE == 0 {
            match request(&body) {
                Some(logged) if logged.statements.is_empty() => {}
                Some(logged) => each(logged),
                None => return Err(damaged(format!("a record at byte {at} that cannot be read"))),
            }
        }
        at += 4 + padded;
    }
}

/// What a record says; `None` if it is malformed.
fn request(record: &[u8]) -> Option<Logged> {
    let mut logged = Logged::default();
    let mut rest = Rest(record);
    while !rest.0.is_empty() {
        let name = rest.name()?;
        match (&name[..], rest.value()?) {
            ("query-start-time", Value::Number(millis)) => logged.at_millis = millis,
            ("keyspace", Value::Text(name)) => logged.keyspace = Some(name),
            ("query", Value::Text(text)) => logged.statements.push(text),
            ("queries", Value::Number(count)) => {
                for _ in 0..count {
                    let Value::Text(text) = rest.value()? else { return None };
                    logged.statements.push(text);
                }
            }
            // Statements and their values are what comes last in a batch, and nobody needs the values.
            ("values", _) => break,
            _ => {}
        }
    }
    Some(logged)
}

enum Value {
    Number(i64),
    Text(String),
    /// Null, bytes, or a number that is none of ours.
    Other,
}

/// What of a record is yet to be read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A little-endian number of so many bytes.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes)?;
        Some(taken.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn signed(&mut self, bytes: usize) -> Option<i64> {
        let unused = 64 - 8 * bytes as u32;
        Some((self.number(bytes)? << unused).cast_signed() >> unused)
    }

    /// Seven bits to a byte, the lowest first; the last byte has no highest bit.
    fn stop_bit(&mut self) -> Option<usize> {
        let mut number = 0usize;
        for shift in (0..35).step_by(7) {
            let byte = self.take(1)?[0];
            number |= usize::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self, length: usize) -> Option<String> {
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn name(&mut self) -> Option<String> {
        let length = match self.code()? {
            code @ 0xC0..=0xDF => usize::from(code - 0xC0),
            0xB7 => self.stop_bit()?,
            _ => return None,
        };
        self.text(length)
    }

    /// The next byte that is not there to fill a gap.
    fn code(&mut self) -> Option<u8> {
        loop {
            match self.take(1)?[0] {
                0x8F => {}
                0x8E => {
                    let count = self.number(4)?;
                    self.take(usize::try_from(count).ok()?)?;
                }
                code => return Some(code),
            }
        }
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.code()? {
            small @ 0..=0x7F => Value::Number(i64::from(small)),
            code @ 0x80..=0x82 => {
                let length = self.number(1 << (code - 0x80))?;
                self.take(usize::try_from(length).ok()?)?;
                Value::Other
            }
            // Whole numbers that fit are written as floats.
            0x90 => self.take(4).map(|_| Value::Other)?,
            0x91 => self.take(8).map(|_| Value::Other)?,
            code @ 0xA1..=0xA3 => Value::Number(self.number(1 << (code - 0xA1))?.cast_signed()),
            code @ 0xA4..=0xA7 => Value::Number(self.signed(1 << (code - 0xA4))?),
            0xB8 => {
                let length = self.stop_bit()?;
                Value::Text(self.text(length)?)
            }
            0xBB => Value::Other,
            code @ 0xE0..=0xFF => Value::Text(self.text(usize::from(code - 0xE0))?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;

    /// Written by Cassandra 5.0.6; the zeros behind the records are cut off but for four.
    fn sample() -> Vec<u8> {
        let packed = include_bytes!("../../tests/golden/full-query-log/20261119-04F.cq4.gz");
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn all(bytes: &[u8]) -> std::io::Result<Vec<Logged>> {
        let mut logged = Vec::new();
        records(&mut &bytes[..], &mut |one| logged.push(one)).map(|()| logged)
    }

    #[test]
    fn what_a_node_logged_is_read() {
        let logged = all(&sample()).unwrap();
        assert_eq!(logged.len(), 51);
        assert!(logged[0].statements[0].starts_with("CREATE KEYSPACE shop"));
        assert_eq!(logged[0].keyspace, None);
        let insert = "INSERT INTO shop.orders (customer, at, id, total) VALUES (?, ?, ?, ?)";
        assert_eq!(logged.iter().filter(|one| one.statements[0] == insert).count(), 30);
        let batch = logged.iter().find(|one| one.statements.len() == 3).unwrap();
        assert_eq!(batch.statements[2], "INSERT INTO shop.orders (customer, at, id) VALUES ('b2', 2, 1)");
        assert_eq!(batch.keyspace.as_deref(), Some("shop"));
        // A text above 127 bytes, with letters of two.
        assert!(logged.iter().any(|one| one.statements[0].contains(&"é".repeat(300))));
        let times: Vec<i64> = logged.iter().map(|one| one.at_millis).collect();
        assert!(times.is_sorted() && times[50] - times[0] < 5_000, "{times:?}");
    }

    /// A file that was cut, damaged or is something else gives fewer requests or an error, and never more than that.
    #[test]
    fn damaged_logs_are_refused_or_end() {
        let bytes = sample();
        let whole = all(&bytes).unwrap().len();
        for end in (65_808..bytes.len()).step_by(7) {
            assert!(all(&bytes[..end]).is_ok_and(|logged| logged.len() <= whole), "cut at {end}");
        }
        for at in 65_800..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            if let Ok(logged) = all(&damaged) {
                assert!(logged.len() <= whole + 1, "flipped at {at}");
            }
        }
        assert!(all(&[0x7E; 64]).is_err() || all(&[0x7E; 64]).unwrap().is_empty());
    }
}
