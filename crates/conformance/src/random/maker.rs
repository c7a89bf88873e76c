//! What the making of one statement needs: the numbers, the table, and where constants go.
//!
//! A statement is either all text or bound: then constants become `?` and their JSON forms are the bound values, in the
//! order in which they appear. Makers therefore ask for terms from left to right.

use super::Sent;
use super::kind::{Constant, Kind};
use super::schema::{Column, Table};
use super::seeded::Seeded;

pub struct Maker<'a> {
    pub random: &'a mut Seeded,
    pub table: &'a Table,
    bound: bool,
    bind: Vec<String>,
}

impl<'a> Maker<'a> {
    pub fn new(random: &'a mut Seeded, table: &'a Table) -> Maker<'a> {
        let bound = random.chance(30);
        Maker { random, table, bound, bind: Vec::new() }
    }

    /// The finished statement; `kind` is what the report counts it as.
    pub fn sent(self, kind: &'static str, text: String) -> Sent {
        let mut sent = Sent::new(kind, text);
        sent.options.bind = self.bind;
        sent
    }

    /// From here on constants are written into the text.
    pub fn unbound(&mut self) {
        self.bound = false;
    }

    pub fn term(&mut self, constant: Constant) -> String {
        if self.bound && self.random.chance(80) {
            self.bind.push(constant.json);
            return "?".into();
        }
        constant.cql
    }

    /// A constant of the column.
    pub fn value(&mut self, column: &Column) -> String {
        let constant = column.constant(self.random);
        self.term(constant)
    }

    /// A constant of a type that belongs to no column.
    pub fn of(&mut self, kind: &Kind) -> String {
        let constant = kind.constant(self.random);
        self.term(constant)
    }

    /// A constant inside the literal of a collection, where Cassandra takes no markers.
    pub fn inside(&mut self, kind: &Kind) -> String {
        if self.chance(3) { self.of(kind) } else { kind.constant(self.random).cql }
    }

    /// A value to write: now and then null, or a bound value that is not set.
    pub fn written(&mut self, column: &Column) -> String {
        if column.is_key() {
            return self.value(column);
        }
        match self.random.below(100) {
            0..7 => self.term(Constant { cql: "null".into(), json: "null".into() }),
            7..10 if self.bound => {
                self.bind.push("unset".into());
                "?".into()
            }
            _ => self.value(column),
        }
    }

    pub fn equal(&mut self, columns: &[Column]) -> Vec<String> {
        columns.iter().map(|c| format!("{} = {}", c.name, self.value(c))).collect()
    }

    /// `(a, b)` of the columns.
    pub fn tuple(&mut self, columns: &[Column]) -> String {
        let values: Vec<_> = columns.iter().map(|c| self.value(c)).collect();
        format!("({})", values.join(", "))
    }

    pub fn list(&mut self, column: &Column, count: usize) -> String {
        let values: Vec<_> = (0..count).map(|_| self.value(column)).collect();
        format!("({})", values.join(", "))
    }

    /// The same without repetitions.
    pub fn distinct_list(&mut self, column: &Column, count: usize) -> String {
        let (mut seen, mut values) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let constant = column.constant(self.random);
            if !seen.contains(&constant.cql) {
                seen.push(constant.cql.clone());
                values.push(self.term(constant));
            }
        }
        format!("({})", values.join(", "))
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.random.chance(percent)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit)
    }

    /// One of the columns; there is always one.
    pub fn one<'c>(&mut self, columns: &'c [Column]) -> &'c Column {
        &columns[self.random.below(columns.len())]
    }

    /// One of the columns; there is always one.
    pub fn pick<'c>(&mut self, columns: &[&'c Column]) -> &'c Column {
        columns[self.random.below(columns.len())]
    }
}
