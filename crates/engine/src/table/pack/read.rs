//! From the packed form back to an ordinary block.

use super::column::Values;
use super::series::Series;
use super::shape::Shape;
use super::{ROWS_MIXED, ROWS_PLAIN, ROWS_SHAPED};
use crate::table::block::{Areas, Block, Slot, take_partitions};
use model::vint;

/// A block is at most this large in memory without its last entry; bounds what we reserve on a block's word.
const RESERVE_MAX: usize = 1 << 17;

/// Checks packed bytes (behind the first) and makes them a block; `None` when they are not one.
pub fn unpack(packed: &[u8]) -> Option<Block> {
    let mut rest = packed;
    let entries = Block::take_count(&mut rest)?;
    let count = vint::take(&mut rest).filter(|n| (1..=entries as u64).contains(n))? as usize;
    let reserve = usize::try_from(vint::take(&mut rest)?).ok()?.min(RESERVE_MAX);
    let list = rest;
    let partitions = take_partitions(list, &mut rest, count, entries)?;
    let list = &list[..list.len() - rest.len()];
    let timestamps = Series::take(&mut rest, entries)?;
    let mut raw = Vec::with_capacity(reserve + timestamps.rests.len());
    raw.extend_from_slice(list);
    let timestamps_at = raw.len() as u32;
    raw.extend_from_slice(timestamps.rests);
    let mut slots = vec![Slot::default(); entries];
    let keys_at = raw.len();
    for partition in 0..count {
        let first = partitions.get(partition)?.first();
        let end = partitions.get(partition + 1).map_or(entries, |next| next.first());
        take_positions(&mut rest, slots.get_mut(first..end)?, &mut raw, keys_at)?;
    }
    let payloads_at = raw.len();
    take_payloads(&mut rest, &mut slots, &mut raw, payloads_at)?;
    if !rest.is_empty() {
        return None;
    }
    // The estimate counts whole positions; most of their bytes are shared.
    if raw.capacity() - raw.len() > raw.len() / 8 {
        raw.shrink_to_fit();
    }
    let areas = Areas {
        base: (timestamps.base ^ 1 << 63).cast_signed(),
        step: timestamps.step.cast_signed(),
        width: timestamps.width,
        timestamps_at,
        keys_at: u32::try_from(keys_at).ok()?,
        payloads_at: u32::try_from(payloads_at).ok()?,
    };
    u32::try_from(raw.len()).ok()?;
    Some(Block::from_parts(raw, areas, slots, partitions))
}

/// The positions of one partition's entries, behind their shared bytes.
fn take_positions(rest: &mut &[u8], slots: &mut [Slot], raw: &mut Vec<u8>, keys_at: usize) -> Option<()> {
    let (&len, tail) = rest.split_first().filter(|(len, _)| **len <= 8)?;
    *rest = tail;
    if len > 0 {
        let numbers = Series::take(rest, slots.len())?;
        for (i, slot) in slots.iter_mut().enumerate() {
            slot.key = u16::try_from(raw.len() - keys_at).ok()?;
            raw.extend_from_slice(&numbers.get(i).to_be_bytes()[8 - len as usize..]);
        }
        return Some(());
    }
    let start = raw.len() - keys_at;
    let mut total = 0usize;
    for slot in slots {
        slot.key = u16::try_from(start + total).ok()?;
        total = total.checked_add(usize::try_from(vint::take(rest)?).ok()?)?;
    }
    let (bytes, tail) = rest.split_at_checked(total)?;
    raw.extend_from_slice(bytes);
    *rest = tail;
    Some(())
}

fn take_payloads(rest: &mut &[u8], slots: &mut [Slot], raw: &mut Vec<u8>, payloads_at: usize) -> Option<()> {
    let (&form, tail) = rest.split_first()?;
    *rest = tail;
    let map = match form {
        ROWS_PLAIN | ROWS_SHAPED => &[][..],
        ROWS_MIXED => {
            let (map, tail) = rest.split_at_checked(slots.len().div_ceil(8))?;
            *rest = tail;
            map
        }
        _ => return None,
    };
    let is_shaped = |entry: usize| match form {
        ROWS_PLAIN => false,
        ROWS_SHAPED => true,
        _ => map.get(entry / 8).is_some_and(|byte| byte >> (entry % 8) & 1 == 1),
    };
    let shaped = (0..slots.len()).filter(|entry| is_shaped(*entry)).count();
    let mut columns = match form {
        ROWS_PLAIN => None,
        _ => Some(Columns::take(rest, shaped)?),
    };
    let mut lengths = *rest;
    for _ in shaped..slots.len() {
        vint::take(rest)?;
    }
    for (entry, slot) in slots.iter_mut().enumerate() {
        slot.payload = u16::try_from(raw.len() - payloads_at).ok()?;
        match &mut columns {
            Some(columns) if is_shaped(entry) => columns.put_row(raw)?,
            _ => {
                let len = usize::try_from(vint::take(&mut lengths)?).ok()?;
                let (bytes, tail) = rest.split_at_checked(len)?;
                raw.extend_from_slice(bytes);
                *rest = tail;
            }
        }
    }
    Some(())
}

/// The columns of the shaped rows, handed out row by row.
struct Columns<'a> {
    shape: Shape<'a>,
    values: Vec<Values<'a>>,
}

impl<'a> Columns<'a> {
    fn take(rest: &mut &'a [u8], rows: usize) -> Option<Columns<'a>> {
        let shape = Shape::parse(vint::take_slice(rest)?)?;
        let values: Option<Vec<Values<'a>>> =
            (0..shape.columns()).map(|_| Values::take(rest, rows)).collect();
        Some(Columns { values: values?, shape })
    }

    #[inline]
    fn put_row(&mut self, out: &mut Vec<u8>) -> Option<()> {
        out.push(self.shape.flags);
        let (bare, cells) = self.values.split_at_mut(self.shape.bare);
        for values in bare {
            values.put_next(out, false)?;
        }
        for (values, head) in cells.iter_mut().zip(&self.shape.cells) {
            out.extend_from_slice(head);
            values.put_next(out, true)?;
        }
        Some(())
    }
}
