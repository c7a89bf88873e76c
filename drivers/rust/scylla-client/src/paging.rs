//! Many requests in flight, and paging over 10,000 rows.

use std::collections::HashSet;
use std::ops::ControlFlow;

use futures::{StreamExt, TryStreamExt, stream};
use scylla::response::PagingState;
use scylla::statement::Statement;

use crate::world::{Outcome, World, equal};

const ROWS: i32 = 10_000;

pub async fn fill(w: &World) -> Outcome {
    w.run(&["CREATE TABLE paged (p int, c int, v text, PRIMARY KEY (p, c))"]).await?;
    let insert = w.session().prepare("INSERT INTO paged (p, c, v) VALUES (?, ?, ?)").await?;
    stream::iter(0..ROWS)
        .map(|i| w.session().execute_unpaged(&insert, (i % 10, i / 10, format!("value {i}"))))
        .buffer_unordered(200)
        .try_for_each(|_| async { Ok(()) })
        .await?;
    let select = w.session().prepare("SELECT v FROM paged WHERE p = ? AND c = ?").await?;
    for i in 0..500 {
        let found = w.session().execute_unpaged(&select, (i % 10, i / 10)).await?.into_rows_result()?;
        equal("answer", found.single_row::<(String,)>()?.0, format!("value {i}"))?;
    }
    Ok(())
}

pub async fn stream(w: &World) -> Outcome {
    let mut all = w.session().prepare("SELECT p, c FROM paged").await?;
    all.set_page_size(100);
    let seen: HashSet<(i32, i32)> = w.session().execute_iter(all, ()).await?.rows_stream::<(i32, i32)>()?.try_collect().await?;
    equal("rows", seen.len(), ROWS as usize)?;
    let one = Statement::new("SELECT c FROM paged WHERE p = ?").with_page_size(90);
    let found: Vec<(i32,)> = w.session().query_iter(one, (3,)).await?.rows_stream::<(i32,)>()?.try_collect().await?;
    equal("order", found, (0..1000).map(|c| (c,)).collect())
}

/// Every page is asked for by another session, and the state travels as plain bytes.
pub async fn handed_over(w: &World) -> Outcome {
    let other = w.connect().await?;
    let statement = Statement::new("SELECT p, c FROM paged").with_page_size(777);
    let mut seen = HashSet::new();
    let mut state = PagingState::start();
    for page in 0.. {
        let session = if page % 2 == 0 { w.session() } else { &other };
        let (result, next) = session.query_single_page(statement.clone(), (), state).await?;
        for row in result.into_rows_result()?.rows::<(i32, i32)>()? {
            seen.insert(row?);
        }
        match next.into_paging_control_flow() {
            ControlFlow::Break(()) => break,
            ControlFlow::Continue(next) => {
                let bytes = next.as_bytes_slice().ok_or("an empty paging state")?.to_vec();
                state = PagingState::new_from_raw_bytes(bytes);
            }
        }
    }
    equal("rows", seen.len(), ROWS as usize)
}
