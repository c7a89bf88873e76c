//! A review as text, JSON, SARIF or HTML.

pub mod json;
