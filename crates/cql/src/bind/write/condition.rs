//! The IF clause of UPDATE and DELETE.

use super::super::Scope;
use super::super::expr::bind_term;
use super::super::markers::Markers;
use super::column;
use crate::CqlError;
use crate::bind::comparison::comparison;
use cql_syntax::ast::{self, Operand, RelationOp, Subject};
use model::types::DataType;
use query::expr::Expr;
use query::write::{ConditionPlan, Conditions, ElementExpr, OperandExpr};
use schema::{Column, ColumnKind, Table};
use std::sync::Arc;
use store::Comparison;

pub(super) fn bind(
    scope: Scope<'_>,
    table: &Table,
    condition: &ast::Condition,
    timestamp: &Option<Expr>,
    markers: &mut Markers,
) -> Result<ConditionPlan, CqlError> {
    match condition {
        ast::Condition::Exists(_) => Ok(ConditionPlan::Exists),
        ast::Condition::Relations(_) if timestamp.is_some() => {
            Err(CqlError::invalid("Cannot provide custom timestamp for conditional updates"))
        }
        ast::Condition::Relations(relations) => {
            let bound = relations.iter().map(|r| relation(scope, table, r, markers));
            Ok(ConditionPlan::Columns(bound.collect::<Result<_, _>>()?))
        }
    }
}

fn relation(
    scope: Scope<'_>,
    table: &Table,
    relation: &ast::Relation,
    markers: &mut Markers,
) -> Result<Conditions, CqlError> {
    let (column, element, compared) = subject(scope, table, &relation.subject, markers)?;
    let comparison = comparison(relation.op).ok_or_else(|| unsupported(relation.op))?;
    check_operator(&compared, comparison)?;
    let compared = match comparison {
        Comparison::Contains => element_type(column)?.1,
        Comparison::ContainsKey => element_type(column)?.0.ok_or_else(|| {
            let text = format!("Cannot use CONTAINS KEY on non-map column {}", column.name);
            CqlError::invalid(text)
        })?,
        _ => compared,
    };
    let name = match (comparison, &element) {
        (Comparison::ContainsKey, _) => format!("key({})", column.name),
        (Comparison::Contains, _) | (_, Some(ElementExpr::MapKey(_) | ElementExpr::ListIndex(_))) => {
            format!("value({})", column.name)
        }
        _ => column.name.to_string(),
    };
    let operand = match &relation.operand {
        Operand::One(expr) if comparison == Comparison::In => {
            let list = DataType::List { element: Arc::new(compared.freeze()), frozen: true };
            OperandExpr::ListValue(bind_term(scope, expr, &list, &format!("in({name})"), markers)?)
        }
        Operand::One(expr) => OperandExpr::One(bind_term(scope, expr, &compared, &name, markers)?),
        Operand::List(exprs) => {
            let bound = exprs.iter().map(|e| bind_term(scope, e, &compared, &name, markers));
            OperandExpr::List(bound.collect::<Result<_, _>>()?)
        }
        Operand::None | Operand::Range(..) => return Err(unsupported(relation.op)),
    };
    if column.kind.is_primary_key() {
        let text = format!("PRIMARY KEY column '{}' cannot have IF conditions", column.name);
        return Err(CqlError::invalid(text));
    }
    Ok(Conditions {
        column: column.id,
        name: column.name.clone(),
        is_static: column.kind == ColumnKind::Static,
        data_type: column.data_type.clone(),
        element,
        comparison,
        operand,
    })
}

/// The column, the part of it, and the type that is compared.
fn subject<'t>(
    scope: Scope<'_>,
    table: &'t Table,
    subject: &Subject,
    markers: &mut Markers,
) -> Result<(&'t Column, Option<ElementExpr>, DataType), CqlError> {
    let name = match subject {
        Subject::Column(name)
        | Subject::Element { column: name, .. }
        | Subject::Field { column: name, .. } => name,
        Subject::Token(_) | Subject::Columns(_) | Subject::Index(_) => {
            return Err(CqlError::invalid("IF conditions are on columns, elements or fields only"));
        }
    };
    let column = column(table, name)?;
    match subject {
        Subject::Element { key, .. } => match &column.data_type {
            DataType::Map { key: key_type, value, .. } => {
                let key = bind_term(scope, key, key_type, &format!("key({})", column.name), markers)?;
                Ok((column, Some(ElementExpr::MapKey(key)), (**value).clone()))
            }
            DataType::List { element, .. } => {
                let index = bind_term(scope, key, &DataType::Int, &format!("idx({})", column.name), markers)?;
                Ok((column, Some(ElementExpr::ListIndex(index)), (**element).clone()))
            }
            DataType::Set { .. } => {
                let text = format!("Invalid element access syntax for set column {}", column.name);
                Err(CqlError::invalid(text))
            }
            _ => {
                let text = format!("Invalid element access syntax for non-collection column {}", column.name);
                Err(CqlError::invalid(text))
            }
        },
        Subject::Field { field, .. } => {
            let DataType::Udt(udt) = &column.data_type else {
                let text = format!("Invalid field access syntax for non-UDT column {}", column.name);
                return Err(CqlError::invalid(text));
            };
            let index = udt.field_index(field.as_str()).ok_or_else(|| {
                CqlError::invalid(format!("Unknown field {} for column {}", field.as_str(), column.name))
            })?;
            Ok((column, Some(ElementExpr::Field(index as u16)), udt.fields[index].data_type.clone()))
        }
        _ => Ok((column, None, column.data_type.clone())),
    }
}

fn unsupported(op: RelationOp) -> CqlError {
    CqlError::invalid(format!("Operator {} is not supported in IF conditions", op.symbol()))
}

fn check_operator(compared: &DataType, comparison: Comparison) -> Result<(), CqlError> {
    let ordered = matches!(
        comparison,
        Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual
    );
    if ordered && *compared == DataType::Duration {
        return Err(CqlError::invalid(
            "Slice conditions ( ".to_string() + comparison.symbol() + " ) are not supported on durations",
        ));
    }
    Ok(())
}

/// (key type of a map, element type) of a collection column.
fn element_type(column: &Column) -> Result<(Option<DataType>, DataType), CqlError> {
    match &column.data_type {
        DataType::List { element, .. } | DataType::Set { element, .. } => Ok((None, (**element).clone())),
        DataType::Map { key, value, .. } => Ok((Some((**key).clone()), (**value).clone())),
        _ => {
            let text = format!("Cannot use CONTAINS on non-collection column {}", column.name);
            Err(CqlError::invalid(text))
        }
    }
}
