//! Writes to bucketed tables: rows go to the partitions of their buckets.
//!
//! The bucket is computed from the clustering key as it will be stored, so a value is evaluated once (`now()` gives another one
//! each time) and an IN relation on the bucketed column sends every row to its own bucket. A deletion that does not name
//! single rows goes to the existing buckets, which have to be looked up first.

use super::build::{Builder, RowTargets, Targets};
use super::plan::{Keys, WriteKind, WritePlan};
use crate::buckets::{Bucket, Reading, entity_key, entity_of, may_be_in, partitions_of};
use crate::context::{Context, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{BucketFault, ConditionFault, KeyFault};
use crate::key;
use crate::restrict::{PartitionRestriction, Restrictions};
use crate::tenant;
use model::key::PartitionKey;
use model::literal::format_literal;
use model::types::DataType;
use schema::Bucketing;
use store::Store;

impl WritePlan {
    /// Whether the existing buckets have to be looked up: for a deletion that names an entity and not its rows.
    pub fn spans_buckets(&self) -> bool {
        match &self.keys {
            Keys::Where(restrictions) => {
                matches!(restrictions.partitions, PartitionRestriction::Entities { .. })
                    && !restrictions.names_rows()
            }
            Keys::Values { .. } => false,
        }
    }
}

/// The partitions that a deletion goes to; nothing for other statements.
pub(super) async fn look_up<S: Store>(
    ctx: &Context<'_, S>,
    plan: &WritePlan,
    request: &Request<'_>,
) -> Result<Vec<PartitionKey>, QueryError> {
    let (Keys::Where(restrictions), Some(bucketing)) = (&plan.keys, plan.table.bucketing()) else {
        return Ok(Vec::new());
    };
    if !plan.spans_buckets() {
        return Ok(Vec::new());
    }
    let slices = restrictions.slices(request, ctx.ids)?;
    let reading = Reading {
        store: ctx.store,
        now_seconds: request.now_seconds,
        scan_limit: ctx.limits.scan_entries,
        tombstone_limit: ctx.limits.tombstones_fail,
        account: request.account(),
    };
    let mut keys = Vec::new();
    for entity in restrictions.entities(request, ctx.ids)?.unwrap_or_default() {
        tenant::write_entities(plan, std::slice::from_ref(&entity), request)?;
        keys.extend(partitions_of(&reading, &plan.table, bucketing, &entity, &slices).await?);
    }
    Ok(keys)
}

impl<'a> Builder<'a, '_> {
    /// Where a statement on a bucketed table writes.
    pub(super) fn bucketed(&self, plan: &'a WritePlan, bucketing: &Bucketing) -> Result<Targets, QueryError> {
        match &plan.keys {
            Keys::Values { partition, clustering } => self.inserted(plan, bucketing, partition, clustering),
            Keys::Where(restrictions) => match restrictions.entities(self.request, self.ids)? {
                None => self.named(plan, bucketing, restrictions),
                Some(_) if plan.spans_buckets() => {
                    let partitions = self
                        .partitions
                        .map(<[PartitionKey]>::to_vec)
                        .ok_or(ConditionFault::SeveralBuckets)?;
                    Ok(Targets { partitions, rows: self.rows(plan)?, further: Vec::new() })
                }
                Some(entities) => {
                    tenant::write_entities(plan, &entities, self.request)?;
                    let rows = restrictions.rows(self.request, self.ids)?;
                    self.spread(plan, bucketing, &entities, rows)
                }
            },
        }
    }

    fn inserted(
        &self,
        plan: &'a WritePlan,
        bucketing: &Bucketing,
        partition: &'a [Expr],
        clustering: &'a [Expr],
    ) -> Result<Targets, QueryError> {
        let named = plan.table.entity_key().len();
        let (entity, given) = partition.split_at(named.min(partition.len()));
        let entity = entity_key(self.key_values(plan, entity, true)?.as_slice())?;
        let clustering = self.key_values(plan, clustering, false)?;
        let row = key::clustering_key(&plan.table, clustering.as_slice())?;
        let bucket = Bucket::of_row(&plan.table, bucketing, &row)?;
        for ((expr, own), column) in given.iter().zip(bucket.values()).zip(plan.table.bucket_columns()) {
            // Exports have the column; a given value must be the right one.
            if let Evaluated::Value(value) = expr.evaluate(self.request, self.ids)?
                && *value != *own
            {
                let time = value.first_chunk::<8>().map(|start| i64::from_be_bytes(*start));
                let given = Bucket { time: time.filter(|_| value.len() == 8), ..bucket };
                if given.time.is_none() || !may_be_in(&plan.table, &row, bucket, given) {
                    return Err(wrong_bucket(&column.name, &column.data_type, &value, &own));
                }
            }
        }
        self.check_kept(plan, bucketing, bucket)?;
        let partitions = vec![bucket.key(&entity)?];
        tenant::write(plan, &partitions, self.request)?;
        Ok(Targets { partitions, rows: RowTargets::Rows(vec![row]), further: Vec::new() })
    }

    /// The statement names the buckets itself.
    fn named(
        &self,
        plan: &'a WritePlan,
        bucketing: &Bucketing,
        restrictions: &'a Restrictions,
    ) -> Result<Targets, QueryError> {
        let mut partitions = restrictions.keys(self.request, self.ids)?;
        tenant::write(plan, &partitions, self.request)?;
        let rows = self.rows(plan)?;
        if let (RowTargets::Rows(rows), true) = (&rows, plan.kind != WriteKind::Delete) {
            for partition in &mut partitions {
                let malformed = || QueryError::from(KeyFault::MalformedPartition);
                let given = Bucket::of_key(bucketing, partition).ok_or_else(malformed)?.1;
                for row in rows {
                    let own = Bucket::of_row(&plan.table, bucketing, row)?;
                    if !may_be_in(&plan.table, row, own, given) {
                        let values = given.values().zip(own.values()).zip(plan.table.bucket_columns());
                        let wrong = values.into_iter().find(|((given, own), _)| given != own);
                        return Err(wrong.map_or_else(malformed, |((given, own), column)| {
                            wrong_bucket(&column.name, &column.data_type, &given, &own)
                        }));
                    }
                    self.check_kept(plan, bucketing, own)?;
                    if given != own {
                        // Which bucket has the row is decided where it is written.
                        *partition = own.key(&entity_of(&plan.table, partition).ok_or_else(malformed)?)?;
                    }
                }
            }
        }
        Ok(Targets { partitions, rows, further: Vec::new() })
    }

    /// Rows of some entities, each to its bucket.
    fn spread(
        &self,
        plan: &'a WritePlan,
        bucketing: &Bucketing,
        entities: &[PartitionKey],
        rows: Vec<Vec<u8>>,
    ) -> Result<Targets, QueryError> {
        let mut by_bucket: Vec<(Bucket, Vec<Vec<u8>>)> = Vec::with_capacity(1);
        for row in rows {
            let bucket = Bucket::of_row(&plan.table, bucketing, &row)?;
            if plan.kind != WriteKind::Delete {
                self.check_kept(plan, bucketing, bucket)?;
            }
            by_bucket.push((bucket, vec![row]));
        }
        // Stable, so the rows of a bucket stay in their order.
        by_bucket.sort_by_key(|(bucket, _)| *bucket);
        by_bucket.dedup_by(|(bucket, rows), (kept, all)| {
            let same = bucket == kept;
            if same {
                all.append(rows);
            }
            same
        });
        let mut all = Vec::with_capacity(by_bucket.len());
        for (bucket, rows) in by_bucket {
            let partitions: Result<Vec<_>, _> = entities.iter().map(|entity| bucket.key(entity)).collect();
            all.push(Targets { partitions: partitions?, rows: RowTargets::Rows(rows), further: Vec::new() });
        }
        let nothing = Targets { partitions: Vec::new(), rows: RowTargets::None, further: Vec::new() };
        let mut first = all.pop().unwrap_or(nothing);
        first.further = all;
        Ok(first)
    }

    /// A row of a bucket that is kept no longer would never be seen.
    fn check_kept(&self, plan: &WritePlan, bucketing: &Bucketing, bucket: Bucket) -> Result<(), QueryError> {
        let oldest = bucketing.oldest_kept(i64::from(self.request.now_seconds));
        match (bucket.time, oldest) {
            (Some(time), Some(oldest)) if time < oldest => {
                let show = |millis: i64| format_literal(&DataType::Timestamp, Some(&millis.to_be_bytes()));
                Err(BucketFault::Expired {
                    keyspace: plan.table.keyspace.to_string(),
                    table: plan.table.name.to_string(),
                    bucket: show(time),
                    oldest: show(oldest),
                }
                .into())
            }
            _ => Ok(()),
        }
    }
}

fn wrong_bucket(column: &str, data_type: &DataType, given: &[u8], own: &[u8]) -> QueryError {
    BucketFault::OtherBucket {
        column: column.to_string(),
        given: format_literal(data_type, Some(given)),
        own: format_literal(data_type, Some(own)),
    }
    .into()
}
