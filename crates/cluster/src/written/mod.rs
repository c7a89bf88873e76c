//! What a write changes, read from its text: which rows of which tables, and whether a second cluster may be sent the same
//! statement or must be given what came of it.
//!
//! A statement may be repeated on another cluster, with the same timestamp, if its cells are the same there: it has no condition,
//! calls nothing that answers differently each time, and does not depend on what is stored (lists are, but for a list as a whole;
//! counters are not repeated at all). What cannot be repeated leads to keys whose rows are to be looked at again.

mod key;
#[cfg(test)]
mod tests;

pub use key::{Choice, Key, RowKey, Term};

use cql_syntax::Statement;
use cql_syntax::ast::{
    Assignment, AssignmentOp, Expr, ExprKind, Insert, InsertSource, Modification, Operand, QualifiedName,
    Relation, RelationOp, Subject, Target, Using,
};
use model::types::DataType;
use std::collections::{BTreeMap, BTreeSet};

/// A table that is being migrated, as far as its writes are concerned.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub keyspace: String,
    pub name: String,
    /// Name and type of each column of the partition key. Types that only a schema knows are `None`: their constants cannot be read.
    pub partition: Vec<(String, Option<DataType>)>,
    pub clustering: Vec<(String, Option<DataType>)>,
    /// Columns to which elements can be added, or from which they can be taken, as often as one likes.
    pub sets_and_maps: BTreeSet<String>,
    pub lists: BTreeSet<String>,
    pub is_counter: bool,
}

/// The tables that are being migrated.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    all: Vec<Facts>,
    by_name: BTreeMap<(String, String), usize>,
}

impl Tables {
    pub fn new(all: Vec<Facts>) -> Tables {
        let named = |(at, table): (usize, &Facts)| ((table.keyspace.clone(), table.name.clone()), at);
        let by_name = all.iter().enumerate().map(named).collect();
        Tables { all, by_name }
    }

    pub fn get(&self, at: usize) -> Option<&Facts> {
        self.all.get(at)
    }

    fn find(&self, name: &QualifiedName, keyspace: Option<&str>) -> Option<usize> {
        let keyspace = name.keyspace_str().or(keyspace)?;
        self.by_name.get(&(keyspace.to_string(), name.as_str().to_string())).copied()
    }
}

/// What becomes of a write on the second cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It is no table that is being migrated.
    Elsewhere,
    /// Counters: they are brought over when nobody writes them.
    Counter,
    /// The same statement with the same timestamp.
    Repeat,
    /// Its rows are looked at again afterwards.
    Look,
}

/// The rows of one table that a statement writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowWrite {
    /// Which of the tables; it means nothing for [`Way::Elsewhere`].
    pub table: usize,
    pub way: Way,
    /// `None`: the text does not say which rows.
    pub key: Option<Key>,
}

/// What a text writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    Rows(Vec<RowWrite>),
    /// It empties a table that is being migrated, or is a transaction: nothing that a second cluster can follow.
    Refused(&'static str),
    /// It is none that this server understands.
    Unknown,
}

/// Reads a write.
pub fn written(text: &str, keyspace: Option<&str>, tables: &Tables) -> Written {
    let Ok(parsed) = cql_syntax::parse_statement(text) else { return Written::Unknown };
    let reader = Reading { tables, keyspace };
    match &parsed.statement {
        Statement::Insert(insert) => Written::Rows(vec![reader.insert(insert)]),
        Statement::Update(update) => Written::Rows(vec![reader.update(update)]),
        Statement::Delete(delete) => Written::Rows(vec![reader.delete(delete)]),
        Statement::Batch(batch) => {
            let timed = is_fixed_using(&batch.using);
            let writes = batch.statements.iter().map(|statement| {
                let mut write = match statement {
                    Modification::Insert(insert) => reader.insert(insert),
                    Modification::Update(update) => reader.update(update),
                    Modification::Delete(delete) => reader.delete(delete),
                };
                if !timed && write.way == Way::Repeat {
                    write.way = Way::Look;
                }
                write
            });
            Written::Rows(writes.collect())
        }
        Statement::Truncate(name) if tables.find(name, keyspace).is_none() => Written::Rows(Vec::new()),
        Statement::Truncate(_) => Written::Refused("TRUNCATE"),
        Statement::Transaction(_) => Written::Refused("a transaction"),
        _ => Written::Unknown,
    }
}

struct Reading<'a> {
    tables: &'a Tables,
    keyspace: Option<&'a str>,
}

impl Reading<'_> {
    /// What the table alone decides; the closure looks at the rest.
    fn row(&self, name: &QualifiedName, look: impl FnOnce(&Facts) -> (bool, Option<Key>)) -> RowWrite {
        let Some(at) = self.tables.find(name, self.keyspace) else {
            return RowWrite { table: 0, way: Way::Elsewhere, key: None };
        };
        let Some(facts) = self.tables.get(at) else {
            return RowWrite { table: 0, way: Way::Elsewhere, key: None };
        };
        if facts.is_counter {
            return RowWrite { table: at, way: Way::Counter, key: None };
        }
        let (repeats, key) = look(facts);
        RowWrite { table: at, way: if repeats { Way::Repeat } else { Way::Look }, key }
    }

    fn insert(&self, insert: &Insert) -> RowWrite {
        self.row(&insert.table, |facts| {
            let timed = insert.if_not_exists.is_none() && is_fixed_using(&insert.using);
            match &insert.source {
                InsertSource::Json { value, .. } => (timed && is_fixed(value), None),
                InsertSource::Values { columns, values } => {
                    let fixed = values.iter().all(is_fixed);
                    let of = |name: &str| {
                        let at = columns.iter().position(|column| column.as_str() == name)?;
                        Term::of(values.get(at)?).map(Choice::One)
                    };
                    (timed && fixed, Key::of(facts, of))
                }
            }
        })
    }

    fn update(&self, update: &cql_syntax::ast::Update) -> RowWrite {
        self.row(&update.table, |facts| {
            let fixed = update.condition.is_none()
                && is_fixed_using(&update.using)
                && update.assignments.iter().all(|assignment| is_fixed_assignment(facts, assignment))
                && update.relations.iter().all(is_fixed_relation);
            (fixed, key_of(facts, &update.relations))
        })
    }

    fn delete(&self, delete: &cql_syntax::ast::Delete) -> RowWrite {
        self.row(&delete.table, |facts| {
            let fixed = delete.condition.is_none()
                && is_fixed_using(&delete.using)
                && delete.targets.iter().all(|target| is_fixed_target(facts, target))
                && delete.relations.iter().all(is_fixed_relation);
            (fixed, key_of(facts, &delete.relations))
        })
    }
}

fn key_of(facts: &Facts, relations: &[Relation]) -> Option<Key> {
    Key::of(facts, |name| {
        let about = |relation: &&Relation| matches!(&relation.subject, Subject::Column(column) if column.as_str() == name);
        let relation = relations.iter().find(about)?;
        match (relation.op, &relation.operand) {
            (RelationOp::Eq, Operand::One(value)) => Term::of(value).map(Choice::One),
            (RelationOp::In, Operand::List(values)) => {
                values.iter().map(Term::of).collect::<Option<Vec<_>>>().map(Choice::Any)
            }
            (RelationOp::In, Operand::One(value)) => Term::of(value).map(Choice::List),
            _ => None,
        }
    })
}

fn is_fixed_assignment(facts: &Facts, assignment: &Assignment) -> bool {
    let column = assignment.target.column().as_str();
    let same_each_time = match assignment.op {
        AssignmentOp::Set => is_fixed_target(facts, &assignment.target),
        AssignmentOp::Add | AssignmentOp::Subtract => facts.sets_and_maps.contains(column),
        AssignmentOp::Prepend => false,
    };
    same_each_time && is_fixed(&assignment.value)
}

/// Elements of lists are named by their place, which depends on what is stored.
fn is_fixed_target(facts: &Facts, target: &Target) -> bool {
    match target {
        Target::Column(_) | Target::Field { .. } => true,
        Target::Element { column, key } => facts.sets_and_maps.contains(column.as_str()) && is_fixed(key),
    }
}

fn is_fixed_relation(relation: &Relation) -> bool {
    let subject = match &relation.subject {
        Subject::Element { key, .. } => is_fixed(key),
        _ => true,
    };
    subject
        && match &relation.operand {
            Operand::None => true,
            Operand::One(value) => is_fixed(value),
            Operand::List(values) => values.iter().all(is_fixed),
            Operand::Range(from, to) => is_fixed(from) && is_fixed(to),
        }
}

fn is_fixed_using(using: &Using) -> bool {
    using.items.iter().all(|item| is_fixed(&item.value))
}

/// Whether it is the same value whenever and wherever it is computed. Of functions only those that turn one form into another.
fn is_fixed(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Literal(_) | ExprKind::Null | ExprKind::Marker(_) => true,
        ExprKind::Function { name, args } => {
            let word = name.as_str();
            let turns = word.ends_with("asblob")
                || word.ends_with("_as_blob")
                || word.starts_with("blobas")
                || word.starts_with("blob_as_")
                || word == "fromjson"
                || word == "from_json";
            name.keyspace.is_none() && turns && args.iter().all(is_fixed)
        }
        ExprKind::Cast { expr, .. } | ExprKind::TypeHint { expr, .. } => is_fixed(expr),
        ExprKind::Negate(expr) => is_fixed(expr),
        ExprKind::Binary { left, right, .. } => is_fixed(left) && is_fixed(right),
        ExprKind::List(parts) | ExprKind::Set(parts) | ExprKind::Tuple(parts) => parts.iter().all(is_fixed),
        ExprKind::Map(pairs) => pairs.iter().all(|(key, value)| is_fixed(key) && is_fixed(value)),
        ExprKind::UserType(fields) => fields.iter().all(|(_, value)| is_fixed(value)),
        _ => false,
    }
}
