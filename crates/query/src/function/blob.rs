//! `<type>_as_blob` and `blob_as_<type>` for every native type, in both spellings.

use super::{Args, CallContext, CallResult, Function};
use crate::fault::FunctionFault;
use model::types::DataType;
use model::value::validate;

pub fn find(name: &str) -> Option<Vec<Function>> {
    let native = |word: &str| match word {
        "blob" | "empty" => None,
        word => DataType::from_native_name(word),
    };
    // Both spellings: `blob_as_int` and (folded) `blobasint`.
    if let Some(word) = name.strip_prefix("blob_as_").or_else(|| name.strip_prefix("blobas")) {
        let data_type = native(word)?;
        return Some(vec![Function::new(name, vec![DataType::Blob], data_type, from_blob)]);
    }
    let word = name.strip_suffix("_as_blob").or_else(|| name.strip_suffix("asblob"))?;
    let data_type = native(word)?;
    Some(vec![Function::new(name, vec![data_type], DataType::Blob, to_blob)])
}

fn to_blob(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    Ok(args.first().copied().flatten().map(<[u8]>::to_vec))
}

fn from_blob(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let Some(bytes) = args.first().copied().flatten() else { return Ok(None) };
    if validate(&function.returns, bytes).is_err() {
        let name = function.name.strip_prefix("system.").unwrap_or(&function.name);
        return Err(FunctionFault::NotBinary {
            function: name.to_string(),
            value: bytes.to_vec(),
            returns: function.returns.to_string(),
        }
        .into());
    }
    Ok(Some(bytes.to_vec()))
}
