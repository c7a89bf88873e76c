//! Syntax trees to canonical text.
//!
//! Every node implements [`std::fmt::Display`]. Keywords are in capitals, names are quoted only where they must be,
//! defaults are left out. Reading the text again gives an equal tree, provided the tree came from the parser or keeps to
//! the documented shape of its nodes. Bind markers keep their order, so their numbers survive.
//!
//! With `{:#}` CREATE TABLE, CREATE TYPE and CREATE MATERIALIZED VIEW print over several lines, as DESCRIBE does.

mod check;
mod describe;
mod expr;
mod function;
mod name;
mod note;
mod property;
mod relation;
mod role;
mod select;
mod service_level;
mod statement;
mod table;
mod transaction;
mod types;
mod write;

use std::fmt::{Display, Formatter, Result};

/// `items` with `separator` between them.
fn join<T: Display>(f: &mut Formatter<'_>, items: &[T], separator: &str) -> Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

/// `items` with commas between them, in parentheses.
fn parenthesised<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> Result {
    f.write_str("(")?;
    join(f, items, ", ")?;
    f.write_str(")")
}

fn if_exists(f: &mut Formatter<'_>, present: bool) -> Result {
    if present { f.write_str("IF EXISTS ") } else { Ok(()) }
}

fn if_not_exists(f: &mut Formatter<'_>, present: bool) -> Result {
    if present { f.write_str("IF NOT EXISTS ") } else { Ok(()) }
}
