//! The DynamoDB dialect. This part is pure: values and their stored form, expressions, requests and their rules,
//! answers. No I/O, no clock, no store.

pub mod capacity;
pub mod document;
pub mod error;
pub mod expression;
pub mod json;
pub mod messages;
pub mod number;
pub mod operation;
pub mod partiql;
pub mod request;
pub mod run;
pub mod shape;
pub mod size;
pub mod table;
pub mod value;

pub use error::{ApiError, ErrorName};
pub use operation::Operation;

#[cfg(test)]
mod sample;
