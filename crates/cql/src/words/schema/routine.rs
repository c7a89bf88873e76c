//! Words: functions and aggregates.

use schema::fault::RoutineFault;

pub fn routine(fault: &RoutineFault) -> String {
    match fault {
        RoutineFault::ReplaceAndIfNotExists => {
            "Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives".into()
        }
        RoutineFault::DuplicateArguments { function, arguments } => format!(
            "Duplicate argument names for given function {function} with argument names [{arguments}]",
            arguments = arguments.join(", ")
        ),
        RoutineFault::ReplacesAggregate { function } => {
            format!("Function '{function}' cannot replace an aggregate")
        }
        RoutineFault::FunctionExists { function } => format!("Function '{function}' already exists"),
        RoutineFault::NullInputDiffers { function, directive } => {
            format!("Function '{function}' must have {directive} ON NULL INPUT directive")
        }
        RoutineFault::ReturnsDiffer { function, returns, before } => format!(
            "Cannot replace function '{function}', the new return type {returns} is not compatible with the return type {before} of existing function"
        ),
        RoutineFault::AggregateKeyspaceMissing { keyspace } => format!("Keyspace {keyspace} doesn't exist"),
        RoutineFault::ReplacesFunction { aggregate } => {
            format!("Aggregate '{aggregate}' cannot replace a function")
        }
        RoutineFault::AggregateExists { aggregate } => format!("Aggregate '{aggregate}' already exists"),
        RoutineFault::AggregateReturnsDiffer { aggregate, returns, before } => format!(
            "Cannot replace aggregate '{aggregate}', the new return type {returns} isn't compatible with the return type {before} of existing function"
        ),
        RoutineFault::StateFunctionMissing { function } => format!("State function {function} doesn't exist"),
        RoutineFault::StateFunctionReturns { function } => format!(
            "State function {function} return type must be the same as the first argument type - check STYPE, argument and return types"
        ),
        RoutineFault::FinalFunctionMissing { function } => format!("Final function {function} doesn't exist"),
        RoutineFault::FirstStateMissing { aggregate, function } => format!(
            "Cannot create aggregate '{aggregate}' without INITCOND because state function {function} does not accept 'null' arguments"
        ),
        RoutineFault::Missing { is_aggregate, routine } => {
            let title = if *is_aggregate { "Aggregate" } else { "Function" };
            format!("{title} '{routine}' doesn't exist")
        }
        RoutineFault::Ambiguous { is_aggregate, function } => {
            let word = if *is_aggregate { "AGGREGATE" } else { "FUNCTION" };
            format!(
                "'DROP {word} {function}' matches multiple function definitions; specify the argument types by issuing a statement like 'DROP {word} {function} (type, type, ...)'. You can use cqlsh 'DESCRIBE {word} {function}' command to find all overloads"
            )
        }
        RoutineFault::Referenced { function, aggregates } => format!(
            "Function '{function}' is still referenced by aggregates {aggregates}",
            aggregates = aggregates.join(", ")
        ),
    }
}
