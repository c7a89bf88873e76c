//! Payloads of log records: a commit with its mutations, the mark that a segment is complete, or a note about the
//! segment before (layout: docs/format/log.md).
//!
//! Decoding never panics; mutations are checked before anything uses them.

use model::key::split_prefix;
use model::vint;
use store::mutation::check_entries;
use store::{Mutation, TableId};

const COMMIT: u8 = 1;
const SEAL: u8 = 2;
const NOTE: u8 = 3;

/// The ballot of a commit without conditions.
pub const NO_BALLOT: i64 = i64::MIN;

pub fn begin_commit(out: &mut Vec<u8>, ballot: i64) {
    out.push(COMMIT);
    vint::put_signed(out, ballot);
}

pub fn put_mutation(out: &mut Vec<u8>, incarnation: u32, mutation: &Mutation) {
    assert!(mutation.deferred.is_empty(), "logs hold results, never operations");
    debug_assert!(mutation.check(), "what is logged can be replayed");
    vint::put(out, u64::from(mutation.table.0));
    vint::put(out, u64::from(incarnation));
    vint::put_slice(out, mutation.key.prefix());
    vint::put_slice(out, mutation.encoded());
}

pub fn seal() -> [u8; 1] {
    [SEAL]
}

/// Stands alone in a segment that has no commits yet: this many bytes of the segment before it are durable.
pub fn note(synced: u32) -> [u8; 5] {
    let [a, b, c, d] = synced.to_le_bytes();
    [NOTE, a, b, c, d]
}

/// A record, lent by the bytes it lies in; checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record<'a> {
    Commit { ballot: i64, mutations: Mutations<'a> },
    Seal,
    Note { synced: u32 },
}

/// The mutations of a commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mutations<'a> {
    rest: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedMutation<'a> {
    pub table: TableId,
    pub incarnation: u32,
    /// Storage prefix of the partition.
    pub prefix: &'a [u8],
    /// As `Mutation::encoded` gave them.
    pub entries: &'a [u8],
}

impl<'a> Record<'a> {
    /// A commit without mutations: it says what was durable before it.
    pub fn is_mark(&self) -> bool {
        matches!(self, Record::Commit { mutations, .. } if mutations.rest.is_empty())
    }

    /// `None` when the bytes, although their checksum is right, are not a record we know.
    pub fn decode(payload: &'a [u8]) -> Option<Record<'a>> {
        let (&kind, mut rest) = payload.split_first()?;
        match kind {
            SEAL if rest.is_empty() => Some(Record::Seal),
            NOTE => Some(Record::Note { synced: u32::from_le_bytes(rest.try_into().ok()?) }),
            COMMIT => {
                let ballot = vint::take_signed(&mut rest)?;
                let mutations = Mutations { rest };
                while !rest.is_empty() {
                    let mutation = take_mutation(&mut rest)?;
                    let (_, behind) = split_prefix(mutation.prefix)?;
                    if !behind.is_empty() || !check_entries(mutation.entries) {
                        return None;
                    }
                }
                Some(Record::Commit { ballot, mutations })
            }
            _ => None,
        }
    }
}

impl<'a> Iterator for Mutations<'a> {
    type Item = LoggedMutation<'a>;

    fn next(&mut self) -> Option<LoggedMutation<'a>> {
        take_mutation(&mut self.rest)
    }
}

fn take_mutation<'a>(rest: &mut &'a [u8]) -> Option<LoggedMutation<'a>> {
    Some(LoggedMutation {
        table: TableId(vint::take_u32(rest)?),
        incarnation: vint::take_u32(rest)?,
        prefix: vint::take_slice(rest)?,
        entries: vint::take_slice(rest)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::deletion::Deletion;
    use model::key::PartitionKey;

    #[test]
    fn commits_come_back_and_damage_is_refused() {
        let mut mutation = Mutation::new(TableId(300), PartitionKey::of(b"key").unwrap());
        mutation.delete_range(b"a", b"b", Deletion { timestamp: 5, local_seconds: 6 });
        let mut bytes = Vec::new();
        begin_commit(&mut bytes, -9);
        put_mutation(&mut bytes, 2, &mutation);
        let one = bytes.len();
        put_mutation(&mut bytes, 3, &mutation);
        let Some(Record::Commit { ballot: -9, mutations }) = Record::decode(&bytes) else { panic!() };
        assert_eq!(mutations.map(|m| m.incarnation).collect::<Vec<_>>(), [2, 3]);
        let same =
            |m: LoggedMutation<'_>| (m.prefix, m.entries) == (mutation.key.prefix(), mutation.encoded());
        assert!({ mutations }.all(same));
        for cut in 3..bytes.len() {
            assert_eq!(Record::decode(&bytes[..cut]).is_some(), cut == one, "cut at {cut}");
        }
        assert_eq!(Record::decode(&seal()), Some(Record::Seal));
        assert_eq!(Record::decode(&note(77)), Some(Record::Note { synced: 77 }));
        assert_eq!(Record::decode(&note(77)[..4]), None);
        assert_eq!(Record::decode(&[9]), None);
        assert_eq!(Record::decode(&[]), None);
    }
}
