//! The table, its projections, and what each must be: made of the table's rows by the test's own rules.

use super::node::{Answer, Node};
use std::collections::BTreeMap;

pub const TABLE: &str = "CREATE TABLE ks.t (k int, c int, g int, h int, v int, d int, PRIMARY KEY (k, c))";

pub struct Definition {
    pub name: &'static str,
    pub statement: &'static str,
    read: &'static str,
    make: fn(&[Row]) -> Answer,
    pub kind: Kind,
}

/// When it is its definition, and what it cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At every moment; its rows must not expire.
    Totals,
    /// At every moment.
    Rows,
    /// When it has caught up.
    Later,
}

/// k, c, g, h, v, d.
type Row = [Option<i64>; 6];

pub const DEFINITIONS: [Definition; 6] = [
    Definition {
        name: "by_g",
        statement: "CREATE PROJECTION ks.by_g ON ks.t AS SELECT count(*) AS n, count(v) AS values, sum(v) AS total, min(v) AS least, \
                    max(v) AS greatest, max(c) AS last, min(d) AS d PRIMARY KEY (g)",
        read: "SELECT g, n, values, total, least, greatest, last, d FROM ks.by_g",
        make: |rows| {
            totals(
                rows,
                |row| Some(vec![row[2]?]),
                |rows| {
                    let values = || rows.iter().filter_map(|row| row[4]);
                    vec![
                        Some(rows.len() as i64),
                        Some(values().count() as i64),
                        Some(values().sum()),
                        values().min(),
                        values().max(),
                        rows.iter().filter_map(|row| row[1]).max(),
                        rows.iter().filter_map(|row| row[5]).min(),
                    ]
                },
            )
        },
        kind: Kind::Totals,
    },
    Definition {
        name: "by_h_and_g",
        statement: "CREATE PROJECTION ks.by_h_and_g ON ks.t AS SELECT sum(d) AS total, max(v) AS greatest WHERE v > 2 \
                    PRIMARY KEY (h, g, k) WITH CLUSTERING ORDER BY (g DESC, k ASC)",
        read: "SELECT h, g, k, total, greatest FROM ks.by_h_and_g",
        make: |rows| {
            let key = |row: &Row| Some(vec![row[3]?, row[2]?, row[0]?]).filter(|_| row[4] > Some(2));
            totals(rows, key, |rows| {
                vec![
                    Some(rows.iter().filter_map(|row| row[5]).sum()),
                    rows.iter().filter_map(|row| row[4]).max(),
                ]
            })
        },
        kind: Kind::Totals,
    },
    Definition {
        name: "by_k",
        statement: "CREATE PROJECTION ks.by_k ON ks.t AS SELECT count(*) PRIMARY KEY (k)",
        read: "SELECT k, count FROM ks.by_k",
        make: |rows| totals(rows, |row| Some(vec![row[0]?]), |rows| vec![Some(rows.len() as i64)]),
        kind: Kind::Totals,
    },
    Definition {
        name: "rows_by_g",
        statement: "CREATE PROJECTION ks.rows_by_g ON ks.t AS SELECT v WHERE h < 2 PRIMARY KEY ((g, h), k, c)",
        read: "SELECT g, h, k, c, v FROM ks.rows_by_g",
        make: rows_by_g,
        kind: Kind::Rows,
    },
    Definition {
        name: "later_by_g",
        statement: "CREATE PROJECTION ks.later_by_g ON ks.t AS SELECT v WHERE h < 2 PRIMARY KEY ((g, h), k, c) WITH freshness = '5s'",
        read: "SELECT g, h, k, c, v FROM ks.later_by_g",
        make: rows_by_g,
        kind: Kind::Later,
    },
    Definition {
        name: "later_by_v",
        statement: "CREATE PROJECTION ks.later_by_v ON ks.t AS SELECT g, d PRIMARY KEY (v, c, k) WITH freshness = '1s' AND on_lag = 'late'",
        read: "SELECT v, c, k, g, d FROM ks.later_by_v",
        make: |rows| {
            let wanted = rows.iter().filter(|row| row[4].is_some());
            wanted.map(|row| vec![row[4], row[1], row[0], row[2], row[5]]).collect()
        },
        kind: Kind::Later,
    },
];

fn rows_by_g(rows: &[Row]) -> Answer {
    let wanted = rows.iter().filter(|row| row[2].is_some() && row[3].is_some_and(|h| h < 2));
    wanted.map(|row| vec![row[2], row[3], row[0], row[1], row[4]]).collect()
}

fn totals(
    rows: &[Row],
    key: impl Fn(&Row) -> Option<Vec<i64>>,
    make: impl Fn(&[&Row]) -> Vec<Option<i64>>,
) -> Answer {
    let mut groups: BTreeMap<Vec<i64>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        if let Some(key) = key(row) {
            groups.entry(key).or_default().push(row);
        }
    }
    let line = |(key, rows): (Vec<i64>, Vec<&Row>)| key.into_iter().map(Some).chain(make(&rows)).collect();
    groups.into_iter().map(line).collect()
}

impl Definition {
    /// What is there, and what should be, in one order.
    pub async fn both(&self, node: &Node) -> (Answer, Answer) {
        if self.kind == Kind::Later {
            node.caught_up(self.name).await;
        }
        let rows = node.rows(0, "SELECT k, c, g, h, v, d FROM ks.t").await;
        let rows: Vec<Row> = rows.into_iter().map(|row| row.try_into().unwrap()).collect();
        let (mut expected, mut found) = ((self.make)(&rows), node.rows(1, self.read).await);
        expected.sort();
        found.sort();
        (found, expected)
    }

    pub async fn compare(&self, node: &Node) {
        let (found, expected) = self.both(node).await;
        assert_eq!(found, expected, "{}", self.name);
    }
}
