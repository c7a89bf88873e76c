//! The stored catalogue, opened with what CQL adds to it: system keyspaces, and conditions of views from before they were
//! stored as values.

use crate::bind::Scope;
use crate::bind::restrictions::bind_view_where;
use crate::system::with_system_keyspaces;
use cql_syntax::ast::Statement;
use database::catalogue::SharedCatalogue;
use schema::{Catalogue, Damage, Table, ViewTest};
use std::sync::Arc;

/// Opens what a store gave back (`None`: it is new).
pub fn open_catalogue(stored: Option<&[u8]>, now_micros: i64) -> Result<SharedCatalogue, Damage> {
    SharedCatalogue::open(stored, now_micros, |user| with_system_keyspaces(&with_tests(user)))
}

/// Reads the conditions of views that have only the text of them, as servers wrote it before format 4 of the catalogue. What
/// cannot be read stays unread: then the view is disabled.
fn with_tests(mut catalogue: Catalogue) -> Catalogue {
    let lacks = |table: &&Arc<Table>| {
        table.view.iter().flat_map(|view| &view.restrictions).any(|restriction| restriction.tests.is_none())
    };
    let old: Vec<Arc<Table>> = catalogue.tables().filter(lacks).cloned().collect();
    for view in old {
        let Some(tests) = read_tests(&catalogue, &view) else { continue };
        let keyspace = catalogue.keyspaces.get_mut(&view.keyspace).map(Arc::make_mut);
        let Some(table) = keyspace.and_then(|keyspace| keyspace.tables.get_mut(&view.name)) else { continue };
        let definition = Arc::make_mut(table).view.as_mut();
        let restrictions = definition.into_iter().flat_map(|definition| &mut definition.restrictions);
        for (restriction, tests) in restrictions.zip(tests) {
            restriction.tests.get_or_insert(tests);
        }
    }
    catalogue
}

/// The tests of each relation of a view's WHERE clause.
fn read_tests(catalogue: &Catalogue, view: &Table) -> Option<Vec<Vec<ViewTest>>> {
    let definition = view.view.as_ref()?;
    let base = catalogue.table(&view.keyspace, &definition.base)?;
    let text = format!("SELECT * FROM v WHERE {}", definition.where_clause());
    let parsed = cql_syntax::parse_statement(&text).ok()?;
    let Statement::Select(select) = &parsed.statement else { return None };
    let scope = Scope { catalogue, keyspace: Some(&base.keyspace) };
    let tests = bind_view_where(scope, base, &select.relations, definition.projection.is_some()).ok()?;
    (tests.len() == definition.restrictions.len()).then_some(tests)
}
