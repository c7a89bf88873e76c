//! From a reviewed schema to what is simulated: keys, buckets, rows and operations of every table.
//!
//! What the files declare is used; what they do not declare is assumed, and every assumption is a sentence in the report.

use super::population::{Inner, Shape};
use super::settings::Settings;
use crate::catalogue::{Access, Column, Limit, Table, TableKind, Verb};
use crate::entry::Review;
use crate::facts::Facts;
use crate::growth;
use crate::units;
use crate::vocabulary::{Grain, Meaning, any_word, words};
use cql_syntax::ast::RelationOp;

/// A declared peak is this many times the average: most systems sleep at night.
pub const PEAK_TO_AVERAGE: f64 = 3.0;
/// Hash buckets where the files do not say how many.
const HASH_BUCKETS: u64 = 16;
/// Values of an `IN ?` whose length nobody knows.
const IN_VALUES: f64 = 10.0;
/// Rows of a partition of things (not of history) when nobody declared any.
const THINGS_PER_KEY: f64 = 20.0;
/// Keys that are looked at when a declared percentile is turned into a total.
const ANCHOR_KEYS_MAX: u64 = 50_000;

/// One table as it is simulated, at scale 1.
#[derive(Debug)]
pub struct TableModel {
    /// Index into the catalogue.
    pub table: usize,
    pub name: String,
    pub shape: Shape,
    pub named: Vec<String>,
    /// The column that named keys and ranks are values of; none when the key has buckets only.
    pub outer_column: Option<usize>,
    pub grain: Option<Grain>,
    pub time_buckets: u64,
    pub hash_buckets: u64,
    pub rows: Rows,
    pub row_bytes: f64,
    /// Days of writing that are in the table.
    pub kept_days: f64,
    pub operations: Vec<Operation>,
    pub assumptions: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rows {
    /// No clustering key: a partition is a row.
    OnePerKey,
    /// So many in all, spread by weight.
    Total(f64),
}

/// A declared read or write.
#[derive(Debug)]
pub struct Operation {
    pub name: String,
    pub is_read: bool,
    pub is_insert: bool,
    /// Per second at peak; none when not declared.
    pub rate: Option<f64>,
    pub reach: Reach,
    pub limit: Option<f64>,
    /// Share of the busiest key, when declared.
    pub hot_share: Option<f64>,
    /// Writes to views that one write causes.
    pub copies: usize,
}

/// Which partitions one operation touches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach {
    /// Under one key: so many time buckets, newest first, and all hash buckets or one of them; `keys` for IN lists.
    Key { keys: f64, time_buckets: f64, all_hash_buckets: bool },
    /// Every partition on every node.
    Everything,
}

/// The tables of a review, in its order.
pub fn tables(review: &Review, settings: &Settings) -> Vec<TableModel> {
    let mut models: Vec<TableModel> = Vec::new();
    for (at, (table, facts)) in review.catalogue.tables.iter().zip(&review.facts).enumerate() {
        let base = match &table.kind {
            TableKind::View { base } => models.iter().find(|m| m.name == *base).map(|m| m.rows),
            TableKind::Base => None,
        };
        models.push(model(review, settings, at, table, facts, base));
    }
    models
}

fn model(
    review: &Review,
    settings: &Settings,
    at: usize,
    table: &Table,
    facts: &Facts,
    base: Option<Rows>,
) -> TableModel {
    let mut assumptions = Vec::new();
    let row_bytes = facts.growth.row_bytes;
    if facts.numbers.row_bytes.is_none() {
        assumptions.push(format!(
            "a row is {}, estimated from its types; declare row_bytes",
            units::bytes(row_bytes)
        ));
    }
    let kept =
        table.default_ttl_days.or(facts.numbers.retention_days).unwrap_or(f64::INFINITY).min(settings.days);
    let grain = facts.time_bucket;
    let by_server = table.bucketing.as_ref();
    let bucket_days = by_server
        .and_then(|plan| plan.time.as_ref().map(|time| time.days))
        .or_else(|| grain.map(|grain| grain.days().unwrap_or(1.0)));
    let time_buckets = bucket_days.map_or(1, |days| (kept / days).ceil().max(1.0) as u64);
    let served = by_server.and_then(|plan| plan.hash.as_ref()).map(|hash| u64::from(hash.into));
    let hash_buckets = match (served, facts.hash_bucket, facts.numbers.buckets) {
        (Some(into), ..) => into,
        (None, false, _) => 1,
        (None, true, Some(buckets)) => (buckets as u64).clamp(1, 65_536),
        (None, true, None) => {
            assumptions.push(format!("{HASH_BUCKETS} hash buckets; declare buckets"));
            HASH_BUCKETS
        }
    };
    let (shape, named, outer_column) = shape(settings, table, facts, &mut assumptions);
    let mut model = TableModel {
        table: at,
        name: table.name.clone(),
        shape,
        named,
        outer_column,
        grain,
        time_buckets,
        hash_buckets,
        rows: Rows::OnePerKey,
        row_bytes,
        kept_days: kept,
        operations: Vec::new(),
        assumptions,
    };
    if !table.clustering.is_empty() {
        model.rows = rows(&mut model, review, facts, kept, base);
    }
    let views = review.catalogue.tables.iter();
    let views = views.filter(|t| matches!(&t.kind, TableKind::View { base } if *base == table.name)).count();
    for access in review.catalogue.accesses_of(at).filter(|a| a.pattern.is_some() || a.is_read()) {
        model.operations.push(operation(access, table, &model, views));
    }
    model
}

/// Tenants and keys: what the files declare, what the names make certain, else what the settings say.
fn shape(
    settings: &Settings,
    table: &Table,
    facts: &Facts,
    assumptions: &mut Vec<String>,
) -> (Shape, Vec<String>, Option<usize>) {
    let logical: Vec<usize> = table
        .partition
        .iter()
        .copied()
        .filter(|at| table.columns.get(*at).is_some_and(|c| !c.meaning.is_bucket()))
        .collect();
    let column = |at: &usize| table.columns.get(*at);
    let named_column = logical.iter().copied().find(|at| {
        column(at)
            .is_some_and(|c| settings.large.iter().any(|l| l.column.as_deref() == Some(c.name.as_str())))
    });
    let tenant = logical.iter().copied().find(|at| column(at).is_some_and(|c| is_tenant(&c.name)));
    let outer = named_column.or(tenant);
    let large: Vec<_> = settings
        .large
        .iter()
        .filter(|l| match (&l.column, outer.and_then(|at| column(&at))) {
            (Some(name), Some(c)) => c.name == *name,
            (None, Some(c)) => is_tenant(&c.name),
            (_, None) => false,
        })
        .collect();
    let few: Option<u64> = logical
        .iter()
        .filter(|at| Some(**at) != outer)
        .map(|at| match column(at).map(|c| c.meaning) {
            Some(Meaning::Few(values)) => Some(u64::from(values)),
            _ => None,
        })
        .try_fold(1u64, |product, values| Some(product.saturating_mul(values?)));
    let declared = facts.numbers.partitions.filter(|n| *n >= 1.0).map(|n| n as u64);
    let mut assumed = |text: String| assumptions.push(text);
    let outer_keys = |inner_only: bool| {
        if inner_only && let Some(keys) = declared {
            return keys;
        }
        match tenant == outer {
            true => settings.tenants,
            false => settings.keys,
        }
    };
    let (outer_count, inner) = match (outer, few) {
        // Nothing but buckets: one key for everything.
        (None, _) if logical.is_empty() => (1, Inner::One),
        (None, Some(values)) => {
            assumed(format!("the key has {values} values at most"));
            (declared.unwrap_or(values), Inner::One)
        }
        (None, None) => {
            if declared.is_none() {
                assumed(format!("{} keys; declare partitions", units::count(settings.keys as f64)));
            }
            (declared.unwrap_or(settings.keys), Inner::One)
        }
        (Some(_), _) if logical.len() == 1 => (outer_keys(true), Inner::One),
        (Some(_), Some(values)) => (outer_keys(false), Inner::Each(values)),
        (Some(_), None) => {
            if declared.is_none() {
                let keys = units::count(settings.keys as f64);
                assumed(format!("{keys} keys over all tenants; declare partitions"));
            }
            (outer_keys(false), Inner::Total(declared.unwrap_or(settings.keys)))
        }
    };
    let shape = Shape {
        named: large.iter().map(|l| l.share).collect(),
        outer: outer_count.max(1),
        inner,
        exponent: settings.zipf,
    };
    let names = large.iter().map(|l| l.name.clone()).collect();
    (shape, names, outer.or(logical.first().copied()))
}

/// All rows of the table at scale 1, with the sentence that says where the number comes from.
fn rows(model: &mut TableModel, review: &Review, facts: &Facts, kept: f64, base: Option<Rows>) -> Rows {
    let numbers = &facts.numbers;
    // Named keys come on top of what is declared for the others.
    let on_top = 1.0 - model.shape.named.iter().sum::<f64>();
    let keys = model.shape.keys() - model.shape.named.len() as f64;
    if let Some(rate) = numbers.rows_per_day {
        return Rows::Total(rate * kept * keys.max(1.0) / on_top);
    }
    let anchors = [(0.5, numbers.rows_p50), (0.99, numbers.rows_p99), (1.0, numbers.rows_max)];
    if let Some((quantile, rows)) = anchors.into_iter().find_map(|(q, rows)| Some((q, rows?))) {
        let others = Shape { named: Vec::new(), ..model.shape.clone() };
        let weight = others.populate(ANCHOR_KEYS_MAX).weight_at(quantile);
        // Where the server makes the buckets, what is declared is of the key that statements name.
        let by_server = review.catalogue.tables.get(model.table).is_some_and(|t| t.bucketing.is_some());
        let partitions = if by_server { 1.0 } else { (model.time_buckets * model.hash_buckets) as f64 };
        return Rows::Total(rows * partitions / weight.max(1e-300) / on_top);
    }
    if let Some(base) = base {
        model.assumptions.push("a view has the rows of its table".into());
        return base;
    }
    let inserts = review.catalogue.accesses_of(model.table).filter(|a| a.verb == Verb::Insert);
    if let Some(rate) = inserts.filter_map(|a| a.numbers.peak_rate).reduce(f64::max) {
        model.assumptions.push(format!(
            "rows come from the declared inserts: {}/s at peak, a third of that on average",
            units::count(rate)
        ));
        return Rows::Total(rate / PEAK_TO_AVERAGE * 86_400.0 * kept);
    }
    let (per_key, what) = if facts.is_history {
        let rate = growth::assumed_rate(facts) / 10.0;
        (rate * kept, format!("{} rows a day for each key; declare rows_per_day", units::count(rate)))
    } else {
        (THINGS_PER_KEY, format!("{THINGS_PER_KEY} rows for each key; declare rows_per_partition"))
    };
    model.assumptions.push(what);
    Rows::Total(per_key * keys.max(1.0) / on_top)
}

fn operation(access: &Access, table: &Table, model: &TableModel, views: usize) -> Operation {
    let name = access.pattern.clone().unwrap_or_else(|| short(&access.statement.to_string()));
    let limit = match access.limit {
        Limit::Rows(rows) => Some(rows as f64),
        Limit::None | Limit::Marker => None,
    };
    Operation {
        name,
        is_read: access.is_read(),
        is_insert: access.verb == Verb::Insert,
        rate: access.numbers.peak_rate,
        reach: reach(access, table, model),
        limit,
        hot_share: access.numbers.hot_share,
        copies: if access.is_read() { 0 } else { views },
    }
}

fn reach(access: &Access, table: &Table, model: &TableModel) -> Reach {
    let values_of = |column: &Column| -> Option<f64> {
        let given = access.assigned.iter().any(|(name, _)| *name == column.name);
        match access.point(&column.name) {
            Some(point) if point.op == RelationOp::In => Some(point.values.map_or(IN_VALUES, |n| n as f64)),
            Some(_) => Some(1.0),
            None if given && !access.is_read() => Some(1.0),
            None => None,
        }
    };
    let (mut keys, mut buckets) = (1.0, None);
    for column in table.partition_columns() {
        let Some(values) = values_of(column) else { return Reach::Everything };
        match column.meaning {
            Meaning::TimeBucket(_) => buckets = Some(values),
            Meaning::HashBucket => {}
            _ => keys *= values,
        }
    }
    let by_server = table.bucketing.as_ref().and_then(|plan| plan.time.as_ref()).map(|time| time.days);
    let grain_days = by_server.or_else(|| model.grain.and_then(Grain::days)).unwrap_or(1.0);
    let lookback = access.numbers.lookback_days.map(|days| (days / grain_days).ceil().max(1.0));
    let time_buckets = buckets.unwrap_or(1.0).max(lookback.filter(|_| model.grain.is_some()).unwrap_or(1.0));
    let time_buckets = time_buckets.min(model.time_buckets as f64);
    // One bucket is enough when the whole row is named: its hash tells which.
    let names_row =
        table.clustering_columns().all(|c| values_of(c) == Some(1.0)) && !table.clustering.is_empty();
    Reach::Key { keys, time_buckets, all_hash_buckets: access.is_read() && !names_row }
}

pub fn is_tenant(name: &str) -> bool {
    any_word(
        &words(name),
        &["tenant", "org", "organization", "organisation", "workspace", "agency", "company"],
    )
}

fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(48).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}
