//! Lengths of values, and sizes and durations for people: `length`, `octet_length`, `format_bytes`, `format_time`.

use super::{Args, Argument, CallContext, CallResult, Function, known};
use crate::error::QueryError;
use crate::fault::FunctionFault;
use model::types::DataType;

pub fn find(name: &str, args: &[Argument]) -> Option<Result<Vec<Function>, QueryError>> {
    match name {
        "length" => Some(Ok(vec![Function::new(name, vec![DataType::Text], DataType::Int, length)])),
        "octet_length" => Some(octet_length(name, args).map(|function| vec![function])),
        "format_bytes" => Some(formatter(name, args, format_bytes).map(|function| vec![function])),
        "format_time" => Some(formatter(name, args, format_time).map(|function| vec![function])),
        _ => None,
    }
}

/// In the units of Java's strings, as Cassandra counts.
fn length(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let Some(bytes) = args.first().copied().flatten() else { return Ok(None) };
    let count = String::from_utf8_lossy(bytes).encode_utf16().count();
    Ok(Some((count as i32).to_be_bytes().to_vec()))
}

fn octet_length(name: &str, args: &[Argument]) -> Result<Function, QueryError> {
    let first = known(name, args, 0)?;
    let body: super::Body = |_, args, _| {
        let bytes = args.first().copied().flatten();
        Ok(bytes.map(|bytes| (bytes.len() as i32).to_be_bytes().to_vec()))
    };
    Ok(Function::new(name, vec![first], DataType::Int, body))
}

const TAKEN: &str = "int|tinyint|smallint|bigint|varint|ascii|text";

/// `(value)`, `(value, to)` or `(value, from, to)`.
fn formatter(name: &str, args: &[Argument], body: super::Body) -> Result<Function, QueryError> {
    use DataType::*;
    if args.is_empty() || args.len() > 3 {
        return Err(FunctionFault::WrongArguments {
            function: name.to_string(),
            signature: format!("[{TAKEN}], [ascii], [ascii]"),
        }
        .into());
    }
    let first = known(name, args, 0)?;
    if !matches!(first, Int | TinyInt | SmallInt | BigInt | VarInt | Ascii | Text) {
        return Err(FunctionFault::ArgumentOfTypes {
            function: name.to_string(),
            wanted: TAKEN,
            argument: args.first().map_or(String::new(), |arg| arg.text.clone()),
            found: first.to_string(),
        }
        .into());
    }
    let mut types = vec![first];
    types.resize(args.len(), Text);
    Ok(Function::new(name, types, Text, body))
}

/// The first argument as a number that is not negative.
fn number(function: &Function, args: &Args<'_>) -> Result<Option<f64>, QueryError> {
    let Some(bytes) = args.first().copied().flatten() else { return Ok(None) };
    let number: i64 = match function.args.first() {
        Some(DataType::Text | DataType::Ascii) => {
            let text = String::from_utf8_lossy(bytes);
            text.trim().parse().map_err(|_| FunctionFault::NotANumber { text: text.to_string() })?
        }
        // Whole numbers of any width, two's complement; longer ones than fit count as the largest.
        _ => {
            let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
            let mut wide = if negative { [0xff; 8] } else { [0; 8] };
            match 8usize.checked_sub(bytes.len()) {
                Some(at) => {
                    wide[at..].copy_from_slice(bytes);
                    i64::from_be_bytes(wide)
                }
                None if negative => i64::MIN,
                None => i64::MAX,
            }
        }
    };
    if number < 0 {
        return Err(FunctionFault::Negative.into());
    }
    Ok(Some(number as f64))
}

/// Its name, and how many of the smallest it is.
type Unit<'u> = (&'u str, f64);

/// A unit by its name in any case, out of the given ones.
fn unit<'u>(units: &'u [Unit<'u>], name: &str, what: &'static str) -> Result<&'u Unit<'u>, QueryError> {
    units.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let known = units.iter().map(|(name, _)| name.to_string()).collect();
        FunctionFault::UnknownUnit { what, name: name.to_string(), known }.into()
    })
}

/// Source and target unit as the arguments name them; `None`: the function chooses the target.
fn units<'u>(
    args: &Args<'_>,
    units: &'u [Unit<'u>],
    source: usize,
    what: &'static str,
) -> Result<(f64, Option<&'u Unit<'u>>), QueryError> {
    let named = |at: usize| args.get(at).copied().flatten().map(String::from_utf8_lossy);
    let from = if args.len() == 3 { named(1) } else { None };
    let to = if args.len() == 3 { named(2) } else { named(1) };
    let from = match from {
        Some(name) => unit(units, &name, what)?.1,
        None => units[source].1,
    };
    Ok((from, to.map(|name| unit(units, &name, what)).transpose()?))
}

const BYTES: [(&str, f64); 4] = [("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)];

fn format_bytes(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let Some(number) = number(function, args)? else { return Ok(None) };
    let (from, to) = units(args, &BYTES, 0, "data storage")?;
    let bytes = number * from;
    // A unit is left when there are more than 1024 of it, so 1024 itself stays.
    let chosen = || BYTES.iter().find(|(_, size)| bytes / size <= 1024.0).unwrap_or(&BYTES[3]);
    let (name, size) = to.unwrap_or_else(chosen);
    Ok(Some(text(bytes / size, name)))
}

const TIMES: [(&str, f64); 7] = [
    ("ns", 1e-6),
    ("us", 1e-3),
    ("ms", 1.0),
    ("s", 1_000.0),
    ("m", 60_000.0),
    ("h", 3_600_000.0),
    ("d", 86_400_000.0),
];

fn format_time(function: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let Some(number) = number(function, args)? else { return Ok(None) };
    let (from, to) = units(args, &TIMES, 2, "time")?;
    let millis = number * from;
    let chosen = || TIMES.iter().rev().find(|(_, size)| *size <= millis).unwrap_or(&TIMES[2]);
    let (name, size) = to.unwrap_or_else(chosen);
    Ok(Some(text(millis / size, name)))
}

/// Two decimals at most, without zeros at the end.
fn text(value: f64, unit: &str) -> Vec<u8> {
    let rounded = format!("{value:.2}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    format!("{short} {unit}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_in_units_that_people_read() {
        let shown = |value: f64, unit: &str| String::from_utf8(text(value, unit)).unwrap();
        assert_eq!(shown(1.5, "KiB"), "1.5 KiB");
        assert_eq!(shown(100.0, "B"), "100 B");
        assert_eq!(shown(0.001, "MiB"), "0 MiB");
    }
}
