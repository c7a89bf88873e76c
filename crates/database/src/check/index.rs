//! Indexes: every value of the table has its entry. An extra entry is no error, but it costs readers a look;
//! such leftovers are counted, and a repair removes them.

use super::rows;
use super::{Check, Drift, LOOKS_MAX};
use model::deletion::{Deletion, Timestamp};
use model::key::{KIND_ROW, KIND_STATIC, PartitionKey};
use model::row::{RowView, RowWriter};
use query::QueryError;
use store::index::{Candidate, IndexConfig, Place, additions, candidate};
use store::{Commit, Mutation, Store, TableId};

pub(super) async fn run<S: Store>(check: &mut Check<'_, S>) -> Result<(), QueryError> {
    let mut after = None;
    loop {
        let (base, index) = config(check)?;
        let (page, next) =
            rows::page(check.store, base, after, check.job.rows_max(), check.now_seconds).await?;
        for source in sources(&page.rows) {
            check.report.rows += u64::from(source.clustering.is_some());
            for entry in source.entries(&index, base) {
                if live_entry(check, &index, &entry).await?.is_none() {
                    look_for(check, &index, base, source, &entry).await?;
                }
            }
        }
        check.page_done(page.read(), next.as_ref().map(|next| next.key.token().0 / 2 + i64::MIN / 2)).await?;
        if next.is_none() {
            break;
        }
        after = next;
    }
    let mut after = None;
    loop {
        let (base, index) = config(check)?;
        let (page, next) =
            rows::page(check.store, index.table, after, check.job.rows_max(), check.now_seconds).await?;
        for found in sources(&page.rows) {
            let Some(clustering) = found.clustering else { continue };
            check.report.copies += 1;
            let entry = Entry { key: found.key.clone(), clustering: clustering.to_vec() };
            if let Some(place) = candidate(clustering) {
                follow(check, &index, base, place, &entry).await?;
            }
        }
        check
            .page_done(
                (0, page.bytes_read()),
                next.as_ref().map(|next| next.key.token().0 / 2 + i64::MAX / 2),
            )
            .await?;
        if next.is_none() {
            return Ok(());
        }
        after = next;
    }
}

/// A row of the table, or of the index, as it was read; the static row has no clustering.
#[derive(Clone, Copy)]
struct Source<'p> {
    key: &'p PartitionKey,
    clustering: Option<&'p [u8]>,
    payload: &'p [u8],
}

impl Source<'_> {
    /// The entries that the row makes.
    fn made(&self, index: &IndexConfig, base: TableId) -> Vec<Mutation> {
        let Some(row) = RowView::from_payload(self.payload) else { return Vec::new() };
        additions(std::slice::from_ref(index), &mutation(base, self.key, self.clustering, row))
    }

    fn entries(&self, index: &IndexConfig, base: TableId) -> Vec<Entry> {
        let mut found = Vec::new();
        for mutation in self.made(index, base) {
            for entry in mutation.entries() {
                if let Some((&KIND_ROW, clustering)) = entry.position.split_first() {
                    found.push(Entry { key: mutation.key.clone(), clustering: clustering.to_vec() });
                }
            }
        }
        found
    }

    /// Whether a reader should find this entry of the row: it makes it, and what it is made of has not expired.
    fn makes(&self, index: &IndexConfig, base: TableId, entry: &Entry, now_seconds: u32) -> bool {
        let same = self.made(index, base).into_iter().filter(|mutation| mutation.key == entry.key);
        same.into_iter().any(|mutation| {
            let mut here = mutation.entries().filter(|e| e.position.get(1..) == Some(&entry.clustering[..]));
            here.any(|e| RowView::from_payload(e.payload).is_some_and(|row| row.is_live(now_seconds)))
        })
    }
}

/// Where an entry is in the index.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    key: PartitionKey,
    clustering: Vec<u8>,
}

fn config<S: Store>(check: &Check<'_, S>) -> Result<(TableId, IndexConfig), QueryError> {
    let base = check.base(&check.shared.load().1)?;
    let index = base.indexes.iter().find(|index| index.id == check.id);
    let config = index.and_then(|index| query::index::config(&base, index)).ok_or_else(|| check.gone())?;
    Ok((TableId(base.id), config))
}

/// Every row of a page.
fn sources(page: &[Mutation]) -> Vec<Source<'_>> {
    let mut found = Vec::new();
    for partition in page {
        for entry in partition.entries() {
            let clustering = match entry.position.split_first() {
                Some((&KIND_ROW, clustering)) => Some(clustering),
                Some((&KIND_STATIC, _)) => None,
                _ => continue,
            };
            found.push(Source { key: &partition.key, clustering, payload: entry.payload });
        }
    }
    found
}

fn mutation(table: TableId, key: &PartitionKey, clustering: Option<&[u8]>, row: RowView<'_>) -> Mutation {
    let mut mutation = Mutation::new(table, key.clone());
    match clustering {
        Some(clustering) => mutation.row(clustering, row),
        None => mutation.static_row(row),
    }
    mutation
}

/// The timestamp of an entry, if readers find it.
async fn live_entry<S: Store>(
    check: &Check<'_, S>,
    index: &IndexConfig,
    entry: &Entry,
) -> Result<Option<Timestamp>, QueryError> {
    let row =
        rows::row(check.store, index.table, &entry.key, Some(&entry.clustering), check.now_seconds).await?;
    let row = row.as_deref().and_then(RowView::from_payload);
    Ok(row.map(|row| row.marker().map_or(row.base(), |marker| marker.timestamp)))
}

/// A value seemed to have no entry: it has none if its row is the same before and after the look at the entry.
async fn look_for<S: Store>(
    check: &mut Check<'_, S>,
    index: &IndexConfig,
    base: TableId,
    seen: Source<'_>,
    entry: &Entry,
) -> Result<(), QueryError> {
    for _ in 0..LOOKS_MAX {
        let before = rows::row(check.store, base, seen.key, seen.clustering, check.now_seconds).await?;
        let Some(payload) = &before else { return Ok(()) };
        let source = Source { payload, ..seen };
        if !source.makes(index, base, entry, check.now_seconds)
            || live_entry(check, index, entry).await?.is_some()
        {
            return Ok(());
        }
        if rows::row(check.store, base, seen.key, seen.clustering, check.now_seconds).await? != before {
            continue;
        }
        let is_mended = check.repair && restore(check, index, base, source, entry).await?;
        check.report.note(Drift::Missing, seen.key, is_mended);
        return Ok(());
    }
    Ok(())
}

/// Writes the entries of a row again: as old as their cells, and if something younger hides them, as young as this moment. Then they may
/// outlive their cells, which costs a reader a look and no more.
async fn restore<S: Store>(
    check: &Check<'_, S>,
    index: &IndexConfig,
    base: TableId,
    source: Source<'_>,
    entry: &Entry,
) -> Result<bool, QueryError> {
    for later in [false, true] {
        let mut mutations = source.made(index, base);
        if later {
            let now = check.job.next_stamp();
            for mutation in &mut mutations {
                let delta = mutation.max_timestamp().map_or(0, |newest| now.saturating_sub(newest));
                mutation.shift_timestamps(delta);
            }
        }
        check.store.commit(Commit { mutations, now_seconds: check.now_seconds }).await?;
        if live_entry(check, index, entry).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An entry must come from the place that it leads to.
async fn follow<S: Store>(
    check: &mut Check<'_, S>,
    index: &IndexConfig,
    base: TableId,
    place: Candidate,
    entry: &Entry,
) -> Result<(), QueryError> {
    for _ in 0..LOOKS_MAX {
        let Some(stamp) = live_entry(check, index, entry).await? else { return Ok(()) };
        if leads_somewhere(check, index, base, &place, entry).await? {
            return Ok(());
        }
        if live_entry(check, index, entry).await? != Some(stamp) {
            continue;
        }
        if check.repair {
            // The entry's own timestamp: a newer entry for the same place stays.
            let mut row = RowWriter::new();
            row.begin(stamp, None, Deletion { timestamp: stamp, local_seconds: check.now_seconds });
            let removal = mutation(index.table, &entry.key, Some(&entry.clustering), row.view());
            let commit = Commit { mutations: vec![removal], now_seconds: check.now_seconds };
            check.store.commit(commit).await?;
        }
        check.report.note(Drift::Extra, &place.key, check.repair);
        return Ok(());
    }
    Ok(())
}

async fn leads_somewhere<S: Store>(
    check: &Check<'_, S>,
    index: &IndexConfig,
    base: TableId,
    place: &Candidate,
    entry: &Entry,
) -> Result<bool, QueryError> {
    let clustering = match &place.place {
        Place::Row(clustering) => Some(clustering.as_slice()),
        Place::Partition => None,
    };
    // An entry for a whole partition comes from any of its rows: leave it while one lives.
    if clustering.is_none() && matches!(index.source, store::index::Source::Partition { .. }) {
        return rows::any(check.store, base, &place.key, check.now_seconds).await;
    }
    let row = rows::row(check.store, base, &place.key, clustering, check.now_seconds).await?;
    let Some(payload) = row else { return Ok(false) };
    let source = Source { key: &place.key, clustering, payload: &payload };
    Ok(source.makes(index, base, entry, check.now_seconds))
}
