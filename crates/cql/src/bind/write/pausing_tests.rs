//! What a refused condition shows when the store gives a few rows at a time.

use crate::ddl::tests::block_on;
use crate::roles::NoPasswords;
use crate::session::{Dialect, Response, Session};
use crate::system::{NodeInfo, SystemTables};
use query::context::Limits;
use query::{Ids, Request, Rows, Values};
use std::sync::Arc;
use store::remote::{Faults, RemoteStore};

struct NoIds;

impl Ids for NoIds {
    fn timeuuid(&self) -> [u8; 16] {
        [0; 16]
    }

    fn uuid(&self) -> [u8; 16] {
        [0; 16]
    }
}

fn run(dialect: &Dialect<RemoteStore>, at: i64, text: &str) -> Response {
    let session = Session::default();
    let prepared = dialect.prepare(&session, None, text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let request = Request::new(Values::NONE, 1_700_000_000_000_000 + at);
    let answer = block_on(dialect.execute(&session, &prepared, request));
    answer.unwrap_or_else(|e| panic!("{text}: {e}")).response
}

fn shown(dialect: &Dialect<RemoteStore>, text: &str) -> Rows {
    match run(dialect, 100, text) {
        Response::Rows(rows) => rows,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_refused_condition_shows_a_row_that_stands_behind_many_others() {
    let shared = Arc::new(crate::open_catalogue(None, 1).unwrap());
    let system = Arc::new(SystemTables::new(NodeInfo::default(), shared.clone()));
    let store = RemoteStore::new(Faults { seed: 11, ..Faults::default() });
    block_on(shared.bootstrap(&store)).unwrap();
    let dialect =
        Dialect::new(store, shared, system, Box::new(NoIds), Limits::default(), Box::new(NoPasswords));
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.u (p int, c int, s int static, v int, PRIMARY KEY (p, c))",
        "INSERT INTO k.u (p, c) VALUES (1, 99)",
    ] {
        run(&dialect, 1, text);
    }
    // Rows that UPDATE made have no markers: a condition on a static column alone does not show them.
    for c in 0..40 {
        run(&dialect, 2, &format!("UPDATE k.u SET v = 1 WHERE p = 0 AND c = {c}"));
    }
    run(&dialect, 3, "INSERT INTO k.u (p, c) VALUES (0, 99)");
    let near = shown(&dialect, "UPDATE k.u SET s = 5 WHERE p = 1 IF s = 1");
    let far = shown(&dialect, "UPDATE k.u SET s = 5 WHERE p = 0 IF s = 1");
    let names = |rows: &Rows| rows.columns.iter().map(|column| column.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&near), ["[applied]", "s"], "the row is shown, with what the condition reads of it");
    assert_eq!(names(&far), names(&near));
    assert_eq!(far.body, near.body);
}
