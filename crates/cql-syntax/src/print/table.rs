//! Tables, user-defined types, views and indexes.

use std::fmt::{Display, Formatter, Result};

use super::check::checks;
use super::property::with_clause;
use super::{if_exists, if_not_exists, join, name, parenthesised};
use crate::ast::{
    AlterTable, AlterType, AlterView, ClusteringItem, ColumnDef, ColumnMask, CreateIndex, CreateTable,
    CreateType, CreateView, FieldDef, IndexTarget, IndexTargetKind, PrimaryKey, Rename, TableChange,
    TableOption, TypeChange,
};

/// `(a, b)`, or one item per line.
fn definitions(f: &mut Formatter<'_>, items: &[String]) -> Result {
    let (open, separator, close) =
        if f.alternate() { ("(\n    ", ",\n    ", "\n)") } else { ("(", ", ", ")") };
    f.write_str(open)?;
    join(f, items, separator)?;
    f.write_str(close)
}

impl Display for CreateTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("CREATE TABLE ")?;
        if_not_exists(f, self.if_not_exists)?;
        write!(f, "{} ", self.name)?;
        let columns = self.columns.iter().map(ColumnDef::to_string);
        let items: Vec<String> = columns.chain(self.primary_keys.iter().map(PrimaryKey::to_string)).collect();
        definitions(f, &items)?;
        with_clause(f, &self.options)
    }
}

impl Display for ColumnDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}", self.name, self.data_type)?;
        if self.is_static {
            f.write_str(" STATIC")?;
        }
        if self.is_ttl {
            f.write_str(" TTL")?;
        }
        if let Some(mask) = &self.mask {
            write!(f, " {mask}")?;
        }
        checks(f, &self.checks)
    }
}

impl Display for ColumnMask {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("MASKED WITH ")?;
        name::function(f, &self.function)?;
        parenthesised(f, &self.args)
    }
}

impl Display for PrimaryKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("PRIMARY KEY (")?;
        match self.partition.as_slice() {
            [single] => write!(f, "{single}")?,
            several => parenthesised(f, several)?,
        }
        for column in &self.clustering {
            write!(f, ", {column}")?;
        }
        f.write_str(")")
    }
}

impl Display for TableOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TableOption::Property(property) => write!(f, "{property}"),
            TableOption::ClusteringOrder(items, _) => {
                f.write_str("CLUSTERING ORDER BY ")?;
                parenthesised(f, items)
            }
            TableOption::CompactStorage(_) => f.write_str("COMPACT STORAGE"),
        }
    }
}

impl Display for ClusteringItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}", self.column, self.order)
    }
}

impl Display for AlterTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("ALTER TABLE ")?;
        if_exists(f, self.if_exists)?;
        write!(f, "{}{}", self.name, self.change)
    }
}

impl Display for TableChange {
    /// With a blank before it.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TableChange::ColumnType { column, data_type } => write!(f, " ALTER {column} TYPE {data_type}"),
            TableChange::Mask { if_exists: present, column, mask } => {
                f.write_str(" ALTER ")?;
                if_exists(f, *present)?;
                match mask {
                    Some(mask) => write!(f, "{column} {mask}"),
                    None => write!(f, "{column} DROP MASKED"),
                }
            }
            TableChange::Check { if_exists: present, column, checks: new } => {
                f.write_str(" ALTER ")?;
                if_exists(f, *present)?;
                match new.is_empty() {
                    true => write!(f, "{column} DROP CHECK"),
                    false => {
                        write!(f, "{column}")?;
                        checks(f, new)
                    }
                }
            }
            TableChange::Add { if_not_exists: present, columns } => {
                f.write_str(" ADD ")?;
                if_not_exists(f, *present)?;
                one_or_several(f, columns)
            }
            TableChange::Drop { if_exists: present, columns, timestamp } => {
                f.write_str(" DROP ")?;
                if_exists(f, *present)?;
                one_or_several(f, columns)?;
                match timestamp {
                    Some(timestamp) => write!(f, " USING TIMESTAMP {timestamp}"),
                    None => Ok(()),
                }
            }
            TableChange::Rename { if_exists, renames } => rename(f, *if_exists, renames),
            TableChange::RowTtl(Some(column)) => write!(f, " TTL {column}"),
            TableChange::RowTtl(None) => f.write_str(" TTL NULL"),
            TableChange::DropCompactStorage => f.write_str(" DROP COMPACT STORAGE"),
            TableChange::Replace { old, new } => write!(f, " REPLACE PROJECTION {old} WITH {new}"),
            TableChange::With(properties) => with_clause(f, properties),
        }
    }
}

fn one_or_several<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> Result {
    match items {
        [single] => write!(f, "{single}"),
        several => parenthesised(f, several),
    }
}

fn rename(f: &mut Formatter<'_>, present: bool, renames: &[Rename]) -> Result {
    f.write_str(" RENAME ")?;
    if_exists(f, present)?;
    join(f, renames, " AND ")
}

impl Display for Rename {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} TO {}", self.from, self.to)
    }
}

impl Display for CreateType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("CREATE TYPE ")?;
        if_not_exists(f, self.if_not_exists)?;
        name::user_type(f, &self.name)?;
        f.write_str(" ")?;
        let items: Vec<String> = self.fields.iter().map(FieldDef::to_string).collect();
        definitions(f, &items)
    }
}

impl Display for FieldDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}", self.name, self.data_type)
    }
}

impl Display for AlterType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("ALTER TYPE ")?;
        if_exists(f, self.if_exists)?;
        name::user_type(f, &self.name)?;
        match &self.change {
            TypeChange::FieldType { field, data_type } => write!(f, " ALTER {field} TYPE {data_type}"),
            TypeChange::Add { if_not_exists: present, field } => {
                f.write_str(" ADD ")?;
                if_not_exists(f, *present)?;
                write!(f, "{field}")
            }
            TypeChange::Rename { if_exists, renames } => rename(f, *if_exists, renames),
        }
    }
}

impl Display for CreateView {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let line = if f.alternate() { "\n    " } else { " " };
        f.write_str(if self.is_projection { "CREATE PROJECTION " } else { "CREATE MATERIALIZED VIEW " })?;
        if_not_exists(f, self.if_not_exists)?;
        match self.is_projection {
            true => write!(f, "{} ON {} AS{line}SELECT {}", self.name, self.base, self.selection)?,
            false => write!(f, "{} AS{line}SELECT {}{line}FROM {}", self.name, self.selection, self.base)?,
        }
        if !self.relations.is_empty() {
            write!(f, "{line}WHERE ")?;
            join(f, &self.relations, " AND ")?;
        }
        write!(f, "{line}{}", self.primary_key)?;
        with_clause(f, &self.options)
    }
}

impl Display for AlterView {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("ALTER MATERIALIZED VIEW ")?;
        if_exists(f, self.if_exists)?;
        write!(f, "{}", self.name)?;
        with_clause(f, &self.properties)
    }
}

impl Display for CreateIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.custom { "CREATE CUSTOM INDEX " } else { "CREATE INDEX " })?;
        if_not_exists(f, self.if_not_exists)?;
        if let Some(name) = &self.name {
            write!(f, "{name} ")?;
        }
        write!(f, "ON {} ", self.table)?;
        parenthesised(f, &self.targets)?;
        if let Some(class) = &self.using {
            write!(f, " USING {class}")?;
        }
        with_clause(f, &self.properties)
    }
}

impl Display for IndexTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.kind {
            IndexTargetKind::Simple => write!(f, "{}", self.column),
            kind => write!(f, "{}({})", kind.word(), self.column),
        }
    }
}
