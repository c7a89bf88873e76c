//! Constants -> wire bytes of the type they stand for.

use super::assign::Assignable;
use crate::CqlError;
use cql_syntax::ast::Literal;
use model::literal::{
    Assignability, ConstantKind, assignability, constant_to_wire, preferred_type, text_to_wire,
};
use model::types::DataType;
use model::value::encode_fields;

fn kind(literal: &Literal) -> ConstantKind {
    match literal {
        Literal::String(_) => ConstantKind::String,
        Literal::Integer(_) => ConstantKind::Integer,
        Literal::Float(_) => ConstantKind::Float,
        Literal::Boolean(_) => ConstantKind::Boolean,
        Literal::Duration(_) => ConstantKind::Duration,
        Literal::Uuid(_) => ConstantKind::Uuid,
        Literal::Blob(_) => ConstantKind::Hex,
    }
}

/// Which types a constant may stand for.
pub fn test(literal: &Literal, expected: &DataType) -> Assignable {
    match assignability(kind(literal), literal.text(), expected) {
        Assignability::No => Assignable::No,
        Assignability::Weak => Assignable::Weak,
        Assignability::Exact => Assignable::Exact,
    }
}

/// The type a constant has when nothing around it says otherwise.
pub fn natural_type(literal: &Literal) -> DataType {
    preferred_type(kind(literal), literal.text())
}

/// Whether the constant is the timestamp of the request, known only when the statement runs.
pub fn is_now(literal: &Literal, expected: &DataType) -> bool {
    *expected == DataType::Timestamp
        && matches!(literal, Literal::String(text) if text.eq_ignore_ascii_case("now"))
}

/// The wire bytes of a constant.
pub fn encode(literal: &Literal, expected: &DataType, receiver: &str) -> Result<Vec<u8>, CqlError> {
    if let DataType::Tuple(components) = expected
        && !matches!(literal, Literal::Blob(_))
    {
        return encode_tuple(literal.text(), components, expected);
    }
    constant_to_wire(kind(literal), literal.text(), receiver, expected, 0)
        .map_err(|error| CqlError::invalid(error.to_string()))
}

/// The components of a tuple in one text. A colon that belongs to a component is written `\:`.
fn split_fields(text: &str) -> Vec<String> {
    let (mut fields, mut escaped) = (vec![String::new()], false);
    for letter in text.chars() {
        match (letter, fields.last_mut()) {
            (':', _) if !escaped => fields.push(String::new()),
            (letter, Some(field)) => field.push(letter),
            (_, None) => {}
        }
        escaped = letter == '\\' && !escaped;
    }
    fields
}

/// A component without the marks that kept its colons and its `@` apart from those of the tuple.
fn unescaped(field: &str) -> String {
    field.replace("\\:", ":").replace("\\@", "@")
}

fn field_to_wire(component: &DataType, text: &str) -> Result<Vec<u8>, model::value::ValueError> {
    match component {
        DataType::Tuple(components) => encode_tuple(text, components, component)
            .map_err(|error| model::value::ValueError::new(error.to_string())),
        _ => text_to_wire(component, text, 0),
    }
}

/// A constant for a tuple: components in one text, with colons between them; `@` is null.
fn encode_tuple(text: &str, components: &[DataType], expected: &DataType) -> Result<Vec<u8>, CqlError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let parts = split_fields(text);
    if parts.len() > components.len() {
        return Err(CqlError::invalid(format!(
            "Invalid tuple literal: too many elements. Type {expected} expects {} but got {}",
            components.len(),
            parts.len()
        )));
    }
    let mut values = Vec::with_capacity(parts.len());
    for (part, component) in parts.iter().zip(components) {
        values.push(match part.as_str() {
            "@" => None,
            part => Some(
                field_to_wire(component, &unescaped(part))
                    .map_err(|error| CqlError::invalid(error.to_string()))?,
            ),
        });
    }
    Ok(encode_fields(values))
}
