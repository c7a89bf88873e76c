//! INSERT, UPDATE, DELETE, BATCH.

use std::fmt::{Display, Formatter, Result};

use super::relation::{if_clause, where_clause};
use super::{join, parenthesised};
use crate::ast::{
    Assignment, AssignmentOp, Batch, BatchKind, Delete, Insert, InsertSource, Modification, Target, Update,
    Using, UsingItem, UsingKind,
};

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "INSERT INTO {} {}", self.table, self.source)?;
        if self.if_not_exists.is_some() {
            f.write_str(" IF NOT EXISTS")?;
        }
        using_clause(f, &self.using)
    }
}

impl Display for InsertSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            InsertSource::Values { columns, values } => {
                parenthesised(f, columns)?;
                f.write_str(" VALUES ")?;
                parenthesised(f, values)
            }
            InsertSource::Json { value, default_unset } => {
                write!(f, "JSON {value}{}", if *default_unset { " DEFAULT UNSET" } else { "" })
            }
        }
    }
}

/// ` USING ...`, or nothing.
fn using_clause(f: &mut Formatter<'_>, using: &Using) -> Result {
    if using.items.is_empty() {
        return Ok(());
    }
    f.write_str(" USING ")?;
    join(f, &using.items, " AND ")
}

impl Display for UsingItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let word = match self.kind {
            UsingKind::Timestamp => "TIMESTAMP",
            UsingKind::Ttl => "TTL",
            UsingKind::Timeout => "TIMEOUT",
        };
        write!(f, "{word} {}", self.value)
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "UPDATE {}", self.table)?;
        using_clause(f, &self.using)?;
        f.write_str(" SET ")?;
        join(f, &self.assignments, ", ")?;
        where_clause(f, &self.relations)?;
        if_clause(f, &self.condition)
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Assignment { target, value, .. } = self;
        match self.op {
            AssignmentOp::Set => write!(f, "{target} = {value}"),
            AssignmentOp::Add => write!(f, "{target} = {target} + {value}"),
            AssignmentOp::Subtract => write!(f, "{target} = {target} - {value}"),
            AssignmentOp::Prepend => write!(f, "{target} = {value} + {target}"),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Target::Column(column) => write!(f, "{column}"),
            Target::Element { column, key } => write!(f, "{column}[{key}]"),
            Target::Field { column, field } => write!(f, "{column}.{field}"),
        }
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("DELETE ")?;
        if !self.targets.is_empty() {
            join(f, &self.targets, ", ")?;
            f.write_str(" ")?;
        }
        write!(f, "FROM {}", self.table)?;
        using_clause(f, &self.using)?;
        where_clause(f, &self.relations)?;
        if_clause(f, &self.condition)
    }
}

impl Display for Batch {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.kind {
            BatchKind::Logged => "BEGIN BATCH",
            BatchKind::Unlogged => "BEGIN UNLOGGED BATCH",
            BatchKind::Counter => "BEGIN COUNTER BATCH",
        })?;
        using_clause(f, &self.using)?;
        for statement in &self.statements {
            write!(f, " {statement};")?;
        }
        f.write_str(" APPLY BATCH")
    }
}

impl Display for Modification {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Modification::Insert(insert) => write!(f, "{insert}"),
            Modification::Update(update) => write!(f, "{update}"),
            Modification::Delete(delete) => write!(f, "{delete}"),
        }
    }
}
