//! From the place of a row in one generation of a table to its place in another: through the entity, which both name alike.

use super::Bucket;
use model::key::{PartitionKey, composite_part};
use schema::{Bucketing, Table};
use std::sync::Arc;

/// From the partitions of one generation to those of another.
#[derive(Debug)]
pub struct Moved {
    pub from: Arc<Table>,
    pub to: Arc<Table>,
}

impl store::Homes for Moved {
    fn home(&self, key: &PartitionKey, clustering: &[u8]) -> Option<PartitionKey> {
        partition_of(&self.to, &entity_of(&self.from, key)?, clustering)
    }
}

/// The entity that a partition belongs to.
pub fn entity_of(table: &Table, key: &PartitionKey) -> Option<PartitionKey> {
    entity_of_plan(table.bucketing(), table.entity_key().len(), key)
}

/// The same for any plan of a table whose entities are named by this many columns.
pub fn entity_of_plan(plan: Option<&Bucketing>, columns: usize, key: &PartitionKey) -> Option<PartitionKey> {
    match (plan, columns) {
        (Some(plan), _) => PartitionKey::of(Bucket::of_key(plan, key)?.0),
        (None, 1) => PartitionKey::composite(&[key.bytes()]),
        (None, _) => Some(key.clone()),
    }
}

/// The partition of a row of an entity.
pub fn partition_of(table: &Table, entity: &PartitionKey, clustering: &[u8]) -> Option<PartitionKey> {
    match (table.bucketing(), table.partition_key.len()) {
        (Some(plan), _) => Bucket::of_row(table, plan, clustering).ok()?.key(entity).ok(),
        (None, 1) => PartitionKey::of(composite_part(entity.bytes(), 0)?),
        (None, _) => Some(entity.clone()),
    }
}
