//! Access patterns learnt from files: a schema and the statements of an application, or what a server logged of it, become declarations.
//!
//! Nothing is executed. Schema statements build a catalogue, others are bound against it; those of one shape are one pattern. What cannot be read
//! or bound is told, and the rest is learnt all the same.

use crate::CqlError;
use crate::bind::Scope;
use crate::ddl;
use crate::declared::{declaration, name_for, pattern_shape};
use crate::prepared::Prepared;
use crate::shape::Shaped;
use cql_syntax::ast::Statement;
use database::shape::Shape;
use schema::{Catalogue, Change, Setting};
use std::collections::{HashMap, HashSet};

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

/// A statement that a server logged.
pub struct Asked<'a> {
    /// What names without a keyspace mean.
    pub keyspace: Option<&'a str>,
    pub text: &'a str,
    pub at_millis: i64,
}

/// A peak is the most calls in so long, as for live statements.
const WINDOW_MILLIS: i64 = 5_000;
/// Texts of a log that are remembered, so that a prepared statement is bound once. Texts with values in them are all different.
const KNOWN_MAX: usize = 100_000;
/// Problems that are told; a log of days may have any number.
const PROBLEMS_MAX: usize = 100;

/// Learns from files that are read one behind the other.
pub fn learn(texts: &[&str]) -> Lesson {
    let mut learner = Learner::default();
    texts.iter().for_each(|text| learner.read(text));
    learner.finish()
}

/// Statements of one shape.
struct Seen {
    shaped: Shaped,
    statements: usize,
    /// Calls in each window of time, of those in a log.
    windows: HashMap<i64, u64>,
}

/// Takes schemas, statements and logs, and makes a lesson of them.
pub struct Learner {
    catalogue: Catalogue,
    seen: Vec<Seen>,
    /// What texts of logs are: places in `seen`.
    known: HashMap<(Option<String>, String), Vec<usize>>,
    problems: Vec<String>,
}

impl Default for Learner {
    fn default() -> Learner {
        let (catalogue, problems) = match crate::system::with_system_keyspaces(&Catalogue::empty()) {
            Ok(catalogue) => (catalogue, Vec::new()),
            Err(error) => (Catalogue::empty(), vec![error.to_string()]),
        };
        Learner { catalogue, seen: Vec::new(), known: HashMap::new(), problems }
    }
}

impl Learner {
    /// Takes a file of a schema, statements, or both.
    pub fn read(&mut self, text: &str) {
        let script = cql_syntax::parse_script(text);
        let mut keyspace: Option<String> = None;
        script.errors.iter().for_each(|error| self.problem(error.to_string()));
        for parsed in &script.statements {
            if let Statement::Use(name) = &parsed.statement {
                keyspace = Some(name.as_str().to_string());
                continue;
            }
            let own = text.get(parsed.span.range()).unwrap_or_default();
            match take(&mut self.catalogue, keyspace.as_deref(), own, &parsed.statement) {
                Ok(shapes) => {
                    let places = self.places(shapes);
                    places.into_iter().for_each(|place| self.seen[place].statements += 1);
                }
                Err(error) => self.problem(format!("{error}: {}", own.lines().next().unwrap_or_default())),
            }
        }
    }

    /// Takes a statement of a log. Those on system tables are the driver's, not the application's.
    pub fn hear(&mut self, asked: &Asked<'_>) {
        let key = (asked.keyspace.map(str::to_string), asked.text.to_string());
        let places = match self.known.get(&key) {
            Some(places) => places.clone(),
            None => {
                let places = self.understand(asked);
                if self.known.len() < KNOWN_MAX {
                    self.known.insert(key, places.clone());
                }
                places
            }
        };
        let window = asked.at_millis.div_euclid(WINDOW_MILLIS);
        for place in places {
            let seen = &mut self.seen[place];
            seen.statements += 1;
            *seen.windows.entry(window).or_default() += 1;
        }
    }

    fn understand(&mut self, asked: &Asked<'_>) -> Vec<usize> {
        let first_line = asked.text.lines().next().unwrap_or_default();
        let parsed = match cql_syntax::parse_statement(asked.text) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.problem(format!("{error}: {first_line}"));
                return Vec::new();
            }
        };
        match take(&mut self.catalogue, asked.keyspace, asked.text, &parsed.statement) {
            Ok(mut shapes) => {
                shapes.retain(|shaped| !shaped.shape.keyspace.starts_with("system"));
                self.places(shapes)
            }
            // A log repeats the schema that a file had before it, and has logins and grants.
            Err(_) if !is_rows(&parsed.statement) => Vec::new(),
            Err(error) => {
                self.problem(format!("{error}: {first_line}"));
                Vec::new()
            }
        }
    }

    fn places(&mut self, shapes: Vec<Shaped>) -> Vec<usize> {
        shapes.into_iter().map(|shaped| self.place(shaped)).collect()
    }

    fn place(&mut self, shaped: Shaped) -> usize {
        let known = self.seen.iter().position(|seen| seen.shaped.shape == shaped.shape);
        known.unwrap_or_else(|| {
            self.seen.push(Seen { shaped, statements: 0, windows: HashMap::new() });
            self.seen.len() - 1
        })
    }

    fn problem(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS_MAX && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub fn finish(self) -> Lesson {
        let mut lesson = Lesson { learnt: Vec::new(), declared: 0, problems: self.problems };
        declare(&self.catalogue, self.seen, &mut lesson);
        lesson
    }
}

fn is_rows(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Batch(_)
            | Statement::Transaction(_)
    )
}

/// Changes the catalogue, or says what a statement of rows is.
fn take(
    catalogue: &mut Catalogue,
    keyspace: Option<&str>,
    text: &str,
    statement: &Statement,
) -> Result<Vec<Shaped>, String> {
    let scope = Scope { catalogue, keyspace };
    if is_rows(statement) {
        return Prepared::new(scope, text, 0)
            .map(|prepared| prepared.shapes)
            .map_err(|error| error.to_string());
    }
    let plan = ddl::bind(scope, statement).map_err(|error| error.to_string())?;
    *catalogue = ddl::applied(&plan, catalogue, &setting()).map_err(|error| error.to_string())?;
    for change in builds(catalogue) {
        *catalogue = catalogue
            .apply(&change, &setting())
            .map_err(|error| CqlError::from(error).to_string())?
            .catalogue;
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

fn declare(catalogue: &Catalogue, mut seen: Vec<Seen>, lesson: &mut Lesson) {
    let mut shapes: Vec<Shape> = Vec::new();
    let mut names: HashSet<(String, String)> = HashSet::new();
    for keyspace in catalogue.keyspaces.values() {
        for pattern in keyspace.patterns.values() {
            shapes.extend(pattern_shape(catalogue, &keyspace.name, pattern));
            names.insert((keyspace.name.to_string(), pattern.name.to_string()));
        }
    }
    seen.retain(|seen| seen.statements > 0);
    seen.sort_by_key(|seen| std::cmp::Reverse(seen.statements));
    for Seen { shaped, statements, windows } in seen {
        if shapes.iter().any(|pattern| shaped.shape.is_instance_of(pattern)) {
            lesson.declared += statements;
            continue;
        }
        let base = name_for(&shaped.shape);
        let numbered = (2..).map(|n| format!("{base}_{n}"));
        let free = |name: &String| names.insert((shaped.shape.keyspace.to_string(), name.clone()));
        let name = std::iter::once(base.clone()).chain(numbered).find(free).unwrap_or_default();
        let peak = windows.values().max().map(|calls| calls.div_ceil(WINDOW_MILLIS as u64 / 1_000));
        let numbers = peak.map(|rate| format!(" WITH peak_rate = {rate}")).unwrap_or_default();
        let declare = declaration(&shaped.shape, &name, &shaped.statement, &numbers);
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

    #[test]
    fn a_log_teaches_rates_and_leaves_out_what_is_not_the_application() {
        let mut learner = Learner::default();
        learner.read(SCHEMA);
        let mut hear = |keyspace, text, at_millis| learner.hear(&Asked { keyspace, text, at_millis });
        for n in 0..100 {
            hear(Some("k"), "SELECT c FROM t WHERE a = ?", 10_000 + n);
            hear(None, "SELECT c FROM k.t WHERE a = 3", 60_000 + n);
        }
        hear(Some("k"), "SELECT c FROM t WHERE a = ?", 90_000);
        hear(Some("k"), "SELECT c FROM t WHERE a = 1 AND b = 2", 0);
        hear(None, "SELECT * FROM system.local", 0);
        hear(None, "USE k", 0);
        hear(None, "CREATE TABLE k.t (a int PRIMARY KEY)", 0);
        hear(None, "GRANT SELECT ON k.t TO somebody", 0);
        hear(None, "SELECT * FROM k.absent", 0);
        hear(None, "SELECT * FROM k.absent", 1);
        let lesson = learner.finish();
        let found: Vec<(usize, &str)> =
            lesson.learnt.iter().map(|one| (one.statements, one.declare.as_str())).collect();
        let declared =
            "CREATE ACCESS PATTERN k.read_t_by_a AS SELECT * FROM k.t WHERE a = ? WITH peak_rate = 20;";
        assert_eq!(found, [(201, declared)]);
        assert_eq!((lesson.declared, lesson.problems.len()), (1, 1), "{:?}", lesson.problems);
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
