//! ExecuteStatement, BatchExecuteStatement and ExecuteTransaction: what surrounds the PartiQL text.

use super::transact::digest;
use super::{BatchExecuteStatement, Context, ExecuteStatement, ExecuteTransaction, Statement};
use super::{item_on_failure, return_capacity};
use crate::error::ApiError;
use crate::shape::{Members, Node};

fn statement(context: &Context, members: &mut Members<'_>) -> Result<Statement, ApiError> {
    Ok(Statement {
        text: members.take_text("Statement").unwrap_or_default(),
        parameters: context.value_list(members.take_list("Parameters").unwrap_or_default())?,
        consistent: members.boolean("ConsistentRead").unwrap_or(false),
        item_on_failure: item_on_failure(members),
    })
}

fn statements(context: &Context, list: Option<Vec<Node<'_>>>) -> Result<Vec<Statement>, ApiError> {
    let mut statements = Vec::new();
    for node in list.unwrap_or_default() {
        if let Node::Structure(mut members) = node {
            statements.push(statement(context, &mut members)?);
        }
    }
    Ok(statements)
}

pub(super) fn one(context: &Context, mut members: Members<'_>) -> Result<ExecuteStatement, ApiError> {
    context.constraints(&members, &[])?;
    Ok(ExecuteStatement {
        statement: statement(context, &mut members)?,
        next_token: members.take_text("NextToken"),
        limit: members.integer("Limit").map(|limit| limit as u32),
        return_capacity: return_capacity(&members),
    })
}

pub(super) fn batch(context: &Context, mut members: Members<'_>) -> Result<BatchExecuteStatement, ApiError> {
    context.constraints(&members, &[])?;
    let statements = statements(context, members.take_list("Statements"))?;
    Ok(BatchExecuteStatement { statements, return_capacity: return_capacity(&members) })
}

pub(super) fn transaction(
    context: &Context,
    mut members: Members<'_>,
) -> Result<ExecuteTransaction, ApiError> {
    context.constraints(&members, &[])?;
    let statements = statements(context, members.take_list("TransactStatements"))?;
    let digest = digest(&statements);
    Ok(ExecuteTransaction {
        statements,
        token: members.take_text("ClientRequestToken"),
        return_capacity: return_capacity(&members),
        digest,
    })
}
