//! Random SELECT lists: columns, functions, arithmetic, casts, element access, aggregates.

use super::kind::{Group, Kind};
use super::maker::Maker;
use super::schema::{Column, Role, names};

/// What is selected, and what goes with it.
pub struct Selection {
    pub list: String,
    /// ` GROUP BY …` or nothing.
    pub group: String,
    pub aggregate: bool,
    pub distinct: bool,
}

impl Selection {
    fn plain(list: impl Into<String>) -> Selection {
        Selection { list: list.into(), group: String::new(), aggregate: false, distinct: false }
    }

    fn aggregate(list: String) -> Selection {
        Selection { aggregate: true, ..Selection::plain(list) }
    }
}

impl Maker<'_> {
    /// Constants here are part of the text.
    pub fn selection(&mut self) -> Selection {
        let table = self.table;
        if table.insert_ttl || table.default_ttl.is_some() {
            return Selection::plain(if self.chance(20) { "JSON *" } else { "*" });
        }
        let data = table.data();
        match self.below(24) {
            0..6 => Selection::plain("*"),
            6..8 => {
                let mut all = table.all();
                all.retain(|_| self.chance(50));
                if all.is_empty() {
                    return Selection::plain("*");
                }
                let names: Vec<_> = all.iter().map(|c| c.name.clone()).collect();
                let json = if self.chance(25) { "JSON " } else { "" };
                Selection::plain(format!("{json}{}", names.join(", ")))
            }
            8 => Selection::plain("JSON *"),
            9..11 => {
                let name = &self.pick(&data).name;
                Selection::plain(format!("{name}, writetime({name}), ttl({name}), maxwritetime({name})"))
            }
            11..17 => {
                let count = 1 + self.below(3);
                let all = table.all();
                let mut parts_of = Vec::new();
                let list: Vec<_> = (0..count)
                    .map(|_| {
                        let column = self.pick(&all);
                        let mut expression = self.expression(column);
                        // Cassandra loses values when different parts of one collection are selected (COMPAT.md).
                        if expression.starts_with(&format!("{}[", column.name)) {
                            if parts_of.contains(&column.name) {
                                expression = column.name.clone();
                            } else {
                                parts_of.push(column.name.clone());
                            }
                        }
                        if self.chance(10) && !expression.contains(" AS j") {
                            format!("{expression} AS \"x{}\"", self.below(9))
                        } else {
                            expression
                        }
                    })
                    .collect();
                Selection::plain(list.join(", "))
            }
            17..20 => {
                let count = 1 + self.below(3);
                let list: Vec<_> = (0..count).map(|_| self.aggregate()).collect();
                Selection::aggregate(list.join(", "))
            }
            20..22 => self.grouped(),
            22 => {
                let mut list = names(&table.partition);
                if let Some(column) = table.statics.first() {
                    list = format!("{list}, {}", column.name);
                }
                Selection { distinct: true, ..Selection::plain(format!("DISTINCT {list}")) }
            }
            _ => Selection::plain(format!(
                "token({}), {}",
                names(&table.partition),
                data[self.below(data.len())].name
            )),
        }
    }

    fn grouped(&mut self) -> Selection {
        let table = self.table;
        let mut list: Vec<_> = table.partition.iter().map(|c| c.name.clone()).collect();
        let depth = self.below(table.clustering.len() + 1);
        list.extend(table.clustering.iter().take(depth).map(|c| c.name.clone()));
        let list = list.join(", ");
        let aggregate = self.aggregate();
        let also = if self.chance(30) { format!(", {}", self.aggregate()) } else { String::new() };
        Selection {
            group: format!(" GROUP BY {list}"),
            ..Selection::aggregate(format!("{list}, {aggregate}{also}"))
        }
    }

    fn aggregate(&mut self) -> String {
        let all = self.table.all();
        let column = self.pick(&all);
        let name = &column.name;
        let number = column.kind.group() == Some(Group::Number);
        match self.below(6) {
            0 => "count(*)".into(),
            // Cassandra answers min and max of a timeuuid as a type that drivers cannot read (COMPAT.md).
            1 | 2
                if column.kind.group().is_some()
                    && column.kind.is_ordered()
                    && !column.kind.is_named("timeuuid") =>
            {
                format!("{}({name})", self.random.one_of(&["min", "max"]))
            }
            3 | 4 if number => format!("{}({name})", self.random.one_of(&["sum", "avg"])),
            _ => format!("count({name})"),
        }
    }

    /// Something made from the column that its type allows.
    fn expression(&mut self, column: &Column) -> String {
        let name = &column.name;
        if column.role == Role::Regular && self.chance(10) {
            return format!("{}({name})", self.random.one_of(&["writetime", "ttl", "maxwritetime"]));
        }
        if self.chance(10) {
            // Cassandra names the column after whichever spelling was used first since it started.
            return format!("{}({name}) AS j", self.random.one_of(&["to_json", "toJson"]));
        }
        // Cassandra does not recognise a collection, nor a type that needs no cast, in a descending column (COMPAT.md).
        let descending = self.table.is_descending(column);
        match column.kind.inner() {
            Kind::List(_) | Kind::Set(_) | Kind::Map(..) if descending => name.clone(),
            Kind::Native(native) => match native.group {
                Group::Number if descending => format!("{name} + 1"),
                Group::Number => self.of_number(name, native.name),
                Group::Text => match self.below(4) {
                    0 => format!("{name} + 'x'"),
                    1 => format!("{}_as_blob({name})", native.name),
                    2 if !descending => format!("cast({name} AS text)"),
                    _ => name.clone(),
                },
                Group::Moment if descending => format!("to_unix_timestamp({name})"),
                Group::Moment => self.of_moment(name, native.name),
                Group::Other | Group::Duration => match self.below(3) {
                    0 if native.name != "blob" => format!("{}_as_blob({name})", native.name),
                    1 if native.name != "blob" && native.name != "duration" => {
                        format!("cast({name} AS text)")
                    }
                    _ => name.clone(),
                },
            },
            Kind::Map(key, _) => match self.below(5) {
                0 => format!("{name}[{}]", key.constant(self.random).cql),
                1 => format!("map_keys({name})"),
                2 => format!("map_values({name})"),
                3 => format!("collection_count({name})"),
                _ => {
                    let (from, to) = (key.constant(self.random).cql, key.constant(self.random).cql);
                    // A bound without bytes is no bound to Cassandra, or one that nothing passes (COMPAT.md).
                    let no_bytes = [&from, &to].iter().any(|bound| *bound == "0x" || *bound == "''");
                    if no_bytes { name.clone() } else { format!("{name}[{from}..{to}]") }
                }
            },
            Kind::List(element) => self.of_elements(name, element),
            Kind::Set(element) if self.chance(30) => format!("{name}[{}]", element.constant(self.random).cql),
            Kind::Set(element) => self.of_elements(name, element),
            Kind::Udt { fields, .. } => format!("{name}.{}", fields[self.below(fields.len())].0),
            Kind::Vector(element, _) if element.is_named("float") && self.chance(60) => {
                let function = self.random.one_of(&["cosine", "euclidean", "dot_product"]);
                format!("similarity_{function}({name}, [1.5, -2.0, 0.25])")
            }
            _ => name.clone(),
        }
    }

    fn of_number(&mut self, name: &str, kind: &str) -> String {
        let whole = ["int", "bigint", "smallint", "tinyint", "varint"].contains(&kind);
        match self.below(8) {
            0 => format!("{name} + {}", self.random.one_of(&["1", "(int)1", "(bigint)2", "1.5"])),
            1 => format!(
                "{name} * {}",
                self.random.one_of(&["2", "(double)0.5", "(decimal)1.25", "(tinyint)3"])
            ),
            2 => format!("{name} % {}", self.random.one_of(&["3", "(smallint)7"])),
            3 => format!("{name} / {}", self.random.one_of(&["2", "(bigint)4", "(float)0.5"])),
            4 => format!("{}({name})", self.random.one_of(&["abs", "round", "exp", "log", "log10"])),
            5 => format!(
                "cast({name} AS {})",
                self.random.one_of(&["text", "int", "bigint", "double", "varint", "decimal"])
            ),
            6 if whole => format!("-{name}"),
            _ => format!("{kind}_as_blob({name})"),
        }
    }

    fn of_moment(&mut self, name: &str, kind: &str) -> String {
        match (self.below(5), kind) {
            (0, "timestamp") => format!("to_date({name})"),
            (0, "date") => format!("to_timestamp({name})"),
            (0, _) => format!("{}({name})", self.random.one_of(&["to_date", "to_timestamp", "toTimestamp"])),
            (1, "timestamp" | "date") => {
                format!(
                    "{name} {} {}",
                    self.random.one_of(&["+", "-"]),
                    self.random.one_of(&["1d", "2mo", "1y3d"])
                )
            }
            (2, _) => format!("to_unix_timestamp({name})"),
            (3, "timestamp") => format!("floor({name}, {})", self.random.one_of(&["1h", "1d", "1mo", "90s"])),
            (3, _) => format!("cast({name} AS {})", self.random.one_of(&["text", "timestamp", "date"])),
            _ => format!("{kind}_as_blob({name})"),
        }
    }

    fn of_elements(&mut self, name: &str, element: &Kind) -> String {
        let number = element.group() == Some(Group::Number);
        let function = match self.below(4) {
            0 => "collection_min",
            1 if number => "collection_sum",
            2 if number => "collection_avg",
            _ => "collection_count",
        };
        format!("{function}({name})")
    }
}
