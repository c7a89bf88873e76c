//! Access patterns learnt from a file: a schema and the statements of an application become declarations.
//!
//! Nothing is executed. Schema statements build a catalogue, others are bound against it; those of one shape are one pattern. What cannot be read
//! or bound is told, and the rest is learnt all the same.

use crate::bind::Scope;
use crate::ddl;
use crate::declared::{declaration, name_for, pattern_shape};
use crate::prepared::Prepared;
use crate::shape::Shaped;
use cql_syntax::ast::Statement;
use database::shape::Shape;
use schema::{Catalogue, Change, Setting};
use std::collections::HashSet;

/// Statements of one shape that no pattern of the file declares.
pub struct Learnt {
    pub keyspace: String,
    /// The statement that declares them.
    pub declare: String,
    /// How many there were.
    pub statements: usize,
    /// `single`, `bounded` or `unbounded`.
    pub class: &'static str,
}

/// What a file taught.
pub struct Lesson {
    /// The most frequent first.
    pub learnt: Vec<Learnt>,
    /// Statements that a pattern of the file declares already.
    pub declared: usize,
    /// What could not be read or bound.
    pub problems: Vec<String>,
}

/// Learns from files that are read one behind the other.
pub fn learn(texts: &[&str]) -> Lesson {
    let mut lesson = Lesson { learnt: Vec::new(), declared: 0, problems: Vec::new() };
    let mut catalogue = match crate::system::with_system_keyspaces(&Catalogue::empty()) {
        Ok(catalogue) => catalogue,
        Err(error) => {
            lesson.problems.push(error.to_string());
            return lesson;
        }
    };
    let mut seen: Vec<(Shaped, usize)> = Vec::new();
    for text in texts {
        let script = cql_syntax::parse_script(text);
        let mut keyspace: Option<String> = None;
        lesson.problems.extend(script.errors.iter().map(|error| error.to_string()));
        for parsed in &script.statements {
            if let Statement::Use(name) = &parsed.statement {
                keyspace = Some(name.as_str().to_string());
                continue;
            }
            let own = text.get(parsed.span.range()).unwrap_or_default();
            match take(&mut catalogue, keyspace.as_deref(), own, &parsed.statement) {
                Ok(shapes) => shapes.into_iter().for_each(|shaped| count(&mut seen, shaped)),
                Err(error) => {
                    lesson.problems.push(format!("{error}: {}", own.lines().next().unwrap_or_default()))
                }
            }
        }
    }
    declare(&catalogue, seen, &mut lesson);
    lesson
}

/// Changes the catalogue, or says what a statement of rows is.
fn take(
    catalogue: &mut Catalogue,
    keyspace: Option<&str>,
    text: &str,
    statement: &Statement,
) -> Result<Vec<Shaped>, String> {
    let scope = Scope { catalogue, keyspace };
    let is_rows = matches!(
        statement,
        Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Batch(_)
            | Statement::Transaction(_)
    );
    if is_rows {
        return Prepared::new(scope, text, 0)
            .map(|prepared| prepared.shapes)
            .map_err(|error| error.to_string());
    }
    let plan = ddl::bind(scope, statement).map_err(|error| error.to_string())?;
    *catalogue = ddl::applied(&plan, catalogue, &setting()).map_err(|error| error.to_string())?;
    for change in builds(catalogue) {
        *catalogue = catalogue.apply(&change, &setting()).map_err(|error| error.to_string())?.catalogue;
    }
    Ok(Vec::new())
}

/// There are no rows, so every index and view of the file is built when it is declared.
fn builds(catalogue: &Catalogue) -> Vec<Change> {
    let mut changes = Vec::new();
    for keyspace in catalogue.keyspaces.values() {
        for table in keyspace.tables.values() {
            changes.extend(table.indexes.iter().filter(|index| !index.built).map(|index| {
                Change::IndexBuilt {
                    keyspace: keyspace.name.to_string(),
                    table: table.name.to_string(),
                    id: index.id,
                }
            }));
            let view = table.view.as_ref().filter(|view| !view.built);
            changes.extend(
                view.map(|_| Change::ViewBuilt { keyspace: keyspace.name.to_string(), id: table.id }),
            );
        }
    }
    changes
}

fn setting() -> Setting {
    Setting { now_micros: 1, data_center: database::catalogue::DATA_CENTER.into() }
}

fn count(seen: &mut Vec<(Shaped, usize)>, shaped: Shaped) {
    match seen.iter_mut().find(|(known, _)| known.shape == shaped.shape) {
        Some((_, count)) => *count += 1,
        None => seen.push((shaped, 1)),
    }
}

fn declare(catalogue: &Catalogue, mut seen: Vec<(Shaped, usize)>, lesson: &mut Lesson) {
    let mut shapes: Vec<Shape> = Vec::new();
    let mut names: HashSet<(String, String)> = HashSet::new();
    for keyspace in catalogue.keyspaces.values() {
        for pattern in keyspace.patterns.values() {
            shapes.extend(pattern_shape(catalogue, &keyspace.name, pattern));
            names.insert((keyspace.name.to_string(), pattern.name.to_string()));
        }
    }
    seen.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (shaped, statements) in seen {
        if shapes.iter().any(|pattern| shaped.shape.is_instance_of(pattern)) {
            lesson.declared += statements;
            continue;
        }
        let base = name_for(&shaped.shape);
        let numbered = (2..).map(|n| format!("{base}_{n}"));
        let free = |name: &String| names.insert((shaped.shape.keyspace.to_string(), name.clone()));
        let name = std::iter::once(base.clone()).chain(numbered).find(free).unwrap_or_default();
        let declare = declaration(&shaped.shape, &name, &shaped.statement, "");
        let keyspace = shaped.shape.keyspace.to_string();
        lesson.learnt.push(Learnt { keyspace, declare, statements, class: shaped.class.bound() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str =
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; USE k;
        CREATE TABLE t (a int, b int, c int, PRIMARY KEY (a, b));
        CREATE ACCESS PATTERN known AS SELECT * FROM t WHERE a = ? AND b = ?;";

    #[test]
    fn a_file_of_statements_becomes_patterns() {
        let text = "USE k; SELECT c FROM t WHERE a = 1; SELECT * FROM t WHERE a = 2; SELECT c FROM t WHERE a = 1 AND b = 2;
            BEGIN BATCH INSERT INTO t (a, b, c) VALUES (1, 2, 3); UPDATE t SET c = 1 WHERE a = 1 AND b = 1; APPLY BATCH;
            SELECT * FROM absent; SELEC nonsense; SELECT c FROM k.t WHERE c = 1 ALLOW FILTERING;";
        let lesson = learn(&[SCHEMA, text]);
        let found: Vec<(usize, &str, &str)> =
            lesson.learnt.iter().map(|one| (one.statements, one.class, one.declare.as_str())).collect();
        assert_eq!(
            found,
            [
                (2, "single", "CREATE ACCESS PATTERN k.read_t_by_a AS SELECT * FROM k.t WHERE a = ?;"),
                (
                    1,
                    "single",
                    "CREATE ACCESS PATTERN k.insert_t AS INSERT INTO k.t (a, b, c) VALUES (?, ?, ?);"
                ),
                (
                    1,
                    "single",
                    "CREATE ACCESS PATTERN k.update_t_by_a_b AS UPDATE k.t SET c = ? WHERE a = ? AND b = ?;"
                ),
                (
                    1,
                    "unbounded",
                    "CREATE ACCESS PATTERN k.read_t_by_c AS SELECT * FROM k.t WHERE c = ? ALLOW FILTERING;"
                ),
            ]
        );
        assert_eq!((lesson.declared, lesson.problems.len()), (1, 2), "{:?}", lesson.problems);
        // What was learnt can be declared, and then nothing is left.
        let declared: Vec<&str> = lesson.learnt.iter().map(|one| one.declare.as_str()).collect();
        let again = learn(&[SCHEMA, &declared.join("\n"), text]);
        assert_eq!((again.learnt.len(), again.declared), (0, 6));
    }

    /// Whatever form a statement has: the pattern that is written of it is one that it is an instance of.
    #[test]
    fn every_form_is_an_instance_of_what_is_learnt_of_it() {
        let schema = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; USE k;
            CREATE TABLE t (a int, p text, b int, c int, s int static, m map<text, int>, l list<int>, v vector<float, 2>, \"Odd Name\" int,
                PRIMARY KEY ((a, p), b, c)) WITH CLUSTERING ORDER BY (b DESC, c ASC);
            CREATE TABLE n (k int PRIMARY KEY, hits counter); CREATE INDEX ON t (s); CREATE INDEX ON t (entries(m));
            CREATE TABLE w (k int PRIMARY KEY, v vector<float, 2>); CREATE INDEX ON w (v) USING 'sai';";
        let key = "a = 1 AND p = 'x'";
        let forms = [
            format!("SELECT count(*) FROM t WHERE {key}"),
            format!("SELECT max(c), min(s) AS least FROM t WHERE {key} AND b > 2"),
            "SELECT DISTINCT a, p, s FROM t".into(),
            format!("SELECT DISTINCT a, p FROM t WHERE {key}"),
            format!("SELECT b, count(*) FROM t WHERE {key} GROUP BY b"),
            "SELECT a, p, sum(c) FROM t GROUP BY a, p LIMIT 10".into(),
            format!("SELECT JSON * FROM t WHERE {key} ORDER BY b ASC, c DESC LIMIT 3"),
            format!("SELECT * FROM t WHERE {key} PER PARTITION LIMIT 2"),
            "SELECT * FROM t WHERE a IN (1, 2) AND p = 'x' AND b = 1".into(),
            format!("SELECT writetime(s), ttl(s), m['k'] FROM t WHERE {key} AND b = 1 AND c IN (1, 2)"),
            format!("SELECT * FROM t WHERE {key} AND (b, c) > (1, 2)"),
            format!("SELECT * FROM t WHERE {key} AND b BETWEEN 1 AND 2"),
            "SELECT * FROM t WHERE token(a, p) > 1 AND token(a, p) <= 9".into(),
            "SELECT * FROM t WHERE s = 3".into(),
            "SELECT * FROM t WHERE m['x'] = 3".into(),
            "SELECT * FROM t WHERE l CONTAINS 3 ALLOW FILTERING".into(),
            "SELECT * FROM t WHERE \"Odd Name\" > 3 ALLOW FILTERING".into(),
            "SELECT k FROM w ORDER BY v ANN OF [1, 2] LIMIT 3".into(),
            "INSERT INTO t (a, p, s) VALUES (1, 'x', 2) IF NOT EXISTS".into(),
            "INSERT INTO t (a, p, b, c, l) VALUES (1, 'x', 2, 3, [1]) USING TTL 10 AND TIMESTAMP 5".into(),
            "INSERT INTO t JSON '{\"a\": 1, \"p\": \"x\", \"b\": 2, \"c\": 3}'".into(),
            format!("UPDATE t SET m['k'] = 1, l = l + [2] WHERE {key} AND b = 1 AND c = 2"),
            format!("UPDATE t SET s = 3 WHERE {key} IF s = 2"),
            format!("UPDATE t SET \"Odd Name\" = 3 WHERE {key} AND b = 1 AND c = 2 IF EXISTS"),
            "UPDATE n SET hits = hits + 1 WHERE k = 1".into(),
            format!("DELETE FROM t WHERE {key}"),
            format!("DELETE m['k'], l FROM t WHERE {key} AND b = 1 AND c = 2"),
            format!("DELETE FROM t WHERE {key} AND b >= 1 AND b < 3"),
            format!("DELETE s FROM t WHERE {key} IF s = 1"),
            "BEGIN BATCH INSERT INTO t (a, p, s) VALUES (1, 'x', 2); DELETE FROM w WHERE k = 2; APPLY BATCH"
                .into(),
        ];
        let mut wrong = Vec::new();
        for form in &forms {
            let form = &format!("USE k; {form}");
            let lesson = learn(&[schema, form]);
            let declared: Vec<&str> = lesson.learnt.iter().map(|one| one.declare.as_str()).collect();
            let again = learn(&[schema, &declared.join("\n"), form]);
            let left: Vec<&str> = again.learnt.iter().map(|one| one.declare.as_str()).collect();
            if declared.is_empty()
                || !left.is_empty()
                || !lesson.problems.is_empty()
                || !again.problems.is_empty()
            {
                let problems = [lesson.problems, again.problems];
                wrong.push(format!("{form}: {declared:?} leaves {left:?}, problems {problems:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // All together as well: no pattern takes what is another's.
        let all = format!("USE k; {}", forms.join(";\n"));
        let lesson = learn(&[schema, &all]);
        let declared: Vec<&str> = lesson.learnt.iter().map(|one| one.declare.as_str()).collect();
        let again = learn(&[schema, &declared.join("\n"), &all]);
        assert_eq!((again.learnt.len(), again.problems.len()), (0, 0), "{:?}", again.problems);
    }
}
