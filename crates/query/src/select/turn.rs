//! How long a read may hold its shard: work is counted as rows are taken, and at some point others have their turn.
//!
//! Counting needs no clock and is the same in every run. A unit is about a nanosecond on the machines we know. The store counts entries
//! that it examines in vain (`scan_limit`); work on a row is counted here.

use super::filter::BoundFilter;
use super::output::Output;
use super::plan::SelectPlan;

/// Work until others have their turn: a few milliseconds. Common pages are done before.
const TURN_COST: u64 = 3_000_000;

/// The first turn while others wait for theirs.
const FIRST_TURN_COST: u64 = 500_000;

/// What a row costs, however small it is.
const ROW_COST: u64 = 400;
/// What a value, a comparison or a step of an expression costs, however small it is.
const STEP_COST: u64 = 40;
/// What a call costs for each byte of the row, beside copying it.
const CALL_BYTE_COST: u64 = 16;

/// What a unit of the sandbox costs.
const UNIT_COST: u64 = 2;

pub struct Turn {
    row: u64,
    byte: u64,
    left: u64,
}

impl Turn {
    /// What each row costs is known from the plan and its bound filters.
    pub fn new(plan: &SelectPlan, filters: &[BoundFilter<'_>]) -> Turn {
        let mut steps = 0;
        let mut calls = 0;
        match &plan.output {
            Output::Slots(slots) => steps += slots.len(),
            Output::Exprs(exprs) => exprs.iter().for_each(|expr| expr.count(&mut steps, &mut calls)),
            Output::Json(members) => {
                members.iter().for_each(|(_, expr)| expr.count(&mut steps, &mut calls));
                calls += members.len();
            }
        }
        for filter in filters {
            steps += filter.alternatives();
            calls += filter.alternatives();
        }
        if let Some(grouping) = &plan.grouping {
            steps += grouping.aggregates.len() + grouping.keys.len();
            let arguments = grouping.aggregates.iter().filter_map(|aggregate| aggregate.argument.as_ref());
            let users = grouping.aggregates.iter().filter_map(|aggregate| aggregate.user.as_ref());
            let of_users = users.flat_map(|user| &user.arguments);
            arguments
                .chain(of_users)
                .chain(&grouping.keys)
                .for_each(|expr| expr.count(&mut steps, &mut calls));
        }
        Turn {
            row: ROW_COST + steps as u64 * STEP_COST,
            byte: 1 + calls as u64 * CALL_BYTE_COST,
            left: if rt::turn::is_crowded() { FIRST_TURN_COST } else { TURN_COST },
        }
    }

    /// Counts units that functions of users have worked.
    pub fn worked(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units.saturating_mul(UNIT_COST));
    }

    /// Counts a row of this many bytes, and says whether it is others' turn now.
    #[inline]
    pub fn is_over(&mut self, row_bytes: usize) -> bool {
        let cost = self.row.saturating_add(self.byte.saturating_mul(row_bytes as u64));
        if cost < self.left {
            self.left -= cost;
            return false;
        }
        self.left = TURN_COST;
        true
    }
}
