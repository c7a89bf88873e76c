//! Literals of collections, vectors, tuples and user-defined types.

use super::assign::Assignable;
use super::call::SELECTION;
use super::{Binder, term_text};
use crate::CqlError;
use cql_syntax::ast::{self, Ident};
use model::types::DataType;
use model::value::ITEMS_MAX;
use query::expr::{Expr, Node};
use std::collections::{HashMap, HashSet};

impl Binder<'_, '_> {
    pub(super) fn list(
        &mut self,
        parts: &[ast::Expr],
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, CqlError> {
        match expected {
            DataType::List { element, .. } => {
                let parts = self.parts(parts, element, receiver, "list")?;
                self.must_be_known(&parts, receiver, "list")?;
                Ok(Expr::new(expected.clone(), Node::List(parts)))
            }
            DataType::Vector { element, dimensions } => {
                if parts.len() != *dimensions as usize {
                    return Err(CqlError::invalid(format!(
                        "Invalid vector literal for {receiver} of type {expected}; \
                         expected {dimensions} elements, but given {}",
                        parts.len()
                    )));
                }
                let parts = self.parts(parts, element, receiver, "vector")?;
                Ok(Expr::new(expected.clone(), Node::Vector(parts)))
            }
            _ => Err(no_place_for_list(expected)),
        }
    }

    pub(super) fn set(
        &mut self,
        parts: &[ast::Expr],
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, CqlError> {
        match expected {
            // The grammar cannot tell an empty map from an empty set.
            DataType::Map { .. } if parts.is_empty() => {
                Ok(Expr::new(expected.clone(), Node::Map(Vec::new())))
            }
            DataType::Set { element, .. } => {
                let parts = self.parts(parts, element, receiver, "set")?;
                self.must_be_known(&parts, receiver, "set")?;
                Ok(Expr::new(expected.clone(), Node::Set(parts)))
            }
            _ => Err(wrong("set", receiver, expected)),
        }
    }

    fn parts(
        &mut self,
        parts: &[ast::Expr],
        element: &DataType,
        receiver: &str,
        kind: &str,
    ) -> Result<Vec<Expr>, CqlError> {
        check_items(parts.len(), kind)?;
        let refusal = |part: &ast::Expr| {
            let value = term_text(part);
            format!("Invalid {kind} literal for {receiver}: value {value} is not of type {element}")
        };
        // All are tested before one is looked at closely, here and below, as Cassandra does: it decides what is told.
        // Vectors are the exception.
        let first = if kind == "vector" { &[] } else { parts };
        first.iter().try_for_each(|part| self.must_fit(part, element, || refusal(part)))?;
        let mut bound = Vec::with_capacity(parts.len());
        for part in parts {
            self.must_fit(part, element, || refusal(part))?;
            bound.push(self.bind(part, element, &part_name("value", receiver))?);
        }
        Ok(bound)
    }

    /// Outside of SELECT lists, what stands in the literal of a collection is known when it is prepared.
    fn must_be_known(&self, parts: &[Expr], receiver: &str, kind: &str) -> Result<(), CqlError> {
        if self.row.is_some() || !parts.iter().any(Expr::has_marker) {
            return Ok(());
        }
        Err(CqlError::invalid(format!(
            "Invalid {kind} literal for {receiver}: bind variables are not supported inside collection literals"
        )))
    }

    pub(super) fn map(
        &mut self,
        entries: &[(ast::Expr, ast::Expr)],
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, CqlError> {
        let DataType::Map { key: key_type, value: value_type, .. } = expected else {
            return Err(wrong("map", receiver, expected));
        };
        check_items(entries.len(), "map")?;
        for (key, value) in entries {
            self.must_fit(key, key_type, || {
                let key = term_text(key);
                format!("Invalid map literal for {receiver}: key {key} is not of type {key_type}")
            })?;
            self.must_fit(value, value_type, || {
                let value = term_text(value);
                format!("Invalid map literal for {receiver}: value {value} is not of type {value_type}")
            })?;
        }
        let mut bound = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.bind(key, key_type, &part_name("key", receiver))?;
            let value = self.bind(value, value_type, &part_name("value", receiver))?;
            self.must_be_known(&[key.clone(), value.clone()], receiver, "map")?;
            bound.push((key, value));
        }
        Ok(Expr::new(expected.clone(), Node::Map(bound)))
    }

    pub(super) fn user_type(
        &mut self,
        fields: &[(Ident, ast::Expr)],
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, CqlError> {
        if let (DataType::Map { .. }, true) = (expected, self.row.is_some()) {
            // In a SELECT clause `{a: 1}` may be a map whose keys are columns.
            let key = |name: &Ident| ast::Expr::new(ast::ExprKind::Column(name.clone()));
            let entries: Vec<_> = fields.iter().map(|(name, value)| (key(name), value.clone())).collect();
            return self.briefly(|binder| binder.map(&entries, expected, receiver));
        }
        let DataType::Udt(udt) = expected else {
            return Err(wrong("user type", receiver, expected));
        };
        let known: HashSet<&str> = udt.fields.iter().map(|field| &*field.name).collect();
        if let Some((unknown, _)) = fields.iter().find(|(name, _)| !known.contains(name.as_str())) {
            return Err(CqlError::invalid(format!(
                "Unknown field '{}' in value of user defined type {}",
                unknown.as_str(),
                udt.name
            )));
        }
        // Of a field that is given twice the last value counts.
        let values: HashMap<&str, &ast::Expr> =
            fields.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let given = |name: &str| values.get(name).copied();
        for field in udt.fields.iter() {
            let Some(value) = given(&field.name) else { continue };
            self.must_fit(value, &field.data_type, || {
                format!(
                    "Invalid user type literal for {receiver}: field {} is not of type {}",
                    field.name, field.data_type
                )
            })?;
        }
        let mut bound = Vec::with_capacity(udt.fields.len());
        for field in udt.fields.iter() {
            bound.push(match given(&field.name) {
                Some(value) => self.bind(value, &field.data_type, &format!("{receiver}.{}", field.name))?,
                None => Expr::null(field.data_type.clone()),
            });
        }
        Ok(Expr::new(expected.clone(), Node::UserType(bound)))
    }

    pub(super) fn tuple(
        &mut self,
        parts: &[ast::Expr],
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, CqlError> {
        let components: Vec<DataType> = match (expected, parts) {
            (DataType::Tuple(components), _) => components.to_vec(),
            // One part in parentheses is just that part where no tuple is wanted.
            (_, [only]) if self.test(only, expected) != Assignable::No => {
                return self.bind(only, expected, receiver);
            }
            // A user-defined type is a tuple with names.
            (DataType::Udt(udt), _) => udt.fields.iter().map(|f| f.data_type.clone()).collect(),
            (_, [only]) => return self.bind(only, expected, receiver),
            _ => return Err(wrong("tuple type", receiver, expected)),
        };
        for (i, (part, component)) in parts.iter().zip(components.iter()).enumerate() {
            self.must_fit(part, component, || {
                format!("Invalid tuple literal for {receiver}: component {i} is not of type {component}")
            })?;
        }
        if parts.len() > components.len() {
            return Err(CqlError::invalid(format!(
                "Invalid tuple literal for {receiver}: too many elements. Type {expected} expects {} but got {}",
                components.len(),
                parts.len()
            )));
        }
        let mut bound = Vec::with_capacity(parts.len());
        for (i, (part, component)) in parts.iter().zip(components.iter()).enumerate() {
            bound.push(self.bind(part, component, &format!("{receiver}[{i}]"))?);
        }
        if matches!(expected, DataType::Udt(udt) if !udt.frozen || parts.len() < 2) {
            return Err(wrong("tuple type", receiver, expected));
        }
        Ok(Expr::new(expected.clone(), Node::Tuple(bound)))
    }

    fn must_fit(
        &self,
        written: &ast::Expr,
        expected: &DataType,
        refusal: impl FnOnce() -> String,
    ) -> Result<(), CqlError> {
        if let Some(place) = self.misplaced_list(written, expected) {
            return Err(no_place_for_list(place));
        }
        match self.test(written, expected) {
            Assignable::No => Err(CqlError::invalid(refusal())),
            _ => Ok(()),
        }
    }
}

fn check_items(count: usize, kind: &str) -> Result<(), CqlError> {
    if count <= ITEMS_MAX {
        return Ok(());
    }
    Err(CqlError::invalid(format!(
        "Guardrail items_per_collection violated: a {kind} has {count} items, this exceeds fail threshold of {ITEMS_MAX}. \
         Add the items in several statements"
    )))
}

/// What a marker for a part of a collection is called.
fn part_name(part: &str, receiver: &str) -> String {
    if receiver == SELECTION { SELECTION.into() } else { format!("{part}({receiver})") }
}

fn no_place_for_list(expected: &DataType) -> CqlError {
    CqlError::invalid(format!("Unexpected receiver type '{expected}'; only list and vector are expected"))
}

fn wrong(kind: &str, receiver: &str, expected: &DataType) -> CqlError {
    CqlError::invalid(format!("Invalid {kind} literal for {receiver} of type {expected}"))
}
