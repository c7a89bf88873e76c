//! Random conditional writes: INSERT IF NOT EXISTS, UPDATE and DELETE with every kind of condition, conditional batches.

use super::Sent;
use super::kind::Kind;
use super::maker::Maker;
use super::schema::{Column, Table};

pub fn statement(mut maker: Maker<'_>) -> Sent {
    let (kind, text) = match maker.below(100) {
        0..25 => ("INSERT IF NOT EXISTS", maker.insert_if_absent()),
        25..65 => ("UPDATE IF", maker.update_if()),
        65..85 => ("DELETE IF", maker.delete_if()),
        _ => ("BATCH IF", maker.batch_if()),
    };
    maker.sent(kind, text)
}

/// Conditions on statics show the first live row of the partition in Cassandra, and failed batches rows in their order.
/// Compared as soon as Partita shows the same.
const STATICS_TESTED: bool = false;

fn tested(table: &Table) -> Vec<&Column> {
    if STATICS_TESTED { table.data() } else { table.regular.iter().collect() }
}

impl Maker<'_> {
    fn insert_if_absent(&mut self) -> String {
        format!("{} IF NOT EXISTS", self.insert_row(None))
    }

    /// An INSERT of a row, in a given partition if there is one.
    fn insert_row(&mut self, partition: Option<&[String]>) -> String {
        let table = self.table;
        let chosen: Vec<&Column> = table.data().into_iter().filter(|_| self.chance(60)).collect();
        let keys = table.partition.iter().chain(&table.clustering);
        let names: Vec<_> = keys.chain(chosen.iter().copied()).map(|c| c.name.clone()).collect();
        let mut values: Vec<String> = match partition {
            Some(values) => values.to_vec(),
            None => table.partition.iter().map(|c| self.value(c)).collect(),
        };
        values.extend(table.clustering.iter().map(|c| self.value(c)).collect::<Vec<_>>());
        values.extend(chosen.iter().map(|c| self.written(c)).collect::<Vec<_>>());
        format!("INSERT INTO t ({}) VALUES ({})", names.join(", "), values.join(", "))
    }

    fn update_if(&mut self) -> String {
        let table = self.table;
        if STATICS_TESTED && !table.statics.is_empty() && self.chance(20) {
            let column = self.one(&table.statics);
            let set = self.assignment(column);
            let place = self.equal(&table.partition).join(" AND ");
            let tested: Vec<&Column> = table.statics.iter().collect();
            return format!("UPDATE t SET {set} WHERE {place} IF {}", self.conditions(&tested));
        }
        let column = self.one(&table.regular);
        let set = self.assignment(column);
        let place = self.row_key();
        format!("UPDATE t SET {set} WHERE {place} IF {}", self.exists_or(&tested(table)))
    }

    fn exists_or(&mut self, columns: &[&Column]) -> String {
        if self.chance(20) { "EXISTS".into() } else { self.conditions(columns) }
    }

    fn conditions(&mut self, columns: &[&Column]) -> String {
        // Which of two conditions Cassandra looks at first is chance, and some comparisons are refused when looked at.
        let plain = columns.iter().all(|c| !c.kind.is_multi_cell());
        let count = 1 + usize::from(plain && self.chance(25));
        let all: Vec<_> = (0..count)
            .map(|_| {
                let column = self.pick(columns);
                self.condition(column)
            })
            .collect();
        all.join(" AND ")
    }

    fn delete_if(&mut self) -> String {
        let table = self.table;
        let target = if self.chance(40) {
            let column = self.one(&table.regular);
            format!("{} ", self.target(column))
        } else {
            String::new()
        };
        let place = self.row_key();
        format!("DELETE {target}FROM t WHERE {place} IF {}", self.exists_or(&tested(table)))
    }

    pub fn condition(&mut self, column: &Column) -> String {
        let name = &column.name;
        let operator = self.random.one_of(&["=", "!=", "<", "<=", ">", ">="]);
        let equality = self.random.one_of(&["=", "!="]);
        let choice = self.below(8);
        match (&column.kind, choice) {
            (_, 0) => format!("{name} {equality} null"),
            (kind, 1 | 2) if !kind.is_multi_cell() => {
                let count = 1 + self.below(3);
                format!("{name} IN {}", self.list(column, count))
            }
            (Kind::List(element) | Kind::Set(element), 1) => format!("{name} CONTAINS {}", self.of(element)),
            (Kind::List(element), 2 | 3) => {
                let index = self.below(2);
                format!("{name}[{index}] {operator} {}", self.of(element))
            }
            // Cassandra compares values of a map in the order of its keys (COMPAT.md).
            (Kind::Map(key, value), 1..=3) if key.name() == value.name() => {
                let key = self.of(key);
                format!("{name}[{key}] {operator} {}", self.of(value))
            }
            (Kind::Map(key, _), 4) => format!("{name} CONTAINS KEY {}", self.of(key)),
            (Kind::Map(_, value), 5) => format!("{name} CONTAINS {}", self.of(value)),
            (Kind::Udt { fields, .. }, 1..=3) => {
                let (field, kind) = &fields[self.below(fields.len())];
                format!("{name}.{field} {operator} {}", self.of(kind))
            }
            (kind, _) if (3..6).contains(&choice) && kind.is_ordered() => {
                format!("{name} {operator} {}", self.value(column))
            }
            _ => format!("{name} {equality} {}", self.value(column)),
        }
    }

    /// Several statements on one partition, at least one with a condition.
    fn batch_if(&mut self) -> String {
        // The partition is spelled the same in each statement, so its constants are in the text.
        self.unbound();
        let table = self.table;
        let partition: Vec<String> = table.partition.iter().map(|c| self.value(c)).collect();
        let in_partition: Vec<_> = table
            .partition
            .iter()
            .zip(&partition)
            .map(|(c, value)| format!("{} = {value}", c.name))
            .collect();
        let count = if STATICS_TESTED { 1 + self.below(3) } else { 1 };
        let parts: Vec<_> = (0..count)
            .map(|index| {
                let mut place = in_partition.clone();
                place.extend(self.equal(&table.clustering));
                let place = place.join(" AND ");
                let test = index == 0 || self.chance(40);
                match self.below(4) {
                    0 => {
                        let insert = self.insert_row(Some(&partition));
                        if test { format!("{insert} IF NOT EXISTS") } else { insert }
                    }
                    1 => {
                        let test = if test {
                            format!(" IF {}", self.exists_or(&tested(table)))
                        } else {
                            String::new()
                        };
                        format!("DELETE FROM t WHERE {place}{test}")
                    }
                    _ => {
                        let column = self.one(&table.regular);
                        let set = self.assignment(column);
                        let test = if test {
                            format!(" IF {}", self.exists_or(&tested(table)))
                        } else {
                            String::new()
                        };
                        format!("UPDATE t SET {set} WHERE {place}{test}")
                    }
                }
            })
            .collect();
        format!("BEGIN BATCH {}; APPLY BATCH", parts.join("; "))
    }
}
