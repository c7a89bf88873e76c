//! Functions and aggregates: their signatures, and the statements that would create them again.

use super::page::Row;
use super::row_named;
use cql_syntax::maybe_quote;
use schema::{Keyspace, UserAggregate, UserFunction};
use std::fmt::Write;

/// A type as it may be written for an argument: frozen it is anyway.
fn shown(kept: &str) -> &str {
    kept.strip_prefix("frozen<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(kept)
}

fn signature<'t>(name: &str, types: impl Iterator<Item = &'t str>) -> String {
    format!("{}({})", maybe_quote(name), types.map(shown).collect::<Vec<_>>().join(", "))
}

pub(super) fn function_signature(function: &UserFunction) -> String {
    signature(&function.name, function.argument_types().into_iter())
}

pub(super) fn aggregate_signature(aggregate: &UserAggregate) -> String {
    signature(&aggregate.name, aggregate.arguments.iter().map(String::as_str))
}

pub(super) fn function_row(keyspace: &Keyspace, function: &UserFunction) -> Row {
    row_named(
        &keyspace.name,
        "function",
        function_signature(function),
        function_text(&keyspace.name, function),
    )
}

pub(super) fn aggregate_row(keyspace: &Keyspace, aggregate: &UserAggregate) -> Row {
    let text = aggregate_text(&keyspace.name, aggregate);
    row_named(&keyspace.name, "aggregate", aggregate_signature(aggregate), text)
}

/// All functions of a keyspace, by name without regard to case.
pub(super) fn functions(keyspace: &Keyspace) -> Vec<&UserFunction> {
    let mut all: Vec<&UserFunction> = keyspace.functions.iter().map(|function| &**function).collect();
    all.sort_by_key(|function| function.name.to_lowercase());
    all
}

pub(super) fn aggregates(keyspace: &Keyspace) -> Vec<&UserAggregate> {
    let mut all: Vec<&UserAggregate> = keyspace.aggregates.iter().map(|aggregate| &**aggregate).collect();
    all.sort_by_key(|aggregate| aggregate.name.to_lowercase());
    all
}

fn function_text(keyspace: &str, function: &UserFunction) -> String {
    let argument =
        |(name, data_type): &(String, String)| format!("{} {}", maybe_quote(name), shown(data_type));
    let arguments: Vec<String> = function.arguments.iter().map(argument).collect();
    let nulls = if function.called_on_null { "CALLED" } else { "RETURNS NULL" };
    // A body that holds the sign which ends it goes between quotes.
    let body = match function.body.contains("$$") {
        true => format!("'{}'", function.body.replace('\'', "''")),
        false => format!("$${}$$", function.body),
    };
    format!(
        "CREATE FUNCTION {}.{}({})\n    {nulls} ON NULL INPUT\n    RETURNS {}\n    LANGUAGE {}\n    AS {body};",
        maybe_quote(keyspace),
        maybe_quote(&function.name),
        arguments.join(", "),
        shown(&function.returns),
        function.language
    )
}

fn aggregate_text(keyspace: &str, aggregate: &UserAggregate) -> String {
    let mut text = format!(
        "CREATE AGGREGATE {}.{}\n    SFUNC {}\n    STYPE {}",
        maybe_quote(keyspace),
        aggregate_signature(aggregate),
        maybe_quote(&aggregate.state_function),
        shown(&aggregate.state_type)
    );
    if let Some(last) = &aggregate.final_function {
        let _ = write!(text, "\n    FINALFUNC {}", maybe_quote(last));
    }
    if let Some(initial) = &aggregate.initial {
        let _ = write!(text, "\n    INITCOND {initial}");
    }
    text + ";"
}
