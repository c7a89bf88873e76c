//! A review as text, JSON, SARIF or HTML; a rule as a lesson.

pub mod chart;
pub mod diagram;
pub mod edit;
pub mod explain;
pub mod html;
pub mod json;
pub mod sarif;
pub mod text;
