//! A cursor over a memtable.

use super::partition::Partition;
use super::ranges::Tombstone;
use super::rows::Place;
use super::{Memtable, ring_position};
use crate::cursor::{AT_DELETION, AT_STATIC, Cursor, Entry, is_inside};
use model::key::{KIND_RANGE, KIND_ROW, KIND_STATIC};
use store::StoreError;

pub struct MemtableCursor<'a> {
    table: &'a Memtable,
    partition: Option<&'a Partition>,
    /// The prefix that `enter` was given, when no such partition exists.
    absent: Vec<u8>,
    at: At<'a>,
}

#[derive(Clone, Copy)]
enum At<'a> {
    Nothing,
    Deletion,
    Static,
    Range(&'a [u8], &'a Tombstone),
    Row(Place),
}

impl<'a> MemtableCursor<'a> {
    pub(super) fn new(table: &'a Memtable) -> MemtableCursor<'a> {
        MemtableCursor { table, partition: None, absent: Vec::new(), at: At::Nothing }
    }

    /// Stands in a partition that `Memtable::partition` returned.
    pub fn in_partition(table: &'a Memtable, partition: &'a Partition) -> MemtableCursor<'a> {
        MemtableCursor { table, partition: Some(partition), absent: Vec::new(), at: At::Nothing }
    }

    /// The partition it stands in.
    pub fn current(&self) -> Option<&'a Partition> {
        self.partition
    }

    fn stand(&mut self, partition: Option<&'a Partition>) {
        self.absent.clear();
        self.partition = partition;
        self.at = partition.map_or(At::Nothing, |p| self.first(p, &[]));
    }

    /// The first entry at or behind `position`.
    fn first(&self, partition: &'a Partition, position: &[u8]) -> At<'a> {
        let kind = position.first().copied().unwrap_or_default();
        if position <= AT_DELETION && !partition.deletion.is_none() {
            return At::Deletion;
        }
        if position <= AT_STATIC && partition.static_row.is_some() {
            return At::Static;
        }
        if kind <= KIND_RANGE
            && !partition.ranges.is_empty()
            && let Some((start, tombstone)) = partition.ranges.at_or_behind(position)
        {
            return At::Range(start, tombstone);
        }
        let row = match kind {
            ..KIND_ROW => partition.rows.first(),
            KIND_ROW => partition.rows.at_or_behind(&self.table.arena, position),
            _ => None,
        };
        row.map_or(At::Nothing, At::Row)
    }

    /// The last entry before `position`.
    fn last(&self, partition: &'a Partition, position: &[u8]) -> At<'a> {
        let kind = position.first().copied().unwrap_or_default();
        let row = match kind {
            ..KIND_ROW => None,
            KIND_ROW => partition.rows.before(&self.table.arena, position),
            _ => partition.rows.last(),
        };
        if let Some(place) = row {
            return At::Row(place);
        }
        if kind >= KIND_RANGE
            && let Some((start, tombstone)) = partition.ranges.before(position)
        {
            return At::Range(start, tombstone);
        }
        if position > AT_STATIC && kind >= KIND_STATIC && partition.static_row.is_some() {
            return At::Static;
        }
        if position > AT_DELETION && !partition.deletion.is_none() { At::Deletion } else { At::Nothing }
    }
}

impl Cursor for MemtableCursor<'_> {
    fn enter(&mut self, prefix: &[u8]) {
        self.partition = self.table.partition(prefix);
        self.at = At::Nothing;
        self.absent.clear();
        if self.partition.is_none() {
            self.absent.extend_from_slice(prefix);
        }
    }

    fn seek_partition(&mut self, prefix: &[u8]) -> Result<(), StoreError> {
        let found = self.table.partition_from(prefix, false);
        self.stand(found);
        Ok(())
    }

    fn next_partition(&mut self) -> Result<(), StoreError> {
        let table = self.table;
        let next = match self.partition {
            Some(current) => {
                // Nearly always the next bucket: do not look into the current one.
                let token = ring_position(current.prefix());
                match table.by_token.get(&token).map(|b| b.as_slice().len()) {
                    Some(1) if token < u64::MAX => {
                        let next = table.by_token.range(token + 1..).next();
                        next.and_then(|(_, b)| b.as_slice().first()).map(|&i| &table.partitions[i as usize])
                    }
                    _ => table.partition_from(current.prefix(), true),
                }
            }
            None if self.absent.is_empty() => None,
            None => table.partition_from(&self.absent, true),
        };
        self.stand(next);
        Ok(())
    }

    fn partition(&self) -> Option<&[u8]> {
        self.partition.map(Partition::prefix)
    }

    fn seek(&mut self, position: &[u8]) -> Result<(), StoreError> {
        self.at = self.partition.map_or(At::Nothing, |p| self.first(p, position));
        Ok(())
    }

    fn seek_before(&mut self, position: &[u8]) -> Result<(), StoreError> {
        self.at = self.partition.map_or(At::Nothing, |p| self.last(p, position));
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<(), StoreError> {
        let Some(partition) = self.partition else { return Ok(()) };
        self.at = match self.at {
            At::Nothing => At::Nothing,
            At::Deletion => self.first(partition, AT_STATIC),
            At::Static => self.first(partition, &[KIND_RANGE]),
            At::Range(start, _) => match partition.ranges.behind(start) {
                Some((start, tombstone)) => At::Range(start, tombstone),
                None => partition.rows.first().map_or(At::Nothing, At::Row),
            },
            At::Row(place) => partition.rows.next(place).map_or(At::Nothing, At::Row),
        };
        Ok(())
    }

    #[inline]
    fn prev(&mut self) -> Result<(), StoreError> {
        let Some(partition) = self.partition else { return Ok(()) };
        self.at = match self.at {
            At::Nothing | At::Deletion => At::Nothing,
            At::Static => self.last(partition, AT_STATIC),
            At::Range(start, _) => self.last(partition, start),
            At::Row(place) => match partition.rows.previous(place) {
                Some(place) => At::Row(place),
                None => self.last_special(partition),
            },
        };
        Ok(())
    }

    fn pass_dead(&mut self, now_seconds: u32, reverse: bool, bounds: (&[u8], &[u8]), at_most: u64) -> u64 {
        let (Some(partition), At::Row(mut place)) = (self.partition, self.at) else { return 0 };
        let mut passed = 0;
        let mut from = place;
        while let Some((last, rows)) = partition.rows.dead_stretch(from, now_seconds, reverse) {
            let entered = u64::from(from != place);
            let position = partition.rows.get(last).map(|slot| slot.position(&self.table.arena));
            let clustering = position.and_then(|position| position.get(1..));
            let inside = clustering.is_some_and(|clustering| is_inside(clustering, bounds, reverse));
            if !inside || passed + entered + rows as u64 > at_most {
                break;
            }
            passed += entered + rows as u64;
            place = last;
            let next = if reverse { partition.rows.previous(last) } else { partition.rows.next(last) };
            let Some(next) = next else { break };
            from = next;
        }
        self.at = At::Row(place);
        passed
    }

    #[inline]
    fn entry(&self) -> Option<Entry<'_>> {
        let partition = self.partition?;
        let arena = &self.table.arena;
        let slot = match self.at {
            At::Nothing => return None,
            At::Row(place) => partition.rows.get(place)?,
            At::Static => partition.static_row.as_ref()?,
            At::Deletion => {
                let timestamp = partition.deletion.timestamp;
                return Some(Entry { position: AT_DELETION, timestamp, rest: &partition.deletion_rest });
            }
            At::Range(position, tombstone) => {
                let timestamp = tombstone.deletion().timestamp;
                return Some(Entry { position, timestamp, rest: tombstone.rest() });
            }
        };
        let (position, payload) = slot.record(arena);
        let (timestamp, rest) = payload.split_first_chunk::<8>()?;
        Some(Entry { position, timestamp: i64::from_be_bytes(*timestamp), rest })
    }
}

impl<'a> MemtableCursor<'a> {
    /// The last entry that is not a row.
    fn last_special(&self, partition: &'a Partition) -> At<'a> {
        match partition.ranges.before(&[KIND_ROW]) {
            Some((start, tombstone)) => At::Range(start, tombstone),
            None => self.last(partition, &[KIND_RANGE]),
        }
    }
}
