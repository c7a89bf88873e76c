//! Which rows of a partition: a prefix of equalities and INs, then at most one range.
//!
//! Everything becomes half-open intervals of clustering bytes. A range over several columns of
//! mixed direction is a union of intervals; see [`TupleRange`].

use super::product::{check_bytes, check_combinations};
use super::terms::{Item, Receiver, Terms};
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::key::put_clustering;
use schema::{Column, Table};
use std::borrow::Cow;
use store::Slice;

/// Restrictions in clustering order, without gaps.
#[derive(Clone, Debug, Default)]
pub struct ClusteringRestriction {
    pub steps: Vec<Step>,
    /// On the columns right behind the steps.
    pub range: Option<TupleRange>,
}

/// Values for `columns` consecutive clustering columns.
#[derive(Clone, Debug)]
pub struct Step {
    pub columns: usize,
    pub terms: Terms,
}

/// Bounds on one or more consecutive columns, compared as tuples; both start at the same column.
#[derive(Clone, Debug, Default)]
pub struct TupleRange {
    pub start: Option<RangeBound>,
    pub end: Option<RangeBound>,
    /// NOT IN: tuples of this many columns that are left out.
    pub except: Vec<(usize, Terms)>,
}

#[derive(Clone, Debug)]
pub struct RangeBound {
    pub columns: usize,
    pub item: Item,
    pub inclusive: bool,
    /// A null value is below every other instead of an error: `> null` excludes nothing, `< null` all.
    pub null_is_least: bool,
}

/// Room for a typical clustering prefix, so that building one allocates once.
const PREFIX_BYTES: usize = 64;

/// Which side of a bound is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Above,
    Below,
}

impl ClusteringRestriction {
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.range.is_none()
    }

    /// Number of columns with equalities or INs.
    pub fn columns_restricted(&self) -> usize {
        self.steps.iter().map(|s| s.columns).sum()
    }

    /// The prefixes that the steps make: ascending, without duplicates.
    pub fn prefixes(
        &self,
        table: &Table,
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<Vec<Vec<u8>>, QueryError> {
        let mut prefixes = vec![Vec::with_capacity(PREFIX_BYTES)];
        let mut at = 0;
        for step in &self.steps {
            let columns = &table.clustering[at..at + step.columns];
            at += step.columns;
            if let ([column], Some(only), [prefix]) =
                (columns, step.terms.as_single(), prefixes.as_mut_slice())
            {
                let name = |_| column.name.to_string();
                let value = Receiver::new(&name).required(only.evaluate(request, ids)?, 0)?;
                put_clustering(column, &value, prefix)?;
                continue;
            }
            let rows = step.terms.evaluate(&Receiver::new(&|i| columns[i].name.to_string()), request, ids)?;
            let combinations = rows.len().saturating_mul(prefixes.len());
            check_combinations(table.clustering[..at].iter().map(|c| &*c.name), combinations)?;
            if let [row] = rows.as_slice() {
                let added: usize = row.iter().map(|value| value.len()).sum();
                check_bytes(added.saturating_mul(prefixes.len()))?;
                prefixes.iter_mut().try_for_each(|prefix| put_row(columns, row, prefix))?;
                continue;
            }
            let mut suffixes = Vec::with_capacity(rows.len());
            for row in &rows {
                let mut suffix = Vec::new();
                put_row(columns, row, &mut suffix)?;
                suffixes.push(suffix);
            }
            suffixes.sort();
            suffixes.dedup();
            check_bytes(combined_bytes(&prefixes, &suffixes))?;
            prefixes = prefixes
                .iter()
                .flat_map(|prefix| suffixes.iter().map(move |suffix| [&prefix[..], suffix].concat()))
                .collect();
        }
        Ok(prefixes)
    }

    /// What equalities alone leave: one row, or the rows behind one prefix.
    fn only_slice(&self, table: &Table, request: &Request<'_>, ids: &dyn Ids) -> Result<Slice, QueryError> {
        let mut prefix = Vec::with_capacity(PREFIX_BYTES);
        let mut at = 0;
        for step in &self.steps {
            if let (Some(only), Some(column)) = (step.terms.as_single(), table.clustering.get(at)) {
                let name = |_| column.name.to_string();
                let value = Receiver::new(&name).required(only.evaluate(request, ids)?, 0)?;
                put_clustering(column, &value, &mut prefix)?;
            }
            at += step.columns;
        }
        let behind = if at == table.clustering.len() { 0 } else { 0xff };
        Ok(Slice::behind(prefix, behind))
    }

    /// The values themselves, if the steps name one row.
    pub fn only_values<'v>(
        &'v self,
        table: &Table,
        request: &Request<'v>,
        ids: &dyn Ids,
    ) -> Result<Option<Vec<Cow<'v, [u8]>>>, QueryError> {
        let mut values = Vec::with_capacity(table.clustering.len());
        for step in &self.steps {
            let columns = &table.clustering[values.len()..values.len() + step.columns];
            let rows = step.terms.evaluate(&Receiver::new(&|i| columns[i].name.to_string()), request, ids)?;
            let [row] = rows.as_slice() else { return Ok(None) };
            values.extend_from_slice(row);
        }
        Ok(Some(values))
    }

    pub fn slices(
        &self,
        table: &Table,
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<Vec<Slice>, QueryError> {
        if self.is_empty() {
            return Ok(vec![Slice::all()]);
        }
        if self.range.is_none() && self.steps.iter().all(|step| step.terms.as_single().is_some()) {
            return Ok(vec![self.only_slice(table, request, ids)?]);
        }
        let prefixes = self.prefixes(table, request, ids)?;
        let at = self.columns_restricted();
        let Some(range) = &self.range else {
            let behind = if at == table.clustering.len() { 0 } else { 0xff };
            return Ok(prefixes.into_iter().map(|prefix| Slice::behind(prefix, behind)).collect());
        };
        let inside = range.slices(&table.clustering[at..], request, ids)?;
        let combinations = prefixes.len().saturating_mul(inside.len());
        check_combinations(table.clustering.iter().map(|c| &*c.name), combinations)?;
        let bounds: usize = inside.iter().map(|slice| slice.start.len() + slice.end.len()).sum();
        let repeated = total_bytes(&prefixes).saturating_mul(2 * inside.len());
        check_bytes(repeated.saturating_add(bounds.saturating_mul(prefixes.len())))?;
        let shifted = |prefix: &Vec<u8>, slice: &Slice| Slice {
            start: [&prefix[..], &slice.start].concat(),
            end: [&prefix[..], &slice.end].concat(),
        };
        Ok(prefixes.iter().flat_map(|p| inside.iter().map(move |slice| shifted(p, slice))).collect())
    }
}

impl TupleRange {
    /// The intervals behind an empty prefix.
    fn slices(
        &self,
        columns: &[Column],
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<Vec<Slice>, QueryError> {
        let mut slices = vec![Slice::all()];
        for (bound, side) in [(&self.start, Side::Above), (&self.end, Side::Below)] {
            let Some(bound) = bound else { continue };
            if bound.null_is_least && bound.item.is_null(request, ids)? {
                if side == Side::Below {
                    slices.clear();
                }
                continue;
            }
            let columns = &columns[..bound.columns];
            let row = bound.item.evaluate(&Receiver::new(&|i| columns[i].name.to_string()), request, ids)?;
            slices = intersect(&slices, &half(columns, &row, bound.inclusive, side)?);
        }
        for (count, terms) in &self.except {
            let columns = &columns[..*count];
            let rows = terms.evaluate(&Receiver::new(&|i| columns[i].name.to_string()), request, ids)?;
            check_combinations(columns.iter().map(|c| &*c.name), rows.len())?;
            let mut excluded = Vec::with_capacity(rows.len());
            for row in &rows {
                let mut prefix = Vec::new();
                put_row(columns, row, &mut prefix)?;
                excluded.push(Slice { end: after(&prefix), start: prefix });
            }
            slices = without(slices, union(excluded));
        }
        Ok(slices)
    }
}

fn total_bytes(parts: &[Vec<u8>]) -> usize {
    parts.iter().map(Vec::len).sum()
}

/// The bytes of every prefix with every suffix behind it.
fn combined_bytes(prefixes: &[Vec<u8>], suffixes: &[Vec<u8>]) -> usize {
    let repeated = |parts: &[Vec<u8>], times: usize| total_bytes(parts).saturating_mul(times);
    repeated(prefixes, suffixes.len()).saturating_add(repeated(suffixes, prefixes.len()))
}

fn put_row(columns: &[Column], row: &[Cow<'_, [u8]>], out: &mut Vec<u8>) -> Result<(), QueryError> {
    columns.iter().zip(row).try_for_each(|(column, value)| put_clustering(column, value, out))
}

/// All tuples on one side of a tuple. `(a, b) > (1, 2)` is `a > 1`, or `a = 1 and b > 2`: one
/// interval per column, because each column has its own direction.
fn half(
    columns: &[Column],
    row: &[Cow<'_, [u8]>],
    inclusive: bool,
    side: Side,
) -> Result<Vec<Slice>, QueryError> {
    let mut slices = Vec::with_capacity(columns.len() + 1);
    let mut prefix = Vec::new();
    for (column, value) in columns.iter().zip(row) {
        let mut equal = prefix.clone();
        put_clustering(column, value, &mut equal)?;
        let behind = (side == Side::Above) != column.descending;
        slices.push(match behind {
            true => Slice { start: after(&equal), end: after(&prefix) },
            false => Slice { start: prefix.clone(), end: equal.clone() },
        });
        prefix = equal;
    }
    if inclusive {
        slices.push(Slice { start: prefix.clone(), end: after(&prefix) });
    }
    Ok(union(slices))
}

/// The bound behind everything that starts with `prefix`.
fn after(prefix: &[u8]) -> Vec<u8> {
    [prefix, &[0xff]].concat()
}

/// The same intervals, ascending, disjoint, with adjacent ones joined.
fn union(mut slices: Vec<Slice>) -> Vec<Slice> {
    slices.retain(|s| !s.is_empty());
    slices.sort_by(|a, b| a.start.cmp(&b.start));
    let mut joined: Vec<Slice> = Vec::with_capacity(slices.len());
    for slice in slices {
        match joined.last_mut() {
            Some(last) if slice.start <= last.end => last.end = last.end.clone().max(slice.end),
            _ => joined.push(slice),
        }
    }
    joined
}

/// The parts of ascending, disjoint intervals that are in none of the others, which are so too.
fn without(slices: Vec<Slice>, excluded: Vec<Slice>) -> Vec<Slice> {
    let mut left = Vec::with_capacity(slices.len() + excluded.len());
    for mut slice in slices {
        for hole in excluded
            .iter()
            .filter(|hole| hole.start < slice.end && hole.end > slice.start)
            .collect::<Vec<_>>()
        {
            left.push(Slice { start: slice.start, end: hole.start.clone() });
            slice = Slice { start: hole.end.clone(), end: slice.end };
        }
        left.push(slice);
    }
    left.retain(|slice| !slice.is_empty());
    left
}

fn intersect(left: &[Slice], right: &[Slice]) -> Vec<Slice> {
    let both = |a: &Slice, b: &Slice| Slice {
        start: a.start.clone().max(b.start.clone()),
        end: a.end.clone().min(b.end.clone()),
    };
    let pairs = left.iter().flat_map(|a| right.iter().map(move |b| both(a, b)));
    union(pairs.collect())
}
