//! A random table, and random constants for its columns.

use super::seeded::Seeded;

/// How statements may change a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Scalar,
    /// Not comparable with `<`.
    Duration,
    List,
    Set,
    Map,
}

/// A type and its few values.
#[derive(Debug)]
pub struct Domain {
    pub name: &'static str,
    pub shape: Shape,
    pub values: &'static [&'static str],
}

const fn scalar(name: &'static str, values: &'static [&'static str]) -> Domain {
    Domain { name, shape: Shape::Scalar, values }
}

/// What keys and columns may have.
const SCALARS: &[Domain] = &[
    scalar("int", &["0", "1", "2", "-1", "2147483647"]),
    scalar("bigint", &["0", "5", "-5", "9223372036854775807"]),
    scalar("text", &["'a'", "'b'", "'ab'", "'é'", "'~'"]),
    scalar("ascii", &["'a'", "'B'", "'c'"]),
    scalar("boolean", &["true", "false"]),
    scalar(
        "uuid",
        &[
            "7b0a1f5e-3c1d-4a57-9b1e-2f3a4b5c6d7e",
            "00000000-0000-0000-0000-000000000000",
            "e1f2b3c4-5d6e-11ef-8000-000000000001",
        ],
    ),
    scalar(
        "timeuuid",
        &[
            "e1f2b3c4-5d6e-11ef-8000-000000000001",
            "e1f2b3c4-5d6e-11ef-8000-0000000000ff",
            "00000001-5d6f-11ef-8000-000000000001",
        ],
    ),
    scalar("timestamp", &["0", "'2026-11-16T10:00:00Z'", "'1969-12-31T23:59:59.999Z'"]),
    scalar("date", &["'2026-11-16'", "'1969-12-31'", "'2000-02-29'"]),
    scalar("time", &["'00:00:00'", "'23:59:59.999999999'", "'12:00:00'"]),
    scalar("double", &["0.0", "-0.0", "1.5", "-1.5", "NaN", "Infinity"]),
    scalar("float", &["0.0", "1.5", "-1.5", "NaN"]),
    scalar("decimal", &["0", "1.5", "-0.25", "123456789012345678901234567890.5"]),
    scalar("varint", &["0", "-1", "128", "-129", "123456789012345678901234567890"]),
    scalar("smallint", &["0", "1", "-32768"]),
    scalar("tinyint", &["0", "127", "-128"]),
    scalar("blob", &["0x00", "0xff", "0x00ff", "0x0100"]),
    scalar("inet", &["'127.0.0.1'", "'::1'", "'10.0.0.1'"]),
    scalar("frozen<list<int>>", &["[1]", "[1, 2]", "[2]"]),
    scalar("frozen<set<int>>", &["{1}", "{1, 2}", "{2}"]),
    scalar("tuple<int, text>", &["(1, 'a')", "(1, null)", "(2, 'a')"]),
];

/// What only columns outside the key may have.
const OTHERS: &[Domain] = &[
    Domain { name: "duration", shape: Shape::Duration, values: &["1mo", "1d", "-2h30m"] },
    Domain { name: "list<int>", shape: Shape::List, values: &["1", "2", "3"] },
    Domain { name: "list<text>", shape: Shape::List, values: &["'a'", "'b'"] },
    Domain { name: "set<text>", shape: Shape::Set, values: &["'a'", "'b'", "'c'"] },
    Domain { name: "set<bigint>", shape: Shape::Set, values: &["1", "-1"] },
    Domain { name: "map<text, int>", shape: Shape::Map, values: &["'a'", "'b'", "'c'"] },
    Domain { name: "map<int, int>", shape: Shape::Map, values: &["1", "2"] },
];

#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub domain: &'static Domain,
}

#[derive(Debug, Clone)]
pub struct Table {
    pub partition: Vec<Column>,
    pub clustering: Vec<Column>,
    /// For each clustering column.
    pub descending: Vec<bool>,
    pub statics: Vec<Column>,
    pub regular: Vec<Column>,
}

impl Table {
    pub fn random(random: &mut Seeded) -> Table {
        let mut columns = |prefix: &str, count: usize, key: bool| -> Vec<Column> {
            let one = |index| {
                let other = !key && random.chance(45);
                let domains = if other { OTHERS } else { SCALARS };
                let domain = &domains[random.below(domains.len())];
                Column { name: format!("{prefix}{index}"), domain }
            };
            (0..count).map(one).collect()
        };
        let seed_counts = [1, 1, 2];
        let partition = columns("p", 1, true);
        let clustering = columns("c", 3, true);
        let statics = columns("s", 2, false);
        let regular = columns("v", 4, false);
        let mut table = Table { partition, clustering, descending: vec![false; 3], statics, regular };
        if random.chance(30) {
            let domain = &SCALARS[random.below(SCALARS.len())];
            table.partition.push(Column { name: format!("p{}", seed_counts[0]), domain });
        }
        table.clustering.truncate(random.below(4));
        table.descending = table.clustering.iter().map(|_| random.chance(40)).collect();
        table.statics.truncate(if table.clustering.is_empty() { 0 } else { random.below(3) });
        table.regular.truncate(1 + random.below(4));
        table
    }

    pub fn create(&self) -> String {
        let mut columns = Vec::new();
        for column in self.partition.iter().chain(&self.clustering).chain(&self.regular) {
            columns.push(format!("{} {}", column.name, column.domain.name));
        }
        for column in &self.statics {
            columns.push(format!("{} {} STATIC", column.name, column.domain.name));
        }
        let names =
            |columns: &[Column]| columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ");
        let mut key = format!("({})", names(&self.partition));
        if !self.clustering.is_empty() {
            key = format!("{key}, {}", names(&self.clustering));
        }
        let mut text = format!("CREATE TABLE t ({}, PRIMARY KEY ({key}))", columns.join(", "));
        if !self.clustering.is_empty() {
            let order = |(column, desc): (&Column, &bool)| {
                format!("{} {}", column.name, if *desc { "DESC" } else { "ASC" })
            };
            let orders: Vec<_> = self.clustering.iter().zip(&self.descending).map(order).collect();
            text = format!("{text} WITH CLUSTERING ORDER BY ({})", orders.join(", "));
        }
        text
    }

    /// Columns outside the key.
    pub fn data(&self) -> Vec<&Column> {
        self.statics.iter().chain(&self.regular).collect()
    }
}

/// One element or scalar value.
pub fn element(random: &mut Seeded, column: &Column) -> String {
    random.one_of(column.domain.values).to_string()
}

/// A whole value for the column.
pub fn value(random: &mut Seeded, column: &Column) -> String {
    let count = random.below(3);
    let elements = |random: &mut Seeded| (0..count).map(|_| element(random, column)).collect::<Vec<_>>();
    match column.domain.shape {
        Shape::Scalar | Shape::Duration => element(random, column),
        Shape::List => format!("[{}]", elements(random).join(", ")),
        Shape::Set => format!("{{{}}}", elements(random).join(", ")),
        Shape::Map => {
            // A repeated key would keep a value that depends on the order of a hash table.
            let mut keys = elements(random);
            keys.sort();
            keys.dedup();
            let entries: Vec<_> = keys.iter().map(|k| format!("{k}: {}", random.below(3))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
