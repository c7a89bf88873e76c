//! Many requests in flight, and paging over 10,000 rows.

use std::collections::HashSet;
use std::sync::Arc;

use cdrs_tokio::cluster::PagerState;
use cdrs_tokio::query_values;
use cdrs_tokio::types::ByName;
use cdrs_tokio::types::rows::Row;
use tokio::task::JoinSet;

use crate::world::{Outcome, Problem, World, connect, equal};

const ROWS: i32 = 10_000;
const WORKERS: i32 = 50;

pub async fn fill(w: &World) -> Outcome {
    w.run(&["CREATE TABLE paged (p int, c int, PRIMARY KEY (p, c))"]).await?;
    let session = Arc::new(connect(w.version, Some(&w.keyspace)).await?);
    let insert = Arc::new(session.prepare("INSERT INTO paged (p, c) VALUES (?, ?)").await?);
    let mut tasks = JoinSet::new();
    for worker in 0..WORKERS {
        let (session, insert) = (session.clone(), insert.clone());
        tasks.spawn(async move {
            for i in (worker..ROWS).step_by(WORKERS as usize) {
                session.exec_with_values(&insert, query_values!(i % 10, i / 10)).await.map_err(|e| e.to_string())?;
            }
            Ok::<(), String>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

fn note(seen: &mut HashSet<(i32, i32)>, rows: Vec<Row>) -> Result<(), Problem> {
    for row in rows {
        seen.insert((row.r_by_name("p")?, row.r_by_name("c")?));
    }
    Ok(())
}

pub async fn pages(w: &World) -> Outcome {
    let mut seen = HashSet::new();
    let mut pager = w.session.paged(100);
    let mut query = pager.query("SELECT p, c FROM paged");
    loop {
        note(&mut seen, query.next().await?)?;
        if !query.has_more() {
            break;
        }
    }
    equal("rows", seen.len(), ROWS as usize)
}

pub async fn handed_over(w: &World) -> Outcome {
    let other = connect(w.version, Some(&w.keyspace)).await?;
    let mut seen = HashSet::new();
    let mut state = PagerState::new();
    for page in 0.. {
        let session = if page % 2 == 0 { &w.session } else { &other };
        let mut pager = session.paged(777);
        let mut query = pager.query_with_pager_state("SELECT p, c FROM paged", state);
        note(&mut seen, query.next().await?)?;
        if !query.has_more() {
            break;
        }
        state = query.pager_state();
    }
    equal("rows", seen.len(), ROWS as usize)
}
