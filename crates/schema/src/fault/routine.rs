//! Functions and aggregates. Facts without words.

use super::Kind;
use crate::name::FullName;
use crate::name::Signature;

/// A function or an aggregate cannot be as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutineFault {
    ReplaceAndIfNotExists,
    DuplicateArguments { function: String, arguments: Vec<String> },
    ReplacesAggregate { function: String },
    FunctionExists { function: String },
    NullInputDiffers { function: String, directive: &'static str },
    ReturnsDiffer { function: String, returns: String, before: String },
    AggregateKeyspaceMissing { keyspace: String },
    ReplacesFunction { aggregate: String },
    AggregateExists { aggregate: String },
    AggregateReturnsDiffer { aggregate: String, returns: String, before: String },
    StateFunctionMissing { function: Signature },
    StateFunctionReturns { function: Signature },
    FinalFunctionMissing { function: Signature },
    FirstStateMissing { aggregate: String, function: FullName },
    Missing { is_aggregate: bool, routine: Signature },
    Ambiguous { is_aggregate: bool, function: String },
    Referenced { function: Signature, aggregates: Vec<String> },
}

impl RoutineFault {
    pub fn kind(&self) -> Kind {
        match self {
            RoutineFault::ReplaceAndIfNotExists
            | RoutineFault::DuplicateArguments { .. }
            | RoutineFault::ReplacesAggregate { .. }
            | RoutineFault::FunctionExists { .. }
            | RoutineFault::NullInputDiffers { .. }
            | RoutineFault::ReturnsDiffer { .. }
            | RoutineFault::ReplacesFunction { .. }
            | RoutineFault::AggregateExists { .. }
            | RoutineFault::AggregateReturnsDiffer { .. }
            | RoutineFault::StateFunctionMissing { .. }
            | RoutineFault::StateFunctionReturns { .. }
            | RoutineFault::FinalFunctionMissing { .. }
            | RoutineFault::FirstStateMissing { .. }
            | RoutineFault::Missing { .. }
            | RoutineFault::Ambiguous { .. }
            | RoutineFault::Referenced { .. } => Kind::Invalid,
            RoutineFault::AggregateKeyspaceMissing { .. } => Kind::Misconfigured,
        }
    }
}
