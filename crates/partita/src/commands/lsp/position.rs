//! Places of the review (bytes) and of editors (lines and UTF-16 units, from 0).

use serde_json::{Value, json};

/// Line and UTF-16 column of a byte offset.
pub fn of(text: &str, offset: u32) -> (u32, u32) {
    let mut offset = (offset as usize).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    (line as u32, before[line_start..].encode_utf16().count() as u32)
}

/// Both ends as the protocol writes them.
pub fn range(text: &str, start: u32, end: u32) -> Value {
    let point = |offset| {
        let (line, character) = of(text, offset);
        json!({"line": line, "character": character})
    };
    json!({"start": point(start), "end": point(end.max(start))})
}

/// The byte offset of a position; the end of its line when the line is shorter.
pub fn offset(text: &str, position: &Value) -> u32 {
    let line = position["line"].as_u64().unwrap_or(0) as usize;
    let units = position["character"].as_u64().unwrap_or(0) as usize;
    let mut start = 0;
    for _ in 0..line {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => return text.len() as u32,
        }
    }
    let content = text[start..].split('\n').next().unwrap_or("");
    let mut seen = 0;
    for (at, c) in content.char_indices() {
        if seen >= units {
            return (start + at) as u32;
        }
        seen += c.len_utf16();
    }
    (start + content.len()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_utf16_units() {
        let text = "a\n🦀é x\n";
        assert_eq!(of(text, 2), (1, 0));
        assert_eq!(of(text, 6), (1, 2));
        assert_eq!(of(text, 8), (1, 3));
        for (line, character) in [(0, 0), (1, 0), (1, 2), (1, 3), (1, 5), (2, 0)] {
            let at = offset(text, &json!({"line": line, "character": character}));
            assert_eq!(of(text, at), (line, character));
        }
        assert_eq!(offset(text, &json!({"line": 99, "character": 99})), text.len() as u32);
        assert_eq!(of(text, 3), (1, 0), "inside a letter is before it");
    }
}
