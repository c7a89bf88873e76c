//! Paging states: where a page ended, as opaque bytes that any connection may bring back.
//!
//! Layout: version (1), kind, table id, fields as vints and length-prefixed bytes, then a four-byte
//! checksum over everything before it. A client can corrupt it or send that of another statement;
//! neither may do more than give an error.

use crate::error::QueryError;
use crate::fault::ReadFault;
use model::key::PartitionKey;
use model::token::murmur3_h1;
use model::vint;
use store::Position;

const VERSION: u8 = 1;
const KIND_SEQUENCE: u8 = 1;
/// Kind 2 had one position per partition.
const KIND_MERGE: u8 = 3;

/// Where reading continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagingState {
    /// Partitions one after the other.
    Sequence(SequenceState),
    /// Rows of several partitions merged.
    Merge(MergeState),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceState {
    pub position: Position,
    /// Rows of the partition at `position` were met (so its static row does not stand alone).
    pub rows_met: bool,
    /// Rows that LIMIT still allows.
    pub limit_left: Option<u64>,
    /// Rows that PER PARTITION LIMIT still allows in the partition at `position`.
    pub partition_left: Option<u64>,
}

/// The place of the last returned row, in the order of the merge: enough to continue in every stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeState {
    /// Of which partitions, in which order.
    pub set: i64,
    /// Rows that LIMIT still allows.
    pub limit_left: Option<u64>,
    /// The group of the row: the number of its partition among those that the statement names.
    pub group: usize,
    /// Empty for a static row that stands alone.
    pub clustering: Vec<u8>,
    /// Rows given of each group, where PER PARTITION LIMIT counts them.
    pub taken: Vec<u64>,
}

impl PagingState {
    pub fn encode(&self, table: u32) -> Vec<u8> {
        let mut out = vec![VERSION];
        match self {
            PagingState::Sequence(state) => {
                out.push(KIND_SEQUENCE);
                vint::put(&mut out, table as u64);
                vint::put_slice(&mut out, state.position.key.prefix());
                put_optional(&mut out, state.position.clustering.as_deref());
                out.push(u8::from(state.rows_met));
                put_number(&mut out, state.limit_left);
                put_number(&mut out, state.partition_left);
            }
            PagingState::Merge(state) => {
                out.push(KIND_MERGE);
                vint::put(&mut out, table as u64);
                out.extend_from_slice(&state.set.to_be_bytes());
                put_number(&mut out, state.limit_left);
                vint::put(&mut out, state.group as u64);
                vint::put_slice(&mut out, &state.clustering);
                vint::put(&mut out, state.taken.len() as u64);
                state.taken.iter().for_each(|taken| vint::put(&mut out, *taken));
            }
        }
        let sum = checksum(&out);
        out.extend_from_slice(&sum);
        out
    }

    pub fn decode(bytes: &[u8], table: u32) -> Result<PagingState, QueryError> {
        decode(bytes, table).ok_or_else(malformed)
    }
}

/// The answer to a paging state that is not ours, damaged, or of another statement.
pub fn malformed() -> QueryError {
    ReadFault::PagingState.into()
}

fn decode(bytes: &[u8], table: u32) -> Option<PagingState> {
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if checksum(body) != *sum {
        return None;
    }
    let (head, mut rest) = body.split_first_chunk::<2>()?;
    let [VERSION, kind] = *head else { return None };
    if vint::take(&mut rest)? != table as u64 {
        return None;
    }
    let state = match kind {
        KIND_SEQUENCE => {
            let key = PartitionKey::from_prefix(vint::take_slice(&mut rest)?)?;
            let clustering = take_optional(&mut rest)?;
            PagingState::Sequence(SequenceState {
                position: Position { key, clustering },
                rows_met: take_flag(&mut rest)?,
                limit_left: take_number(&mut rest)?,
                partition_left: take_number(&mut rest)?,
            })
        }
        KIND_MERGE => {
            let (set, tail) = rest.split_first_chunk::<8>()?;
            rest = tail;
            let limit_left = take_number(&mut rest)?;
            let group = usize::try_from(vint::take(&mut rest)?).ok()?;
            let clustering = vint::take_slice(&mut rest)?.to_vec();
            let count = vint::take(&mut rest)?;
            // Every number takes at least one byte, so a lying count cannot make us allocate.
            if count > rest.len() as u64 {
                return None;
            }
            let taken = (0..count).map(|_| vint::take(&mut rest)).collect::<Option<_>>()?;
            let set = i64::from_be_bytes(*set);
            PagingState::Merge(MergeState { set, limit_left, group, clustering, taken })
        }
        _ => return None,
    };
    rest.is_empty().then_some(state)
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = murmur3_h1(bytes).to_be_bytes();
    [a, b, c, d]
}

fn put_optional(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => out.push(0),
        Some(bytes) => {
            out.push(1);
            vint::put_slice(out, bytes);
        }
    }
}

fn take_optional(rest: &mut &[u8]) -> Option<Option<Vec<u8>>> {
    Some(match take_flag(rest)? {
        false => None,
        true => Some(vint::take_slice(rest)?.to_vec()),
    })
}

fn take_flag(rest: &mut &[u8]) -> Option<bool> {
    let (&flag, tail) = rest.split_first()?;
    *rest = tail;
    match flag {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Zero is "no limit"; a limit of n is n + 1.
fn put_number(out: &mut Vec<u8>, number: Option<u64>) {
    vint::put(out, number.map_or(0, |n| n.saturating_add(1)));
}

fn take_number(rest: &mut &[u8]) -> Option<Option<u64>> {
    Some(vint::take(rest)?.checked_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<PagingState> {
        let key = PartitionKey::of(b"some key").unwrap();
        let position = Position { key: key.clone(), clustering: Some(vec![1, 2, 3]) };
        vec![
            PagingState::Sequence(SequenceState {
                position,
                rows_met: true,
                limit_left: Some(0),
                partition_left: None,
            }),
            PagingState::Sequence(SequenceState {
                position: Position { key, clustering: None },
                rows_met: false,
                limit_left: None,
                partition_left: Some(7),
            }),
            PagingState::Merge(MergeState {
                set: -5,
                limit_left: Some(3),
                group: 1000,
                clustering: vec![9],
                taken: vec![4, 0, 300],
            }),
        ]
    }

    #[test]
    fn states_come_back_and_damage_is_noticed() {
        for state in samples() {
            let bytes = state.encode(42);
            assert_eq!(PagingState::decode(&bytes, 42), Ok(state.clone()));
            assert_eq!(PagingState::decode(&bytes, 43), Err(malformed()));
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x40;
                assert_eq!(PagingState::decode(&damaged, 42), Err(malformed()), "byte {at}");
                assert_eq!(PagingState::decode(&bytes[..at], 42), Err(malformed()), "cut at {at}");
            }
        }
    }
}
