//! Conditions on rows that no key or slice can express: what ALLOW FILTERING allows.

use super::index_path::map_key;
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Env, Expr, Node};
use crate::restrict::{Nulls, Receiver, Terms};
use model::types::DataType;
use model::value::compare;
use std::borrow::Cow;
use std::cmp::Ordering;
use store::assemble::contains;

/// `subjects op terms`; several subjects are compared as a tuple.
#[derive(Clone, Debug)]
pub struct Filter {
    pub subjects: Vec<Expr>,
    pub op: FilterOp,
    pub terms: Terms,
    /// The column in messages and in advice.
    pub column: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Contains,
    ContainsKey,
    NotContains,
    NotContainsKey,
}

/// A filter with its values.
pub struct BoundFilter<'p> {
    filter: &'p Filter,
    rows: Vec<Vec<Vec<u8>>>,
}

impl Filter {
    pub fn bind(&self, request: &Request<'_>, ids: &dyn Ids) -> Result<BoundFilter<'_>, QueryError> {
        let name = |_| self.column.clone();
        let mut nulls = Nulls::Filter;
        if let Some(Node::Element(_, key)) = self.subjects.first().map(|s| &s.node) {
            nulls = Nulls::MapEntry;
            map_key(key, &self.column, request, ids)?;
        }
        let rows = self.terms.evaluate(&Receiver { name: &name, nulls }, request, ids)?;
        let owned = |row: Vec<Cow<'_, [u8]>>| row.into_iter().map(Cow::into_owned).collect();
        Ok(BoundFilter { filter: self, rows: rows.into_iter().map(owned).collect() })
    }
}

impl BoundFilter<'_> {
    /// Whether the row whose inputs are at hand passes. A null subject passes nothing.
    pub fn passes(&self, env: &Env<'_, '_>) -> Result<bool, QueryError> {
        let mut found: Vec<Cow<'_, [u8]>> = Vec::with_capacity(self.filter.subjects.len());
        for subject in &self.filter.subjects {
            match subject.evaluate_in(env)?.into_bytes() {
                Some(bytes) => found.push(bytes),
                None => return Ok(false),
            }
        }
        let order = |row: &Vec<Vec<u8>>| self.order(&found, row);
        let holds = |wanted: fn(Ordering) -> bool| self.rows.first().is_some_and(|row| wanted(order(row)));
        Ok(match self.filter.op {
            FilterOp::Equal => holds(Ordering::is_eq),
            FilterOp::NotEqual => holds(Ordering::is_ne),
            FilterOp::Less => holds(Ordering::is_lt),
            FilterOp::LessOrEqual => holds(Ordering::is_le),
            FilterOp::Greater => holds(Ordering::is_gt),
            FilterOp::GreaterOrEqual => holds(Ordering::is_ge),
            FilterOp::In => self.rows.iter().any(|row| order(row).is_eq()),
            FilterOp::NotIn => self.rows.iter().all(|row| order(row).is_ne()),
            FilterOp::Contains => self.has(&found, false),
            FilterOp::ContainsKey => self.has(&found, true),
            FilterOp::NotContains => !self.has(&found, false),
            FilterOp::NotContainsKey => !self.has(&found, true),
        })
    }

    fn order(&self, found: &[Cow<'_, [u8]>], row: &[Vec<u8>]) -> Ordering {
        let types = self.filter.subjects.iter().map(|s| &s.data_type);
        let mut parts = types.zip(found.iter().zip(row));
        let different = |(t, (a, b)): (&DataType, (&Cow<'_, [u8]>, &Vec<u8>))| {
            Some(compare(t, a, b)).filter(|order| order.is_ne())
        };
        parts.find_map(different).unwrap_or(Ordering::Equal)
    }

    fn has(&self, found: &[Cow<'_, [u8]>], keys: bool) -> bool {
        let (Some(subject), Some(whole)) = (self.filter.subjects.first(), found.first()) else {
            return false;
        };
        let wanted = self.rows.first().and_then(|row| row.first()).map(Vec::as_slice);
        contains(&subject.data_type, Some(whole), wanted, keys)
    }
}
