//! SET items and DELETE targets -> assignments, with the rules of each column type.

use super::super::Scope;
use super::super::expr::{bind_term, term_text};
use super::super::markers::Markers;
use super::column;
use crate::CqlError;
use cql_syntax::ast::{self, AssignmentOp, Target};
use model::types::DataType;
use query::write::{Assignment, AssignmentKind};
use schema::{Column, ColumnKind, Table};
use std::sync::Arc;

/// One item of a SET clause.
pub(super) fn set(
    scope: Scope<'_>,
    table: &Table,
    item: &ast::Assignment,
    markers: &mut Markers,
) -> Result<Assignment, CqlError> {
    let column = column(table, item.target.column())?;
    if column.kind.is_primary_key() {
        return Err(CqlError::invalid(format!("PRIMARY KEY part {} found in SET part", column.name)));
    }
    let kind = match &item.target {
        Target::Column(_) => whole(scope, column, item, markers)?,
        Target::Element { key, .. } => element(scope, column, key, &item.value, markers)?,
        Target::Field { field, .. } => {
            let operation = || format!(" ({}.{} = {})", column.name, field.as_str(), term_text(&item.value));
            let (index, field_type) = field_of(column, field, &operation)?;
            let name = format!("{}.{}", column.name, field.as_str());
            AssignmentKind::SetField {
                field: index,
                value: bind_term(scope, &item.value, &field_type, &name, markers)?,
            }
        }
    };
    Ok(assignment(column, kind))
}

/// One target of a DELETE.
pub(super) fn delete(
    scope: Scope<'_>,
    table: &Table,
    target: &Target,
    markers: &mut Markers,
) -> Result<Assignment, CqlError> {
    let column = column(table, target.column())?;
    if column.kind.is_primary_key() {
        let text =
            format!("Invalid identifier {} for deletion (should not be a PRIMARY KEY part)", column.name);
        return Err(CqlError::invalid(text));
    }
    let kind = match target {
        Target::Column(_) => AssignmentKind::Delete,
        Target::Field { field, .. } => AssignmentKind::DeleteField(field_of(column, field, &String::new)?.0),
        Target::Element { key, .. } => {
            if is_frozen(&column.data_type) {
                let text = format!("Invalid deletion operation for frozen collection column {}", column.name);
                return Err(CqlError::invalid(text));
            }
            match &column.data_type {
                DataType::List { .. } => {
                    let name = format!("idx({})", column.name);
                    AssignmentKind::DeleteIndex(bind_term(scope, key, &DataType::Int, &name, markers)?)
                }
                DataType::Map { key: data_type, .. } | DataType::Set { element: data_type, .. } => {
                    let name = format!("key({})", column.name);
                    AssignmentKind::DeleteKey(bind_term(scope, key, data_type, &name, markers)?)
                }
                _ => {
                    let text =
                        format!("Invalid deletion operation for non collection column {}", column.name);
                    return Err(CqlError::invalid(text));
                }
            }
        }
    };
    Ok(assignment(column, kind))
}

fn assignment(column: &Column, kind: AssignmentKind) -> Assignment {
    Assignment {
        column: column.id,
        name: column.name.clone(),
        is_static: column.kind == ColumnKind::Static,
        data_type: column.data_type.clone(),
        kind,
    }
}

fn is_frozen(data_type: &DataType) -> bool {
    data_type.is_collection() && !data_type.is_multi_cell()
}

fn whole(
    scope: Scope<'_>,
    column: &Column,
    item: &ast::Assignment,
    markers: &mut Markers,
) -> Result<AssignmentKind, CqlError> {
    let data_type = &column.data_type;
    let mut bind = |data_type: &DataType| bind_term(scope, &item.value, data_type, &column.name, markers);
    let operation = || item_text(column, item);
    match (item.op, data_type) {
        (AssignmentOp::Set, DataType::Counter) if item.value.kind == ast::ExprKind::Null => {
            Err(CqlError::invalid("Invalid null value for counter increment/decrement"))
        }
        (AssignmentOp::Set, DataType::Counter) => Err(CqlError::invalid(format!(
            "Cannot set the value of counter column {} (counters can only be incremented/decremented, not set)",
            column.name
        ))),
        (AssignmentOp::Set, _) => Ok(AssignmentKind::Set(bind(data_type)?)),
        (AssignmentOp::Add, DataType::Counter) => {
            Ok(AssignmentKind::Count { delta: bind(data_type)?, subtract: false })
        }
        (AssignmentOp::Subtract, DataType::Counter) => {
            Ok(AssignmentKind::Count { delta: bind(data_type)?, subtract: true })
        }
        _ if is_frozen(data_type) => Err(CqlError::invalid(format!(
            "Invalid operation ({}) for frozen collection column {}",
            operation(),
            column.name
        ))),
        (AssignmentOp::Add, DataType::Map { .. }) => {
            let value = bind(data_type).map_err(|_| {
                let value = term_text(&item.value);
                CqlError::invalid(format!("Value for a map addition has to be a map, but was: '{value}'"))
            })?;
            Ok(AssignmentKind::Append(value))
        }
        (AssignmentOp::Add, DataType::List { .. } | DataType::Set { .. }) => {
            Ok(AssignmentKind::Append(bind(data_type)?))
        }
        (AssignmentOp::Add, DataType::Tuple(_) | DataType::Udt(_)) => Err(CqlError::invalid(format!(
            "Invalid operation ({}) for tuple column {}",
            operation(),
            column.name
        ))),
        (AssignmentOp::Prepend, DataType::List { .. }) => Ok(AssignmentKind::Prepend(bind(data_type)?)),
        (AssignmentOp::Subtract, DataType::List { .. } | DataType::Set { .. }) => {
            Ok(AssignmentKind::Remove(bind(data_type)?))
        }
        (AssignmentOp::Subtract, DataType::Map { .. })
            if matches!(item.value.kind, ast::ExprKind::Map(_)) =>
        {
            let text = format!(
                "Value for a map substraction has to be a set, but was: '{}'",
                term_text(&item.value)
            );
            Err(CqlError::Invalid(text))
        }
        (AssignmentOp::Subtract, DataType::Map { key, .. }) => {
            let keys = DataType::Set { element: Arc::clone(key), frozen: false };
            let value = bind(&keys).map_err(|_| {
                let value = term_text(&item.value);
                CqlError::invalid(format!("Value for a map substraction has to be a set, but was: '{value}'"))
            })?;
            Ok(AssignmentKind::Remove(value))
        }
        (AssignmentOp::Add, _) if data_type.is_text() => {
            Ok(AssignmentKind::Compute { operand: bind(data_type)?, subtract: false })
        }
        (AssignmentOp::Add | AssignmentOp::Subtract, _) if data_type.is_numeric() => {
            let subtract = item.op == AssignmentOp::Subtract;
            Ok(AssignmentKind::Compute { operand: bind(data_type)?, subtract })
        }
        (AssignmentOp::Prepend, _) => Err(CqlError::invalid(format!(
            "Invalid operation ({}) for non list column {}",
            operation(),
            column.name
        ))),
        _ => Err(CqlError::invalid(format!(
            "Invalid operation ({}) for non counter column {}",
            operation(),
            column.name
        ))),
    }
}

/// The operation as Cassandra quotes it in messages.
fn item_text(column: &Column, item: &ast::Assignment) -> String {
    let name = &column.name;
    let value = term_text(&item.value);
    match item.op {
        AssignmentOp::Set => format!("{name} = {value}"),
        AssignmentOp::Add => format!("{name} = {name} + {value}"),
        AssignmentOp::Subtract => format!("{name} = {name} - {value}"),
        // The minus is Cassandra's own slip; tools match the sentence.
        AssignmentOp::Prepend => format!("{name} = {value} - {name}"),
    }
}

fn element(
    scope: Scope<'_>,
    column: &Column,
    key: &ast::Expr,
    value: &ast::Expr,
    markers: &mut Markers,
) -> Result<AssignmentKind, CqlError> {
    let operation = || {
        let (key, value) = (term_text(key), term_text(value));
        format!("{}[{key}] = {value}", column.name)
    };
    if is_frozen(&column.data_type) {
        let text =
            format!("Invalid operation ({}) for frozen collection column {}", operation(), column.name);
        return Err(CqlError::invalid(text));
    }
    match &column.data_type {
        DataType::List { element, .. } => {
            let index = bind_term(scope, key, &DataType::Int, &format!("idx({})", column.name), markers)?;
            let value = bind_term(scope, value, element, &format!("value({})", column.name), markers)?;
            Ok(AssignmentKind::SetIndex { index, value })
        }
        DataType::Map { key: key_type, value: value_type, .. } => {
            let key = bind_term(scope, key, key_type, &format!("key({})", column.name), markers)?;
            let value = bind_term(scope, value, value_type, &format!("value({})", column.name), markers)?;
            Ok(AssignmentKind::SetKey { key, value })
        }
        DataType::Set { .. } => Err(CqlError::invalid(format!(
            "Invalid operation ({}) for set column {}",
            operation(),
            column.name
        ))),
        _ => Err(CqlError::invalid(format!(
            "Invalid operation ({}) for non collection column {}",
            operation(),
            column.name
        ))),
    }
}

fn field_of(
    column: &Column,
    field: &ast::Ident,
    operation: &dyn Fn() -> String,
) -> Result<(u16, DataType), CqlError> {
    let DataType::Udt(udt) = &column.data_type else {
        return Err(CqlError::invalid(format!("Invalid operation for non-UDT column {}", column.name)));
    };
    if udt.frozen {
        let text = format!("Invalid operation{} for frozen UDT column {}", operation(), column.name);
        return Err(CqlError::invalid(text));
    }
    let index = udt.field_index(field.as_str()).ok_or_else(|| {
        CqlError::invalid(format!(
            "UDT column {} does not have a field named {}",
            column.name,
            field.as_str()
        ))
    })?;
    Ok((index as u16, udt.fields[index].data_type.clone()))
}
