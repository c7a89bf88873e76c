//! CQL text to syntax trees and back, with source positions. Pure.

pub mod ast;
pub mod duration;
mod error;
mod span;

pub use error::SyntaxError;
pub use span::{LineIndex, Position, Span};
