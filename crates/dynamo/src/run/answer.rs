//! The parts of answers that need a table: consumed capacity, item collection metrics.

use super::table::OpenTable;
use super::write::Written;
use crate::json::Writer;
use crate::request::ReturnCapacity;
use crate::table::IndexKind;
use crate::value::Item;

/// Units that an operation used, by table and index.
#[derive(Clone, Debug, Default)]
pub struct Consumed {
    pub table: String,
    pub units: f64,
    pub local: Vec<(String, f64)>,
    pub global: Vec<(String, f64)>,
    /// Transactions say of what kind the units are.
    pub kind: Option<&'static str>,
}

impl Consumed {
    pub fn table(table: &OpenTable, units: f64) -> Consumed {
        Consumed { table: table.definition.name.clone(), units, ..Consumed::default() }
    }

    /// A read through an index costs the table nothing.
    pub fn index(table: &OpenTable, index: &str, units: f64) -> Consumed {
        let mut consumed = Consumed::table(table, 0.0);
        consumed.add_index(table, index, units);
        consumed
    }

    pub fn add_index(&mut self, table: &OpenTable, index: &str, units: f64) {
        let kind = table.definition.index(index).map(|index| index.kind);
        let list = if kind == Some(IndexKind::Local) { &mut self.local } else { &mut self.global };
        match list.iter_mut().find(|(name, _)| name == index) {
            Some((_, known)) => *known += units,
            None => list.push((index.to_string(), units)),
        }
    }

    /// A write; `factor` is 2 for the table's part of a transaction.
    pub fn write_of(table: &OpenTable, written: &Written, factor: f64) -> Consumed {
        let mut consumed = Consumed::table(table, written.table_units() * factor);
        for (nth, units) in &written.index_units {
            if let Some(index) = table.definition.indexes.get(*nth) {
                consumed.add_index(table, &index.name, *units);
            }
        }
        consumed
    }

    /// Adds another operation on the same table.
    pub fn add(&mut self, other: Consumed) {
        self.units += other.units;
        for (mine, theirs) in [(&mut self.local, other.local), (&mut self.global, other.global)] {
            for (name, units) in theirs {
                match mine.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, sum)) => *sum += units,
                    None => mine.push((name, units)),
                }
            }
        }
    }

    pub fn total(&self) -> f64 {
        self.units + self.local.iter().chain(&self.global).map(|(_, units)| units).sum::<f64>()
    }

    /// Writes the member `ConsumedCapacity` if it was asked for.
    pub fn write(&self, object: &mut Writer<'_>, wanted: ReturnCapacity) {
        if wanted != ReturnCapacity::None {
            self.put(object.key("ConsumedCapacity"), wanted);
        }
    }

    pub fn put(&self, out: &mut Vec<u8>, wanted: ReturnCapacity) {
        let mut object = Writer::object(out);
        object.string("TableName", &self.table);
        self.put_units(&mut object, self.total());
        if wanted == ReturnCapacity::Indexes {
            let mut table = object.nested("Table");
            self.put_units(&mut table, self.units);
            table.end();
            for (name, list) in
                [("LocalSecondaryIndexes", &self.local), ("GlobalSecondaryIndexes", &self.global)]
            {
                if list.is_empty() {
                    continue;
                }
                let mut indexes = object.nested(name);
                for (index, units) in list {
                    let mut index = indexes.nested(index);
                    self.put_units(&mut index, *units);
                    index.end();
                }
                indexes.end();
            }
        }
        object.end();
    }

    fn put_units(&self, object: &mut Writer<'_>, units: f64) {
        if let Some(kind) = self.kind {
            object.units(kind, units);
        }
        object.units("CapacityUnits", units);
    }
}

/// The list of a batch or transaction, one per table.
pub fn capacity_list(object: &mut Writer<'_>, wanted: ReturnCapacity, consumed: &[Consumed]) {
    if wanted != ReturnCapacity::None {
        object.list("ConsumedCapacity", consumed, |consumed, out| consumed.put(out, wanted));
    }
}

/// Puts what was consumed of one table together.
pub fn gather(list: &mut Vec<Consumed>, consumed: Consumed) {
    match list.iter_mut().find(|known| known.table == consumed.table) {
        Some(known) => known.add(consumed),
        None => list.push(consumed),
    }
}

/// `ItemCollectionMetrics`, which only tables with local indexes have.
pub fn collection_metrics(object: &mut Writer<'_>, table: &OpenTable, item: Option<&Item>) {
    if let Some(item) = item.filter(|_| table.definition.has_local_indexes()) {
        put_collection(object.key("ItemCollectionMetrics"), table, item);
    }
}

pub fn put_collection(out: &mut Vec<u8>, table: &OpenTable, item: &Item) {
    let hash = table.definition.key.hash.first();
    let key: Item =
        hash.and_then(|hash| Some((hash.name.clone(), item.get(&hash.name)?.clone()))).into_iter().collect();
    let mut metrics = Writer::object(out);
    metrics.item("ItemCollectionKey", &key);
    metrics.key("SizeEstimateRangeGB").extend_from_slice(b"[0.0,1.0]");
    metrics.end();
}

pub fn endpoints(host: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Writer::object(&mut out);
    object.list("Endpoints", &[host], |host, out| {
        let mut endpoint = Writer::object(out);
        endpoint.string("Address", host);
        endpoint.integer("CachePeriodInMinutes", 1440);
        endpoint.end();
    });
    object.end();
    out
}
