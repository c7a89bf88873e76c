//! What can be repeated, what must be looked at, and which rows a statement names.

use super::*;
use cql_wire::{Value, ValueList};

fn tables() -> Tables {
    let column = |name: &str, data_type: DataType| (name.to_string(), Some(data_type));
    let facts = Facts {
        keyspace: "app".into(),
        name: "t".into(),
        partition: vec![column("k", DataType::Int)],
        clustering: vec![column("c", DataType::Text)],
        sets_and_maps: ["m".to_string(), "s".to_string()].into(),
        lists: ["l".to_string()].into(),
        is_counter: false,
    };
    let counts = Facts { name: "hits".into(), is_counter: true, ..facts.clone() };
    Tables::new(vec![facts, counts])
}

fn way(text: &str) -> Way {
    match written(text, Some("app"), &tables()) {
        Written::Rows(rows) => rows.iter().map(|row| row.way).max().unwrap_or(Way::Elsewhere),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn what_may_be_repeated_and_what_not() {
    for text in [
        "INSERT INTO t (k, c, v) VALUES (1, 'a', ?)",
        "INSERT INTO app.t (k, c, l) VALUES (1, 'a', [1, 2]) USING TTL 5 AND TIMESTAMP ?",
        "INSERT INTO t JSON ?",
        "UPDATE t SET m = m + ?, s = s - {1}, m['x'] = 2, l = ?, u.f = 1 WHERE k = 1 AND c = 'a'",
        "DELETE FROM t WHERE k = 1 AND c > 'a' AND c < ?",
        "DELETE m['x'] FROM t WHERE k = 1 AND c = 'a'",
        "UPDATE t SET v = textAsBlob('a') WHERE k IN (1, 2) AND c = 'x'",
        "BEGIN BATCH USING TIMESTAMP 5 INSERT INTO t (k, c) VALUES (1, 'a'); DELETE FROM t WHERE k = 2 APPLY BATCH",
    ] {
        assert_eq!(way(text), Way::Repeat, "{text}");
    }
    for text in [
        "INSERT INTO t (k, c, v) VALUES (1, 'a', now())",
        "INSERT INTO t (k, c) VALUES (1, 'a') IF NOT EXISTS",
        "UPDATE t SET v = 1 WHERE k = 1 AND c = 'a' IF v = 2",
        "DELETE FROM t WHERE k = 1 IF EXISTS",
        "UPDATE t SET l = l + ? WHERE k = 1 AND c = 'a'",
        "UPDATE t SET l = ? + l WHERE k = 1 AND c = 'a'",
        "UPDATE t SET l[0] = ? WHERE k = 1 AND c = 'a'",
        "DELETE l[0] FROM t WHERE k = 1 AND c = 'a'",
        "UPDATE t SET n = n + 1 WHERE k = 1 AND c = 'a'",
        "UPDATE t SET v = app.f(1) WHERE k = 1 AND c = 'a'",
        "UPDATE t SET v = 1 WHERE k = 1 AND c = uuid()",
        "BEGIN BATCH INSERT INTO t (k, c) VALUES (1, 'a'); UPDATE t SET l = l + [1] WHERE k = 2 AND c = 'x' APPLY BATCH",
    ] {
        assert_eq!(way(text), Way::Look, "{text}");
    }
    assert_eq!(way("UPDATE hits SET n = n + 1 WHERE k = 1 AND c = 'a'"), Way::Counter);
    assert_eq!(way("INSERT INTO other.t (k) VALUES (1)"), Way::Elsewhere);
    assert_eq!(way("TRUNCATE other.t"), Way::Elsewhere);
    assert_eq!(written("TRUNCATE t", Some("app"), &tables()), Written::Refused("TRUNCATE"));
    assert_eq!(
        written("INSERT INTO t (k) VALUES (1)", None, &tables()),
        Written::Rows(vec![RowWrite { table: 0, way: Way::Elsewhere, key: None }])
    );
    assert_eq!(written("GRANT x TO y", None, &tables()), Written::Unknown);
    assert_eq!(written("INSERT INTO", None, &tables()), Written::Unknown);
}

fn rows(text: &str, values: &[&[u8]]) -> Option<Vec<RowKey>> {
    let tables = tables();
    let Written::Rows(writes) = written(text, Some("app"), &tables) else { panic!("{text}") };
    let mut list = ValueList::new();
    assert!(values.iter().all(|value| list.push(Value::Bytes(value))));
    writes[0].key.as_ref()?.rows(tables.get(0).unwrap(), &list.as_values())
}

#[test]
fn rows_are_told_from_constants_and_values() {
    let key = |k: i32, c: Option<&str>| RowKey {
        partition: vec![k.to_be_bytes().to_vec()],
        clustering: c.map(|c| c.as_bytes().to_vec()).into_iter().collect(),
    };
    let seven = 7i32.to_be_bytes();
    assert_eq!(rows("INSERT INTO t (v, k, c) VALUES (1, ?, 'x')", &[&seven]), Some(vec![key(7, Some("x"))]));
    assert_eq!(
        rows("UPDATE t SET v = ? WHERE c = ? AND k = -3", &[b"", b"y"]),
        Some(vec![key(-3, Some("y"))])
    );
    assert_eq!(rows("DELETE FROM t WHERE k = ? AND c > ?", &[&seven, b"a"]), Some(vec![key(7, None)]));
    let two =
        [&2i32.to_be_bytes()[..], &4i32.to_be_bytes(), &seven, &4i32.to_be_bytes(), &[0, 0, 0, 8]].concat();
    assert_eq!(rows("DELETE FROM t WHERE k IN ?", &[&two]), Some(vec![key(7, None), key(8, None)]));
    let both = [key(1, Some("a")), key(1, Some("b")), key(2, Some("a")), key(2, Some("b"))];
    assert_eq!(rows("DELETE FROM t WHERE k IN (2, 1, 2) AND c IN ('a', 'b')", &[]), Some(both.to_vec()));
    for unknown in
        ["INSERT INTO t JSON '{}'", "DELETE FROM t WHERE k = uuid()", "DELETE FROM t WHERE k = 'x'"]
    {
        assert_eq!(rows(unknown, &[]), None, "{unknown}");
    }
    let many: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    assert_eq!(rows(&format!("DELETE FROM t WHERE k IN ({})", many.join(", ")), &[]), None);
}
