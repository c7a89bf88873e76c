//! What a history writes.

use super::{ANY_TIME, COUNTERS, PURGED, World};
use crate::harness::{add, partition};
use model::deletion::{Deletion, Marker};
use model::row::{Cell, CellState, RowWriter};
use model::types::DataType;
use store::{
    CellCondition, Comparison, ConditionalCommit, Deferred, DeferredOp, Mutation, PartitionCheck, RowCheck,
    RowPosition, Store, Subject, TableId, Tree,
};

/// Columns: two simple ones, then a multi-cell one.
const FIRST: u32 = 1;
const FIRST_STATIC: u32 = 10;
const COLLECTION: u32 = FIRST + 2;
const NUMBER: u32 = 5;

impl World {
    fn timestamp(&mut self, table: TableId) -> i64 {
        if table == PURGED {
            return self.now;
        }
        match self.random.below(40) {
            0 => {
                self.count("timestamp from the future");
                self.now + self.random.below(5_000_000) as i64
            }
            1 => {
                self.count("timestamp from the past");
                self.random.below(1000) as i64 - 500
            }
            _ => self.now - self.random.below(40_000_000) as i64 / 1_000_000 * 1_000_000,
        }
    }

    pub(super) fn mutation(&mut self) -> Mutation {
        let table = if self.random.one_in(2) { ANY_TIME } else { PURGED };
        let timestamp = self.timestamp(table);
        let deletion = Deletion { timestamp, local_seconds: self.now_seconds() };
        let mut mutation = Mutation::new(table, partition(&self.key()));
        match self.random.below(20) {
            0 => {
                self.count("delete partition");
                mutation.delete_partition(deletion);
            }
            1 | 2 => {
                self.count("delete range");
                let (start, end) = (self.bound(), self.bound());
                mutation.delete_range(&start, &end, deletion);
            }
            3 => {
                self.count("delete row");
                let mut writer = RowWriter::new();
                writer.begin(timestamp, None, deletion);
                mutation.row(&self.clustering(), writer.view());
            }
            4 | 5 => {
                self.count("static row");
                let mut writer = RowWriter::new();
                writer.begin(timestamp, None, Deletion::NONE);
                self.put_cells(&mut writer, timestamp, FIRST_STATIC);
                mutation.static_row(writer.view());
            }
            _ => {
                let mut writer = RowWriter::new();
                let marker = self.random.one_in(2).then(|| self.marker(timestamp));
                writer.begin(timestamp, marker, Deletion::NONE);
                self.put_cells(&mut writer, timestamp, FIRST);
                mutation.row(&self.clustering(), writer.view());
            }
        }
        mutation
    }

    /// A place among clustering keys: one of them, or between two, or before or behind many.
    pub(super) fn bound(&mut self) -> Vec<u8> {
        let mut bound = self.clustering();
        match self.random.below(6) {
            0 => bound.truncate(2),
            1 => bound.push(0xFF),
            2 => bound.push(0),
            _ => {}
        }
        bound
    }

    fn ttl(&mut self) -> u32 {
        if self.random.one_in(3) { 1 + self.random.below(40) as u32 } else { 0 }
    }

    fn marker(&mut self, timestamp: i64) -> Marker {
        match self.ttl() {
            0 => Marker::new(timestamp),
            ttl => {
                self.count("expiring row");
                Marker { timestamp, ttl, expiry: self.now_seconds() + ttl }
            }
        }
    }

    fn put_cells(&mut self, writer: &mut RowWriter, timestamp: i64, first: u32) {
        for column in [first, first + 1] {
            if self.random.one_in(2) {
                self.put_cell(writer, timestamp, column, None);
            }
        }
        let column = first + 2;
        if self.random.one_in(6) {
            self.count("delete collection");
            let local_seconds = self.now_seconds();
            let state = CellState::ComplexDeletion { local_seconds };
            writer.cell(&Cell { column, path: None, timestamp: timestamp - 1, state });
        }
        for path in 0..3u8 {
            if self.random.one_in(4) {
                self.put_cell(writer, timestamp, column, Some(&[path]));
            }
        }
    }

    fn put_cell(&mut self, writer: &mut RowWriter, timestamp: i64, column: u32, path: Option<&[u8]>) {
        let value = [self.random.below(256) as u8; 9];
        let state = match self.ttl() {
            _ if value[0] < 40 => {
                self.count(if path.is_some() { "delete element" } else { "delete cell" });
                CellState::Tombstone { local_seconds: self.now_seconds() }
            }
            0 => CellState::Live(&value),
            ttl => {
                self.count("expiring cell");
                CellState::Expiring { value: &value, ttl, expiry: self.now_seconds() + ttl }
            }
        };
        if path.is_some() {
            self.count("write element");
        }
        writer.cell(&Cell { column, path, timestamp, state });
    }

    /// Counters of several partitions at once; one per partition, because the naive store resolves each mutation
    /// alone.
    pub(super) async fn add_to_counters(&mut self) {
        self.count("counter add");
        let now = self.now;
        let mut mutations: Vec<Mutation> = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let delta = self.random.below(9) as i64 - 4;
            let mutation = add(COUNTERS, &self.key(), "c", delta, now);
            if mutations.iter().all(|other| other.key != mutation.key) {
                mutations.push(mutation);
            }
        }
        self.commit(mutations).await;
    }

    /// `l[i] = v`, `l = l - [v]`, `n = n + 1`: resolved by the store, and refused where there is nothing to resolve.
    pub(super) async fn operate_on_current_value(&mut self) {
        let value = vec![self.random.below(256) as u8; 9];
        let (column, op) = match self.random.below(4) {
            0 => (COLLECTION, DeferredOp::ListSet { index: self.random.below(3) as i32, value: Some(value) }),
            1 => (COLLECTION, DeferredOp::ListSet { index: 0, value: None }),
            2 => (COLLECTION, DeferredOp::ListRemove { element: DataType::Blob, values: vec![value] }),
            _ => {
                let operand = (self.random.below(100) as i64).to_be_bytes().to_vec();
                let subtract = self.random.one_in(2);
                (
                    NUMBER,
                    DeferredOp::Arithmetic { data_type: DataType::BigInt, subtract, operand, steady: false },
                )
            }
        };
        self.count(if column == NUMBER { "arithmetic" } else { "list operation" });
        let mut mutation = Mutation::new(PURGED, partition(&self.key()));
        let position = RowPosition::Row(self.clustering());
        if column == NUMBER && self.random.one_in(2) {
            // Give it a number to begin with.
            let RowPosition::Row(row) = &position else { return };
            let mut writer = RowWriter::new();
            writer.begin(self.now, Some(Marker::new(self.now)), Deletion::NONE);
            writer.live(NUMBER, &7i64.to_be_bytes());
            mutation.row(row, writer.view());
        } else {
            let (timestamp, ttl, column_name) = (self.now, self.ttl(), "column".into());
            mutation.deferred.push(Deferred {
                position,
                column,
                column_name,
                timestamp,
                ttl,
                statement: 0,
                op,
            });
        }
        self.commit(vec![mutation]).await;
    }

    pub(super) async fn conditional(&mut self) {
        let (check, mutation) = self.checked_row();
        // Sometimes a transaction: more partitions, on whatever shards, some only looked at.
        let mut further = Vec::new();
        let mut mutations = vec![mutation];
        while self.random.one_in(3) && further.len() < 3 {
            let (check, mutation) = self.checked_row();
            further.push(PartitionCheck { table: PURGED, key: mutation.key.clone(), checks: vec![check] });
            if self.random.one_in(2) {
                mutations.push(mutation);
            }
        }
        if !further.is_empty() && self.random.one_in(8) {
            mutations.clear();
        }
        let key = match mutations.first() {
            Some(first) => first.key.clone(),
            None => partition(&self.key()),
        };
        self.count(if further.is_empty() { "one partition" } else { "several partitions" });
        let commit = ConditionalCommit {
            table: PURGED,
            key,
            checks: vec![check],
            further,
            mutations,
            provisional_timestamp: self.now,
            now_seconds: self.now_seconds(),
        };
        let ours = self.store().commit_if_either_way(commit.clone()).await.unwrap();
        let theirs = self.naive.commit_if(commit.clone()).await.unwrap();
        assert_eq!(ours.applied, theirs.applied, "{commit:?}");
        assert_eq!(ours.further.len(), theirs.further.len());
        self.count(if ours.applied { "condition applied" } else { "condition refused" });
    }

    /// A row to write, with a condition on it as it is.
    fn checked_row(&mut self) -> (RowCheck, Mutation) {
        let (key, row) = (self.key(), self.clustering());
        let mut writer = RowWriter::new();
        writer.begin(self.now, Some(Marker::new(self.now)), Deletion::NONE);
        writer.live(FIRST, b"swapped");
        let mut mutation = Mutation::new(PURGED, partition(&key));
        mutation.row(&row, writer.view());
        let mut check =
            RowCheck { position: RowPosition::Row(row), columns: None, exists: None, conditions: vec![] };
        match self.random.below(4) {
            0 => check.exists = Some(true),
            1 | 2 => check.exists = Some(false),
            _ => {
                let tree = self.tree(3);
                check.conditions.push(tree);
            }
        }
        (check, mutation)
    }

    /// Conditions on the first column, put together at random.
    fn tree(&mut self, depth: u32) -> Tree {
        match self.random.below(if depth == 0 { 1 } else { 4 }) {
            1 => Tree::All(vec![self.tree(depth - 1), self.tree(depth - 1)]),
            2 => Tree::Any(vec![self.tree(depth - 1), self.tree(depth - 1)]),
            3 => Tree::Not(Box::new(self.tree(depth - 1))),
            _ => Tree::Cell(CellCondition {
                column: FIRST,
                is_static: false,
                data_type: DataType::Blob,
                path: Vec::new(),
                subject: Subject::Value,
                comparison: [Comparison::Equal, Comparison::NotEqual, Comparison::Prefix]
                    [self.random.below(3) as usize],
                values: vec![self.random.one_in(2).then(|| b"swapped".to_vec())],
            }),
        }
    }
}
