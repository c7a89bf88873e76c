//! `refused-statement`: a statement or a table that the server does not take.

use super::{Context, Rule, on_access, on_table};
use crate::catalogue::{Access, Column, Table, Verb};
use crate::finding::{Findings, Severity};
use crate::vocabulary::native;
use cql_syntax::ast::{AssignmentOp, InsertSource, NativeType, Statement, Target};

pub static RULE: Rule = Rule {
    id: "refused-statement",
    title: "a statement or a table that the server does not take",
    why: "The file reads well and fails when it runs: a number that is no counter is incremented, a counter is inserted, a write does not \
          give the whole key, an order is asked for that is not stored. The server says so at the first request; the review says it now.",
    bad: "CREATE TABLE scores (player_id uuid PRIMARY KEY, points int);\nUPDATE scores SET points = points + ? WHERE player_id = ?;",
    good: "CREATE TABLE scores (player_id uuid PRIMARY KEY, points counter);\nUPDATE scores SET points = points + ? WHERE player_id = ?;",
    seen: "BladeStep/life-xp-service adds to int columns (daily_xp = daily_xp + ?), Andevc/log-simulator to an int of blocked addresses: \
           neither statement runs. agarwal-nitesh/Jukebox gives a counter table a TTL, which the server refuses with the table.",
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, _) in context.tables() {
        if let Some((message, fix)) = refused_table(table) {
            findings.push(on_table(&RULE, Severity::Error, table, table.place.span).say(message, fix));
        }
    }
    for (access, _, table, _) in context.accesses() {
        if let Some((message, fix)) = refused(table, access) {
            findings
                .push(on_access(&RULE, Severity::Error, access, table, access.place.span).say(message, fix));
        }
    }
}

fn is_counter(column: &Column) -> bool {
    native(&column.data_type) == Some(NativeType::Counter)
}

fn refused_table(table: &Table) -> Option<(String, String)> {
    if table.is_view() {
        return None;
    }
    let counters = table.regular_columns().filter(|c| is_counter(c)).count();
    let others: Vec<&Column> = table.regular_columns().filter(|c| !is_counter(c)).collect();
    let plain = |draft: crate::fix::Draft| draft.print();
    if counters > 0 && table.default_ttl_days.is_some() {
        let message = format!(
            "{} counts, and counters cannot expire: the server refuses default_time_to_live",
            table.name
        );
        return Some((message, plain(crate::fix::Draft::of(table).without_ttl())));
    }
    if counters > 0 && !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|c| c.name.as_str()).collect();
        let message = format!(
            "{} mixes counters with {}: a table of counters has nothing else outside its key",
            table.name,
            names.join(", ")
        );
        let mut draft = crate::fix::Draft::of(table);
        for column in &others {
            draft = draft.without_column(&column.name);
        }
        return Some((message, plain(draft)));
    }
    let stray = table
        .statement
        .clustering_order()
        .find(|item| !table.clustering_columns().any(|c| c.name == item.column.name));
    stray.map(|item| {
        let message = format!(
            "CLUSTERING ORDER BY names {}, which is no clustering column of {}: the server refuses the table",
            item.column.name, table.name
        );
        (
            message,
            plain(crate::fix::Draft::of(table).clustering_with(&item.column.name, NativeType::Timestamp)),
        )
    })
}

fn refused(table: &Table, access: &Access) -> Option<(String, String)> {
    let title = access.title();
    let counters = table.is_counter();
    if let Statement::Update(update) = &access.statement {
        for assignment in &update.assignments {
            let Target::Column(name) = &assignment.target else { continue };
            let column = table.column(&name.name)?;
            let adds =
                matches!(assignment.op, AssignmentOp::Add | AssignmentOp::Subtract | AssignmentOp::Prepend);
            if adds && !is_counter(column) && !column.is_collection() {
                let message = format!(
                    "{title} adds to {}, which is {} and no counter: the server refuses it",
                    column.name, column.data_type
                );
                return Some((message, counting_table(table, column)));
            }
            if !adds && is_counter(column) {
                let message =
                    format!("{title} sets {}, which is a counter and can only be added to", column.name);
                let set =
                    format!("UPDATE {} SET {c} = {c} + 1", crate::fix::qualified(table), c = column.name);
                return Some((message, format!("{set}{};", where_key(table))));
            }
            if table.partition_columns().chain(table.clustering_columns()).any(|c| c.name == column.name) {
                let message =
                    format!("{title} sets {}, which is part of the key and cannot change", column.name);
                return Some((message, insert_all(table)));
            }
        }
    }
    if let Some(message) = row_not_named(table, access) {
        return Some((message, format!("{}{};", update_of(table, access), where_key(table))));
    }
    if access.verb == Verb::Insert && counters {
        let counter = table.regular_columns().find(|c| is_counter(c))?;
        let message = format!("{title} inserts into a table of counters, which can only be updated");
        let set = format!("UPDATE {} SET {c} = {c} + 1", crate::fix::qualified(table), c = counter.name);
        return Some((message, format!("{set}{};", where_key(table))));
    }
    let Statement::Insert(insert) = &access.statement else { return None };
    let InsertSource::Values { columns, values } = &insert.source else { return None };
    if columns.len() != values.len() {
        let message = format!("{title} names {} columns and gives {} values", columns.len(), values.len());
        return Some((message, insert_all(table)));
    }
    let missing = table
        .partition_columns()
        .chain(table.clustering_columns())
        .find(|c| !columns.iter().any(|given| given.name == c.name))?;
    let only_static = columns.iter().all(|given| {
        table
            .column(&given.name)
            .is_some_and(|c| c.is_static || table.partition_columns().any(|p| p.name == c.name))
    });
    let in_partition = table.partition_columns().any(|c| c.name == missing.name);
    (in_partition || !only_static).then(|| {
        (
            format!("{title} does not give {} of the key: the server refuses it", missing.name),
            insert_all(table),
        )
    })
}

/// An UPDATE changes rows that it names, one by one: it gives the whole key, unless it only sets what is static.
fn row_not_named(table: &Table, access: &Access) -> Option<String> {
    if access.verb != Verb::Update {
        return None;
    }
    let is_static = |name: &String| table.column(name).is_some_and(|c| c.is_static);
    if access.assigned.iter().all(|(name, _)| is_static(name)) {
        return None;
    }
    let whole = table.partition_columns().all(|c| access.point(&c.name).is_some());
    let open = table.clustering_columns().find(|c| access.point(&c.name).is_none())?;
    whole.then(|| {
        format!(
            "{} does not give {} of the key: the server refuses it, since an UPDATE changes rows one by one",
            access.title(),
            open.name
        )
    })
}

/// `UPDATE t SET a = ?, b = ?`, as the statement sets them.
fn update_of(table: &Table, access: &Access) -> String {
    let set: Vec<String> =
        access.assigned.iter().map(|(name, _)| format!("{} = ?", cql_syntax::maybe_quote(name))).collect();
    format!("UPDATE {} SET {}", crate::fix::qualified(table), set.join(", "))
}

/// The table in which the number is a counter, apart from all that is none.
fn counting_table(table: &Table, column: &Column) -> String {
    let mut draft = crate::fix::Draft::of(table).named(&format!("{}_{}", table.name, column.name));
    for other in table.regular_columns() {
        draft = draft.without_column(&other.name);
    }
    draft.with_column(&column.name, NativeType::Counter).print()
}

fn where_key(table: &Table) -> String {
    let columns = table.partition_columns().chain(table.clustering_columns());
    let parts: Vec<String> = columns.map(|c| format!("{} = ?", cql_syntax::maybe_quote(&c.name))).collect();
    format!(" WHERE {}", parts.join(" AND "))
}

fn insert_all(table: &Table) -> String {
    let names: Vec<String> =
        table.columns.iter().map(|c| cql_syntax::maybe_quote(&c.name).to_string()).collect();
    let marks = vec!["?"; names.len()].join(", ");
    format!("INSERT INTO {} ({}) VALUES ({marks});", crate::fix::qualified(table), names.join(", "))
}
