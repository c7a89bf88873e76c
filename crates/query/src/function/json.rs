//! `to_json` and `from_json`.

use super::{Args, Argument, CallContext, CallResult, Function, known};
use crate::error::QueryError;
use crate::fault::FunctionFault;
use model::json::{JsonValue, from_json, to_json};
use model::types::DataType;

pub fn find(
    name: &str,
    args: &[Argument],
    wanted: Option<&DataType>,
) -> Option<Result<Vec<Function>, QueryError>> {
    Some(match name {
        "to_json" | "tojson" => {
            known(name, args, 0).map(|arg| vec![Function::new(name, vec![arg], DataType::Text, print)])
        }
        "from_json" | "fromjson" => match wanted {
            Some(wanted) => Ok(vec![Function::new(name, vec![DataType::Text], wanted.clone(), read)]),
            None => Err(FunctionFault::NotInSelection { function: name.to_string() }.into()),
        },
        _ => return None,
    })
}

fn print(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let data_type = function.args.first().unwrap_or(&DataType::Blob);
    Ok(Some(match args.first().copied().flatten() {
        Some(bytes) => to_json(data_type, bytes).into_bytes(),
        None => b"null".to_vec(),
    }))
}

fn read(function: &Function, args: &Args<'_>, context: &CallContext<'_>) -> CallResult {
    let Some(bytes) = args.first().copied().flatten() else { return Ok(None) };
    let text = String::from_utf8_lossy(bytes);
    let json =
        JsonValue::parse(&text).map_err(|_| FunctionFault::UnreadableJson { text: text.to_string() })?;
    match json {
        JsonValue::Null => Ok(None),
        json => from_json(&function.returns, &json, context.now_millis())
            .map(Some)
            .map_err(|why| FunctionFault::MismatchedJson { why }.into()),
    }
}
