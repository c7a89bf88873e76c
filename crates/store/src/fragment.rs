//! The fragment stream: the one way stored partitions travel between sources inside a store.
//!
//! ```text
//! stream    ::= partition*                         partitions in ascending storage order
//! partition ::= Partition Static? (Range | Row)* End
//! ```
//! Forward: a `Range` stands before the first row at or behind its start; ranges of one partition are
//! disjoint and ascending. Nothing in a stream is shadowed by anything else in the same stream.
//! [`Validator`] checks a live stream against this grammar.

use model::deletion::Deletion;
use model::key::PartitionKey;
use model::row::RowView;

#[derive(Clone, Debug)]
pub enum Fragment<'a> {
    /// A partition begins; `deletion` covers everything in it up to its timestamp.
    Partition {
        key: &'a PartitionKey,
        deletion: Deletion,
    },
    Static(RowView<'a>),
    /// Rows in `[start, end)` up to the deletion's timestamp are deleted.
    Range {
        start: &'a [u8],
        end: &'a [u8],
        deletion: Deletion,
    },
    Row {
        clustering: &'a [u8],
        row: RowView<'a>,
    },
    End,
}

/// Checks the order and shape of a stream as it passes by.
#[derive(Default)]
pub struct Validator {
    last_key: Option<PartitionKey>,
    partition: Option<PartitionState>,
}

struct PartitionState {
    deletion: Deletion,
    body_begun: bool,
    last_row: Option<Vec<u8>>,
    range: Option<(Vec<u8>, Vec<u8>, Deletion)>,
}

impl Validator {
    pub fn new() -> Validator {
        Validator::default()
    }

    /// `Err` says which rule the fragment breaks.
    pub fn check(&mut self, fragment: &Fragment<'_>) -> Result<(), &'static str> {
        match fragment {
            Fragment::Partition { key, deletion } => self.begin(key, *deletion),
            Fragment::End => self.partition.take().map(|_| ()).ok_or("end outside a partition"),
            other => {
                let state = self.partition.as_mut().ok_or("fragment outside a partition")?;
                state.body(other)
            }
        }
    }

    /// To be called when the stream ends.
    pub fn finish(&self) -> Result<(), &'static str> {
        if self.partition.is_some() { Err("the stream ends inside a partition") } else { Ok(()) }
    }

    fn begin(&mut self, key: &PartitionKey, deletion: Deletion) -> Result<(), &'static str> {
        if self.partition.is_some() {
            return Err("a partition begins inside another");
        }
        if self.last_key.as_ref().is_some_and(|last| last >= key) {
            return Err("partitions are out of order");
        }
        self.last_key = Some(key.clone());
        self.partition = Some(PartitionState { deletion, body_begun: false, last_row: None, range: None });
        Ok(())
    }
}

impl PartitionState {
    fn body(&mut self, fragment: &Fragment<'_>) -> Result<(), &'static str> {
        match fragment {
            Fragment::Static(row) => {
                if std::mem::replace(&mut self.body_begun, true) {
                    return Err("the static row must come first, once");
                }
                self.shadowing(row, Deletion::NONE)
            }
            Fragment::Range { start, end, deletion } => self.range(start, end, *deletion),
            Fragment::Row { clustering, row } => {
                self.body_begun = true;
                if self.last_row.as_deref().is_some_and(|last| last >= *clustering) {
                    return Err("rows are out of order");
                }
                self.last_row = Some(clustering.to_vec());
                let inside = |(start, end, _): &(Vec<u8>, Vec<u8>, Deletion)| {
                    start.as_slice() <= *clustering && *clustering < end.as_slice()
                };
                let covering = self.range.as_ref().filter(|r| inside(r)).map_or(Deletion::NONE, |r| r.2);
                self.shadowing(row, covering)
            }
            Fragment::Partition { .. } | Fragment::End => Err("not part of a partition's body"),
        }
    }

    fn range(&mut self, start: &[u8], end: &[u8], deletion: Deletion) -> Result<(), &'static str> {
        self.body_begun = true;
        if start >= end {
            return Err("an empty range tombstone");
        }
        if self.range.as_ref().is_some_and(|(_, last_end, _)| last_end.as_slice() > start) {
            return Err("range tombstones overlap or are out of order");
        }
        if self.last_row.as_deref().is_some_and(|last| last >= start) {
            return Err("a range tombstone comes after a row it covers");
        }
        if self.deletion.covers(deletion.timestamp) {
            return Err("a range tombstone is shadowed by the partition's deletion");
        }
        self.range = Some((start.to_vec(), end.to_vec(), deletion));
        Ok(())
    }

    fn shadowing(&self, row: &RowView<'_>, range: Deletion) -> Result<(), &'static str> {
        let covering = self.deletion.max(range);
        let hidden = covering.max(row.deletion());
        if row.marker().is_some_and(|m| hidden.covers(m.timestamp)) {
            return Err("a row marker is shadowed");
        }
        if row.cells().any(|c| hidden.covers(c.timestamp)) {
            return Err("a cell is shadowed");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::deletion::Marker;
    use model::row::RowWriter;

    #[test]
    fn accepts_the_grammar_and_names_what_breaks_it() {
        let key = PartitionKey::of(b"k").unwrap();
        let mut writer = RowWriter::new();
        writer.begin(10, Some(Marker::new(10)), Deletion::NONE);
        let row = |clustering| Fragment::Row { clustering, row: writer.view() };
        let range = |start, end, timestamp| Fragment::Range {
            start,
            end,
            deletion: Deletion { timestamp, local_seconds: 0 },
        };
        let begin = Fragment::Partition { key: &key, deletion: Deletion { timestamp: 3, local_seconds: 0 } };
        let cases: Vec<(Vec<Fragment<'_>>, Result<(), &str>)> = vec![
            (vec![row(b"a"), range(b"b", b"c", 5), row(b"b"), range(b"c", b"d", 4)], Ok(())),
            (vec![Fragment::Static(writer.view()), row(b"a")], Ok(())),
            (vec![row(b"a"), Fragment::Static(writer.view())], Err("the static row must come first, once")),
            (vec![row(b"b"), row(b"a")], Err("rows are out of order")),
            (
                vec![range(b"a", b"c", 5), range(b"b", b"d", 5)],
                Err("range tombstones overlap or are out of order"),
            ),
            (vec![range(b"a", b"c", 2)], Err("a range tombstone is shadowed by the partition's deletion")),
            (vec![range(b"a", b"c", 10), row(b"b")], Err("a row marker is shadowed")),
            (vec![row(b"b"), range(b"a", b"c", 5)], Err("a range tombstone comes after a row it covers")),
            (vec![begin.clone()], Err("a partition begins inside another")),
        ];
        for (fragments, expected) in cases {
            let mut validator = Validator::new();
            validator.check(&begin).unwrap();
            let outcome = fragments.iter().try_for_each(|f| validator.check(f));
            assert_eq!(outcome, expected, "{fragments:?}");
            assert!(validator.finish().is_err());
        }
    }
}
