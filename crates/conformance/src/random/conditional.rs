//! Random conditional writes: INSERT IF NOT EXISTS, UPDATE and DELETE with every kind of condition, conditional batches.

use super::Sent;
use super::kind::Kind;
use super::maker::Maker;
use super::schema::Column;

pub fn statement(mut maker: Maker<'_>) -> Sent {
    let (kind, text) = match maker.below(100) {
        0..25 => ("INSERT IF NOT EXISTS", maker.insert_if_absent()),
        25..65 => ("UPDATE IF", maker.update_if()),
        65..85 => ("DELETE IF", maker.delete_if()),
        _ => ("BATCH IF", maker.batch_if()),
    };
    maker.sent(kind, text)
}

impl Maker<'_> {
    fn insert_if_absent(&mut self) -> String {
        format!("{} IF NOT EXISTS", self.insert_row())
    }

    fn insert_row(&mut self) -> String {
        let table = self.table;
        let mut chosen: Vec<&Column> = table.partition.iter().chain(&table.clustering).collect();
        chosen.extend(table.data().into_iter().filter(|_| self.chance(60)).collect::<Vec<_>>());
        let names: Vec<_> = chosen.iter().map(|c| c.name.clone()).collect();
        let values: Vec<_> = chosen.iter().map(|c| self.written(c)).collect();
        format!("INSERT INTO t ({}) VALUES ({})", names.join(", "), values.join(", "))
    }

    fn update_if(&mut self) -> String {
        let table = self.table;
        if !table.statics.is_empty() && self.chance(20) {
            let column = self.one(&table.statics);
            let set = self.assignment(column);
            let place = self.equal(&table.partition).join(" AND ");
            let tested: Vec<&Column> = table.statics.iter().collect();
            return format!("UPDATE t SET {set} WHERE {place} IF {}", self.conditions(&tested));
        }
        let column = self.one(&table.regular);
        let set = self.assignment(column);
        let place = self.row_key();
        // With conditions on statics alone Cassandra does not read the list that an index or a removal needs (COMPAT.md).
        let list = matches!(column.kind, Kind::List(_));
        let tested = if list { table.regular.iter().collect() } else { table.data() };
        format!("UPDATE t SET {set} WHERE {place} IF {}", self.exists_or(&tested))
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
        let column = self.one(&table.regular);
        let target = if self.chance(40) { format!("{} ", self.target(column)) } else { String::new() };
        let place = self.row_key();
        let list = matches!(column.kind, Kind::List(_));
        let tested = if list { table.regular.iter().collect() } else { table.data() };
        format!("DELETE {target}FROM t WHERE {place} IF {}", self.exists_or(&tested))
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

    /// Several statements on one partition, some of them with conditions, on rows and on statics. They assign whole
    /// values: Cassandra reads only the rows that have conditions, so that removals from lists find nothing elsewhere
    /// (COMPAT.md).
    fn batch_if(&mut self) -> String {
        // The partition is spelled the same in each statement, so its constants are in the text.
        self.unbound();
        let table = self.table;
        let in_partition = self.equal(&table.partition);
        let count = 1 + self.below(4);
        let tested = self.below(count);
        let parts: Vec<_> = (0..count)
            .map(|index| {
                let conditional = index == tested || self.chance(40);
                if !table.statics.is_empty() && self.chance(20) {
                    return self.static_part(&in_partition.join(" AND "), conditional);
                }
                let mut place = in_partition.clone();
                place.extend(self.equal(&table.clustering));
                self.row_part(&place.join(" AND "), conditional)
            })
            .collect();
        format!("BEGIN BATCH {}; APPLY BATCH", parts.join("; "))
    }

    /// A statement of a conditional batch on one row.
    fn row_part(&mut self, place: &str, conditional: bool) -> String {
        let table = self.table;
        let test = if conditional { self.batch_test(&table.data()) } else { String::new() };
        if self.chance(30) {
            return format!("DELETE FROM t WHERE {place}{test}");
        }
        let data = table.data();
        let column = self.pick(&data);
        format!("UPDATE t SET {} = {} WHERE {place}{test}", column.name, self.written(column))
    }

    /// Conditions of several statements can meet on one row, and which of them Cassandra looks at first is chance: none
    /// that is refused when looked at, such as `v < {}`.
    fn batch_test(&mut self, columns: &[&Column]) -> String {
        let test = self.exists_or(columns);
        let compares = test.contains(['<', '>']);
        let empty = ["{}", "[]"].iter().any(|nothing| test.contains(nothing));
        format!(" IF {}", if compares && empty { "EXISTS" } else { &test })
    }

    /// A statement of a conditional batch that writes a static column.
    fn static_part(&mut self, place: &str, conditional: bool) -> String {
        let statics: Vec<&Column> = self.table.statics.iter().collect();
        let test = if conditional { self.batch_test(&statics) } else { String::new() };
        let column = self.pick(&statics);
        if self.chance(20) {
            return format!("DELETE {} FROM t WHERE {place}{test}", column.name);
        }
        format!("UPDATE t SET {} = {} WHERE {place}{test}", column.name, self.written(column))
    }
}
