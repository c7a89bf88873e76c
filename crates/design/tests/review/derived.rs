//! Derived schemas: keys, buckets and reasons as the seeds argue, and the output passes review.

use design::derive::{InputError, derive, print};
use design::review;

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
    let plan = derive(TASKS).expect("a catalogue");
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

#[test]
fn mistakes_in_the_catalogue_are_named() {
    assert!(matches!(derive("nonsense"), Err(InputError::Malformed(_))));
    assert_eq!(derive("").err(), Some(InputError::NoPattern));
    let unknown =
        TASKS.replace("inputs = [\"tenant_id\", \"case_id\"]", "inputs = [\"tenant_id\", \"file_id\"]");
    let expected = InputError::UnknownField { of: "pattern case_timeline".into(), field: "file_id".into() };
    assert_eq!(derive(&unknown).err(), Some(expected));
    for bad in ["instant of time", "text, extra int", "text) WITH comment = ('x'"] {
        let text = TASKS.replace("due_at = \"timestamp\"", &format!("due_at = \"{bad}\""));
        assert!(matches!(derive(&text), Err(InputError::BadType { .. })), "{bad}");
    }
}
