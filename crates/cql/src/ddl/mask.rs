//! `MASKED WITH function(args)`: checked as far as DDL can, kept as canonical text.

use crate::CqlError;
use cql_syntax::ast::{ColumnMask, Expr, ExprKind, Literal, Selection, Statement};
use model::types::{DataType, java_class_name};
use query::function::{self, Argument, Function};

/// The canonical text of a mask on a column of this type: `system.mask_inner(1, null)`.
pub(super) fn mask_text(column: &str, data_type: &DataType, mask: &ColumnMask) -> Result<String, CqlError> {
    let name = mask.function.as_str();
    let arg_text = |arg: &Expr| if arg.kind == ExprKind::Null { "null".into() } else { arg.to_string() };
    let args: Vec<String> = mask.args.iter().map(arg_text).collect();
    let args = args.join(", ");
    let count = mask.args.len();
    let fits = match name {
        "mask_default" | "mask_null" => count == 0,
        "mask_replace" => count == 1,
        "mask_inner" | "mask_outer" => count == 2 || count == 3,
        "mask_hash" => count <= 1,
        _ => false,
    };
    let value = Argument { data_type: Some(data_type.clone()), text: column.to_string() };
    let takes_it = |f: &Function| f.args.len() == count + 1;
    let known =
        matches!(function::candidates(name, &[value], None), Some(Ok(found)) if found.iter().any(takes_it));
    if !name.starts_with("mask_") && known {
        return Err(CqlError::Invalid(format!(
            "Not-masking function {name}({args}) cannot be used for masking table columns"
        )));
    }
    if !fits || mask.function.keyspace_str().is_some_and(|keyspace| keyspace != "system") {
        return Err(CqlError::Invalid(format!(
            "Unable to find masking function for {column}, no declared function matches the signature {name}({args})"
        )));
    }
    if matches!(name, "mask_inner" | "mask_outer") && !data_type.is_text() {
        return Err(CqlError::Invalid(format!(
            "Function system.{name} requires an argument of type [text|varchar|ascii], but found argument {} of type \
             {data_type}",
            java_class_name(data_type)
        )));
    }
    if let ("mask_replace", Some(arg)) = (name, mask.args.first())
        && !could_be(data_type, &arg.kind)
    {
        return Err(CqlError::Invalid(format!(
            "Type error: {args} cannot be passed as argument 1 of function system.mask_replace of type {data_type}"
        )));
    }
    if name == "mask_hash" && *data_type != DataType::Blob {
        return Err(CqlError::Invalid(format!(
            "Masking function {name}({args}) return type is blob. This is different to the type of the masked column \
             {column} of type {data_type}. Masking functions can only be attached to table columns if they return the \
             same data type as the masked column."
        )));
    }
    Ok(format!("system.{name}({args})"))
}

/// Whether the kind of a constant fits the type at all; its content is read when the mask is applied.
fn could_be(data_type: &DataType, kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Literal(Literal::String(_)) => !data_type.is_numeric() && *data_type != DataType::Boolean,
        ExprKind::Literal(Literal::Integer(_)) => data_type.is_numeric() || *data_type == DataType::Timestamp,
        ExprKind::Literal(Literal::Boolean(_)) => *data_type == DataType::Boolean,
        _ => true,
    }
}

/// A mask taken apart, as `system_schema.column_masks` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskCall {
    pub function: String,
    /// Type and value of each argument; `None` is null.
    pub arguments: Vec<(&'static str, Option<String>)>,
}

/// Reads the text that [`mask_text`] made.
pub fn parse_mask(text: &str) -> Option<MaskCall> {
    let parsed = cql_syntax::parse_statement(&format!("SELECT {text} FROM t")).ok()?;
    let Statement::Select(select) = parsed.statement else { return None };
    let Selection::Items(items) = select.selection else { return None };
    let ExprKind::Function { name, args } = items.into_iter().next()?.expr.kind else { return None };
    let argument = |kind: ExprKind| match kind {
        ExprKind::Literal(literal) => {
            let data_type = if matches!(literal, Literal::Integer(_)) { "int" } else { "text" };
            (data_type, Some(literal.text().to_string()))
        }
        _ => ("int", None),
    };
    let arguments = args.into_iter().map(|arg| argument(arg.kind)).collect();
    Some(MaskCall { function: name.as_str().to_string(), arguments })
}
