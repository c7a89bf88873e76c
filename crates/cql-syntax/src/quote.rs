//! Quoting of names and strings, as the printer and DESCRIBE need it.

use crate::lex::Keyword;

/// The name as CQL text: as it is if it can stand without quotes, else in double quotes.
///
/// Without quotes stand lower-case letters, digits and underscores after a lower-case letter, unless the word is
/// reserved. This is Cassandra's own rule.
pub fn identifier(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len() + 2);
    push_identifier(&mut quoted, name);
    quoted
}

/// The same as [`identifier`], under the name Cassandra has for it.
pub fn maybe_quote(name: &str) -> String {
    identifier(name)
}

/// Whether the name needs double quotes.
pub fn needs_quotes(name: &str) -> bool {
    let bytes = name.as_bytes();
    let plain = bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_');
    !plain || Keyword::lookup(bytes).is_some_and(Keyword::is_reserved)
}

/// The text as a string literal in single quotes.
pub fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    push_quoted(&mut quoted, text, '\'');
    quoted
}

/// The bytes as a blob literal, `0x...` in lower case.
pub fn blob(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits =
        bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|nibble| DIGITS[nibble as usize] as char);
    ['0', 'x'].into_iter().chain(digits).collect()
}

pub(crate) fn push_identifier(out: &mut String, name: &str) {
    if needs_quotes(name) {
        push_quoted(out, name, '"');
    } else {
        out.push_str(name);
    }
}

pub(crate) fn push_quoted(out: &mut String, text: &str, quote: char) {
    out.push(quote);
    for (at, part) in text.split(quote).enumerate() {
        if at > 0 {
            out.push(quote);
            out.push(quote);
        }
        out.push_str(part);
    }
    out.push(quote);
}

/// The content of a quoted text: quotes off, doubled quotes single.
pub(crate) fn unquote(text: &str, quote: char) -> String {
    let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).unwrap_or(text);
    if !inner.contains(quote) {
        return inner.to_string();
    }
    let mut out = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        out.push(character);
        if character == quote {
            characters.next();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_only_when_they_must_be() {
        let cases = [
            ("a_1", "a_1"),
            ("", "\"\""),
            ("A", "\"A\""),
            ("1a", "\"1a\""),
            ("_a", "\"_a\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\"\"b\""),
            ("select", "\"select\""),
            ("table", "\"table\""),
            ("true", "\"true\""),
            ("key", "key"),
            ("timestamp", "timestamp"),
            ("é", "\"é\""),
        ];
        for (name, quoted) in cases {
            assert_eq!(identifier(name), quoted);
            if quoted.starts_with('"') {
                assert_eq!(unquote(quoted, '"'), name);
            }
        }
    }

    #[test]
    fn strings_and_blobs() {
        for (text, quoted) in
            [("", "''"), ("a", "'a'"), ("it's", "'it''s'"), ("''", "''''''"), ("\n\"", "'\n\"'")]
        {
            assert_eq!(string(text), quoted);
            assert_eq!(unquote(quoted, '\''), text);
        }
        assert_eq!(blob(&[]), "0x");
        assert_eq!(blob(&[0, 0xAB, 0xFF]), "0x00abff");
    }
}
