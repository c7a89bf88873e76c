//! Counts what copies cost and who reads them, and stores it every few minutes.

use crate::shard::Shard;
use query::QueryError;
use std::rc::Rc;
use std::time::Duration;
use store::StoreError;

const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Looks between two times that it is stored: a crash forgets so much.
const LOOKS_PER_SAVE: u32 = 30;

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
