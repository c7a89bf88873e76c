//! A cursor over any kind of run, without a virtual call per entry.

use super::{Cursor, Entry};
use crate::memtable::MemtableCursor;
use crate::table::TableCursor;
use store::StoreError;

pub enum RunCursor<'a> {
    Memtable(MemtableCursor<'a>),
    Table(TableCursor<'a>),
}

macro_rules! forward {
    ($self:ident, $cursor:ident => $call:expr) => {
        match $self {
            RunCursor::Memtable($cursor) => $call,
            RunCursor::Table($cursor) => $call,
        }
    };
}

impl Cursor for RunCursor<'_> {
    fn enter(&mut self, prefix: &[u8]) {
        forward!(self, cursor => cursor.enter(prefix))
    }

    fn seek_partition(&mut self, prefix: &[u8]) -> Result<(), StoreError> {
        forward!(self, cursor => cursor.seek_partition(prefix))
    }

    fn next_partition(&mut self) -> Result<(), StoreError> {
        forward!(self, cursor => cursor.next_partition())
    }

    #[inline]
    fn partition(&self) -> Option<&[u8]> {
        forward!(self, cursor => cursor.partition())
    }

    fn seek(&mut self, position: &[u8]) -> Result<(), StoreError> {
        forward!(self, cursor => cursor.seek(position))
    }

    fn seek_before(&mut self, position: &[u8]) -> Result<(), StoreError> {
        forward!(self, cursor => cursor.seek_before(position))
    }

    #[inline]
    fn next(&mut self) -> Result<(), StoreError> {
        forward!(self, cursor => cursor.next())
    }

    #[inline]
    fn prev(&mut self) -> Result<(), StoreError> {
        forward!(self, cursor => cursor.prev())
    }

    fn pass_dead(&mut self, now_seconds: u32, reverse: bool, bounds: (&[u8], &[u8]), at_most: u64) -> u64 {
        forward!(self, cursor => cursor.pass_dead(now_seconds, reverse, bounds, at_most))
    }

    #[inline]
    fn entry(&self) -> Option<Entry<'_>> {
        forward!(self, cursor => cursor.entry())
    }
}
