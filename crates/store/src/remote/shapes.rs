//! The contract's own types as bytes. A type that is not here cannot be sent to a node.

use super::wire::{Wire, put_bytes, take_bytes, wire_enum, wire_struct};
use crate::buckets::BucketsConfig;
use crate::commit::{CasOutcome, CheckedPartition, Commit, ConditionalCommit, CurrentRow, PartitionCheck};
use crate::condition::{CellCondition, Element, RowCheck, RowPosition, Subject, Tree};
use crate::deferred::{Deferred, DeferredOp};
use crate::error::{FullPartition, StoreError};
use crate::groups::{GroupsConfig, Total, TotalOf};
use crate::index::{IndexConfig, Source};
use crate::mutation::Mutation;
use crate::read::{Partitions, Position, Read, ReadEnd, Slice};
use crate::refused::Refused;
use crate::transaction::{Horizon, Stamped, WantedRow};
use crate::view::{ColumnSource, ViewColumn, ViewCondition, ViewConfig};
use crate::{Compaction, Compression, PartitionLimit, RowTtl, TableConfig, TableId};
use model::comparison::Comparison;
use model::constraint::{Constraint, Unsatisfied};
use model::key::PartitionKey;
use model::lists::Lists;
use model::text::TextChange;
use model::token::Token;
use model::types::{DataType, UdtField, UdtType};
use model::value::ValueError;

impl Wire for TableId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<TableId> {
        u32::take(from).map(TableId)
    }
}

impl Wire for PartitionKey {
    fn put(&self, out: &mut Vec<u8>) {
        self.token().0.put(out);
        put_bytes(self.bytes(), out);
    }

    fn take(from: &mut &[u8]) -> Option<PartitionKey> {
        let token = Token(i64::take(from)?);
        PartitionKey::new(token, take_bytes(from)?)
    }
}

impl Wire for Mutation {
    fn put(&self, out: &mut Vec<u8>) {
        self.table.put(out);
        self.key.put(out);
        put_bytes(self.encoded(), out);
        self.deferred.put(out);
        self.touched.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Mutation> {
        let (table, key) = (Wire::take(from)?, Wire::take(from)?);
        let mut mutation = Mutation::from_encoded(table, key, take_bytes(from)?.to_vec());
        if !mutation.check() {
            return None;
        }
        mutation.deferred = Wire::take(from)?;
        mutation.touched = Wire::take(from)?;
        Some(mutation)
    }
}

impl Wire for Lists {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(&self.encode(), out);
    }

    fn take(from: &mut &[u8]) -> Option<Lists> {
        Lists::decode(take_bytes(from)?)
    }
}

/// The account stays with the client: it counts what it is given.
impl Wire for Read {
    fn put(&self, out: &mut Vec<u8>) {
        let Read { table, partitions, slices, reverse, statics, after, now_seconds, .. } = self;
        table.put(out);
        partitions.put(out);
        slices.put(out);
        reverse.put(out);
        statics.put(out);
        after.put(out);
        now_seconds.put(out);
        self.scan_limit.put(out);
        self.tombstone_limit.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Read> {
        Some(Read {
            table: Wire::take(from)?,
            partitions: Wire::take(from)?,
            slices: Wire::take(from)?,
            reverse: Wire::take(from)?,
            statics: Wire::take(from)?,
            after: Wire::take(from)?,
            now_seconds: Wire::take(from)?,
            scan_limit: Wire::take(from)?,
            tombstone_limit: Wire::take(from)?,
            account: Default::default(),
        })
    }
}

wire_struct! {
    Slice { start, end }
    RowTtl { column, in_millis }
    Position { key, clustering }
    Commit { mutations, now_seconds }
    PartitionCheck { table, key, checks }
    ConditionalCommit { table, key, checks, further, mutations, provisional_timestamp, now_seconds }
    CurrentRow { position, row }
    CasOutcome { applied, key, static_row, rows, further }
    CheckedPartition { holds, key, static_row, rows }
    RowCheck { position, exists, conditions, columns }
    CellCondition { column, is_static, data_type, path, subject, comparison, values }
    Deferred { position, column, column_name, timestamp, ttl, statement, op }
    WantedRow { table, key, clustering }
    Stamped { provisional_timestamp, now_seconds }
    Horizon { settled, given }
    FullPartition { table, key, bytes, rows, limit }
    PartitionLimit { bytes, rows, warn_bytes, warn_rows, refuse }
    IndexConfig { table, sorted, change, source }
    TextChange { lower, normal, ascii }
    BucketsConfig { record, hashed }
    ViewConfig { table, partition, clustering, columns, living, conditions, is_grouped }
    GroupsConfig { table, clustering, totals }
    Total { column, of }
    ViewColumn { source, data_type, descending }
    ViewCondition { columns, comparison, alternatives }
    UdtType { keyspace, name, fields, frozen }
    UdtField { name, data_type }
}

wire_enum!(Partitions { 0 => One(key), 1 => Range { start, end } });
wire_enum!(ReadEnd { 0 => Complete, 1 => Stopped, 2 => Paused(position) });
wire_enum!(RowPosition { 0 => Static, 1 => Row(clustering) });
wire_enum!(Tree { 0 => All(parts), 1 => Any(parts), 2 => Not(part), 3 => Cell(condition) });
wire_enum!(Subject { 0 => Value, 1 => Size });
wire_enum!(Element { 0 => MapKey(key), 1 => ListIndex(index), 2 => Field(field) });
wire_enum!(Compression { 0 => None, 1 => Lz4, 2 => Zstd });
wire_enum!(Compaction { 0 => Unified { scaling }, 1 => TimeWindow { window_seconds }, 2 => Off });
wire_enum!(Source {
    0 => Cell { column, data_type },
    1 => Path { column, data_type },
    2 => Value { column, data_type, map_key },
    3 => Entry { column, key, value },
    4 => Clustering { columns },
    5 => Partition { position, data_type },
    6 => Near { column, lists },
});
wire_enum!(ColumnSource {
    0 => Partition { position, count },
    1 => Clustering { columns },
    2 => Cell(column),
    3 => List(list),
});
wire_enum!(TotalOf {
    0 => Members,
    1 => Values(of),
    2 => Sum { of, data_type },
    3 => Least { list, of },
    4 => Greatest { list, of },
});
wire_enum!(DeferredOp {
    0 => CounterAdd(delta),
    1 => ListSet { index, value },
    2 => ListRemove { element, values },
    3 => Arithmetic { data_type, subtract, operand, steady },
    4 => Check { data_type, constraints },
});
wire_enum!(DataType {
    0 => Ascii,
    1 => BigInt,
    2 => Blob,
    3 => Boolean,
    4 => Counter,
    5 => Date,
    6 => Decimal,
    7 => Double,
    8 => Duration,
    9 => Empty,
    10 => Float,
    11 => Inet,
    12 => Int,
    13 => SmallInt,
    14 => Text,
    15 => Time,
    16 => Timestamp,
    17 => TimeUuid,
    18 => TinyInt,
    19 => Uuid,
    20 => VarInt,
    21 => List { element, frozen },
    22 => Set { element, frozen },
    23 => Map { key, value, frozen },
    24 => Tuple(components),
    25 => Udt(user_type),
    26 => Vector { element, dimensions },
    27 => Custom(class),
});

impl Wire for Comparison {
    fn put(&self, out: &mut Vec<u8>) {
        let place = Comparison::ALL.iter().position(|comparison| comparison == self);
        out.push(place.map_or(u8::MAX, |place| place as u8));
    }

    fn take(from: &mut &[u8]) -> Option<Comparison> {
        Comparison::ALL.get(usize::from(u8::take(from)?)).copied()
    }
}

/// Patterns are compiled where they arrive.
impl Wire for Constraint {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Constraint::NotNull => out.push(0),
            Constraint::Json => out.push(1),
            Constraint::Value { comparison, term, value } => {
                out.push(2);
                comparison.put(out);
                term.put(out);
                value.put(out);
            }
            Constraint::Length { octets, comparison, count } => {
                out.push(3);
                octets.put(out);
                comparison.put(out);
                count.put(out);
            }
            Constraint::Regexp { equal, pattern, .. } => {
                out.push(4);
                equal.put(out);
                pattern.put(out);
            }
        }
    }

    fn take(from: &mut &[u8]) -> Option<Constraint> {
        Some(match u8::take(from)? {
            0 => Constraint::NotNull,
            1 => Constraint::Json,
            2 => Constraint::Value {
                comparison: Wire::take(from)?,
                term: Wire::take(from)?,
                value: Wire::take(from)?,
            },
            3 => Constraint::Length {
                octets: Wire::take(from)?,
                comparison: Wire::take(from)?,
                count: Wire::take(from)?,
            },
            4 => Constraint::regexp(Wire::take(from)?, &String::take(from)?).ok()?,
            _ => return None,
        })
    }
}

impl Wire for TableConfig {
    fn put(&self, out: &mut Vec<u8>) {
        let TableConfig { id, incarnation, compression, compaction, gc_grace_seconds, .. } = self;
        id.put(out);
        incarnation.put(out);
        compression.put(out);
        compaction.put(out);
        gc_grace_seconds.put(out);
        self.indexes.put(out);
        let later = self.later.iter().map(|later| later.view.clone());
        self.views.iter().cloned().chain(later).collect::<Vec<_>>().put(out);
        self.limit.put(out);
        self.buckets.put(out);
        self.groups.as_deref().cloned().put(out);
        self.row_ttl.put(out);
        assert!(self.mirror.is_none() && self.spill.is_none(), "where rows go is code");
        // Copies that may follow later are in the commit of their table there, so nothing is pending.
    }

    fn take(from: &mut &[u8]) -> Option<TableConfig> {
        Some(TableConfig {
            id: Wire::take(from)?,
            incarnation: Wire::take(from)?,
            compression: Wire::take(from)?,
            compaction: Wire::take(from)?,
            gc_grace_seconds: Wire::take(from)?,
            indexes: Wire::take(from)?,
            views: Wire::take(from)?,
            limit: Wire::take(from)?,
            buckets: Wire::take(from)?,
            groups: <Option<GroupsConfig> as Wire>::take(from)?.map(std::sync::Arc::new),
            mirror: None,
            spill: None,
            row_ttl: Wire::take(from)?,
            later: Vec::new(),
            pending: None,
        })
    }
}

wire_enum!(StoreError {
    0 => Refused(why),
    1 => Overloaded(what),
    2 => TooManyTombstones { scanned, limit },
    3 => PartitionFull(full),
    4 => ReadOnly { reason },
    5 => Corrupt { file, offset, what },
    6 => UnknownTable(table),
    7 => Closed,
    8 => Io { context },
    9 => Unknown,
});

wire_enum!(Refused {
    0 => NoTransactions,
    1 => NotARange,
    2 => RowsOfTransaction { most },
    3 => PartitionsOfTransaction { most },
    4 => DeferredInTransaction,
    5 => UnnamedPartition,
    6 => RowKeyTooLong,
    7 => CommitTooLarge { bytes, limit },
    8 => TooManyTouched { most },
    9 => Occupied { place },
    10 => ConditionTooDeep { most },
    11 => ComparedWithNull { symbol },
    12 => ComparedWithEmpty { kind, symbol },
    13 => Unsatisfied(fault),
    14 => ListIsNull { sets },
    15 => ListIndex { index, elements },
    16 => Arithmetic(error),
    17 => NoBucket,
    18 => Undecided { why },
    19 => NoMirrors,
    20 => Expires,
    21 => NoSum(error),
});

wire_enum!(Unsatisfied {
    0 => Json { column },
    1 => Value { column, comparison, term },
    2 => Length { column, octets, length, comparison, count },
    3 => Regexp { equal, pattern },
    4 => Null { column },
    5 => Deleted { column },
    6 => Missing { column },
});

impl Wire for ValueError {
    fn put(&self, out: &mut Vec<u8>) {
        self.message().to_string().put(out);
    }

    fn take(from: &mut &[u8]) -> Option<ValueError> {
        String::take(from).map(ValueError::new)
    }
}

/// Words that facts are made of: symbols of comparisons, kinds of collections, and why a node is overloaded.
impl Wire for &'static str {
    fn put(&self, out: &mut Vec<u8>) {
        self.to_string().put(out);
    }

    fn take(from: &mut &[u8]) -> Option<&'static str> {
        let word = String::take(from)?;
        let symbols = Comparison::ALL.iter().map(|comparison| comparison.symbol());
        let mut known = symbols.chain(["list", "set", "map", "the locks ran out"]);
        Some(known.find(|known| *known == word).unwrap_or("the node has no room"))
    }
}
