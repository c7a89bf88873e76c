//! Expressions: text to trees, the checks in the service's order, and what the trees compute.

mod check;
mod evaluate;
mod key;
mod legacy;
mod lexer;
mod parser;
mod placeholders;
mod project;
mod reserved;
mod tree;
mod update;

pub use check::{condition, judge_clause, meeting_paths, projection, update};
pub use key::{key_condition, key_expression};
pub use legacy::{
    Joined, LegacyCondition, LegacyUpdate, attribute_updates, expected, filter, key_conditions,
};
pub use parser::ExpressionKind;
pub use placeholders::Placeholders;
pub use tree::*;
pub use update::Updated;

#[cfg(test)]
mod tests;
