//! Whether a written expression can stand where a type is wanted, and how well it fits.

use super::{Binder, literal};
use crate::bind::types;
use cql_syntax::ast::{self, ExprKind};
use model::types::DataType;

/// How well an expression fits a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignable {
    Exact,
    /// Fits, but not only here: a literal, a marker, a type with compatible bytes.
    Weak,
    No,
}

impl Assignable {
    /// All of several parts: as good as the worst one.
    fn all(parts: impl IntoIterator<Item = Assignable>) -> Assignable {
        let mut worst = Assignable::Exact;
        for part in parts {
            match part {
                Assignable::No => return Assignable::No,
                Assignable::Weak => worst = Assignable::Weak,
                Assignable::Exact => {}
            }
        }
        worst
    }
}

/// Whether a value of type `found` may stand where `expected` is wanted.
pub fn of_types(expected: &DataType, found: &DataType) -> Assignable {
    if expected == found {
        Assignable::Exact
    } else if value_compatible(expected, found) {
        Assignable::Weak
    } else {
        Assignable::No
    }
}

/// Whether every value of `found` has bytes that mean the same as a value of `expected`.
pub fn value_compatible(expected: &DataType, found: &DataType) -> bool {
    use DataType as T;
    match (expected, found) {
        (a, b) if a == b => true,
        (T::Blob, _) => true,
        (T::Text, T::Ascii) => true,
        (T::VarInt, T::Int | T::BigInt | T::Timestamp) => true,
        (T::BigInt, T::Timestamp) | (T::Timestamp, T::BigInt) => true,
        (T::Time, T::BigInt) | (T::Date, T::Int) => true,
        (T::Uuid, T::TimeUuid) => true,
        (T::List { element: a, .. }, T::List { element: b, .. })
        | (T::Set { element: a, .. }, T::Set { element: b, .. }) => value_compatible(a, b),
        (T::Map { key: a, value: x, .. }, T::Map { key: b, value: y, .. }) => {
            value_compatible(a, b) && value_compatible(x, y)
        }
        (T::Tuple(a), T::Tuple(b)) => {
            a.len() >= b.len() && a.iter().zip(b.iter()).all(|(a, b)| value_compatible(a, b))
        }
        (T::Vector { element: a, dimensions: x }, T::Vector { element: b, dimensions: y }) => {
            x == y && value_compatible(a, b)
        }
        (T::Udt(a), T::Udt(b)) => a.keyspace == b.keyspace && a.name == b.name,
        _ => false,
    }
}

impl Binder<'_, '_> {
    /// How well the expression fits the type. Never learns markers and never fails: what is wrong
    /// inside comes out when the expression is bound.
    pub fn test(&self, written: &ast::Expr, expected: &DataType) -> Assignable {
        self.memo.fit(written, expected, || self.find_fit(written, expected))
    }

    fn find_fit(&self, written: &ast::Expr, expected: &DataType) -> Assignable {
        match &written.kind {
            ExprKind::Null if *expected == DataType::Counter => Assignable::No,
            ExprKind::Null | ExprKind::Marker(_) => Assignable::Weak,
            ExprKind::Literal(written) => literal::test(written, expected),
            ExprKind::List(parts) => match expected {
                DataType::List { element, .. } => self.test_all(parts, element),
                DataType::Vector { element, dimensions } if parts.len() == *dimensions as usize => {
                    self.test_all(parts, element)
                }
                _ => Assignable::No,
            },
            ExprKind::Set(parts) => match expected {
                DataType::Map { .. } if parts.is_empty() => Assignable::Weak,
                DataType::Set { element, .. } => self.test_all(parts, element),
                _ => Assignable::No,
            },
            ExprKind::Map(entries) => match expected {
                DataType::Map { key, value, .. } => Assignable::all(
                    entries.iter().flat_map(|(k, v)| [self.test(k, key), self.test(v, value)]),
                ),
                _ => Assignable::No,
            },
            ExprKind::UserType(fields) => match expected {
                DataType::Udt(udt) => Assignable::all(fields.iter().map(|(name, value)| {
                    match udt.field_index(name.as_str()).and_then(|i| udt.fields.get(i)) {
                        Some(field) => self.test(value, &field.data_type),
                        // Binding says which field is unknown.
                        None => Assignable::Weak,
                    }
                })),
                DataType::Map { value, .. } if self.row.is_some() => {
                    Assignable::all(fields.iter().map(|(_, v)| self.test(v, value)))
                }
                _ => Assignable::No,
            },
            ExprKind::Tuple(parts) => match expected {
                DataType::Tuple(components) if parts.len() <= components.len() => {
                    Assignable::all(parts.iter().zip(components.iter()).map(|(p, c)| self.test(p, c)))
                }
                DataType::Tuple(_) => Assignable::No,
                DataType::Udt(udt) if udt.frozen && (2..=udt.fields.len()).contains(&parts.len()) => {
                    Assignable::all(
                        parts
                            .iter()
                            .zip(udt.fields.iter())
                            .map(|(part, field)| self.test(part, &field.data_type)),
                    )
                }
                _ => match parts.as_slice() {
                    [only] => self.test(only, expected),
                    _ => Assignable::No,
                },
            },
            ExprKind::TypeHint { to, .. } => match types::resolve(self.scope, &self.keyspace(), to) {
                Ok(hinted) => of_types(expected, &hinted),
                Err(_) => Assignable::No,
            },
            _ => match self.type_of(written, Some(expected)) {
                Some(found) => of_types(expected, &found),
                // Unknown functions and the like: binding says what is wrong.
                None => Assignable::Weak,
            },
        }
    }

    /// The type of the first place where a list is written and neither list nor vector is wanted. Cassandra refuses
    /// that while it still tests, so it goes before all other complaints; inside of tuples and user-defined types it
    /// is a part that does not fit like others.
    pub fn misplaced_list<'t>(&self, written: &ast::Expr, expected: &'t DataType) -> Option<&'t DataType> {
        self.memo.misplaced_list(written, expected, || self.find_misplaced_list(written, expected))
    }

    fn find_misplaced_list<'t>(&self, written: &ast::Expr, expected: &'t DataType) -> Option<&'t DataType> {
        let first = |pairs: &mut dyn Iterator<Item = (&ast::Expr, &'t DataType)>| {
            for (part, element) in pairs {
                if let Some(found) = self.misplaced_list(part, element) {
                    return Some(found);
                }
                if self.test(part, element) == Assignable::No {
                    return None;
                }
            }
            None
        };
        match (&written.kind, expected) {
            (ExprKind::List(parts), DataType::Vector { dimensions, .. })
                if parts.len() != *dimensions as usize =>
            {
                None
            }
            (ExprKind::List(parts), DataType::List { element, .. } | DataType::Vector { element, .. })
            | (ExprKind::Set(parts), DataType::Set { element, .. }) => {
                first(&mut parts.iter().map(|part| (part, &**element)))
            }
            (ExprKind::Map(entries), DataType::Map { key, value, .. }) => {
                first(&mut entries.iter().flat_map(|(k, v)| [(k, &**key), (v, &**value)]))
            }
            (ExprKind::List(_), _) => Some(expected),
            _ => None,
        }
    }

    fn test_all(&self, parts: &[ast::Expr], element: &DataType) -> Assignable {
        Assignable::all(parts.iter().map(|part| self.test(part, element)))
    }
}
