//! Generations of a table: the same rows under one name, in the partitions of one plan after the other (ADR 19).
//!
//! A plan that changes gives the rows other keys, so each generation is a table of its own in the store. The next one is kept in
//! step while a job fills it; then one change of the catalogue makes it the table. Earlier ones are remembered by id and plan, so
//! that paging states of theirs can go on.

use super::{Bucketing, Spill, read};
use crate::change::{NewColumn, NewTable};
use crate::column::{Column, ColumnKind};
use crate::fault::{BucketingFault, SchemaError};
use crate::properties::Properties;
use crate::table::Table;
use model::types::DataType;
use serde::{Deserialize, Serialize};

/// Earlier generations that are remembered.
const FORMER_MAX: usize = 8;

/// The generation that a table is on its way to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rebucketing {
    /// The id of the table then.
    pub id: u32,
    /// `None`: without buckets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Bucketing>,
    /// The bucket columns, and the ids that they will have.
    pub columns: Vec<(String, u32)>,
    /// The ids of indexes, now and then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<(u32, u32)>,
}

/// A generation that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Former {
    pub id: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Bucketing>,
}

impl Rebucketing {
    /// Every id of the store that it takes.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        let beside = self.plan.iter().flat_map(Bucketing::ids);
        [self.id].into_iter().chain(beside).chain(self.indexes.iter().map(|(_, then)| *then))
    }
}

impl Table {
    /// The plan that it is on its way to.
    pub fn rebucketing(&self) -> Option<&Rebucketing> {
        self.options.rebucketing.as_ref()
    }

    /// The table as it will be when its rows have moved.
    pub fn next_generation(&self) -> Option<Table> {
        let next = self.rebucketing()?;
        let mut table = self.clone();
        table.partition_key.truncate(self.entity_key().len());
        let time = next.plan.as_ref().and_then(|plan| plan.time.as_ref()).map(|_| DataType::Timestamp);
        let hash = next.plan.as_ref().and_then(|plan| plan.hash.as_ref()).map(|_| DataType::Int);
        for ((name, id), data_type) in next.columns.iter().zip(time.into_iter().chain(hash)) {
            let position = table.partition_key.len();
            table.partition_key.push(Column {
                id: *id,
                name: name.as_str().into(),
                data_type,
                kind: ColumnKind::PartitionKey,
                position,
                descending: false,
                mask: None,
                checks: Vec::new(),
            });
        }
        table.id = next.id;
        for index in &mut table.indexes {
            let then = next.indexes.iter().find(|(now, _)| *now == index.id);
            index.id = then.map_or(index.id, |(_, then)| *then);
        }
        table.options.bucketing = next.plan.clone();
        table.options.rebucketing = None;
        let former = &mut table.options.former;
        former.push(Former { id: self.id, plan: self.options.bucketing.clone() });
        let surplus = former.len().saturating_sub(FORMER_MAX);
        former.drain(..surplus);
        Some(table)
    }

    /// The generation with this id: `Some(None)` is the table itself, `None` no generation of it.
    pub fn generation(&self, id: u32) -> Option<Option<&Former>> {
        if id == self.id {
            return Some(None);
        }
        self.options.former.iter().find(|former| former.id == id).map(Some)
    }
}

/// Puts the table on its way to the plan of ALTER TABLE; the next free id, or `None` when it has that plan already.
pub(crate) fn begin(
    table: &mut Table,
    properties: &Properties,
    next_id: u32,
) -> Result<Option<u32>, SchemaError> {
    refuse_under_way(table)?;
    if let Some(index) = table.indexes.iter().find(|index| !index.built) {
        return Err(BucketingFault::IndexUnbuilt { index: index.name.to_string() }.into());
    }
    let (names, plan) = planned(table, properties)?;
    let plan = kept_retention(table, properties, plan)?;
    let same_names = table.bucket_columns().iter().map(|column| &*column.name).eq(names.iter().map(|n| &**n));
    let mut next_id = next_id;
    let spill = |plan: Option<&Bucketing>| plan.and_then(|plan| plan.spill.clone());
    let (spill_now, spill_then) = (spill(table.bucketing()), spill(plan.as_ref()));
    let moves_none = is_same_spilling(spill_now.as_ref(), spill_then.as_ref());
    if same_names && moves_none && shape(plan.as_ref()) == shape(table.bucketing()) {
        return Ok(respilled(table, plan, &mut next_id).then_some(next_id));
    }
    let mut fresh = || {
        next_id += 1;
        next_id - 1
    };
    let id = fresh();
    let indexes = table.indexes.iter().map(|index| (index.id, fresh())).collect();
    let mut plan = plan;
    if let Some(plan) = &mut plan {
        next_id = plan.number(next_id);
    }
    let first = table.next_column_id;
    let columns: Vec<(String, u32)> = names.into_iter().zip(first..).collect();
    table.next_column_id += columns.len() as u32;
    table.options.rebucketing = Some(Rebucketing { id, plan, columns, indexes });
    Ok(Some(next_id))
}

/// The bucket columns and the plan that the statement wants; none for `{}`.
fn planned(table: &Table, properties: &Properties) -> Result<(Vec<String>, Option<Bucketing>), SchemaError> {
    if properties.map("bucketing")?.is_some_and(|map| map.is_empty()) {
        return Ok((Vec::new(), None));
    }
    let names = |columns: &[Column]| columns.iter().map(|column| column.name.to_string()).collect();
    let buckets = table.bucket_columns();
    let columns = table.all_columns().filter(|column| !buckets.contains(column)).map(|column| NewColumn {
        is_static: column.kind == ColumnKind::Static,
        ..NewColumn::regular(&column.name, column.data_type.clone())
    });
    let new = NewTable {
        columns: columns.collect(),
        partition_key: names(table.entity_key()),
        clustering: names(&table.clustering),
        properties: properties.clone(),
        is_compact: table.compact.is_some(),
        ..NewTable::default()
    };
    let (bucketed, plan) = read::adopt(&new)?;
    Ok((bucketed.partition_key[new.partition_key.len()..].to_vec(), plan))
}

/// Retention stays what it was, unless the statement says otherwise.
fn kept_retention(
    table: &Table,
    properties: &Properties,
    plan: Option<Bucketing>,
) -> Result<Option<Bucketing>, SchemaError> {
    let kept = table.bucketing().and_then(|plan| plan.retention_seconds);
    if properties.has("retention") || kept.is_none() {
        return match (&plan, properties.text("retention")?) {
            (None, Some(text)) => read::retention(text, None).map(|_| plan),
            _ => Ok(plan),
        };
    }
    match plan {
        Some(plan) if plan.time.is_some() => {
            read::retention(&format!("{}s", kept.unwrap_or_default()), plan.time.as_ref())?;
            Ok(Some(Bucketing { retention_seconds: kept, ..plan }))
        }
        _ => Err(BucketingFault::RetentionLost.into()),
    }
}

/// A plan without its retention, its spilling and the ids of the store.
fn shape(plan: Option<&Bucketing>) -> Option<Bucketing> {
    plan.map(|plan| Bucketing { record: 0, spill: None, retention_seconds: None, ..plan.clone() })
}

/// A plan that differs in its spilling alone. That it begins, or begins at another size, moves no row. Other finer buckets, or none,
/// would: rows that are in finer buckets have to move then.
fn is_same_spilling(now: Option<&Spill>, then: Option<&Spill>) -> bool {
    match (now, then) {
        (None, _) => true,
        (Some(now), Some(then)) => now.every == then.every,
        (Some(_), None) => false,
    }
}

/// Lets the table spill from now on as its new plan says; whether that changes anything.
fn respilled(table: &mut Table, plan: Option<Bucketing>, next_id: &mut u32) -> bool {
    let (Some(plan), Some(now)) = (plan, &mut table.options.bucketing) else { return false };
    let Some(mut spill) = plan.spill else { return false };
    spill.points = match &now.spill {
        Some(known) => known.points,
        None => {
            *next_id += 1;
            *next_id - 1
        }
    };
    let changed = now.spill.as_ref() != Some(&spill);
    now.spill = Some(spill);
    changed
}

/// Refuses what has to wait until the rows of a table have moved.
pub(crate) fn refuse_under_way(table: &Table) -> Result<(), SchemaError> {
    match table.rebucketing() {
        None => Ok(()),
        Some(next) => Err(BucketingFault::UnderWay { table: table.full_name(), job: next.id }.into()),
    }
}

/// Whether a table that was altered can still become what it is on its way to.
pub(crate) fn check_under_way(table: &Table) -> Result<(), SchemaError> {
    let Some(next) = table.rebucketing() else { return Ok(()) };
    let taken = table.all_columns().filter(|column| !table.bucket_columns().contains(column));
    let mut taken = taken.filter(|column| next.columns.iter().any(|(name, _)| **name == *column.name));
    match (taken.next(), next.plan.as_ref().and(table.statics.first())) {
        (None, None) => Ok(()),
        (Some(column), _) => {
            Err(BucketingFault::NameTaken { column: column.name.to_string(), job: next.id }.into())
        }
        (None, Some(column)) => Err(read::static_in_buckets(&column.name)),
    }
}
