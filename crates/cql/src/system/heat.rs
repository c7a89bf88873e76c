//! Where the work goes: the hottest partitions, and how evenly the load of each table lies.

use super::cells::*;
use super::node::Live;
use super::rows::Filler;
use model::literal::format_text;
use model::types::DataType;
use model::value::encode_elements;
use observe::{HotKey, Load, Slot, Window};
use schema::{Catalogue, Table};
use std::sync::Arc;

/// Hottest partitions that are shown of each window.
const SHOWN_MAX: usize = 100;
/// Less time than this tells no rate.
const MILLIS_MIN: u64 = 1000;
/// A partition with this share of a busy table is told as a finding.
const SHARE_MAX: f64 = 0.25;
const BUSY_PER_SECOND: f64 = 100.0;

/// A table, view or index that work went to.
struct Place<'c> {
    keyspace: &'c str,
    name: &'c str,
    /// Of the partition key.
    types: Vec<&'c DataType>,
}

fn place(catalogue: &Catalogue, id: u32) -> Option<Place<'_>> {
    if let Some(table) = catalogue.table_by_id(id) {
        let types = table.partition_key.iter().map(|column| &column.data_type).collect();
        return Some(Place { keyspace: &table.keyspace, name: &table.name, types });
    }
    let of_index = |table: &Arc<Table>| table.indexes.iter().any(|index| index.id == id);
    let table = catalogue.tables().find(|table| of_index(table))?;
    let index = table.indexes.iter().find(|index| index.id == id)?;
    Some(Place { keyspace: &table.keyspace, name: &index.name, types: Vec::new() })
}

/// The partition key of a row of this table as text.
pub fn key_text(table: &Table, key: &[u8]) -> String {
    let types = table.partition_key.iter().map(|column| &column.data_type).collect();
    Place { keyspace: &table.keyspace, name: &table.name, types }.key_text(key)
}

impl Place<'_> {
    /// The key as text: values of several columns with a colon between, as nodetool shows them.
    fn key_text(&self, key: &[u8]) -> String {
        let shown =
            |data_type: &DataType, value: &[u8]| format_text(data_type, value).unwrap_or_else(|| hex(value));
        match &self.types[..] {
            [only] => shown(only, key),
            [] => hex(key),
            types => {
                let mut rest = key;
                let mut parts = Vec::with_capacity(types.len());
                for data_type in types {
                    // Cut keys end early.
                    let Some((len, behind)) = rest.split_first_chunk::<2>() else { break };
                    let len = usize::from(u16::from_be_bytes(*len));
                    let Some(value) = behind.get(..len) else { break };
                    parts.push(shown(data_type, value));
                    rest = behind.get(len + 1..).unwrap_or_default();
                }
                parts.join(":")
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    format_text(&DataType::Blob, bytes).unwrap_or_default()
}

fn per_second(count: u64, slot: &Slot) -> f64 {
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

fn share(operations: u64, all: &Load) -> f64 {
    if all.operations() == 0 { 0.0 } else { operations as f64 / all.operations() as f64 }
}

fn load_of(slot: &Slot, table: u32) -> Load {
    slot.tables.iter().find(|(known, _)| *known == table).map(|(_, load)| *load).unwrap_or_default()
}

/// The hottest first.
pub(super) fn hot_partitions(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    let Some(live) = live else { return };
    for window in Window::ALL {
        let slot = live.hot_partitions(window);
        let places = slot.keys.iter().filter_map(|key| Some((key, place(catalogue, key.table)?)));
        for (rank, (key, place)) in (1..).zip(places.take(SHOWN_MAX)) {
            let mut cells = vec![
                ("window", text(window.word())),
                ("rank", int(rank)),
                ("keyspace_name", text(place.keyspace)),
                ("table_name", text(place.name)),
                ("partition_key", text(place.key_text(&key.key))),
                ("partition_token", bigint(key.token)),
                ("share", double(share(key.load.operations(), &load_of(&slot, key.table)))),
                ("error", double(per_second(key.missed, &slot))),
            ];
            cells.extend(rates(&key.load, &slot));
            filler.row(&cells);
        }
    }
}

/// How much work went to which part of the ring, minute by minute.
pub(super) fn heat_map(filler: &mut Filler<'_>, live: Option<Arc<dyn Live>>) {
    let minutes = live.map(|live| live.heat_map()).unwrap_or_default();
    for (minutes_ago, weights) in (0..).zip(minutes.iter().rev()) {
        let weights: Vec<Vec<u8>> = weights.iter().map(|weight| weight.to_be_bytes().to_vec()).collect();
        filler.row(&[
            ("map", text("tokens")),
            ("minutes_ago", int(minutes_ago)),
            ("weights", Some(encode_elements(&weights))),
        ]);
    }
}

/// What each table has to do, and which share of it goes to its hottest partitions.
pub(super) fn table_load(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    let Some(live) = live else { return };
    for window in Window::ALL {
        let slot = live.hot_partitions(window);
        for (id, load) in &slot.tables {
            let Some(place) = place(catalogue, *id) else { continue };
            let mut keys: Vec<&HotKey> = slot.keys.iter().filter(|key| key.table == *id).collect();
            keys.sort_by_key(|key| std::cmp::Reverse(key.load.operations()));
            let top = |count: usize| {
                double(share(keys.iter().take(count).map(|key| key.load.operations()).sum(), load))
            };
            let mut cells = vec![
                ("keyspace_name", text(place.keyspace)),
                ("table_name", text(place.name)),
                ("window", text(window.word())),
                ("top_1", top(1)),
                ("top_10", top(10)),
                ("top_100", top(100)),
                ("finding", finding(&place, keys.first().copied(), load, &slot).and_then(text)),
            ];
            cells.extend(rates(load, &slot));
            filler.row(&cells);
        }
    }
}

/// What to do about a partition that takes too much of a busy table.
fn finding(place: &Place<'_>, hottest: Option<&HotKey>, load: &Load, slot: &Slot) -> Option<String> {
    let hottest = hottest?;
    let share = share(hottest.load.operations(), load);
    if share < SHARE_MAX || per_second(load.operations(), slot) < BUSY_PER_SECOND {
        return None;
    }
    let (key, percent) = (place.key_text(&hottest.key), (share * 100.0).round());
    let advice = if hottest.load.writes > hottest.load.reads {
        "spread its rows over a bucket column in the partition key"
    } else {
        "keep a copy of what is read so often in the application, or spread it over several keys"
    };
    Some(format!(
        "no number of machines will help: partition {key} takes {percent} % of the operations on {}.{}; {advice}",
        place.keyspace, place.name
    ))
}
