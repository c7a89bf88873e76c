//! Which source is next: comparisons between the sources of one partition.

use super::inputs::Input;
use crate::cursor::{Cursor, is_inside};
use model::row::RowView;
use std::cmp::Ordering;

/// The row an input stands on, if it lies in the slice.
#[inline]
pub(super) fn head<'i>(
    input: &'i Input<'_>,
    bounds: (&[u8], &[u8]),
    reverse: bool,
) -> Option<(&'i [u8], RowView<'i>)> {
    let entry = input.rows.entry().filter(|entry| entry.is_row())?;
    is_inside(entry.clustering(), bounds, reverse).then(|| (entry.clustering(), entry.row()))
}

/// In `tied`, the open inputs that stand on the next clustering position. Returns the one that stands on the position
/// behind that.
#[inline]
pub(super) fn select(
    inputs: &[Input<'_>],
    bounds: (&[u8], &[u8]),
    reverse: bool,
    tied: &mut Vec<usize>,
) -> Option<usize> {
    let mut best: Option<&[u8]> = None;
    let mut second: Option<(&[u8], usize)> = None;
    tied.clear();
    for (i, input) in inputs.iter().enumerate().filter(|(_, input)| input.open) {
        let Some((clustering, _)) = head(input, bounds, reverse) else { continue };
        let order = best.map(|best| clustering.cmp(best));
        let order = if reverse { order.map(Ordering::reverse) } else { order };
        match order {
            Some(Ordering::Greater) => {
                let known = second.map(|(clustering, _)| clustering);
                if nearer(known, Some(clustering), reverse) != known {
                    second = Some((clustering, i));
                }
                continue;
            }
            Some(Ordering::Equal) => {}
            Some(Ordering::Less) | None => {
                second = best.zip(tied.first().copied()).or(second);
                tied.clear();
                best = Some(clustering);
            }
        }
        tied.push(i);
    }
    second.map(|(_, i)| i)
}

/// The position that comes first in the direction of the read.
#[inline]
pub(super) fn nearer<'p>(a: Option<&'p [u8]>, b: Option<&'p [u8]>, reverse: bool) -> Option<&'p [u8]> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if reverse { a.max(b) } else { a.min(b) }),
        (a, b) => a.or(b),
    }
}

/// The input to be opened next: of those not open yet, the one whose rows begin first.
pub(super) fn nearest_waiting(inputs: &[Input<'_>], reverse: bool) -> Option<usize> {
    let waiting = inputs.iter().enumerate().filter(|(_, input)| input.wanted && !input.open);
    let waiting = waiting.map(|(i, input)| (input.nearest(reverse), i));
    // Unknown bounds come first either way.
    let nearest = match reverse {
        false => waiting.min(),
        true => waiting.max_by_key(|(bound, _)| (bound.is_none(), *bound)),
    };
    nearest.map(|(_, i)| i)
}

/// Whether a row of `waiting` may come before or at the row that `best` stands on.
#[inline]
pub(super) fn is_due(waiting: &Input<'_>, best: Option<&Input<'_>>, reverse: bool) -> bool {
    let (Some(bound), Some(entry)) = (waiting.nearest(reverse), best.and_then(|best| best.rows.entry()))
    else {
        return true;
    };
    if reverse { bound >= entry.clustering() } else { bound <= entry.clustering() }
}
