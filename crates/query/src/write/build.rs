//! From a write plan and its values to mutations.

use super::cells::{Drafter, Drafts, Stamp, as_i32, as_i64};
use super::constraints::check_mutation;
use super::lengths;
use super::plan::{Assignment, AssignmentKind, Keys, WriteKind, WritePlan};
use super::room::Room;
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{NullIn, UnsetIn, WriteFault};
use crate::key::{self, KeyValues};
use crate::restrict::Restrictions;
use crate::tenant;
use model::deletion::Deletion;
use model::key::PartitionKey;
use model::row::{Cell, KEY_AS_WRITTEN, RowWriter};
use store::{Mutation, RowPosition, Slice, TableId};

/// Cassandra's limit: twenty years.
const TTL_SECONDS_MAX: i32 = 20 * 365 * 24 * 60 * 60;

/// Room for a typical row, so that writing one allocates once.
const ROW_BYTES: usize = 256;

/// Where one statement writes.
#[derive(Default)]
pub(super) struct Targets {
    pub partitions: Vec<PartitionKey>,
    pub rows: RowTargets,
    /// Of a bucketed table: rows in other buckets.
    pub further: Vec<Targets>,
}

#[derive(Default)]
pub(super) enum RowTargets {
    /// Only static columns, or a whole partition.
    #[default]
    None,
    /// Full clustering keys.
    Rows(Vec<Vec<u8>>),
    /// DELETE of ranges.
    Ranges(Vec<Slice>),
}

/// What a statement's mutations are made with.
pub(super) struct Builder<'a, 'r> {
    pub request: &'r Request<'a>,
    pub ids: &'r dyn Ids,
    /// The timestamp of the batch the statement is in, if it has one.
    pub batch_timestamp: Option<i64>,
    pub conditional: bool,
    /// The place of the statement in its batch.
    pub statement: u32,
    /// Shared by the statements of a batch.
    pub room: &'r Room,
    /// The partitions of a deletion that spans buckets, which were looked up.
    pub partitions: Option<&'r [PartitionKey]>,
}

impl<'a> Builder<'a, '_> {
    pub fn stamp(&self, plan: &'a WritePlan) -> Result<Stamp, QueryError> {
        let timestamp = self.timestamp(plan)?;
        let (ttl, now_seconds) = (self.ttl(plan)?, self.request.now_seconds);
        Ok(Stamp { timestamp, conditional: self.conditional, ttl, now_seconds, statement: self.statement })
    }

    fn timestamp(&self, plan: &'a WritePlan) -> Result<i64, QueryError> {
        if self.conditional {
            // The store replaces it with its ballot.
            return Ok(self.request.now_micros);
        }
        let default = self.batch_timestamp.or(self.request.timestamp).unwrap_or(self.request.now_micros);
        let Some(expr) = &plan.timestamp else { return Ok(default) };
        match expr.evaluate(self.request, self.ids)? {
            Evaluated::Value(bytes) => match as_i64(&bytes)? {
                i64::MIN => Err(WriteFault::TimestampOutOfBounds.into()),
                timestamp => Ok(timestamp),
            },
            Evaluated::Null => Err(NullIn::Timestamp.into()),
            Evaluated::Unset => Ok(default),
        }
    }

    fn ttl(&self, plan: &'a WritePlan) -> Result<u32, QueryError> {
        let default = plan.table.options.default_time_to_live;
        let Some(expr) = &plan.ttl else { return Ok(default) };
        let ttl = match expr.evaluate(self.request, self.ids)? {
            Evaluated::Value(bytes) => as_i32(&bytes)?,
            Evaluated::Null => return Ok(0),
            Evaluated::Unset => return Ok(default),
        };
        if ttl < 0 {
            return Err(WriteFault::NegativeTtl { seconds: ttl }.into());
        }
        if ttl > TTL_SECONDS_MAX {
            return Err(WriteFault::LongTtl { seconds: ttl, seconds_max: TTL_SECONDS_MAX }.into());
        }
        Ok(ttl as u32)
    }

    pub fn targets(&self, plan: &'a WritePlan) -> Result<Targets, QueryError> {
        if let Some(bucketing) = plan.table.bucketing() {
            return self.bucketed(plan, bucketing);
        }
        let partitions = self.partitions(plan)?;
        Ok(Targets { partitions, rows: self.rows(plan)?, further: Vec::new() })
    }

    pub fn partitions(&self, plan: &'a WritePlan) -> Result<Vec<PartitionKey>, QueryError> {
        let keys = match &plan.keys {
            Keys::Values { partition, .. } => {
                let partition = self.key_values(plan, partition, true)?;
                vec![key::partition_key(&plan.table, partition.as_slice())?]
            }
            Keys::Where(restrictions) => restrictions.keys(self.request, self.ids)?,
        };
        tenant::write(plan, &keys, self.request)?;
        Ok(keys)
    }

    pub fn rows(&self, plan: &'a WritePlan) -> Result<RowTargets, QueryError> {
        match &plan.keys {
            Keys::Values { clustering, .. } if plan.statics_only && clustering.is_empty() => {
                Ok(RowTargets::None)
            }
            Keys::Values { clustering, .. } => {
                let clustering = self.key_values(plan, clustering, false)?;
                Ok(RowTargets::Rows(vec![key::clustering_key(&plan.table, clustering.as_slice())?]))
            }
            Keys::Where(restrictions) => self.restricted(plan, restrictions),
        }
    }

    fn restricted(
        &self,
        plan: &'a WritePlan,
        restrictions: &'a Restrictions,
    ) -> Result<RowTargets, QueryError> {
        let whole_partition = plan.kind == WriteKind::Delete
            && plan.assignments.is_empty()
            && restrictions.clustering.is_empty()
            && !plan.table.clustering.is_empty();
        Ok(if plan.statics_only || whole_partition {
            RowTargets::None
        } else if restrictions.names_rows() {
            RowTargets::Rows(restrictions.rows(self.request, self.ids)?)
        } else {
            RowTargets::Ranges(restrictions.slices(self.request, self.ids)?)
        })
    }

    pub(super) fn key_values(
        &self,
        plan: &'a WritePlan,
        exprs: &'a [Expr],
        partition: bool,
    ) -> Result<KeyValues<'a>, QueryError> {
        let columns = if partition { &plan.table.partition_key } else { &plan.table.clustering };
        let mut values = KeyValues::default();
        for (expr, column) in exprs.iter().zip(columns) {
            let fault = match expr.evaluate(self.request, self.ids)? {
                Evaluated::Value(bytes) => {
                    values.push(bytes);
                    continue;
                }
                Evaluated::Null => NullIn::Restriction { column: column.name.to_string() }.into(),
                Evaluated::Unset => UnsetIn::Restriction { column: column.name.to_string() }.into(),
            };
            return Err(fault);
        }
        Ok(values)
    }

    /// The mutations of one statement, one per partition.
    pub fn mutations(
        &self,
        plan: &'a WritePlan,
        targets: Targets,
        stamp: &Stamp,
    ) -> Result<Vec<Mutation>, QueryError> {
        let mut out = Vec::with_capacity(targets.partitions.len());
        self.put_mutations(plan, targets, stamp, &mut out)?;
        Ok(out)
    }

    /// The same, behind those that are there already.
    pub fn put_mutations(
        &self,
        plan: &'a WritePlan,
        targets: Targets,
        stamp: &Stamp,
        out: &mut Vec<Mutation>,
    ) -> Result<(), QueryError> {
        let table = TableId(plan.table.id);
        self.room.take_rows(plan, &targets)?;
        if plan.checked {
            self.check_keys(plan, &targets)?;
        }
        let Targets { partitions, rows, further } = targets;
        for targets in further {
            self.put_mutations(plan, targets, stamp, out)?;
        }
        for key in partitions {
            let mut mutation = Mutation::new(table, key);
            if plan.kind == WriteKind::Delete && plan.assignments.is_empty() {
                delete_rows(&mut mutation, &rows, stamp);
            } else {
                self.write_rows(plan, &rows, stamp, &mut mutation)?;
            }
            if plan.checked {
                check_mutation(plan, stamp, &mut mutation)?;
            }
            self.room.take_mutation(&mutation)?;
            if mutation.encoded().len() > self.room.key_bytes_max {
                lengths::check(&plan.table, &mutation, self.room.key_bytes_max)?;
            }
            tenant::wrote(&plan.table, &mutation, self.request);
            out.push(mutation);
        }
        Ok(())
    }

    /// Rows first, then statics: an error in a row is reported before an error in a static column.
    fn write_rows(
        &self,
        plan: &'a WritePlan,
        targets: &RowTargets,
        stamp: &Stamp,
        mutation: &mut Mutation,
    ) -> Result<(), QueryError> {
        let drafter = Drafter { request: self.request, ids: self.ids, room: self.room };
        let mut writer = RowWriter::with_capacity(ROW_BYTES);
        if let RowTargets::Rows(rows) = targets {
            let as_written = self.as_written(plan, rows)?;
            let rows = Rows { keys: rows, as_written: as_written.as_deref() };
            write_regulars(&drafter, plan, rows, stamp, &mut writer, mutation)?;
        }
        if plan.assignments.iter().any(|a| a.is_static) {
            let mut drafts = Drafts::default();
            for assignment in plan.assignments.iter().filter(|a| a.is_static) {
                drafter.assign(assignment, &mut drafts)?;
                self.room.check_row(mutation.encoded().len() + drafts.bytes)?;
            }
            writer.begin(stamp.timestamp, None, Deletion::NONE);
            drafts.write(stamp, &mut writer);
            if !writer.is_empty() {
                mutation.static_row(writer.view());
            }
            mutation.deferred.extend(drafts.deferred(&RowPosition::Static, stamp));
        }
        Ok(())
    }

    /// The clustering values of the one row, if its key does not give them back. Of the rows of an IN they are not kept.
    fn as_written(&self, plan: &'a WritePlan, rows: &[Vec<u8>]) -> Result<Option<Vec<u8>>, QueryError> {
        let [row] = rows else { return Ok(None) };
        if plan.kind == WriteKind::Delete || !plan.table.loses_scale() {
            return Ok(None);
        }
        match &plan.keys {
            Keys::Values { clustering, .. } => {
                let values = self.key_values(plan, clustering, false)?;
                Ok(key::as_written(&plan.table, values.as_slice(), row))
            }
            Keys::Where(restrictions) => {
                let values = restrictions.clustering.only_values(&plan.table, self.request, self.ids)?;
                Ok(values.and_then(|values| key::as_written(&plan.table, &values, row)))
            }
        }
    }
}

/// Rows that one statement writes alike.
#[derive(Clone, Copy)]
struct Rows<'r> {
    keys: &'r [Vec<u8>],
    as_written: Option<&'r [u8]>,
}

impl Rows<'_> {
    /// Behind the row's other cells.
    fn put_as_written(&self, stamp: &Stamp, writer: &mut RowWriter) {
        if let Some(values) = self.as_written {
            let (timestamp, state) = (stamp.timestamp, stamp.live(values));
            writer.cell(&Cell { column: KEY_AS_WRITTEN, path: None, timestamp, state });
        }
    }
}

fn write_regulars<'a>(
    drafter: &Drafter<'a, '_>,
    plan: &'a WritePlan,
    rows: Rows<'_>,
    stamp: &Stamp,
    writer: &mut RowWriter,
    mutation: &mut Mutation,
) -> Result<(), QueryError> {
    // Only an INSERT leaves a row marker; counters and dense compact tables have none.
    let marked = plan.kind == WriteKind::Insert && !plan.is_counter() && !plan.table.has_no_row_markers();
    let marker = marked.then(|| stamp.marker());
    if is_simple(plan) {
        return rows.keys.iter().try_for_each(|clustering| {
            writer.begin(stamp.timestamp, marker, Deletion::NONE);
            for assignment in &plan.assignments {
                drafter.write_simple(assignment, stamp, writer)?;
                drafter.room.check_row(mutation.encoded().len() + writer.bytes())?;
            }
            if !writer.is_empty() {
                rows.put_as_written(stamp, writer);
                mutation.row(clustering, writer.view());
            }
            Ok(())
        });
    }
    for clustering in rows.keys {
        let mut drafts = Drafts { cells: Vec::with_capacity(plan.assignments.len()), ..Drafts::default() };
        for assignment in plan.assignments.iter().filter(|a| !a.is_static) {
            drafter.assign(assignment, &mut drafts)?;
            drafter.room.check_row(mutation.encoded().len() + drafts.bytes)?;
        }
        writer.begin(stamp.timestamp, marker, Deletion::NONE);
        drafts.write(stamp, writer);
        if !writer.is_empty() || !drafts.deferred.is_empty() {
            rows.put_as_written(stamp, writer);
        }
        if !writer.is_empty() {
            mutation.row(clustering, writer.view());
        }
        if !drafts.deferred.is_empty() {
            mutation.deferred.extend(drafts.deferred(&RowPosition::Row(clustering.clone()), stamp));
        }
    }
    Ok(())
}

/// Whether every assignment makes at most one cell, in column order: then there is nothing to sort and merge.
fn is_simple(plan: &WritePlan) -> bool {
    let one_cell = |a: &Assignment| {
        !a.is_static && matches!(a.kind, AssignmentKind::Set(_)) && !a.data_type.is_multi_cell()
    };
    plan.assignments.iter().all(one_cell) && plan.assignments.is_sorted_by(|a, b| a.column < b.column)
}

fn delete_rows(mutation: &mut Mutation, targets: &RowTargets, stamp: &Stamp) {
    match targets {
        RowTargets::None => mutation.delete_partition(stamp.wide_deletion()),
        RowTargets::Rows(rows) => {
            let mut writer = RowWriter::new();
            for clustering in rows {
                // Without clustering columns the row is the partition.
                let whole = clustering.is_empty();
                let deletion = if whole { stamp.wide_deletion() } else { stamp.deletion() };
                writer.begin(deletion.timestamp, None, deletion);
                mutation.row(clustering, writer.view());
            }
        }
        RowTargets::Ranges(ranges) => {
            ranges.iter().for_each(|r| mutation.delete_range(&r.start, &r.end, stamp.wide_deletion()));
        }
    }
}
