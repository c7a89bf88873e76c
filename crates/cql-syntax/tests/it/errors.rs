//! Statements that are refused, with the place and the beginning of the message, in `cases/errors.txt`.
//!
//! A case is a statement (a line that begins with a blank goes on with it) and, after `!!`, line:column (both from 1)
//! and the message.

use cql_syntax::parse_statement;

#[test]
fn refused_statements() {
    let mut statement = String::new();
    let mut count = 0;
    for line in include_str!("cases/errors.txt").lines() {
        let Some(expected) = line.strip_prefix("!! ") else {
            if line.starts_with(' ') && !statement.is_empty() {
                statement.push('\n');
            }
            statement.push_str(line);
            continue;
        };
        let error = match parse_statement(&statement) {
            Err(error) => error,
            Ok(parsed) => panic!("accepted: {statement}\nas {parsed}"),
        };
        let found = format!("{}:{} {}", error.line, error.column, error.message);
        assert_eq!(found, expected, "error of {statement}");
        statement.clear();
        count += 1;
    }
    assert!(count >= 100, "only {count} cases");
}
