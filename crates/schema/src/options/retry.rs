//! `speculative_retry` and `additional_write_policy`: one copy never retries, but the value is checked,
//! brought to its canonical form and kept.

use super::number::java_double;
use crate::fault::OptionFault;

/// The canonical form of a policy, as Cassandra shows it.
pub(super) fn canonical(text: &str) -> Result<String, OptionFault> {
    let invalid = || OptionFault::Retry { text: text.to_string() };
    let upper = text.to_uppercase();
    match upper.as_str() {
        "NONE" | "NEVER" => return Ok("NEVER".into()),
        "ALWAYS" => return Ok("ALWAYS".into()),
        _ => {}
    }
    let hybrid = ["MIN", "MAX"].into_iter().find_map(|word| {
        let inside = upper.strip_prefix(word)?.strip_prefix('(')?.strip_suffix(')')?;
        Some((word, inside.split_once(',')?))
    });
    let Some((word, (left, right))) = hybrid else {
        return simple(text)?.map(|s| s.text).ok_or_else(invalid);
    };
    let left = simple(left.trim())?.ok_or_else(invalid)?;
    let right = simple(right.trim())?.ok_or_else(invalid)?;
    if left.kind == right.kind {
        return Err(OptionFault::RetryOfOneKind { text: text.to_string(), kind: left.kind });
    }
    Ok(format!("{word}({},{})", left.text, right.text))
}

struct Simple {
    kind: &'static str,
    text: String,
}

/// `99p`, `99PERCENTILE`, `50ms`; `None` when it is neither.
fn simple(text: &str) -> Result<Option<Simple>, OptionFault> {
    let upper = text.to_uppercase();
    let number = |body: &str| -> Option<f64> {
        let plain = !body.is_empty() && body.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        body.parse().ok().filter(|_| plain)
    };
    if let Some(value) = upper.strip_suffix("MS").and_then(number) {
        return Ok(Some(Simple { kind: "FIXED", text: format!("{}ms", value as u64) }));
    }
    let body = upper.strip_suffix("PERCENTILE").or_else(|| upper.strip_suffix('P'));
    let Some(value) = body.and_then(number) else { return Ok(None) };
    if !(value > 0.0 && value < 100.0) {
        return Err(OptionFault::RetryPercentile { text: text.to_string() });
    }
    Ok(Some(Simple { kind: "PERCENTILE", text: format!("{}p", short(value)) }))
}

fn short(value: f64) -> String {
    let text = java_double(value);
    text.strip_suffix(".0").map(str::to_string).unwrap_or(text)
}
