//! Unit tests of expressions.
