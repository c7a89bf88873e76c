//! What parsing and binding a request may take, so that it can be asked of the memory for work beforehand.
//!
//! Trees grow with the items of a text, not with its bytes: a list of numbers takes some 300 bytes for each, a blob of
//! megabytes little more than itself. Short texts are not counted: there are only so many requests under way.

use cql_wire::{BatchQuery, Request};

/// Texts up to this length take what every request may.
const TEXT_BYTES_FREE: usize = 16 << 10;
/// For what stands between two commas or begins a bracket: measured on IN lists of a million numbers.
const ITEM_BYTES: usize = 320;
/// The text itself, and copies of its literals on their way into a plan.
const TEXT_COPIES: usize = 4;
/// The plan of a short statement in a batch, which lives until all of them are executed.
const PLAN_BYTES: usize = 4 << 10;
/// Statements of a batch that are not counted.
const STATEMENTS_FREE: usize = 64;

/// Bytes that the request's texts may take while it is under way; 0 for nearly all.
pub fn bytes_of(request: &Request<'_>) -> usize {
    match request {
        Request::Query { query, .. } | Request::Prepare { query, .. } => of_text(query),
        Request::Batch(batch) => {
            let mut texts = 0usize;
            let mut bytes = 0usize;
            for statement in batch.statements.iter() {
                if let BatchQuery::Text(text) = statement.query {
                    texts += 1;
                    bytes = bytes.saturating_add(of_text(text));
                }
            }
            bytes.saturating_add(texts.saturating_sub(STATEMENTS_FREE).saturating_mul(PLAN_BYTES))
        }
        _ => 0,
    }
}

fn of_text(text: &str) -> usize {
    if text.len() <= TEXT_BYTES_FREE {
        return 0;
    }
    // Counted in small numbers, a piece at a time: texts of megabytes come this way.
    let piece = |bytes: &[u8]| -> usize {
        bytes.iter().map(|byte| u8::from(matches!(byte, b',' | b'(' | b'[' | b'{'))).sum::<u8>().into()
    };
    let items: usize = text.as_bytes().chunks(u8::MAX as usize).map(piece).sum();
    TEXT_COPIES.saturating_mul(text.len()).saturating_add(items.saturating_mul(ITEM_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cql_wire::{Consistency, QueryParams};

    fn of(query: &str) -> usize {
        bytes_of(&Request::Query { query, params: QueryParams::new(Consistency::One) })
    }

    #[test]
    fn items_count_and_blobs_do_not() {
        assert_eq!(of("SELECT * FROM t WHERE k IN (1, 2, 3)"), 0);
        let list = format!("SELECT * FROM t WHERE k IN ({})", vec!["1"; 1_000_000].join(","));
        assert!((300_000_000..400_000_000).contains(&of(&list)), "{}", of(&list));
        let blob = format!("INSERT INTO t (k, v) VALUES (1, 0x{})", "00".repeat(1_000_000));
        assert!(of(&blob) < 9_000_000, "{}", of(&blob));
    }
}
