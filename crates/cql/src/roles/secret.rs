//! Texts of statements as others may see them.

use std::borrow::Cow;

/// The text without passwords, for traces and logs. Everything after the word is hidden, because a text that does not
/// parse may hold the password anywhere.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    const WORD: &[u8] = b"password";
    let about_roles = ["create", "alter"].iter().any(|verb| {
        let start = text.trim_start().as_bytes();
        start.get(..verb.len()).is_some_and(|word| word.eq_ignore_ascii_case(verb.as_bytes()))
    });
    // A statement may begin with a comment; then the word is searched for as well.
    let commented = text.trim_start().starts_with(['-', '/']);
    if !about_roles && !commented {
        return Cow::Borrowed(text);
    }
    let found = text.as_bytes().windows(WORD.len()).position(|window| window.eq_ignore_ascii_case(WORD));
    match found.and_then(|at| text.get(..at + WORD.len())) {
        Some(kept) => Cow::Owned(format!("{kept} *******")),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn passwords_are_hidden_and_other_statements_are_not() {
        let cases = [
            ("CREATE ROLE r WITH PASSWORD = 'x' AND LOGIN = true", "CREATE ROLE r WITH PASSWORD *******"),
            (" alter user r with password 'x'", " alter user r with password *******"),
            ("ALTER ROLE r WITH HASHED PASSWORD = 'x'", "ALTER ROLE r WITH HASHED PASSWORD *******"),
            ("-- note\nCREATE ROLE r WITH PASSWORD='x'", "-- note\nCREATE ROLE r WITH PASSWORD *******"),
            ("CREATE ROLE r WITH LOGIN = true", "CREATE ROLE r WITH LOGIN = true"),
            ("SELECT password FROM t", "SELECT password FROM t"),
            ("créate", "créate"),
            ("", ""),
        ];
        for (text, shown) in cases {
            assert_eq!(without_secrets(text), shown);
        }
    }
}
