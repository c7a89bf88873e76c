//! Builds over rows that are there, with faults at every call of the store.

use crate::CqlError;
use crate::ddl::tests::block_on;
use crate::roles::NoPasswords;
use crate::session::{Answer, Dialect, Response, Session};
use crate::system::{NodeInfo, SystemTables};
use database::builds::{a_build_was_left, resume_builds};
use model::row::RowView;
use query::context::Limits;
use query::{Ids, Request, Values};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use store::index::{Candidate, candidate};
use store::naive::NaiveStore;
use store::{CasOutcome, ConditionalCommit, Flow, ReadOutcome, Sink, StoreError, TableConfig};
use store::{Commit, Partitions, Read, Slice, Store, TableId};

/// What happens at the chosen call, once.
pub(super) enum Event {
    Nothing,
    Fail,
    /// The call never returns, as when the client goes away while it waits.
    Hang,
    /// Something else happens before the call is served.
    Before(Box<dyn FnOnce()>),
}

/// A naive store where something happens at one call.
#[derive(Clone)]
pub(super) struct Probe {
    pub(super) inner: Rc<NaiveStore>,
    /// Calls until the event.
    wait: Rc<Cell<usize>>,
    event: Rc<RefCell<Event>>,
    /// The newest settings of the tables.
    tables: Rc<RefCell<Vec<TableConfig>>>,
    /// How many reads there were.
    pub(super) reads: Rc<Cell<usize>>,
}

impl Probe {
    fn new() -> Probe {
        Probe {
            inner: Rc::default(),
            wait: Rc::default(),
            event: Rc::new(RefCell::new(Event::Nothing)),
            tables: Rc::default(),
            reads: Rc::default(),
        }
    }

    pub(super) fn arm(&self, calls: usize, event: Event) {
        self.wait.set(calls);
        *self.event.borrow_mut() = event;
    }

    fn is_armed(&self) -> bool {
        !matches!(*self.event.borrow(), Event::Nothing)
    }

    async fn call(&self) -> Result<(), StoreError> {
        if !self.is_armed() {
            return Ok(());
        }
        if self.wait.get() > 0 {
            self.wait.set(self.wait.get() - 1);
            return Ok(());
        }
        match self.event.replace(Event::Nothing) {
            Event::Nothing => Ok(()),
            Event::Fail => Err(StoreError::Overloaded("as the test wishes")),
            Event::Hang => std::future::pending().await,
            Event::Before(action) => {
                action();
                Ok(())
            }
        }
    }
}

impl Store for Probe {
    type Prompt = store::NoPrompt;

    async fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        self.reads.set(self.reads.get() + 1);
        self.call().await?;
        self.inner.read(read, sink).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        self.call().await?;
        self.inner.commit(commit).await
    }

    async fn commit_if(&self, commit: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        self.inner.commit_if(commit).await
    }

    async fn exclusively<T, E: From<StoreError>>(
        &self,
        partitions: Vec<(TableId, model::key::PartitionKey)>,
        stamped: store::Stamped,
        work: impl AsyncFnOnce() -> Result<(T, Vec<store::Mutation>), E>,
    ) -> Result<T, E> {
        self.inner.exclusively(partitions, stamped, work).await
    }

    async fn alter(&self, catalogue: Vec<u8>, tables: Vec<TableConfig>) -> Result<(), StoreError> {
        self.call().await?;
        *self.tables.borrow_mut() = tables.clone();
        self.inner.alter(catalogue, tables).await
    }

    async fn settle(&self) -> Result<(), StoreError> {
        self.call().await
    }
}

struct Counter(Cell<u128>);

impl Ids for Counter {
    fn timeuuid(&self) -> [u8; 16] {
        self.0.set(self.0.get() + 1);
        self.0.get().to_be_bytes()
    }

    fn uuid(&self) -> [u8; 16] {
        self.timeuuid()
    }
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) dialect: Rc<Dialect<Probe>>,
    pub(super) store: Probe,
}

pub(super) const NOW: i64 = 1_700_000_000_000_000;

impl World {
    pub(super) fn new() -> World {
        World::open(Probe::new())
    }

    pub(super) fn open(store: Probe) -> World {
        let stored = store.inner.catalogue();
        let shared = Arc::new(crate::open_catalogue(stored.as_deref(), 1).unwrap());
        block_on(shared.bootstrap(&store)).unwrap();
        let system = Arc::new(SystemTables::new(NodeInfo::default(), shared.clone()));
        let (ids, limits) = (Box::new(Counter(Cell::new(0))), Limits::default());
        let dialect = Dialect::new(store.clone(), shared, system, ids, limits, Box::new(NoPasswords));
        World { dialect: Rc::new(dialect), store }
    }

    pub(super) fn of(statements: &[&str]) -> World {
        let world = World::new();
        world
            .run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        statements.iter().for_each(|statement| drop(world.run(statement)));
        world
    }

    pub(super) async fn execute(&self, text: &str) -> Result<Answer, CqlError> {
        let session = Session { keyspace: Some("k".into()), role: None };
        let prepared = self.dialect.prepare(&session, None, text)?;
        self.dialect.execute(&session, &prepared, Request::new(Values::NONE, NOW)).await
    }

    pub(super) fn run(&self, text: &str) -> Answer {
        block_on(self.execute(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    pub(super) fn rows(&self, text: &str) -> u32 {
        match self.run(text).response {
            Response::Rows(rows) => rows.count,
            other => panic!("{text}: {other:?}"),
        }
    }

    pub(super) fn resume(&self) -> Result<(), CqlError> {
        Ok(block_on(resume_builds(&self.dialect.shared, &self.store, NOW))?)
    }

    pub(super) fn left(&self) -> usize {
        database::builds::builds_left(&self.dialect.shared)
    }

    pub(super) fn is_built(&self, index: &str) -> bool {
        let (_, catalogue) = self.dialect.shared.load();
        catalogue.keyspace("k").unwrap().index(index).is_some_and(|(_, index)| index.built)
    }

    /// The places that the index leads to.
    pub(super) fn candidates(&self, index: &str, partition: Option<&[u8]>) -> Vec<Candidate> {
        let (_, catalogue) = self.dialect.shared.load();
        let (table, index) = catalogue.keyspace("k").unwrap().index(index).unwrap();
        let config = query::index::config(table, index).unwrap();
        let partitions = match partition {
            Some(value) => Partitions::One(config.partition(&config.form(value).unwrap(), b"").unwrap()),
            None => Partitions::all(),
        };
        let read = Read::of(config.table, partitions, vec![Slice::all()], (NOW / 1_000_000) as u32);
        let mut found = Candidates(Vec::new());
        self.store.inner.read_now(&read, &mut found).unwrap();
        found.0
    }
}

struct Candidates(Vec<Candidate>);

impl Sink for Candidates {
    fn partition(&mut self, _: &model::key::PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        self.0.push(candidate(clustering).unwrap());
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

#[test]
fn rows_of_before_are_in_the_index() {
    let world = World::of(&[
        "CREATE TABLE t (a int, b int, c int, v text, s int static, m map<text, int>, l list<int>, f frozen<set<int>>, PRIMARY KEY ((a, b), c))",
        "INSERT INTO t (a, b, c, v, s, m, l, f) VALUES (1, 1, 1, 'x', 7, {'p': 1, 'q': 2}, [1, 1], {1})",
        "INSERT INTO t (a, b, c, v, m) VALUES (1, 1, 2, 'y', {'p': 2})",
        "INSERT INTO t (a, b, c, v, l, f) VALUES (1, 2, 1, 'x', [2, 1], {1})",
        "INSERT INTO t (a, b, s) VALUES (2, 1, 7)",
        "INSERT INTO t (a, b, c, v) VALUES (3, 3, 3, 'x')",
        "DELETE FROM t WHERE a = 3 AND b = 3 AND c = 3",
        "INSERT INTO t (a, b, c, v) VALUES (4, 4, 4, 'x')",
        "DELETE v FROM t WHERE a = 4 AND b = 4 AND c = 4",
    ]);
    let int = |n: i32| n.to_be_bytes().to_vec();
    let one = [&[0, 0, 0, 1, 0, 0, 0, 4][..], &int(1)].concat();
    for (target, value, expected) in [
        ("v", b"x".to_vec(), 2),
        ("v", b"y".to_vec(), 1),
        ("v", b"z".to_vec(), 0),
        ("s", int(7), 2),
        // The static rows lead to their partitions too.
        ("a", int(1), 2),
        ("b", int(1), 2),
        ("c", int(1), 2),
        ("c", int(4), 1),
        ("keys(m)", b"p".to_vec(), 2),
        ("m", int(2), 2),
        // Equal elements of one list have an entry each.
        ("l", int(1), 3),
        ("full(f)", one, 2),
    ] {
        world.run(&format!("CREATE INDEX i ON t ({target})"));
        assert!(world.is_built("i"), "{target}");
        assert_eq!(world.candidates("i", Some(&value)).len(), expected, "{target} = {value:?}");
        world.run("DROP INDEX i");
    }
    world.run("CREATE INDEX i ON t (entries(m))");
    assert_eq!(world.candidates("i", None).len(), 3);
}

#[test]
fn a_table_of_many_pages_is_copied_whole() {
    let world = World::of(&["CREATE TABLE t (k int, c int, s int static, v int, PRIMARY KEY (k, c))"]);
    for k in 0..3 {
        world.run(&format!("INSERT INTO t (k, s) VALUES ({k}, 9)"));
        for c in 0..1_700 {
            world.run(&format!("INSERT INTO t (k, c, v) VALUES ({k}, {c}, {})", c % 7));
        }
    }
    for (index, column, expected) in [("by_v", "v", 5_100), ("by_s", "s", 3), ("by_c", "c", 5_100)] {
        world.run(&format!("CREATE INDEX {index} ON t ({column})"));
        assert_eq!(world.candidates(index, None).len(), expected, "{column}");
    }
    assert_eq!(world.candidates("by_v", Some(&3i32.to_be_bytes())).len(), 3 * 243);
    assert_eq!(world.rows("SELECT * FROM system.\"IndexInfo\" WHERE table_name = 'k'"), 3);
}

/// Rows for several pages, without a thousand statements per case.
pub(super) fn with_rows() -> World {
    let world = World::of(&["CREATE TABLE t (k int, c int, v blob, PRIMARY KEY (k, c))"]);
    let large = "ab".repeat(100_000);
    for c in 0..8 {
        world.run(&format!("INSERT INTO t (k, c, v) VALUES ({}, {c}, 0x{large}{c:02x})", c % 3));
    }
    world
}

#[test]
fn a_build_that_fails_anywhere_is_finished_later() {
    let mut faults = 0;
    loop {
        let world = with_rows();
        world.store.arm(faults, Event::Fail);
        let answer = block_on(world.execute("CREATE INDEX i ON t (v)"));
        if world.store.is_armed() {
            break;
        }
        match answer {
            // The first call makes the index; what cannot be stored is not there.
            Err(error) => assert_eq!((faults, error.to_string().as_str()), (0, "as the test wishes")),
            Ok(answer) => {
                assert!(matches!(answer.response, Response::SchemaChange(_)));
                assert!(answer.warnings[0].starts_with("The index is not complete yet"), "{faults}");
                assert_eq!((world.left(), world.is_built("i")), (1, false), "{faults}");
                assert_eq!(world.rows("SELECT * FROM system.\"IndexInfo\""), 0);
                world.resume().unwrap();
                assert_eq!((world.left(), world.is_built("i")), (0, true), "{faults}");
                assert_eq!(world.candidates("i", None).len(), 8, "{faults}");
            }
        }
        faults += 1;
    }
    assert!(faults > 8, "{faults}");
}

#[test]
fn a_build_whose_client_has_gone_is_finished_later() {
    let mut calls = 1;
    loop {
        let world = with_rows();
        world.store.arm(calls, Event::Hang);
        {
            let mut statement = pin!(world.execute("CREATE INDEX i ON t (v)"));
            // Long enough for every page of the table.
            for _ in 0..100 {
                if let Poll::Ready(answer) = statement.as_mut().poll(&mut Context::from_waker(Waker::noop()))
                {
                    assert!(answer.is_ok());
                    break;
                }
            }
        }
        if world.store.is_armed() {
            break;
        }
        assert_eq!((world.left(), world.is_built("i")), (1, false), "{calls}");
        block_on(a_build_was_left(&world.dialect.shared));
        world.resume().unwrap();
        assert!(world.is_built("i"));
        assert_eq!(world.candidates("i", None).len(), 8, "{calls}");
        calls += 1;
    }
    assert!(calls > 8, "{calls}");
}

#[test]
fn a_crash_leaves_the_rest_to_the_next_start() {
    let world = with_rows();
    world.store.arm(3, Event::Fail);
    world.run("CREATE INDEX i ON t (v)");
    world.run("CREATE INDEX j ON t (c)");
    assert!(!world.is_built("i") && world.is_built("j"));
    let again = World::open(world.store.clone());
    assert_eq!(again.left(), 1);
    again.resume().unwrap();
    assert!(again.is_built("i"));
    assert_eq!(again.candidates("i", None).len(), 8);
    // A store does not keep what it knows of indexes, so every start tells it, also when nothing is new.
    again.store.tables.borrow_mut().clear();
    let last = World::open(again.store.clone());
    assert_eq!(last.left(), 0);
    let told: usize = last.store.tables.borrow().iter().map(|config| config.indexes.len()).sum();
    assert_eq!(told, 2);
}

/// The statement runs inside the build, so the build cannot be holding the catalogue's lock.
#[test]
fn what_is_dropped_while_it_is_built_is_no_fault() {
    for statement in ["DROP INDEX i", "DROP TABLE t", "DROP KEYSPACE k"] {
        let mut calls = 1;
        loop {
            let world = with_rows();
            let other = world.clone();
            let drop_it = move || {
                // The lock is taken for the last call, which is too late to come between.
                let mut future = pin!(other.execute(statement));
                let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            };
            world.store.arm(calls, Event::Before(Box::new(drop_it)));
            let answer = world.run("CREATE INDEX i ON t (v)");
            if world.store.is_armed() {
                break;
            }
            assert_eq!((answer.warnings, world.left()), (Vec::new(), 0), "{statement} before call {calls}");
            calls += 1;
        }
        assert!(calls > 8, "{statement}: {calls}");
    }
}

#[test]
fn a_table_truncated_while_its_index_is_built_ends_empty() {
    let world = with_rows();
    let other = world.clone();
    world.store.arm(4, Event::Before(Box::new(move || drop(other.run("TRUNCATE t")))));
    world.run("CREATE INDEX i ON t (v)");
    assert!(world.is_built("i"));
    assert_eq!(world.rows("SELECT * FROM t"), 0);
}

const VIEW: &str =
    "CREATE MATERIALIZED VIEW m AS SELECT * FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)";

fn views_built(world: &World) -> u32 {
    world.rows("SELECT * FROM system.built_views")
}

#[test]
fn a_view_whose_build_fails_anywhere_is_finished_later() {
    let mut faults = 0;
    loop {
        let world = with_rows();
        world.store.arm(faults, Event::Fail);
        let answer = block_on(world.execute(VIEW));
        if world.store.is_armed() {
            break;
        }
        match answer {
            Err(error) => assert_eq!((faults, error.to_string().as_str()), (0, "as the test wishes")),
            Ok(answer) => {
                assert!(
                    answer.warnings[0].starts_with("The materialized view does not have all"),
                    "{faults}"
                );
                assert_eq!((world.left(), views_built(&world)), (1, 0), "{faults}");
                // Half built or not, it follows its table.
                world.run("DELETE FROM t WHERE k = 1 AND c = 1");
                world.run("INSERT INTO t (k, c) VALUES (9, 9)");
                world.resume().unwrap();
                assert_eq!((world.left(), views_built(&world)), (0, 1), "{faults}");
                assert_eq!(world.rows("SELECT * FROM m"), 8, "{faults}");
                assert_eq!(world.rows("SELECT * FROM m WHERE c = 1"), 0, "{faults}");
            }
        }
        faults += 1;
    }
    assert!(faults > 8, "{faults}");
}

#[test]
fn a_crash_leaves_the_rest_of_a_view_to_the_next_start() {
    let world = with_rows();
    // Some pages are copied, then nobody goes on.
    world.store.arm(5, Event::Fail);
    world.run(&format!("{VIEW} WITH gc_grace_seconds = 0"));
    let again = World::open(world.store.clone());
    assert_eq!((again.left(), views_built(&again)), (1, 0));
    let grace = || {
        let (_, catalogue) = again.dialect.shared.load();
        let id = TableId(catalogue.table("k", "m").unwrap().id);
        again.store.tables.borrow().iter().find(|table| table.id == id).unwrap().gc_grace_seconds
    };
    assert_eq!(grace(), u32::MAX, "no deletion may be forgotten while rows of before are copied");
    again.run("UPDATE t SET v = 0xff WHERE k = 0 AND c = 0");
    again.resume().unwrap();
    assert_eq!(grace(), 0);
    assert_eq!((again.rows("SELECT * FROM m"), views_built(&again)), (8, 1));
    assert_eq!(again.rows("SELECT * FROM m WHERE c = 0 AND v = 0xff ALLOW FILTERING"), 1);
}

#[test]
fn a_view_that_is_dropped_while_it_is_built_is_no_fault() {
    let world = with_rows();
    let other = world.dialect.clone();
    // Before the commits that began earlier are waited for; after that the catalogue is held while a page is copied.
    let drop = Event::Before(Box::new(move || {
        let session = Session { keyspace: Some("k".into()), role: None };
        let prepared = other.prepare(&session, None, "DROP MATERIALIZED VIEW m").unwrap();
        block_on(other.execute(&session, &prepared, Request::new(Values::NONE, NOW))).unwrap();
    }));
    world.store.arm(1, drop);
    assert_eq!(world.run(VIEW).warnings, [""; 0]);
    assert_eq!((world.left(), views_built(&world)), (0, 0));
}
