//! Binding: syntax tree + catalogue snapshot -> plan. Names are resolved, types checked, rules enforced.

use query::QueryError;
use schema::{Catalogue, Keyspace, Table};
use std::sync::Arc;

mod custom;
pub mod expr;
pub mod markers;
pub mod restrictions;
pub mod select;
pub mod types;
pub mod write;

/// What binding looks things up in.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub catalogue: &'a Catalogue,
    /// The session's keyspace, for unqualified names.
    pub keyspace: Option<&'a str>,
}

impl<'a> Scope<'a> {
    /// The keyspace a name is in: its own, or the session's.
    pub fn keyspace_name<'n>(&self, written: Option<&'n str>) -> Result<&'n str, QueryError>
    where
        'a: 'n,
    {
        written.or(self.keyspace).ok_or_else(|| {
            QueryError::invalid(
                "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
            )
        })
    }

    pub fn keyspace(&self, written: Option<&str>) -> Result<&'a Arc<Keyspace>, QueryError> {
        let name = match written {
            Some(name) => name.to_string(),
            None => self.keyspace_name(None)?.to_string(),
        };
        self.catalogue
            .keyspace(&name)
            .ok_or_else(|| QueryError::invalid(format!("keyspace {name} does not exist")))
    }

    pub fn table(&self, name: &cql_syntax::ast::QualifiedName) -> Result<&'a Arc<Table>, QueryError> {
        let keyspace = self.keyspace(name.keyspace_str())?;
        keyspace
            .table(name.as_str())
            .ok_or_else(|| QueryError::invalid(format!("table {} does not exist", name.as_str())))
    }
}
