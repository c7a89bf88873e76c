//! The tables of a shard: found by id in a few instructions, walked in the order of their ids.
//!
//! Every read looks a table up once and every write three times, so a look-up must not search. Tables come and go
//! seldom, so that may cost a walk over all of them.

use super::TableState;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use store::TableId;

#[derive(Default)]
pub(super) struct TableMap {
    /// Ascending by id.
    states: Vec<(TableId, TableState)>,
    /// Where each is in `states`.
    places: HashMap<TableId, usize, BuildHasherDefault<Spread>>,
}

/// Ids are small numbers that the server gives, so nobody can choose them to collide: one multiplication spreads them.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, value: u32) {
        let mixed = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

impl TableMap {
    #[inline]
    pub fn get(&self, id: &TableId) -> Option<&TableState> {
        let (found, state) = self.states.get(*self.places.get(id)?)?;
        debug_assert_eq!(found, id, "a place leads to its table");
        Some(state)
    }

    #[inline]
    pub fn get_mut(&mut self, id: &TableId) -> Option<&mut TableState> {
        let (found, state) = self.states.get_mut(*self.places.get(id)?)?;
        debug_assert_eq!(found, id, "a place leads to its table");
        Some(state)
    }

    pub fn insert(&mut self, id: TableId, state: TableState) {
        match self.states.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => self.states[at].1 = state,
            Err(at) => {
                self.states.insert(at, (id, state));
                self.number();
            }
        }
    }

    pub fn remove(&mut self, id: &TableId) -> Option<TableState> {
        let at = self.places.remove(id)?;
        let (_, state) = self.states.remove(at);
        self.number();
        Some(state)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&TableId, &TableState)> {
        self.states.iter().map(|(id, state)| (id, state))
    }

    pub fn keys(&self) -> impl Iterator<Item = &TableId> {
        self.states.iter().map(|(id, _)| id)
    }

    pub fn values(&self) -> impl Iterator<Item = &TableState> {
        self.states.iter().map(|(_, state)| state)
    }

    fn number(&mut self) {
        self.places = self.states.iter().map(|(id, _)| *id).zip(0..).collect();
        assert_eq!(self.places.len(), self.states.len(), "every table has one place");
    }
}

impl FromIterator<(TableId, TableState)> for TableMap {
    fn from_iter<I: IntoIterator<Item = (TableId, TableState)>>(tables: I) -> TableMap {
        let mut map = TableMap { states: tables.into_iter().collect(), places: HashMap::default() };
        map.states.sort_by_key(|(id, _)| *id);
        map.number();
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::TableSeed;
    use std::collections::BTreeMap;
    use store::TableConfig;

    fn state(id: u32, incarnation: u32) -> TableState {
        let config = TableConfig { incarnation, ..TableConfig::new(TableId(id)) };
        TableState::new(TableSeed { config, memtables: Vec::new(), files: Vec::new() })
    }

    /// Tables that come and go in any order are those of a sorted map.
    #[test]
    fn it_holds_what_a_sorted_map_holds() {
        let mut map: TableMap = [9, 3, 70_000].map(|id| (TableId(id), state(id, 0))).into_iter().collect();
        let mut expected: BTreeMap<u32, u32> = [(9, 0), (3, 0), (70_000, 0)].into();
        for step in 1..400_u32 {
            let id = step.wrapping_mul(2_654_435_761) % 40;
            if step % 3 == 0 {
                assert_eq!(
                    map.remove(&TableId(id)).is_some(),
                    expected.remove(&id).is_some(),
                    "removing {id}"
                );
            } else {
                map.insert(TableId(id), state(id, step));
                expected.insert(id, step);
            }
            let held: Vec<(u32, u32)> =
                map.iter().map(|(id, state)| (id.0, state.config.incarnation)).collect();
            assert_eq!(held, expected.clone().into_iter().collect::<Vec<_>>());
            for id in 0..41 {
                let found = map.get(&TableId(id)).map(|state| state.config.incarnation);
                assert_eq!(found, expected.get(&id).copied());
                assert_eq!(map.get_mut(&TableId(id)).map(|state| state.config.id.0), found.map(|_| id));
            }
        }
        assert!(
            map.keys().map(|id| id.0).eq(expected.keys().copied()) && map.values().count() == expected.len()
        );
    }
}
