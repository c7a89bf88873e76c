//! CREATE MATERIALIZED VIEW, from the syntax tree to the schema's terms.

use super::properties::properties;
use crate::CqlError;
use crate::bind::Scope;
use crate::bind::expr::term_text;
use crate::bind::restrictions::bind_view_where;
use cql_syntax::ast::{
    CreateView, Expr, ExprKind, Ident, Relation, Selection, Selector, SortOrder, Subject, TableOption,
};
use schema::{Catalogue, NewTotal, NewView, ViewRestriction, ViewTest};

/// What is wrong with the statement whatever the catalogue holds.
pub(super) fn check_text(create: &CreateView) -> Result<(), CqlError> {
    if create.options.iter().any(|option| matches!(option, TableOption::CompactStorage(_))) {
        return Err(CqlError::Syntax(
            "COMPACT STORAGE tables are not allowed starting with version 4.0".into(),
        ));
    }
    properties(create.properties()).map(|_| ())
}

/// What the statement asks for. A base without a keyspace is one of the view's keyspace.
pub(super) fn new_view(
    catalogue: &Catalogue,
    keyspace: &str,
    create: &CreateView,
) -> Result<NewView, CqlError> {
    let names = |idents: &[Ident]| idents.iter().map(|name| name.as_str().to_string()).collect();
    let order = create.clustering_order();
    let (selected, totals) = match create.is_projection {
        true => split(&create.selection)?,
        false => (selected(&create.selection), Vec::new()),
    };
    Ok(NewView {
        keyspace: keyspace.to_string(),
        name: create.name.as_str().into(),
        if_not_exists: create.if_not_exists,
        base_keyspace: create.base.keyspace_str().unwrap_or(keyspace).to_string(),
        base: create.base.as_str().into(),
        selected,
        totals,
        restrictions: restrictions(catalogue, keyspace, create),
        partition_key: names(&create.primary_key.partition),
        clustering: names(&create.primary_key.clustering),
        clustering_order: order
            .map(|item| (item.column.as_str().to_string(), item.order == SortOrder::Desc))
            .collect(),
        properties: properties(create.properties())?,
        is_projection: create.is_projection,
    })
}

type Selected = Result<Option<Vec<String>>, String>;

/// What a projection selects: columns, and aggregates.
fn split(selection: &Selection) -> Result<(Selected, Vec<NewTotal>), CqlError> {
    let Selection::Items(items) = selection else { return Ok((Ok(None), Vec::new())) };
    let (totals, columns): (Vec<&Selector>, Vec<&Selector>) = items
        .iter()
        .partition(|item| matches!(item.expr.kind, ExprKind::Function { .. } | ExprKind::CountRows));
    let totals = totals.into_iter().map(new_total).collect::<Result<Vec<_>, _>>()?;
    let columns = Selection::Items(columns.into_iter().cloned().collect());
    Ok((selected(&columns), totals))
}

/// `count(*)`, `function(column)`, with a name or one that says what it is.
fn new_total(item: &Selector) -> Result<NewTotal, CqlError> {
    let (function, argument) = match &item.expr.kind {
        ExprKind::CountRows => ("count".to_string(), None),
        ExprKind::Function { name, args } => match args.as_slice() {
            [Expr { kind: ExprKind::Column(column), .. }] if name.keyspace.is_none() => {
                (name.as_str().to_string(), Some(column.as_str().to_string()))
            }
            _ => {
                let text = term_text(&item.expr);
                return Err(CqlError::invalid(format!(
                    "A projection keeps count(*) and count, sum, min and max of one column, not {text}"
                )));
            }
        },
        _ => return Err(CqlError::invalid("This is no aggregate")),
    };
    let named =
        argument.as_ref().map_or_else(|| function.clone(), |argument| format!("{function}_{argument}"));
    let name = item.alias.as_ref().map_or(named, |alias| alias.as_str().to_string());
    Ok(NewTotal { name, function, argument })
}

fn selected(selection: &Selection) -> Result<Option<Vec<String>>, String> {
    let Selection::Items(items) = selection else { return Ok(None) };
    let name = |item: &cql_syntax::ast::Selector| {
        let text = term_text(&item.expr);
        match (&item.expr.kind, &item.alias) {
            (_, Some(_)) => Err(format!("Cannot use aliases when defining a materialized view (got {text})")),
            (ExprKind::Column(name), None) => Ok(name.as_str().to_string()),
            _ => {
                Err(format!("Can only select columns by name when defining a materialized view (got {text})"))
            }
        }
    };
    items.iter().map(name).collect::<Result<Vec<_>, _>>().map(Some)
}

/// The WHERE clause. Without a base there is nothing to bind it to, and that is said before it matters.
fn restrictions(
    catalogue: &Catalogue,
    keyspace: &str,
    create: &CreateView,
) -> Result<Vec<ViewRestriction>, String> {
    let Some(base) = catalogue.table(keyspace, create.base.as_str()) else { return Ok(Vec::new()) };
    let scope = Scope { catalogue, keyspace: Some(keyspace) };
    let tests = bind_view_where(scope, base, &create.relations, create.is_projection)
        .map_err(|fault| fault.to_string())?;
    create.relations.iter().zip(tests).map(|(relation, tests)| restriction(relation, tests)).collect()
}

fn restriction(relation: &Relation, tests: Vec<ViewTest>) -> Result<ViewRestriction, String> {
    let text = relation.to_string();
    let (columns, is_tuple) = match &relation.subject {
        Subject::Column(name) => (std::slice::from_ref(name), false),
        Subject::Columns(names) => (names.as_slice(), true),
        // Never part of a definition: only columns of the base's key may be compared, and these have no parts.
        Subject::Element { column, .. } | Subject::Field { column, .. } => {
            let columns = vec![column.as_str().into()];
            return Ok(ViewRestriction { columns, is_tuple: false, condition: text, tests: Some(tests) });
        }
        Subject::Token(_) | Subject::Index(_) => return Err(format!("Unsupported restriction: {text}")),
    };
    let mut restriction = ViewRestriction {
        columns: columns.iter().map(|name| name.as_str().into()).collect(),
        is_tuple,
        condition: String::new(),
        tests: Some(tests),
    };
    // With an empty condition this is the left side and the blank after it.
    let left = restriction.text();
    restriction.condition =
        text.strip_prefix(&left).ok_or_else(|| format!("Unsupported restriction: {text}"))?.to_string();
    Ok(restriction)
}
