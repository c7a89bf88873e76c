//! What a statement asks for, without its values: the identity by which live traffic is matched with declared access patterns.
//!
//! A statement is an instance of a pattern when it does the same to the same table: same verb, same columns restricted in
//! the same way, same order, and no more rows. The text, the selected columns and the values do not matter.

use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    Select,
    Insert,
    Update,
    Delete,
}

/// How a column is restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    Equal,
    In,
    /// From, to, or both.
    Range,
    /// What an element, a part or a pattern of the value is.
    Inside,
    /// Everything else: `!=`, NOT IN.
    Not,
}

/// How many rows are wanted at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    Rows(u64),
    /// Bound with the values.
    Bound,
    None,
}

/// How the cost of a statement grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Single,
    Bounded,
    Index,
    Unbounded,
}

impl Class {
    pub fn word(self) -> &'static str {
        match self {
            Class::Single => "single partition",
            Class::Bounded => "bounded",
            Class::Index => "index",
            Class::Unbounded => "unbounded",
        }
    }

    /// One of three: an index leads to as many partitions as there are, so it bounds nothing.
    pub fn bound(self) -> &'static str {
        match self {
            Class::Single => "single",
            Class::Bounded => "bounded",
            Class::Index | Class::Unbounded => "unbounded",
        }
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    pub keyspace: Arc<str>,
    pub table: Arc<str>,
    pub verb: Verb,
    /// By column; parts as they are written (`m[?]`, `token(a, b)`).
    pub restricted: Vec<(String, How)>,
    /// Against the clustering order, or by similarity.
    pub order: Order,
    pub limit: Limit,
    /// IF …
    pub conditional: bool,
    /// Rows are put together: aggregates, GROUP BY, DISTINCT.
    pub grouped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    Stored,
    Reversed,
    Similarity,
}

impl Shape {
    /// Whether a statement of this shape does what the pattern declares, or less.
    pub fn is_instance_of(&self, pattern: &Shape) -> bool {
        let same = |(mine, theirs): (&(String, How), &(String, How))| {
            mine.0 == theirs.0 && (mine.1 == theirs.1 || (mine.1, theirs.1) == (How::Equal, How::In))
        };
        let limited = match (self.limit, pattern.limit) {
            (_, Limit::None) | (Limit::Bound, _) | (Limit::Rows(_), Limit::Bound) => true,
            (Limit::Rows(mine), Limit::Rows(theirs)) => mine <= theirs,
            (Limit::None, _) => false,
        };
        self.table == pattern.table
            && self.keyspace == pattern.keyspace
            && self.verb == pattern.verb
            && self.order == pattern.order
            && self.conditional == pattern.conditional
            && self.grouped == pattern.grouped
            && self.restricted.len() == pattern.restricted.len()
            && self.restricted.iter().zip(&pattern.restricted).all(same)
            && limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(restricted: &[(&str, How)], limit: Limit) -> Shape {
        Shape {
            keyspace: "k".into(),
            table: "t".into(),
            verb: Verb::Select,
            restricted: restricted.iter().map(|(column, how)| (column.to_string(), *how)).collect(),
            order: Order::Stored,
            limit,
            conditional: false,
            grouped: false,
        }
    }

    #[test]
    fn an_instance_does_the_same_or_less() {
        let pattern = shape(&[("a", How::In), ("b", How::Range)], Limit::Rows(100));
        let case = |restricted: &[(&str, How)], limit| shape(restricted, limit).is_instance_of(&pattern);
        assert!(case(&[("a", How::In), ("b", How::Range)], Limit::Rows(100)));
        assert!(case(&[("a", How::Equal), ("b", How::Range)], Limit::Rows(10)));
        assert!(case(&[("a", How::Equal), ("b", How::Range)], Limit::Bound));
        assert!(!case(&[("a", How::Equal), ("b", How::Range)], Limit::Rows(101)));
        assert!(!case(&[("a", How::Equal), ("b", How::Range)], Limit::None));
        assert!(!case(&[("a", How::Equal), ("b", How::Equal)], Limit::Rows(1)));
        assert!(!case(&[("a", How::Equal)], Limit::Rows(1)));
        assert!(!case(&[("a", How::Equal), ("c", How::Range)], Limit::Rows(1)));
        let other = Shape { order: Order::Reversed, ..pattern.clone() };
        assert!(!other.is_instance_of(&pattern) && other.is_instance_of(&other));
        let unlimited = Shape { limit: Limit::None, ..pattern.clone() };
        assert!(pattern.is_instance_of(&unlimited) && !unlimited.is_instance_of(&pattern));
    }
}
