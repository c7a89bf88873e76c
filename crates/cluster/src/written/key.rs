//! The rows that a write names: how its text says it, and with the values that were bound, which ones they are.

use super::Facts;
use cql_syntax::ast::{Expr, ExprKind, Literal};
use cql_wire::{Value, Values};
use model::literal::text_to_wire;
use model::types::DataType;
use model::value::elements::elements;

/// Rows that one statement may name; one that names more is taken as naming none.
const ROWS_MAX: usize = 256;

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    Marker { index: usize, name: Option<String> },
    Constant { text: String },
}

impl Term {
    pub(super) fn of(value: &Expr) -> Option<Term> {
        match &value.kind {
            ExprKind::Marker(marker) => {
                let name = marker.name.as_ref().map(|name| name.as_str().to_string());
                Some(Term::Marker { index: marker.index as usize, name })
            }
            ExprKind::Literal(Literal::Blob(text)) => {
                Some(Term::Constant { text: text.get(2..)?.to_string() })
            }
            ExprKind::Literal(literal) => Some(Term::Constant { text: literal.text().to_string() }),
            // Parentheses around one value.
            ExprKind::Tuple(parts) => match &parts[..] {
                [part] => Term::of(part),
                _ => None,
            },
            _ => None,
        }
    }

    fn bytes(&self, values: &Values<'_>, data_type: Option<&DataType>) -> Option<Vec<u8>> {
        match self {
            Term::Constant { text } => text_to_wire(data_type?, text, 0).ok(),
            Term::Marker { index, name } => {
                let value = match values.is_named() {
                    true => values.by_name(name.as_deref()?),
                    false => values.iter().nth(*index),
                };
                match value {
                    Some(Value::Bytes(bytes)) => Some(bytes.to_vec()),
                    _ => None,
                }
            }
        }
    }
}

/// What a column of the key may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    One(Term),
    /// `IN (a, b)`
    Any(Vec<Term>),
    /// `IN ?`
    List(Term),
}

impl Choice {
    fn all(&self, values: &Values<'_>, data_type: Option<&DataType>) -> Option<Vec<Vec<u8>>> {
        match self {
            Choice::One(term) => Some(vec![term.bytes(values, data_type)?]),
            Choice::Any(terms) => terms.iter().map(|term| term.bytes(values, data_type)).collect(),
            Choice::List(term) => {
                let list = term.bytes(values, None)?;
                elements(&list).ok()?.map(|part| part.ok().flatten().map(<[u8]>::to_vec)).collect()
            }
        }
    }
}

/// The keys of a statement before its values are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    partition: Vec<Choice>,
    /// Of all clustering columns, or empty: then whole partitions are meant.
    clustering: Vec<Choice>,
}

/// A row, or a partition, by the bytes of its key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey {
    pub partition: Vec<Vec<u8>>,
    /// Empty: the whole partition.
    pub clustering: Vec<Vec<u8>>,
}

impl Key {
    /// `None`: the text does not say which partition.
    pub(super) fn of(facts: &Facts, of: impl Fn(&str) -> Option<Choice>) -> Option<Key> {
        let partition = facts.partition.iter().map(|(name, _)| of(name)).collect::<Option<Vec<_>>>()?;
        let clustering = facts.clustering.iter().map(|(name, _)| of(name)).collect::<Option<Vec<_>>>();
        Some(Key { partition, clustering: clustering.unwrap_or_default() })
    }

    /// The rows, each once. `None`: they are too many, or cannot be told.
    pub fn rows(&self, facts: &Facts, values: &Values<'_>) -> Option<Vec<RowKey>> {
        let of = |choices: &[Choice], columns: &[(String, Option<DataType>)]| -> Option<Vec<Vec<Vec<u8>>>> {
            let mut all: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
            for (choice, (_, data_type)) in choices.iter().zip(columns) {
                let parts = choice.all(values, data_type.as_ref())?;
                if all.len() * parts.len() > ROWS_MAX {
                    return None;
                }
                let longer = |key: &Vec<Vec<u8>>| -> Vec<Vec<Vec<u8>>> {
                    parts.iter().map(|part| key.iter().chain([part]).cloned().collect()).collect()
                };
                all = all.iter().flat_map(longer).collect();
            }
            Some(all)
        };
        let partitions = of(&self.partition, &facts.partition)?;
        // Rows that cannot be told are in partitions that can.
        let rows = of(&self.clustering, &facts.clustering)
            .filter(|rows| rows.len() * partitions.len() <= ROWS_MAX)
            .unwrap_or_else(|| vec![Vec::new()]);
        let mut found: Vec<RowKey> = Vec::new();
        for partition in partitions {
            let keys =
                rows.iter().map(|row| RowKey { partition: partition.clone(), clustering: row.clone() });
            found.extend(keys);
        }
        found.sort();
        found.dedup();
        Some(found)
    }
}
