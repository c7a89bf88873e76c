//! Conditions on rows that no key or slice can express: what ALLOW FILTERING allows.

use super::index_path::map_key;
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Env, Expr, Node};
use crate::restrict::{Nulls, Receiver, Terms};
use model::text::TextChange;
use model::types::DataType;
use model::value::elements::{elements, map_entries};
use std::borrow::Cow;
use store::{Comparison, evaluate};

/// `subjects op terms`; several subjects are compared as a tuple.
#[derive(Clone, Debug)]
pub struct Filter {
    pub subjects: Vec<Expr>,
    pub op: Comparison,
    pub terms: Terms,
    /// The column in messages and in advice.
    pub column: String,
    /// What counts of texts, where an index says so: of a value that is equal to one, and of an element that is contained.
    pub change: TextChange,
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
    /// How many values a row is compared with.
    pub fn alternatives(&self) -> usize {
        self.rows.len()
    }

    /// Whether the row whose inputs are at hand passes. A null subject passes nothing.
    pub fn passes(&self, env: &Env<'_, '_>) -> Result<bool, QueryError> {
        let mut found: Vec<Cow<'_, [u8]>> = Vec::with_capacity(self.filter.subjects.len());
        for subject in &self.filter.subjects {
            match subject.evaluate_in(env)?.into_bytes() {
                Some(bytes) => found.push(bytes),
                None => return Ok(false),
            }
        }
        if !self.filter.change.is_none() {
            return Ok(self.passes_changed(&found));
        }
        match self.filter.op {
            Comparison::Contains
            | Comparison::ContainsKey
            | Comparison::NotContains
            | Comparison::NotContainsKey
            | Comparison::Prefix => Ok(self.holds_of_one(&found)),
            op => Ok(evaluate::holds(op, self.rows.len(), |alternative| {
                let types = self.filter.subjects.iter().map(|subject| &subject.data_type);
                let values = found.iter().zip(&self.rows[alternative]);
                evaluate::order(
                    types.zip(values).map(|(data_type, (have, want))| (data_type, &**have, &**want)),
                )
            })),
        }
    }

    /// The same where only a part of each text counts.
    fn passes_changed(&self, found: &[Cow<'_, [u8]>]) -> bool {
        let change = self.filter.change;
        let (Some(subject), Some(whole)) = (self.filter.subjects.first(), found.first()) else {
            return false;
        };
        let Some(wanted) = self.rows.first().and_then(|row| row.first()) else { return false };
        let wanted = change.apply(wanted);
        let alike = |value: Option<&[u8]>| value.is_some_and(|value| change.apply(value) == wanted);
        match (self.filter.op, &subject.data_type) {
            (Comparison::Contains | Comparison::ContainsKey, DataType::Map { .. }) => {
                let keys = self.filter.op == Comparison::ContainsKey;
                let part = |(key, value)| if keys { key } else { value };
                map_entries(whole).is_ok_and(|mut all| all.any(|e| e.is_ok_and(|e| alike(part(e)))))
            }
            (Comparison::Contains, _) => {
                elements(whole).is_ok_and(|mut all| all.any(|element| element.is_ok_and(alike)))
            }
            _ => alike(Some(whole)),
        }
    }

    fn holds_of_one(&self, found: &[Cow<'_, [u8]>]) -> bool {
        let (Some(subject), Some(whole)) = (self.filter.subjects.first(), found.first()) else {
            return false;
        };
        let wanted = self.rows.first().and_then(|row| row.first()).map(Vec::as_slice);
        evaluate::holds_of(self.filter.op, &subject.data_type, whole, &[wanted])
    }
}
