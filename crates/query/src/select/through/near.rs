//! The rows near a vector, by the lists of an index on it.
//!
//! The entries of the lists nearest to the target are read. Each has its vector as a code, so it is known about how near it is, and
//! only the best few cost a look at their row. The rows are compared exactly, tested and paged like all others: an entry that is out
//! of date leads to a row that is not near, or to none.
//!
//! What the statement's conditions leave of the best may be less than is wanted. Then more lists are read and more rows looked at; where that
//! does not help, conditions leave so few rows that reading all of them costs less, and that is done. So an answer is never shorter than the exact one.

use super::{Scan, close};
use crate::error::QueryError;
use crate::select::collector::Collector;
use crate::select::execute::Ended;
use crate::select::nearest::{NearPath, Nearest};
use model::key::PartitionKey;
use model::lists::of_code;
use model::row::RowView;
use rt::turn::give_way;
use std::collections::BTreeSet;
use store::index::{candidate_of, form_of_list, path_of, place_of};
use store::{Flow, IndexWork, Partitions, Read, ReadEnd, Sink, Slice, Store};

/// Rows that are looked at for each that is wanted, and in any case: codes are near their vectors, so few are passed over wrongly.
const LOOKS_FOR_ROW: usize = 4;
const LOOKS_MIN: usize = 64;

/// How often a search that has found too little goes further, and how much further each time. In the last round half of all lists are read
/// at least, and thousands of rows looked at.
const ROUNDS: usize = 3;
const ROUND_FACTOR: usize = 4;

/// Rows looked at between two turns of others.
const LOOKS_PER_TURN: usize = 256;

/// What a place takes beside its bytes.
const PLACE_BYTES: usize = 48;

impl<S: Store, T: Store> Scan<'_, '_, S, T> {
    /// Collects the rows of a range of the source that are near the target.
    pub(in crate::select) async fn through_lists(
        &mut self,
        (start, end): (Vec<u8>, Vec<u8>),
        collector: &mut Collector<'_, '_>,
    ) -> Result<Ended, QueryError> {
        let (Some(path), Some(nearest)) = (self.near(), &collector.nearest) else {
            return Ok(Ended::Complete);
        };
        let wanted = std::mem::take(&mut self.read.slices);
        let order = path.lists.by_nearness(&nearest.target);
        let (mut lists, mut looks) =
            (path.lists_first(), nearest.wanted.saturating_mul(LOOKS_FOR_ROW).max(LOOKS_MIN));
        let mut held = self.context.held();
        // The places that were looked at: an entry out of date may lead to one of them again.
        let mut known = BTreeSet::new();
        for _ in 0..ROUNDS {
            let chosen = order.get(..lists).unwrap_or(&order);
            let found = self.best_of(path, chosen, (&start, &end), looks, collector).await?;
            let is_all = chosen.len() == order.len() && !found.is_cut;
            let mut places: Vec<Vec<u8>> = found.best.into_iter().map(|(_, place)| place).collect();
            places.retain(|place| !known.contains(place));
            places.sort_unstable();
            places.dedup();
            known.extend(places.iter().cloned());
            held.hold(known.iter().map(|place| place.len() + PLACE_BYTES).sum())?;
            self.look_at_places(&places, &wanted, collector).await?;
            if is_all || collector.nearest.as_ref().is_none_or(Nearest::is_full) {
                return Ok(Ended::Complete);
            }
            lists = (lists * ROUND_FACTOR).min(order.len());
            looks = looks.saturating_mul(ROUND_FACTOR);
        }
        drop(known);
        if let Some(nearest) = &mut collector.nearest {
            nearest.clear();
        }
        self.read.slices = wanted;
        self.read.partitions = Partitions::Range { start, end };
        self.read.after = None;
        self.drive(collector).await
    }

    async fn look_at_places(
        &mut self,
        places: &[Vec<u8>],
        wanted: &[Slice],
        collector: &mut Collector<'_, '_>,
    ) -> Result<(), QueryError> {
        let mut done = None;
        for places in places.chunks(LOOKS_PER_TURN) {
            let places: Vec<_> = places.iter().filter_map(|place| candidate_of(place)).collect();
            self.look_at_all(&places, &mut done, wanted, collector).await?;
            give_way().await;
        }
        if collector.open {
            close(collector)?;
        }
        Ok(())
    }

    /// The best entries of some lists, by their codes.
    async fn best_of(
        &mut self,
        path: &NearPath,
        lists: &[usize],
        range: (&[u8], &[u8]),
        most: usize,
        collector: &Collector<'_, '_>,
    ) -> Result<Best, QueryError> {
        let mut best = Best { most, ..Best::default() };
        let Some(nearest) = &collector.nearest else { return Ok(best) };
        let mut held = self.context.held();
        for list in lists {
            let form = form_of_list(*list);
            for slice in path.config.slices() {
                let Some(key) = path.config.partition(&form, &slice) else { continue };
                let mut read = Read {
                    table: path.config.table,
                    partitions: Partitions::One(key),
                    slices: vec![Slice::all()],
                    reverse: false,
                    statics: false,
                    after: None,
                    ..self.read.clone()
                };
                loop {
                    let mut taking = Taking { nearest, range, best: &mut best, vector: Vec::new() };
                    let outcome = self.store.read(&read, &mut taking).await?;
                    self.tombstones += outcome.tombstones;
                    let ReadEnd::Paused(position) = outcome.end else { break };
                    read.after = Some(position);
                    give_way().await;
                }
            }
            held.hold(best.bytes)?;
            give_way().await;
        }
        best.cut();
        if let Some(account) = self.context.request.account {
            account.add_index(&path.name, &IndexWork { entries: best.entries, ..Default::default() });
        }
        Ok(best)
    }
}

/// The most similar places so far.
#[derive(Default)]
struct Best {
    most: usize,
    /// With their similarity, in no order.
    best: Vec<(f32, Vec<u8>)>,
    bytes: usize,
    /// Places were left out, all of them at most so similar.
    is_cut: bool,
    least: f32,
    /// How many were read.
    entries: u64,
}

impl Best {
    fn add(&mut self, similarity: f32, place: &[u8]) {
        if self.is_cut && similarity <= self.least {
            return;
        }
        self.bytes += place.len() + PLACE_BYTES;
        self.best.push((similarity, place.to_vec()));
        if self.best.len() >= self.most.saturating_mul(2) {
            self.cut();
        }
    }

    /// Leaves out what is too much.
    fn cut(&mut self) {
        if self.best.len() <= self.most || self.most == 0 {
            return;
        }
        self.best
            .select_nth_unstable_by(self.most - 1, |a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        self.least = self.best.get(self.most - 1).map_or(self.least, |(similarity, _)| *similarity);
        self.best.truncate(self.most);
        self.bytes = self.best.iter().map(|(_, place)| place.len() + PLACE_BYTES).sum();
        self.is_cut = true;
    }
}

/// Takes the entries of a list.
struct Taking<'t> {
    nearest: &'t Nearest,
    /// Of the source, as storage keys; an empty end is no bound.
    range: (&'t [u8], &'t [u8]),
    best: &'t mut Best,
    vector: Vec<f32>,
}

impl Sink for Taking<'_> {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        self.best.entries += 1;
        let (start, end) = self.range;
        let place = place_of(clustering).filter(|place| *place >= start && (end.is_empty() || *place < end));
        // Bytes that are no entry lead nowhere.
        let (Some(place), Some(code)) = (place, path_of(clustering)) else { return Flow::Continue };
        self.vector.clear();
        self.vector.extend(of_code(code));
        if self.vector.len() == self.nearest.target.len() {
            self.best.add(self.nearest.similarity_of(&self.vector), place);
        }
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
