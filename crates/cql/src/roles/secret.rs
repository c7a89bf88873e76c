//! Statements as they may be shown: in traces, in the list of prepared statements, in logs and the audit log.

use std::borrow::Cow;

/// What stands for what was left out.
const HIDDEN: &str = " *******";

/// The text without passwords. A statement on roles ends behind the word PASSWORD; any other at the first literal that
/// follows it, and one that touches the tables of roles at its first literal.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let start = text.trim_start();
    // A statement may begin with a comment; then nobody knows yet what follows.
    let about_roles =
        ["create", "alter", "-", "/"].iter().any(|verb| starts_with(start.as_bytes(), verb.as_bytes()));
    let password = occurrences(text, b"password")
        .map(|at| at + b"password".len())
        .find(|end| about_roles || gives_literal(&text.as_bytes()[*end..]));
    let of_roles = occurrences(text, b"system_auth").next().is_some();
    let literal = if of_roles { first_literal(text) } else { None };
    match password.into_iter().chain(literal).min() {
        Some(end) => hidden_from(text, end),
        None => Cow::Borrowed(text),
    }
}

/// A text that is no statement, so nobody knows which part of it was meant to be a password: up to where values begin.
pub fn without_values(text: &str) -> Cow<'_, str> {
    let password = occurrences(text, b"password").next().map(|at| at + b"password".len());
    match password.into_iter().chain(first_literal(text)).chain(text.find('=')).min() {
        Some(end) => hidden_from(text, end),
        None => Cow::Borrowed(text),
    }
}

fn hidden_from(text: &str, end: usize) -> Cow<'_, str> {
    let kept = &text[..text.floor_char_boundary(end)];
    Cow::Owned(format!("{}{HIDDEN}", kept.trim_end()))
}

/// Where a quoted text begins.
fn first_literal(text: &str) -> Option<usize> {
    text.find('\'').into_iter().chain(text.find("$$")).min()
}

/// Whether these bytes, behind a name, give it a quoted value.
fn gives_literal(bytes: &[u8]) -> bool {
    let value = bytes.iter().position(|b| !b.is_ascii_whitespace() && !matches!(b, b'=' | b'"' | b':'));
    value.is_some_and(|at| matches!(bytes[at], b'\'' | b'$'))
}

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// Where the word stands, in capitals or not.
fn occurrences(text: &str, word: &'static [u8]) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(move |at| starts_with(&bytes[*at..], word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_and_other_statements_are_not() {
        let cases = [
            ("CREATE ROLE r WITH PASSWORD = 'x' AND LOGIN = true", "CREATE ROLE r WITH PASSWORD *******"),
            (" alter user r with password 'x'", " alter user r with password *******"),
            ("ALTER ROLE r WITH HASHED PASSWORD = 'x'", "ALTER ROLE r WITH HASHED PASSWORD *******"),
            ("-- note\nCREATE ROLE r WITH PASSWORD='x'", "-- note\nCREATE ROLE r WITH PASSWORD *******"),
            ("CREATE ROLE r WITH LOGIN = true", "CREATE ROLE r WITH LOGIN = true"),
            ("SELECT password FROM t", "SELECT password FROM t"),
            ("UPDATE users SET password = 'x' WHERE k = 1", "UPDATE users SET password *******"),
            ("UPDATE users SET \"Password\" = $$x$$", "UPDATE users SET \"Password *******"),
            ("SELECT * FROM users WHERE k = 'x'", "SELECT * FROM users WHERE k = 'x'"),
            (
                "INSERT INTO system_auth.roles (role, salted_hash) VALUES ('r', '$2a$')",
                "INSERT INTO system_auth.roles (role, salted_hash) VALUES ( *******",
            ),
            ("EXPLAIN CREATE ROLE r WITH PASSWORD = 'x'", "EXPLAIN CREATE ROLE r WITH PASSWORD *******"),
            ("créate", "créate"),
            ("", ""),
        ];
        for (text, shown) in cases {
            assert_eq!(without_secrets(text), shown);
        }
    }

    #[test]
    fn of_a_text_that_is_no_statement_no_value_is_shown() {
        let cases = [
            ("CRAETE ROLE r WITH PASSWORD = 'x'", "CRAETE ROLE r WITH PASSWORD *******"),
            ("CREATE ROLE r WITH PASWORD = 'x'", "CREATE ROLE r WITH PASWORD *******"),
            ("CREATE ROLE r WITH PASSWORD x", "CREATE ROLE r WITH PASSWORD *******"),
            ("CREATE ROLE 'r' WITH", "CREATE ROLE *******"),
            ("ALTER ROLE r WITH $$x$$", "ALTER ROLE r WITH *******"),
            ("SELEC", "SELEC"),
        ];
        for (text, shown) in cases {
            assert_eq!(without_values(text), shown);
        }
    }
}
