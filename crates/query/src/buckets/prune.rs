//! Which buckets can have rows in some slices of clustering bytes.
//!
//! Once values are bound, equalities, INs, ranges and tuples have all become slices, so one look at their ends serves
//! every statement. If an end gives no bound, nothing is pruned there.

use model::comparable;
use schema::{Bucketing, Table};
use store::Slice;

/// What is left of an entity's buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Pruned {
    /// Nothing can be there.
    pub nothing: bool,
    /// First and last time bucket, as far as there are bounds.
    pub first: Option<i64>,
    pub last: Option<i64>,
    /// The time buckets themselves, ascending, where every slice is inside one; each with the finer one that has the rows if it has spilled.
    pub exact: Option<Vec<(i64, Option<i64>)>>,
    /// Finer buckets before this one have nothing.
    pub finer_first: Option<i64>,
    /// The hash buckets, ascending, where every slice is inside one.
    pub hash: Option<Vec<i32>>,
    /// Rows of a time bucket are all before or all behind those of another: the columns before the time are the same in all.
    pub in_order: bool,
}

impl Pruned {
    /// The hash buckets of each time bucket; one `None` where the plan has none.
    pub fn hashes<'p>(&'p self, plan: &'p Bucketing) -> impl Iterator<Item = Option<i32>> + 'p {
        let all = plan.hash.as_ref().map_or(0..0, |hash| 0..hash.into as i32);
        let some = self.hash.iter().flatten().copied().map(Some);
        let none = plan.hash.is_none().then_some(None);
        let all = all.filter(|_| self.hash.is_none()).map(Some);
        some.filter(|_| plan.hash.is_some()).chain(all).chain(none)
    }
}

pub fn prune(table: &Table, plan: &Bucketing, slices: &[Slice], now_seconds: u32) -> Pruned {
    let mut pruned = Pruned {
        nothing: slices.is_empty(),
        first: None,
        last: None,
        exact: None,
        finer_first: None,
        hash: None,
        in_order: true,
    };
    if let Some(hash) = &plan.hash {
        let pinned = |slice: &Slice| {
            let (value, _) = value_at(table, slice, hash.by).pinned?;
            Some(hash.bucket(&value))
        };
        let found: Option<Vec<i32>> = slices.iter().map(pinned).collect();
        pruned.hash = found.map(sorted);
    }
    let Some(time) = &plan.time else { return pruned };
    let column = &table.clustering[time.by];
    let bucket = |value: &[u8]| {
        let finer = plan.spill.as_ref().and_then(|spill| spill.start(&column.data_type, value));
        time.bucket(&column.data_type, value).map(|bucket| (bucket, finer))
    };
    let mut spans = Vec::with_capacity(slices.len());
    for slice in slices {
        let ends = value_at(table, slice, time.by);
        let (low, high) = match column.descending {
            false => (ends.start, ends.end),
            true => (ends.end, ends.start),
        };
        let bucket = |end: Option<Vec<u8>>| end.and_then(|value| bucket(&value));
        spans.push((bucket(low), bucket(high)));
    }
    pruned.in_order = time.by == 0 || same_prefix(table, slices, time.by);
    let oldest = plan.oldest_kept(i64::from(now_seconds));
    let kept = |bucket: &(i64, Option<i64>)| oldest.is_none_or(|oldest| bucket.0 >= oldest);
    let one = |span: &(Option<_>, Option<_>)| span.0.filter(|_| span.0 == span.1);
    if let Some(exact) = spans.iter().map(one).collect::<Option<Vec<_>>>() {
        pruned.exact = Some(sorted(exact.into_iter().filter(kept).collect()));
    }
    // Where one slice has no bound, all together have none.
    let firsts: Option<Vec<(i64, Option<i64>)>> = spans.iter().map(|span| span.0).collect();
    let lasts: Option<Vec<(i64, Option<i64>)>> = spans.iter().map(|span| span.1).collect();
    pruned.finer_first = firsts.iter().flatten().filter_map(|first| first.1).min();
    pruned.first = firsts.and_then(|list| list.into_iter().map(|first| first.0).min()).max(oldest);
    // Finer buckets stand behind the start of the one that they are of.
    let last = |(bucket, finer): (i64, Option<i64>)| bucket.max(finer.unwrap_or(bucket));
    pruned.last = lasts.and_then(|list| list.into_iter().map(last).max());
    if let (Some(first), Some(last)) = (pruned.first, pruned.last) {
        pruned.nothing |= first > last;
        let next = time.every.next(first);
        if pruned.exact.is_none() && next >= last && plan.spill.is_none() {
            // Two neighbours: looking them up would cost what reading them costs.
            pruned.exact =
                Some(if next == last { vec![(first, None), (last, None)] } else { vec![(first, None)] });
        }
    }
    pruned
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values.dedup();
    values
}

/// What the ends of a slice say about one clustering column.
struct Ends {
    /// The value and the bytes up to and with it, if both ends have the same.
    pinned: Option<(Vec<u8>, usize)>,
    start: Option<Vec<u8>>,
    end: Option<Vec<u8>>,
}

/// Nothing is said where the columns before it differ between the ends.
fn value_at(table: &Table, slice: &Slice, at: usize) -> Ends {
    let nothing = Ends { pinned: None, start: None, end: None };
    let mut used = 0;
    for column in &table.clustering[..at] {
        let Some(rest) = slice.start.get(used..) else { return nothing };
        match comparable::skip(&column.data_type, column.descending, rest) {
            Ok(length) if length > 0 => used += length,
            _ => return nothing,
        }
    }
    if slice.end.get(..used) != slice.start.get(..used) {
        return nothing;
    }
    let column = &table.clustering[at];
    let decode = |bytes: &[u8]| {
        let rest = bytes.get(used..).filter(|rest| !rest.is_empty())?;
        let length = comparable::skip(&column.data_type, column.descending, rest).ok()?;
        let mut value = Vec::with_capacity(16);
        comparable::decode(&column.data_type, column.descending, rest, &mut value).ok()?;
        Some((value, used + length))
    };
    let (start, end) = (decode(&slice.start), decode(&slice.end));
    let pinned = match (&start, &end) {
        (Some((value, until)), Some(_)) if slice.end.get(..*until) == slice.start.get(..*until) => {
            Some((value.clone(), *until))
        }
        _ => None,
    };
    Ends { pinned, start: start.map(|(value, _)| value), end: end.map(|(value, _)| value) }
}

/// Whether all slices have the same values in the columns before `at`.
fn same_prefix(table: &Table, slices: &[Slice], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let prefix = |slice: &Slice| value_at(table, slice, before).pinned.map(|(_, until)| until);
    let Some(first) = slices.first() else { return true };
    let Some(until) = prefix(first) else { return false };
    let same =
        |slice: &Slice| prefix(slice) == Some(until) && slice.start.get(..until) == first.start.get(..until);
    slices.iter().all(same)
}
