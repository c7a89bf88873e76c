//! Statements that are wrong in one way, to compare what is refused and how. A few of them turn out to be legal.

use super::Sent;
use super::kind::Kind;
use super::maker::Maker;
use super::schema::{Table, names};
use super::seeded::Seeded;

pub fn statement(random: &mut Seeded, table: &Table) -> Sent {
    if random.chance(30) {
        let sent = if random.chance(50) {
            super::read::statement(random, table)
        } else {
            super::write::statement(random, table)
        };
        // Values that were bound to other places could not even be sent, and bytes in the place of a tinyint or a tuple
        // are not looked at by Cassandra (COMPAT.md).
        if !sent.options.bind.is_empty() || sent.text.contains("0x") {
            return sent;
        }
        return Sent { kind: "wrong words", text: damaged(random, &sent.text), ..sent };
    }
    let mut maker = Maker::new(random, table);
    maker.unbound();
    let text = match maker.below(3) {
        0 => maker.wrong_select(),
        1 => maker.wrong_write(),
        _ => maker.wrong_value(),
    };
    maker.sent("wrong", text)
}

/// The statement with a word left out, said twice, or exchanged with the next.
fn damaged(random: &mut Seeded, text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    let at = random.below(words.len());
    if words[at].starts_with('-') {
        // A number after a number is a subtraction here (COMPAT.md).
        return words[..at].join(" ");
    }
    match random.below(3) {
        0 => drop(words.remove(at)),
        1 => words.insert(at, words[at]),
        _ if at + 1 < words.len() => words.swap(at, at + 1),
        _ => drop(words.pop()),
    }
    words.join(" ")
}

impl Maker<'_> {
    fn any_column(&mut self) -> String {
        self.pick(&self.table.all()).name.clone()
    }

    fn wrong_select(&mut self) -> String {
        let table = self.table;
        let partition = self.equal(&table.partition).join(" AND ");
        let column = self.any_column();
        let data = self.pick(&table.data()).name.clone();
        let key = names(&table.partition);
        let first = table.partition[0].name.clone();
        match self.below(29) {
            0 => format!("SELECT nope FROM t WHERE {partition}"),
            1 => "SELECT * FROM nope".into(),
            2 => format!("SELECT * FROM t WHERE {partition} AND nope = 1"),
            3 => format!("SELECT * FROM t WHERE {}", self.filter(&table.regular[0])),
            4 => format!("SELECT * FROM t WHERE {first} > {}", self.value(&table.partition[0])),
            5 => format!("SELECT * FROM t WHERE {partition} ORDER BY {column} ASC"),
            6 => format!("SELECT * FROM t ORDER BY {column}"),
            7 => format!(
                "SELECT * FROM t WHERE {partition} LIMIT {}",
                self.random.one_of(&["0", "-1", "'a'", "null", "2147483648"])
            ),
            8 => format!(
                "SELECT * FROM t WHERE {partition} PER PARTITION LIMIT {}",
                self.random.one_of(&["0", "-1"])
            ),
            // Of a descending column Cassandra does not know that it is a collection (COMPAT.md).
            9 => format!("SELECT * FROM t WHERE {partition} AND {data} CONTAINS 1 ALLOW FILTERING"),
            10 => format!("SELECT DISTINCT {column} FROM t"),
            11 => format!("SELECT {}({column}) FROM t", self.random.one_of(&["writetime", "ttl"])),
            12 => {
                format!(
                    "SELECT {}({data}) FROM t WHERE {partition}",
                    self.random.one_of(&[
                        "collection_count",
                        "map_keys",
                        "map_values",
                        "collection_min",
                        "collection_max",
                        "collection_sum",
                        "collection_avg",
                    ])
                )
            }
            13 => format!("SELECT nope({column}) FROM t"),
            14 => format!(
                "SELECT {}({column}, {column}) FROM t",
                self.random.one_of(&["min", "abs", "to_date", "to_json"])
            ),
            15 => format!("SELECT * FROM t WHERE token({column}) > 0"),
            16 => format!("SELECT * FROM t WHERE token({key}) > 'a'"),
            17 => format!("SELECT *, count(*) FROM t WHERE {partition}"),
            18 => format!("SELECT {column}, count(*) FROM t WHERE {partition} GROUP BY {column}"),
            19 => format!("SELECT {column} FROM t WHERE {partition} GROUP BY {key}, {column}"),
            20 => match table.clustering.last() {
                Some(last) => {
                    format!("SELECT * FROM t WHERE {partition} AND {} = {}", last.name, self.value(last))
                }
                None => format!("SELECT * FROM t WHERE {partition} AND {partition}"),
            },
            21 => format!("SELECT * FROM t WHERE {partition} AND ({data}) = (1)"),
            22 => match table.clustering.first() {
                Some(c) => format!(
                    "SELECT * FROM t WHERE {partition} AND {0} > {1} AND {0} >= {1}",
                    c.name,
                    self.value(c)
                ),
                None => format!("SELECT * FROM t WHERE {partition} AND {first} IN ()"),
            },
            23 => format!("SELECT {column}[0] FROM t WHERE {partition}"),
            24 => format!("SELECT {column}.nope FROM t WHERE {partition}"),
            25 => format!("SELECT {column} + {data} FROM t WHERE {partition}"),
            26 => format!("SELECT {}({data}) FROM t WHERE {partition}", self.random.one_of(&["sum", "avg"])),
            27 => format!(
                "SELECT {}({data}) FROM t WHERE {partition}",
                self.random.one_of(&["exp", "log", "log10", "abs", "round"])
            ),
            _ => format!(
                "SELECT cast({data} AS {}) FROM t WHERE {partition}",
                self.random.one_of(&["int", "blob", "timestamp", "uuid"])
            ),
        }
    }

    fn wrong_write(&mut self) -> String {
        let table = self.table;
        let row = self.row_key();
        let partition = self.equal(&table.partition).join(" AND ");
        let set = self.assignment(&table.regular[0]);
        let column = self.any_column();
        let regular = table.regular[0].name.clone();
        match self.below(20) {
            0 => format!("UPDATE t SET nope = 1 WHERE {row}"),
            1 => format!("UPDATE t SET {set} WHERE {partition}"),
            2 => format!("UPDATE t SET {set} WHERE {row} AND {regular} = 1"),
            3 => format!(
                "UPDATE t SET {} = {} WHERE {row}",
                table.partition[0].name,
                self.value(&table.partition[0])
            ),
            4 => format!("DELETE {regular} FROM t WHERE {partition}"),
            5 => format!("DELETE {column} FROM t WHERE {row}"),
            6 => format!("UPDATE t SET {regular} = null, {regular} = null WHERE {row}"),
            7 => format!("UPDATE t USING TIMESTAMP 5 SET {set} WHERE {row} IF EXISTS"),
            8 => format!(
                "UPDATE t USING TTL {} SET {set} WHERE {row}",
                self.random.one_of(&["-1", "630720001", "'a'", "null"])
            ),
            9 => format!("INSERT INTO t ({column}) VALUES (null)"),
            10 => format!("INSERT INTO t ({}, {column}) VALUES (null, null)", table.partition[0].name),
            11 => format!("INSERT INTO t ({}) VALUES (1, 2, 3)", names(&table.partition)),
            12 => format!("INSERT INTO t JSON '{{\"nope\": 1, \"{column}\": null}}'"),
            13 => "INSERT INTO t JSON '{'".into(),
            14 => format!("INSERT INTO t JSON '{{\"{column}\": []}}'"),
            15 => format!(
                "DELETE FROM t WHERE {} > {}",
                table.partition[0].name,
                self.value(&table.partition[0])
            ),
            16 => format!("UPDATE t SET {set} WHERE {row} IF {} = 1", table.partition[0].name),
            17 => format!("UPDATE t SET {regular} = {regular} + {regular} WHERE {row}"),
            18 => format!("BEGIN BATCH USING TTL 5 UPDATE t SET {set} WHERE {row}; APPLY BATCH"),
            _ => match table.clustering.first() {
                Some(c) => format!("UPDATE t SET {set} WHERE {partition} AND {} > {}", c.name, self.value(c)),
                None => format!("DELETE FROM t WHERE {partition} IF nope = 1"),
            },
        }
    }

    /// A value of another type than the column has.
    fn wrong_value(&mut self) -> String {
        let table = self.table;
        let kind = Kind::for_data(self.random, table.udt.as_ref());
        let value = kind.constant(self.random).cql;
        let all = table.all();
        let column = self.pick(&all);
        let name = &column.name;
        // Keys keep neither the scale of decimals nor how short a tuple was (COMPAT.md), and values of other types have
        // scales that ours leave out, or are one value for a whole tuple.
        let types = [column.kind.name(), table.regular[0].kind.name()];
        if types.iter().any(|name| name.contains("decimal")) || column.is_key() && types[0].contains("tuple")
        {
            return self.wrong_write();
        }
        // Cassandra takes bytes for a tuple without looking at them (COMPAT.md).
        // And it ignores a write that says `{}` for a map in a descending column.
        let unfit = value.contains("0x") || value == "{}";
        let value = if unfit { "1.5e300".to_string() } else { value };
        match self.below(5) {
            0 => {
                let mut names = Vec::new();
                let mut values = Vec::new();
                for key in table.partition.iter().chain(&table.clustering) {
                    names.push(key.name.clone());
                    values.push(if key.name == *name { value.clone() } else { self.value(key) });
                }
                if !column.is_key() {
                    names.push(name.clone());
                    values.push(value);
                }
                format!("INSERT INTO t ({}) VALUES ({})", names.join(", "), values.join(", "))
            }
            // Arithmetic on such a column is Cassandra's word against an extension of ours (COMPAT.md).
            4 if matches!(table.regular[0].kind, Kind::Native(_)) => {
                format!("UPDATE t SET {} = {value} WHERE {}", table.regular[0].name, self.row_key())
            }
            1 => format!("UPDATE t SET {} = {value} WHERE {}", table.regular[0].name, self.row_key()),
            2 => format!("SELECT * FROM t WHERE {name} = {value} ALLOW FILTERING"),
            3 => format!(
                "UPDATE t SET {} = {value} WHERE {} IF {name} = {value}",
                table.regular[0].name,
                self.row_key()
            ),
            _ => format!("UPDATE t SET {0} = {0} + {value} WHERE {1}", table.regular[0].name, self.row_key()),
        }
    }
}
