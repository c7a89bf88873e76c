//! Functions of collections: keys, values, count, least, greatest, sum, average.

use super::{Args, Argument, CallContext, CallResult, Function, known};
use crate::error::QueryError;
use crate::fault::FunctionFault;
use model::arithmetic::{Average, Sum};
use model::types::DataType;
use model::value::elements::{elements, map_entries};
use model::value::{compare, encode_elements};
use std::cmp::Ordering;
use std::sync::Arc;

pub fn find(name: &str, args: &[Argument]) -> Option<Result<Vec<Function>, QueryError>> {
    if !matches!(
        name,
        "map_keys"
            | "map_values"
            | "collection_count"
            | "collection_min"
            | "collection_max"
            | "collection_sum"
            | "collection_avg"
    ) {
        return None;
    }
    Some(known(name, args, 0).and_then(|arg| make(name, arg, &args[0].text)).map(|f| vec![f]))
}

fn make(name: &str, arg: DataType, text: &str) -> Result<Function, QueryError> {
    let refuse = |what: &'static str| {
        Err(FunctionFault::ArgumentOfKind {
            function: name.to_string(),
            wanted: what,
            argument: text.to_string(),
            found: arg.to_string(),
        }
        .into())
    };
    let element = match &arg {
        DataType::List { element, .. } | DataType::Set { element, .. } => Some(element.clone()),
        DataType::Map { .. } => None,
        _ if name == "collection_count" => return refuse("collection"),
        _ => None,
    };
    let frozen = |element: &DataType| Arc::new(element.clone());
    let (returns, body): (DataType, super::Body) = match (name, &arg) {
        ("map_keys", DataType::Map { key, .. }) => {
            (DataType::Set { element: frozen(key), frozen: false }, keys)
        }
        ("map_values", DataType::Map { value, .. }) => {
            (DataType::List { element: frozen(value), frozen: false }, values)
        }
        ("map_keys" | "map_values", _) => return refuse("map"),
        ("collection_count", _) => (DataType::Int, count),
        ("collection_min", _) | ("collection_max", _) => {
            let Some(of) = element else { return refuse("set or list") };
            ((*of).clone(), if name == "collection_min" { least } else { greatest })
        }
        _ => match element {
            Some(element) if element.is_numeric() => {
                ((*element).clone(), if name == "collection_sum" { sum } else { average })
            }
            _ => return refuse("numeric set/list"),
        },
    };
    Ok(Function::new(name, vec![arg], returns, body))
}

fn whole<'a>(args: &Args<'a>) -> Option<&'a [u8]> {
    args.first().copied().flatten()
}

fn keys(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let entries = whole(args).and_then(|bytes| map_entries(bytes).ok());
    Ok(entries.map(|entries| encode_elements(entries.flatten().filter_map(|(key, _)| key))))
}

fn values(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let entries = whole(args).and_then(|bytes| map_entries(bytes).ok());
    Ok(entries.map(|entries| encode_elements(entries.flatten().filter_map(|(_, value)| value))))
}

fn count(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let parts = whole(args).and_then(|bytes| elements(bytes).ok());
    Ok(parts.map(|parts| (parts.left() as i32).to_be_bytes().to_vec()))
}

fn parts(bytes: &[u8]) -> Vec<&[u8]> {
    elements(bytes).map(|e| e.flatten().flatten().collect()).unwrap_or_default()
}

fn extreme(function: &Function, args: &Args<'_>, wanted: Ordering) -> CallResult {
    let Some(bytes) = whole(args) else { return Ok(None) };
    let best = parts(bytes)
        .into_iter()
        .reduce(|best, part| if compare(&function.returns, part, best) == wanted { part } else { best });
    Ok(best.map(<[u8]>::to_vec))
}

fn least(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    extreme(function, args, Ordering::Less)
}

fn greatest(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    extreme(function, args, Ordering::Greater)
}

fn sum(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let (Some(bytes), Some(mut sum)) = (whole(args), Sum::new(&function.returns)) else { return Ok(None) };
    for part in parts(bytes) {
        sum.add(part).map_err(|e| function.failure(e))?;
    }
    Ok(Some(sum.value()))
}

fn average(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let (Some(bytes), Some(mut average)) = (whole(args), Average::new(&function.returns)) else {
        return Ok(None);
    };
    for part in parts(bytes) {
        average.add(part).map_err(|e| function.failure(e))?;
    }
    Ok(Some(average.value()))
}
