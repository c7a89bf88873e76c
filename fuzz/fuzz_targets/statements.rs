//! Any text through the CQL parser: a tree or an error that lies in the text, and a tree prints to a text that reads as
//! the same tree.

#![no_main]

use cql_syntax::{SyntaxError, parse_script, parse_statement};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match parse_statement(text) {
        Ok(parsed) => {
            for printed in [parsed.to_string(), format!("{parsed:#}")] {
                let again = parse_statement(&printed).unwrap_or_else(|e| panic!("{e}\nin {printed}"));
                assert_eq!(parsed, again, "in {printed}");
            }
        }
        Err(error) => check(text, &error),
    }
    let script = parse_script(text);
    script.errors.iter().for_each(|error| check(text, error));
    for statement in &script.statements {
        assert!(text.get(statement.span.range()).is_some());
    }
});

fn check(text: &str, error: &SyntaxError) {
    assert!(text.get(error.span.range()).is_some(), "span of {error}");
    assert_eq!(error.span.position(text), error.position(), "position of {error}");
    assert!(!error.to_string().is_empty());
}
