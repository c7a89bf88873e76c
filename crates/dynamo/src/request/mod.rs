//! Requests: the typed form of all 66 operations, and the checks that need only the request, in the service's order.

mod batch;
mod control;
mod items;
mod parameters;
mod reads;
mod statements;
mod streams;
mod tables;
mod transact;
mod transfer;
mod types;

pub(crate) use tables::global_key;
pub use types::*;

use crate::error::ApiError;
use crate::messages::{Layer, Layers};
use crate::operation::Operation;
use crate::shape::{self, Faults, Members};

/// Reads and checks a request; what is left to check needs the table.
pub fn parse(operation: Operation, body: &[u8], layers: Layers) -> Result<Request, ApiError> {
    let context = Context { operation, layer: layers.of(operation) };
    let members = shape::read_body(body, shape::input(operation))?;
    use Operation as O;
    match operation {
        O::PutItem => items::put(&context, members).map(Request::PutItem),
        O::GetItem => items::get(&context, members).map(Request::GetItem),
        O::UpdateItem => items::update(&context, members).map(Request::UpdateItem),
        O::DeleteItem => items::delete(&context, members).map(Request::DeleteItem),
        O::Query => reads::query(&context, members).map(|query| Request::Query(Box::new(query))),
        O::Scan => reads::scan(&context, members).map(|scan| Request::Scan(Box::new(scan))),
        O::SearchVectors => {
            reads::search(&context, members).map(|search| Request::SearchVectors(Box::new(search)))
        }
        O::BatchGetItem => batch::get(&context, members).map(Request::BatchGetItem),
        O::BatchWriteItem => batch::write(&context, members).map(Request::BatchWriteItem),
        O::TransactGetItems => transact::get(&context, members).map(Request::TransactGetItems),
        O::TransactWriteItems => transact::write(&context, members).map(Request::TransactWriteItems),
        O::ExecuteStatement => statements::one(&context, members).map(Request::ExecuteStatement),
        O::BatchExecuteStatement => statements::batch(&context, members).map(Request::BatchExecuteStatement),
        O::ExecuteTransaction => statements::transaction(&context, members).map(Request::ExecuteTransaction),
        O::CreateTable => {
            tables::create(&context, members).map(|create| Request::CreateTable(Box::new(create)))
        }
        O::UpdateTable => {
            tables::update(&context, members).map(|update| Request::UpdateTable(Box::new(update)))
        }
        O::ListStreams | O::DescribeStream | O::GetShardIterator | O::GetRecords => {
            streams::parse(&context, members)
        }
        O::ExportTableToPointInTime => transfer::export(&context, members),
        O::ImportTable => transfer::import(&context, members),
        _ => control::parse(&context, members),
    }
}

/// What the checks of one request share.
struct Context {
    operation: Operation,
    layer: Layer,
}

impl Context {
    /// Member constraints of the whole request.
    fn constraints(&self, members: &Members<'_>, skip: &[&str]) -> Result<(), ApiError> {
        let mut faults = Faults::default();
        faults.check(members, shape::input(self.operation), skip);
        faults.finish()
    }

    /// The newer layer puts a prefix before what it finds wrong in the parameters of single writes.
    fn envelope<T>(&self, result: Result<T, ApiError>) -> Result<T, ApiError> {
        let single =
            matches!(self.operation, Operation::PutItem | Operation::UpdateItem | Operation::DeleteItem);
        match result {
            Err(error) if self.layer == Layer::Newer && single => {
                let message = format!("1 validation error detected: {}", error.message());
                Err(error.reworded(message))
            }
            other => other,
        }
    }
}

/// The table of a data operation; its name was checked with the members.
fn table(members: &Members<'_>) -> String {
    shape::table_of(members.text("TableName").unwrap_or_default()).to_string()
}

fn return_capacity(members: &Members<'_>) -> ReturnCapacity {
    match members.text("ReturnConsumedCapacity") {
        Some("TOTAL") => ReturnCapacity::Total,
        Some("INDEXES") => ReturnCapacity::Indexes,
        _ => ReturnCapacity::None,
    }
}

fn return_metrics(members: &Members<'_>) -> bool {
    members.text("ReturnItemCollectionMetrics") == Some("SIZE")
}

fn item_on_failure(members: &Members<'_>) -> bool {
    members.text("ReturnValuesOnConditionCheckFailure") == Some("ALL_OLD")
}

#[cfg(test)]
mod tests;
