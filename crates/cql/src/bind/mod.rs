//! Binding: syntax tree + catalogue snapshot -> plan. Names are resolved, types checked, rules enforced.

use crate::CqlError;
use schema::{Catalogue, Keyspace, Table};
use std::sync::Arc;

pub mod comparison;
mod custom;
pub mod expr;
pub mod limits;
pub mod markers;
pub mod restrictions;
pub mod select;
pub mod transaction;
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
    pub fn keyspace_name<'n>(&self, written: Option<&'n str>) -> Result<&'n str, CqlError>
    where
        'a: 'n,
    {
        written.or(self.keyspace).ok_or_else(|| {
            CqlError::invalid(
                "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
            )
        })
    }

    pub fn keyspace(&self, written: Option<&str>) -> Result<&'a Arc<Keyspace>, CqlError> {
        let name = match written {
            Some(name) => name.to_string(),
            None => self.keyspace_name(None)?.to_string(),
        };
        self.catalogue
            .keyspace(&name)
            .ok_or_else(|| CqlError::invalid(format!("keyspace {name} does not exist")))
    }

    pub fn table(&self, name: &cql_syntax::ast::QualifiedName) -> Result<&'a Arc<Table>, CqlError> {
        let keyspace = self.keyspace(name.keyspace_str())?;
        keyspace
            .table(name.as_str())
            .ok_or_else(|| CqlError::invalid(format!("table {} does not exist", name.as_str())))
            .and_then(usable)
    }
}

/// The bytes of a constant as a column of the type stores it; `None` when it cannot stand for such a value.
pub fn encode_constant(
    literal: &cql_syntax::ast::Literal,
    data_type: &model::types::DataType,
    receiver: &str,
) -> Option<Vec<u8>> {
    expr::encode_constant(literal, data_type, receiver)
}

/// Refuses a table that cannot be read and written safely: older servers let types be made of any depth and size.
fn usable(table: &Arc<Table>) -> Result<&Arc<Table>, CqlError> {
    for column in table.columns() {
        if let Err(error) = column.data_type.check_size() {
            return Err(CqlError::invalid(format!(
                "Table {}.{} cannot be used: the type of column {} {error}. It can be described and altered: drop the \
                 column, or the table",
                table.keyspace, table.name, column.name
            )));
        }
    }
    Ok(table)
}
