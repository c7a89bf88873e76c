//! A random table, with the few constants that its columns take.

use super::kind::{Constant, Kind};
use super::seeded::Seeded;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Partition,
    Clustering,
    Static,
    Regular,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub role: Role,
    /// The constants that statements use for the column.
    pool: Vec<Constant>,
}

/// Few keys, so that statements meet; more values.
const KEY_POOL: usize = 4;
const DATA_POOL: usize = 7;

impl Column {
    fn new(random: &mut Seeded, name: String, kind: Kind, role: Role) -> Column {
        let key = matches!(role, Role::Partition | Role::Clustering);
        let count = if key { KEY_POOL } else { DATA_POOL };
        let mut pool = Vec::new();
        while pool.is_empty() {
            pool = (0..count).map(|_| kind.constant(random)).collect();
            if role == Role::Clustering && matches!(kind.inner(), Kind::Map(..)) {
                // Where such a column is descending, Cassandra ignores a write that says `{}` (COMPAT.md).
                pool.retain(|c: &Constant| c.cql != "{}");
            }
            if role == Role::Partition {
                // A lone empty partition key is refused, so that it stays a rare case of its own.
                pool.retain(|c: &Constant| c.cql != "''" && c.cql != "0x");
            }
        }
        Column { name, kind, role, pool }
    }

    pub fn constant(&self, random: &mut Seeded) -> Constant {
        let index = random.below(self.pool.len());
        self.pool[index].clone()
    }

    pub fn is_key(&self) -> bool {
        matches!(self.role, Role::Partition | Role::Clustering)
    }
}

/// How the writes of a round are stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamps {
    /// Chosen, from a narrow range: writes meet, tie and come out of order.
    Chosen,
    /// The server's clock: conditional and plain writes follow each other.
    Clock,
}

#[derive(Debug, Clone)]
pub struct Table {
    pub udt: Option<Kind>,
    pub partition: Vec<Column>,
    pub clustering: Vec<Column>,
    /// For each clustering column.
    pub descending: Vec<bool>,
    pub statics: Vec<Column>,
    pub regular: Vec<Column>,
    pub stamps: Stamps,
    /// INSERT may have a TTL. With an expired row marker, what Cassandra shows of a row depends on the columns asked
    /// for (COMPAT.md), so the reads of such a round ask for all of them.
    pub insert_ttl: bool,
    pub default_ttl: Option<usize>,
    /// Columns that ALTER TABLE has added so far.
    added: usize,
}

impl Table {
    pub fn random(random: &mut Seeded) -> Table {
        let udt = random.chance(40).then(|| Kind::udt(random, "u"));
        let mut table = Table {
            udt,
            partition: Vec::new(),
            clustering: Vec::new(),
            descending: Vec::new(),
            statics: Vec::new(),
            regular: Vec::new(),
            stamps: if random.chance(50) { Stamps::Chosen } else { Stamps::Clock },
            insert_ttl: random.chance(20),
            default_ttl: None,
            added: 0,
        };
        let counts = [
            (Role::Partition, 1 + usize::from(random.chance(30))),
            (Role::Clustering, random.below(4)),
            (Role::Static, random.below(3)),
            (Role::Regular, 1 + random.below(4)),
        ];
        for (role, count) in counts {
            if role == Role::Static && table.clustering.is_empty() {
                continue;
            }
            for index in 0..count {
                table.add(random, role, index);
            }
        }
        table.descending = table.clustering.iter().map(|_| random.chance(40)).collect();
        if table.insert_ttl && random.chance(40) {
            table.default_ttl = Some(1 + random.below(400));
        }
        table
    }

    fn add(&mut self, random: &mut Seeded, role: Role, index: usize) -> &Column {
        let udt = self.udt.as_ref();
        let (prefix, kind) = match role {
            Role::Partition => ("p", Kind::for_key(random, udt)),
            Role::Clustering => ("c", Kind::for_key(random, udt)),
            Role::Static => ("s", Kind::for_data(random, udt)),
            Role::Regular => ("v", Kind::for_data(random, udt)),
        };
        let column = Column::new(random, format!("{prefix}{index}"), kind, role);
        let columns = match role {
            Role::Partition => &mut self.partition,
            Role::Clustering => &mut self.clustering,
            Role::Static => &mut self.statics,
            Role::Regular => &mut self.regular,
        };
        columns.push(column);
        &columns[columns.len() - 1]
    }

    /// ALTER TABLE … ADD of a regular column with a name that was never there.
    pub fn grow(&mut self, random: &mut Seeded) -> String {
        let index = 10 + self.added;
        self.added += 1;
        let column = self.add(random, Role::Regular, index);
        format!("ALTER TABLE t ADD {} {}", column.name, column.kind.name())
    }

    /// ALTER TABLE … DROP of the last regular column, as long as another stays.
    pub fn shed(&mut self) -> Option<String> {
        if self.regular.len() < 2 {
            return None;
        }
        let column = self.regular.pop()?;
        Some(format!("ALTER TABLE t DROP {}", column.name))
    }

    /// The statements that make the table.
    pub fn create(&self) -> Vec<String> {
        let mut statements = Vec::new();
        if let Some(Kind::Udt { name, fields }) = &self.udt {
            let fields: Vec<_> =
                fields.iter().map(|(name, kind)| format!("{name} {}", kind.name())).collect();
            statements.push(format!("CREATE TYPE {name} ({})", fields.join(", ")));
        }
        let mut columns = Vec::new();
        for column in self.partition.iter().chain(&self.clustering).chain(&self.regular) {
            columns.push(format!("{} {}", column.name, column.kind.name()));
        }
        for column in &self.statics {
            columns.push(format!("{} {} STATIC", column.name, column.kind.name()));
        }
        let mut key = format!("({})", names(&self.partition));
        if !self.clustering.is_empty() {
            key = format!("{key}, {}", names(&self.clustering));
        }
        let mut options = Vec::new();
        if !self.clustering.is_empty() {
            let order = |(column, desc): (&Column, &bool)| format!("{} {}", column.name, direction(*desc));
            let orders: Vec<_> = self.clustering.iter().zip(&self.descending).map(order).collect();
            options.push(format!("CLUSTERING ORDER BY ({})", orders.join(", ")));
        }
        if let Some(ttl) = self.default_ttl {
            options.push(format!("default_time_to_live = {ttl}"));
        }
        let with =
            if options.is_empty() { String::new() } else { format!(" WITH {}", options.join(" AND ")) };
        statements.push(format!("CREATE TABLE t ({}, PRIMARY KEY ({key})){with}", columns.join(", ")));
        statements
    }

    /// Columns outside the key.
    pub fn data(&self) -> Vec<&Column> {
        self.statics.iter().chain(&self.regular).collect()
    }

    pub fn is_descending(&self, column: &Column) -> bool {
        let at = self.clustering.iter().position(|c| c.name == column.name);
        at.and_then(|at| self.descending.get(at)).copied().unwrap_or(false)
    }

    pub fn all(&self) -> Vec<&Column> {
        self.partition.iter().chain(&self.clustering).chain(&self.statics).chain(&self.regular).collect()
    }
}

pub fn names(columns: &[Column]) -> String {
    columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ")
}

pub fn direction(descending: bool) -> &'static str {
    if descending { "DESC" } else { "ASC" }
}
