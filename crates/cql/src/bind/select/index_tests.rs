//! Which statements read through which index, which need ALLOW FILTERING besides, and what the others are told.

use super::bind;
use crate::CqlError;
use crate::bind::Scope;
use crate::bind::markers::Markers;
use crate::explain;
use cql_syntax::ast::Statement;
use model::types::DataType;
use query::select::{SelectPlan, Similarity};
use schema::{
    Catalogue, Column, ColumnKind, Index, IndexKind, IndexPart, Keyspace, Table, TableKind, TableOptions,
};
use std::sync::Arc;

const FILTERING: &str = "refused: Cannot execute this query as it might involve data filtering";
const IN: &str =
    "refused: Select on indexed columns and with IN clause for the PRIMARY KEY are not supported";
const ORDER: &str = "refused: ORDER BY with 2ndary indexes is not supported, except for ANN queries.";

fn column(id: u32, name: &str, data_type: DataType, kind: ColumnKind, position: usize) -> Column {
    Column {
        id,
        name: name.into(),
        data_type,
        kind,
        position,
        descending: false,
        mask: None,
        checks: Vec::new(),
    }
}

fn keys(first: u32, names: &[&str], kind: ColumnKind) -> Vec<Column> {
    let key = |(at, name): (usize, &&str)| column(first + at as u32, name, DataType::Int, kind, at);
    names.iter().enumerate().map(key).collect()
}

/// An index of the local kind, or with `attached` a storage-attached one.
pub(super) fn index(target: &str, attached: bool) -> Index {
    let (part, column) = match target.trim_end_matches(')').split_once('(') {
        Some(("keys", column)) => (IndexPart::Keys, column),
        Some(("values", column)) => (IndexPart::Values, column),
        Some(("entries", column)) => (IndexPart::Entries, column),
        Some((_, column)) => (IndexPart::Full, column),
        None => (IndexPart::Whole, target),
    };
    let mut options: std::collections::BTreeMap<String, String> = Default::default();
    if attached {
        options.insert("class_name".into(), "StorageAttachedIndex".into());
    }
    let kind = if attached { IndexKind::Custom } else { IndexKind::Composites };
    let name = format!("{column}_{}", part_name(part)).into();
    Index {
        name,
        id: 2000,
        column: column.into(),
        part,
        kind,
        options,
        sorted: false,
        changed: false,
        lists: None,
        built: true,
    }
}

/// A storage-attached index whose entries are in the order of their values.
pub(super) fn sorted(target: &str) -> Index {
    Index { sorted: true, ..index(target, true) }
}

fn part_name(part: IndexPart) -> &'static str {
    match part {
        IndexPart::Whole => "idx",
        IndexPart::Keys => "keys",
        IndexPart::Values => "values",
        IndexPart::Entries => "entries",
        IndexPart::Full => "full",
    }
}

/// `((k…), c, d, e)` with `s` static and regular columns of several types.
pub(super) fn table(partition: &[&str], mut indexes: Vec<Index>) -> Table {
    indexes.iter_mut().zip(2000..).for_each(|(index, id)| index.id = id);
    let (int, text) = (DataType::Int, DataType::Text);
    let map = DataType::map(text.clone(), int.clone());
    let list = DataType::list(int.clone());
    let types = [
        ("f", list.clone().freeze()),
        ("l", list),
        ("m", map.clone()),
        ("n", map),
        ("t", text),
        ("v", int.clone()),
        ("vec", DataType::vector(DataType::Float, 2)),
        ("w", int.clone()),
        ("x", int.clone()),
    ];
    let regulars = types.into_iter().zip(2..);
    Table {
        id: 1000,
        uuid: [0; 16],
        keyspace: "ks".into(),
        name: "t".into(),
        kind: TableKind::Stored,
        partition_key: keys(20, partition, ColumnKind::PartitionKey),
        clustering: keys(30, &["c", "d", "e"], ColumnKind::Clustering),
        statics: vec![column(1, "s", int, ColumnKind::Static, 0)],
        regulars: regulars
            .map(|((name, data_type), id)| column(id, name, data_type, ColumnKind::Regular, 0))
            .collect(),
        options: TableOptions::default(),
        dropped: Vec::new(),
        next_column_id: 40,
        incarnation: 0,
        indexes,
        view: None,
        foreign: None,
        compact: None,
        row_ttl: None,
    }
}

fn catalogue(table: &Table) -> Catalogue {
    let keyspace = Keyspace {
        name: "ks".into(),
        replication: Default::default(),
        durable_writes: true,
        review: String::new(),
        patterns_mode: String::new(),
        patterns_allow: Vec::new(),
        tenant: String::new(),
        tenant_limits: Default::default(),
        tables: [(table.name.clone(), Arc::new(table.clone()))].into(),
        types: Default::default(),
        patterns: Default::default(),
        functions: Vec::new(),
        aggregates: Vec::new(),
        notes: Vec::new(),
    };
    let mut catalogue = Catalogue::empty();
    catalogue.keyspaces.insert("ks".into(), Arc::new(keyspace));
    catalogue
}

pub(super) fn plan(table: &Table, statement: &str) -> Result<SelectPlan, CqlError> {
    let catalogue = catalogue(table);
    let parsed = cql_syntax::parse_statement(statement).unwrap();
    let Statement::Select(select) = parsed.statement else { panic!("not a SELECT") };
    let scope = Scope { catalogue: &catalogue, keyspace: Some("ks") };
    bind(scope, &select, &mut Markers::new(0))
}

/// The value that EXPLAIN has for a property, of a SELECT with this WHERE clause.
fn explained(table: &Table, clause: &str, property: &str) -> String {
    let catalogue = catalogue(table);
    let parsed = cql_syntax::parse_statement(&format!("EXPLAIN SELECT * FROM t {clause}")).unwrap();
    let Statement::Explain(explain) = parsed.statement else { panic!("not an EXPLAIN") };
    let scope = Scope { catalogue: &catalogue, keyspace: Some("ks") };
    let rows = explain::execute(&explain::bind(scope, &explain, &mut Markers::new(0)).unwrap());
    let text = |value: Option<&[u8]>| String::from_utf8(value.unwrap_or_default().to_vec()).unwrap();
    let mut rows = rows.values().map(|row| (text(row[0]), text(row[1])));
    rows.find(|(name, _)| name == property).map_or(String::new(), |(_, value)| value)
}

#[test]
fn explain_names_the_index_and_its_cost() {
    let table = table(&["k"], vec![index("v", false), index("s", false), index("w", true)]);
    for (clause, property, expected) in [
        ("WHERE v = 1", "class", "index"),
        ("WHERE v = 1", "partitions", "those the index leads to"),
        (
            "WHERE v = 1",
            "path",
            "index v_idx: its entries for the value, then the rows they lead to, one read for each partition",
        ),
        ("WHERE v = 1", "refused", ""),
        (
            "WHERE v = 1",
            "advice",
            "every partition costs a read of its own: a table with v in its partition key has the rows of a value together",
        ),
        ("WHERE token(k) > 1 AND v = 1", "partitions", "those the index leads to in the token range"),
        (
            "WHERE s = 1",
            "path",
            "index s_idx: its entries for the value, then every row they lead to, one read for each partition",
        ),
        ("WHERE k = 1 AND v = 1", "class", "single partition"),
        (
            "WHERE k = 1 AND v = 1",
            "path",
            "index v_idx: its entries for the value and each key, then the rows they lead to, one read for each partition",
        ),
        ("WHERE v = 1 AND x = 1", "class", "index"),
        ("WHERE v = 1 AND x = 1", "refused", "without ALLOW FILTERING this statement is refused"),
        ("WHERE w > 1", "class", "unbounded"),
        ("WHERE w > 1", "path", "scan: every row of every partition, in token order"),
    ] {
        assert_eq!(explained(&table, clause, property), expected, "{clause}");
    }
}

#[test]
fn explain_tells_which_indexes_are_read_and_how_they_are_chosen() {
    let table = table(&["k"], vec![sorted("v"), sorted("w"), index("t", true), index("values(l)", true)]);
    let several = "by counting at execution: in each slice of the ring";
    for (clause, property, expected) in [
        ("WHERE v > 1 AND v < 9", "class", "index"),
        (
            "WHERE v BETWEEN 1 AND 9",
            "path",
            "index v_idx: its entries in the range, sorted by token in each of 16 slices of the ring, then the rows they lead to, one \
             read for each partition",
        ),
        ("WHERE v > 1", "choice", "index v_idx is the only one that serves a relation"),
        (
            "WHERE v > 1",
            "advice",
            "every partition costs a read of its own: a table whose clustering key begins with v",
        ),
        (
            "WHERE v = 1",
            "path",
            "index v_idx: its entries for the value in each of 16 slices of the ring, then the rows",
        ),
        ("WHERE v = 1", "choice", ""),
        (
            "WHERE v > 1 AND w = 2 AND t = 'a'",
            "path",
            "indexes w_idx, t_idx, v_idx: the places that their entries have in common, then the rows they lead to",
        ),
        ("WHERE v > 1 AND w = 2 AND t = 'a'", "choice", several),
        ("WHERE v > 1 AND w = 2 AND t = 'a'", "refused", ""),
        ("WHERE t = 'a' AND l CONTAINS 1", "choice", "by counting at execution: in the table the entries"),
        ("WHERE k = 1 AND v > 1", "path", "key: every row of each partition"),
        (
            "WHERE k = 1 AND v = 1 AND w = 1",
            "path",
            "indexes v_idx, w_idx: the places that their entries and each key have",
        ),
    ] {
        let found = explained(&table, clause, property);
        assert!(found.starts_with(expected) && found.is_empty() == expected.is_empty(), "{clause}: {found}");
    }
}

#[test]
fn sorted_indexes_serve_ranges() {
    let unsorted = "no index, SAI: this query reads every partition of ks.t";
    let table = table(&["k"], vec![sorted("v"), sorted("w"), sorted("c"), index("x", true)]);
    check(
        &table,
        &[
            ("WHERE v > 1", "v_idx"),
            ("WHERE v > 1 AND v <= 3 AND w >= 2", "v_idx"),
            ("WHERE v > 1 AND w = 2", "w_idx"),
            ("WHERE c > 1", "c_idx"),
            ("WHERE c BETWEEN 1 AND 3", "c_idx"),
            ("WHERE k = 1 AND c > 1", "no index"),
            (
                "WHERE v > 1 AND d = 1 ALLOW FILTERING",
                "v_idx, ALLOW FILTERING: this query reads the rows of ks.t that index v_idx leads to",
            ),
            (
                "WHERE v > 1 AND w > 1 AND d = 1 ALLOW FILTERING",
                "v_idx, ALLOW FILTERING: this query reads the rows of ks.t that indexes v_idx, w_idx lead to",
            ),
            ("WHERE v > 1 AND d = 1", FILTERING),
            // One that an earlier release made.
            ("WHERE x > 1", unsorted),
        ],
    );
}

/// What becomes of a statement, and the first words of its warning.
fn outcome(table: &Table, statement: &str) -> String {
    match plan(table, statement) {
        Err(error) => format!("refused: {error}"),
        Ok(plan) => {
            let path = plan.index.map_or("no index".to_string(), |path| path.name.to_string());
            let costs: Vec<&str> =
                plan.warnings.iter().filter_map(|w| w.split_once(" and returns ")).map(|(a, _)| a).collect();
            match costs.first() {
                Some(cost) => format!("{path}, {cost}"),
                None => path,
            }
        }
    }
}

/// Each WHERE clause, and how its outcome begins; an outcome without a warning must be all of it.
#[track_caller]
fn check(table: &Table, cases: &[(&str, &str)]) {
    for (clause, expected) in cases {
        let found = outcome(table, &format!("SELECT * FROM t {clause}"));
        let agrees = match expected.starts_with("refused: ") {
            true => found.starts_with(expected),
            false => found == *expected,
        };
        assert!(agrees, "{clause}: {found}, not {expected}");
    }
}

#[test]
fn local_indexes_serve_one_equality() {
    let table = table(&["k"], vec![index("v", false), index("w", false), index("full(f)", false)]);
    check(
        &table,
        &[
            ("WHERE v = 1", "v_idx"),
            ("WHERE v = 1 ALLOW FILTERING", "v_idx"),
            ("WHERE v IN (1)", "v_idx"),
            ("WHERE v = ?", "v_idx"),
            ("WHERE f = [1]", "f_full"),
            ("WHERE f CONTAINS 1", FILTERING),
            ("WHERE v > 1", FILTERING),
            ("WHERE v IN (1, 2)", FILTERING),
            ("WHERE v IN ()", FILTERING),
            ("WHERE v IN ?", FILTERING),
            ("WHERE v != 1", FILTERING),
            ("WHERE v NOT IN (1)", FILTERING),
            ("WHERE v BETWEEN 1 AND 2", FILTERING),
            ("WHERE x = 1", FILTERING),
            (
                "WHERE v > 1 ALLOW FILTERING",
                "no index, ALLOW FILTERING: this query reads every partition of ks.t",
            ),
            // A second condition is filtered.
            ("WHERE v = 1 AND w = 1", FILTERING),
            ("WHERE v = 1 AND x = 1", FILTERING),
            ("WHERE v = 1 AND w > 1", FILTERING),
            ("WHERE w = 1 AND v = 1 ALLOW FILTERING", "w_idx"),
            (
                "WHERE x = 1 AND v = 1 ALLOW FILTERING",
                "v_idx, ALLOW FILTERING: this query reads the rows of ks.t that index v_idx leads to",
            ),
            // With the partition the clustering columns are in the key.
            ("WHERE k = 1 AND v = 1", "v_idx"),
            ("WHERE k = 1 AND c > 1 AND v = 1", "v_idx"),
            ("WHERE k = 1 AND c IN (1, 2) AND v = 1", "v_idx"),
            ("WHERE k = 1 AND c = 1 AND d = 1 AND e = 1 AND v = 1", "no index"),
            ("WHERE k IN (1) AND v = 1", "v_idx"),
            ("WHERE k = 1 AND v > 1", FILTERING),
            ("WHERE k = 1 AND v = 1 AND x = 1", FILTERING),
            ("WHERE c = 1 AND v = 1", FILTERING),
            ("WHERE c > 1 AND v = 1", FILTERING),
            ("WHERE k > 1 AND v = 1", FILTERING),
            (
                "WHERE c > 1 AND v = 1 ALLOW FILTERING",
                "v_idx, ALLOW FILTERING: this query reads the rows of ks.t that index v_idx leads to",
            ),
            // With tokens, too, as Cassandra has it.
            ("WHERE token(k) > 1 AND v = 1", "v_idx"),
            ("WHERE token(k) > 1 AND c = 1 AND v = 1", "v_idx"),
            // Several partitions, and order.
            ("WHERE k IN (1, 2) AND v = 1", IN),
            ("WHERE k IN (1, 2) AND v = 1 ORDER BY c", IN),
            ("WHERE k IN (1, 2) AND v = 1 ALLOW FILTERING", "v_idx"),
            ("WHERE v = 1 ORDER BY c", ORDER),
            ("WHERE v = 1 ORDER BY v", ORDER),
            ("WHERE k = 1 AND v = 1 ORDER BY c", ORDER),
            (
                "WHERE k = 1 AND v = 1 ORDER BY c DESC ALLOW FILTERING",
                "no index, ALLOW FILTERING: this query reads every row of the partitions it names in ks.t",
            ),
            ("WHERE k = 1 ORDER BY c DESC", "no index"),
            ("WHERE k = 1 AND c = 1", "no index"),
            ("WHERE t LIKE 'a%'", "refused: LIKE restriction is only supported on properly indexed columns."),
            ("WHERE expr(v_idx, 'a')", "refused: Invalid INDEX in expr()"),
        ],
    );
    let distinct = outcome(&table, "SELECT DISTINCT k FROM t WHERE v = 1");
    assert!(distinct.starts_with("refused: SELECT DISTINCT with WHERE clause only"), "{distinct}");
}

#[test]
fn local_indexes_serve_parts_of_collections() {
    let targets = ["values(l)", "keys(m)", "entries(n)"];
    let table = table(&["k"], targets.map(|target| index(target, false)).to_vec());
    check(
        &table,
        &[
            ("WHERE l CONTAINS 1", "l_values"),
            ("WHERE k = 1 AND l CONTAINS 1", "l_values"),
            ("WHERE m CONTAINS KEY 'a'", "m_keys"),
            ("WHERE n['a'] = 1", "n_entries"),
            ("WHERE n[?] = ?", "n_entries"),
            ("WHERE m CONTAINS 1", FILTERING),
            ("WHERE m['a'] = 1", FILTERING),
            ("WHERE n CONTAINS 1", FILTERING),
            ("WHERE n CONTAINS KEY 'a'", FILTERING),
            ("WHERE l CONTAINS 1 AND l CONTAINS 2", FILTERING),
            ("WHERE m CONTAINS KEY 'a' AND m CONTAINS 2", FILTERING),
            ("WHERE n['a'] = 1 AND n['b'] = 2", FILTERING),
            (
                "WHERE m CONTAINS 2 AND m CONTAINS KEY 'a' ALLOW FILTERING",
                "m_keys, ALLOW FILTERING: this query reads the rows of ks.t that index m_keys leads to",
            ),
            ("WHERE l NOT CONTAINS 1", FILTERING),
        ],
    );
}

#[test]
fn indexes_on_keys_and_statics() {
    let targets = ["a", "d", "s"];
    let table = table(&["a", "b"], targets.map(|target| index(target, false)).to_vec());
    let preceding =
        "refused: PRIMARY KEY column \"d\" cannot be restricted as preceding column \"c\" is not restricted";
    check(
        &table,
        &[
            ("WHERE a = 1", "a_idx"),
            ("WHERE a = 1 AND b = 1", "no index"),
            ("WHERE a = 1 AND b IN (1, 2)", "no index"),
            ("WHERE a IN (1, 2)", FILTERING),
            ("WHERE a > 1", FILTERING),
            ("WHERE a = 1 AND b > 1", FILTERING),
            ("WHERE a = 1 AND c = 1", FILTERING),
            (
                "WHERE a = 1 AND v = 1 ALLOW FILTERING",
                "a_idx, ALLOW FILTERING: this query reads the partitions of ks.t that index a_idx leads to",
            ),
            ("WHERE d = 1", "d_idx"),
            ("WHERE (d) = (1)", "d_idx"),
            ("WHERE (d, e) = (1, 1)", FILTERING),
            (
                "WHERE (d, e) = (1, 1) ALLOW FILTERING",
                "d_idx, ALLOW FILTERING: this query reads the rows of ks.t that index d_idx leads to",
            ),
            ("WHERE d > 1", preceding),
            ("WHERE d IN (1, 2)", preceding),
            ("WHERE a = 1 AND b = 1 AND d IN (1, 2)", FILTERING),
            ("WHERE a = 1 AND b = 1 AND d = 1", "d_idx"),
            ("WHERE a = 1 AND b = 1 AND c = 1 AND d = 1", "no index"),
            ("WHERE a = 1 AND b = 1 AND c > 1 AND d = 1", FILTERING),
            ("WHERE a = 1 AND b = 1 AND d = 1 AND e = 1", FILTERING),
            ("WHERE token(a, b) > 1 AND d = 1", "d_idx"),
            ("WHERE s = 1", "s_idx"),
            ("WHERE a = 1 AND b = 1 AND s = 1", "s_idx"),
            ("WHERE s = 1 AND v = 1", FILTERING),
        ],
    );
    assert_eq!(outcome(&table, "SELECT DISTINCT a, b, s FROM t WHERE s = 1"), "s_idx");
}

#[test]
fn storage_attached_indexes_serve_several_conditions_and_ranges() {
    let targets = ["v", "w", "t", "values(l)", "c", "vec"];
    let mut table = table(&["k"], targets.map(|target| index(target, true)).to_vec());
    table.indexes.push(index("x", false));
    let scan = "no index, SAI: this query reads every partition of ks.t";
    check(
        &table,
        &[
            ("WHERE v = 1", "v_idx"),
            ("WHERE v = 1 AND w = 1", "v_idx"),
            ("WHERE v > 1 AND w = 1", "w_idx"),
            ("WHERE v > 1 AND t = 'a'", "t_idx"),
            ("WHERE v > 1", scan),
            ("WHERE v >= 1 AND v < 3", scan),
            ("WHERE v > 1 AND w < 2", scan),
            (
                "WHERE v > 1 ALLOW FILTERING",
                "no index, ALLOW FILTERING: this query reads every partition of ks.t",
            ),
            (
                "WHERE k = 1 AND v > 1",
                "no index, SAI: this query reads every row of the partitions it names in ks.t",
            ),
            (
                "WHERE token(k) > 1 AND v > 1",
                "no index, SAI: this query reads every partition of ks.t in the token range",
            ),
            ("WHERE t > 'a'", FILTERING),
            ("WHERE v IN (1, 2)", FILTERING),
            ("WHERE v != 1", FILTERING),
            ("WHERE v = 1 AND s = 1", FILTERING),
            ("WHERE v = 1 AND x = 1", FILTERING),
            ("WHERE v = 1 AND d = 1", FILTERING),
            ("WHERE v = 1 AND c = 1", "v_idx"),
            ("WHERE c > 1", scan),
            ("WHERE c = 1", "c_idx"),
            ("WHERE l CONTAINS 1 AND l CONTAINS 2", "l_values"),
            ("WHERE l CONTAINS 1 AND v = 1", "v_idx"),
            ("WHERE k IN (1, 2) AND v = 1", IN),
            ("WHERE v > 1 ORDER BY c", ORDER),
            ("WHERE vec = [1, 2]", "refused: Vector indexes only support ANN queries"),
            ("WHERE w = 1 ORDER BY vec ANN OF [1, 2] LIMIT 3", "w_idx"),
        ],
    );
    let ann = |table: &Table| {
        let plan = plan(table, "SELECT * FROM t ORDER BY vec ANN OF [1, 2] LIMIT 3").unwrap();
        plan.ann.unwrap().similarity
    };
    assert_eq!(ann(&table), Similarity::Cosine);
    for index in &mut table.indexes {
        index.options.insert("similarity_function".into(), "EUCLIDEAN".into());
    }
    assert_eq!(ann(&table), Similarity::Euclidean);
}

#[test]
fn an_index_that_does_not_know_all_rows_serves_nothing() {
    let mut table = table(&["k"], vec![index("v", false), index("t", true)]);
    for (option, value) in [("case_sensitive", "false"), ("normalize", "true"), ("ascii", "TRUE")] {
        table.indexes[1].options.insert(option.into(), value.into());
        check(&table, &[("WHERE t = 'a'", FILTERING)]);
        table.indexes[1].changed = true;
        check(&table, &[("WHERE t = 'a'", "t_idx")]);
        table.indexes[1].changed = false;
        table.indexes[1].options.remove(option);
        check(&table, &[("WHERE t = 'a'", "t_idx")]);
    }
    table.indexes[0].built = false;
    check(
        &table,
        &[
            ("WHERE v = 1", FILTERING),
            (
                "WHERE v = 1 ALLOW FILTERING",
                "no index, ALLOW FILTERING: this query reads every partition of ks.t",
            ),
            ("WHERE k = 1 AND v = 1", FILTERING),
        ],
    );
}
