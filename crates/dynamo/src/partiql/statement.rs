//! Statements after parsing: tables by name, conditions and updates as trees, parameters filled in.

use crate::expression::{Condition, Path, Step, Update};
use crate::value::Item;

/// What a SELECT shows: each column under the name of its last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(pub Vec<(String, Path)>);

impl Columns {
    /// The row that an item makes.
    pub fn apply(&self, item: &Item) -> Item {
        let one = |(name, path): &(String, Path)| path.find(item).map(|value| (name.clone(), value.clone()));
        self.0.iter().filter_map(one).collect()
    }

    /// `a` for `m.a`, `b[1]` for `m.b[1]`.
    pub(super) fn name_of(path: &Path) -> String {
        let last = path.steps.iter().rposition(|step| matches!(step, Step::Name(_)));
        let (mut name, rest) = match last.map(|at| (&path.steps[at], at + 1)) {
            Some((Step::Name(name), at)) => (name.clone(), &path.steps[at..]),
            _ => (path.name.clone(), path.steps.as_slice()),
        };
        for step in rest {
            if let Step::Index(index) = step {
                name.push_str(&format!("[{index}]"));
            }
        }
        name
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectStatement {
    pub table: String,
    pub index: Option<String>,
    /// None for `*`.
    pub columns: Option<Columns>,
    pub condition: Option<Condition>,
    /// Attribute and whether it ascends.
    pub order: Vec<(String, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returning {
    AllOld,
    AllNew,
    ModifiedOld,
    ModifiedNew,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteStatement {
    pub table: String,
    pub condition: Option<Condition>,
    /// Empty for DELETE.
    pub update: Update,
    pub returning: Option<Returning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    Select(SelectStatement),
    Insert {
        table: String,
        item: Item,
    },
    Update(WriteStatement),
    Delete(WriteStatement),
    /// Only within ExecuteTransaction.
    Exists(SelectStatement),
}

impl Parsed {
    pub fn table(&self) -> &str {
        match self {
            Parsed::Select(select) | Parsed::Exists(select) => &select.table,
            Parsed::Insert { table, .. } => table,
            Parsed::Update(write) | Parsed::Delete(write) => &write.table,
        }
    }

    /// Reads and writes do not go together in a batch.
    pub fn is_read(&self) -> bool {
        matches!(self, Parsed::Select(_))
    }

    pub fn returning(&self) -> Option<Returning> {
        match self {
            Parsed::Update(write) | Parsed::Delete(write) => write.returning,
            _ => None,
        }
    }
}
