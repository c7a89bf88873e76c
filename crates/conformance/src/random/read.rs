//! Random SELECT statements, most of them legal.

use super::Sent;
use super::schema::{Column, Shape, Table, element};
use super::seeded::Seeded;

pub fn statement(random: &mut Seeded, table: &Table) -> Sent {
    let mut parts = Vec::new();
    let partition = partition(random, table, &mut parts);
    let mut filtering = partition == Partition::Partial;
    if random.chance(60) {
        clustering(random, table, &mut parts);
        filtering |= partition != Partition::Whole && !parts.is_empty();
    }
    if random.chance(15) {
        let data = table.data();
        let column = data[random.below(data.len())];
        parts.push(filter(random, column));
        filtering = true;
    }
    let (selection, grouped) = selection(random, table);
    let mut text = format!("SELECT {selection} FROM t");
    if !parts.is_empty() {
        text = format!("{text} WHERE {}", parts.join(" AND "));
    }
    text.push_str(&grouped);
    let ordered = partition == Partition::Whole && !table.clustering.is_empty() && random.chance(25);
    if ordered {
        text = format!("{text} ORDER BY {}", order(random, table));
    }
    if random.chance(12) {
        text = format!("{text} PER PARTITION LIMIT {}", 1 + random.below(3));
    }
    if random.chance(25) {
        text = format!("{text} LIMIT {}", 1 + random.below(12));
    }
    // Now and then a query that is refused without it.
    if filtering && random.chance(90) {
        text.push_str(" ALLOW FILTERING");
    }
    let mut sent = Sent::new(text);
    // Ordering several partitions with paging is our extension (COMPAT.md), so it is not compared.
    if random.chance(40) && !ordered {
        sent.options.page = u32::try_from(1 + random.below(7)).ok();
    }
    sent
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partition {
    Whole,
    Range,
    Partial,
}

fn partition(random: &mut Seeded, table: &Table, parts: &mut Vec<String>) -> Partition {
    match random.below(10) {
        0..5 => {
            for column in &table.partition {
                parts.push(format!("{} = {}", column.name, element(random, column)));
            }
            Partition::Whole
        }
        5 => {
            for column in &table.partition {
                let list: Vec<_> = (0..1 + random.below(3)).map(|_| element(random, column)).collect();
                parts.push(format!("{} IN ({})", column.name, list.join(", ")));
            }
            Partition::Whole
        }
        6 | 7 => {
            let names: Vec<_> = table.partition.iter().map(|c| c.name.clone()).collect();
            let values: Vec<_> = table.partition.iter().map(|c| element(random, c)).collect();
            let operator = random.one_of(&[">", ">=", "<", "<="]);
            parts.push(format!("token({}) {operator} token({})", names.join(", "), values.join(", ")));
            Partition::Range
        }
        8 => Partition::Range,
        _ => {
            let column = &table.partition[random.below(table.partition.len())];
            parts.push(format!("{} = {}", column.name, element(random, column)));
            if table.partition.len() == 1 { Partition::Whole } else { Partition::Partial }
        }
    }
}

fn clustering(random: &mut Seeded, table: &Table, parts: &mut Vec<String>) {
    if table.clustering.is_empty() {
        return;
    }
    let depth = random.below(table.clustering.len());
    let (before, rest) = table.clustering.split_at(depth);
    for column in before {
        parts.push(format!("{} = {}", column.name, element(random, column)));
    }
    let operator = random.one_of(&[">", ">=", "<", "<="]);
    if rest.len() > 1 && random.chance(35) {
        let names: Vec<_> = rest.iter().map(|c| c.name.clone()).collect();
        let tuple = |random: &mut Seeded| {
            let values: Vec<_> = rest.iter().map(|c| element(random, c)).collect();
            format!("({})", values.join(", "))
        };
        let names = names.join(", ");
        if random.chance(30) {
            let list = [tuple(random), tuple(random)].join(", ");
            parts.push(format!("({names}) IN ({list})"));
        } else {
            parts.push(format!("({names}) {operator} {}", tuple(random)));
        }
        return;
    }
    let Some(column) = rest.first() else { return };
    let name = &column.name;
    match random.below(5) {
        0 => parts.push(format!("{name} = {}", element(random, column))),
        1 => parts.push(format!("{name} IN ({}, {})", element(random, column), element(random, column))),
        2 => {
            let (from, to) = (element(random, column), element(random, column));
            parts.push(format!("{name} > {from} AND {name} <= {to}"));
        }
        _ => parts.push(format!("{name} {operator} {}", element(random, column))),
    }
}

fn filter(random: &mut Seeded, column: &Column) -> String {
    let name = &column.name;
    let one = element(random, column);
    match column.domain.shape {
        Shape::Duration => format!("{name} = {one}"),
        Shape::Scalar => format!("{name} {} {one}", random.one_of(&["=", ">", "<="])),
        Shape::List | Shape::Set => format!("{name} CONTAINS {one}"),
        Shape::Map if random.chance(50) => format!("{name} CONTAINS KEY {one}"),
        Shape::Map => format!("{name}[{one}] = {}", random.below(3)),
    }
}

/// What is selected, and the GROUP BY that goes with it.
fn selection(random: &mut Seeded, table: &Table) -> (String, String) {
    let data = table.data();
    let column = data[random.below(data.len())];
    match random.below(12) {
        0..5 => ("*".into(), String::new()),
        5 => {
            let names: Vec<_> = data.iter().map(|c| c.name.clone()).collect();
            (format!("{}, {}", table.partition[0].name, names.join(", ")), String::new())
        }
        6 => (format!("{0}, writetime({0}), ttl({0})", column.name), String::new()),
        7 => ("JSON *".into(), String::new()),
        8 => (format!("count(*), count({})", column.name), String::new()),
        9 if column.domain.shape == Shape::Scalar && column.domain.name != "timeuuid" => {
            (format!("min({0}), max({0})", column.name), String::new())
        }
        10 => {
            let mut names: Vec<_> = table.partition.iter().map(|c| c.name.clone()).collect();
            let depth = random.below(table.clustering.len() + 1);
            names.extend(table.clustering.iter().take(depth).map(|c| c.name.clone()));
            let names = names.join(", ");
            (format!("{names}, count(*)"), format!(" GROUP BY {names}"))
        }
        11 if !table.statics.is_empty() => {
            let names: Vec<_> = table.partition.iter().map(|c| c.name.clone()).collect();
            (format!("DISTINCT {}, {}", names.join(", "), table.statics[0].name), String::new())
        }
        _ => (table.regular[0].name.clone(), String::new()),
    }
}

/// The order of the table, or its reverse.
fn order(random: &mut Seeded, table: &Table) -> String {
    let reversed = random.chance(60);
    let each =
        table.clustering.iter().zip(&table.descending).map(|(column, desc)| {
            format!("{} {}", column.name, if *desc != reversed { "DESC" } else { "ASC" })
        });
    each.collect::<Vec<_>>().join(", ")
}
