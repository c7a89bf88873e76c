//! Relations on the keys of another dialect's table: values are written as readers know them and compared as they are stored.

use super::relation::Test;
use crate::CqlError;
use model::types::quote_identifier;
use query::expr::{Expr, Node};
use query::function::Function;
use query::restrict::{Item, Terms};
use schema::Table;
use std::sync::Arc;

/// The test, on stored values.
pub fn stored(function: &Function, test: Test) -> Result<Test, CqlError> {
    let function = Arc::new(function.clone());
    let call = |part: Expr| Expr::new(function.returns.clone(), Node::Call(function.clone(), vec![part]));
    let item = |item: Item| match item {
        Item::Parts(parts) => Ok(Item::Parts(parts.into_iter().map(call).collect())),
        Item::Tuple(_) => Err(unsupported()),
    };
    let terms = |terms: Terms| match terms {
        Terms::One(one) => Ok(Terms::One(item(one)?)),
        Terms::List(items) => Ok(Terms::List(items.into_iter().map(item).collect::<Result<_, _>>()?)),
        Terms::ListValue { .. } => Err(unsupported()),
    };
    Ok(match test {
        Test::Among(among) => Test::Among(terms(among)?),
        Test::Bound { start, inclusive, item: bound } => Test::Bound { start, inclusive, item: item(bound)? },
        Test::Other(comparison, other) => Test::Other(comparison, terms(other)?),
    })
}

fn unsupported() -> CqlError {
    CqlError::invalid(
        "A number key of a DynamoDB table cannot be compared with a list or tuple as one value: write the values one by one",
    )
}

pub fn not_a_key(table: &Table, name: &str) -> CqlError {
    CqlError::invalid(format!(
        "{} is no key of the DynamoDB table {}.{}: CQL can select attributes, but restrict only keys. Use Query or Scan of the \
         DynamoDB API, with an index or a FilterExpression",
        quote_identifier(name),
        table.keyspace,
        table.name
    ))
}
