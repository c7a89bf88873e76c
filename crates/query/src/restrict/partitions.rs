//! Which partitions: values of the key columns, a range of tokens, or all.

use super::product::{check_bytes, check_combinations};
use super::terms::{Receiver, Terms, required};
use crate::buckets::entity_key;
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{NullIn, RestrictionFault};
use crate::key::{KeyValues, partition_key};
use model::key::PartitionKey;
use model::token::Token;
use model::value::compare;
use schema::{Column, Table};
use std::borrow::Cow;

#[derive(Clone, Debug)]
pub enum PartitionRestriction {
    /// Every partition, or those in a range of tokens.
    Range(TokenRange),
    /// One restriction per partition key column; the tokens may be restricted as well.
    Keys { columns: Vec<Terms>, tokens: TokenRange },
    /// Of a bucketed table: one restriction per partition key column that is no bucket. The buckets follow from the rows.
    Entities { columns: Vec<Terms> },
}

/// `token(...)` bounds: the expression and whether the bound itself belongs to the range.
#[derive(Clone, Debug, Default)]
pub struct TokenRange {
    pub start: Option<(Expr, bool)>,
    pub end: Option<(Expr, bool)>,
}

/// Storage prefixes `[start, end)`; an empty end is no bound.
type PrefixRange = (Vec<u8>, Vec<u8>);

/// Partitions with values bound.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionSet {
    /// In key-value order, without duplicates.
    Keys(Vec<PartitionKey>),
    /// Storage prefixes `[start, end)`; an empty `end` is no bound. Empty ranges are `Keys(vec![])`.
    Range { start: Vec<u8>, end: Vec<u8> },
    /// Entities of a bucketed table, as keys of their records: in key-value order, without duplicates.
    Entities(Vec<PartitionKey>),
}

impl PartitionRestriction {
    pub fn all() -> PartitionRestriction {
        PartitionRestriction::Range(TokenRange::default())
    }

    /// Whether the partitions are named, and not found by a token or a scan.
    pub fn names_keys(&self) -> bool {
        matches!(self, PartitionRestriction::Keys { .. })
    }

    /// Whether keys are named, and more than one: IN with several values, or with a marker that may hold several.
    pub fn names_several(&self) -> bool {
        !matches!(self, PartitionRestriction::Range(_)) && !self.is_single() && !self.is_single_entity()
    }

    /// Whether a single entity of a bucketed table is named by equalities.
    pub fn is_single_entity(&self) -> bool {
        matches!(self, PartitionRestriction::Entities { columns } if columns.iter().all(Terms::is_one))
    }

    /// Whether a single partition is named by equalities.
    pub fn is_single(&self) -> bool {
        matches!(self, PartitionRestriction::Keys { columns, .. } if columns.iter().all(Terms::is_one))
    }

    /// The key, if a single partition is named by equalities and by nothing else.
    pub fn bind_only(
        &self,
        table: &Table,
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<Option<PartitionKey>, QueryError> {
        match self {
            PartitionRestriction::Keys { columns, tokens } if tokens.is_all() => {
                only_key(table, columns, request, ids)
            }
            _ => Ok(None),
        }
    }

    pub fn bind(
        &self,
        table: &Table,
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<PartitionSet, QueryError> {
        match self {
            PartitionRestriction::Range(range) => Ok(match range.bind(request, ids)? {
                Some((start, end)) => PartitionSet::Range { start, end },
                None => PartitionSet::Keys(Vec::new()),
            }),
            PartitionRestriction::Keys { columns, tokens } => {
                let mut keys = bind_keys(table, columns, request, ids)?;
                if !tokens.is_all() {
                    match tokens.bind(request, ids)? {
                        None => keys.clear(),
                        Some((start, end)) => keys.retain(|key| {
                            start.as_slice() <= key.prefix()
                                && (end.is_empty() || key.prefix() < end.as_slice())
                        }),
                    }
                }
                Ok(PartitionSet::Keys(keys))
            }
            PartitionRestriction::Entities { columns } => {
                bind_entities(table, columns, request, ids).map(PartitionSet::Entities)
            }
        }
    }
}

fn bind_entities(
    table: &Table,
    columns: &[Terms],
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<Vec<PartitionKey>, QueryError> {
    let named = table.entity_key();
    if columns.iter().all(|terms| terms.as_single().is_some()) {
        let mut values = KeyValues::default();
        for (column, terms) in named.iter().zip(columns) {
            let name = |_| column.name.to_string();
            if let Some(only) = terms.as_single() {
                values.push(Receiver::new(&name).required(only.evaluate(request, ids)?, 0)?);
            }
        }
        return Ok(vec![entity_key(values.as_slice())?]);
    }
    combinations(named, columns, &|values| entity_key(values), request, ids)
}

/// The only key, if every column has a single value.
fn only_key(
    table: &Table,
    columns: &[Terms],
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<Option<PartitionKey>, QueryError> {
    if let [terms] = columns
        && let (Some(only), Some(column)) = (terms.as_single(), table.partition_key.first())
    {
        let name = |_| column.name.to_string();
        let value = Receiver::new(&name).required(only.evaluate(request, ids)?, 0)?;
        return partition_key(table, &[&value]).map(Some);
    }
    if !columns.iter().all(|terms| terms.as_single().is_some()) {
        return Ok(None);
    }
    let mut values = KeyValues::default();
    for (column, terms) in table.partition_key.iter().zip(columns) {
        let name = |_| column.name.to_string();
        if let Some(only) = terms.as_single() {
            values.push(Receiver::new(&name).required(only.evaluate(request, ids)?, 0)?);
        }
    }
    partition_key(table, values.as_slice()).map(Some)
}

fn bind_keys(
    table: &Table,
    columns: &[Terms],
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<Vec<PartitionKey>, QueryError> {
    if let Some(only) = only_key(table, columns, request, ids)? {
        return Ok(vec![only]);
    }
    combinations(&table.partition_key, columns, &|values| partition_key(table, values), request, ids)
}

/// Every key that the alternatives of the columns make together.
fn combinations(
    named: &[Column],
    columns: &[Terms],
    make: MakeKey<'_>,
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<Vec<PartitionKey>, QueryError> {
    let mut alternatives = Vec::with_capacity(columns.len());
    let mut combinations = 1usize;
    // Lists that are too long as they are written need not be evaluated.
    let written = columns.iter().map(Terms::count).fold(1, usize::saturating_mul);
    check_combinations(named.iter().map(|c| &*c.name), written)?;
    for (column, terms) in named.iter().zip(columns) {
        let mut values = terms.evaluate_single(&Receiver::new(&|_| column.name.to_string()), request, ids)?;
        combinations = combinations.saturating_mul(values.len());
        if values.len() > 1 {
            values.sort_by(|a, b| compare(&column.data_type, a, b).then_with(|| a.cmp(b)));
            values.dedup();
        }
        alternatives.push(values);
    }
    check_combinations(named.iter().map(|c| &*c.name), combinations)?;
    // A value stands in as many keys as the other columns make.
    let repeated = |values: &Vec<Cow<'_, [u8]>>| {
        let bytes: usize = values.iter().map(|value| value.len()).sum();
        bytes.saturating_mul(combinations / values.len().max(1))
    };
    check_bytes(alternatives.iter().map(repeated).fold(0, usize::saturating_add))?;
    // Every column's values are sorted, so counting with the last column fastest gives key order.
    let mut keys = Vec::with_capacity(combinations);
    let mut chosen: Vec<&[u8]> = Vec::with_capacity(columns.len());
    combine(make, &alternatives, &mut chosen, &mut keys)?;
    Ok(keys)
}

type MakeKey<'m> = &'m dyn Fn(&[&[u8]]) -> Result<PartitionKey, QueryError>;

fn combine<'v>(
    make: MakeKey<'_>,
    alternatives: &'v [Vec<Cow<'_, [u8]>>],
    chosen: &mut Vec<&'v [u8]>,
    keys: &mut Vec<PartitionKey>,
) -> Result<(), QueryError> {
    let Some((first, rest)) = alternatives.split_first() else {
        keys.push(make(chosen)?);
        return Ok(());
    };
    for value in first {
        chosen.push(value);
        combine(make, rest, chosen, keys)?;
        chosen.pop();
    }
    Ok(())
}

impl TokenRange {
    pub fn is_all(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// Storage prefixes `[start, end)`; `None` when no token can lie between the bounds.
    fn bind(&self, request: &Request<'_>, ids: &dyn Ids) -> Result<Option<PrefixRange>, QueryError> {
        let start = bound(&self.start, request, ids)?;
        let end = bound(&self.end, request, ids)?;
        // The minimum token is no key's token: as a bound it means the end of the ring.
        let start = start.filter(|(token, _)| *token != Token::MIN);
        let end = end.filter(|(token, _)| *token != Token::MIN);
        if let (Some((start, from)), Some((end, to))) = (start, end)
            && (start > end || (start == end && !(from && to)))
        {
            return Ok(None);
        }
        let start = match start {
            None => Vec::new(),
            Some((token, true)) => token.to_ordered_bytes().to_vec(),
            Some((Token::MAX, false)) => return Ok(None),
            Some((token, false)) => Token(token.0 + 1).to_ordered_bytes().to_vec(),
        };
        let end = match end {
            None | Some((Token::MAX, true)) => Vec::new(),
            Some((token, false)) => token.to_ordered_bytes().to_vec(),
            Some((token, true)) => Token(token.0 + 1).to_ordered_bytes().to_vec(),
        };
        Ok(Some((start, end)))
    }
}

fn bound(
    bound: &Option<(Expr, bool)>,
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<Option<(Token, bool)>, QueryError> {
    let Some((expr, inclusive)) = bound else { return Ok(None) };
    let value = match expr.evaluate(request, ids)? {
        Evaluated::Null => return Err(NullIn::Token.into()),
        value => required(value, &|| "partition key token".into())?,
    };
    let bytes = <[u8; 8]>::try_from(&*value);
    let bytes = bytes.map_err(|_| RestrictionFault::EmptyToken)?;
    Ok(Some((Token(i64::from_be_bytes(bytes)), *inclusive)))
}
