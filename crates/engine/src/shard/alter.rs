//! A change of the tables reaches the shard.

use super::{Shard, TableSeed, TableState};
use crate::table::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use store::{TableConfig, TableId};

impl Shard {
    /// Makes exactly these tables exist; returns the files of what is gone.
    pub fn alter(self: &Rc<Self>, version: u64, configs: &[TableConfig]) -> Vec<Arc<Table>> {
        let mut gone: BTreeSet<TableId> = BTreeSet::new();
        let mut dropped: Vec<TableState> = Vec::new();
        let mut spilling: Vec<(TableId, TableId)> = Vec::new();
        {
            let mut tables = self.tables.borrow_mut();
            let wanted: BTreeMap<TableId, u32> = configs.iter().map(|c| (c.id, c.incarnation)).collect();
            let of_none =
                |(id, state): &(&TableId, &TableState)| wanted.get(*id) != Some(&state.config.incarnation);
            gone.extend(tables.iter().filter(of_none).map(|(id, _)| *id));
            dropped.extend(gone.iter().filter_map(|id| tables.remove(id)));
            for config in configs {
                match tables.get_mut(&config.id) {
                    Some(state) => {
                        let before = std::mem::replace(&mut state.config, config.clone());
                        if before.limit != config.limit {
                            self.limit_changed(state);
                        }
                        if let (None, Some(spill)) = (&before.spill, &config.spill) {
                            spilling.push((config.id, spill.points));
                        }
                    }
                    None => {
                        let seed =
                            TableSeed { config: config.clone(), memtables: Vec::new(), files: Vec::new() };
                        tables.insert(config.id, TableState::new(seed));
                    }
                }
            }
        }
        dropped.iter_mut().for_each(|state| self.forget_marks(state));
        // A truncated table keeps its points, as it keeps its record of buckets.
        let is_gone = |id: &&TableId| configs.iter().all(|config| config.id != **id);
        gone.iter().filter(is_gone).for_each(|id| self.shared.points.forget(*id));
        spilling.into_iter().for_each(|(table, points)| self.learn_points(table, points));
        dropped.iter().for_each(TableState::release);
        self.later_altered(configs);
        self.any_projection.set(configs.iter().any(TableConfig::is_projected));
        self.version.set(version);
        self.forget_waiting(|table| gone.contains(&table));
        self.room.sealed(dropped.iter().map(|state| state.active.bytes()).sum());
        self.shrank_sealed(dropped.iter().map(TableState::bytes).sum());
        self.take_early_parts();
        dropped.into_iter().flat_map(|state| state.files).collect()
    }
}
