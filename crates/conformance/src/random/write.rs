//! Random INSERT, UPDATE and DELETE statements and plain batches.

use super::Sent;
use super::kind::Kind;
use super::maker::Maker;
use super::schema::{Column, Role, Stamps, Table, names};
use super::seeded::Seeded;

pub fn statement(random: &mut Seeded, table: &Table) -> Sent {
    let mut maker = Maker::new(random, table);
    let conditional = if table.stamps == Stamps::Clock { 30 } else { 8 };
    if maker.chance(conditional) {
        return super::conditional::statement(maker);
    }
    let (kind, text) = match maker.below(100) {
        0..40 => ("INSERT", maker.insert(true)),
        40..45 => ("INSERT JSON", maker.insert_json()),
        45..70 => ("UPDATE", maker.update(true)),
        70..90 => ("DELETE", maker.delete(true)),
        _ => ("BATCH", maker.batch()),
    };
    maker.sent(kind, text)
}

impl Maker<'_> {
    /// ` USING TIMESTAMP 5 AND TTL 7`, from a narrow range so that writes meet and tie.
    fn using(&mut self, stamped: bool, with_ttl: bool) -> String {
        let mut parts = Vec::new();
        if stamped && self.table.stamps == Stamps::Chosen {
            parts.push(format!("TIMESTAMP {}", 1_000 + self.below(40)));
        }
        if with_ttl && self.chance(15) {
            parts.push(format!("TTL {}", self.below(300)));
        }
        if parts.is_empty() { String::new() } else { format!(" USING {}", parts.join(" AND ")) }
    }

    pub fn row_key(&mut self) -> String {
        let mut parts = self.equal(&self.table.partition);
        parts.extend(self.equal(&self.table.clustering));
        parts.join(" AND ")
    }

    fn some<'t>(&mut self, columns: &[&'t Column]) -> Vec<&'t Column> {
        columns.iter().filter(|_| self.chance(60)).copied().collect()
    }

    pub fn insert(&mut self, stamped: bool) -> String {
        let table = self.table;
        let only_static = !table.statics.is_empty() && self.chance(12);
        let data: Vec<&Column> = if only_static { table.statics.iter().collect() } else { table.data() };
        let keys = table.partition.iter().chain(table.clustering.iter().filter(|_| !only_static));
        let mut chosen: Vec<&Column> = keys.collect();
        chosen.extend(self.some(&data));
        let names: Vec<_> = chosen.iter().map(|c| c.name.clone()).collect();
        let values: Vec<_> = chosen.iter().map(|c| self.written(c)).collect();
        let using = self.using(stamped, table.insert_ttl);
        format!("INSERT INTO t ({}) VALUES ({}){using}", names.join(", "), values.join(", "))
    }

    fn insert_json(&mut self) -> String {
        let table = self.table;
        let mut chosen: Vec<&Column> = table.partition.iter().chain(&table.clustering).collect();
        chosen.extend(self.some(&table.data()));
        let fields: Vec<_> = chosen
            .iter()
            .map(|c| {
                let null = !c.is_key() && self.chance(8);
                let json = if null { "null".to_string() } else { c.constant(self.random).json };
                format!("\"{}\": {json}", c.name)
            })
            .collect();
        let default = self.random.one_of(&["", " DEFAULT NULL", " DEFAULT UNSET"]);
        format!(
            "INSERT INTO t JSON '{{{}}}'{default}{}",
            fields.join(", "),
            self.using(true, table.insert_ttl)
        )
    }

    pub fn assignment(&mut self, column: &Column) -> String {
        let name = &column.name;
        let choice = self.below(7);
        match (&column.kind, choice) {
            (Kind::List(element), 1 | 2) => format!("{name} = {name} + [{}]", self.inside(element)),
            (Kind::List(element), 3) => format!("{name} = [{}] + {name}", self.inside(element)),
            (Kind::List(element), 4) => format!("{name} = {name} - [{}]", self.inside(element)),
            (Kind::List(element), 5) => {
                let index = self.below(2);
                format!("{name}[{index}] = {}", self.of(element))
            }
            (Kind::List(_), 6) => format!("{name} += {}", self.value(column)),
            (Kind::Set(element), 1 | 2) => format!("{name} = {name} + {{{}}}", self.inside(element)),
            (Kind::Set(element), 3) => format!("{name} = {name} - {{{}}}", self.inside(element)),
            (Kind::Set(_), 4) => format!("{name} -= {}", self.value(column)),
            (Kind::Map(key, value), 1 | 2) => {
                let key = self.of(key);
                format!("{name}[{key}] = {}", self.of(value))
            }
            (Kind::Map(key, value), 3) => {
                let key = self.inside(key);
                format!("{name} = {name} + {{{key}: {}}}", self.inside(value))
            }
            (Kind::Map(key, _), 4) => format!("{name} = {name} - {{{}}}", self.inside(key)),
            (Kind::Map(key, _), 5) => format!("{name}[{}] = null", self.of(key)),
            (Kind::Udt { fields, .. }, 1..5) => {
                let (field, kind) = &fields[self.below(fields.len())];
                if self.chance(15) {
                    return format!("{name}.{field} = null");
                }
                format!("{name}.{field} = {}", self.of(kind))
            }
            _ => format!("{name} = {}", self.written(column)),
        }
    }

    pub fn update(&mut self, stamped: bool) -> String {
        let table = self.table;
        let only_static = !table.statics.is_empty() && self.chance(20);
        let data: Vec<&Column> = if only_static { table.statics.iter().collect() } else { table.data() };
        let mut chosen = self.some(&data);
        if chosen.is_empty() {
            chosen = data.last().copied().into_iter().collect();
        }
        let using = self.using(stamped, true);
        let sets: Vec<_> = chosen.iter().map(|c| self.assignment(c)).collect();
        let whole = chosen.iter().any(|c| c.role == Role::Regular);
        let place = if whole { self.row_key() } else { self.equal(&table.partition).join(" AND ") };
        format!("UPDATE t{using} SET {} WHERE {place}", sets.join(", "))
    }

    /// What `DELETE` may name: a column, or a part of one.
    pub fn target(&mut self, column: &Column) -> String {
        let name = &column.name;
        match &column.kind {
            Kind::Map(key, _) if self.chance(60) => format!("{name}[{}]", self.of(key)),
            Kind::Set(element) if self.chance(60) => format!("{name}[{}]", self.of(element)),
            Kind::List(_) if self.chance(40) => format!("{name}[{}]", self.below(2)),
            Kind::Udt { fields, .. } if self.chance(60) => {
                format!("{name}.{}", fields[self.below(fields.len())].0)
            }
            _ => name.clone(),
        }
    }

    pub fn delete(&mut self, stamped: bool) -> String {
        let table = self.table;
        match self.below(12) {
            0..3 => {
                let statics = !table.statics.is_empty() && self.chance(25);
                let columns = if statics { &table.statics } else { &table.regular };
                let column = self.one(columns);
                let target = self.target(column);
                let using = self.using(stamped, false);
                let place = if statics { self.equal(&table.partition).join(" AND ") } else { self.row_key() };
                format!("DELETE {target} FROM t{using} WHERE {place}")
            }
            3 if self.chance(60) => {
                let using = self.using(stamped, false);
                format!("DELETE FROM t{using} WHERE {}", self.equal(&table.partition).join(" AND "))
            }
            4 => {
                let using = self.using(stamped, false);
                let mut parts = Vec::new();
                for column in table.partition.iter().chain(&table.clustering) {
                    let count = 1 + self.below(2);
                    parts.push(format!("{} IN {}", column.name, self.list(column, count)));
                }
                format!("DELETE FROM t{using} WHERE {}", parts.join(" AND "))
            }
            5..9 if !table.clustering.is_empty() => {
                let using = self.using(stamped, false);
                let mut parts = self.equal(&table.partition);
                self.clustering(&mut parts);
                format!("DELETE FROM t{using} WHERE {}", parts.join(" AND "))
            }
            9 if table.clustering.len() > 1 => {
                let using = self.using(stamped, false);
                let mut parts = self.equal(&table.partition);
                let depth = 1 + self.below(table.clustering.len() - 1);
                let columns = &table.clustering[..depth];
                parts.push(format!("({}) = {}", names(columns), self.tuple(columns)));
                format!("DELETE FROM t{using} WHERE {}", parts.join(" AND "))
            }
            _ => {
                let using = self.using(stamped, false);
                format!("DELETE FROM t{using} WHERE {}", self.row_key())
            }
        }
    }

    fn batch(&mut self) -> String {
        let kind = self.random.one_of(&["", "UNLOGGED "]);
        // One timestamp for all, or each its own.
        let whole = self.table.stamps == Stamps::Chosen && self.chance(30);
        let using = if whole { self.using(true, false) } else { String::new() };
        let count = 1 + self.below(4);
        let parts: Vec<_> = (0..count)
            .map(|_| match self.below(3) {
                0 => self.update(!whole),
                1 => self.delete(!whole),
                _ => self.insert(!whole),
            })
            .collect();
        format!("BEGIN {kind}BATCH{using} {}; APPLY BATCH", parts.join("; "))
    }
}
