//! Operations on current values, in the simplest way that gives what a batch must give.

use super::{NaiveStore, merged};
use crate::condition::RowPosition;
use crate::constraint::{Violation, check_rows};
use crate::deferred::{Deferred, DeferredOp};
use crate::mutation::Mutation;
use model::row::{RowView, RowWriter};
use std::collections::BTreeMap;

type Rows = BTreeMap<RowPosition, Vec<u8>>;

/// One mutation per partition: what the statements of a batch do to a row is seen together.
pub fn together(mutations: &[Mutation]) -> Vec<Mutation> {
    let mut together: Vec<Mutation> = Vec::new();
    for mutation in mutations {
        match together.iter_mut().find(|m| m.table == mutation.table && m.key == mutation.key) {
            Some(earlier) => earlier.extend(mutation.clone()),
            None => together.push(mutation.clone()),
        }
    }
    together
}

fn view<'r>(rows: &'r Rows, position: &RowPosition) -> Option<RowView<'r>> {
    rows.get(position).and_then(|row| RowView::from_payload(row))
}

fn add(rows: &mut Rows, position: &RowPosition, image: &[u8]) {
    let sum = merged(rows.get(position).map(Vec::as_slice), image);
    rows.insert(position.clone(), sum);
}

impl NaiveStore {
    /// Each operation sees what the earlier ones of its statement have made of its row; those that add up also see what the other
    /// statements have. An element that was set is seen by the next operation of another kind.
    pub(super) fn resolve(&self, mut mutation: Mutation, now_seconds: u32) -> Result<Mutation, Violation> {
        let (checks, operations): (Vec<Deferred>, Vec<Deferred>) =
            std::mem::take(&mut mutation.deferred).into_iter().partition(Deferred::is_check);
        let row = |position: &RowPosition| {
            let row = self.current(mutation.table, &mutation.key, position, now_seconds)?;
            Some((position.clone(), row))
        };
        let mut before: Rows =
            operations.iter().chain(&checks).filter_map(|operation| row(&operation.position)).collect();
        if let Some(row_ttl) = self.row_ttl(mutation.table) {
            let rows = before.iter().filter_map(|(at, row)| Some((at, RowView::from_payload(row)?)));
            row_ttl.bury(rows, now_seconds, &mut mutation);
            before.retain(|at, row| {
                RowView::from_payload(row)
                    .is_some_and(|row| !self.is_over(mutation.table, at, &row, now_seconds))
            });
        }
        let (mut seen, mut unseen, mut written) = (before.clone(), Rows::new(), Rows::new());
        let mut statement = operations.first().map_or(0, |operation| operation.statement);
        for operation in &operations {
            let position = &operation.position;
            if statement != operation.statement && !operation.sees_its_batch() {
                (seen, unseen) = (before.clone(), Rows::new());
            }
            statement = operation.statement;
            let sets_element = matches!(operation.op, DeferredOp::ListSet { value: Some(_), .. });
            if !sets_element && let Some(elements) = unseen.remove(position) {
                add(&mut seen, position, &elements);
            }
            let mut out = RowWriter::new();
            operation
                .resolve(view(&seen, position), now_seconds, &mut out)
                .map_err(|error| Violation { statement, error })?;
            if !out.is_empty() {
                let image = out.view().to_payload();
                add(if sets_element { &mut unseen } else { &mut seen }, position, &image);
                add(&mut written, position, &image);
            }
        }
        for (position, payload) in &written {
            let Some(row) = RowView::from_payload(payload) else { continue };
            match position {
                RowPosition::Static => mutation.static_row(row),
                RowPosition::Row(clustering) => mutation.row(clustering, row),
            }
        }
        check_rows(&mutation, &checks, |position| view(&before, position), now_seconds)?;
        Ok(mutation)
    }
}
