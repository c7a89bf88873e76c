//! Payloads of log records: a commit with its mutations, or the mark that a segment is complete
//! (layout: docs/format/log.md).
//!
//! Decoding never panics; mutations are checked before anything uses them.

use model::key::PartitionKey;
use model::vint;
use store::{Mutation, TableId};

const COMMIT: u8 = 1;
const SEAL: u8 = 2;

/// The ballot of a commit without conditions.
pub const NO_BALLOT: i64 = i64::MIN;

pub fn begin_commit(out: &mut Vec<u8>, ballot: i64) {
    out.push(COMMIT);
    vint::put_signed(out, ballot);
}

pub fn put_mutation(out: &mut Vec<u8>, incarnation: u32, mutation: &Mutation) {
    debug_assert!(mutation.deferred.is_empty());
    vint::put(out, u64::from(mutation.table.0));
    vint::put(out, u64::from(incarnation));
    vint::put_slice(out, mutation.key.prefix());
    vint::put_slice(out, mutation.encoded());
}

pub fn seal() -> [u8; 1] {
    [SEAL]
}

#[derive(Debug, PartialEq)]
pub enum Record {
    Commit { ballot: i64, mutations: Vec<LoggedMutation> },
    Seal,
}

#[derive(Debug, PartialEq)]
pub struct LoggedMutation {
    pub incarnation: u32,
    pub mutation: Mutation,
}

impl Record {
    /// `None` when the bytes, although their checksum is right, are not a record we know.
    pub fn decode(payload: &[u8]) -> Option<Record> {
        let (&kind, mut rest) = payload.split_first()?;
        match kind {
            SEAL if rest.is_empty() => Some(Record::Seal),
            COMMIT => {
                let ballot = vint::take_signed(&mut rest)?;
                let mut mutations = Vec::new();
                while !rest.is_empty() {
                    mutations.push(take_mutation(&mut rest)?);
                }
                Some(Record::Commit { ballot, mutations })
            }
            _ => None,
        }
    }
}

fn take_mutation(rest: &mut &[u8]) -> Option<LoggedMutation> {
    let table = TableId(vint::take_u32(rest)?);
    let incarnation = vint::take_u32(rest)?;
    let key = PartitionKey::from_prefix(vint::take_slice(rest)?)?;
    let mutation = Mutation::from_encoded(table, key, vint::take_slice(rest)?.to_vec());
    mutation.check().then_some(LoggedMutation { incarnation, mutation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::deletion::Deletion;

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
        assert_eq!(mutations.iter().map(|m| m.incarnation).collect::<Vec<_>>(), [2, 3]);
        assert!(mutations.iter().all(|m| m.mutation == mutation));
        for cut in 3..bytes.len() {
            assert_eq!(Record::decode(&bytes[..cut]).is_some(), cut == one, "cut at {cut}");
        }
        assert_eq!(Record::decode(&seal()), Some(Record::Seal));
        assert_eq!(Record::decode(&[9]), None);
        assert_eq!(Record::decode(&[]), None);
    }
}
