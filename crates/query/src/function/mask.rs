//! Data masking: functions that hide a value or a part of it.

use super::{Args, Argument, CallContext, CallResult, Function, as_i32, known, wrong_count};
use crate::error::QueryError;
use crate::fault::FunctionFault;
use model::types::DataType;
use sha2::Digest;

pub fn find(name: &str, args: &[Argument]) -> Option<Result<Vec<Function>, QueryError>> {
    if name == "mask_hash" {
        return Some(hash_function(name, args).map(|f| vec![f]));
    }
    let body: super::Body = match name {
        "mask_null" => |_, _, _: &CallContext<'_>| Ok(None),
        "mask_default" => default,
        "mask_replace" => |_, a, _: &CallContext<'_>| Ok(a.get(1).copied().flatten().map(<[u8]>::to_vec)),
        "mask_inner" => |_, a, _: &CallContext<'_>| partial(a, true),
        "mask_outer" => |_, a, _: &CallContext<'_>| partial(a, false),
        _ => return None,
    };
    Some(make(name, args, body).map(|f| vec![f]))
}

/// `mask_hash(value [, algorithm])`: a digest of the value's bytes.
fn hash_function(name: &str, args: &[Argument]) -> Result<Function, QueryError> {
    let first = known(name, args, 0)?;
    let types = match args.len() {
        1 => vec![first],
        2 => vec![first, DataType::Text],
        count => return Err(wrong_count(name, "1 or 2", count)),
    };
    Ok(Function::new(name, types, DataType::Blob, hash))
}

fn hash(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let Some(bytes) = args.first().copied().flatten() else { return Ok(None) };
    let algorithm = args.get(1).copied().flatten().map(String::from_utf8_lossy);
    let algorithm = algorithm.as_deref().unwrap_or("SHA-256");
    let digest = match algorithm.to_ascii_uppercase().as_str() {
        "MD5" => md5::Md5::digest(bytes).to_vec(),
        "SHA-1" | "SHA1" | "SHA" => sha1::Sha1::digest(bytes).to_vec(),
        "SHA-224" => sha2::Sha224::digest(bytes).to_vec(),
        "SHA-256" => sha2::Sha256::digest(bytes).to_vec(),
        "SHA-384" => sha2::Sha384::digest(bytes).to_vec(),
        "SHA-512" => sha2::Sha512::digest(bytes).to_vec(),
        _ => {
            return Err(FunctionFault::UnknownHash { name: algorithm.to_string() }.into());
        }
    };
    Ok(Some(digest))
}

fn make(name: &str, args: &[Argument], body: super::Body) -> Result<Function, QueryError> {
    let first = known(name, args, 0)?;
    let count = args.len();
    let types = match name {
        "mask_replace" if count == 2 => vec![first.clone(), first.clone()],
        "mask_replace" => return Err(wrong_count(name, "2", count)),
        "mask_inner" | "mask_outer" => {
            if !first.is_text() {
                return Err(FunctionFault::ArgumentOfTypes {
                    function: name.to_string(),
                    wanted: "text|varchar|ascii",
                    argument: args[0].text.clone(),
                    found: first.to_string(),
                }
                .into());
            }
            match count {
                3 => vec![first.clone(), DataType::Int, DataType::Int],
                4 => vec![first.clone(), DataType::Int, DataType::Int, DataType::Text],
                _ => return Err(wrong_count(name, "3 or 4", count)),
            }
        }
        _ if count == 1 => vec![first.clone()],
        _ => return Err(wrong_count(name, "1", count)),
    };
    Ok(Function::new(name, types, first, body))
}

/// A value of the same type that says nothing: `****`, 0, false, an empty collection, the epoch.
fn default(function: &Function, _: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    Ok(Some(masked(&function.returns)))
}

fn masked(data_type: &DataType) -> Vec<u8> {
    use DataType as T;
    match data_type {
        T::Ascii | T::Text => b"****".to_vec(),
        T::TinyInt | T::Boolean | T::VarInt => vec![0],
        T::SmallInt => vec![0; 2],
        T::Int | T::Float => vec![0; 4],
        T::BigInt | T::Counter | T::Double | T::Timestamp | T::Time => vec![0; 8],
        T::Date => (1u32 << 31).to_be_bytes().to_vec(),
        T::Decimal => vec![0, 0, 0, 0, 0],
        T::Uuid => vec![0; 16],
        T::TimeUuid => model::timeuuid::min_for_millis(0).to_vec(),
        T::Inet => vec![0, 0, 0, 0],
        T::Duration => vec![0, 0, 0],
        T::List { .. } | T::Set { .. } | T::Map { .. } => vec![0; 4],
        T::Tuple(components) => {
            model::value::encode_fields(components.iter().map(|component| Some(masked(component))))
        }
        T::Udt(udt) => {
            model::value::encode_fields(udt.fields.iter().map(|field| Some(masked(&field.data_type))))
        }
        T::Vector { element, dimensions } => {
            let parts: Vec<Vec<u8>> = (0..*dimensions).map(|_| masked(element)).collect();
            model::value::encode_vector(element, parts)
        }
        T::Blob | T::Empty | T::Custom(_) => Vec::new(),
    }
}

/// `mask_inner(text, begin, end)` hides all but the ends, `mask_outer` hides the ends.
fn partial(args: &Args<'_>, inner: bool) -> CallResult {
    let Some(bytes) = args.first().copied().flatten() else { return Ok(None) };
    let length = |at: usize| args.get(at).copied().flatten().and_then(as_i32).unwrap_or(0).max(0) as usize;
    let padding = match args.get(3).copied().flatten() {
        Some(text) => String::from_utf8_lossy(text).into_owned(),
        None => "*".into(),
    };
    let mut padding = padding.chars();
    let (Some(padding), None) = (padding.next(), padding.next()) else {
        return Err(FunctionFault::LongPadding.into());
    };
    let text: Vec<char> = String::from_utf8_lossy(bytes).chars().collect();
    let (begin, end) = (length(1), text.len().saturating_sub(length(2)));
    let hidden = |at: usize| (begin <= at && at < end) == inner;
    let masked: String =
        text.iter().enumerate().map(|(at, c)| if hidden(at) { padding } else { *c }).collect();
    Ok(Some(masked.into_bytes()))
}
