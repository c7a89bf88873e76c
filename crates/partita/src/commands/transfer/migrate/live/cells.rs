//! Rows of one key on both sides, value by value, and what must be written to the one so that it has what the other has.
//!
//! A value that is missing is written with its own time. One that is too much is deleted at its own time, which deletes nothing that
//! was written later. Only what that does not settle is written a microsecond later than what is in its way.

use super::super::cells::{Layout, Stamp};
use std::collections::BTreeMap;

/// A value's name in its row: the place at which an UPDATE binds it, and the element of a set or map.
pub type Name = (usize, Option<Vec<u8>>);

/// A value, and when it was written and goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub value: Vec<u8>,
    /// `None`: the side cannot tell.
    pub stamp: Option<Stamp>,
    /// The time of a list stands for those of its elements, and need not be that of the other side.
    pub is_list: bool,
}

/// The values of a row.
pub type Row = BTreeMap<Name, Cell>;

/// Rows by the bytes of their key. Of both sides, what is left of TTLs was told at the same second.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub rows: BTreeMap<Vec<Vec<u8>>, Row>,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Values of one time. The marker of the row goes with them where it is new.
    Write {
        key: Vec<Vec<u8>>,
        name: Name,
        cell: Cell,
    },
    Mark {
        key: Vec<Vec<u8>>,
        stamp: Stamp,
    },
    Delete {
        key: Vec<Vec<u8>>,
        name: Name,
        micros: i64,
    },
    DeleteRow {
        key: Vec<Vec<u8>>,
        micros: i64,
    },
}

/// Values that go in this time are not worth a difference: the sides' clocks differ by as much.
const NEARLY_GONE_SECONDS: i32 = 2;
/// Expiries that differ by more are different: clients before v5 begin to count on each side by itself.
const EXPIRY_SECONDS: i32 = 1;
/// What was pushed aside is so much later there, for good.
const PUSHED_MICROS: i64 = 100;
/// A row's marker has a time that nobody can read. It is taken to be older than this.
const MARKER_MARGIN_MICROS: i64 = 10_000_000;

/// What must be done to `theirs` so that it is as `ours`. `theirs` was read first: what is there and not in `ours` has been deleted, since
/// every write is on our side before it is on theirs. `pushes`: the same was tried in vain, so times are moved.
pub fn changes(layout: &Layout, ours: &Rows, theirs: &Rows, now_micros: i64, pushes: bool) -> Vec<Change> {
    let mut found = Vec::new();
    for (key, row) in &ours.rows {
        match theirs.rows.get(key) {
            None => write_row(layout, key, row, now_micros, pushes, &mut found),
            Some(there) => {
                compare(key, row, there, now_micros, pushes, &mut found);
            }
        }
    }
    for (key, there) in theirs.rows.iter().filter(|(key, _)| !ours.rows.contains_key(*key)) {
        if is_nearly_gone(there) {
            continue;
        }
        if layout.is_static() {
            let all = there.iter();
            found.extend(all.map(|(name, cell)| delete(key, name, cell, now_micros)));
            continue;
        }
        let newest = there.values().filter_map(|cell| cell.stamp).map(|stamp| stamp.micros).max();
        let micros = newest.unwrap_or(now_micros - MARKER_MARGIN_MICROS);
        found.push(Change::DeleteRow { key: key.clone(), micros });
    }
    found
}

fn delete(key: &[Vec<u8>], name: &Name, cell: &Cell, now: i64) -> Change {
    // As of a moment ago, where its time is not known.
    let micros = cell.stamp.map_or(now - MARKER_MARGIN_MICROS, |stamp| stamp.micros);
    Change::Delete { key: key.to_vec(), name: name.clone(), micros }
}

fn goes_soon(cell: &Cell) -> bool {
    cell.stamp.is_some_and(|stamp| stamp.ttl > 0 && stamp.ttl <= NEARLY_GONE_SECONDS)
}

fn is_nearly_gone(row: &Row) -> bool {
    !row.is_empty() && row.values().all(goes_soon)
}

fn write_row(layout: &Layout, key: &[Vec<u8>], row: &Row, now: i64, pushes: bool, found: &mut Vec<Change>) {
    if is_nearly_gone(row) {
        return;
    }
    // Something newer hides it there, which no time of its own can help.
    let moved = |stamp: Stamp| if pushes { Stamp { micros: stamp.micros.max(now), ..stamp } } else { stamp };
    let stamps: Vec<Stamp> = row.values().filter_map(|cell| cell.stamp).collect();
    if !layout.is_static() {
        let oldest = stamps.iter().map(|stamp| stamp.micros).min().unwrap_or(now);
        let expires = !stamps.is_empty() && stamps.iter().all(|stamp| stamp.ttl > 0);
        let longest = stamps.iter().map(|stamp| stamp.ttl).max().unwrap_or(0);
        let stamp = Stamp { micros: oldest, ttl: if expires { longest } else { 0 } };
        found.push(Change::Mark { key: key.to_vec(), stamp: moved(stamp) });
    }
    for (name, cell) in row {
        let stamp = cell.stamp.or(stamps.iter().max().copied()).unwrap_or(Stamp { micros: now, ttl: 0 });
        let cell = Cell { stamp: Some(moved(stamp)), ..cell.clone() };
        found.push(Change::Write { key: key.to_vec(), name: name.clone(), cell });
    }
}

fn compare(key: &[Vec<u8>], row: &Row, there: &Row, now_micros: i64, pushes: bool, found: &mut Vec<Change>) {
    for (name, cell) in row {
        let other = there.get(name);
        if goes_soon(cell) && other.is_none_or(goes_soon) || other.is_some_and(|other| is_same(cell, other)) {
            continue;
        }
        let mut stamp = cell.stamp.unwrap_or(Stamp { micros: 0, ttl: 0 });
        if let Some(in_the_way) = other.and_then(|other| other.stamp) {
            let later = in_the_way.micros + 1;
            // A list is replaced as a whole, by whoever comes later than all of its elements.
            if cell.is_list || pushes {
                stamp.micros = stamp.micros.max(later);
            }
        } else if pushes {
            stamp.micros += 1;
        }
        let cell = Cell { stamp: Some(stamp), ..cell.clone() };
        found.push(Change::Write { key: key.to_vec(), name: name.clone(), cell });
    }
    for (name, cell) in there.iter().filter(|(name, cell)| !row.contains_key(*name) && !goes_soon(cell)) {
        found.push(delete(key, name, cell, now_micros));
    }
}

fn is_same(one: &Cell, other: &Cell) -> bool {
    if one.value != other.value {
        return false;
    }
    let (Some(a), Some(b)) = (one.stamp, other.stamp) else { return true };
    let is_pushed = (0..PUSHED_MICROS).contains(&(b.micros - a.micros));
    if !is_pushed && !one.is_list {
        return false;
    }
    match (a.ttl > 0, b.ttl > 0) {
        (false, false) => true,
        (true, true) => (a.ttl - b.ttl).abs() <= EXPIRY_SECONDS,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::table::{Column, Kind, Table};
    use super::*;

    fn layout() -> Layout {
        let column = |name: &str, kind, type_text: &str| Column {
            name: name.into(),
            kind,
            type_text: type_text.into(),
            fields: Vec::new(),
        };
        let columns = vec![
            column("k", Kind::Partition, "int"),
            column("v", Kind::Regular, "text"),
            column("l", Kind::Regular, "list<int>"),
        ];
        Layout::new(&Table { keyspace: "ks".into(), name: "t".into(), columns }, false, true).unwrap()
    }

    fn cell(value: &str, micros: i64, ttl: i32) -> Cell {
        Cell { value: value.into(), stamp: Some(Stamp { micros, ttl }), is_list: false }
    }

    fn rows(cells: &[(usize, Cell)]) -> Rows {
        let row = cells.iter().map(|(slot, cell)| ((*slot, None), cell.clone())).collect();
        Rows { rows: BTreeMap::from([(vec![vec![1]], row)]) }
    }

    #[test]
    fn values_keep_their_times_and_what_is_too_much_goes_at_its_own() {
        let key = vec![vec![1]];
        let write = |value: &str, micros, ttl| Change::Write {
            key: key.clone(),
            name: (0, None),
            cell: cell(value, micros, ttl),
        };
        let check = |ours: &Rows, theirs: &Rows, pushes, expected: &[Change]| {
            assert_eq!(changes(&layout(), ours, theirs, 50_000_000, pushes), expected);
        };
        let (old, new) = (rows(&[(0, cell("a", 10, 0))]), rows(&[(0, cell("b", 20, 0))]));
        check(&new, &old, false, &[write("b", 20, 0)]);
        check(&new, &new, false, &[]);
        let pushed = rows(&[(0, cell("b", 21, 0))]);
        check(&new, &pushed, true, &[]);
        check(&pushed, &new, true, &[write("b", 21, 0)]);
        // What there is newer than ours is in the way only when a first attempt has changed nothing.
        check(&old, &new, false, &[write("a", 10, 0)]);
        check(&old, &new, true, &[write("a", 21, 0)]);
        let nothing = Rows::default();
        check(
            &new,
            &nothing,
            false,
            &[Change::Mark { key: key.clone(), stamp: Stamp { micros: 20, ttl: 0 } }, write("b", 20, 0)],
        );
        check(&nothing, &new, false, &[Change::DeleteRow { key: key.clone(), micros: 20 }]);
        let bare = rows(&[]);
        check(&bare, &new, false, &[Change::Delete { key: key.clone(), name: (0, None), micros: 20 }]);
        check(&nothing, &bare, false, &[Change::DeleteRow { key: key.clone(), micros: 40_000_000 }]);
    }

    #[test]
    fn expiries_may_differ_by_what_cannot_be_known() {
        let (a, b) = (rows(&[(0, cell("a", 10, 60))]), rows(&[(0, cell("a", 10, 59))]));
        assert_eq!(changes(&layout(), &a, &b, 0, false), []);
        let late = rows(&[(0, cell("a", 10, 63))]);
        assert_eq!(changes(&layout(), &a, &late, 0, true).len(), 1);
        let going = rows(&[(0, cell("a", 10, 2))]);
        assert_eq!(
            changes(&layout(), &going, &rows(&[]), 0, false),
            [],
            "it is gone before it could be written"
        );
        assert_eq!(changes(&layout(), &Rows::default(), &going, 0, false), []);
    }

    #[test]
    fn a_list_comes_later_than_what_it_replaces() {
        let list = |value: &str, micros| Cell { is_list: true, ..cell(value, micros, 0) };
        let (ours, theirs) = (rows(&[(1, list("1", 10))]), rows(&[(1, list("12", 20))]));
        let expected = Change::Write { key: vec![vec![1]], name: (1, None), cell: list("1", 21) };
        assert_eq!(changes(&layout(), &ours, &theirs, 0, false), [expected]);
        assert_eq!(
            changes(&layout(), &ours, &rows(&[(1, list("1", 99))]), 0, false),
            [],
            "its times are its own"
        );
    }
}
