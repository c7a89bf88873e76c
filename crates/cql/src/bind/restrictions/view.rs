//! The WHERE clause of a materialized view: constants only, tested row by row as the store writes them.
//!
//! A clause is bound once, when the view is created; the catalogue keeps the values. A value that changes with time would make
//! the view depend on the moment of its creation, so it is refused.

use super::merge::Merged;
use super::relation::{self, BoundRelation, BoundSubject, Test};
use super::{Rules, StatementKind, relation_text};
use crate::CqlError;
use crate::bind::Scope;
use crate::bind::expr::RowScope;
use crate::bind::markers::Markers;
use cql_syntax::ast::{Relation, RelationOp, Subject};
use query::expr::Expr;
use query::restrict::{Item, Terms};
use query::{Ids, Request, Values};
use schema::{Column, Table, ViewTest};
use std::cell::Cell;
use std::sync::Arc;
use store::Comparison;

/// What each relation tests of rows of `base`, besides that the columns of the view's key are not null.
pub fn bind_view_where(
    scope: Scope<'_>,
    base: &Arc<Table>,
    relations: &[Relation],
    of_projection: bool,
) -> Result<Vec<Vec<ViewTest>>, CqlError> {
    if relations.iter().any(|relation| matches!(relation.subject, Subject::Token(_))) {
        return Err(CqlError::invalid("Cannot use token relation when defining a materialized view"));
    }
    let rules = Rules { kind: StatementKind::View, statics_only: false, allow_filtering: true };
    let mut merged = Merged::new(base, rules);
    let mut tests = Vec::with_capacity(relations.len());
    for written in relations {
        let mut of_relation = Vec::new();
        if written.op == RelationOp::IsNotNull {
            check_not_null(base, written)?;
            if of_projection {
                // Holds of every value that is there.
                of_relation.push(ViewTest { comparison: Comparison::NotIn, alternatives: Vec::new() });
            }
            tests.push(of_relation);
            continue;
        }
        let mut row = RowScope::new(base.clone());
        let mut bind = || relation::bind(scope, base, written, rules.kind, &mut row, &mut Markers::new(0));
        for bound in bind()? {
            add_tests(base, written, &bound, of_projection, &mut of_relation)?;
        }
        for bound in bind()? {
            merged.add(bound)?;
        }
        tests.push(of_relation);
    }
    Ok(tests)
}

fn check_not_null(base: &Table, written: &Relation) -> Result<(), CqlError> {
    match &written.subject {
        Subject::Column(name) => match base.column(name.as_str()) {
            Some(_) => Ok(()),
            None => Err(crate::bind::expr::undefined(base, name.as_str())),
        },
        _ => Err(unsupported(written)),
    }
}

fn unsupported(written: &Relation) -> CqlError {
    CqlError::invalid(format!("Unsupported restriction: {}", relation_text(written)))
}

fn add_tests(
    base: &Table,
    written: &Relation,
    bound: &BoundRelation,
    of_projection: bool,
    out: &mut Vec<ViewTest>,
) -> Result<(), CqlError> {
    let (subject, test) = (&bound.subject, &bound.test);
    let columns: &[Column] = match subject {
        BoundSubject::Column(column) | BoundSubject::Part(column, _) => std::slice::from_ref(column),
        BoundSubject::Tuple(columns) => columns,
        BoundSubject::Token => return Err(unsupported(written)),
    };
    // What is no column of the base's key is, for a view, refused by the schema's rules, in its turn.
    if !of_projection && columns.iter().any(|column| !column.kind.is_primary_key()) {
        return Ok(());
    }
    if matches!(subject, BoundSubject::Part(..)) {
        return Err(unsupported(written));
    }
    let (comparison, items): (_, Vec<&Item>) = match test {
        Test::Among(Terms::One(item)) => (Comparison::Equal, vec![item]),
        Test::Among(Terms::List(items)) => (Comparison::In, items.iter().collect()),
        Test::Bound { start: true, inclusive: false, item } => (Comparison::Greater, vec![item]),
        Test::Bound { start: true, inclusive: true, item } => (Comparison::GreaterOrEqual, vec![item]),
        Test::Bound { start: false, inclusive: false, item } => (Comparison::Less, vec![item]),
        Test::Bound { start: false, inclusive: true, item } => (Comparison::LessOrEqual, vec![item]),
        Test::Among(Terms::ListValue { .. }) | Test::Other(..) => return Err(unsupported(written)),
    };
    let mut alternatives = Vec::new();
    for item in &items {
        let Item::Parts(parts) = item else { return Err(unsupported(written)) };
        let values = parts.iter().map(|expr| constant(expr, written)).collect::<Result<Vec<_>, _>>()?;
        // No row has a null in its key, so an alternative with a null is none.
        alternatives.extend(values.into_iter().collect::<Option<Vec<_>>>());
    }
    if columns.iter().any(|column| query::view::key_column(base, column).is_none()) {
        return Err(unsupported(written));
    }
    out.push(ViewTest { comparison, alternatives });
    Ok(())
}

/// The value of an expression that has the same one whenever it is asked.
fn constant(expr: &Expr, written: &Relation) -> Result<Option<Vec<u8>>, CqlError> {
    let at = |moment: u8| {
        let request = Request::new(Values::NONE, i64::from(moment) * 1_000_000_000_000);
        let evaluated = expr.evaluate(&request, &Moment(Cell::new(moment)))?;
        Ok::<_, CqlError>(evaluated.into_bytes().map(|bytes| bytes.into_owned()))
    };
    let value = at(1)?;
    if at(100)? != value {
        return Err(CqlError::invalid(format!(
            "{} changes with time; a materialized view needs a constant there",
            relation_text(written)
        )));
    }
    Ok(value)
}

/// Identifiers that differ between two evaluations.
struct Moment(Cell<u8>);

impl Moment {
    fn bytes(&self) -> [u8; 16] {
        self.0.set(self.0.get().wrapping_add(1));
        [self.0.get(); 16]
    }
}

impl Ids for Moment {
    fn timeuuid(&self) -> [u8; 16] {
        self.bytes()
    }

    fn uuid(&self) -> [u8; 16] {
        self.bytes()
    }
}
