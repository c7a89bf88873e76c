//! What expressions and their older forms mean, with names and values filled in: conditions, updates, projections.

use crate::value::{Type, Value};
use std::fmt;

/// A step into an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Name(String),
    Index(u32),
}

/// A document path: an attribute's name, then steps into it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    pub name: String,
    pub steps: Vec<Step>,
}

impl Path {
    pub fn of_name(name: impl Into<String>) -> Path {
        Path { name: name.into(), steps: Vec::new() }
    }
}

/// `[a, b, [0]]`, as messages show it.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.name)?;
        for step in &self.steps {
            match step {
                Step::Name(name) => write!(f, ", {name}")?,
                Step::Index(index) => write!(f, ", [{index}]")?,
            }
        }
        f.write_str("]")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    Path(Path),
    Value(Value),
    Size(Box<Operand>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Comparison, Operand, Operand),
    Between(Operand, Operand, Operand),
    In(Operand, Vec<Operand>),
    Exists(Path),
    NotExists(Path),
    HasType(Path, Type),
    BeginsWith(Operand, Operand),
    Contains(Operand, Operand),
    /// The older form's NOT_CONTAINS: false, unlike `NOT contains`, where the attribute is missing.
    NotContains(Operand, Operand),
}

/// What SET computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Path(Path),
    Value(Value),
    IfNotExists(Path, Box<Term>),
    ListAppend(Box<Term>, Box<Term>),
    Add(Box<Term>, Box<Term>),
    Subtract(Box<Term>, Box<Term>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Set(Path, Term),
    Remove(Path),
    /// A number to add, or members to add to a set.
    Add(Path, Value),
    /// Members to take from a set.
    Delete(Path, Value),
    /// The older form's ADD also appends to lists.
    Append(Path, Vec<Value>),
}

/// What UpdateItem does to an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Update {
    pub actions: Vec<Action>,
    /// Run-time errors of the older parameters have other words.
    pub legacy: bool,
}

/// The parts of an item that a read gives back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Projection {
    pub paths: Vec<Path>,
}

/// One condition on a key attribute of a Query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyTest {
    Equal(Value),
    Less(Value),
    LessOrEqual(Value),
    Greater(Value),
    GreaterOrEqual(Value),
    Between(Value, Value),
    BeginsWith(Value),
}

/// The key conditions of a Query before its table is known: attribute and test, in source order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyCondition {
    pub tests: Vec<(String, KeyTest)>,
    /// The older form has other words for some faults.
    pub legacy: bool,
}

/// What a Query reads: all HASH attributes, leading RANGE attributes, and a test of the next one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyRange {
    pub hash: Vec<Value>,
    pub sort_equal: Vec<Value>,
    /// Never `Equal`; that is in `sort_equal`.
    pub sort_test: Option<KeyTest>,
}
