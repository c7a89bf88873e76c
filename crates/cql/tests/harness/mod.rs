//! Runs statements on the naive store and shows answers as text: one `check` for every test.

use cql::CqlError;
use cql::session::{Answer, Dialect, Response, Session};
use cql::system::{NodeInfo, SystemTables};
use database::ids::ShardIds;
use model::literal::format_literal;
use query::{Bound, Request, Rows, Values};
use rt::{Clock, ManualClock};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use store::naive::NaiveStore;

/// A dialect on an empty naive store, with a clock that moves by hand.
pub struct Bench {
    dialect: Dialect<NaiveStore>,
    clock: Arc<ManualClock>,
    ids: Rc<ShardIds>,
    session: Session,
}

/// 2023-11-14, far from every edge.
const START_MICROS: i64 = 1_700_000_000_000_000;

#[allow(dead_code)] // Each test binary uses some of these.
impl Bench {
    /// With keyspace `ks` in use and the given statement run in it.
    pub fn new(ddl: &str) -> Bench {
        let mut bench = Bench::bare();
        bench
            .run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            .unwrap();
        bench.session.keyspace = Some("ks".into());
        bench.run(ddl).unwrap();
        bench
    }

    /// With keyspace `ks` in use, on a shard that runs functions.
    pub fn running_functions() -> Bench {
        let mut bench = Bench::made(true);
        bench
            .run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            .unwrap();
        bench.session.keyspace = Some("ks".into());
        bench
    }

    /// With nothing but the system tables.
    pub fn bare() -> Bench {
        Bench::made(false)
    }

    fn made(functions: bool) -> Bench {
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let shared = Arc::new(cql::open_catalogue(None, START_MICROS).unwrap());
        let system = Arc::new(SystemTables::new(NodeInfo::default(), shared.clone()));
        let ids = Rc::new(ShardIds::new(clock.clone(), 0, 7).running_functions(functions));
        let (store, limits) = (NaiveStore::new(), Default::default());
        let dialect = Dialect::new(store, shared, system, Box::new(ids.clone()), limits, Box::new(Plain));
        wait(dialect.shared.bootstrap(&dialect.store)).unwrap();
        Bench { dialect, clock, ids, session: Session::default() }
    }

    /// From now on what another server refuses is refused.
    pub fn act_as(&mut self, profile: Option<design::act_as::Profile>) {
        self.dialect.profile = profile;
    }

    /// From now on sorts and plans count against this budget.
    pub fn limit_to(&mut self, memory: &rt::Budget) {
        Rc::get_mut(&mut self.dialect.runtime).unwrap().memory = Some(memory.clone());
    }

    pub fn pass_seconds(&mut self, seconds: i64) {
        self.clock.advance_micros(seconds * 1_000_000);
    }

    /// Does what the server does every minute for tables with retention; says how many buckets were dropped.
    pub fn drop_expired(&mut self) -> usize {
        let (_, catalogue) = self.dialect.shared.load();
        let now = self.ids.now_micros();
        let drop = |table| wait(database::retention::drop_expired(&self.dialect.store, table, now)).unwrap();
        catalogue.tables().map(|table| drop(table)).sum()
    }

    /// Does what the server does every few seconds for rows that expire as a whole; says how many were found.
    pub fn sweep_rows(&mut self) -> usize {
        let (_, catalogue) = self.dialect.shared.load();
        let now = self.ids.now_micros();
        let sweep = |table| wait(database::row_ttl::sweep(&self.dialect.store, table, now)).unwrap();
        catalogue.tables().map(|table| sweep(table)).sum()
    }

    /// Runs the statements of a script, USE included.
    pub fn load(&mut self, script: &str) {
        let parsed = cql_syntax::parse_script(script);
        assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
        for statement in &parsed.statements {
            let text = statement.span.text(script);
            match self.run(text) {
                Ok(Response::SetKeyspace(keyspace)) => self.session.keyspace = Some(keyspace),
                Ok(_) => {}
                Err(error) => panic!("{text}: {error}"),
            }
        }
    }

    /// The statements that make a keyspace again.
    pub fn describe_keyspace(&mut self, name: &str) -> Vec<String> {
        let Ok(Response::Rows(rows)) = self.run(&format!("DESCRIBE KEYSPACE {name}")) else {
            panic!("{name} cannot be described")
        };
        let mut body = rows.body.as_slice();
        let mut values = Vec::new();
        while let Some((length, rest)) = body.split_first_chunk::<4>() {
            let (value, rest) = rest.split_at(i32::from_be_bytes(*length).max(0) as usize);
            values.push(String::from_utf8(value.to_vec()).unwrap());
            body = rest;
        }
        let last = rows.columns.len();
        values.chunks(last).filter_map(|row| row.last().cloned()).collect()
    }

    /// The statement that makes a table of `ks` again.
    pub fn describe_table(&mut self, name: &str) -> String {
        let (_, catalogue) = self.dialect.shared.load();
        cql::describe::table_text(catalogue.table("ks", name).unwrap(), false)
    }

    /// Does what the server does every minute for indexes on vectors; says how many are filled anew.
    pub fn renew_lists(&mut self, renewal: &mut database::builds::Renewal, rows: u64) -> usize {
        let now = self.ids.now_micros();
        wait(renewal.look(&self.dialect.shared, &self.dialect.store, now, |_| rows)).unwrap()
    }

    /// Does what is left to the background.
    pub fn work(&mut self) {
        let now = self.ids.now_micros();
        wait(database::builds::resume_builds(&self.dialect.shared, &self.dialect.store, now)).unwrap();
    }

    pub fn run(&mut self, text: &str) -> Result<Response, CqlError> {
        let prepared = self.dialect.prepare(&self.session, None, text)?;
        let now = self.ids.now_micros();
        assert!(now >= self.clock.micros());
        let answer = wait(self.dialect.execute(&self.session, &prepared, Request::new(Values::NONE, now)))?;
        Ok(answer.response)
    }
}

#[allow(dead_code)] // Each test binary uses some of these.
impl Bench {
    /// Runs a statement with bound values (`None` is null) and shows the answer.
    pub fn run_with(&mut self, text: &str, values: &[Option<&[u8]>]) -> Vec<String> {
        let bound: Vec<Bound<'_>> = values.iter().map(|v| v.map_or(Bound::Null, Bound::Value)).collect();
        let request = Request::new(Values(&bound), self.ids.now_micros());
        show(self.request(text, request).map(|answer| answer.response))
    }

    /// Prepares once, changes the schema, and says whether the plan is still the catalogue's.
    pub fn is_current_after(&mut self, text: &str, ddl: &str) -> bool {
        let prepared = self.dialect.prepare(&self.session, None, text).unwrap();
        self.run(ddl).unwrap();
        prepared.is_current(&self.dialect.catalogue().1)
    }

    /// The whole answer.
    pub fn answer(&mut self, text: &str) -> Result<Answer, CqlError> {
        let now = self.ids.now_micros();
        self.request(text, Request::new(Values::NONE, now))
    }

    /// From now on statements are this role's; `None` is the server itself.
    pub fn log_in(&mut self, role: Option<&str>) {
        self.session.role = role.map(Into::into);
    }

    fn request(&mut self, text: &str, request: Request<'_>) -> Result<Answer, CqlError> {
        let prepared = self.dialect.prepare(&self.session, None, text)?;
        wait(self.dialect.execute(&self.session, &prepared, request))
    }

    /// The warnings that come with the answer.
    pub fn warnings(&mut self, text: &str) -> Vec<String> {
        let request = Request::new(Values::NONE, self.ids.now_micros());
        self.request(text, request).unwrap().warnings
    }

    /// The result columns as `name type`.
    pub fn columns(&mut self, text: &str) -> Vec<String> {
        let request = Request::new(Values::NONE, self.ids.now_micros());
        match self.request(text, request).unwrap().response {
            Response::Rows(rows) => {
                rows.columns.iter().map(|c| format!("{} {}", c.name, c.data_type)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    /// One page and the state that the next one starts from.
    pub fn try_page(
        &mut self,
        text: &str,
        size: u32,
        state: Option<&[u8]>,
    ) -> Result<(Vec<String>, Option<Vec<u8>>), CqlError> {
        let mut request = Request::new(Values::NONE, self.ids.now_micros());
        request.page_size = Some(size);
        request.paging_state = state;
        match self.request(text, request)?.response {
            Response::Rows(rows) => Ok((show_rows(&rows), rows.paging_state)),
            other => panic!("{other:?}"),
        }
    }

    pub fn page(&mut self, text: &str, size: u32, state: Option<&[u8]>) -> (Vec<String>, Option<Vec<u8>>) {
        self.try_page(text, size, state).unwrap()
    }

    /// All pages.
    pub fn pages(&mut self, text: &str, size: u32) -> Vec<Vec<String>> {
        let mut pages = Vec::new();
        let mut state = None;
        loop {
            let (page, next) = self.page(text, size, state.as_deref());
            pages.push(page);
            if next.is_none() {
                return pages;
            }
            state = next;
        }
    }
}

/// Keeps passwords as they are.
struct Plain;

impl cql::roles::Passwords for Plain {
    fn hash(&self, password: String) -> Pin<Box<dyn Future<Output = Result<String, CqlError>>>> {
        Box::pin(std::future::ready(Ok(password)))
    }

    fn random(&self) -> Result<[u8; cql::roles::GENERATED_LETTERS], CqlError> {
        Ok(std::array::from_fn(|at| at as u8))
    }
}

/// Whether a future asked to be polled again.
#[derive(Default)]
struct Asked(std::sync::atomic::AtomicBool);

impl std::task::Wake for Asked {
    fn wake(self: Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The naive store never waits, so a future that does is a mistake; one that lets others have their turn is not.
fn wait<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let asked = Arc::new(Asked::default());
    let waker = asked.clone().into();
    loop {
        match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => {
                let again = asked.0.swap(false, std::sync::atomic::Ordering::Relaxed);
                assert!(again, "a future of the naive store waits");
            }
        }
    }
}

/// Runs a script: a line per statement, indented lines below it are the answer.
#[allow(dead_code)]
pub fn check(bench: &mut Bench, script: &str) {
    let mut lines = script.lines().filter(|l| !l.trim().is_empty()).peekable();
    let base = indent(lines.peek().unwrap());
    while let Some(statement) = lines.next() {
        assert_eq!(indent(statement), base, "a statement is expected: {statement}");
        let mut expected = Vec::new();
        while let Some(line) = lines.next_if(|l| indent(l) > base) {
            expected.push(line.trim().to_string());
        }
        let answer = show(bench.run(statement.trim()));
        assert_eq!(answer, expected, "{}", statement.trim());
    }
}

#[allow(dead_code)]
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn show(answer: Result<Response, CqlError>) -> Vec<String> {
    match answer {
        Ok(Response::Rows(rows)) => show_rows(&rows),
        Ok(_) => Vec::new(),
        Err(CqlError::Invalid(text)) => vec![format!("invalid: {text}")],
        Err(CqlError::Syntax(text)) => vec![format!("syntax: {text}")],
        Err(other) => vec![format!("{other:?}")],
    }
}

pub fn show_rows(rows: &Rows) -> Vec<String> {
    let row = |values: Vec<Option<&[u8]>>| {
        let cells = rows.columns.iter().zip(values);
        let cells = cells.map(|(spec, value)| format_literal(&spec.data_type, value));
        cells.collect::<Vec<_>>().join(" | ")
    };
    rows.values().map(row).collect()
}
