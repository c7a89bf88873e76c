//! Constraints that need the row as it will be: a value that must be there, a number that is added to.
//!
//! They travel as deferred operations that write nothing, so the partition is locked while they are checked, and every store
//! checks them with this code. Values that the statement itself writes are checked earlier, without reading anything.

use crate::condition::RowPosition;
use crate::deferred::{Deferred, DeferredOp};
use crate::error::StoreError;
use crate::mutation::Mutation;
use crate::refused::Refused;
use model::constraint::{Constraint, Unsatisfied};
use model::deletion::Deletion;
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_ROW, KIND_STATIC};
use model::merge::RowMerger;
use model::row::RowView;
use std::collections::BTreeMap;

/// A constraint that does not hold, and the statement of the batch that it belongs to.
#[derive(Debug)]
pub struct Violation {
    pub statement: u32,
    pub error: StoreError,
}

impl Deferred {
    /// Whether it only looks: a constraint, or the wish to be alone with the partition.
    pub fn is_check(&self) -> bool {
        matches!(self.op, DeferredOp::Check { .. })
    }
}

/// Looks at the rows as they will be when `mutation` is applied. All operations that write are resolved in it already;
/// `before` gives the rows as they are.
pub fn check_rows<'r>(
    mutation: &Mutation,
    checks: &[Deferred],
    before: impl Fn(&RowPosition) -> Option<RowView<'r>>,
    now_seconds: u32,
) -> Result<(), Violation> {
    let coming = Coming::of(mutation);
    let mut merger = RowMerger::new();
    for check in checks {
        let DeferredOp::Check { data_type, constraints } = &check.op else { continue };
        if constraints.is_empty() {
            continue;
        }
        coming.merge(&check.position, before(&check.position), &mut merger);
        let row = merger.row();
        let cell = row.cells().find(|cell| cell.column == check.column);
        let fault = match cell.and_then(|cell| cell.live_value(now_seconds)) {
            Some(value) => {
                let mut faults = constraints.iter().map(|c| c.check(&check.column_name, data_type, value));
                faults.find_map(Result::err)
            }
            // A row that is not there lacks nothing. Static values belong to whatever row was written.
            None => {
                let is_there = check.position == RowPosition::Static || row.is_live(now_seconds);
                let is_missed = is_there && constraints.contains(&Constraint::NotNull);
                is_missed.then(|| Unsatisfied::Missing { column: check.column_name.clone() })
            }
        };
        if let Some(fault) = fault {
            let error = Refused::Unsatisfied(fault).into();
            return Err(Violation { statement: check.statement, error });
        }
    }
    Ok(())
}

/// What a mutation brings, by position.
struct Coming<'m> {
    partition: Deletion,
    ranges: Vec<(&'m [u8], &'m [u8], Deletion)>,
    rows: BTreeMap<&'m [u8], Vec<RowView<'m>>>,
    statics: Vec<RowView<'m>>,
}

impl<'m> Coming<'m> {
    fn of(mutation: &'m Mutation) -> Coming<'m> {
        let mut coming = Coming {
            partition: Deletion::NONE,
            ranges: Vec::new(),
            rows: BTreeMap::new(),
            statics: Vec::new(),
        };
        for entry in mutation.entries() {
            let Some((&kind, clustering)) = entry.position.split_first() else { continue };
            match kind {
                KIND_PARTITION_DELETION => {
                    let deletion =
                        Deletion::decode(entry.payload).map_or(Deletion::NONE, |(deletion, _)| deletion);
                    coming.partition = coming.partition.max(deletion);
                }
                KIND_RANGE => {
                    let range = Deletion::decode(entry.payload);
                    coming.ranges.extend(range.map(|(deletion, end)| (clustering, end, deletion)));
                }
                KIND_STATIC => coming.statics.extend(RowView::from_payload(entry.payload)),
                KIND_ROW => {
                    coming.rows.entry(clustering).or_default().extend(RowView::from_payload(entry.payload))
                }
                _ => {}
            }
        }
        coming
    }

    fn merge(&self, position: &RowPosition, before: Option<RowView<'_>>, merger: &mut RowMerger) {
        let (new, covering) = match position {
            RowPosition::Static => (self.statics.as_slice(), self.partition),
            RowPosition::Row(clustering) => {
                let clustering = clustering.as_slice();
                let ranges =
                    self.ranges.iter().filter(|(start, end, _)| *start <= clustering && clustering < *end);
                let covering = ranges.fold(self.partition, |deletion, (_, _, range)| deletion.max(*range));
                (self.rows.get(clustering).map_or(&[][..], Vec::as_slice), covering)
            }
        };
        let rows: Vec<RowView<'_>> = before.into_iter().chain(new.iter().copied()).collect();
        merger.merge(&rows, covering, None);
    }
}
