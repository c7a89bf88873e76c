//! Tables WITH COMPACT STORAGE of all four forms, and random statements on them.
//!
//! Left out is what COMPAT.md says of such tables: clustering keys without their last columns, JSON into tables without clustering
//! columns, and hidden values after DROP COMPACT STORAGE.

use super::Sent;
use super::seeded::Seeded;

/// Name, columns, key; and which columns have values.
struct Form {
    table: &'static str,
    columns: &'static str,
    clustering: &'static [&'static str],
    values: &'static [&'static str],
}

const FORMS: &[Form] = &[
    Form {
        table: "ks",
        columns: "p int PRIMARY KEY, a int, b text, d int",
        clustering: &[],
        values: &["a", "b", "d"],
    },
    Form {
        table: "kd",
        columns: "p int, c int, v text, PRIMARY KEY (p, c)",
        clustering: &["c"],
        values: &["v"],
    },
    Form {
        table: "kc",
        columns: "p int, c int, e text, v int, PRIMARY KEY (p, c, e)",
        clustering: &["c", "e"],
        values: &["v"],
    },
    Form {
        table: "kk",
        columns: "p int, c int, e int, PRIMARY KEY (p, c, e)",
        clustering: &["c", "e"],
        values: &[],
    },
];

pub fn create() -> Vec<Sent> {
    let text = |form: &Form| format!("CREATE TABLE {} ({}) WITH COMPACT STORAGE", form.table, form.columns);
    FORMS.iter().map(|form| Sent::new("CREATE", text(form))).collect()
}

/// A constant of a column of these tables.
fn constant(random: &mut Seeded, form: &Form, column: &str) -> String {
    let is_text = column == "b" || column == "e" && form.table == "kc" || column == "v" && form.table == "kd";
    match is_text {
        true => random.one_of(&["'a'", "'b'", "'é'", "''"]).to_string(),
        false => random.one_of(&["0", "1", "2", "-1"]).to_string(),
    }
}

fn partition(random: &mut Seeded) -> String {
    format!("p = {}", random.below(3))
}

fn key(random: &mut Seeded, form: &Form) -> String {
    let mut parts = vec![partition(random)];
    parts.extend(
        form.clustering.iter().map(|column| format!("{column} = {}", constant(random, form, column))),
    );
    parts.join(" AND ")
}

/// A slice of the clustering columns, or nothing.
fn slice(random: &mut Seeded, form: &Form) -> String {
    let Some(first) = form.clustering.first() else { return String::new() };
    let bound = constant(random, form, first);
    match (random.below(5), form.clustering) {
        (0, _) => format!(" AND {first} {} {bound}", random.one_of(&[">", ">=", "<", "<="])),
        (1, _) => format!(" AND {first} IN ({bound}, {})", constant(random, form, first)),
        (2, [_, second]) => {
            format!(" AND {first} = {bound} AND {second} > {}", constant(random, form, second))
        }
        (3, _) => format!(" AND {first} = {bound}"),
        _ => String::new(),
    }
}

pub fn statement(random: &mut Seeded) -> Sent {
    let form = &FORMS[random.below(FORMS.len())];
    let table = form.table;
    let using = if random.chance(40) {
        format!(" USING TIMESTAMP {}", 1_000 + random.below(30))
    } else {
        String::new()
    };
    let (kind, text) = match random.below(20) {
        0..6 => ("compact INSERT", {
            let chosen: Vec<&str> = form.values.iter().copied().filter(|_| random.chance(70)).collect();
            let mut names = vec!["p"];
            let mut values = vec![random.below(3).to_string()];
            for column in form.clustering.iter().chain(&chosen) {
                names.push(column);
                let null = form.values.contains(column) && random.chance(10);
                values.push(if null { "null".into() } else { constant(random, form, column) });
            }
            format!("INSERT INTO {table} ({}) VALUES ({}){using}", names.join(", "), values.join(", "))
        }),
        6..9 if !form.values.is_empty() => ("compact UPDATE", {
            let column = form.values[random.below(form.values.len())];
            let value = if random.chance(15) { "null".into() } else { constant(random, form, column) };
            format!("UPDATE {table}{using} SET {column} = {value} WHERE {}", key(random, form))
        }),
        9 => ("compact DELETE", format!("DELETE FROM {table}{using} WHERE {}", key(random, form))),
        10 => ("compact DELETE", {
            let place = partition(random);
            format!("DELETE FROM {table}{using} WHERE {place}{}", slice(random, form))
        }),
        11 if !form.values.is_empty() => ("compact DELETE", {
            let column = form.values[random.below(form.values.len())];
            format!("DELETE {column} FROM {table}{using} WHERE {}", key(random, form))
        }),
        12 => ("compact refused", {
            let text = random.one_of(&[
                "ALTER TABLE {} ADD z int",
                "SELECT column1 FROM {}",
                "SELECT value FROM {}",
                "INSERT INTO {} (p, nope) VALUES (1, 1)",
                "UPDATE {} SET p = 1 WHERE p = 1",
                "CREATE INDEX ON {} (nope)",
            ]);
            text.replace("{}", table)
        }),
        13 => ("compact SELECT", format!("SELECT * FROM {table}")),
        14 => ("compact SELECT", format!("SELECT count(*) FROM {table} WHERE {}", partition(random))),
        15 => ("compact SELECT", format!("SELECT JSON * FROM {table} WHERE {}", partition(random))),
        16 => ("compact SELECT", format!("SELECT DISTINCT p FROM {table}")),
        17 if !form.values.is_empty() => ("compact SELECT", {
            let column = form.values[0];
            format!("SELECT {column}, writetime({column}) FROM {table} WHERE {}", partition(random))
        }),
        18 if !form.clustering.is_empty() => ("compact SELECT", {
            let place = partition(random);
            format!("SELECT * FROM {table} WHERE {place}{} ORDER BY c DESC LIMIT 2", slice(random, form))
        }),
        _ => ("compact SELECT", {
            let place = partition(random);
            format!("SELECT * FROM {table} WHERE {place}{}", slice(random, form))
        }),
    };
    Sent::new(kind, text)
}
