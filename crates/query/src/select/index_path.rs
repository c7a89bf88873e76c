//! The index that a plan reads through, and what it looks up there.
//!
//! An index only says where to look. The plan keeps every filter that it would have without one, so its answer is that of reading
//! everything.

use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{KeyFault, NullIn, UnsetIn};
use crate::index;
use crate::restrict::{Nulls, RangeBound, Receiver, Terms};
use schema::{ColumnKind, Index, Table};
use std::sync::Arc;
use store::IndexConfig;
use store::index::ValueRange;

#[derive(Clone, Debug)]
pub struct IndexPath {
    pub name: Arc<str>,
    pub column: Arc<str>,
    pub config: IndexConfig,
    pub lookup: Lookup,
    /// Its entries lead to whole partitions, not to rows: the column is static or of the partition key.
    pub whole_partitions: bool,
    /// Indexes of further conditions, which lead to the same kind of places: what all lead to is looked at.
    pub beside: Vec<IndexPath>,
}

/// What is looked up, with its values.
#[derive(Clone, Debug)]
pub enum Sought {
    /// One value in comparable form.
    Form(Vec<u8>),
    Range(ValueRange),
}

/// Where the value comes from.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// Value number `at` of the only alternative of an equality (a tuple has several), or of a CONTAINS.
    Value { terms: Terms, at: usize },
    /// The entry of a map.
    Entry { key: Expr, terms: Terms },
    /// Values between bounds; only of sorted entries.
    Range { start: Option<RangeBound>, end: Option<RangeBound> },
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
            beside: Vec::new(),
        })
    }

    /// It and those beside it.
    pub fn all(&self) -> impl Iterator<Item = &IndexPath> {
        std::iter::once(self).chain(&self.beside)
    }

    pub fn is_range(&self) -> bool {
        matches!(self.lookup, Lookup::Range { .. })
    }

    /// What leads to the rows. `None`: there are none.
    pub(super) fn sought(
        &self,
        request: &Request<'_>,
        ids: &dyn Ids,
        bytes_max: usize,
    ) -> Result<Option<Sought>, QueryError> {
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
                Ok(value.and_then(|value| self.config.form(&value)).map(Sought::Form))
            }
            Lookup::Entry { key, terms } => {
                let value = first(terms, 0, Nulls::MapEntry)?;
                let key = map_key(key, &self.column, request, ids)?;
                let form = value.and_then(|value| self.config.form_of_entry(&key, &value));
                Ok(form.map(Sought::Form))
            }
            Lookup::Range { start, end } => {
                let start = self.bound(start.as_ref(), request, ids)?;
                let end = self.bound(end.as_ref(), request, ids)?;
                // Nothing is below null, and everything above it.
                if end == Bound::Null {
                    return Ok(None);
                }
                let (start, end) = (fitting_bound(start, bytes_max)?, fitting_bound(end, bytes_max)?);
                Ok(Some(Sought::Range(ValueRange { start, end })))
            }
        }
    }

    fn bound(
        &self,
        bound: Option<&RangeBound>,
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<Bound, QueryError> {
        let Some(bound) = bound else { return Ok(Bound::None) };
        if bound.item.is_null(request, ids)? {
            return Ok(Bound::Null);
        }
        let name = |_| self.column.to_string();
        let row = bound.item.evaluate(&Receiver { name: &name, nulls: Nulls::Filter }, request, ids)?;
        let form = row.first().and_then(|value| self.config.form(value));
        Ok(form.map_or(Bound::None, |form| Bound::Form(form, bound.inclusive)))
    }
}

/// One side of a range.
#[derive(PartialEq)]
enum Bound {
    None,
    Null,
    Form(Vec<u8>, bool),
}

fn fitting_bound(bound: Bound, bytes_max: usize) -> Result<Option<(Vec<u8>, bool)>, QueryError> {
    match bound {
        Bound::Form(form, _) if form.len() > bytes_max => Err(KeyFault::SoughtTooLong.into()),
        Bound::Form(form, inclusive) => Ok(Some((form, inclusive))),
        Bound::None | Bound::Null => Ok(None),
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
