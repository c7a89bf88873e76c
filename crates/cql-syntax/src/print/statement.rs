//! Whole statements, and the small ones.

use std::fmt::{Display, Formatter, Result};

use super::function::drop_function;
use super::property::with_clause;
use super::{if_exists, if_not_exists, name};
use crate::ast::{
    AlterKeyspace, AlterPattern, CheckProjection, CreateKeyspace, CreatePattern, DropKeyspace, DropNamed,
    Explain, JobOrder, OrderJob, ParsedStatement, Statement,
};

impl Display for ParsedStatement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.statement.fmt(f)
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Statement::Select(select) => select.fmt(f),
            Statement::Insert(insert) => insert.fmt(f),
            Statement::Update(update) => update.fmt(f),
            Statement::Delete(delete) => delete.fmt(f),
            Statement::Batch(batch) => batch.fmt(f),
            Statement::Transaction(transaction) => transaction.fmt(f),
            Statement::CopyTable(copy) => copy.fmt(f),
            Statement::SetNote(note) => note.fmt(f),
            Statement::Use(keyspace) => write!(f, "USE {keyspace}"),
            Statement::Truncate(table) => write!(f, "TRUNCATE TABLE {table}"),
            Statement::CreateKeyspace(create) => create.fmt(f),
            Statement::AlterKeyspace(alter) => alter.fmt(f),
            Statement::DropKeyspace(drop) => drop.fmt(f),
            Statement::CreateTable(create) => create.fmt(f),
            Statement::AlterTable(alter) => alter.fmt(f),
            Statement::DropTable(drop) => drop_named(f, "TABLE", drop),
            Statement::CreateType(create) => create.fmt(f),
            Statement::AlterType(alter) => alter.fmt(f),
            Statement::DropType(drop) => {
                f.write_str("DROP TYPE ")?;
                if_exists(f, drop.if_exists)?;
                name::user_type(f, &drop.name)
            }
            Statement::CreateIndex(create) => create.fmt(f),
            Statement::DropIndex(drop) => drop_named(f, "INDEX", drop),
            Statement::CreateView(create) => create.fmt(f),
            Statement::AlterView(alter) => alter.fmt(f),
            Statement::DropView(drop) => drop_named(f, "MATERIALIZED VIEW", drop),
            Statement::CreateFunction(create) => create.fmt(f),
            Statement::DropFunction(drop) => drop_function(f, "FUNCTION", drop),
            Statement::CreateAggregate(create) => create.fmt(f),
            Statement::DropAggregate(drop) => drop_function(f, "AGGREGATE", drop),
            Statement::CreateTrigger(create) => create.fmt(f),
            Statement::DropTrigger(drop) => drop.fmt(f),
            Statement::CreateRole(create) => create.fmt(f),
            Statement::AlterRole(alter) => alter.fmt(f),
            Statement::DropRole(drop) => drop.fmt(f),
            Statement::GrantRole(grant) => grant.fmt(f),
            Statement::RevokeRole(revoke) => revoke.fmt(f),
            Statement::GrantPermissions(grant) => grant.fmt(f),
            Statement::RevokePermissions(revoke) => revoke.fmt(f),
            Statement::ListRoles(list) => list.fmt(f),
            Statement::ListUsers => f.write_str("LIST USERS"),
            Statement::ListSuperUsers => f.write_str("LIST SUPERUSERS"),
            Statement::ListPermissions(list) => list.fmt(f),
            Statement::AddIdentity(add) => add.fmt(f),
            Statement::DropIdentity(drop) => drop.fmt(f),
            Statement::Describe(describe) => describe.fmt(f),
            Statement::ServiceLevel(level) => level.fmt(f),
            Statement::Explain(explain) => explain.fmt(f),
            Statement::CreatePattern(create) => create.fmt(f),
            Statement::AlterPattern(alter) => alter.fmt(f),
            Statement::DropPattern(drop) => drop_named(f, "ACCESS PATTERN", drop),
            Statement::CheckProjection(check) => check.fmt(f),
            Statement::OrderJob(order) => order.fmt(f),
        }
    }
}

fn drop_named(f: &mut Formatter<'_>, what: &str, drop: &DropNamed) -> Result {
    write!(f, "DROP {what} ")?;
    if_exists(f, drop.if_exists)?;
    write!(f, "{}", drop.name)
}

impl Display for CreateKeyspace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("CREATE KEYSPACE ")?;
        if_not_exists(f, self.if_not_exists)?;
        write!(f, "{}", self.name)?;
        with_clause(f, &self.properties)
    }
}

impl Display for AlterKeyspace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("ALTER KEYSPACE ")?;
        if_exists(f, self.if_exists)?;
        write!(f, "{}", self.name)?;
        with_clause(f, &self.properties)
    }
}

impl Display for DropKeyspace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("DROP KEYSPACE ")?;
        if_exists(f, self.if_exists)?;
        write!(f, "{}", self.name)
    }
}

impl Display for Explain {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let analyze = if self.analyze { "ANALYZE " } else { "" };
        write!(f, "EXPLAIN {analyze}{}", self.statement)
    }
}

impl Display for AlterPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("ALTER ACCESS PATTERN ")?;
        if_exists(f, self.if_exists)?;
        write!(f, "{}", self.name)?;
        if let Some((statement, _)) = &self.statement {
            write!(f, " AS {statement}")?;
        }
        with_clause(f, &self.properties)
    }
}

impl Display for CreatePattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let line = if f.alternate() { "\n    " } else { " " };
        f.write_str("CREATE ACCESS PATTERN ")?;
        if_not_exists(f, self.if_not_exists)?;
        write!(f, "{} AS{line}{}", self.name, self.statement)?;
        if f.alternate() && !self.properties.is_empty() {
            f.write_str("\n   ")?;
        }
        with_clause(f, &self.properties)
    }
}

impl Display for CheckProjection {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} PROJECTION {}", if self.repair { "REPAIR" } else { "CHECK" }, self.name)
    }
}

impl Display for OrderJob {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let id = self.id;
        match &self.order {
            JobOrder::Pause => write!(f, "PAUSE JOB {id}"),
            JobOrder::Resume => write!(f, "RESUME JOB {id}"),
            JobOrder::Cancel => write!(f, "CANCEL JOB {id}"),
            JobOrder::With(properties) => {
                write!(f, "ALTER JOB {id}")?;
                with_clause(f, properties)
            }
        }
    }
}
