//! The index that a plan reads through, and what it looks up there.
//!
//! An index only says where to look: the plan keeps every filter it would have without one, so its answer is that of reading
//! everything.

use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{KeyFault, NullIn, UnsetIn};
use crate::index;
use crate::restrict::{Nulls, Receiver, Terms};
use model::key::PartitionKey;
use schema::{ColumnKind, Index, Table};
use std::sync::Arc;
use store::IndexConfig;

#[derive(Clone, Debug)]
pub struct IndexPath {
    pub name: Arc<str>,
    pub column: Arc<str>,
    pub config: IndexConfig,
    pub lookup: Lookup,
    /// Its entries lead to whole partitions, not to rows: the column is static or of the partition key.
    pub whole_partitions: bool,
}

/// Where the value comes from.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// Value number `at` of the only alternative of an equality (a tuple has several), or of a CONTAINS.
    Value { terms: Terms, at: usize },
    /// The entry of a map.
    Entry { key: Expr, terms: Terms },
}

impl IndexPath {
    /// `None` when the column cannot be indexed that way.
    pub fn new(table: &Table, index: &Index, lookup: Lookup) -> Option<IndexPath> {
        let column = table.column(&index.column)?;
        Some(IndexPath {
            name: index.name.clone(),
            column: column.name.clone(),
            config: index::config(table, index)?,
            lookup,
            whole_partitions: matches!(column.kind, ColumnKind::Static | ColumnKind::PartitionKey),
        })
    }

    /// The partition of the index that leads to the rows. `None`: there are none.
    pub(super) fn partition(
        &self,
        request: &Request<'_>,
        ids: &dyn Ids,
        bytes_max: usize,
    ) -> Result<Option<PartitionKey>, QueryError> {
        let name = |_| self.column.to_string();
        let first = |terms: &Terms, at: usize, nulls| {
            let rows = terms.evaluate(&Receiver { name: &name, nulls }, request, ids)?;
            let value = rows.first().and_then(|row| row.get(at)).map(|value| value.to_vec());
            if value.as_ref().is_some_and(|value| value.len() > bytes_max) {
                return Err(KeyFault::SoughtTooLong.into());
            }
            Ok::<_, QueryError>(value)
        };
        match &self.lookup {
            Lookup::Value { terms, at } => {
                let value = first(terms, *at, Nulls::Filter)?;
                Ok(value.and_then(|value| self.config.partition_of(&value)))
            }
            Lookup::Entry { key, terms } => {
                let value = first(terms, 0, Nulls::MapEntry)?;
                let key = map_key(key, &self.column, request, ids)?;
                Ok(value.and_then(|value| self.config.partition_of_entry(&key, &value)))
            }
        }
    }
}

/// The key of a map entry that rows are asked for.
pub(super) fn map_key(
    key: &Expr,
    column: &str,
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<Vec<u8>, QueryError> {
    match key.evaluate(request, ids)? {
        Evaluated::Value(bytes) => Ok(bytes.into_owned()),
        Evaluated::Null => Err(NullIn::FilterKey { column: column.to_string() }.into()),
        Evaluated::Unset => Err(UnsetIn::FilterKey { column: column.to_string() }.into()),
    }
}
