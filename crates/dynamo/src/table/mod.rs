//! Tables: their definition, how CreateTable and UpdateTable make and change it, and the rules that it sets for items.

mod change;
mod definition;
mod describe;
mod keys;
mod rules;

pub use change::label;
pub use definition::*;
pub use describe::{Facts, key_schema, projection};
pub use keys::{IndexEntry, PrimaryKey};

#[cfg(test)]
mod tests;
