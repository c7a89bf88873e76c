//! The properties of a table file: identity, statistics, top of the index, filters
//! (layout: docs/format/table.md).
//!
//! A list of tagged sections, so that later versions can add some; unknown ones are skipped.

use super::filter::Directory;
use super::frame::FrameAt;
use crate::statistics::{Ledger, Statistics, ledger};
use model::key::split_prefix;
use model::vint;

const IDENTITY: u64 = 1;
const STATISTICS: u64 = 2;
const BOUNDS: u64 = 3;
const INDEX: u64 = 4;
const PARTITION_FILTER: u64 = 5;
const SPECIAL_FILTER: u64 = 6;
const ROW_BOUNDS: u64 = 7;
const LEDGER: u64 = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    pub table: u32,
    pub incarnation: u32,
    pub statistics: Statistics,
    /// Prefix of the first and last partition.
    pub first_prefix: Vec<u8>,
    pub last_prefix: Vec<u8>,
    pub index: Vec<IndexTop>,
    pub partition_filter: Directory,
    pub special_filter: Directory,
}

/// One index block: nothing in it or in the data blocks it names lies behind its last key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexTop {
    pub prefix: Vec<u8>,
    pub position: Vec<u8>,
    pub at: FrameAt,
}

impl Properties {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![];
        let mut section = |tag: u64, write: &dyn Fn(&mut Vec<u8>)| {
            let mut body = vec![];
            write(&mut body);
            vint::put(&mut out, tag);
            vint::put_slice(&mut out, &body);
        };
        section(IDENTITY, &|body| {
            vint::put(body, u64::from(self.table));
            vint::put(body, u64::from(self.incarnation));
        });
        section(STATISTICS, &|body| self.statistics.encode(body));
        section(BOUNDS, &|body| {
            vint::put_slice(body, &self.first_prefix);
            vint::put_slice(body, &self.last_prefix);
        });
        section(INDEX, &|body| {
            vint::put(body, self.index.len() as u64);
            for top in &self.index {
                vint::put_slice(body, &top.prefix);
                vint::put_slice(body, &top.position);
                vint::put(body, top.at.offset);
                vint::put(body, u64::from(top.at.len));
            }
        });
        section(PARTITION_FILTER, &|body| self.partition_filter.encode(body));
        section(SPECIAL_FILTER, &|body| self.special_filter.encode(body));
        if let Some((low, high)) = &self.statistics.row_bounds {
            section(ROW_BOUNDS, &|body| {
                vint::put_slice(body, low);
                vint::put_slice(body, high);
            });
        }
        if let Some(ledger) = &self.statistics.ledger {
            section(LEDGER, &|body| ledger.encode(&self.statistics.largest, body));
        }
        out
    }

    pub fn decode(mut bytes: &[u8]) -> Option<Properties> {
        let (mut identity, mut statistics, mut bounds, mut index) = (None, None, None, None);
        let (mut partition_filter, mut special_filter, mut row_bounds) = (None, None, None);
        let mut noted = None;
        while !bytes.is_empty() {
            let tag = vint::take(&mut bytes)?;
            let mut body = vint::take_slice(&mut bytes)?;
            match tag {
                IDENTITY => identity = Some((vint::take_u32(&mut body)?, vint::take_u32(&mut body)?)),
                STATISTICS => statistics = Some(Statistics::decode(body)?),
                BOUNDS => bounds = Some((take_prefix(&mut body)?, take_prefix(&mut body)?)),
                INDEX => index = Some(take_index(body)?),
                PARTITION_FILTER => partition_filter = Some(Directory::decode(body)?),
                SPECIAL_FILTER => special_filter = Some(Directory::decode(body)?),
                ROW_BOUNDS => row_bounds = Some((take_bytes(&mut body)?, take_bytes(&mut body)?)),
                LEDGER => noted = Some(Ledger::decode(&mut body)?),
                _ => {}
            }
        }
        let ((table, incarnation), (first_prefix, last_prefix)) = (identity?, bounds?);
        let mut statistics = Statistics { row_bounds, ..statistics? };
        if let Some((ledger, oldest)) = noted {
            ledger::date(&mut statistics.largest, &oldest);
            statistics.ledger = Some(ledger);
        }
        Some(Properties {
            table,
            incarnation,
            statistics,
            first_prefix,
            last_prefix,
            index: index?,
            partition_filter: partition_filter?,
            special_filter: special_filter?,
        })
    }
}

fn take_prefix(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let prefix = vint::take_slice(bytes)?;
    let (_, rest) = split_prefix(prefix)?;
    rest.is_empty().then(|| prefix.to_vec())
}

fn take_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    vint::take_slice(bytes).map(<[u8]>::to_vec)
}

fn take_index(mut bytes: &[u8]) -> Option<Vec<IndexTop>> {
    let count = vint::take(&mut bytes)?;
    let mut index: Vec<IndexTop> = vec![];
    for _ in 0..count {
        let prefix = take_prefix(&mut bytes)?;
        let position = vint::take_slice(&mut bytes)?.to_vec();
        let at = FrameAt { offset: vint::take(&mut bytes)?, len: vint::take_u32(&mut bytes)? };
        let ascends = |last: &IndexTop| (&last.prefix, &last.position) < (&prefix, &position);
        if !index.last().is_none_or(ascends) {
            return None;
        }
        index.push(IndexTop { prefix, position, at });
    }
    (bytes.is_empty() && !index.is_empty()).then_some(index)
}
