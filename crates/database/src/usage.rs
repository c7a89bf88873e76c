//! What copies cost and whether anybody reads them: counted since the server first saw them, over restarts too.
//!
//! Reads are statements that name the copy; checks and builds do not count. The counts are stored every few minutes, beside the checkpoints of
//! jobs, so a crash loses the last minutes.

use crate::catalogue::SharedCatalogue;
use crate::jobs::checkpoint::Checkpoints;
use crate::shape::Verb;
use crate::traffic::Seen;
use observe::Load;
use query::QueryError;
use schema::Catalogue;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{Commit, Store};

/// Of one copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub reads: u64,
    /// `None`: nobody has read it since the server first saw it.
    pub last_read_micros: Option<i64>,
    /// Partitions that commits wrote to, and their bytes.
    pub writes: u64,
    pub written_bytes: u64,
    /// When it was met first.
    pub since_micros: i64,
}

#[derive(Default)]
struct Known {
    copies: BTreeMap<u32, Usage>,
    /// As they were stored last.
    stored: BTreeMap<u32, Usage>,
    /// Calls by keyspace and name, as of the last look; and loads by id.
    calls: HashMap<(Arc<str>, Arc<str>), u64>,
    loads: BTreeMap<u32, Load>,
    loaded: bool,
}

/// See the module.
#[derive(Default)]
pub struct Usages {
    known: Mutex<Known>,
}

impl Usages {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn of(&self, id: u32) -> Option<Usage> {
        self.known().copies.get(&id).copied()
    }

    /// Takes what was counted since the server started: calls of statements, and loads by the ids of tables.
    pub fn note(
        &self,
        catalogue: &Catalogue,
        traffic: &[Seen],
        loads: &BTreeMap<u32, Load>,
        now_micros: i64,
    ) {
        let mut calls: HashMap<(Arc<str>, Arc<str>), u64> = HashMap::new();
        for (seen, shape) in traffic.iter().filter_map(|seen| Some((seen, seen.shape.as_ref()?))) {
            if shape.verb == Verb::Select {
                *calls.entry((shape.keyspace.clone(), shape.table.clone())).or_default() +=
                    seen.calls - seen.errors.min(seen.calls);
            }
        }
        let mut known = self.known();
        let mut copies = BTreeMap::new();
        for table in catalogue.tables().filter(|table| !table.keyspace.starts_with("system")) {
            let view = table.view.as_ref().map(|_| (table.id, &table.name));
            let indexes = table.indexes.iter().map(|index| (index.id, &index.name));
            for (id, name) in view.into_iter().chain(indexes) {
                let new = Usage { since_micros: now_micros, ..Usage::default() };
                let mut usage = known.copies.get(&id).copied().unwrap_or(new);
                let place = (table.keyspace.clone(), name.clone());
                let (load, before) = (loads.get(&id).copied(), known.loads.get(&id).copied());
                let (load, before) = (load.unwrap_or_default(), before.unwrap_or_default());
                // Nobody names an index: its entries are read by statements on the table.
                let reads = match view {
                    Some(_) => {
                        let now = calls.get(&place).copied().unwrap_or_default();
                        now.saturating_sub(known.calls.get(&place).copied().unwrap_or_default())
                    }
                    None => load.reads.saturating_sub(before.reads),
                };
                if reads > 0 {
                    usage.last_read_micros = Some(now_micros);
                }
                usage.reads += reads;
                usage.writes += load.writes.saturating_sub(before.writes);
                usage.written_bytes += load.bytes.saturating_sub(before.bytes);
                copies.insert(id, usage);
            }
        }
        (known.copies, known.calls, known.loads) = (copies, calls, loads.clone());
    }

    /// Loads the counts that were stored before a restart, once.
    pub async fn load<S: Store>(&self, shared: &SharedCatalogue, store: &S) -> Result<(), QueryError> {
        let (_, catalogue) = shared.load();
        let Some(checkpoints) = Checkpoints::find(&catalogue) else { return Ok(()) };
        if std::mem::replace(&mut self.known().loaded, true) {
            return Ok(());
        }
        for table in catalogue.tables().filter(|table| !table.keyspace.starts_with("system")) {
            let view = table.view.as_ref().map(|_| table.id);
            for id in view.into_iter().chain(table.indexes.iter().map(|index| index.id)) {
                if let Some(usage) = checkpoints.load_usage(store, id).await? {
                    let mut known = self.known();
                    known.copies.insert(id, usage);
                    known.stored.insert(id, usage);
                }
            }
        }
        Ok(())
    }

    /// Stores what has changed.
    pub async fn save<S: Store>(
        &self,
        shared: &SharedCatalogue,
        store: &S,
        now_micros: i64,
    ) -> Result<(), QueryError> {
        let Some(checkpoints) = Checkpoints::find(&shared.load().1) else { return Ok(()) };
        let changed: BTreeMap<u32, Usage> = {
            let known = self.known();
            let is_changed = |(id, usage): &(&u32, &Usage)| known.stored.get(id) != Some(usage);
            known.copies.iter().filter(is_changed).map(|(id, usage)| (*id, *usage)).collect()
        };
        let save = |(id, usage): (&u32, &Usage)| checkpoints.save_usage(*id, usage, now_micros);
        let mutations: Vec<_> = changed.iter().filter_map(save).collect();
        if mutations.is_empty() {
            return Ok(());
        }
        let now_seconds = u32::try_from(now_micros / 1_000_000).unwrap_or_default();
        store.commit(Commit { mutations, now_seconds }).await?;
        self.known().stored.extend(changed);
        Ok(())
    }
}
