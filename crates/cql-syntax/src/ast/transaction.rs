//! `BEGIN TRANSACTION … COMMIT TRANSACTION`: looks at rows, then writes, all at one moment.

use super::expr::Expr;
use super::name::Ident;
use super::relation::RelationOp;
use super::select::Select;
use super::write::Modification;
use crate::span::Span;

/// Terms inside a transaction may name what LET has found: `a.v`. Such a term is a marker whose index is this plus its place in
/// [`Transaction::references`]; clients bind markers below it, of which a statement has at most 65,535.
pub const REFERENCE_BASE: u32 = 1 << 16;

/// `BEGIN TRANSACTION [LET ...;] [SELECT ...;] [IF ... THEN] writes [END IF] COMMIT TRANSACTION`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    pub lets: Vec<Let>,
    pub returning: Option<Returning>,
    pub returning_at: Place,
    /// All must hold for the writes to happen; empty without IF.
    pub conditions: Vec<TransactionCondition>,
    pub writes: Vec<Modification>,
    /// One for each write.
    pub write_places: Vec<Place>,
    /// Those that stand in terms, in order of appearance.
    pub references: Vec<Reference>,
    pub span: Span,
}

/// `LET name = (SELECT ...)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Let {
    pub name: Ident,
    pub select: Box<Select>,
    /// Where the SELECT begins.
    pub at: Place,
}

/// A place in the text, as messages name it. All places are equal, as spans are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl PartialEq for Place {
    fn eq(&self, _: &Place) -> bool {
        true
    }
}

impl Eq for Place {}

/// What the transaction answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Returning {
    Select(Box<Select>),
    /// `SELECT a.v, b.w`; never empty
    References(Vec<Reference>),
}

/// `name.field`, or the whole row `name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub name: Ident,
    pub field: Option<Ident>,
    pub span: Span,
}

/// One condition of the IF clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionCondition {
    /// `a IS [NOT] NULL`, `a.v IS [NOT] NULL`
    Null { reference: Reference, is_null: bool },
    /// `a.v op value`; the operator is one of comparison. `value op a.v` is read as this, turned round.
    Compare { reference: Reference, op: RelationOp, value: Expr },
}
