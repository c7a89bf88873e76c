//! Review rules, growth model and their reports. Works on text alone.
//!
//! [`review`] reads CQL files (tables, indexes, views, access patterns, plain statements) and gives a [`Review`]: findings
//! with rule, severity, place, reason and repair, and every syntax error. [`review_statement`] is the same for one DDL
//! statement inside a server. [`output`] writes a review as text, JSON, SARIF or one HTML page.
//!
//! Everything here is a pure function of the texts: no files, no clock, no running store. Any text gives a review,
//! never a panic.

pub mod act_as;
pub mod catalogue;
pub mod derive;
pub mod dynamo;
mod entry;
pub mod facts;
pub mod finding;
pub mod fix;
pub mod growth;
mod joined;
mod lexicon;
pub mod numbers;
pub mod output;
mod people;
mod repair;
pub mod rules;
pub mod simulate;
pub mod source;
mod suppress;
mod units;
mod usage;
pub mod vocabulary;

pub use catalogue::Catalogue;
pub use entry::{
    Review, Target, review, review_as, review_for, review_statement, review_statements, warnings,
};
pub use finding::{Finding, ReadError, Severity};
pub use source::{Place, SourceFile};
