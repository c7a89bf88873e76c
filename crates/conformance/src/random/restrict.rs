//! Random WHERE clauses: of the partition key, of clustering columns, and filters.

use super::kind::Kind;
use super::maker::Maker;
use super::schema::{Column, Role, names};

/// What a restriction of the partition key leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    One,
    Several,
    Range,
    /// Needs filtering: part of the key only.
    Part,
}

const SLICES: [&str; 4] = [">", ">=", "<", "<="];

impl Maker<'_> {
    pub fn partition(&mut self, parts: &mut Vec<String>) -> Reach {
        let table = self.table;
        match self.below(20) {
            0..10 => {
                parts.extend(self.equal(&table.partition));
                Reach::One
            }
            10..13 => {
                for column in &table.partition {
                    let count = 1 + self.below(3);
                    parts.push(format!("{} IN {}", column.name, self.list(column, count)));
                }
                Reach::Several
            }
            13..16 => {
                self.token_range(parts);
                Reach::Range
            }
            16..18 => Reach::Range,
            _ => {
                let index = self.below(table.partition.len());
                parts.extend(self.equal(&table.partition[index..=index]));
                if table.partition.len() == 1 { Reach::One } else { Reach::Part }
            }
        }
    }

    fn token_range(&mut self, parts: &mut Vec<String>) {
        let token = format!("token({})", names(&self.table.partition));
        let bound = |maker: &mut Self| {
            if maker.chance(20) {
                return maker
                    .random
                    .one_of(&["0", "-9223372036854775808", "9223372036854775807", "12345"])
                    .to_string();
            }
            format!("token{}", maker.tuple(&maker.table.partition))
        };
        match self.below(5) {
            0 => {
                let value = bound(self);
                parts.push(format!("{token} = {value}"));
            }
            1 | 2 => {
                let operator = self.random.one_of(&SLICES);
                let value = bound(self);
                parts.push(format!("{token} {operator} {value}"));
            }
            _ => {
                let (from, to) = (self.random.one_of(&SLICES[..2]), self.random.one_of(&SLICES[2..]));
                let value = bound(self);
                parts.push(format!("{token} {from} {value}"));
                let value = bound(self);
                parts.push(format!("{token} {to} {value}"));
            }
        }
    }

    /// Equalities, then one more restriction: a slice, IN, or several columns at once.
    pub fn clustering(&mut self, parts: &mut Vec<String>) {
        let table = self.table;
        if table.clustering.is_empty() {
            return;
        }
        let depth = self.below(table.clustering.len());
        let (before, rest) = table.clustering.split_at(depth);
        for column in before {
            if self.chance(15) {
                // Cassandra fails inside when a DELETE repeats a value here and slices the next columns (COMPAT.md).
                let count = 1 + self.below(2);
                parts.push(format!("{} IN {}", column.name, self.distinct_list(column, count)));
            } else {
                parts.extend(self.equal(std::slice::from_ref(column)));
            }
        }
        if self.chance(30) {
            self.several_columns(rest, parts);
        } else if let Some(column) = rest.first() {
            self.one_column(column, parts);
        }
    }

    fn several_columns(&mut self, rest: &[Column], parts: &mut Vec<String>) {
        let count = 1 + self.below(rest.len());
        let columns = &rest[..count];
        let list = names(columns);
        match self.below(5) {
            0 => {
                let one = self.tuple(columns);
                let other = self.tuple(columns);
                parts.push(format!("({list}) IN ({one}, {other})"));
            }
            1 => {
                let one = self.tuple(columns);
                parts.push(format!("({list}) = {one}"));
            }
            2 => {
                let operator = self.random.one_of(&SLICES[..2]);
                let from = self.tuple(columns);
                parts.push(format!("({list}) {operator} {from}"));
                let operator = self.random.one_of(&SLICES[2..]);
                let shorter = &columns[..1 + self.below(columns.len())];
                let to = self.tuple(shorter);
                parts.push(format!("({}) {operator} {to}", names(shorter)));
            }
            _ => {
                let operator = self.random.one_of(&SLICES);
                let one = self.tuple(columns);
                parts.push(format!("({list}) {operator} {one}"));
            }
        }
    }

    fn one_column(&mut self, column: &Column, parts: &mut Vec<String>) {
        let name = &column.name;
        match self.below(6) {
            0 => parts.extend(self.equal(std::slice::from_ref(column))),
            1 => {
                let count = self.below(4);
                parts.push(format!("{name} IN {}", self.list(column, count)));
            }
            2 | 3 => {
                let (from, to) = (self.random.one_of(&SLICES[..2]), self.random.one_of(&SLICES[2..]));
                parts.push(format!("{name} {from} {}", self.value(column)));
                parts.push(format!("{name} {to} {}", self.value(column)));
            }
            _ => {
                let operator = self.random.one_of(&SLICES);
                parts.push(format!("{name} {operator} {}", self.value(column)));
            }
        }
    }

    /// A restriction that looks at every row.
    pub fn filter(&mut self, column: &Column) -> String {
        let name = &column.name;
        let of_static = column.role == Role::Static;
        match (&column.kind, column.kind.inner()) {
            // In the static row Cassandra also finds keys and elements that were deleted (COMPAT.md).
            (Kind::Set(_), _) if of_static => {
                let column = &self.table.regular[0];
                self.filter(column)
            }
            (Kind::Map(key, value), _) if of_static => {
                let key = self.of(key);
                format!("{name}[{key}] = {}", self.of(value))
            }
            (Kind::List(element) | Kind::Set(element), _) => format!("{name} CONTAINS {}", self.of(element)),
            (Kind::Frozen(_), Kind::List(element) | Kind::Set(element)) if self.chance(40) => {
                format!("{name} CONTAINS {}", self.of(element))
            }
            (Kind::Map(key, value), _) => match self.below(3) {
                0 => format!("{name} CONTAINS KEY {}", self.of(key)),
                1 => format!("{name} CONTAINS {}", self.of(value)),
                _ => {
                    let key = self.of(key);
                    format!("{name}[{key}] = {}", self.of(value))
                }
            },
            (kind, _) if kind.is_ordered() && !matches!(kind, Kind::Vector(..) | Kind::Udt { .. }) => {
                let operator = self.random.one_of(&["=", ">", ">=", "<", "<="]);
                format!("{name} {operator} {}", self.value(column))
            }
            _ => format!("{name} = {}", self.value(column)),
        }
    }
}
