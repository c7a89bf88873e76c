//! Every rule of schema statements, as a real Cassandra 5.0.6 answered it.
//!
//! `cases/*.txt` hold statements with recorded answers (`--- statement`, then `ok`, warnings and rows, or a protocol
//! code and text). A line `ours` gives our own answer where it differs on purpose; it must differ, else it goes.

use super::*;
use crate::describe;
use crate::system::{NodeInfo, SystemTables};
use database::catalogue::SharedCatalogue;
use query::{Request, Values};
use std::fmt::Write;
use std::sync::Arc;
use store::naive::NaiveStore;

/// A server in small: one catalogue, one store, one session.
pub(crate) struct World {
    pub shared: Arc<SharedCatalogue>,
    pub store: NaiveStore,
    pub system: SystemTables,
    pub keyspace: Option<String>,
    now: i64,
}

/// Whether a future asked to be polled again.
#[derive(Default)]
struct Asked(std::sync::atomic::AtomicBool);

impl std::task::Wake for Asked {
    fn wake(self: Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The naive store never waits: whoever is not ready only lets others have their turn.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let asked = Arc::new(Asked::default());
    let waker = asked.clone().into();
    loop {
        match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => {
                let again = asked.0.swap(false, std::sync::atomic::Ordering::Relaxed);
                assert!(again, "the naive store does not wait");
            }
        }
    }
}

impl World {
    pub(crate) fn new() -> World {
        let shared = Arc::new(crate::open_catalogue(None, 1).unwrap());
        let system = SystemTables::new(NodeInfo::default(), shared.clone());
        let store = NaiveStore::new();
        block_on(shared.bootstrap(&store)).unwrap();
        World { shared, store, system, keyspace: None, now: 1_700_000_000_000_000 }
    }

    pub(crate) fn ddl(&mut self, text: &str) -> Result<DdlOutcome, CqlError> {
        self.now += 1;
        let parsed =
            cql_syntax::parse_statement(text).map_err(|error| CqlError::Syntax(error.to_string()))?;
        let (_, catalogue) = self.shared.load();
        let scope = Scope { catalogue: &catalogue, keyspace: self.keyspace.as_deref() };
        if let Statement::Use(name) = &parsed.statement {
            if catalogue.keyspace(name.as_str()).is_none() {
                return Err(CqlError::Invalid(format!("Keyspace '{}' does not exist", name.as_str())));
            }
            self.keyspace = Some(name.as_str().to_string());
            return Ok(DdlOutcome::default());
        }
        let plan = bind(scope, &parsed.statement)?;
        block_on(execute(&Arc::new(plan), &self.shared, &self.store, self.now))
    }

    /// The rows of a DESCRIBE as texts.
    pub(crate) fn describe(&self, text: &str) -> Result<Vec<Vec<String>>, CqlError> {
        let parsed =
            cql_syntax::parse_statement(text).map_err(|error| CqlError::Syntax(error.to_string()))?;
        let Statement::Describe(statement) = &parsed.statement else { panic!("{text} is no DESCRIBE") };
        let (_, catalogue) = self.shared.load();
        let scope = Scope { catalogue: &catalogue, keyspace: self.keyspace.as_deref() };
        let request = Request::new(Values::NONE, self.now);
        let rows = describe::execute(&scope, &self.system, statement, &request)?;
        let text = |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
        Ok(rows.values().map(|row| row.into_iter().map(text).collect()).collect())
    }

    /// The answer in the form of the case files.
    fn answer(&mut self, statement: &str) -> String {
        let mut out = String::from("ok");
        if statement.starts_with("DESC") {
            match self.describe(statement) {
                Err(error) => return refusal(&error),
                Ok(rows) => rows.iter().for_each(|row| put_row(&mut out, row)),
            }
            return out;
        }
        match self.ddl(statement) {
            Err(error) => refusal(&error),
            Ok(outcome) => {
                for warning in &outcome.warnings {
                    let _ = write!(out, "\nwarn {warning}");
                }
                out
            }
        }
    }
}

fn put_row(out: &mut String, row: &[String]) {
    let _ = write!(out, "\nrow {}", row[..3].join(" | "));
    for line in row.get(3).iter().flat_map(|statement| statement.lines()) {
        let _ = write!(out, "\n  {}", mask_line(line));
    }
}

/// Hides what differs from run to run.
fn mask_line(line: &str) -> String {
    if let Some((head, tail)) = line.split_once("ID = ") {
        return format!("{head}ID = <uuid>{}", tail.get(36..).unwrap_or_default());
    }
    match line.split_once("USING TIMESTAMP 17000000000") {
        Some((head, tail)) if tail != "00000;" => format!("{head}USING TIMESTAMP <now>;"),
        _ => line.to_string(),
    }
}

fn refusal(error: &CqlError) -> String {
    let code = match error {
        CqlError::Syntax(_) => "2000",
        CqlError::Unauthorized(_) => "2100",
        CqlError::Invalid(_) => "2200",
        CqlError::Config(_) => "2300",
        CqlError::AlreadyExists { .. } => "2400",
        other => panic!("{other:?}"),
    };
    let message = error.to_string();
    // The parser has its own tests.
    let is_grammar = code == "2000" && message.starts_with("line ");
    format!("{code} {}", if is_grammar { "line" } else { &message })
}

/// Ours may say more: a sentence after Cassandra's.
fn fits(ours: &str, theirs: &str) -> bool {
    ours == theirs
        || ours.lines().count() == theirs.lines().count()
            && ours.lines().zip(theirs.lines()).all(|(ours, theirs)| {
                ours == theirs
                    || (theirs.starts_with("warn ") || theirs.starts_with("2"))
                        && ours.strip_prefix(theirs).is_some_and(|more| more.starts_with(['.', ':', ';']))
            })
}

fn check(cases: &str) {
    let mut world = World::new();
    let mut faults = String::new();
    for case in cases.split("--- ").filter(|case| !case.trim().is_empty()) {
        let (statement, expected) = case.trim_end().split_once('\n').unwrap();
        let (theirs, ours) = match expected.split_once("\nours ") {
            Some((theirs, ours)) => (theirs, Some(ours)),
            None => (expected, None),
        };
        let version = world.shared.version();
        let got = world.answer(statement);
        if got != ours.unwrap_or(theirs) && (ours.is_some() || !fits(&got, theirs)) {
            let _ =
                writeln!(faults, "--- {statement}\nexpected: {}\ngot:      {got}", ours.unwrap_or(theirs));
        }
        if ours.is_some() && fits(&got, theirs) {
            let _ = writeln!(faults, "--- {statement}\nis marked as different but is not");
        }
        if world.shared.version() != version {
            world.shared.load().1.check().unwrap();
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn rules_are_cassandras() {
    check(include_str!("cases/rules.txt"));
}

#[test]
fn more_rules_are_cassandras() {
    check(include_str!("cases/more_rules.txt"));
}

#[test]
fn rules_of_indexes_are_cassandras() {
    check(include_str!("cases/indexes.txt"));
}

#[test]
fn results_tell_drivers_what_changed() {
    let mut world = World::new();
    let table = || ChangeTarget::Table("t".into());
    let view = || ChangeTarget::Table("mv".into());
    let udt = || ChangeTarget::Type("u".into());
    for (statement, expected) in [
        (
            "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            Some((ChangeKind::Created, ChangeTarget::Keyspace)),
        ),
        ("CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': 'SimpleStrategy'}", None),
        ("ALTER KEYSPACE k WITH durable_writes = false", Some((ChangeKind::Updated, ChangeTarget::Keyspace))),
        ("CREATE TYPE k.u (a int)", Some((ChangeKind::Created, udt()))),
        ("CREATE TABLE k.t (k int PRIMARY KEY, v frozen<u>)", Some((ChangeKind::Created, table()))),
        ("CREATE TABLE IF NOT EXISTS k.t (k int PRIMARY KEY)", None),
        ("ALTER TABLE k.t ADD w int", Some((ChangeKind::Updated, table()))),
        ("ALTER TABLE k.t ADD IF NOT EXISTS w int", None),
        ("CREATE INDEX ON k.t (w)", Some((ChangeKind::Updated, table()))),
        ("CREATE INDEX IF NOT EXISTS ON k.t (w)", None),
        ("DROP INDEX k.t_w_idx", Some((ChangeKind::Updated, table()))),
        (
            "CREATE MATERIALIZED VIEW k.mv AS SELECT * FROM t WHERE k IS NOT NULL AND w IS NOT NULL PRIMARY KEY (w, k)",
            Some((ChangeKind::Created, view())),
        ),
        (
            "CREATE MATERIALIZED VIEW IF NOT EXISTS k.mv AS SELECT nope FROM t WHERE k IS NOT NULL PRIMARY KEY (k)",
            None,
        ),
        ("ALTER MATERIALIZED VIEW k.mv WITH comment = 'x'", Some((ChangeKind::Updated, view()))),
        ("ALTER MATERIALIZED VIEW k.mv WITH comment = 'x'", None),
        ("ALTER TABLE k.t ADD x int", Some((ChangeKind::Updated, table()))),
        ("DROP MATERIALIZED VIEW k.mv", Some((ChangeKind::Dropped, view()))),
        ("DROP MATERIALIZED VIEW IF EXISTS k.mv", None),
        ("ALTER TYPE k.u ADD b int", Some((ChangeKind::Updated, udt()))),
        ("TRUNCATE k.t", None),
        (
            "CREATE ACCESS PATTERN k.p AS SELECT * FROM k.t WHERE k = ?",
            Some((ChangeKind::Updated, ChangeTarget::Keyspace)),
        ),
        ("ALTER ACCESS PATTERN k.p WITH peak_rate = 5", Some((ChangeKind::Updated, ChangeTarget::Keyspace))),
        ("ALTER ACCESS PATTERN k.p WITH peak_rate = 5", None),
        ("ALTER ACCESS PATTERN IF EXISTS k.nope AS SELECT * FROM k.t", None),
        ("DROP ACCESS PATTERN k.p", Some((ChangeKind::Updated, ChangeTarget::Keyspace))),
        ("DROP ACCESS PATTERN IF EXISTS k.p", None),
        ("DROP TABLE k.t", Some((ChangeKind::Dropped, table()))),
        ("DROP TABLE IF EXISTS k.t", None),
        ("DROP TYPE k.u", Some((ChangeKind::Dropped, udt()))),
        ("DROP INDEX IF EXISTS k.i", None),
        ("DROP KEYSPACE k", Some((ChangeKind::Dropped, ChangeTarget::Keyspace))),
    ] {
        let outcome = world.ddl(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        let expected = expected.map(|(kind, target)| SchemaChange { kind, keyspace: "k".into(), target });
        assert_eq!(outcome.change, expected, "{statement}");
    }
}

#[test]
fn what_is_not_supported_is_refused_with_an_alternative() {
    let mut world = World::new();
    let error = world.ddl("CREATE TRIGGER t ON k.t USING 'x'").unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, CqlError::Invalid(_)));
    assert!(text.starts_with("Triggers are not supported.") && text.contains("BATCH"), "{text}");
}

#[test]
fn a_prepared_statement_means_the_same_on_every_execution() {
    let mut world = World::new();
    world
        .ddl("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        .unwrap();
    let (_, catalogue) = world.shared.load();
    let parsed = cql_syntax::parse_statement("CREATE TABLE t (k int PRIMARY KEY, v later)").unwrap();
    let scope = Scope { catalogue: &catalogue, keyspace: Some("k") };
    let plan = Arc::new(bind(scope, &parsed.statement).unwrap());
    let run = |world: &World| block_on(execute(&plan, &world.shared, &world.store, 5));
    assert_eq!(run(&world).unwrap_err().to_string(), "Unknown type k.later");
    world.ddl("CREATE TYPE k.later (a int)").unwrap();
    assert!(run(&world).unwrap().change.is_some(), "decided against the newest catalogue");
    assert!(matches!(run(&world).unwrap_err(), CqlError::AlreadyExists { .. }));
}
