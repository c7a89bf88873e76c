//! DESCRIBE, answered by the server: rows of names, or of names and statements that would create the thing again.
//!
//! Texts are laid out as Cassandra 5.0 lays them out, because cqlsh prints them as they come. Results are paged by row
//! number; a paging state of another schema version is refused.

mod create;
#[cfg(test)]
mod dump_tests;
mod function;
mod page;
#[cfg(test)]
mod tests;

use create::with_notes;
pub use create::{index_text, keyspace_text, pattern_text, table_text, type_text, view_text};

use crate::CqlError;
use crate::bind::Scope;
use crate::system::SystemTables;
use cql_syntax::ast::{Describe, DescribeTarget, QualifiedName};
use cql_syntax::maybe_quote;
use model::types::DataType;
use model::value::{encode_elements, encode_map};
use page::{Row, paged};
use query::{Request, Rows};
use schema::{Index, Keyspace, Table, is_local_system_name};
use std::sync::Arc;

/// Answers one DESCRIBE.
pub fn execute(
    scope: &Scope<'_>,
    system: &SystemTables,
    describe: &Describe,
    request: &Request<'_>,
) -> Result<Rows, CqlError> {
    if describe.target == DescribeTarget::Cluster {
        return cluster(scope, system, request);
    }
    let describer = Describer { scope, internals: describe.internals };
    let (rows, statements) = match &describe.target {
        DescribeTarget::Keyspaces => (describer.keyspaces(), false),
        DescribeTarget::Tables => (describer.list("table", |k| names(tables_of(k)))?, false),
        DescribeTarget::Types => (describer.list("type", |k| names(k.types.keys()))?, false),
        DescribeTarget::Patterns => (describer.list("access_pattern", |k| names(k.patterns.keys()))?, false),
        DescribeTarget::Functions => (
            describer.signatures("function", |k| {
                function::functions(k).into_iter().map(function::function_signature).collect()
            })?,
            false,
        ),
        DescribeTarget::Aggregates => (
            describer.signatures("aggregate", |k| {
                function::aggregates(k).into_iter().map(function::aggregate_signature).collect()
            })?,
            false,
        ),
        element => (describer.elements(element)?, true),
    };
    let columns: &[&str] =
        if statements { &["keyspace_name", "type", "name", "create_statement"] } else { &LISTING };
    let columns = columns.iter().map(|name| (*name, DataType::Text));
    paged(columns, rows, scope.catalogue.version, request)
}

const LISTING: [&str; 3] = ["keyspace_name", "type", "name"];

fn names<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = names.cloned().collect();
    names.sort_by_key(|name| name.to_lowercase());
    names
}

/// The names of the tables that are no views.
fn tables_of(keyspace: &Keyspace) -> impl Iterator<Item = &Arc<str>> {
    keyspace.tables.iter().filter(|(_, table)| table.view.is_none()).map(|(name, _)| name)
}

fn not_found(text: String) -> CqlError {
    CqlError::Invalid(text)
}

struct Describer<'a> {
    scope: &'a Scope<'a>,
    internals: bool,
}

impl<'a> Describer<'a> {
    /// Every keyspace, by name without regard to case.
    fn all(&self) -> Vec<&'a Arc<Keyspace>> {
        let mut all: Vec<_> = self.scope.catalogue.keyspaces.values().collect();
        all.sort_by_key(|keyspace| keyspace.name.to_lowercase());
        all
    }

    fn keyspaces(&self) -> Vec<Row> {
        let row = |keyspace: &&Arc<Keyspace>| {
            let name = maybe_quote(&keyspace.name).to_string();
            vec![name.clone().into_bytes(), b"keyspace".to_vec(), name.into_bytes()]
        };
        self.all().iter().map(row).collect()
    }

    /// Names of one kind, in the current keyspace or, without one, in all.
    fn list(&self, kind: &str, names: impl Fn(&Keyspace) -> Vec<Arc<str>>) -> Result<Vec<Row>, CqlError> {
        let quoted = |name: Arc<str>| maybe_quote(&name).to_string();
        self.signatures(kind, |keyspace| names(keyspace).into_iter().map(quoted).collect())
    }

    /// The same for names that are written as they are shown.
    fn signatures(&self, kind: &str, names: impl Fn(&Keyspace) -> Vec<String>) -> Result<Vec<Row>, CqlError> {
        let keyspaces = match self.scope.keyspace {
            Some(current) => vec![self.keyspace(Some(current))?],
            None => self.all(),
        };
        let mut rows = Vec::new();
        for keyspace in keyspaces {
            for name in names(keyspace) {
                let place = maybe_quote(&keyspace.name).to_string();
                rows.push(vec![place.into_bytes(), kind.as_bytes().to_vec(), name.into_bytes()]);
            }
        }
        Ok(rows)
    }

    fn keyspace(&self, written: Option<&str>) -> Result<&'a Arc<Keyspace>, CqlError> {
        let name = written
            .or(self.scope.keyspace)
            .ok_or_else(|| not_found("No keyspace specified and no current keyspace".into()))?;
        let found = self.scope.catalogue.keyspace(name);
        found.ok_or_else(|| not_found(format!("'{name}' not found in keyspaces")))
    }

    fn elements(&self, target: &DescribeTarget) -> Result<Vec<Row>, CqlError> {
        let place = |name: &QualifiedName| self.keyspace(name.keyspace_str());
        let missing = |what: &str, name: &QualifiedName| {
            let keyspace = place(name)?;
            Err(not_found(format!("{what} '{}' not found in '{}'", name.as_str(), keyspace.name)))
        };
        match target {
            DescribeTarget::Schema { full } => {
                let shown = |k: &&&Arc<Keyspace>| *full || !k.is_system();
                Ok(self.all().iter().filter(shown).flat_map(|k| self.whole(k)).collect())
            }
            DescribeTarget::Keyspace { only, name } => {
                let keyspace = self.keyspace(name.as_ref().map(|name| name.as_str()))?;
                Ok(if *only { vec![self.keyspace_row(keyspace)] } else { self.whole(keyspace) })
            }
            DescribeTarget::Table(name) => {
                let keyspace = place(name)?;
                let found =
                    keyspace.table(name.as_str()).filter(|table| table.view.is_none()).ok_or_else(|| {
                        not_found(format!(
                            "Table '{}' not found in keyspace '{}'",
                            name.as_str(),
                            keyspace.name
                        ))
                    })?;
                Ok(self.table_rows(keyspace, found))
            }
            DescribeTarget::Index(name) => {
                let keyspace = place(name)?;
                match keyspace.index(name.as_str()) {
                    Some((table, index)) => Ok(vec![index_row(table, index)]),
                    None => missing("Table for existing index", name),
                }
            }
            DescribeTarget::Type(name) => {
                let keyspace = place(name)?;
                match keyspace.types.get(name.as_str()) {
                    Some(udt) => {
                        let text = with_notes(keyspace, &udt.name, type_text(udt));
                        Ok(vec![row(&keyspace.name, "type", &udt.name, text)])
                    }
                    None => missing("User defined type", name),
                }
            }
            DescribeTarget::Pattern(name) => {
                let keyspace = place(name)?;
                match keyspace.patterns.get(name.as_str()) {
                    Some(pattern) => Ok(vec![pattern_row(&keyspace.name, pattern)]),
                    None => missing("Access pattern", name),
                }
            }
            DescribeTarget::View(name) => {
                match place(name)?
                    .table(name.as_str())
                    .and_then(|table| self.view_row(place(name).ok()?, table))
                {
                    Some(row) => Ok(vec![row]),
                    None => missing("Materialized view", name),
                }
            }
            DescribeTarget::Function(name) => {
                let keyspace = place(name)?;
                let found = keyspace.functions_named(name.as_str());
                let rows: Vec<Row> = found.map(|f| function::function_row(keyspace, f)).collect();
                if rows.is_empty() { missing("User defined function", name) } else { Ok(rows) }
            }
            DescribeTarget::Aggregate(name) => {
                let keyspace = place(name)?;
                let found = keyspace.aggregates_named(name.as_str());
                let rows: Vec<Row> = found.map(|a| function::aggregate_row(keyspace, a)).collect();
                if rows.is_empty() { missing("User defined aggregate", name) } else { Ok(rows) }
            }
            DescribeTarget::Any(name) => self.any(name),
            // The others are lists, answered by the caller.
            _ => Ok(Vec::new()),
        }
    }

    /// `DESCRIBE name`: a keyspace, else a table, an index or an access pattern of the named or current keyspace.
    fn any(&self, name: &QualifiedName) -> Result<Vec<Row>, CqlError> {
        let wanted = name.as_str();
        if name.keyspace.is_none() {
            if let Some(keyspace) = self.scope.catalogue.keyspace(wanted) {
                return Ok(self.whole(keyspace));
            }
            if self.scope.keyspace.is_none() {
                return Err(not_found(format!("'{wanted}' not found in keyspaces")));
            }
        }
        let keyspace = self.keyspace(name.keyspace_str())?;
        let pattern = || keyspace.patterns.get(wanted);
        match keyspace.table(wanted) {
            Some(table) => Ok(self.table_rows(keyspace, table)),
            None if let Some((table, index)) = keyspace.index(wanted) => Ok(vec![index_row(table, index)]),
            // cqlsh reads DESCRIBE itself and knows no access patterns, but lets any name pass.
            None if let Some(pattern) = pattern() => Ok(vec![pattern_row(&keyspace.name, pattern)]),
            None => Err(not_found(format!("'{wanted}' not found in keyspace '{}'", keyspace.name))),
        }
    }

    /// A keyspace and everything in it, in an order in which it can be created.
    fn whole(&self, keyspace: &Keyspace) -> Vec<Row> {
        let mut rows = vec![self.keyspace_row(keyspace)];
        let place = &keyspace.name;
        rows.extend(
            keyspace
                .types_by_dependency()
                .iter()
                .map(|t| row(place, "type", &t.name, with_notes(keyspace, &t.name, type_text(t)))),
        );
        rows.extend(function::functions(keyspace).into_iter().map(|f| function::function_row(keyspace, f)));
        rows.extend(function::aggregates(keyspace).into_iter().map(|a| function::aggregate_row(keyspace, a)));
        for name in names(tables_of(keyspace)) {
            rows.extend(keyspace.table(&name).into_iter().flat_map(|table| self.table_rows(keyspace, table)));
        }
        rows.extend(keyspace.patterns.values().map(|pattern| pattern_row(place, pattern)));
        rows
    }

    fn keyspace_row(&self, keyspace: &Keyspace) -> Row {
        row(&keyspace.name, "keyspace", &keyspace.name, with_notes(keyspace, "", keyspace_text(keyspace)))
    }

    /// A table, its indexes and its views, each by name without regard to case; a view alone.
    fn table_rows(&self, keyspace: &Keyspace, table: &Table) -> Vec<Row> {
        if let Some(row) = self.view_row(keyspace, table) {
            return vec![row];
        }
        let text = with_notes(keyspace, &table.name, table_text(table, self.internals));
        let mut rows = vec![row(&table.keyspace, "table", &table.name, text)];
        let mut indexes: Vec<&Index> = table.indexes.iter().collect();
        indexes.sort_by_key(|index| index.name.to_lowercase());
        rows.extend(indexes.into_iter().map(|index| index_row(table, index)));
        for name in names(keyspace.views_of(table).map(|view| &view.name)) {
            rows.extend(keyspace.table(&name).and_then(|view| self.view_row(keyspace, view)));
        }
        rows
    }

    fn view_row(&self, keyspace: &Keyspace, table: &Table) -> Option<Row> {
        let text = view_text(keyspace, table, table.view.as_ref()?, self.internals);
        Some(row(&table.keyspace, "materialized_view", &table.name, text))
    }
}

fn index_row(table: &Table, index: &Index) -> Row {
    row(&table.keyspace, "index", &index.name, index_text(table, index))
}

fn pattern_row(keyspace: &str, pattern: &schema::AccessPattern) -> Row {
    row(keyspace, "access_pattern", &pattern.name, pattern_text(keyspace, pattern))
}

fn row(keyspace: &str, kind: &str, name: &str, statement: String) -> Row {
    let quoted = |name: &str| maybe_quote(name).to_string().into_bytes();
    vec![quoted(keyspace), kind.as_bytes().to_vec(), quoted(name), statement.into_bytes()]
}

/// The same for a name that is written as it is shown.
fn row_named(keyspace: &str, kind: &str, name: String, statement: String) -> Row {
    let place = maybe_quote(keyspace).to_string().into_bytes();
    vec![place, kind.as_bytes().to_vec(), name.into_bytes(), statement.into_bytes()]
}

/// The cluster in one row; with a user's keyspace in use also who owns which range.
fn cluster(scope: &Scope<'_>, system: &SystemTables, request: &Request<'_>) -> Result<Rows, CqlError> {
    let node = &system.node;
    let short = |class: &str| class.rsplit('.').next().unwrap_or(class).as_bytes().to_vec();
    let mut columns =
        vec![("cluster", DataType::Text), ("partitioner", DataType::Text), ("snitch", DataType::Text)];
    let mut row = vec![node.cluster_name.clone().into_bytes(), short(&node.partitioner), short(&node.snitch)];
    let ranged = |name: &&str| !is_local_system_name(name) && !schema::is_virtual_system_name(name);
    if scope.keyspace.filter(ranged).is_some() {
        let owner = encode_elements([format!("/{}:{}", node.address, node.storage_port)]);
        let range = |token: &i64| (token.to_string().into_bytes(), owner.clone());
        columns.push((
            "range_ownership",
            DataType::map(DataType::Text, DataType::list(DataType::Text).freeze()),
        ));
        row.push(encode_map(&DataType::Text, node.tokens.iter().map(range).collect()));
    }
    paged(columns.into_iter(), vec![row], scope.catalogue.version, request)
}
