//! Spilling: a bucket that has grown too large continues in finer buckets from a point on (ADR 20).
//!
//! When the point is set, it is after every row of the bucket, and it never changes. So the home of a row follows from the
//! point and its clustering key. Writers name the bucket that the plan says; the store moves the rows after the point
//! to the finer buckets. Points are rows of a table of their own, each in a partition with the key of its bucket, so that the shard that owns
//! the bucket owns its point.

use crate::commit::{CasOutcome, CheckedPartition, ConditionalCommit, CurrentRow, PartitionCheck};
use crate::condition::{RowCheck, RowPosition};
use crate::mutation::Mutation;
use crate::{TableConfig, TableId};
use model::deletion::{Deletion, Marker};
use model::key::{KIND_ROW, PartitionKey};
use model::row::{RowView, RowWriter};
use std::fmt;
use std::sync::Arc;

/// What the plan of a table says of its buckets and finer ones.
pub trait Finer: fmt::Debug + Send + Sync {
    /// Whether a partition is a bucket of the plan, which may spill, and not a finer one.
    fn may_spill(&self, key: &PartitionKey) -> bool;

    /// The point behind the newest row of a bucket; `None` when it is too late for one.
    fn point(&self, key: &PartitionKey, newest: &[u8]) -> Option<i64>;

    /// The finer bucket of a row; `None`: the row lies before the point, and the bucket itself is its home.
    fn home(&self, key: &PartitionKey, point: i64, clustering: &[u8]) -> Option<PartitionKey>;

    /// Whether the newest row of a bucket comes first in it.
    fn newest_first(&self) -> bool;
}

/// When buckets of a table spill, and where to.
#[derive(Clone, Debug)]
pub struct SpillConfig {
    /// The table of the points.
    pub points: TableId,
    /// From either of these on.
    pub bytes: u64,
    pub rows: u64,
    pub finer: Arc<dyn Finer>,
}

/// The length of finer buckets belongs to the generation of the table, as the table of its points does.
impl PartialEq for SpillConfig {
    fn eq(&self, other: &SpillConfig) -> bool {
        (self.points, self.bytes, self.rows) == (other.points, other.bytes, other.rows)
    }
}

/// The one column of the table of points.
const POINT: u32 = 1;

impl SpillConfig {
    /// Writes down the point of a bucket.
    pub fn record(&self, key: &PartitionKey, point: i64) -> Mutation {
        let mut writer = RowWriter::new();
        // It is written once, so its time means nothing.
        writer.begin(1, Some(Marker::new(1)), Deletion::NONE);
        writer.live(POINT, &point.to_be_bytes());
        let mut mutation = Mutation::new(self.points, key.clone());
        mutation.row(&[], writer.view());
        mutation
    }
}

/// The point that a row of the table of points holds.
pub fn point_of(row: RowView<'_>) -> Option<i64> {
    let cell = row.cells().find(|cell| cell.column == POINT)?;
    Some(i64::from_be_bytes(cell.live_value(0)?.try_into().ok()?))
}

/// Whether a mutation has rows that belong elsewhere.
pub fn is_divided(mutation: &Mutation, home: &impl Fn(&[u8]) -> Option<PartitionKey>) -> bool {
    let written = mutation.entries().filter_map(|entry| match entry.position.split_first() {
        Some((&KIND_ROW, clustering)) => home(clustering),
        _ => None,
    });
    let mut deferred = mutation.deferred.iter().filter_map(|operation| at(&operation.position, home));
    written.into_iter().next().is_some() || deferred.next().is_some()
}

fn at(position: &RowPosition, home: &impl Fn(&[u8]) -> Option<PartitionKey>) -> Option<PartitionKey> {
    match position {
        RowPosition::Row(clustering) => home(clustering),
        RowPosition::Static => None,
    }
}

/// The rows of a mutation by their homes. Deletions of ranges stay where they are, because a range deletion names every bucket.
pub fn divide(mutation: Mutation, home: &impl Fn(&[u8]) -> Option<PartitionKey>) -> Vec<Mutation> {
    fn part(parts: &mut Vec<Mutation>, table: TableId, key: PartitionKey) -> &mut Mutation {
        let place = parts.iter().position(|part| part.key == key).unwrap_or_else(|| {
            parts.push(Mutation::new(table, key));
            parts.len() - 1
        });
        &mut parts[place]
    }
    let Mutation { table, key, .. } = &mutation;
    let mut parts = vec![Mutation::new(*table, key.clone())];
    for entry in mutation.entries() {
        let moved = match entry.position.split_first() {
            Some((&KIND_ROW, clustering)) => home(clustering),
            _ => None,
        };
        part(&mut parts, *table, moved.unwrap_or_else(|| key.clone())).put(entry);
    }
    for operation in &mutation.deferred {
        let moved = at(&operation.position, home).unwrap_or_else(|| key.clone());
        part(&mut parts, *table, moved).deferred.push(operation.clone());
    }
    if let (Some(first), Some(touched)) = (parts.first_mut(), mutation.touched) {
        first.touch(*touched);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The checks of one partition, by where their rows are: for each the number of its part, and its place there.
type Places = Vec<(usize, usize)>;

/// How the checks of a commit were divided, so that its outcome can be told as if they had not been.
#[derive(Debug, Default)]
pub struct Division {
    /// The partition of the commit and its further ones: their keys as they were, and where their checks are now.
    asked: Vec<(PartitionKey, Places)>,
}

/// Gives the checks of a conditional commit to the partitions that have their rows. `home` is asked with table, partition and
/// clustering. `None`: nothing had to be changed.
pub fn divide_checks(
    commit: &mut ConditionalCommit,
    home: &impl Fn(TableId, &PartitionKey, &[u8]) -> Option<PartitionKey>,
) -> Option<Division> {
    let moved = |table: TableId, key: &PartitionKey, checks: &[RowCheck]| {
        checks.iter().any(|check| at(&check.position, &|row| home(table, key, row)).is_some())
    };
    let further = commit.further.iter();
    if !moved(commit.table, &commit.key, &commit.checks)
        && !further.into_iter().any(|check| moved(check.table, &check.key, &check.checks))
    {
        return None;
    }
    let first = PartitionCheck {
        table: commit.table,
        key: commit.key.clone(),
        checks: std::mem::take(&mut commit.checks),
    };
    let mut division = Division::default();
    let mut parts: Vec<PartitionCheck> = Vec::new();
    for asked in std::iter::once(first).chain(std::mem::take(&mut commit.further)) {
        let PartitionCheck { table, key, checks } = asked;
        let mut places = Places::with_capacity(checks.len());
        if checks.is_empty() {
            parts.push(PartitionCheck { table, key: key.clone(), checks: Vec::new() });
        }
        for check in checks {
            let own = at(&check.position, &|row| home(table, &key, row)).unwrap_or_else(|| key.clone());
            let known = parts.iter().position(|part| part.table == table && part.key == own);
            let part = known.unwrap_or_else(|| {
                parts.push(PartitionCheck { table, key: own, checks: Vec::new() });
                parts.len() - 1
            });
            places.push((part, parts[part].checks.len()));
            parts[part].checks.push(check);
        }
        division.asked.push((key, places));
    }
    let first = parts.remove(0);
    (commit.table, commit.key, commit.checks) = (first.table, first.key, first.checks);
    commit.further = parts;
    Some(division)
}

impl Division {
    /// The outcome for the commit as it was asked for.
    pub fn undo(self, outcome: CasOutcome) -> CasOutcome {
        let CasOutcome { applied, key, static_row, rows, further } = outcome;
        let mut parts = vec![CheckedPartition { holds: applied, key, static_row, rows }];
        parts.extend(further);
        let seen = |(part, place): &(usize, usize)| -> Option<CurrentRow> {
            parts.get(*part)?.rows.get(*place).cloned()
        };
        let told = self.asked.iter().map(|(key, places)| CheckedPartition {
            holds: places.iter().all(|(part, _)| parts.get(*part).is_some_and(|part| part.holds)),
            // One row is shown with the bucket that it is in.
            key: match &places[..] {
                [(part, _)] => parts.get(*part).map_or(key, |part| &part.key).clone(),
                _ => key.clone(),
            },
            static_row: None,
            rows: places.iter().filter_map(seen).collect(),
        });
        let mut told: Vec<CheckedPartition> = told.collect();
        let first = told.remove(0);
        CasOutcome { applied, key: first.key, static_row: first.static_row, rows: first.rows, further: told }
    }
}

impl TableConfig {
    /// Whether its partitions are checked when they grow.
    pub fn is_watched(&self) -> bool {
        self.limit.is_some() || self.spill.is_some()
    }
}
