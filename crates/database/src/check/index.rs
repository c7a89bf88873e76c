//! Indexes: every value of the table has its entry. An extra entry is no error, but it costs readers a look;
//! such leftovers are counted, and a repair removes them.

use super::rows;
use super::sums::{Side, Sums};
use super::{Check, Drift, LOOKS_MAX, stage_of};
use model::deletion::{Deletion, Timestamp};
use model::key::{KIND_ROW, KIND_STATIC, PartitionKey};
use model::row::{RowView, RowWriter};
use query::QueryError;
use std::collections::BTreeSet;
use store::index::{Candidate, IndexConfig, Place, additions, candidate};
use store::{Commit, Mutation, Store, TableId};

pub(super) async fn run<S: Store>(check: &mut Check<'_, S>) -> Result<(), QueryError> {
    let mut sums = Sums::new();
    add_up_table(check, &mut sums).await?;
    add_up_entries(check, &mut sums).await?;
    if sums.any_differs() {
        follow_table(check, &mut sums).await?;
        follow_entries(check, &mut sums).await?;
    }
    Ok(())
}

/// Counts the entries that the rows of the table make.
async fn add_up_table<S: Store>(check: &mut Check<'_, S>, sums: &mut Sums) -> Result<(), QueryError> {
    // Rows of one partition may share an entry: it counts once.
    let mut of_partition: (Option<PartitionKey>, BTreeSet<Entry>) = Default::default();
    let mut after = None;
    loop {
        // An index on few vectors has no entries, and nothing can be wrong with it.
        let Some((base, index)) = config(check)? else { return Ok(()) };
        let shares = matches!(index.source, store::index::Source::Partition { .. });
        let (page, next) =
            rows::page(check.store, base, after, check.job.rows_max(), check.now_seconds).await?;
        for source in sources(&page.rows) {
            check.report.rows += u64::from(source.clustering.is_some());
            if of_partition.0.as_ref() != Some(source.key) {
                of_partition = (Some(source.key.clone()), BTreeSet::new());
            }
            for entry in source.entries(&index, base, Some(check.now_seconds)) {
                if shares && !of_partition.1.insert(entry.clone()) {
                    continue;
                }
                sums.note(Side::Definition, entry.place(), []);
            }
        }
        check.page_done(page.read(), next.as_ref().map(|next| stage_of(next.key.token().0, 0))).await?;
        if next.is_none() {
            return Ok(());
        }
        after = next;
    }
}

/// Counts the entries that are there.
async fn add_up_entries<S: Store>(check: &mut Check<'_, S>, sums: &mut Sums) -> Result<(), QueryError> {
    let mut after = None;
    loop {
        let Some((_, index)) = config(check)? else { return Ok(()) };
        let (page, next) =
            rows::page(check.store, index.table, after, check.job.rows_max(), check.now_seconds).await?;
        for found in sources(&page.rows) {
            let Some(clustering) = found.clustering else { continue };
            check.report.copies += 1;
            sums.note(Side::Copy, [found.key.bytes(), clustering], []);
        }
        let read = (0, page.bytes_read());
        check.page_done(read, next.as_ref().map(|next| stage_of(next.key.token().0, 1))).await?;
        if next.is_none() {
            return Ok(());
        }
        after = next;
    }
}

/// Looks at the rows of the table whose entries may differ.
async fn follow_table<S: Store>(check: &mut Check<'_, S>, sums: &mut Sums) -> Result<(), QueryError> {
    let mut after = None;
    loop {
        let Some((base, index)) = config(check)? else { return Ok(()) };
        let (page, next) =
            rows::page(check.store, base, after, check.job.rows_max(), check.now_seconds).await?;
        for source in sources(&page.rows) {
            for entry in source.entries(&index, base, None) {
                if sums.differs(entry.place()) && live_entry(check, &index, &entry).await?.is_none() {
                    look_for(check, &index, base, source, &entry).await?;
                }
            }
        }
        let read = (0, page.bytes_read());
        check.page_done(read, next.as_ref().map(|next| stage_of(next.key.token().0, 2))).await?;
        if next.is_none() {
            return Ok(());
        }
        after = next;
    }
}

/// Entries that seem to lead nowhere, which are judged together.
const SUSPECTS_MAX: usize = 1_000;

/// An entry that seems to lead nowhere.
struct Suspect {
    entry: Entry,
    place: Candidate,
    /// Its timestamp when it was met.
    stamp: Timestamp,
}

/// Looks at the entries that may differ.
async fn follow_entries<S: Store>(check: &mut Check<'_, S>, sums: &mut Sums) -> Result<(), QueryError> {
    let mut suspects = Vec::new();
    let mut after = None;
    loop {
        let Some((base, index)) = config(check)? else { return Ok(()) };
        let (page, next) =
            rows::page(check.store, index.table, after, check.job.rows_max(), check.now_seconds).await?;
        for found in sources(&page.rows) {
            let Some(clustering) = found.clustering else { continue };
            let entry = Entry { key: found.key.clone(), clustering: clustering.to_vec() };
            let place = candidate(clustering).filter(|_| sums.differs(entry.place()));
            let (Some(place), Some(row)) = (place, RowView::from_payload(found.payload)) else { continue };
            if !leads_somewhere(check, &index, base, &place, &entry).await? {
                suspects.push(Suspect { entry, place, stamp: stamp_of(row) });
            }
        }
        if suspects.len() >= SUSPECTS_MAX || (next.is_none() && !suspects.is_empty()) {
            judge(check, &index, base, std::mem::take(&mut suspects)).await?;
        }
        let read = (0, page.bytes_read());
        check.page_done(read, next.as_ref().map(|next| stage_of(next.key.token().0, 3))).await?;
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

    /// Where the entries of the row are; with a second, those that live then.
    fn entries(&self, index: &IndexConfig, base: TableId, lives_at: Option<u32>) -> Vec<Entry> {
        let mut found = Vec::new();
        for mutation in self.made(index, base) {
            for entry in mutation.entries() {
                let lives = |at: u32| RowView::from_payload(entry.payload).is_some_and(|row| row.is_live(at));
                if !lives_at.is_none_or(lives) {
                    continue;
                }
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: PartitionKey,
    clustering: Vec<u8>,
}

impl Entry {
    fn place(&self) -> [&[u8]; 2] {
        [self.key.bytes(), &self.clustering]
    }
}

fn config<S: Store>(check: &Check<'_, S>) -> Result<Option<(TableId, IndexConfig)>, QueryError> {
    let base = check.base(&check.shared.load().1)?;
    let index = base.indexes.iter().find(|index| index.id == check.id).ok_or_else(|| check.gone())?;
    Ok(query::index::config(&base, index).map(|config| (TableId(base.id), config)))
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
    Ok(row.map(stamp_of))
}

fn stamp_of(entry: RowView<'_>) -> Timestamp {
    entry.marker().map_or(entry.base(), |marker| marker.timestamp)
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

/// An entry must come from the place that it leads to. It may be there before its row is, when a commit is under way on two shards; so
/// all that are under way have to end before a row is looked at once more. An entry that somebody has written again meanwhile is left alone.
async fn judge<S: Store>(
    check: &mut Check<'_, S>,
    index: &IndexConfig,
    base: TableId,
    suspects: Vec<Suspect>,
) -> Result<(), QueryError> {
    check.store.settle().await?;
    for Suspect { entry, place, stamp } in suspects {
        if leads_somewhere(check, index, base, &place, &entry).await?
            || live_entry(check, index, &entry).await? != Some(stamp)
        {
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
