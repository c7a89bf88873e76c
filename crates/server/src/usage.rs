//! Counts what copies cost and who reads them, and stores it every few minutes; looks whether indexes on vectors have outgrown their lists.

use crate::shard::Shard;
use database::builds::Renewal;
use query::QueryError;
use std::rc::Rc;
use std::time::Duration;
use store::StoreError;

const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Looks between two times that it is stored: a crash forgets so much.
const LOOKS_PER_SAVE: u32 = 30;

/// How often somebody looks whether an index on vectors has outgrown its lists.
const LISTS_EVERY: Duration = Duration::from_secs(60);

/// Until the store closes; for one task of the server.
pub async fn keep_counted(shard: Rc<Shard>) {
    let shared = shard.shared.clone();
    let (usages, store) = (&shared.catalogue.usages, &shard.dialect.store);
    let mut looks = 0_u32;
    loop {
        let (_, catalogue) = shard.dialect.catalogue();
        let has_copies = catalogue.tables().any(|table| table.view.is_some() || !table.indexes.is_empty());
        let outcome = match has_copies {
            false => Ok(()),
            true => {
                let loaded = usages.load(&shared.catalogue, store).await;
                let now_micros = shard.ids.now_micros();
                usages.note(&catalogue, &shared.traffic.all(), &shared.engine.table_loads(), now_micros);
                looks += 1;
                match loaded {
                    Ok(()) if looks.is_multiple_of(LOOKS_PER_SAVE) => {
                        usages.save(&shared.catalogue, store, now_micros).await
                    }
                    outcome => outcome,
                }
            }
        };
        match outcome {
            Ok(()) => {}
            Err(QueryError::Store(StoreError::Closed)) => return,
            Err(error) => tracing::debug!(%error, "what copies cost was not stored; trying again later"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Gives indexes on vectors lists once their tables are large enough, and others when they have grown. Until the store closes.
pub async fn keep_listed(shard: Rc<Shard>) {
    let mut renewal = Renewal::default();
    loop {
        tokio::time::sleep(LISTS_EVERY).await;
        let (_, catalogue) = shard.dialect.catalogue();
        let has_any = |table: &schema::Table| {
            let compares = |index: &schema::Index| {
                table.column(&index.column).is_some_and(|column| index.compares(&column.data_type).is_some())
            };
            table.indexes.iter().any(compares)
        };
        if !catalogue.tables().any(|table| has_any(table)) {
            continue;
        }
        let sizes = shard.shared.engine.table_sizes();
        let rows = |id: u32| sizes.get(&id).map_or(0, |size| size.rows);
        let (shared, store) = (&shard.shared.catalogue, &shard.dialect.store);
        match renewal.look(shared, store, shard.ids.now_micros(), rows).await {
            Ok(_) => {}
            Err(QueryError::Store(StoreError::Closed)) => return,
            Err(error) => {
                tracing::warn!(%error, "an index on vectors was not begun anew; trying again later")
            }
        }
    }
}
