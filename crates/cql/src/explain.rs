//! EXPLAIN: what a statement touches, how, and what would make it cheaper. Runs nothing (EXPLAIN ANALYZE does: `analyze`).
//!
//! The answer is two text columns, `property` and `value`. A SELECT that would be refused for want of
//! ALLOW FILTERING is explained as if it had it, and the answer says so.

use crate::CqlError;
use crate::bind::{Scope, markers::Markers, select, write};
use cql_syntax::ast::{Explain, Select, Statement};
use database::shape::Class;
use model::lists::VECTORS_MIN;
use model::types::{DataType, quote_identifier};
use query::restrict::{ClusteringRestriction, PartitionRestriction, Restrictions, Terms};
use query::select::{IndexPath, NearPath, SelectPlan, Source};
use query::spec::put_value;
use query::write::{ConditionPlan, Keys, WritePlan};
use query::{ColumnSpec, Rows};
use schema::{Column, LagRule, Table};

/// An explained statement.
pub struct ExplainPlan {
    pub(crate) lines: Vec<(&'static str, String)>,
}

pub fn bind(scope: Scope<'_>, explain: &Explain, markers: &mut Markers) -> Result<ExplainPlan, CqlError> {
    let mut plan = ExplainPlan { lines: Vec::new() };
    match &*explain.statement {
        Statement::Select(statement) => plan.select(scope, statement, markers)?,
        Statement::Insert(statement) => plan.write(scope, &write::bind_insert(scope, statement, markers)?),
        Statement::Update(statement) => plan.write(scope, &write::bind_update(scope, statement, markers)?),
        Statement::Delete(statement) => plan.write(scope, &write::bind_delete(scope, statement, markers)?),
        Statement::Batch(batch) => {
            let bound = write::bind_batch(scope, batch, markers)?;
            plan.say("statement", format!("BATCH of {} statements, one commit", bound.statements.len()));
            bound.statements.iter().for_each(|statement| plan.write(scope, statement));
        }
        _ => return Err(CqlError::invalid("EXPLAIN takes SELECT, INSERT, UPDATE, DELETE or BATCH")),
    }
    Ok(plan)
}

pub fn execute(plan: &ExplainPlan) -> Rows {
    rows(&plan.lines)
}

pub(crate) fn rows(lines: &[(&'static str, String)]) -> Rows {
    let column = |name: &str| ColumnSpec {
        keyspace: "system".into(),
        table: "explain".into(),
        name: name.into(),
        data_type: DataType::Text,
    };
    let mut rows = Rows::empty(vec![column("property"), column("value")].into());
    for (property, value) in lines {
        put_value(&mut rows.body, Some(property.as_bytes()));
        put_value(&mut rows.body, Some(value.as_bytes()));
        rows.count += 1;
    }
    rows
}

impl ExplainPlan {
    fn say(&mut self, property: &'static str, value: impl Into<String>) {
        self.lines.push((property, value.into()));
    }

    fn select(
        &mut self,
        scope: Scope<'_>,
        statement: &Select,
        markers: &mut Markers,
    ) -> Result<(), CqlError> {
        let refused = statement.allow_filtering.is_none();
        let (plan, refused) = match select::bind(scope, statement, markers) {
            Ok(plan) => (plan, false),
            Err(CqlError::Invalid(text)) if refused && text.contains("ALLOW FILTERING") => {
                let allowed = Select { allow_filtering: Some(statement.span), ..statement.clone() };
                (select::bind(scope, &allowed, markers)?, true)
            }
            Err(error) => return Err(error),
        };
        self.say("statement", "SELECT");
        self.say("table", table_name(&plan.table));
        self.say("class", select_class(&plan).word());
        self.say("partitions", read_partitions(&plan));
        self.say("path", read_path(&plan));
        if let Some(choice) = choice(&plan) {
            self.say("choice", choice);
        }
        if !plan.filters.is_empty() {
            let columns: Vec<&str> = plan.filters.iter().map(|f| f.column.as_str()).collect();
            self.say("filter", format!("rows are read and then tested on {}", columns.join(", ")));
        }
        self.say("order", order_text(&plan));
        if let Some(grouping) = &plan.grouping {
            self.say(
                "aggregation",
                match grouping.keys.is_empty() {
                    true => "every row read becomes part of one result row",
                    false => "rows with equal GROUP BY values become one result row",
                },
            );
        }
        if refused {
            self.say("refused", "without ALLOW FILTERING this statement is refused");
        }
        plan.warnings.iter().for_each(|warning| self.say("advice", warning.clone()));
        if let Some(advice) = advice(&plan) {
            self.say("advice", advice);
        }
        Ok(())
    }

    fn write(&mut self, scope: Scope<'_>, plan: &WritePlan) {
        self.say("statement", plan.kind.name());
        self.say("table", table_name(&plan.table));
        match &plan.keys {
            Keys::Values { .. } => {
                self.say("class", Class::Single.word());
                self.say("partitions", "1");
                let row = if plan.statics_only { "the static row" } else { "one row" };
                self.say("path", format!("writes {row}"));
            }
            Keys::Where(restrictions) => {
                let single = restrictions.partitions.is_single();
                self.say("class", if single { Class::Single } else { Class::Bounded }.word());
                self.say("partitions", partitions_text(restrictions));
                let rows = match (
                    plan.statics_only,
                    restrictions.names_rows(),
                    restrictions.clustering.is_empty(),
                ) {
                    (true, ..) => "writes the static row",
                    (false, true, _) => "writes the rows its key names",
                    (false, false, true) => "deletes whole partitions with one marker each",
                    (false, false, false) => "deletes ranges of rows with one marker each",
                };
                self.say("path", rows);
            }
        }
        if let Some(condition) = &plan.condition {
            let what = match condition {
                ConditionPlan::NotExists => "IF NOT EXISTS",
                ConditionPlan::Exists => "IF EXISTS",
                ConditionPlan::Columns(_) => "IF conditions",
            };
            self.say("condition", format!("{what}: one read and one write under the partition's lock"));
        }
        if plan.is_counter() {
            self.say("condition", "counters: one read and one write under the partition's lock");
        }
        self.copies(scope, plan);
    }

    /// The indexes, views and projections that the write changes too, each with what that costs.
    fn copies(&mut self, scope: Scope<'_>, plan: &WritePlan) {
        let table = &plan.table;
        let is_key = |name: &str| {
            table.partition_key.iter().chain(&table.clustering).any(|column| &*column.name == name)
        };
        let writes =
            |name: &str| plan.assignments.is_empty() || plan.assignments.iter().any(|a| &*a.name == name);
        let indexes = table.indexes.iter();
        for index in indexes.filter(|index| is_key(&index.column) || writes(&index.column)) {
            let what =
                format!("index {} on {}", quote_identifier(&index.name), quote_identifier(&index.column));
            self.say("copy", format!("{what}: one entry; a former one is removed by reading the row first"));
        }
        let Some(keyspace) = scope.catalogue.keyspace(&table.keyspace) else { return };
        for view in keyspace.views_of(table) {
            let totals = view.totals();
            let made_of = |column: &Column| totals.is_some_and(|totals| totals.needs(column.id));
            let has = |name: &str| match totals {
                Some(_) => {
                    let filters = view.view.iter().flat_map(|view| &view.restrictions);
                    view.primary_key().any(|key| *key.name == *name)
                        || table.column(name).is_some_and(made_of)
                        || filters.flat_map(|filter| &filter.columns).any(|column| **column == *name)
                }
                None => view.column(name).is_some(),
            };
            if !plan.assignments.is_empty() && !plan.assignments.iter().any(|a| has(&a.name)) {
                continue;
            }
            let kind = view.view.as_ref().and_then(|view| view.projection.as_ref());
            let kind = if kind.is_some() { "projection" } else { "materialized view" };
            let key: Vec<String> =
                view.partition_key.iter().map(|column| quote_identifier(&column.name).to_string()).collect();
            if let Some(totals) = totals {
                let lists = totals.sorted().len();
                self.say(
                    "copy",
                    format!(
                        "projection {}: totals by ({}): the row as it was, one member and {lists} places in sorted lists, the group's row \
                         read and written under the lock of its group; a row that changes its group does so for both",
                        quote_identifier(&view.name),
                        key.join(", ")
                    ),
                );
                continue;
            }
            if let Some(later) = view.later() {
                let rule = match later.on_lag {
                    LagRule::Wait => "the write waits while it is further behind",
                    LagRule::Refuse => "the write is refused while it is further behind",
                    LagRule::Late => "the write goes on if it is further behind",
                };
                self.say(
                    "copy",
                    format!(
                        "{kind} {}: later, within {}; the write leaves one small entry in its commit, reads nothing and takes no lock; {rule}",
                        quote_identifier(&view.name),
                        view.freshness()
                    ),
                );
                continue;
            }
            self.say(
                "copy",
                format!(
                    "{kind} {}: reads the row as it was, under the partition's lock; one row by ({}), and a deletion where it was \
                     if its key changes",
                    quote_identifier(&view.name),
                    key.join(", ")
                ),
            );
        }
    }
}

fn table_name(table: &Table) -> String {
    format!("{}.{}", quote_identifier(&table.keyspace), quote_identifier(&table.name))
}

pub(crate) fn select_class(plan: &SelectPlan) -> Class {
    match &plan.restrictions.partitions {
        PartitionRestriction::Range(_) if plan.index.is_some() || near(plan).is_some() => Class::Index,
        PartitionRestriction::Range(_) => Class::Unbounded,
        partitions if partitions.is_single() => Class::Single,
        PartitionRestriction::Keys { .. } | PartitionRestriction::Entities { .. } => Class::Bounded,
    }
}

fn partitions_text(restrictions: &Restrictions) -> String {
    match &restrictions.partitions {
        PartitionRestriction::Range(tokens) if tokens.is_all() => "all".into(),
        PartitionRestriction::Range(_) => "all in the token range".into(),
        PartitionRestriction::Keys { columns, .. } => match combinations(columns) {
            Some(count) => count.to_string(),
            None => "one per value bound to IN".into(),
        },
        PartitionRestriction::Entities { columns } => buckets_text(restrictions, combinations(columns)),
    }
}

/// How many keys the columns name together; `None` when values decide.
fn combinations(columns: &[Terms]) -> Option<usize> {
    let count = |terms: &Terms| match terms {
        Terms::One(_) => Some(1),
        Terms::List(items) => Some(items.len()),
        Terms::ListValue { .. } => None,
    };
    columns.iter().map(count).product()
}

/// How many partitions of a bucketed table at most.
fn buckets_text(restrictions: &Restrictions, entities: Option<usize>) -> String {
    let table = &restrictions.table;
    let Some(plan) = table.bucketing() else { return "1".into() };
    let pinned = |at: usize| {
        let mut first = 0;
        restrictions.clustering.steps.iter().any(|step| {
            let here = (first..first + step.columns).contains(&at) && step.terms.is_equality();
            first += step.columns;
            here
        })
    };
    let hashes = plan.hash.as_ref().map_or(1, |hash| if pinned(hash.by) { 1 } else { hash.into as usize });
    let each = match &plan.time {
        None => None,
        Some(time) if pinned(time.by) => None,
        Some(time) => {
            let name = &table.clustering[time.by].name;
            let bounded = restrictions.clustering.range.is_some() || !restrictions.clustering.is_empty();
            let range = if bounded { " that the restrictions leave" } else { "" };
            let finer = plan.spill.as_ref().map(|spill| format!(" ({} where it has spilled)", spill.every));
            let finer = finer.unwrap_or_default();
            Some(format!("each bucket of {}{finer} of {name} that the entity has{range}", time.every))
        }
    };
    let several = match (entities, each.is_some()) {
        (Some(count), _) => (count * hashes).to_string(),
        (None, _) => format!("{hashes} for each value bound to IN"),
    };
    match each {
        None => format!("{several} at most"),
        Some(each) => format!("{several} for {each}, at most"),
    }
}

/// The index that leads to the rows near a vector.
fn near(plan: &SelectPlan) -> Option<&NearPath> {
    plan.ann.as_ref()?.near.as_ref()
}

fn read_partitions(plan: &SelectPlan) -> String {
    let partitions = partitions_text(&plan.restrictions);
    if near(plan).is_some() {
        return "those the index leads to".into();
    }
    match (&plan.index, &plan.restrictions.partitions) {
        (Some(_), PartitionRestriction::Range(tokens)) if tokens.is_all() => {
            "those the index leads to".into()
        }
        (Some(_), PartitionRestriction::Range(_)) => "those the index leads to in the token range".into(),
        _ => partitions,
    }
}

fn read_path(plan: &SelectPlan) -> String {
    let restrictions = &plan.restrictions;
    let scans = matches!(restrictions.partitions, PartitionRestriction::Range(_));
    let rows = if plan.distinct {
        "the first row of each partition, for its key and static columns".to_string()
    } else if restrictions.names_rows() && !restrictions.table.clustering.is_empty() {
        "the rows their full key names".to_string()
    } else if restrictions.clustering.is_empty() {
        match restrictions.table.clustering.is_empty() {
            true => "the row".to_string(),
            false => "every row".to_string(),
        }
    } else {
        format!("a slice of rows by {}", clustering_columns(&restrictions.table, &restrictions.clustering))
    };
    if let Some(index) = &plan.index {
        let rows = if index.whole_partitions { rows } else { "the rows".into() };
        return format!("{}, then {rows} they lead to, one read for each partition", entries(index, scans));
    }
    if let Some(near) = near(plan) {
        return format!(
            "index {}: the entries of the nearest {} of {} lists, then the rows that the best of them lead to; more lists while too few rows \
             pass the conditions",
            quote_identifier(&near.name),
            near.lists_first(),
            near.lists.count()
        );
    }
    match scans {
        true => format!("scan: {rows} of every partition, in token order"),
        false => format!("key: {rows} of each partition"),
    }
}

/// What of the indexes is read.
fn entries(index: &IndexPath, scans: bool) -> String {
    let name = |index: &IndexPath| quote_identifier(&index.name).to_string();
    let each = if scans { "" } else { " and each key" };
    if !index.beside.is_empty() {
        let names: Vec<String> = index.all().map(name).collect();
        return format!("indexes {}: the places that their entries{each} have in common", names.join(", "));
    }
    match (index.is_range(), index.config.sorted && scans) {
        (true, _) => format!(
            "index {}: its entries in the range, sorted by token in each of {} slices of the ring",
            name(index),
            index.config.slices().count()
        ),
        (false, true) => format!(
            "index {}: its entries for the value in each of {} slices of the ring",
            name(index),
            index.config.slices().count()
        ),
        (false, false) => format!("index {}: its entries for the value{each}", name(index)),
    }
}

/// How it is decided which indexes lead, where that is known only when values are there.
fn choice(plan: &SelectPlan) -> Option<String> {
    if plan.ann.is_some() {
        return Some(near_or_not(plan));
    }
    let index = plan.index.as_ref()?;
    let is_sorted = index.all().any(|index| index.config.sorted);
    let parts = if is_sorted { "each slice of the ring" } else { "the table" };
    if !index.beside.is_empty() {
        return Some(format!(
            "by counting at execution: in {parts} the entries of each index are read in turn (64, then 512, 4096, 32768 of each) until              one is at its end; it and those that ended with it lead, the others are only tested. EXPLAIN ANALYZE tells which did"
        ));
    }
    index.is_range().then(|| {
        format!(
            "index {} is the only one that serves a relation; a slice of which the range has very many entries is read whole",
            quote_identifier(&index.name)
        )
    })
}

/// Why an order by similarity is approximate, or exact.
fn near_or_not(plan: &SelectPlan) -> String {
    if let Some(near) = near(plan) {
        return format!(
            "approximate: the lists of index {} were made for {} vectors, and not all of them are read",
            quote_identifier(&near.name),
            near.lists.vectors()
        );
    }
    let source = plan.ann.as_ref().and_then(|ann| plan.inputs.get(ann.slot)).map(|input| &input.source);
    let (table, mut indexes) =
        (&plan.table, plan.table.indexes.iter().filter(|index| index.is_storage_attached()));
    let is_source =
        |column: &&Column| matches!(source, Some(Source::Cell(place)) if place.column == column.id);
    let column = table.statics.iter().chain(&table.regulars).find(is_source);
    let why = match indexes.find(|index| column.is_some_and(|column| column.name == index.column)) {
        _ if plan.index.is_some() => "the rows that an index leads to by the conditions".to_string(),
        _ if !matches!(plan.restrictions.partitions, PartitionRestriction::Range(_)) => {
            "the rows of the partitions that are named".into()
        }
        None => "every row, because the vector has no index".into(),
        Some(index) if !index.built => {
            format!("every row, because index {} is being built", quote_identifier(&index.name))
        }
        Some(index) => format!(
            "every row, because index {} has no lists: it was built when the table had fewer than {VECTORS_MIN} vectors",
            quote_identifier(&index.name)
        ),
    };
    format!("exact: compares {why}")
}

fn clustering_columns(table: &Table, clustering: &ClusteringRestriction) -> String {
    let range = clustering.range.as_ref().map_or(0, |range| {
        let columns = |b: &Option<query::restrict::RangeBound>| b.as_ref().map_or(0, |b| b.columns);
        columns(&range.start).max(columns(&range.end))
    });
    let count = clustering.columns_restricted() + range;
    table.clustering.iter().take(count).map(|c| &*c.name).collect::<Vec<_>>().join(", ")
}

fn order_text(plan: &SelectPlan) -> &'static str {
    if plan.ann.is_some() {
        return "the most similar first";
    }
    match (plan.merge_columns.is_some(), plan.reverse) {
        (true, false) => "partitions merged by clustering order",
        (true, true) => "partitions merged by reversed clustering order",
        (false, true) => "reversed clustering order (as cheap as forwards)",
        (false, false) => "as stored",
    }
}

/// What would make a scan cheaper, where no filter said it already.
fn advice(plan: &SelectPlan) -> Option<String> {
    let scans = matches!(plan.restrictions.partitions, PartitionRestriction::Range(_));
    if !scans || !plan.warnings.is_empty() || plan.table.is_virtual() {
        return None;
    }
    if near(plan).is_some() {
        return None;
    }
    if let Some(index) = &plan.index {
        let column = quote_identifier(&index.column);
        if index.is_range() {
            return Some(format!(
                "every partition costs a read of its own: a table whose clustering key begins with {column} has a range together"
            ));
        }
        return Some(format!(
            "every partition costs a read of its own: a table with {column} in its partition key has the rows of a value \
             together"
        ));
    }
    let key: Vec<String> = plan.table.partition_key.iter().map(|c| format!("{} = ?", c.name)).collect();
    Some(format!("name the partition ({}), or read token ranges in pages", key.join(" AND ")))
}
