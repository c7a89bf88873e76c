//! Where the work goes: the hottest partitions, and how evenly the load of each table lies.

use super::Viewer;
use super::cells::*;
use super::findings::hot_partition;
use super::node::Live;
use super::rows::Filler;
use model::types::DataType;
use observe::{Heat, HotKey, Load, Slot, Window, range_of};
use schema::Catalogue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hottest partitions that are shown of each window.
const SHOWN_MAX: usize = 100;
/// Partitions whose last hour is shown minute by minute.
const HISTORY_MAX: usize = 40;
/// Less time than this tells no rate.
const MILLIS_MIN: u64 = 1000;

/// A table, view or index that work went to.
pub(super) struct Place<'c> {
    pub keyspace: &'c str,
    pub name: &'c str,
    /// Of the partition key; none of an index.
    pub types: Vec<&'c DataType>,
}

pub(super) fn place(catalogue: &Catalogue, id: u32) -> Option<Place<'_>> {
    if let Some(table) = catalogue.table_by_id(id) {
        let types = table.partition_key.iter().map(|column| &column.data_type).collect();
        return Some(Place { keyspace: &table.keyspace, name: &table.name, types });
    }
    catalogue.tables().find_map(|table| {
        let index = table.indexes.iter().find(|index| index.id == id).map(|index| &*index.name);
        let store = || table.foreign.as_deref()?.stores.iter().find(|store| store.id == id);
        let name = index.or_else(|| store().map(|store| &*store.name))?;
        Some(Place { keyspace: &table.keyspace, name, types: Vec::new() })
    })
}

/// The partition key of a row of this table as text.
pub fn key_text(table: &schema::Table, key: &[u8]) -> String {
    let types = table.partition_key.iter().map(|column| &column.data_type).collect();
    Place { keyspace: &table.keyspace, name: &table.name, types }.key_text(key)
}

impl Place<'_> {
    /// The key as text: values of several columns with a colon between, as nodetool shows them.
    pub fn key_text(&self, key: &[u8]) -> String {
        query::full::key_text(&self.types, key)
    }
}

pub(super) fn per_second(count: u64, slot: &Slot) -> f64 {
    count as f64 * 1000.0 / slot.millis.max(MILLIS_MIN) as f64
}

fn rates(load: &Load, slot: &Slot) -> [(&'static str, Cell); 6] {
    [
        ("reads_per_s", double(per_second(load.reads, slot))),
        ("writes_per_s", double(per_second(load.writes, slot))),
        ("bytes_per_s", double(per_second(load.bytes, slot))),
        ("rows_per_s", double(per_second(load.rows, slot))),
        ("tombstones_per_s", double(per_second(load.tombstones, slot))),
        ("refused_per_s", double(per_second(load.refused, slot))),
    ]
}

pub(super) fn key_share(operations: u64, all: &Load) -> f64 {
    if all.operations() == 0 { 0.0 } else { operations as f64 / all.operations() as f64 }
}

pub(super) fn load_of(slot: &Slot, table: u32) -> Load {
    slot.tables.iter().find(|(known, _)| *known == table).map(|(_, load)| *load).unwrap_or_default()
}

/// The hottest first.
pub(super) fn hot_partitions(
    filler: &mut Filler<'_>,
    catalogue: &Catalogue,
    live: Option<Arc<dyn Live>>,
    viewer: Viewer<'_>,
) {
    let Some(live) = live else { return };
    for window in Window::ALL {
        let slot = live.hot_partitions(window);
        let seen = slot.keys.iter().filter(|key| viewer.sees(catalogue, key.table, &key.key));
        let places = seen.filter_map(|key| Some((key, place(catalogue, key.table)?)));
        for (rank, (key, place)) in (1..).zip(places.take(SHOWN_MAX)) {
            let mut cells = vec![
                ("window", text(window.word())),
                ("rank", int(rank)),
                ("keyspace_name", text(place.keyspace)),
                ("table_name", text(place.name)),
                ("partition_key", text(place.key_text(&key.key))),
                ("partition_token", bigint(key.token)),
                ("share", double(key_share(key.load.operations(), &load_of(&slot, key.table)))),
                ("error", double(per_second(key.missed, &slot))),
            ];
            cells.extend(rates(&key.load, &slot));
            filler.row(&cells);
        }
    }
}

/// How much work went to which part of the ring, minute by minute, and the hottest key of each part.
pub(super) fn heat_map(
    filler: &mut Filler<'_>,
    catalogue: &Catalogue,
    live: Option<Arc<dyn Live>>,
    viewer: Viewer<'_>,
) {
    let minutes = live.map(|live| live.heat_map()).unwrap_or_default();
    for (minutes_ago, minute) in (0..).zip(minutes.iter().rev()) {
        let each = |of: fn(&Heat) -> u64| bigint_list(minute.heat.iter().map(|heat| of(heat) as i64));
        let mut hottest: BTreeMap<i32, String> = BTreeMap::new();
        for key in minute.keys.iter().filter(|key| viewer.sees(catalogue, key.table, &key.key)) {
            let Some(place) = place(catalogue, key.table) else { continue };
            // The heaviest come first.
            let range = i32::try_from(range_of(key.token)).unwrap_or(i32::MAX);
            let name = || format!("{}.{} {}", place.keyspace, place.name, place.key_text(&key.key));
            hottest.entry(range).or_insert_with(name);
        }
        filler.row(&[
            ("map", text("tokens")),
            ("minutes_ago", int(minutes_ago)),
            ("bytes", each(|heat| heat.bytes)),
            ("hottest", int_text_map(&hottest)),
            ("reads", each(|heat| heat.reads)),
            ("seconds", double(minute.millis as f64 / 1000.0)),
            ("weights", each(Heat::weight)),
            ("writes", each(|heat| heat.writes)),
        ]);
    }
}

/// What each of the hottest partitions of the last hour did in each of its minutes; the newest minute is the first of a list.
pub(super) fn hot_history(
    filler: &mut Filler<'_>,
    catalogue: &Catalogue,
    live: Option<Arc<dyn Live>>,
    viewer: Viewer<'_>,
) {
    let Some(live) = live else { return };
    let minutes = live.heat_map();
    let hour = live.hot_partitions(Window::Hour);
    let seen = hour.keys.iter().filter(|key| viewer.sees(catalogue, key.table, &key.key));
    let places = seen.filter_map(|key| Some((key, place(catalogue, key.table)?)));
    for (rank, (key, place)) in (1..).zip(places.take(HISTORY_MAX)) {
        let found = |minute: &'_ Slot| {
            let same = |other: &&HotKey| other.table == key.table && other.key == key.key;
            minute.keys.iter().find(same).map(|key| key.load).unwrap_or_default()
        };
        let loads: Vec<(Load, &Slot)> = minutes.iter().rev().map(|minute| (found(minute), minute)).collect();
        let each = |of: fn(&Load) -> u64| {
            let rates = loads.iter().map(|(load, minute)| per_second(of(load), minute).round() as i64);
            bigint_list(rates)
        };
        filler.row(&[
            ("window", text(Window::Hour.word())),
            ("rank", int(rank)),
            ("bytes_per_s", each(|load| load.bytes)),
            ("keyspace_name", text(place.keyspace)),
            ("partition_key", text(place.key_text(&key.key))),
            ("partition_token", bigint(key.token)),
            ("reads_per_s", each(|load| load.reads)),
            ("table_name", text(place.name)),
            ("writes_per_s", each(|load| load.writes)),
        ]);
    }
}

/// What each table has to do, and which share of it goes to its hottest partitions.
pub(super) fn table_load(
    filler: &mut Filler<'_>,
    catalogue: &Catalogue,
    live: Option<Arc<dyn Live>>,
    viewer: Viewer<'_>,
) {
    let Some(live) = live else { return };
    for window in Window::ALL {
        let slot = live.hot_partitions(window);
        for (id, load) in &slot.tables {
            let Some(place) = place(catalogue, *id) else { continue };
            let mut keys: Vec<&HotKey> = slot.keys.iter().filter(|key| key.table == *id).collect();
            keys.sort_by_key(|key| std::cmp::Reverse(key.load.operations()));
            let top = |count: usize| {
                double(key_share(keys.iter().take(count).map(|key| key.load.operations()).sum(), load))
            };
            // The finding names the key.
            let named = keys.first().copied().filter(|key| viewer.sees(catalogue, key.table, &key.key));
            let mut cells = vec![
                ("keyspace_name", text(place.keyspace)),
                ("table_name", text(place.name)),
                ("window", text(window.word())),
                ("top_1", top(1)),
                ("top_10", top(10)),
                ("top_100", top(100)),
                ("finding", finding(&place, named, &slot).and_then(text)),
            ];
            cells.extend(rates(load, &slot));
            filler.row(&cells);
        }
    }
}

/// What to do about a partition that takes too much of a busy table, in one sentence.
fn finding(place: &Place<'_>, hottest: Option<&HotKey>, slot: &Slot) -> Option<String> {
    let (key, share, advice) = hot_partition(place, hottest, slot)?;
    let (name, percent) = (place.key_text(&key.key), (share * 100.0).round());
    Some(format!(
        "no number of machines will help: partition {name} takes {percent} % of the operations on {}.{}; {advice}",
        place.keyspace, place.name
    ))
}
