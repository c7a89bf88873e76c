//! Merged restrictions -> keys, slices and filters, by the rules of each statement.

use super::indexes::{Filtered, Indexed, change_of, is_indexed_vector};
use super::merge::{Merged, Restriction};
use super::relation::Test;
use super::{Rules, StatementKind, Where};
use crate::CqlError;
use crate::bind::expr::RowScope;
use model::text::TextChange;
use query::restrict::{
    ClusteringRestriction, PartitionRestriction, RangeBound, Restrictions, Step, Terms, TupleRange,
};
use query::select::Filter;
use schema::{Column, Table};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Comparison;

/// What Cassandra answers when a query would have to look at rows it does not return.
pub const NEEDS_FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may \
    have unpredictable performance. If you want to execute this query despite the performance \
    unpredictability, use ALLOW FILTERING";

/// What Cassandra answers to an index together with several partitions, and what helps.
const KEY_IN_WITH_INDEX: &str = "Select on indexed columns and with IN clause for the PRIMARY KEY are not \
    supported. With ALLOW FILTERING the partitions are looked up one by one";

pub fn analyse(
    table: &Arc<Table>,
    merged: Merged<'_>,
    rules: Rules,
    row: &mut RowScope,
) -> Result<Where, CqlError> {
    let mut filters = Vec::new();
    let on_clustering = !merged.clustering.is_empty();
    let on_others = !merged.others.is_empty() || !merged.parts.is_empty();
    let regular = |c: &Column| c.kind == schema::ColumnKind::Regular;
    let on_regulars = merged.others.iter().flat_map(|r| &r.columns).any(regular)
        || merged.parts.iter().any(|(c, ..)| regular(c));
    let is_select = rules.kind == StatementKind::Select;
    let indexed = if is_select { Indexed::of(table, &merged) } else { None };
    let Merged { tokens, on_token, partition, clustering, others, parts, .. } = merged;

    let on_entities = names_entities(table, &partition, on_token);
    let keys_filtered = !on_entities && keys_need_filtering(table, &partition);
    let names_several = partition.values().filter_map(|r| r.among.as_ref()).any(|among| !among.is_equality());
    // Cassandra's order of decisions: what came before an index was chosen is not for the index to support.
    let mut uses_index = indexed.is_some() && (keys_filtered || (partition.is_empty() && !on_token));
    let mut filtered = Filtered { partition: uses_index, clustering: false };
    let partitions = match rules.kind {
        StatementKind::Select => {
            if keys_filtered && !rules.allow_filtering && indexed.is_none() {
                return Err(CqlError::invalid(NEEDS_FILTERING));
            }
            partitions(table, partition, tokens, on_entities, row, &mut filters)
        }
        _ => {
            check_write_keys(table, &partition, on_token, rules.kind)?;
            partitions(table, partition, tokens, on_entities, row, &mut filters)
        }
    };
    if rules.statics_only && on_clustering {
        return Err(CqlError::invalid(match rules.kind {
            StatementKind::Select => {
                "Cannot restrict clustering columns when selecting only static columns".to_string()
            }
            kind => format!(
                "Invalid restrictions on clustering columns since the {} statement modifies only static columns",
                kind.name()
            ),
        }));
    }
    check_clustering(table, &clustering, rules, indexed.is_some())?;
    let scans = matches!(partitions, PartitionRestriction::Range(_));
    if let Some(indexed) = &indexed {
        uses_index |= clustering_needs_filtering(&clustering) || (scans && indexed.supports_clustering());
        filtered.clustering = uses_index;
    }
    let clustering = clustering_restriction(clustering, row, &mut filters);
    if on_others && rules.kind != StatementKind::Select {
        let names = others.iter().flat_map(|r| &r.columns).chain(parts.iter().map(|(c, ..)| c));
        let names: Vec<&str> = names.map(|c| &*c.name).collect();
        return Err(CqlError::invalid(format!(
            "Non PRIMARY KEY columns found in where clause: {} ",
            names.join(", ")
        )));
    }
    if on_others {
        uses_index |= indexed.is_some();
        if !rules.allow_filtering {
            check_others(table, &others, indexed.is_some())?;
        }
    }
    if uses_index && names_several && !rules.allow_filtering {
        return Err(CqlError::invalid(KEY_IN_WITH_INDEX));
    }
    others.into_iter().for_each(|restriction| filter_all(restriction, row, &mut filters));
    for (column, part, test) in parts {
        let (op, terms) = filter_test(test);
        let column = column.name.to_string();
        filters.push(Filter { subjects: vec![part], op, terms, column, change: TextChange::default() });
    }
    if is_select {
        filters.iter_mut().for_each(|filter| filter.change = change_of(table, filter));
    }
    let restrictions = Restrictions { table: table.clone(), partitions, clustering };
    let indexed = indexed.filter(|_| uses_index);
    let needs_filtering = match &indexed {
        Some(indexed) => !indexed.supports_all(&filtered),
        None => on_clustering && scans,
    };
    let index = indexed.and_then(|indexed| match scans {
        true => indexed.path(None),
        // Entries are in the order of partitions, rows of an entity in that of their clustering key: its buckets are read.
        false if on_entities => None,
        // The rows are named already: looking at them is cheaper.
        false if restrictions.names_rows() => None,
        false => indexed.path(Some(restrictions.clustering.columns_restricted())),
    });
    Ok(Where { restrictions, filters, on_clustering, on_regulars, needs_filtering, uses_index, index })
}

/// Relations on columns outside the key, without ALLOW FILTERING.
fn check_others(table: &Table, others: &[Restriction], indexed: bool) -> Result<(), CqlError> {
    if others.iter().flat_map(|r| &r.columns).any(|column| is_indexed_vector(table, column)) {
        return Err(CqlError::invalid(
            "Vector indexes only support ANN queries. With ALLOW FILTERING the vectors are compared one by one",
        ));
    }
    if indexed { Ok(()) } else { Err(CqlError::invalid(NEEDS_FILTERING)) }
}

/// Whether a bucketed table is spoken of as if it had no buckets: every other column of the key has values, the buckets have not.
fn names_entities(table: &Table, partition: &BTreeMap<usize, Restriction>, on_token: bool) -> bool {
    let entity = table.entity_key().len();
    table.bucketing().is_some()
        && !on_token
        && partition.len() == entity
        && partition.iter().all(|(at, r)| *at < entity && r.among.is_some() && r.others.is_empty())
}

/// Some but not all key columns are restricted, or one is by something other than = and IN.
fn keys_need_filtering(table: &Table, partition: &BTreeMap<usize, Restriction>) -> bool {
    let plain = |r: &Restriction| r.among.is_some() && r.others.is_empty();
    let complete = partition.len() == table.partition_key.len() && partition.values().all(plain);
    !complete && !partition.is_empty()
}

fn check_write_keys(
    table: &Table,
    partition: &BTreeMap<usize, Restriction>,
    on_token: bool,
    kind: StatementKind,
) -> Result<(), CqlError> {
    let kind = kind.name();
    if on_token {
        return Err(CqlError::invalid(format!(
            "The token function cannot be used in WHERE clauses for {kind} statements"
        )));
    }
    let missing = |c: &&Column| !partition.contains_key(&c.position);
    // Either all bucket columns are named or none.
    let buckets = table.entity_key().len();
    let key = match partition.keys().any(|at| *at >= buckets) {
        true => &table.partition_key[..],
        false => table.entity_key(),
    };
    let missing: Vec<&str> = key.iter().filter(missing).map(|c| &*c.name).collect();
    if !missing.is_empty() {
        let text = format!("Some partition key parts are missing: {}", missing.join(", "));
        return Err(CqlError::invalid(text));
    }
    if partition.values().any(|r| r.among.is_none() || !r.others.is_empty()) {
        return Err(CqlError::invalid(format!(
            "Only EQ and IN relation are supported on the partition key (unless you use the token() function) \
             for {kind} statements"
        )));
    }
    Ok(())
}

fn partitions(
    table: &Table,
    partition: BTreeMap<usize, Restriction>,
    tokens: query::restrict::TokenRange,
    on_entities: bool,
    row: &mut RowScope,
    filters: &mut Vec<Filter>,
) -> PartitionRestriction {
    let complete = on_entities
        || partition.len() == table.partition_key.len() && partition.values().all(|r| r.among.is_some());
    if !complete {
        partition.into_values().for_each(|r| filter_all(r, row, filters));
        return PartitionRestriction::Range(tokens);
    }
    let mut columns = Vec::with_capacity(partition.len());
    for mut restriction in partition.into_values() {
        columns.extend(restriction.among.take());
        filter_all(restriction, row, filters);
    }
    match on_entities {
        true => PartitionRestriction::Entities { columns },
        false => PartitionRestriction::Keys { columns, tokens },
    }
}

fn check_clustering(
    table: &Table,
    clustering: &BTreeMap<usize, Restriction>,
    rules: Rules,
    indexed: bool,
) -> Result<(), CqlError> {
    let refuse = |text: String| Err(CqlError::Invalid(text));
    if rules.kind == StatementKind::Update {
        if clustering.values().any(Restriction::is_range) {
            return refuse(
                "Slice restrictions are not supported on the clustering columns in UPDATE statements".into(),
            );
        }
        let given = |c: &Column| clustering.values().any(|r| r.columns.iter().any(|g| g.id == c.id));
        let missing = table.clustering.iter().filter(|c| !given(c));
        let missing: Vec<&str> = missing.map(|c| &*c.name).collect();
        if !missing.is_empty() && !rules.statics_only {
            return refuse(format!("Some clustering keys are missing: {}", missing.join(", ")));
        }
    }
    if rules.kind == StatementKind::Select && (rules.allow_filtering || indexed) {
        return Ok(());
    }
    if clustering.values().any(|r| !r.others.is_empty()) {
        let contains = |r: &Restriction| {
            r.others.iter().any(|(_, op, _)| matches!(op, Comparison::Contains | Comparison::ContainsKey))
        };
        return refuse(match clustering.values().any(contains) {
            true => {
                "Clustering columns can only be restricted with CONTAINS with a secondary index or filtering"
                    .into()
            }
            false => NEEDS_FILTERING.into(),
        });
    }
    let mut expected = 0;
    for (&first, restriction) in clustering {
        if first != expected {
            let restricted = restriction.columns.first().map_or("", |c| &*c.name);
            let preceding = table.clustering.get(expected).map_or("", |c| &*c.name);
            return refuse(format!(
                "PRIMARY KEY column \"{restricted}\" cannot be restricted as preceding column \"{preceding}\" is not restricted"
            ));
        }
        expected = first + restriction.columns.len();
    }
    Ok(())
}

/// Whether some relation is on a column that the ones before it do not lead to.
fn clustering_needs_filtering(clustering: &BTreeMap<usize, Restriction>) -> bool {
    let (mut expected, mut open) = (0, true);
    for (&first, restriction) in clustering {
        if !open || first != expected || !restriction.others.is_empty() {
            return true;
        }
        open = !restriction.is_range();
        expected = first + restriction.columns.len();
    }
    false
}

/// Takes steps while columns follow each other and have values, then one range; the rest filters.
fn clustering_restriction(
    clustering: BTreeMap<usize, Restriction>,
    row: &mut RowScope,
    filters: &mut Vec<Filter>,
) -> ClusteringRestriction {
    let mut result = ClusteringRestriction::default();
    let mut expected = 0;
    let mut open = true;
    for (first, mut restriction) in clustering {
        if open && first == expected {
            if let Some(terms) = restriction.among.take() {
                result.steps.push(Step { columns: restriction.columns.len(), terms });
                expected += restriction.columns.len();
            } else if restriction.is_range() {
                result.range = Some(TupleRange {
                    start: restriction.start.take(),
                    end: restriction.end.take(),
                    except: std::mem::take(&mut restriction.except),
                });
                open = false;
            } else {
                open = false;
            }
        } else {
            open = false;
        }
        filter_all(restriction, row, filters);
    }
    result
}

/// Turns what is left of a restriction into filters.
fn filter_all(restriction: Restriction, row: &mut RowScope, filters: &mut Vec<Filter>) {
    let Restriction { columns, among, start, end, except, others, .. } = restriction;
    let mut push = |count: usize, op, terms| {
        let columns = columns.get(..count).unwrap_or(&columns);
        filters.push(Filter {
            subjects: columns.iter().map(|c| row.value(c)).collect(),
            op,
            terms,
            column: columns.first().map_or(String::new(), |c| c.name.to_string()),
            change: TextChange::default(),
        });
    };
    if let Some(terms) = among {
        push(columns.len(), if terms.is_one() { Comparison::Equal } else { Comparison::In }, terms);
    }
    for (bound, strict, inclusive) in [
        (start, Comparison::Greater, Comparison::GreaterOrEqual),
        (end, Comparison::Less, Comparison::LessOrEqual),
    ] {
        if let Some(RangeBound { columns, item, inclusive: included, .. }) = bound {
            push(columns, if included { inclusive } else { strict }, Terms::One(item));
        }
    }
    except.into_iter().for_each(|(count, terms)| push(count, Comparison::NotIn, terms));
    others.into_iter().for_each(|(count, op, terms)| push(count, op, terms));
}

fn filter_test(test: Test) -> (Comparison, Terms) {
    match test {
        Test::Among(terms) => (if terms.is_one() { Comparison::Equal } else { Comparison::In }, terms),
        Test::Other(op, terms) => (op, terms),
        Test::Bound { start, inclusive, item } => {
            let op = match (start, inclusive) {
                (true, true) => Comparison::GreaterOrEqual,
                (true, false) => Comparison::Greater,
                (false, true) => Comparison::LessOrEqual,
                (false, false) => Comparison::Less,
            };
            (op, Terms::One(item))
        }
    }
}
