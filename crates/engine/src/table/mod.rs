//! Tables on disk. Under construction: no value of [`Table`] can exist yet.

use crate::cache::BlockCache;
use crate::cursor::{Cursor, Entry};
use model::deletion::Timestamp;
use store::StoreError;

pub enum Table {}

impl Table {
    pub fn may_contain(&self, _prefix: &[u8]) -> bool {
        match *self {}
    }

    pub fn may_have_special(&self, _prefix: &[u8]) -> bool {
        match *self {}
    }

    pub fn overlaps(&self, _start: &[u8], _end: &[u8]) -> bool {
        match *self {}
    }

    pub fn max_timestamp(&self) -> Timestamp {
        match *self {}
    }

    pub fn cursor<'a>(&'a self, _cache: Option<&'a BlockCache>) -> TableCursor<'a> {
        match *self {}
    }
}

pub struct TableCursor<'a>(&'a Table);

impl Cursor for TableCursor<'_> {
    fn enter(&mut self, _prefix: &[u8]) {
        match *self.0 {}
    }
    fn seek_partition(&mut self, _prefix: &[u8]) -> Result<(), StoreError> {
        match *self.0 {}
    }
    fn next_partition(&mut self) -> Result<(), StoreError> {
        match *self.0 {}
    }
    fn partition(&self) -> Option<&[u8]> {
        match *self.0 {}
    }
    fn seek(&mut self, _position: &[u8]) -> Result<(), StoreError> {
        match *self.0 {}
    }
    fn seek_before(&mut self, _position: &[u8]) -> Result<(), StoreError> {
        match *self.0 {}
    }
    fn next(&mut self) -> Result<(), StoreError> {
        match *self.0 {}
    }
    fn prev(&mut self) -> Result<(), StoreError> {
        match *self.0 {}
    }
    fn entry(&self) -> Option<Entry<'_>> {
        match *self.0 {}
    }
}
