//! The sink of a read: filters, limits, groups and writes rows, and knows where a page ended.

use super::aggregate::State;
use super::cell_info::CellInfos;
use super::filter::BoundFilter;
use super::nearest::Nearest;
use super::output::Output;
use super::paging::SequenceState;
use super::plan::SelectPlan;
use super::scratch::Scratch;
use super::turn::Turn;
use crate::buckets::Bucket;
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Env, Expr};
use crate::held::Held;
use model::key::PartitionKey;
use model::row::{ColumnId, RowView};
use model::types::DataType;
use model::value::compare;
use std::borrow::Cow;
use std::sync::Arc;
use store::{Flow, Position, Sink};

/// How much a page may hold.
#[derive(Clone, Copy, Debug)]
pub struct PageBudget {
    pub rows: u64,
    pub bytes: usize,
}

/// Room for a small answer, so that a point read does not grow its body step by step.
const BODY_BYTES: usize = 512;

/// Most room that is made for rows that LIMIT lets us expect.
const BODY_BYTES_EXPECTED_MAX: usize = 64 << 10;

/// Answers above this size get memory for all that they may become, up to a limit.
const LONG_BYTES: usize = 512 << 10;
const BODY_BYTES_RESERVED_MAX: usize = 64 << 20;

/// Why the collector stopped the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The page is full, and there may be more rows.
    PageFull,
    /// LIMIT is reached: nothing follows.
    LimitReached,
}

pub struct Collector<'p, 'c> {
    plan: &'p SelectPlan,
    request: Request<'p>,
    ids: &'c dyn Ids,
    filters: Vec<BoundFilter<'p>>,
    infos: CellInfos,
    scratch: Scratch,
    budget: PageBudget,
    pub body: Vec<u8>,
    pub count: u64,
    pub limit_left: Option<u64>,
    per_partition: Option<u64>,
    partition_left: Option<u64>,
    /// The partition at hand.
    key: Option<PartitionKey>,
    has_static: bool,
    rows_met: bool,
    /// Place of the last row that was looked at and dealt with.
    last: Vec<u8>,
    last_state: LastState,
    /// The last row is of the partition at hand, else of `last_key`.
    last_is_current: bool,
    last_key: Option<PartitionKey>,
    group: Option<Group>,
    /// The end of a partition that the store tells is not its end: more of its rows may follow in another read.
    pub open: bool,
    /// Where columns were dropped: those that are left. A row that lives in dropped ones alone is not there.
    living: Option<Arc<[ColumnId]>>,
    /// Buckets before this one are kept no longer.
    oldest_kept: Option<i64>,
    /// Collects rows by similarity instead of writing them as they come.
    pub nearest: Option<Nearest>,
    pub stopped: Option<Stop>,
    turn: Turn,
    /// Functions of users are called.
    calls: bool,
    /// The read was stopped for others to have their turn, and continues after this place.
    pub turn_over: Option<Position>,
    pub error: Option<QueryError>,
    /// Clustering bytes and end in `body` of every row, when a merge wants them.
    pub trace: Option<Vec<(Vec<u8>, usize)>>,
    /// Memory for groups, and for rows that are not written as they come.
    pub held: Held,
}

/// What `last` means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastState {
    /// The row with that clustering was dealt with.
    Row,
    /// The whole partition was dealt with.
    Partition,
}

/// The group being aggregated.
struct Group {
    /// GROUP BY values of the group.
    keys: Vec<Option<Vec<u8>>>,
    /// Inputs of its first row, for columns that are not aggregated.
    first: Vec<Option<Vec<u8>>>,
    states: Vec<State>,
    /// Clustering bytes of its first row, when rows are traced.
    clustering: Vec<u8>,
}

impl<'p, 'c> Collector<'p, 'c> {
    pub fn new(
        plan: &'p SelectPlan,
        request: &Request<'p>,
        ids: &'c dyn Ids,
        budget: PageBudget,
        limits: (Option<u64>, Option<u64>),
    ) -> Result<Collector<'p, 'c>, QueryError> {
        let filters: Result<Vec<_>, _> = plan.filters.iter().map(|f| f.bind(request, ids)).collect();
        let filters = filters?;
        Ok(Collector {
            plan,
            request: *request,
            ids,
            turn: Turn::new(plan, &filters),
            calls: !plan.calls.is_empty(),
            turn_over: None,
            filters,
            infos: CellInfos::bind(&plan.layout.infos, &plan.inputs, request, ids)?,
            scratch: Scratch::new(&plan.layout, request.now_seconds),
            budget,
            body: Vec::with_capacity(BODY_BYTES),
            count: 0,
            limit_left: limits.0,
            per_partition: limits.1,
            partition_left: limits.1,
            key: None,
            has_static: false,
            rows_met: false,
            last: Vec::new(),
            last_state: LastState::Partition,
            last_is_current: false,
            last_key: None,
            group: None,
            open: false,
            living: plan.table.living_columns(),
            oldest_kept: oldest_kept(plan, request.now_seconds),
            nearest: None,
            stopped: None,
            error: None,
            trace: None,
            held: Held::default(),
        })
    }

    /// Takes up where an earlier page ended.
    pub fn resume(&mut self, state: &SequenceState) {
        self.key = Some(state.position.key.clone());
        self.last_is_current = true;
        self.rows_met = state.rows_met;
        self.limit_left = state.limit_left;
        self.partition_left = state.partition_left;
        match &state.position.clustering {
            Some(clustering) => {
                self.last = clustering.clone();
                self.last_state = LastState::Row;
            }
            None => self.last_state = LastState::Partition,
        }
    }

    /// Where the next page starts; `None` when nothing was dealt with yet.
    pub fn state(&self) -> Option<SequenceState> {
        // The counters are those of the partition at hand, which may be a later one.
        let same = self.last_is_current;
        let key = if same { self.key.clone()? } else { self.last_key.clone()? };
        let clustering = (self.last_state == LastState::Row).then(|| self.last.clone());
        Some(SequenceState {
            position: Position { key, clustering },
            rows_met: !same || self.rows_met,
            limit_left: self.limit_left,
            partition_left: if same {
                self.partition_left
            } else {
                Some(0).filter(|_| self.per_partition.is_some())
            },
        })
    }

    /// Moves the place to resume at to where the store paused.
    pub fn paused_at(&mut self, position: &Position) {
        self.last_is_current = self.key.as_ref() == Some(&position.key);
        self.last_key = Some(position.key.clone());
        match &position.clustering {
            Some(clustering) => {
                self.last.clear();
                self.last.extend_from_slice(clustering);
                self.last_state = LastState::Row;
            }
            None => self.last_state = LastState::Partition,
        }
    }

    /// Moves the place to resume at to one in a partition that the store need not have announced.
    pub fn paused_in(&mut self, position: &Position) {
        if self.key.as_ref() != Some(&position.key) {
            self.partition(&position.key);
        }
        self.paused_at(position);
    }

    /// Whether a page was full with the last row that is wanted of the partition at hand.
    pub fn ended_with_partition(&self) -> bool {
        self.stopped == Some(Stop::PageFull)
            && self.last_is_current
            && self.last_state == LastState::Partition
    }

    /// Whether no more rows of this partition are wanted.
    pub fn is_done_with(&self, key: &PartitionKey) -> bool {
        self.partition_left == Some(0) && self.key.as_ref() == Some(key)
    }

    /// Keeps the row if it is among the most similar so far.
    fn compare(&mut self, clustering: Option<&[u8]>, row: &[u8]) -> Result<Flow, QueryError> {
        let similarity = match &self.nearest {
            Some(nearest) => self.scratch.value(nearest.slot, row).map(|vector| nearest.similarity(vector)),
            None => None,
        };
        if let Some(similarity) = similarity {
            let start = self.body.len();
            self.put(row)?;
            let encoded = self.body.split_off(start);
            if let Some(nearest) = &mut self.nearest {
                nearest.add(similarity, encoded)?;
                self.held.hold(nearest.bytes())?;
            }
        }
        self.mark(clustering);
        Ok(Flow::Continue)
    }

    /// Ends the last group; to be called when everything was read.
    pub fn finish(&mut self) -> Result<(), QueryError> {
        if let Some(nearest) = self.nearest.take() {
            for row in nearest.finish() {
                self.body.extend_from_slice(&row);
                self.count += 1;
            }
            return Ok(());
        }
        let Some(grouping) = &self.plan.grouping else { return Ok(()) };
        if self.group.is_none() && grouping.keys.is_empty() && self.count == 0 {
            // Aggregates over no rows still have an answer.
            let first = vec![None; self.plan.inputs.len()];
            let states: Result<Vec<State>, _> = grouping.aggregates.iter().map(|a| a.begin()).collect();
            self.group = Some(Group { keys: Vec::new(), first, states: states?, clustering: Vec::new() });
        }
        self.end_group()
    }

    /// Whether a partition is a time bucket that is kept no longer: its rows are not there, dropped already or not.
    fn is_expired(&self, key: &PartitionKey) -> bool {
        let plan = self.plan.table.bucketing();
        let bucket = plan.and_then(|plan| Bucket::of_key(plan, key)).and_then(|(_, bucket)| bucket.time);
        bucket.is_some_and(|bucket| self.oldest_kept.is_some_and(|oldest| bucket < oldest))
    }

    fn is_dead(&self, row: RowView<'_>) -> bool {
        let now_seconds = self.request.now_seconds;
        self.living.as_ref().is_some_and(|columns| !row.is_live_in(columns, now_seconds))
    }

    fn full(&self) -> bool {
        self.count >= self.budget.rows || (self.body.len() >= self.budget.bytes && self.count > 0)
    }

    fn mark(&mut self, clustering: Option<&[u8]>) {
        self.last_is_current = true;
        match clustering {
            Some(clustering) => {
                self.last.clear();
                self.last.extend_from_slice(clustering);
                self.last_state = LastState::Row;
            }
            None => self.last_state = LastState::Partition,
        }
    }

    /// Deals with the row in the scratch; `clustering` is `None` for a static row that stands alone.
    fn take(&mut self, clustering: Option<&[u8]>, row: &[u8]) -> Result<Flow, QueryError> {
        if !self.filters.is_empty() && !self.passes(row)? {
            if self.full() {
                self.mark(clustering);
            }
            return Ok(Flow::Continue);
        }
        if self.nearest.is_some() {
            return self.compare(clustering, row);
        }
        if self.plan.grouping.is_some() {
            return self.aggregate(clustering, row);
        }
        if self.full() {
            self.stopped = Some(Stop::PageFull);
            return Ok(Flow::Stop);
        }
        self.put(row)?;
        if let Some(trace) = &mut self.trace {
            trace.push((clustering.unwrap_or_default().to_vec(), self.body.len()));
        }
        self.count += 1;
        if self.count == 1 {
            self.expect_more();
        }
        // Only behind a full page does the place of the last row matter. A table without clustering has one row per
        // partition, which ends with it.
        if self.full() {
            self.mark(clustering.filter(|_| !self.plan.table.clustering.is_empty()));
        }
        let flow = self.counted();
        // A client that got exactly the rows it asked for asks again, as with Cassandra: clients rely on it, and nothing
        // has to be read to find out whether there are more. A merge asks each of its streams again as well: one row more of each would
        // cost it more, above all of streams on other shards.
        if flow != Flow::Stop && self.count >= self.budget.rows {
            self.stopped = Some(Stop::PageFull);
            return Ok(Flow::Stop);
        }
        Ok(flow)
    }

    /// The first row is written: makes room for as many like it as LIMIT allows.
    fn expect_more(&mut self) {
        if let Some(left) = self.limit_left {
            let rows = left.saturating_sub(1).min(self.budget.rows) as usize;
            self.body.reserve(rows.saturating_mul(self.body.len()).min(BODY_BYTES_EXPECTED_MAX));
        }
    }

    /// Holds the limits against a row that was just written.
    fn counted(&mut self) -> Flow {
        if let Some(left) = &mut self.limit_left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.stopped = Some(Stop::LimitReached);
                return Flow::Stop;
            }
        }
        if let Some(left) = &mut self.partition_left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.mark(None);
                return Flow::NextPartition;
            }
        }
        if self.plan.distinct {
            self.mark(None);
            return Flow::NextPartition;
        }
        Flow::Continue
    }

    fn passes(&self, row: &[u8]) -> Result<bool, QueryError> {
        let inputs = self.scratch.values(row);
        let env = self.env(&inputs);
        for filter in &self.filters {
            if !filter.passes(&env)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn env<'v>(&self, inputs: &'v [Option<Cow<'v, [u8]>>]) -> Env<'v, 'c>
    where
        'p: 'v,
    {
        Env { values: self.request.values, inputs, now_micros: self.request.now_micros, ids: self.ids }
    }

    fn put(&mut self, row: &[u8]) -> Result<(), QueryError> {
        if let Output::Slots(slots) = &self.plan.output {
            return self.scratch.put_row(slots, row, &mut self.body);
        }
        let inputs = self.scratch.values(row);
        let env = Env {
            values: self.request.values,
            inputs: &inputs,
            now_micros: self.request.now_micros,
            ids: self.ids,
        };
        self.plan.output.put(&env, &mut self.body)
    }

    fn aggregate(&mut self, clustering: Option<&[u8]>, row: &[u8]) -> Result<Flow, QueryError> {
        let Some(grouping) = &self.plan.grouping else { return Ok(Flow::Continue) };
        let inputs = self.scratch.values(row);
        let env = self.env(&inputs);
        let mut keys = Vec::with_capacity(grouping.keys.len());
        for key in &grouping.keys {
            keys.push(key.evaluate_in(&env)?.into_bytes().map(Cow::into_owned));
        }
        if self.group.as_ref().is_some_and(|group| !same_group(&grouping.keys, &group.keys, &keys)) {
            drop(inputs);
            self.end_group()?;
            // The row begins the next group; the page must have room for that one.
            if let Some(Stop::LimitReached) = self.stopped {
                return Ok(Flow::Stop);
            }
            if self.partition_left == Some(0) {
                self.mark(None);
                return Ok(Flow::NextPartition);
            }
            return self.aggregate(clustering, row);
        }
        if self.group.is_none() {
            if !grouping.keys.is_empty() && self.full() {
                self.stopped = Some(Stop::PageFull);
                return Ok(Flow::Stop);
            }
            let first = inputs.iter().map(|v| v.as_deref().map(<[u8]>::to_vec)).collect();
            let states: Result<Vec<State>, _> = grouping.aggregates.iter().map(|a| a.begin()).collect();
            let traced = clustering.filter(|_| self.trace.is_some());
            let clustering = traced.unwrap_or_default().to_vec();
            self.group = Some(Group { keys, first, states: states?, clustering });
        }
        if let Some(group) = &mut self.group {
            for (aggregate, state) in grouping.aggregates.iter().zip(&mut group.states) {
                aggregate.add(state, &env)?;
            }
            self.held.hold(group.states.iter().map(State::bytes).sum())?;
        }
        drop(inputs);
        if self.plan.distinct {
            // DISTINCT has one row per partition; that one is counted.
            self.mark(None);
            return Ok(Flow::NextPartition);
        }
        self.mark(clustering);
        Ok(Flow::Continue)
    }

    /// The rows that follow are of another entity; this many of its groups may still come.
    pub fn begin_entity(&mut self, groups_left: Option<u64>) -> Result<(), QueryError> {
        self.end_group()?;
        self.partition_left = groups_left;
        Ok(())
    }

    pub fn groups_left(&self) -> Option<u64> {
        self.partition_left
    }

    /// Adds a row that was merged to its group; `inputs` are its inputs as an answer has values.
    pub fn take_merged(&mut self, clustering: &[u8], inputs: &[u8]) -> Result<Flow, QueryError> {
        self.scratch.put_inputs(inputs);
        self.aggregate(Some(clustering), &[])
    }

    /// Writes the group at hand, if there is one. Its rows are behind the reader.
    fn end_group(&mut self) -> Result<(), QueryError> {
        let Some(group) = self.group.take() else { return Ok(()) };
        self.begin_step();
        let results = self.results(group.states)?;
        let mut inputs: Vec<Option<Cow<'_, [u8]>>> =
            group.first.into_iter().map(|v| v.map(Cow::Owned)).collect();
        for (slot, input) in self.plan.inputs.iter().enumerate() {
            if let super::Source::Aggregate(number) = input.source {
                inputs[slot] = results.get(number).and_then(|r| r.as_deref()).map(Cow::Borrowed);
            }
        }
        let env = Env {
            values: self.request.values,
            inputs: &inputs,
            now_micros: self.request.now_micros,
            ids: self.ids,
        };
        self.plan.output.put(&env, &mut self.body)?;
        if let Some(trace) = &mut self.trace {
            trace.push((group.clustering, self.body.len()));
            let places = trace.len() * size_of::<(Vec<u8>, usize)>();
            // Once more when it is written in order.
            self.held.hold(2 * self.body.len() + places)?;
        }
        self.count += 1;
        if let Some(left) = &mut self.limit_left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.stopped = Some(Stop::LimitReached);
            }
        }
        if let Some(left) = &mut self.partition_left {
            *left = left.saturating_sub(1);
        }
        Ok(())
    }

    /// What the aggregates of a group give.
    fn results(&self, states: Vec<State>) -> Result<Vec<Option<Vec<u8>>>, QueryError> {
        let Some(grouping) = &self.plan.grouping else { return Ok(Vec::new()) };
        let env = self.env(&[]);
        grouping
            .aggregates
            .iter()
            .zip(states)
            .map(|(aggregate, state)| aggregate.finish(state, &env))
            .collect()
    }

    /// Functions of users may work again, and what they did counts.
    #[inline]
    fn begin_step(&mut self) {
        if self.calls
            && let Some(sandbox) = self.ids.sandbox()
        {
            self.turn.worked(sandbox.used());
            sandbox.begin_step();
        }
    }

    /// Stops the read after a row that was dealt with; the driver continues there.
    #[cold]
    fn give_way(&mut self, flow: Flow, clustering: &[u8]) -> Flow {
        let Some(key) = self.key.clone() else { return flow };
        // A partition that is left is left in this read: its end has to be told.
        if flow != Flow::Continue {
            return flow;
        }
        self.turn_over = Some(Position { key, clustering: Some(clustering.to_vec()) });
        self.expect_a_page();
        Flow::Stop
    }

    /// An answer that is long already may fill its budget. Growing by doubling would copy megabytes in one go.
    fn expect_a_page(&mut self) {
        let (length, bytes) = (self.body.len(), self.budget.bytes.min(BODY_BYTES_RESERVED_MAX));
        if length >= LONG_BYTES && self.body.capacity() < bytes {
            self.body.reserve_exact(bytes - length + BODY_BYTES_EXPECTED_MAX);
        }
    }

    fn flow(&mut self, flow: Result<Flow, QueryError>) -> Flow {
        flow.unwrap_or_else(|error| {
            self.error = Some(error);
            Flow::Stop
        })
    }
}

impl Sink for Collector<'_, '_> {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        if self.oldest_kept.is_some() && self.is_expired(key) {
            return Flow::NextPartition;
        }
        if self.key.as_ref() != Some(key) {
            let before = self.key.replace(key.clone());
            if std::mem::replace(&mut self.last_is_current, false) {
                self.last_key = before;
            }
            self.rows_met = false;
            self.partition_left = self.per_partition;
        }
        self.has_static = false;
        self.scratch.partition(&self.plan.table, &self.plan.layout, key);
        if self.partition_left == Some(0) { Flow::NextPartition } else { Flow::Continue }
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        if self.is_dead(row) {
            return Flow::Continue;
        }
        self.has_static = true;
        self.scratch.static_row(&self.plan.layout, &self.plan.inputs, &self.infos, row);
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        if self.is_dead(row) {
            return Flow::Continue;
        }
        self.rows_met = true;
        self.begin_step();
        let plan = self.plan;
        self.scratch.row(&plan.table, &plan.layout, &plan.inputs, &self.infos, clustering, row);
        let flow = self.take(Some(clustering), row.body());
        let flow = self.flow(flow);
        if self.turn.is_over(row.body().len()) && flow != Flow::Stop {
            return self.give_way(flow, clustering);
        }
        flow
    }

    fn partition_end(&mut self) -> Flow {
        if self.open {
            return Flow::Continue;
        }
        let mut flow = Flow::Continue;
        if !self.rows_met && self.has_static && self.plan.static_rows {
            self.scratch.clear_row(&self.plan.layout);
            let taken = self.take(None, &[]);
            flow = self.flow(taken);
            self.rows_met = flow != Flow::Stop;
        }
        if flow == Flow::Stop {
            return Flow::Stop;
        }
        // Groups made by GROUP BY never span partitions.
        if self.plan.grouping.as_ref().is_some_and(|grouping| !grouping.keys.is_empty()) {
            let ended = self.end_group().map(|()| match self.stopped {
                Some(_) => Flow::Stop,
                None => Flow::Continue,
            });
            return self.flow(ended);
        }
        Flow::Continue
    }
}

fn oldest_kept(plan: &SelectPlan, now_seconds: u32) -> Option<i64> {
    plan.table.bucketing()?.oldest_kept(i64::from(now_seconds))
}

/// Two decimals of one group may be written differently: 1.5 and 1.50.
fn same_group(exprs: &[Expr], last: &[Option<Vec<u8>>], now: &[Option<Vec<u8>>]) -> bool {
    let same = |at: usize, data_type: &DataType| match (&last[at], &now[at]) {
        (Some(last), Some(now)) if data_type.has_decimal() => compare(data_type, last, now).is_eq(),
        (last, now) => last == now,
    };
    last == now || exprs.iter().enumerate().all(|(at, expr)| same(at, &expr.data_type))
}
