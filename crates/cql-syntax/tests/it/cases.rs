//! Tables of statements with their canonical text, in `cases/*.cql`.
//!
//! A case is a statement (a line that begins with a blank goes on with it) and, if its canonical text differs from it,
//! that text after `=>`. Every case is also read again from its canonical text and must give an equal tree.

use cql_syntax::parse_statement;

struct Case {
    statement: String,
    canonical: String,
}

/// Every statement of the tables, as material for other tests.
pub fn statements() -> Vec<String> {
    let tables = [
        include_str!("cases/select.cql"),
        include_str!("cases/write.cql"),
        include_str!("cases/schema.cql"),
        include_str!("cases/role.cql"),
        include_str!("cases/ours.cql"),
    ];
    tables.into_iter().flat_map(cases).map(|case| case.statement).collect()
}

fn cases(table: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in table.lines() {
        match (line.strip_prefix("=> "), cases.last_mut()) {
            (Some(canonical), Some(case)) => case.canonical = canonical.to_string(),
            (None, Some(case)) if line.starts_with(' ') => {
                case.statement.push('\n');
                case.statement.push_str(line);
            }
            _ => cases.push(Case { statement: line.to_string(), canonical: line.to_string() }),
        }
    }
    cases
}

fn check(table: &str, at_least: usize) {
    let cases = cases(table);
    assert!(cases.len() >= at_least, "only {} cases", cases.len());
    for Case { statement, canonical } in &cases {
        let parsed = parse_statement(statement).unwrap_or_else(|error| panic!("{error}\nin {statement}"));
        assert_eq!(&parsed.to_string(), canonical, "canonical text of {statement}");
        let again = parse_statement(canonical).unwrap_or_else(|error| panic!("{error}\nin {canonical}"));
        assert_eq!(parsed, again, "tree of {statement}");
        let pretty = format!("{parsed:#}");
        let again = parse_statement(&pretty).unwrap_or_else(|error| panic!("{error}\nin {pretty}"));
        assert_eq!(parsed, again, "tree of {pretty}");
        let numbers: Vec<u32> = parsed.markers.iter().map(|marker| marker.index).collect();
        assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>(), "markers of {statement}");
    }
}

#[test]
fn select() {
    check(include_str!("cases/select.cql"), 170);
}

#[test]
fn write() {
    check(include_str!("cases/write.cql"), 65);
}

#[test]
fn schema() {
    check(include_str!("cases/schema.cql"), 100);
}

#[test]
fn roles_and_describe() {
    check(include_str!("cases/role.cql"), 100);
}

#[test]
fn our_own_statements() {
    check(include_str!("cases/ours.cql"), 15);
}

#[test]
fn pretty_form_spreads_definitions_over_lines() {
    let text = "CREATE TABLE ks.t (a int, b text STATIC, c int, PRIMARY KEY ((a), c)) \
        WITH CLUSTERING ORDER BY (c DESC) AND comment = 'x'";
    let pretty = "CREATE TABLE ks.t (\n    a int,\n    b text STATIC,\n    c int,\n    PRIMARY KEY (a, c)\n) \
        WITH CLUSTERING ORDER BY (c DESC)\n    AND comment = 'x'";
    assert_eq!(format!("{:#}", parse_statement(text).unwrap()), pretty);
}
