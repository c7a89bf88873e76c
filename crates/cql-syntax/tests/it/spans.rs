//! Every node that a diagnostic may point at knows its place.

use cql_syntax::ast::{
    Condition, CreateTable, Operand, Select, Selection, Statement, Subject, TableChange, TableOption, Update,
};
use cql_syntax::{Span, parse_statement};

#[track_caller]
fn check(text: &str, span: Span, expected: &str) {
    assert_eq!(span.text(text), expected);
}

fn select(text: &str) -> Select {
    match parse_statement(text).unwrap().statement {
        Statement::Select(select) => *select,
        other => panic!("{other:?}"),
    }
}

fn table(text: &str) -> CreateTable {
    match parse_statement(text).unwrap().statement {
        Statement::CreateTable(table) => *table,
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_of_a_select() {
    let text = " SELECT a + b AS c, max(d) FROM ks.t WHERE k = ? AND (c, d) > (1, 2) AND token(k) < 5 \
        GROUP BY a ORDER BY c DESC, d LIMIT 10 ALLOW FILTERING ;";
    let select = select(text);
    check(text, select.span, text.trim().trim_end_matches(" ;"));
    let Selection::Items(items) = &select.selection else { panic!() };
    check(text, items[0].span, "a + b AS c");
    check(text, items[0].expr.span, "a + b");
    check(text, items[1].span, "max(d)");
    check(text, select.table.span(), "ks.t");
    check(text, select.table.name.span, "t");
    check(text, select.relations[0].span, "k = ?");
    check(text, select.relations[1].span, "(c, d) > (1, 2)");
    check(text, select.relations[2].span, "token(k) < 5");
    let Subject::Columns(columns) = &select.relations[1].subject else { panic!() };
    check(text, columns[1].span, "d");
    let Operand::One(value) = &select.relations[1].operand else { panic!() };
    check(text, value.span, "(1, 2)");
    check(text, select.group_by[0].span, "a");
    check(text, select.order_by[0].span, "c DESC");
    check(text, select.order_by[1].span, "d");
    check(text, select.limit.as_ref().unwrap().span, "10");
    check(text, select.allow_filtering.unwrap(), "ALLOW FILTERING");
}

#[test]
fn a_parenthesised_relation_is_without_its_parentheses() {
    let text = "SELECT * FROM t WHERE ((a = 1))";
    check(text, select(text).relations[0].span, "a = 1");
}

#[test]
fn parts_of_a_table() {
    let text = "CREATE TABLE ks.t (\n  a int,\n  \"B\" frozen<list<int>> STATIC,\n  c text MASKED WITH DEFAULT,\n  \
        PRIMARY KEY ((a), c)\n) WITH CLUSTERING ORDER BY (c DESC) AND comment = 'x' AND caching = {'keys': 'ALL'}";
    let table = table(text);
    check(text, table.name.span(), "ks.t");
    check(text, table.columns[0].span, "a int");
    check(text, table.columns[0].name.span, "a");
    check(text, table.columns[1].span, "\"B\" frozen<list<int>> STATIC");
    check(text, table.columns[1].data_type.span, "frozen<list<int>>");
    check(text, table.columns[2].mask.as_ref().unwrap().span, "MASKED WITH DEFAULT");
    check(text, table.primary_keys[0].span, "PRIMARY KEY ((a), c)");
    check(text, table.primary_keys[0].clustering[0].span, "c");
    assert_eq!(table.primary_keys[0].clustering[0].span.position(text).line, 5);
    let TableOption::ClusteringOrder(items, span) = &table.options[0] else { panic!() };
    check(text, *span, "CLUSTERING ORDER BY (c DESC)");
    check(text, items[0].span, "c DESC");
    let properties: Vec<_> = table.properties().collect();
    check(text, properties[0].span, "comment = 'x'");
    check(text, properties[0].value.span(), "'x'");
    check(text, properties[1].value.span(), "{'keys': 'ALL'}");
    assert_eq!(properties[1].value.map().unwrap().collect::<Vec<_>>(), [("keys", "ALL")]);
    assert_eq!(table.clustering_order().count(), 1);
}

#[test]
fn an_inline_primary_key_points_at_its_words() {
    let text = "CREATE TABLE t (a int PRIMARY KEY, b int)";
    let table = table(text);
    check(text, table.primary_keys[0].span, "PRIMARY KEY");
    check(text, table.primary_keys[0].partition[0].span, "a");
    check(text, table.columns[0].span, "a int");
}

#[test]
fn parts_of_an_update() {
    let text = "UPDATE t USING TTL 5 SET a = a + 1, m['k'] = ? WHERE k = 1 IF b = 2 AND u.f IN (1)";
    let Statement::Update(update) = parse_statement(text).unwrap().statement else { panic!() };
    let Update { using, assignments, condition, span, .. } = *update;
    check(text, span, text);
    check(text, using.items[0].span, "TTL 5");
    check(text, assignments[0].span, "a = a + 1");
    check(text, assignments[0].value.span, "1");
    check(text, assignments[1].span, "m['k'] = ?");
    let Some(Condition::Relations(conditions)) = condition else { panic!() };
    check(text, conditions[1].span, "u.f IN (1)");
}

#[test]
fn parts_of_other_statements() {
    let text = "ALTER TABLE t ADD (a int, b text)";
    let Statement::AlterTable(alter) = parse_statement(text).unwrap().statement else { panic!() };
    let TableChange::Add { columns, .. } = alter.change else { panic!() };
    check(text, columns[1].span, "b text");
    let text = "CREATE ACCESS PATTERN p AS SELECT * FROM t WHERE k = :k WITH rate = 5";
    let parsed = parse_statement(text).unwrap();
    check(text, parsed.markers[0].span, ":k");
    let Statement::CreatePattern(pattern) = parsed.statement else { panic!() };
    check(text, pattern.statement_span, "SELECT * FROM t WHERE k = :k");
    check(text, pattern.properties[0].span, "rate = 5");
    let text = "CREATE INDEX ON t (keys(m), b)";
    let Statement::CreateIndex(index) = parse_statement(text).unwrap().statement else { panic!() };
    check(text, index.targets[0].span, "keys(m)");
    let text = "BEGIN BATCH INSERT INTO t (a) VALUES (1) IF NOT EXISTS; APPLY BATCH";
    let Statement::Batch(batch) = parse_statement(text).unwrap().statement else { panic!() };
    check(text, batch.statements[0].span(), "INSERT INTO t (a) VALUES (1) IF NOT EXISTS");
    check(text, batch.span, text);
}
