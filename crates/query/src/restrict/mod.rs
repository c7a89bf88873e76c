//! Restrictions of a WHERE clause as data, and what they mean once values are bound.
//!
//! The dialect has checked every rule before it builds these; here expressions become partition
//! keys, token ranges and slices of clustering bytes. Shared by reads and writes. Conditions that
//! neither key nor slice can express are filters and live in the read plan.

mod clustering;
mod partitions;
mod product;
mod terms;

pub use clustering::{ClusteringRestriction, RangeBound, Step, TupleRange};
pub use partitions::{PartitionRestriction, PartitionSet, TokenRange};
pub use product::{COMBINATIONS_MAX, check_combinations};
pub use terms::{Item, Nulls, Receiver, Terms};

use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::fault::RestrictionFault;
use model::key::PartitionKey;
use schema::Table;
use std::sync::Arc;
use store::Slice;

/// Which partitions and which rows of them a statement is about.
#[derive(Clone, Debug)]
pub struct Restrictions {
    pub table: Arc<Table>,
    pub partitions: PartitionRestriction,
    pub clustering: ClusteringRestriction,
}

impl Restrictions {
    /// The partitions: keys in key-value order without duplicates, or a range of tokens.
    pub fn partitions(&self, request: &Request<'_>, ids: &dyn Ids) -> Result<PartitionSet, QueryError> {
        self.partitions.bind(&self.table, request, ids)
    }

    /// The partition keys; for statements whose binder made sure that every key column has values.
    pub fn keys(&self, request: &Request<'_>, ids: &dyn Ids) -> Result<Vec<PartitionKey>, QueryError> {
        match self.partitions(request, ids)? {
            PartitionSet::Keys(keys) => Ok(keys),
            PartitionSet::Range { .. } | PartitionSet::Entities(_) => {
                let columns = self.table.partition_key.iter().map(|c| c.name.to_string()).collect();
                Err(RestrictionFault::PartitionKeyMissing { columns }.into())
            }
        }
    }

    /// The slices of clustering bytes, ascending and disjoint.
    pub fn slices(&self, request: &Request<'_>, ids: &dyn Ids) -> Result<Vec<Slice>, QueryError> {
        self.clustering.slices(&self.table, request, ids)
    }

    /// Whether every clustering column has values, so that [`Restrictions::rows`] names rows.
    pub fn names_rows(&self) -> bool {
        self.clustering.range.is_none() && self.clustering.columns_restricted() == self.table.clustering.len()
    }

    /// The clustering keys of the rows, ascending, without duplicates; only if [`Restrictions::names_rows`].
    pub fn rows(&self, request: &Request<'_>, ids: &dyn Ids) -> Result<Vec<Vec<u8>>, QueryError> {
        self.clustering.prefixes(&self.table, request, ids)
    }

    /// Refuses a statement whose partitions and rows multiply to too many: each list alone may be short enough.
    pub fn check_product(&self, partitions: usize, rows: usize) -> Result<(), QueryError> {
        if partitions.saturating_mul(rows) <= COMBINATIONS_MAX {
            return Ok(());
        }
        check_combinations(self.table.primary_key().map(|c| &*c.name), partitions.saturating_mul(rows))
    }

    /// For each partition key column, the marker that is its only value; `None` if one has none.
    pub fn partition_markers(&self) -> Option<Vec<u16>> {
        match &self.partitions {
            PartitionRestriction::Keys { columns, .. } => {
                columns.iter().map(|terms| terms.as_marker().and_then(|m| u16::try_from(m).ok())).collect()
            }
            PartitionRestriction::Range(_) | PartitionRestriction::Entities { .. } => None,
        }
    }

    /// The entities, where the statement names some without their buckets.
    pub fn entities(
        &self,
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<Option<Vec<PartitionKey>>, QueryError> {
        match &self.partitions {
            PartitionRestriction::Entities { .. } => match self.partitions(request, ids)? {
                PartitionSet::Entities(entities) => Ok(Some(entities)),
                PartitionSet::Keys(_) | PartitionSet::Range { .. } => Ok(None),
            },
            PartitionRestriction::Keys { .. } | PartitionRestriction::Range(_) => Ok(None),
        }
    }
}
