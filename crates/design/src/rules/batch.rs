//! `batch-misuse`: a multi-partition batch for speed; a batch past the limits.

use super::{Context, Rule};
use crate::catalogue::{Access, BatchUse, Table};
use crate::finding::{Finding, Findings, Severity};
use crate::growth;
use crate::units;
use cql_syntax::ast::{BatchKind, ExprKind, InsertSource, Operand, Statement, Subject};
use std::collections::HashSet;

pub static RULE: Rule = Rule {
    id: "batch-misuse",
    title: "a multi-partition batch for speed; a batch past the limits",
    why: "A batch is for atomicity, not for speed: one coordinator holds it all, waits for the slowest partition and, if logged, writes it twice. \
          Independent rows go faster as single asynchronous statements. Servers refuse batches past 50 KB.",
    bad: "BEGIN UNLOGGED BATCH\n  INSERT INTO readings (sensor_id, ts, value) VALUES (1, ?, ?);\n  INSERT INTO readings (sensor_id, ts, value) VALUES (2, ?, ?);\nAPPLY BATCH;",
    good: "BEGIN BATCH\n  INSERT INTO orders_by_customer (customer_id, order_id) VALUES (?, ?);\n  INSERT INTO orders_by_product (product_id, order_id) VALUES (?, ?);\nAPPLY BATCH;",
    seen: "BarisAI/distributed-cinema-reservation-cassandra writes the copies of one reservation in a logged batch: what a \
           batch is for.",
    check,
};

const WARN_BYTES: f64 = 5e3;
const FAIL_BYTES: f64 = 50e3;
const STATEMENTS_MAX: usize = 100;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for batch in &context.catalogue.batches {
        let members: Vec<(&Access, Option<&Table>)> = batch
            .accesses
            .iter()
            .filter_map(|at| context.catalogue.accesses.get(*at))
            .map(|access| (access, context.catalogue.table(access)))
            .collect();
        if let Some((severity, message)) = size(&members).or_else(|| partitions(batch, &members)) {
            let table = members.iter().find_map(|(_, table)| *table);
            findings.push(Finding {
                rule: RULE.id,
                severity,
                keyspace: table.and_then(|t| t.keyspace.clone()),
                table: table.map(|t| t.name.clone()),
                pattern: None,
                place: batch.place,
                message,
                fix: members
                    .iter()
                    .map(|(access, _)| format!("{};", access.statement))
                    .collect::<Vec<_>>()
                    .join("\n"),
            });
        }
    }
}

fn size(members: &[(&Access, Option<&Table>)]) -> Option<(Severity, String)> {
    let bytes: f64 = members.iter().map(|(_, table)| table.map_or(100.0, growth::row_bytes)).sum();
    let too_many = members.len() > STATEMENTS_MAX;
    if bytes <= FAIL_BYTES && !too_many {
        let warn = bytes > WARN_BYTES && members.len() > 10;
        return warn.then(|| {
            (
                Severity::Warning,
                format!(
                    "{} statements are about {}, past the {} from which servers warn",
                    members.len(),
                    units::bytes(bytes),
                    units::bytes(WARN_BYTES)
                ),
            )
        });
    }
    Some((
        Severity::Error,
        format!(
            "{} statements are about {}, past the {} or {STATEMENTS_MAX} statements that a batch may have",
            members.len(),
            units::bytes(bytes),
            units::bytes(FAIL_BYTES)
        ),
    ))
}

/// The partition a write goes to, as text; none when its table or key is unknown.
///
/// A table without clustering has one row per partition, so two writes are two partitions even with bind markers: nobody
/// writes the same row twice in one batch.
fn partition(number: usize, access: &Access, table: Option<&Table>) -> Option<(String, bool)> {
    let table = table?;
    let mut text = table.name.clone();
    let mut certain = true;
    for column in table.partition_columns() {
        let value = value_of(access, &column.name)?;
        let alone = table.clustering.is_empty() && value == "?";
        let fresh = matches!(value.as_str(), "uuid()" | "now()");
        certain &= value != "?" || alone;
        text.push('|');
        text.push_str(&value);
        if alone || fresh {
            text.push_str(&format!("#{number}"));
        }
    }
    Some((text, certain))
}

/// The expression given to a column, printed; a positional marker is `?` and may be anything.
fn value_of(access: &Access, column: &str) -> Option<String> {
    let print = |expr: &cql_syntax::ast::Expr| match &expr.kind {
        ExprKind::Marker(marker) if marker.name.is_none() => "?".to_string(),
        _ => expr.to_string(),
    };
    match &access.statement {
        Statement::Insert(insert) => match &insert.source {
            InsertSource::Values { columns, values } => {
                columns.iter().position(|c| c.name == column).and_then(|at| values.get(at)).map(print)
            }
            InsertSource::Json { .. } => None,
        },
        Statement::Update(update) => relation(&update.relations, column).map(print),
        Statement::Delete(delete) => relation(&delete.relations, column).map(print),
        _ => None,
    }
}

fn relation<'r>(
    relations: &'r [cql_syntax::ast::Relation],
    column: &str,
) -> Option<&'r cql_syntax::ast::Expr> {
    relations.iter().find_map(|r| match (&r.subject, &r.operand) {
        (Subject::Column(c), Operand::One(value)) if c.name == column => Some(value),
        _ => None,
    })
}

fn partitions(batch: &BatchUse, members: &[(&Access, Option<&Table>)]) -> Option<(Severity, String)> {
    let tables: HashSet<&str> = members.iter().map(|(access, _)| access.table_name.as_str()).collect();
    let known: Vec<(String, bool)> =
        members.iter().enumerate().filter_map(|(n, (access, table))| partition(n, access, *table)).collect();
    let distinct: HashSet<&str> =
        known.iter().filter(|(_, certain)| *certain).map(|(text, _)| text.as_str()).collect();
    let several = distinct.len().max(tables.len());
    let open = known.iter().filter(|(_, certain)| !certain).count();
    let message = |n: String, doubt: &str| {
        format!(
            "the batch writes {n} partitions through one coordinator, which waits for the slowest of them{doubt}; single statements in parallel are faster"
        )
    };
    match batch.kind {
        BatchKind::Unlogged | BatchKind::Counter if several > 1 => {
            let severe = several >= 5 || batch.kind == BatchKind::Unlogged && tables.len() == 1;
            Some((if severe { Severity::Error } else { Severity::Warning }, message(several.to_string(), "")))
        }
        BatchKind::Unlogged if open >= 3 && tables.len() == 1 => Some((
            Severity::Warning,
            message(format!("up to {open}"), " unless all rows share the partition key"),
        )),
        // A logged batch over the copies of one fact is what it is for; over many rows of one table it is not.
        BatchKind::Logged if tables.len() == 1 && distinct.len() >= 3 => Some((
            if distinct.len() >= 10 { Severity::Error } else { Severity::Warning },
            message(distinct.len().to_string(), ", and is logged twice"),
        )),
        BatchKind::Logged if tables.len() == 1 && open >= 10 => Some((
            Severity::Warning,
            message(format!("up to {open}"), " unless all rows share the partition key"),
        )),
        _ => None,
    }
}
