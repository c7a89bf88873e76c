//! What has been found out about parts of an expression, so that it is found out once.
//!
//! A function is chosen by trying its arguments against every signature, and each level of nesting tries again what is
//! inside: without a memory `abs(abs(...))` takes twenty times as long with every level.

use super::assign::Assignable;
use cql_syntax::ast::{self, ExprKind};
use model::types::DataType;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// An expression by its place in memory: the tree stays where it is while it is bound. A caller that binds an expression that lives
/// shorter than the binder puts the memo aside meanwhile.
type Place = usize;

/// The type that was found, by what the place of the expression wants.
type Types = HashMap<(Place, Option<DataType>), Option<DataType>>;

#[derive(Default)]
pub struct Memo {
    types: RefCell<Types>,
    fits: RefCell<HashMap<(Place, DataType), Assignable>>,
    without_misplaced_list: RefCell<HashSet<(Place, DataType)>>,
}

fn place(written: &ast::Expr) -> Place {
    std::ptr::from_ref(written) as usize
}

/// Whether finding out takes a walk: all others are looked at anew.
fn is_deep(written: &ast::Expr) -> bool {
    matches!(
        &written.kind,
        ExprKind::Function { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Negate(_)
            | ExprKind::Cast { .. }
            | ExprKind::TypeHint { .. }
            | ExprKind::List(_)
            | ExprKind::Set(_)
            | ExprKind::Map(_)
            | ExprKind::UserType(_)
            | ExprKind::Tuple(_)
            | ExprKind::Field { .. }
            | ExprKind::Element { .. }
            | ExprKind::Slice { .. }
    )
}

impl Memo {
    /// The type of an expression for a place that wants `expected`.
    pub fn type_of(
        &self,
        written: &ast::Expr,
        expected: Option<&DataType>,
        find: impl FnOnce() -> Option<DataType>,
    ) -> Option<DataType> {
        if !is_deep(written) {
            return find();
        }
        let key = (place(written), expected.cloned());
        if let Some(found) = self.types.borrow().get(&key) {
            return found.clone();
        }
        let found = find();
        self.types.borrow_mut().insert(key, found.clone());
        found
    }

    /// How well an expression fits a type.
    pub fn fit(
        &self,
        written: &ast::Expr,
        expected: &DataType,
        find: impl FnOnce() -> Assignable,
    ) -> Assignable {
        if !is_deep(written) {
            return find();
        }
        let key = (place(written), expected.clone());
        if let Some(found) = self.fits.borrow().get(&key) {
            return *found;
        }
        let found = find();
        self.fits.borrow_mut().insert(key, found);
        found
    }

    /// The place of a list that is misplaced, if there is one; that there is none is remembered.
    pub fn misplaced_list<'t>(
        &self,
        written: &ast::Expr,
        expected: &'t DataType,
        find: impl FnOnce() -> Option<&'t DataType>,
    ) -> Option<&'t DataType> {
        if !is_deep(written) {
            return find();
        }
        let key = (place(written), expected.clone());
        if self.without_misplaced_list.borrow().contains(&key) {
            return None;
        }
        let found = find();
        if found.is_none() {
            self.without_misplaced_list.borrow_mut().insert(key);
        }
        found
    }
}
