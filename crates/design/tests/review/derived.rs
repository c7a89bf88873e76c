//! Derived schemas: keys, buckets and reasons as the seeds argue, and the output passes review.

use design::derive::{InputError, Problem, derive, print};
use design::{Target, review};

const TASKS: &str = r#"
keyspace = "cases"

[[entity]]
name = "task"
key = ["task_id"]
source_of_truth = "the task event stream"
repair = "projection rebuild and checksum"
[entity.fields]
tenant_id = "uuid"
task_id = "uuid"
case_id = "uuid"
assignee_id = "uuid"
status = "text"
due_at = "timestamp"
title = "text"

[[entity]]
name = "case_event"
key = ["event_id"]
[entity.fields]
tenant_id = "uuid"
case_id = "uuid"
event_id = "uuid"
event_time = "timestamp"
payload = "text"

[[pattern]]
operation = "get_task"
entity = "task"
inputs = ["tenant_id", "task_id"]
frequency = 500

[[pattern]]
operation = "list_open_tasks_for_assignee"
entity = "task"
inputs = ["tenant_id", "assignee_id"]
filter = "status = 'OPEN'"
order = "due_at ASC"
limit = 100
frequency = 2000
growth = 2000000
freshness = "read-after-write"

[[pattern]]
operation = "case_timeline"
entity = "case_event"
inputs = ["tenant_id", "case_id"]
order = "event_time DESC"
limit = 100
rows_per_day = 3000
row_bytes = 1200
retention = "7 years"
"#;

#[test]
fn tables_are_derived_and_pass_their_own_review() {
    let plan = derive(TASKS, Target::Cassandra).expect("a catalogue");
    let cql = print(&plan);
    for expected in [
        "PRIMARY KEY ((tenant_id, task_id))",
        "CREATE TABLE open_tasks_by_assignee_bucket",
        "PRIMARY KEY ((tenant_id, assignee_id, bucket), due_at, task_id)",
        "PRIMARY KEY ((tenant_id, case_id, week), event_time, event_id)",
        "CLUSTERING ORDER BY (event_time DESC, event_id ASC)",
        "one task is 2 writes",
    ] {
        assert!(cql.contains(expected), "{expected} is missing in\n{cql}");
    }
    let review = review([("derived.cql", cql.as_str())]);
    assert!(review.errors().is_empty(), "{:?}\n{cql}", review.errors());
    let loud: Vec<_> = review.findings.iter().filter(|f| f.severity >= design::Severity::Warning).collect();
    assert!(loud.is_empty(), "{loud:?}\n{cql}");
}

fn problems(text: &str) -> Vec<InputError> {
    derive(text, Target::Partita).err().unwrap_or_default()
}

#[test]
fn mistakes_in_the_catalogue_are_named_with_their_line_and_what_to_do() {
    let line_of = |text: &str, word: &str| text.lines().position(|l| l.contains(word)).map(|at| at + 1);
    for (from, to, line, says) in [
        (
            "inputs = [\"tenant_id\", \"case_id\"]",
            "inputs = [\"tenant_id\", \"cas_id\"]",
            "cas_id",
            "did you mean case_id?",
        ),
        (
            "inputs = [\"tenant_id\", \"case_id\"]",
            "inputs = [\"tenant_id\", \"file\"]",
            "\"file\"",
            "there are case_id, event_id",
        ),
        (
            "entity = \"case_event\"",
            "entity = \"case_events\"",
            "entity = \"case_events\"",
            "did you mean case_event?",
        ),
        ("due_at = \"timestamp\"", "due_at = \"instant of time\"", "instant of time", "not a CQL type"),
        ("due_at = \"timestamp\"", "due_at = \"text, extra int\"", "extra int", "not a CQL type"),
        ("due_at = \"timestamp\"", "due_at = \"text) WITH comment = ('x'\"", "comment", "not a CQL type"),
        ("due_at = \"timestamp\"", "due_at = \"timestamp\"\nday = \"date\"", "day = ", "such as due_day"),
        ("operation = \"get_task\"", "operation = \"getTask\"", "getTask", "small letters"),
        ("operation = \"get_task\"", "operation = \"case_timeline\"", "row_bytes = 1200", "declared twice"),
        ("retention = \"7 years\"", "retention = \"long\"", "\"long\"", "'7 years' or 'forever'"),
        ("growth = 2000000", "growth = -1", "growth = -1", "not negative"),
        ("key = [\"event_id\"]", "key = []", "key = []", "identify one case_event"),
        ("limit = 100\nfrequency", "limits = 100\nfrequency", "limits", "unknown field `limits`"),
        ("growth = 2000000", "growth = \"many\"", "many", "expected f64"),
    ] {
        let text = TASKS.replacen(from, to, 1);
        assert_ne!(text, TASKS, "{from}");
        let errors = problems(&text);
        let error = errors.first().unwrap_or_else(|| panic!("{to} must be refused"));
        assert!(error.to_string().contains(says), "{to}: {error}");
        // A name that is there twice is reported at its second place.
        if !says.contains("twice") {
            assert_eq!(error.line, line_of(&text, line), "{to}: {error}");
        }
    }
    assert_eq!(problems("").first().map(|e| e.problem.clone()), Some(Problem::NoPattern));
    assert!(matches!(problems("nonsense").first().map(|e| &e.problem), Some(Problem::Malformed(_))));
    let many = TASKS.replace("case_id\"", "cas_id\"").replace("\"7 years\"", "\"long\"");
    assert_eq!(problems(&many).len(), 2, "all problems are reported: {:?}", problems(&many));
}

pub const EXAMPLES: [(&str, &str); 6] = [
    ("chat", include_str!("../../../../docs/examples/chat.toml")),
    ("sensors", include_str!("../../../../docs/examples/sensors.toml")),
    ("orders", include_str!("../../../../docs/examples/orders.toml")),
    ("tracing", include_str!("../../../../docs/examples/tracing.toml")),
    ("leaderboard", include_str!("../../../../docs/examples/leaderboard.toml")),
    ("audit", include_str!("../../../../docs/examples/audit.toml")),
];

#[test]
fn every_example_derives_a_schema_that_passes_review_and_can_be_simulated() {
    let mut wrong = String::new();
    let targets = [Target::Cassandra, Target::Partita];
    for ((name, text), target) in EXAMPLES.iter().flat_map(|example| targets.map(|target| (*example, target)))
    {
        let plan = derive(text, target).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let cql = print(&plan);
        let review = review([(name, cql.as_str())]);
        assert!(review.errors().is_empty(), "{name}: {:?}\n{cql}", review.errors());
        for finding in review.findings.iter().filter(|f| f.severity >= design::Severity::Warning) {
            wrong.push_str(&format!(
                "{name}: {} {} {:?}: {}\n",
                finding.severity, finding.rule, finding.table, finding.message
            ));
        }
        assert!(!cql.contains("ALLOW FILTERING"));
        for pattern in &plan.request.patterns {
            assert!(
                cql.contains(&format!("CREATE ACCESS PATTERN {} AS", pattern.operation)),
                "{name}: {}",
                pattern.operation
            );
        }
        let settings = design::simulate::Settings { scales: vec![1.0, 10.0], ..Default::default() };
        let simulation = design::simulate::simulate(&review, &settings, &mut |_| {}).expect("a simulation");
        assert_eq!(simulation.tables.len(), plan.tables.len());
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_examples_get_the_keys_their_patterns_ask_for() {
    for (name, expected) in [
        ("chat", "PRIMARY KEY ((workspace_id, channel_id, month), sent_at, message_id)"),
        ("chat", "ORDER BY sent_at ASC LIMIT 200"),
        ("chat", "also serves messages_between"),
        ("sensors", "PRIMARY KEY ((sensor_id, week), measured_at)"),
        ("orders", "PRIMARY KEY ((tenant_id, bucket), placed_at, order_id)"),
        ("orders", "copy of orders_by_id (source of truth)"),
        ("orders", "a change of customer_id, placed_at, status moves rows"),
        ("tracing", "PRIMARY KEY ((trace_id), span_id)"),
        ("tracing", "default_time_to_live = 604800"),
        ("leaderboard", "PRIMARY KEY ((season_id, bucket), points, player_id)"),
        ("leaderboard", "PRIMARY KEY ((bucket), set_at, record_id)"),
        ("audit", "PRIMARY KEY ((tenant_id, case_id, week), happened_at, event_id)"),
        ("audit", "one audit_event is 3 writes"),
    ] {
        let text = EXAMPLES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).expect("an example");
        let cql = print(&derive(text, Target::Cassandra).expect("a plan"));
        assert!(cql.contains(expected), "{name}: {expected} is missing in\n{cql}");
    }
}

#[test]
fn an_entity_of_filtered_tables_only_gets_a_table_of_its_own() {
    let text = TASKS.replace("source_of_truth = \"the task event stream\"\n", "");
    let only_open =
        text.replace("filter = ", "limit = 5\nfilter = ").replace("limit = 100\nfrequency", "frequency");
    let start = only_open.find("[[pattern]]").expect("a pattern");
    let rest = only_open.get(start + 11..).and_then(|t| t.find("[[pattern]]")).expect("another one");
    let without_get = format!("{}{}", &only_open[..start], &only_open[start + 11 + rest..]);
    let cql = print(&derive(&without_get, Target::Cassandra).expect("a plan"));
    assert!(
        cql.contains("CREATE TABLE tasks_by_id") && cql.contains("CREATE ACCESS PATTERN get_task"),
        "{cql}"
    );
    assert!(cql.contains("copy of tasks_by_id (source of truth)"), "{cql}");
}

#[test]
fn for_partita_buckets_are_a_clause_and_no_statement_names_them() {
    let cql = print(&derive(TASKS, Target::Partita).expect("a catalogue"));
    for expected in [
        "CREATE TABLE open_tasks_by_assignee (",
        "bucketing = {'by': 'task_id', 'into': 16}",
        "PRIMARY KEY ((tenant_id, case_id), event_time, event_id)",
        "bucketing = {'by': 'event_time', 'every': '1w'}",
        "retention = '2555d'",
        "the server walks its buckets until there are 100 rows",
    ] {
        assert!(cql.contains(expected), "{expected} is missing in\n{cql}");
    }
    assert!(
        !cql.contains("bucket int") && !cql.contains("week text") && !cql.contains("bucket = ?"),
        "{cql}"
    );
    let review = review([("derived.cql", cql.as_str())]);
    let loud: Vec<_> = review.findings.iter().filter(|f| f.severity >= design::Severity::Warning).collect();
    assert!(review.errors().is_empty() && loud.is_empty(), "{loud:?}\n{cql}");
}
