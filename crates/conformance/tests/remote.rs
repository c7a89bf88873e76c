//! The recorded scenarios on the remote-shaped store: the dialect in this process, and behind it a node that gets nothing but bytes and
//! answers late. What Cassandra answered is what must come out here too.
//!
//! Without a server there are no messages, so a scenario runs until its first statement that needs one (a batch message, a trace, what
//! PREPARE says, another connection, an older protocol).

use conformance::scenario::{File, Item, Options, Step};
use conformance::step::encoded;
use conformance::{compare, known, run};
use cql::CqlError;
use cql::ddl::{ChangeKind, ChangeTarget};
use cql::session::{Answer, Dialect, Response, Session};
use cql::system::{NodeInfo, SystemTables};
use database::ids::ShardIds;
use model::literal::format_literal;
use model::types::DataType;
use query::{Bound, Request, Rows, Values};
use rt::{Clock, SystemClock};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use store::remote::{Faults, RemoteStore};

/// Statements that are compared at least.
const STATEMENTS_MIN: usize = 9_000;

struct Bench {
    dialect: Dialect<RemoteStore>,
    clock: Arc<SystemClock>,
    ids: Rc<ShardIds>,
    session: Session,
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
}

impl Bench {
    fn new(seed: u64) -> Bench {
        let clock = Arc::new(SystemClock);
        let now = clock.micros();
        let shared = Arc::new(cql::open_catalogue(None, now).unwrap());
        let system = Arc::new(SystemTables::new(NodeInfo::default(), shared.clone()));
        let ids = Rc::new(ShardIds::new(clock.clone(), 0, 7));
        let store = RemoteStore::new(Faults { seed, delay_turns_max: 1, ..Faults::default() });
        let passwords = Box::new(cql::roles::NoPasswords);
        let dialect =
            Dialect::new(store, shared, system, Box::new(ids.clone()), Default::default(), passwords);
        wait(dialect.shared.bootstrap(&dialect.store)).unwrap();
        Bench { dialect, clock, ids, session: Session::default() }
    }

    fn must(&mut self, text: &str) {
        let lines = self.lines(text, &Options::default());
        assert!(!lines.iter().any(|line| line.starts_with("error")), "{text}: {lines:?}");
    }

    /// The answer as a golden file has it.
    fn lines(&mut self, text: &str, options: &Options) -> Vec<String> {
        self.run(text, options).unwrap_or_else(|error| vec![refusal(&error)])
    }

    fn run(&mut self, text: &str, options: &Options) -> Result<Vec<String>, CqlError> {
        let prepared = self.dialect.prepare(&self.session, options.keyspace.as_deref(), text)?;
        // A server counts them before it asks the dialect.
        if options.bind.len() != prepared.markers.len() {
            return Err(CqlError::invalid("Invalid amount of bind variables"));
        }
        let mut bytes = Vec::new();
        for (index, text) in options.bind.iter().enumerate() {
            let kind = prepared.markers.get(index).map(|marker| marker.data_type.clone());
            bytes.push(match &**text {
                "unset" | "null" => Vec::new(),
                text => encoded(text, kind).map_err(CqlError::Invalid)?,
            });
        }
        let values: Vec<Bound<'_>> = options.bind.iter().zip(&bytes).map(bound).collect();
        let (mut lines, mut state) = (Vec::new(), None);
        loop {
            let mut request = Request::new(Values(&values), self.ids.now_micros());
            request.timestamp = options.timestamp;
            request.page_size = options.page;
            request.paging_state = state.as_deref();
            request.now_seconds = options.now.unwrap_or(request.now_seconds);
            let answer = wait(self.dialect.execute(&self.session, &prepared, request))?;
            let next = self.told(answer, &mut lines);
            let Some(next) = next else { return Ok(lines) };
            lines.push(compare::NEXT_PAGE.into());
            state = Some(next);
        }
    }

    fn told(&mut self, answer: Answer, lines: &mut Vec<String>) -> Option<Vec<u8>> {
        lines.extend(answer.warnings.iter().map(|warning| one_line(&format!("warning: {warning}"))));
        match answer.response {
            Response::Void => lines.push("void".into()),
            Response::SetKeyspace(name) => {
                lines.push(format!("keyspace {name}"));
                self.session.keyspace = Some(name);
            }
            Response::SchemaChange(change) => {
                let kind = match change.kind {
                    ChangeKind::Created => "Created",
                    ChangeKind::Updated => "Updated",
                    ChangeKind::Dropped => "Dropped",
                };
                let target = match &change.target {
                    ChangeTarget::Keyspace => "KEYSPACE".to_string(),
                    ChangeTarget::Table(name) => format!("TABLE {name}"),
                    ChangeTarget::Type(name) => format!("TYPE {name}"),
                    ChangeTarget::Function(name, types) => format!("FUNCTION {name} {types:?}"),
                    ChangeTarget::Aggregate(name, types) => format!("AGGREGATE {name} {types:?}"),
                };
                lines.push(format!("schema {kind} {} {target}", change.keyspace));
                // Views are filled in the background.
                let now = self.clock.micros();
                let built =
                    wait(database::builds::resume_builds(&self.dialect.shared, &self.dialect.store, now));
                built.unwrap();
            }
            Response::Rows(rows) => {
                put_rows(&rows, lines);
                return rows.paging_state;
            }
        }
        None
    }
}

fn bound<'v>((text, bytes): (&'v String, &'v Vec<u8>)) -> Bound<'v> {
    match &**text {
        "unset" => Bound::Unset,
        "null" => Bound::Null,
        _ => Bound::Value(bytes),
    }
}

fn put_rows(rows: &Rows, lines: &mut Vec<String>) {
    let columns: Vec<String> =
        rows.columns.iter().map(|c| format!("{} {}", c.name, type_text(&c.data_type))).collect();
    lines.push(one_line(&format!("columns: {}", columns.join(", "))));
    for row in rows.values() {
        let value = |(spec, cell): (&query::ColumnSpec, Option<&[u8]>)| {
            let text = format_literal(&spec.data_type, cell);
            if cell.is_some_and(<[u8]>::is_empty) && text == "null" { "empty".into() } else { text }
        };
        let values: Vec<String> = rows.columns.iter().zip(row).map(value).collect();
        lines.push(one_line(&values.join(" | ")));
    }
}

/// As `client::column_type::type_text` has it: what a driver is told, which does not say what is frozen.
fn type_text(data_type: &DataType) -> String {
    match data_type {
        DataType::List { element, .. } => format!("list<{}>", type_text(element)),
        DataType::Set { element, .. } => format!("set<{}>", type_text(element)),
        DataType::Map { key, value, .. } => format!("map<{}, {}>", type_text(key), type_text(value)),
        DataType::Tuple(parts) => {
            format!("tuple<{}>", parts.iter().map(type_text).collect::<Vec<_>>().join(", "))
        }
        DataType::Udt(udt) => {
            let fields: Vec<_> =
                udt.fields.iter().map(|f| format!("{} {}", f.name, type_text(&f.data_type))).collect();
            format!("{}({})", udt.name, fields.join(", "))
        }
        other => other.to_string(),
    }
}

fn refusal(error: &CqlError) -> String {
    let class = match error {
        CqlError::Syntax(_) => "Syntax".to_string(),
        CqlError::Invalid(_) => "Invalid".to_string(),
        CqlError::Config(_) => "Config".to_string(),
        CqlError::AlreadyExists { keyspace, table, .. } => format!("AlreadyExists({keyspace}, {table})"),
        CqlError::Unauthorized(_) => "Unauthorized".to_string(),
        CqlError::Protocol(_) => "Protocol".to_string(),
        CqlError::FunctionFailure { keyspace, function, .. } => {
            format!("FunctionFailure({keyspace}, {function})")
        }
        CqlError::Overloaded(_) => "Overloaded".to_string(),
        CqlError::Store(_) => "Store".to_string(),
    };
    one_line(&format!("error {class}: {error}"))
}

fn one_line(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").trim_end().to_string()
}

fn needs_messages(step: &Step) -> bool {
    let options = &step.options;
    options.message
        || options.trace
        || options.prepare
        || options.query
        || options.consistency.is_some()
        || options.serial.is_some()
        || options.connection != Default::default()
        || options.bind.iter().any(|text| text.starts_with(':'))
        || step.text().contains("{trace}")
}

#[test]
fn scenarios_come_out_the_same_on_the_remote_store() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let known = known::parse(&std::fs::read_to_string(folder.join("known.txt")).unwrap()).unwrap();
    let mut paths: Vec<_> =
        std::fs::read_dir(folder.join("scenarios")).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    paths.sort();
    let (mut statements, mut cut, mut differences) = (0, 0, Vec::new());
    for (nth, path) in paths.iter().enumerate() {
        let file = File::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut bench = Bench::new(nth as u64);
        let (mut scenario, mut keyspace, mut is_cut) = (String::new(), String::new(), false);
        for item in &file.items {
            match item {
                Item::Note(_) => {}
                Item::Scenario(name) => {
                    scenario.clone_from(name);
                    keyspace = run::keyspace_name(name);
                    is_cut = false;
                    bench.session = Session::default();
                    bench.must(&format!(
                        "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
                    ));
                    bench.must(&format!("USE {keyspace}"));
                }
                Item::Step(step) if is_cut || needs_messages(step) => {
                    is_cut = true;
                    cut += 1;
                }
                Item::Step(step) => {
                    let actual = bench.lines(&step.text().replace("{ks}", &keyspace), &step.options);
                    statements += 1;
                    let is_known =
                        known.iter().any(|e| e.scenario == scenario && e.statement == step.title());
                    if !is_known && !compare::agrees(&step.options, &step.expected, &actual) {
                        differences.push((scenario.clone(), step.title(), step.expected.clone(), actual));
                    }
                }
            }
        }
    }
    for (scenario, statement, expected, actual) in differences.iter().take(40) {
        println!("{scenario}: {statement}\n  cassandra {expected:?}\n  remote    {actual:?}");
    }
    println!("{statements} statements, {cut} behind one that needs messages");
    assert!(differences.is_empty(), "{} of {statements} statements differ", differences.len());
    assert!(statements >= STATEMENTS_MIN, "{statements} statements");
}
