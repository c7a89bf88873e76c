//! Records of streams as they are stored: one row per change, in the order of ballots, for 24 hours.
//!
//! A stream has one shard. A record lies in its partition under (ballot, place, number within the transaction), which also makes its
//! sequence number: 16 digits of microseconds, 5 digits for the rest. Ballots of one item only grow, so its records are in order.

use super::layout::STORE_COLUMN;
use super::token::expiring_row;
use crate::document;
use crate::table::{TableDefinition, ViewType};
use crate::value::Item;
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use model::vint;
use store::{Moment, Mutation, TableId};

/// How long records are kept.
pub const RETENTION_SECONDS: u32 = 86_400;
/// Files of records are dropped together when all of a window have expired.
pub const WINDOW_SECONDS: u64 = 3_600;
/// What follows the microseconds in a sequence number: 781 places with 128 records each.
const BELOW: u128 = 100_000;
const PER_PLACE: u32 = 128;

const INSERT: u8 = 0;
const MODIFY: u8 = 1;
const REMOVE: u8 = 2;
const BY_EXPIRY: u8 = 4;

/// The item before and after.
#[derive(Clone, Copy)]
pub struct Images<'i> {
    pub old: Option<&'i Item>,
    pub new: Option<&'i Item>,
}

/// A record read back; documents are as stored.
#[derive(Debug)]
pub struct Record<'r> {
    pub event: &'static str,
    pub by_expiry: bool,
    pub keys: &'r [u8],
    pub old: Option<&'r [u8]>,
    pub new: Option<&'r [u8]>,
}

pub fn partition() -> PartitionKey {
    PartitionKey::of(b"0").unwrap_or_else(|| unreachable!("a short key fits"))
}

/// Where the record with this sequence number lies, or would.
pub fn position(sequence: u128) -> Vec<u8> {
    let (micros, rest) = (sequence / BELOW, sequence % BELOW);
    let mut bytes = Vec::with_capacity(12);
    bytes.extend_from_slice(&(micros.min(u128::from(u64::MAX)) as u64).to_be_bytes());
    bytes.extend_from_slice(&(rest as u32).to_be_bytes());
    bytes
}

pub fn sequence(position: &[u8]) -> Option<u128> {
    let (micros, rest) = position.split_first_chunk::<8>()?;
    let rest = rest.first_chunk::<4>()?;
    Some(u128::from(u64::from_be_bytes(*micros)) * BELOW + u128::from(u32::from_be_bytes(*rest)))
}

/// The first sequence number of a microsecond.
pub fn sequence_at(micros: i64) -> u128 {
    u128::from(micros.max(0) as u64) * BELOW
}

pub fn micros_of(sequence: u128) -> i64 {
    (sequence / BELOW).min(i64::MAX as u128) as i64
}

pub fn mutation(
    store: TableId,
    definition: &TableDefinition,
    view: ViewType,
    images: Images<'_>,
    moment: Moment,
    nth: u16,
    by_expiry: bool,
) -> Mutation {
    let Images { old, new } = images;
    let mut value = Vec::with_capacity(256);
    let event = match (old, new) {
        (None, _) => INSERT,
        (Some(_), Some(_)) => MODIFY,
        (Some(_), None) => REMOVE,
    };
    value.push(event | if by_expiry { BY_EXPIRY } else { 0 });
    let keys = new.or(old).map(|item| definition.key_attributes(item)).unwrap_or_default();
    vint::put_slice(&mut value, &document::encode(&keys));
    let with_old = matches!(view, ViewType::OldImage | ViewType::NewAndOldImages);
    let with_new = matches!(view, ViewType::NewImage | ViewType::NewAndOldImages);
    for image in [old.filter(|_| with_old), new.filter(|_| with_new)] {
        vint::put_slice(&mut value, &image.map(document::encode).unwrap_or_default());
    }
    let rest = moment.place * PER_PLACE + u32::from(nth);
    let sequence = sequence_at(moment.ballot) + u128::from(rest);
    let mut writer = RowWriter::with_capacity(value.len() + 32);
    expiring_row(&mut writer, moment, RETENTION_SECONDS, &value);
    let mut mutation = Mutation::new(store, partition());
    mutation.row(&position(sequence), writer.view());
    mutation
}

/// Reads a record; `None` if it has expired or is damaged.
pub fn read<'r>(row: &RowView<'r>, now_seconds: u32) -> Option<Record<'r>> {
    let cell = row.cells().find(|cell| cell.column == STORE_COLUMN)?;
    let (&flags, mut rest) = cell.live_value(now_seconds)?.split_first()?;
    let keys = vint::take_slice(&mut rest)?;
    let old = vint::take_slice(&mut rest)?;
    let new = vint::take_slice(&mut rest)?;
    let image = |bytes: &'r [u8]| (!bytes.is_empty()).then_some(bytes);
    let event = match flags & !BY_EXPIRY {
        INSERT => "INSERT",
        MODIFY => "MODIFY",
        REMOVE => "REMOVE",
        _ => return None,
    };
    Some(Record { event, by_expiry: flags & BY_EXPIRY != 0, keys, old: image(old), new: image(new) })
}
