//! Files of many statements: recovery, comments, spans.

use cql_syntax::{Script, parse_script};

/// What was read, as canonical texts, and the places of the errors.
fn summary(text: &str) -> (Vec<String>, Vec<String>) {
    let Script { statements, errors, .. } = parse_script(text);
    let statements = statements.iter().map(|statement| statement.to_string()).collect();
    let errors = errors.iter().map(|error| format!("{}:{}", error.line, error.column)).collect();
    (statements, errors)
}

#[track_caller]
fn check(text: &str, statements: &[&str], errors: &[&str]) {
    let (read, found) = summary(text);
    assert_eq!(read, statements, "statements of {text}");
    assert_eq!(found, errors, "errors of {text}");
}

#[test]
fn empty_files() {
    for text in ["", " ;; ; ", "-- nothing", "/* nothing */;"] {
        check(text, &[], &[]);
    }
}

#[test]
fn statements_are_separated_by_semicolons() {
    check("USE a; USE b;;USE c", &["USE a", "USE b", "USE c"], &[]);
    check("USE a; -- ;\nUSE \"b;\"; TRUNCATE t /* ; */", &["USE a", "USE \"b;\"", "TRUNCATE TABLE t"], &[]);
    let batch = "BEGIN BATCH INSERT INTO t (a) VALUES (1); DELETE FROM t WHERE a = 2; APPLY BATCH";
    check(&format!("{batch}; USE b"), &[batch, "USE b"], &[]);
}

#[test]
fn every_error_is_found_and_the_rest_is_read() {
    check("USE a; SELECT FROM t; USE b; USE ; USE c", &["USE a", "USE b", "USE c"], &["1:15", "1:34"]);
    // Semicolons in strings, names, $$ and comments end nothing.
    check("FOO ';' \";\" $$;$$ -- ;\n /* ; */ x; USE a", &["USE a"], &["1:1"]);
    check("USE a;\nUSE b c;\nUSE d", &["USE a", "USE b", "USE d"], &["2:7"]);
}

#[test]
fn a_missing_semicolon_loses_no_statement() {
    check("USE a\nUSE b", &["USE a", "USE b"], &["2:1"]);
    check("USE a\nUSE b\nTRUNCATE t;", &["USE a", "USE b", "TRUNCATE TABLE t"], &["2:1", "3:1"]);
}

#[test]
fn errors_in_a_batch_do_not_end_it() {
    let text = "BEGIN BATCH\nINSERT INTO t VALUES (1);\nDELETE FROM t WHERE a = 1;\nUPDATE t SET;\nAPPLY BATCH;\nUSE b";
    check(text, &["USE b"], &["2:15", "4:13"]);
    // Without an end the batch is over at its first semicolon.
    check("BEGIN BATCH INSERT INTO t; USE b", &["USE b"], &["1:26"]);
    check(
        "BEGIN BATCH FOO; BEGIN BATCH APPLY BATCH; USE b",
        &["BEGIN BATCH APPLY BATCH", "USE b"],
        &["1:13"],
    );
    check("BEGIN x BATCH DELETE FROM t; APPLY BATCH; USE b", &["USE b"], &["1:7"]);
    check("BEGIN BATCH DELETE FROM t WHERE a = 1; APPLY; USE b", &["USE b"], &["1:45"]);
}

#[test]
fn an_unterminated_string_swallows_the_rest() {
    check("USE a; USE 'b; USE c;", &["USE a"], &["1:12"]);
}

#[test]
fn markers_are_numbered_per_statement() {
    let script = parse_script("SELECT * FROM t WHERE a = ? AND b = :x; DELETE FROM t WHERE a = :y");
    let names = |at: usize| -> Vec<(u32, Option<&str>)> {
        let markers = script.statements[at].markers.iter();
        markers.map(|marker| (marker.index, marker.name.as_ref().map(|name| name.as_str()))).collect()
    };
    assert_eq!(names(0), [(0, None), (1, Some("x"))]);
    assert_eq!(names(1), [(0, Some("y"))]);
}

#[test]
fn comments_and_spans_point_into_the_file() {
    let text = "-- partita: allow x\nUSE a; /* two */\n  USE b;";
    let script = parse_script(text);
    let comments: Vec<&str> = script.comments.iter().map(|comment| comment.content(text)).collect();
    assert_eq!(comments, ["partita: allow x", "two"]);
    let spans: Vec<&str> = script.statements.iter().map(|statement| statement.span.text(text)).collect();
    assert_eq!(spans, ["USE a", "USE b"]);
    let position = script.statements[1].span.position(text);
    assert_eq!((position.line, position.column), (3, 3));
}
