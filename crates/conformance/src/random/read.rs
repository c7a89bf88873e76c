//! Random SELECT statements, most of them legal.

use super::Sent;
use super::maker::Maker;
use super::restrict::Reach;
use super::schema::{Table, direction};
use super::seeded::Seeded;

pub fn statement(random: &mut Seeded, table: &Table) -> Sent {
    let mut maker = Maker::new(random, table);
    let selection = maker.selection();
    let mut parts = Vec::new();
    let reach = maker.partition(&mut parts);
    let mut filtering = reach == Reach::Part;
    if !selection.distinct {
        if maker.chance(55) {
            let before = parts.len();
            maker.clustering(&mut parts);
            filtering |= matches!(reach, Reach::Range | Reach::Part) && parts.len() > before;
        }
        if maker.chance(15) {
            let data = table.data();
            let column = maker.pick(&data);
            parts.push(maker.filter(column));
            filtering = true;
        }
    }
    let mut text = format!("SELECT {} FROM t", selection.list);
    if !parts.is_empty() {
        text = format!("{text} WHERE {}", parts.join(" AND "));
    }
    text.push_str(&selection.group);
    // Of several partitions as JSON Cassandra sorts by the first of the columns only (COMPAT.md).
    let sortable = reach == Reach::One || reach == Reach::Several && !selection.list.starts_with("JSON");
    let ordered = sortable && !table.clustering.is_empty() && !selection.distinct && maker.chance(25);
    if ordered {
        text = format!("{text} ORDER BY {}", order(maker.random, table));
    }
    if !selection.distinct && (!selection.aggregate || !selection.group.is_empty()) && maker.chance(12) {
        text = format!("{text} PER PARTITION LIMIT {}", 1 + maker.below(3));
    }
    if maker.chance(25) {
        text = format!("{text} LIMIT {}", 1 + maker.below(12));
    }
    // Now and then a query that is refused without it.
    if filtering && maker.chance(95) {
        text.push_str(" ALLOW FILTERING");
    }
    // Ordering several partitions with paging is our extension (COMPAT.md), so it is not compared.
    // Paging of groups fails in Cassandra where partitions have one row (COMPAT.md).
    let single_groups = !selection.group.is_empty() && table.clustering.is_empty();
    let pages = maker.chance(40) && !(ordered && reach == Reach::Several) && !single_groups;
    let page = u32::try_from(1 + maker.below(7)).ok().filter(|_| pages);
    let kind = if !selection.group.is_empty() {
        "SELECT GROUP BY"
    } else if selection.aggregate {
        "SELECT aggregate"
    } else if selection.list.starts_with("JSON") {
        "SELECT JSON"
    } else if filtering {
        "SELECT filtering"
    } else {
        "SELECT"
    };
    let mut sent = maker.sent(kind, text);
    sent.options.page = page;
    sent
}

/// A prefix of the order of the table, or its reverse.
fn order(random: &mut Seeded, table: &Table) -> String {
    let reversed = random.chance(60);
    let depth = 1 + random.below(table.clustering.len());
    let each = table
        .clustering
        .iter()
        .zip(&table.descending)
        .take(depth)
        .map(|(column, desc)| format!("{} {}", column.name, direction(*desc != reversed)));
    each.collect::<Vec<_>>().join(", ")
}
