//! Where streams continue: the slices of the statement, cut at the place where the last page ended.
//!
//! There are three kinds of groups. Groups before the place's group have returned everything up to and including the place's ordered prefix,
//! the place's own group everything up to its row, and later groups only what is before the prefix.

use super::super::execute::Scan;
use super::super::paging::MergeState;
use model::comparable;
use schema::Table;
use store::{Slice, Store};

/// The slices of every kind of group; without a place all are the statement's.
pub struct Bounds {
    cut: Option<Cut>,
}

struct Cut {
    group: usize,
    before: Vec<Slice>,
    own: Vec<Slice>,
    behind: Vec<Slice>,
}

impl Bounds {
    pub fn new<S: Store, T: Store>(
        scan: &Scan<'_, '_, S, T>,
        columns: usize,
        state: Option<&MergeState>,
    ) -> Bounds {
        let Some(state) = state else { return Bounds { cut: None } };
        let (slices, reverse) = (&scan.read.slices, scan.plan.reverse);
        let place = &state.clustering[..];
        let prefix = ordered_prefix(&scan.plan.table, place, columns);
        // A static row that stands alone has no clustering: before all rows, or behind all of them.
        let is_static = place.is_empty() && !scan.plan.table.clustering.is_empty();
        let behind = |bytes: &[u8], byte: u8| [bytes, &[byte]].concat();
        let (before, own, after) = match (is_static, reverse) {
            (true, false) => (Vec::new(), Vec::new(), Vec::new()),
            (true, true) => (Vec::new(), Vec::new(), Vec::new()),
            (false, false) => (behind(prefix, 0xff), behind(place, 0), prefix.to_vec()),
            (false, true) => (prefix.to_vec(), place.to_vec(), behind(prefix, 0xff)),
        };
        let cut = |bound: Vec<u8>| cut_at(slices, &bound, reverse);
        let (before, own, behind) = (cut(before), cut(own), cut(after));
        Bounds { cut: Some(Cut { group: state.group, before, own, behind }) }
    }

    /// Puts the slices of a group into the read, or takes them out again.
    pub fn swap(&mut self, group: usize, slices: &mut Vec<Slice>) {
        let Some(cut) = &mut self.cut else { return };
        let own = match group.cmp(&cut.group) {
            std::cmp::Ordering::Less => &mut cut.before,
            std::cmp::Ordering::Equal => &mut cut.own,
            std::cmp::Ordering::Greater => &mut cut.behind,
        };
        std::mem::swap(own, slices);
    }

    /// The slices of a group.
    pub fn of<'s>(&'s self, group: usize, all: &'s [Slice]) -> &'s [Slice] {
        match &self.cut {
            None => all,
            Some(cut) => match group.cmp(&cut.group) {
                std::cmp::Ordering::Less => &cut.before,
                std::cmp::Ordering::Equal => &cut.own,
                std::cmp::Ordering::Greater => &cut.behind,
            },
        }
    }
}

/// What of the slices is from the bound on, or in reverse before it.
pub fn cut_at(slices: &[Slice], bound: &[u8], reverse: bool) -> Vec<Slice> {
    let cut = |slice: &Slice| match reverse {
        false if slice.start.as_slice() >= bound => slice.clone(),
        false => Slice { start: bound.to_vec(), end: slice.end.clone() },
        true if slice.end.as_slice() <= bound => slice.clone(),
        true => Slice { start: slice.start.clone(), end: bound.to_vec() },
    };
    slices.iter().map(cut).filter(|slice| !slice.is_empty()).collect()
}

/// The bytes of the leading columns that ORDER BY names.
pub fn ordered_prefix<'c>(table: &Table, clustering: &'c [u8], columns: usize) -> &'c [u8] {
    let mut used = 0;
    for column in table.clustering.iter().take(columns) {
        match comparable::skip(&column.data_type, column.descending, &clustering[used..]) {
            Ok(len) => used += len,
            Err(_) => break,
        }
    }
    &clustering[..used]
}
