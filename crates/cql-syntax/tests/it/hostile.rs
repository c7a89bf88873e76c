//! Texts that mean harm: random bytes and tokens, mutated statements, deep nesting, many repetitions.

use cql_syntax::{DEPTH_MAX, OPERATORS_MAX, parse_script, parse_statement};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::cases::statements;

/// Reads the text in every way. What is accepted must print to a text that is read as the same tree; errors must lie in
/// the text.
fn exercise(text: &str) {
    match parse_statement(text) {
        Ok(parsed) => {
            let printed = parsed.to_string();
            let again =
                parse_statement(&printed).unwrap_or_else(|error| panic!("{error}\nin {printed}\nof {text}"));
            assert_eq!(parsed, again, "of {text}");
            assert_eq!(printed, again.to_string(), "printing is stable");
        }
        Err(error) => check_error(text, &error),
    }
    let script = parse_script(text);
    for error in &script.errors {
        check_error(text, error);
    }
    for statement in &script.statements {
        assert!(text.get(statement.span.range()).is_some(), "span of a statement of {text}");
    }
}

fn check_error(text: &str, error: &cql_syntax::SyntaxError) {
    assert!(text.get(error.span.range()).is_some(), "span of {error} in {text}");
    assert_eq!(error.span.position(text), error.position(), "position of {error}");
}

/// Splits a statement into pieces that are mostly tokens.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last_word = false;
    for character in text.chars() {
        let word = character.is_alphanumeric() || character == '_';
        match pieces.last_mut() {
            Some(last) if word && last_word => last.push(character),
            _ => pieces.push(character.to_string()),
        }
        last_word = word;
    }
    pieces
}

#[derive(Debug, Clone)]
enum Mutation {
    Delete(Index),
    Repeat(Index),
    Swap(Index, Index),
    Insert(Index, String),
    Truncate(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let words: Vec<String> = statements().iter().flat_map(|statement| pieces(statement)).collect();
    prop_oneof![
        any::<Index>().prop_map(Mutation::Delete),
        any::<Index>().prop_map(Mutation::Repeat),
        any::<(Index, Index)>().prop_map(|(a, b)| Mutation::Swap(a, b)),
        (any::<Index>(), select(words)).prop_map(|(at, word)| Mutation::Insert(at, word)),
        any::<Index>().prop_map(Mutation::Truncate),
    ]
}

fn mutate(mut pieces: Vec<String>, mutations: &[Mutation]) -> String {
    for mutation in mutations {
        let count = pieces.len();
        if count == 0 {
            break;
        }
        match mutation {
            Mutation::Delete(at) => drop(pieces.remove(at.index(count))),
            Mutation::Repeat(at) => pieces.insert(at.index(count), pieces[at.index(count)].clone()),
            Mutation::Swap(a, b) => pieces.swap(a.index(count), b.index(count)),
            Mutation::Insert(at, word) => pieces.insert(at.index(count), format!(" {word} ")),
            Mutation::Truncate(at) => pieces.truncate(at.index(count)),
        }
    }
    pieces.concat()
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn any_text(text in any::<String>()) {
        exercise(&text);
    }

    #[test]
    fn any_text_of_meaningful_characters(text in "[a-cPTNE0-9xX'\"$ \n;:?.,(){}<>=+*/%!\\[\\]µé-]{0,60}") {
        exercise(&text);
    }

    #[test]
    fn any_words(words in vec(select(statements().iter().flat_map(|text| pieces(text)).collect::<Vec<_>>()), 0..40)) {
        exercise(&words.join(" "));
    }
}

proptest! {
    #![proptest_config(config(6000))]

    #[test]
    fn mutated_statements(statement in select(statements()), mutations in vec(mutation(), 1..4)) {
        exercise(&mutate(pieces(&statement), &mutations));
    }

    #[test]
    fn mutated_scripts(chosen in vec(select(statements()), 1..4), mutations in vec(mutation(), 1..4)) {
        let script = chosen.join(";\n");
        exercise(&mutate(pieces(&script), &mutations));
    }
}

/// Runs `test` on a thread with half the usual stack. An overflow aborts the tests.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1024 * 1024).spawn(test).expect("a thread");
    thread.join().expect("no panic");
}

/// `head`, then `open` and `close` `depth` times around `core`, then `tail`.
fn nest(head: &str, open: &str, core: &str, close: &str, tail: &str, depth: usize) -> String {
    format!("{head}{}{core}{}{tail}", open.repeat(depth), close.repeat(depth))
}

const NESTS: [[&str; 5]; 16] = [
    ["SELECT * FROM t WHERE a = ", "(", "1", ")", ""],
    ["SELECT * FROM t WHERE a = ", "[", "1", "]", ""],
    ["SELECT * FROM t WHERE a = ", "{", "1", "}", ""],
    ["SELECT * FROM t WHERE a = ", "{1: ", "1", "}", ""],
    ["SELECT * FROM t WHERE a = ", "{f: ", "1", "}", ""],
    ["SELECT * FROM t WHERE a = ", "f(", "1", ")", ""],
    ["SELECT * FROM t WHERE a = ", "(int)", "1", "", ""],
    ["SELECT * FROM t WHERE a = ", "CAST(", "1", " AS int)", ""],
    ["SELECT * FROM t WHERE ", "(", "a = 1", ")", ""],
    ["SELECT ", "(", "a", ")", " FROM t"],
    ["SELECT ", "- ", "a", "", " FROM t"],
    ["SELECT ", "m[", "1", "]", " FROM t"],
    ["SELECT ", "{a: ", "a", "}", " FROM t"],
    ["CREATE TABLE t (a ", "list<", "int", ">", ", PRIMARY KEY (a))"],
    ["CREATE TABLE t (a ", "tuple<", "int", ">", ", PRIMARY KEY (a))"],
    ["SELECT (", "list<", "int", ">", ")[1] FROM t"],
];

#[test]
fn deep_nesting_is_refused_without_overflow() {
    on_small_stack(|| {
        for [head, open, core, close, tail] in NESTS {
            for depth in [DEPTH_MAX as usize + 2, 10_000, 200_000] {
                let text = nest(head, open, core, close, tail, depth);
                assert!(parse_statement(&text).is_err(), "{open} {depth} times");
                assert!(!parse_script(&text).errors.is_empty(), "{open} {depth} times");
            }
        }
    });
}

#[test]
fn nesting_up_to_the_limit_is_read_and_printed() {
    on_small_stack(|| {
        for [head, open, core, close, tail] in NESTS {
            // One level is the expression itself, and elements in brackets count twice.
            let depth = if open == "m[" { 1 } else { DEPTH_MAX as usize - 2 };
            exercise(&nest(head, open, core, close, tail, depth));
        }
    });
}

#[test]
fn the_message_says_that_it_is_too_deep() {
    let text = nest("SELECT * FROM t WHERE a = ", "[", "1", "]", "", 1000);
    let error = parse_statement(&text).unwrap_err();
    assert!(error.message.contains("nests deeper than 64 levels"), "{error}");
}

#[test]
fn operators_are_bounded() {
    on_small_stack(|| {
        let sum = |count: u32| format!("SELECT {} FROM t", vec!["a"; count as usize].join(" + "));
        let fields = |count: u32| format!("SELECT a{} FROM t", ".f".repeat(count as usize));
        let elements = |count: u32| format!("SELECT a{} FROM t", "[1]".repeat(count as usize));
        exercise(&sum(OPERATORS_MAX + 1));
        exercise(&fields(OPERATORS_MAX));
        exercise(&elements(OPERATORS_MAX));
        for text in
            [sum(OPERATORS_MAX + 2), fields(OPERATORS_MAX + 1), elements(OPERATORS_MAX + 1), sum(100_000)]
        {
            let error = parse_statement(&text).unwrap_err();
            assert!(error.message.contains("at most 256 operators"), "{error}");
        }
        // The limit is per expression, not per statement.
        let many = vec!["a + 1"; 1000].join(", ");
        exercise(&format!("SELECT {many} FROM t"));
    });
}

/// Each of these would take minutes if any step were quadratic.
#[test]
fn long_statements_take_linear_time() {
    const COUNT: usize = 40_000;
    let list = |item: &dyn Fn(usize) -> String, separator: &str| {
        (0..COUNT).map(item).collect::<Vec<_>>().join(separator)
    };
    let columns = list(&|n| format!("c{n}"), ", ");
    let texts = [
        format!("SELECT {columns} FROM t"),
        format!("SELECT * FROM t WHERE a IN ({})", list(&|n| n.to_string(), ", ")),
        format!("SELECT * FROM t WHERE ({columns}) = ?"),
        format!("UPDATE t SET {} WHERE k = 1", list(&|n| format!("c{n} = ?"), ", ")),
        format!("CREATE TABLE t ({}, PRIMARY KEY (c0))", list(&|n| format!("c{n} int"), ", ")),
        format!("CREATE KEYSPACE k WITH {}", list(&|n| format!("p{n} = 1"), " AND ")),
        format!("CREATE KEYSPACE k WITH r = {{{}}}", list(&|n| format!("'p{n}': 1"), ", ")),
        format!("BEGIN BATCH {} APPLY BATCH", list(&|n| format!("DELETE FROM t WHERE a = {n}"), "; ")),
    ];
    for text in texts {
        assert!(parse_statement(&text).is_ok(), "{}", &text[..60]);
    }
    let scripts = [
        ("SELECT FROM t;\n".repeat(COUNT), COUNT),
        ("BEGIN BATCH DELETE;\n".repeat(COUNT), COUNT),
        (format!("BEGIN BATCH {} APPLY BATCH", "DELETE;\n".repeat(COUNT)), COUNT),
        ("(".repeat(COUNT), 1),
    ];
    for (text, errors) in scripts {
        assert_eq!(parse_script(&text).errors.len(), errors, "{}", &text[..20]);
    }
}
