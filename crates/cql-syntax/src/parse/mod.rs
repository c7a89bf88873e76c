//! Tokens to syntax trees: a hand-written recursive descent, one file per statement family.

mod check;
mod cursor;
mod describe;
mod expr;
mod function;
mod index;
mod keyspace;
mod name;
mod note;
mod pattern;
mod permission;
mod primary;
mod projection;
mod property;
mod relation;
mod role;
mod script;
mod select;
mod service_level;
mod statement;
mod table;
mod transaction;
mod types;
mod view;
mod write;

pub use cursor::{DEPTH_MAX, OPERATORS_MAX};
pub(crate) use script::parse_all;
pub(crate) use statement::parse_one;

use cursor::{Parse, Parser};
