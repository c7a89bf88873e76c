//! Random INSERT, UPDATE, DELETE and BATCH statements.

use super::Sent;
use super::schema::{Column, Shape, Table, element, value};
use super::seeded::Seeded;

pub fn statement(random: &mut Seeded, table: &Table) -> Sent {
    let text = match random.below(100) {
        0..40 => insert(random, table),
        40..65 => update(random, table),
        65..80 => delete(random, table),
        80..92 => conditional(random, table),
        _ => batch(random, table),
    };
    Sent::new(text)
}

/// ` USING TIMESTAMP 5 AND TTL 7`, from a narrow range so that writes meet and tie.
fn using(random: &mut Seeded, with_ttl: bool) -> String {
    let timestamp = 1_000 + random.below(40);
    if with_ttl && random.chance(15) {
        return format!(" USING TIMESTAMP {timestamp} AND TTL {}", 1 + random.below(300));
    }
    format!(" USING TIMESTAMP {timestamp}")
}

fn key(random: &mut Seeded, columns: &[Column]) -> Vec<String> {
    columns.iter().map(|c| format!("{} = {}", c.name, element(random, c))).collect()
}

fn row_key(random: &mut Seeded, table: &Table) -> String {
    let mut parts = key(random, &table.partition);
    parts.extend(key(random, &table.clustering));
    parts.join(" AND ")
}

fn some<'t>(random: &mut Seeded, columns: &[&'t Column]) -> Vec<&'t Column> {
    columns.iter().filter(|_| random.chance(60)).copied().collect()
}

fn insert_parts(random: &mut Seeded, table: &Table, whole: bool) -> (String, String) {
    let only_static = !whole && !table.statics.is_empty() && random.chance(12);
    let data: Vec<&Column> = if only_static { table.statics.iter().collect() } else { table.data() };
    let keys = table.partition.iter().chain(table.clustering.iter().filter(|_| !only_static));
    let chosen: Vec<&Column> = keys.chain(some(random, &data)).collect();
    let names: Vec<_> = chosen.iter().map(|c| c.name.clone()).collect();
    let is_key = |c: &Column| c.name.starts_with(['p', 'c']);
    let values: Vec<_> = chosen
        .iter()
        .map(|c| if !is_key(c) && random.chance(8) { "null".to_string() } else { value(random, c) })
        .collect();
    (names.join(", "), values.join(", "))
}

fn insert(random: &mut Seeded, table: &Table) -> String {
    let (names, values) = insert_parts(random, table, false);
    // No TTL here: with an expired row marker, what Cassandra shows of a row depends on the columns asked for (COMPAT.md).
    format!("INSERT INTO t ({names}) VALUES ({values}){}", using(random, false))
}

fn assignment(random: &mut Seeded, column: &Column) -> String {
    let name = &column.name;
    let one = element(random, column);
    match (column.domain.shape, random.below(6)) {
        (_, 0) => format!("{name} = null"),
        (Shape::List, 1 | 2) => format!("{name} = {name} + [{one}]"),
        (Shape::List, 3) => format!("{name} = [{one}] + {name}"),
        (Shape::List, 4) => format!("{name} = {name} - [{one}]"),
        (Shape::Set, 1 | 2) => format!("{name} = {name} + {{{one}}}"),
        (Shape::Set, 3) => format!("{name} = {name} - {{{one}}}"),
        (Shape::Map, 1) => format!("{name}[{one}] = {}", random.below(3)),
        (Shape::Map, 2) => format!("{name} = {name} + {{{one}: {}}}", random.below(3)),
        (Shape::Map, 3) => format!("{name} = {name} - {{{one}}}"),
        (Shape::Map, 4) => format!("{name}[{one}] = null"),
        _ => format!("{name} = {}", value(random, column)),
    }
}

fn update(random: &mut Seeded, table: &Table) -> String {
    let only_static = !table.statics.is_empty() && random.chance(20);
    let data: Vec<&Column> = if only_static { table.statics.iter().collect() } else { table.data() };
    let mut chosen = some(random, &data);
    if chosen.is_empty() {
        chosen = data.last().copied().into_iter().collect();
    }
    let sets: Vec<_> = chosen.iter().map(|c| assignment(random, c)).collect();
    let whole = chosen.iter().any(|c| c.name.starts_with('v'));
    let place = if whole { row_key(random, table) } else { key(random, &table.partition).join(" AND ") };
    format!("UPDATE t{} SET {} WHERE {place}", using(random, true), sets.join(", "))
}

fn delete(random: &mut Seeded, table: &Table) -> String {
    let using = using(random, false);
    match random.below(4) {
        0 => {
            let column = &table.regular[random.below(table.regular.len())];
            let target = match column.domain.shape {
                Shape::Map | Shape::Set if random.chance(60) => {
                    format!("{}[{}]", column.name, element(random, column))
                }
                _ => column.name.clone(),
            };
            format!("DELETE {target} FROM t{using} WHERE {}", row_key(random, table))
        }
        1 if random.chance(30) => {
            format!("DELETE FROM t{using} WHERE {}", key(random, &table.partition).join(" AND "))
        }
        2 | 3 if !table.clustering.is_empty() => {
            let mut parts = key(random, &table.partition);
            let depth = random.below(table.clustering.len());
            parts.extend(key(random, table.clustering.get(..depth).unwrap_or_default()));
            let column = &table.clustering[depth];
            parts.push(bound(random, column));
            format!("DELETE FROM t{using} WHERE {}", parts.join(" AND "))
        }
        _ => format!("DELETE FROM t{using} WHERE {}", row_key(random, table)),
    }
}

fn bound(random: &mut Seeded, column: &Column) -> String {
    let (from, to) = (element(random, column), element(random, column));
    let name = &column.name;
    match random.below(5) {
        0 => format!("{name} > {from}"),
        1 => format!("{name} >= {from}"),
        2 => format!("{name} < {from}"),
        3 => format!("{name} >= {from} AND {name} < {to}"),
        _ => format!("{name} = {from}"),
    }
}

fn condition(random: &mut Seeded, column: &Column) -> String {
    let name = &column.name;
    let one = element(random, column);
    match (column.domain.shape, random.below(6)) {
        (Shape::Map, 0..3) => format!("{name}[{one}] = {}", random.below(3)),
        (Shape::Map, 3) => format!("{name} CONTAINS KEY {one}"),
        (Shape::List | Shape::Set, 0..3) => format!("{name} CONTAINS {one}"),
        (_, 0) => format!("{name} = null"),
        (Shape::Scalar, 1) => format!("{name} != {one}"),
        (Shape::Scalar, 2) => format!("{name} > {one}"),
        (Shape::Scalar, 3) => format!("{name} IN ({one}, {})", element(random, column)),
        _ => format!("{name} = {}", value(random, column)),
    }
}

fn conditional(random: &mut Seeded, table: &Table) -> String {
    let place = row_key(random, table);
    match random.below(4) {
        0 => {
            let (names, values) = insert_parts(random, table, true);
            format!("INSERT INTO t ({names}) VALUES ({values}) IF NOT EXISTS")
        }
        1 => format!("DELETE FROM t WHERE {place} IF EXISTS"),
        _ => {
            let column = &table.regular[random.below(table.regular.len())];
            let set = assignment(random, column);
            // Conditions on statics alone show the first live row of the partition in Cassandra; ours do not yet.
            let tested = &table.regular[random.below(table.regular.len())];
            let test = if random.chance(20) { "EXISTS".into() } else { condition(random, tested) };
            format!("UPDATE t SET {set} WHERE {place} IF {test}")
        }
    }
}

fn batch(random: &mut Seeded, table: &Table) -> String {
    let kind = if random.chance(50) { "" } else { "UNLOGGED " };
    let count = 1 + random.below(4);
    let parts: Vec<_> = (0..count)
        .map(|_| match random.below(3) {
            0 => update(random, table),
            1 => delete(random, table),
            _ => insert(random, table),
        })
        .collect();
    format!("BEGIN {kind}BATCH {}; APPLY BATCH", parts.join("; "))
}
