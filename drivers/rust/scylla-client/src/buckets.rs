//! A bucketed table: statements without buckets, pages over many of them, and a paging state handed to another process.

use std::ops::ControlFlow;

use futures::TryStreamExt;
use scylla::client::session::Session;
use scylla::response::PagingState;
use scylla::statement::Statement;
use scylla::value::CqlTimestamp;

use crate::world::{Outcome, Problem, World, equal};

const DAYS: i32 = 30;
const PER_DAY: i32 = 20;
/// 2026-01-01 UTC.
const START: i64 = 1_767_225_600_000;
const SELECT: &str = "SELECT n FROM bucketed WHERE tenant = 'acme' AND case_id = 7";
/// Holds the paging state that a child process goes on from.
pub const STATE: &str = "BUCKETS_STATE";

fn all() -> Vec<i32> {
    (0..DAYS * PER_DAY).rev().collect()
}

async fn numbers(session: &Session, text: &str, page: i32) -> Result<Vec<i32>, Problem> {
    let statement = Statement::new(text).with_page_size(page);
    let rows: Vec<(i32,)> = session.query_iter(statement, ()).await?.rows_stream::<(i32,)>()?.try_collect().await?;
    Ok(rows.into_iter().map(|(n,)| n).collect())
}

pub async fn fill(w: &World) -> Outcome {
    w.run(&["CREATE TABLE bucketed (tenant text, case_id int, at timestamp, n int, PRIMARY KEY ((tenant, case_id), at, n)) \
             WITH CLUSTERING ORDER BY (at DESC, n DESC) AND bucketing = {'by': 'at', 'every': '1d', 'hash': 'n', 'into': 4}"])
        .await?;
    let insert = w.session().prepare("INSERT INTO bucketed (tenant, case_id, at, n) VALUES ('acme', 7, ?, ?)").await?;
    for n in 0..DAYS * PER_DAY {
        let at = START + i64::from(n / PER_DAY) * 86_400_000 + i64::from(n % PER_DAY) * 60_000;
        w.session().execute_unpaged(&insert, (CqlTimestamp(at), n)).await?;
    }
    Ok(())
}

pub async fn pages(w: &World) -> Outcome {
    for size in [7, 100, 5000] {
        equal("rows", numbers(w.session(), SELECT, size).await?, all())?;
    }
    let up = format!("{SELECT} AND at >= {} ORDER BY at ASC LIMIT 50", START + 10 * 86_400_000);
    equal("upwards", numbers(w.session(), &up, 11).await?, (200..250).collect())
}

/// The first page here, the others in a child of this program.
pub async fn another_process(w: &World) -> Outcome {
    let statement = Statement::new(SELECT).with_page_size(123);
    let (result, next) = w.session().query_single_page(statement, (), PagingState::start()).await?;
    let mut found: Vec<i32> = Vec::new();
    for row in result.into_rows_result()?.rows::<(i32,)>()? {
        found.push(row?.0);
    }
    let ControlFlow::Continue(next) = next.into_paging_control_flow() else { return Err("no second page".into()) };
    let state = next.as_bytes_slice().ok_or("an empty paging state")?;
    let hex: String = state.iter().map(|byte| format!("{byte:02x}")).collect();
    let child = std::process::Command::new(std::env::current_exe()?).env(STATE, hex).output()?;
    equal("exit code", child.status.code(), Some(0))?;
    for number in String::from_utf8_lossy(&child.stdout).split_whitespace() {
        found.push(number.parse()?);
    }
    equal("rows of both processes", found, all())
}

/// Prints the rows behind a paging state of another process.
pub async fn go_on(w: &World, hex: &str) -> Outcome {
    let session = w.connect().await?;
    let bytes: Result<Vec<u8>, _> = (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16)).collect();
    let mut state = PagingState::new_from_raw_bytes(bytes?);
    loop {
        let statement = Statement::new(SELECT).with_page_size(50);
        let (result, next) = session.query_single_page(statement, (), state).await?;
        for row in result.into_rows_result()?.rows::<(i32,)>()? {
            println!("{}", row?.0);
        }
        match next.into_paging_control_flow() {
            ControlFlow::Break(()) => return Ok(()),
            ControlFlow::Continue(next) => {
                let bytes = next.as_bytes_slice().ok_or("an empty paging state")?.to_vec();
                state = PagingState::new_from_raw_bytes(bytes);
            }
        }
    }
}
