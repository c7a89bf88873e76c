//! Rows that expire as a whole, at the moment that one of their cells says.
//!
//! A row whose moment has come is stored until somebody deletes it, and no reader sees it. What is written to such a row must not bring
//! back what expired with it: every write looks at what is stored, and buries an expired row in its own commit.

use crate::condition::RowPosition;
use crate::mutation::Mutation;
use crate::read::{Flow, Sink};
use model::deletion::Deletion;
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};

/// The clock reading of whoever wants to see every row, expired or not.
pub const BEFORE_EVERYTHING: u32 = 0;

/// Which cell says when a row expires, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTtl {
    pub column: u32,
    /// A timestamp; else seconds since 1970.
    pub in_millis: bool,
}

impl RowTtl {
    /// Whether the moment of a row has come. Moments count in whole seconds, as the clock of reads does.
    pub fn is_over(&self, row: &RowView<'_>, now_seconds: u32) -> bool {
        let cell = row.cells().find(|cell| cell.column == self.column);
        let moment = cell.and_then(|cell| cell.live_value(now_seconds)).and_then(|value| self.seconds(value));
        moment.is_some_and(|moment| moment <= i64::from(now_seconds))
    }

    fn seconds(&self, value: &[u8]) -> Option<i64> {
        match (self.in_millis, value.len()) {
            (true, 8) => Some(i64::from_be_bytes(value.try_into().ok()?).div_euclid(1000)),
            (false, 8) => Some(i64::from_be_bytes(value.try_into().ok()?)),
            (false, 4) => Some(i64::from(i32::from_be_bytes(value.try_into().ok()?))),
            // A value without bytes says nothing.
            _ => None,
        }
    }

    /// Has a mutation delete those of the stored rows that have expired. What it writes itself is newer than they are, or it comes too
    /// late, as behind any deletion.
    pub fn bury<'r>(
        &self,
        stored: impl Iterator<Item = (&'r RowPosition, RowView<'r>)>,
        now_seconds: u32,
        mutation: &mut Mutation,
    ) {
        for (position, row) in stored {
            let RowPosition::Row(clustering) = position else { continue };
            if self.is_over(&row, now_seconds)
                && let Some((_, newest)) = row.timestamps()
            {
                let mut writer = RowWriter::new();
                writer.begin(newest, None, Deletion { timestamp: newest, local_seconds: now_seconds });
                mutation.row(clustering, writer.view());
            }
        }
    }
}

/// Passes on the rows whose moment has not come.
pub struct LivingRows<'s> {
    pub row_ttl: RowTtl,
    pub now_seconds: u32,
    pub sink: &'s mut dyn Sink,
}

impl Sink for LivingRows<'_> {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.sink.partition(key)
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.sink.static_row(row)
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        let hidden = self.now_seconds != BEFORE_EVERYTHING && self.row_ttl.is_over(&row, self.now_seconds);
        if hidden { Flow::Continue } else { self.sink.row(clustering, row) }
    }

    fn partition_end(&mut self) -> Flow {
        self.sink.partition_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableId;
    use model::deletion::Marker;
    use model::row::{Cell, CellState};

    const MILLIS: RowTtl = RowTtl { column: 3, in_millis: true };
    const SECONDS: RowTtl = RowTtl { column: 3, in_millis: false };

    fn row(column: u32, value: &[u8]) -> Vec<u8> {
        let mut writer = RowWriter::new();
        writer.begin(70, Some(Marker::new(70)), Deletion::NONE);
        writer.cell(&Cell { column, path: None, timestamp: 75, state: CellState::Live(value) });
        writer.view().to_payload()
    }

    fn is_over(row_ttl: RowTtl, column: u32, value: &[u8], now_seconds: u32) -> bool {
        row_ttl.is_over(&RowView::from_payload(&row(column, value)).unwrap(), now_seconds)
    }

    #[test]
    fn a_moment_comes_at_its_second_and_not_before() {
        let millis = 1_000_999_i64.to_be_bytes();
        assert!(!is_over(MILLIS, 3, &millis, 999));
        assert!(is_over(MILLIS, 3, &millis, 1_000));
        for value in [&1_000_i64.to_be_bytes()[..], &1_000_i32.to_be_bytes()[..]] {
            assert!(!is_over(SECONDS, 3, value, 999));
            assert!(is_over(SECONDS, 3, value, 1_000));
        }
        assert!(is_over(MILLIS, 3, &(-1_i64).to_be_bytes(), 1));
        // Another column, or no bytes.
        assert!(!is_over(MILLIS, 4, &millis, 5_000));
        assert!(!is_over(MILLIS, 3, &[], 5_000));
    }

    #[test]
    fn an_expired_row_is_buried_as_new_as_it_was() {
        let expired = row(3, &5_i64.to_be_bytes());
        let living = row(3, &50_i64.to_be_bytes());
        let at = |byte: u8| RowPosition::Row(vec![byte]);
        let (first, second) = (at(1), at(2));
        let stored = [(&first, RowView::from_payload(&expired)), (&second, RowView::from_payload(&living))];
        let mut mutation = Mutation::new(TableId(1), PartitionKey::of(b"k").unwrap());
        SECONDS.bury(stored.into_iter().filter_map(|(at, row)| Some((at, row?))), 20, &mut mutation);
        let entries: Vec<_> = mutation.entries().collect();
        assert_eq!(entries.len(), 1);
        let buried = RowView::from_payload(entries[0].payload).unwrap();
        assert_eq!(buried.deletion(), Deletion { timestamp: 75, local_seconds: 20 });
    }
}
