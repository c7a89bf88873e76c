//! One stream of a merge: partitions that follow each other in the order of the merge, read a few rows at a time.

use super::super::collector::{Collector, PageBudget};
use super::super::execute::Scan;
use super::super::paging::{MergeState, SequenceState};
use super::bounds::Bounds;
use crate::buckets::{Bucket, Walk};
use crate::error::QueryError;
use model::key::PartitionKey;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use store::{Ahead, AheadMax, Partitions, Position, Read, Store};

/// Fetching from a partition ends early, behind a row, when its rows have this many bytes.
pub const CHUNK_BYTES_MAX: usize = 64 << 10;

/// The partitions of a stream.
pub enum Places {
    One(PartitionKey),
    /// Time buckets of an entity; the streams of its hash buckets share the walk.
    Buckets {
        walk: Rc<RefCell<Option<Walk>>>,
        entity: PartitionKey,
        hash: Option<i32>,
        next: usize,
    },
}

/// How much is fetched at a time.
#[derive(Clone, Copy)]
pub struct Fetch {
    pub rows: u64,
    pub bytes: usize,
}

pub struct Stream {
    pub group: usize,
    /// Fetched and not yet taken: clustering, and where the row is among the fetched ones.
    rows: VecDeque<(Vec<u8>, Range<usize>)>,
    /// The rows of the last fetch, encoded.
    fetched: Vec<u8>,
    places: Option<Places>,
    /// The partition at hand, and the last row that was fetched of it.
    here: Option<PartitionKey>,
    after: Option<Vec<u8>>,
    /// The first rows of the partition at hand, if they were read ahead.
    ahead: Option<Box<dyn Ahead>>,
    /// Rows that were taken.
    pub given: u64,
    /// A static row that stands alone has been given, or is known not to come.
    static_given: bool,
    /// It has to be made sure of: rows of the partition may have been given on earlier pages.
    static_unsure: bool,
}

impl Stream {
    pub fn new(group: usize, places: Places) -> Stream {
        Stream {
            group,
            rows: VecDeque::new(),
            fetched: Vec::new(),
            places: Some(places),
            here: None,
            after: None,
            ahead: None,
            given: 0,
            static_given: false,
            static_unsure: false,
        }
    }

    /// Begins behind the place where a page ended. Slices are cut elsewhere; here is what a static row that stands alone needs.
    pub fn resume(&mut self, reverse: bool, state: Option<&MergeState>) {
        let Some(state) = state else { return };
        let at_static = state.clustering.is_empty();
        self.static_given = match reverse {
            // It comes before all rows.
            false => !at_static || self.group <= state.group,
            true => at_static && self.group <= state.group,
        };
        self.static_unsure = !self.static_given;
    }

    /// Nothing more is wanted of it; says how many bytes waited.
    pub fn close(&mut self) -> usize {
        self.here = None;
        self.places = None;
        self.ahead = None;
        self.rows.drain(..).map(|(clustering, row)| clustering.len() + row.len()).sum()
    }

    /// The next row.
    pub fn front(&self) -> Option<(&[u8], &[u8])> {
        let (clustering, row) = self.rows.front()?;
        Some((clustering, self.fetched.get(row.clone())?))
    }

    /// Takes the next row; its bytes stay until the next fetch.
    pub fn pop(&mut self) -> Option<(Vec<u8>, &[u8])> {
        let (clustering, row) = self.rows.pop_front()?;
        Some((clustering, self.fetched.get(row)?))
    }

    /// What its first fetch will read; `None` if there is nothing to read, or nothing is known before it is.
    pub async fn first_read<S: Store, T: Store>(
        &mut self,
        scan: &Scan<'_, '_, S, T>,
        bounds: &Bounds,
    ) -> Result<Option<Read>, QueryError> {
        let slices = bounds.of(self.group, &scan.read.slices);
        if slices.is_empty() || (self.here.is_none() && !self.next_place(scan).await?) {
            return Ok(None);
        }
        let partitions = self.here.clone().map(Partitions::One);
        let slices = slices.to_vec();
        Ok(partitions.map(|partitions| Read { partitions, slices, after: None, ..scan.read.clone() }))
    }

    /// Rows that were read ahead; they are fetched without another read.
    pub fn put_ahead(&mut self, ahead: Option<Box<dyn Ahead>>) {
        self.ahead = ahead;
    }

    /// Fetches the next rows when none is left, and says how many bytes they have.
    pub async fn fill<S: Store, T: Store>(
        &mut self,
        scan: &mut Scan<'_, '_, S, T>,
        bounds: &mut Bounds,
        fetch: Fetch,
    ) -> Result<usize, QueryError> {
        let mut bytes = 0;
        while self.rows.is_empty() {
            if fetch.rows == 0 || (self.here.is_none() && !self.next_place(scan).await?) {
                self.close();
                break;
            }
            if bounds.of(self.group, &scan.read.slices).is_empty() && !scan.read.statics {
                self.here = None;
                continue;
            }
            bounds.swap(self.group, &mut scan.read.slices);
            let fetched = self.fetch(scan, fetch).await;
            bounds.swap(self.group, &mut scan.read.slices);
            bytes += fetched?;
            if self.is_static_alone(scan) && !self.confirm_static(scan).await? {
                self.rows.clear();
                bytes = 0;
            }
        }
        Ok(bytes)
    }

    /// Goes to the next partition; `false` when there is none.
    async fn next_place<S: Store, T: Store>(
        &mut self,
        scan: &Scan<'_, '_, S, T>,
    ) -> Result<bool, QueryError> {
        self.after = None;
        self.here = match self.places.take() {
            None => None,
            Some(Places::One(key)) => Some(key),
            Some(Places::Buckets { walk, entity, hash, next }) => {
                // Streams are filled one after the other, so nobody else wants the walk meanwhile.
                let taken = walk.take();
                let time = match taken {
                    None => None,
                    Some(mut taken) => {
                        let time = taken.at(next, &scan.reading()).await?;
                        walk.replace(Some(taken));
                        time
                    }
                };
                let key = time.map(|time| Bucket { time, hash }.key(&entity)).transpose()?;
                self.places = Some(Places::Buckets { walk, entity, hash, next: next + 1 });
                key
            }
        };
        Ok(self.here.is_some())
    }

    async fn fetch<S: Store, T: Store>(
        &mut self,
        scan: &mut Scan<'_, '_, S, T>,
        fetch: Fetch,
    ) -> Result<usize, QueryError> {
        let Some(key) = self.here.clone() else { return Ok(0) };
        let mut collector = collector(scan, fetch)?;
        scan.read.partitions = Partitions::One(key.clone());
        let position = Position { key: key.clone(), clustering: self.after.clone() };
        scan.read.after = self.after.as_ref().map(|_| position.clone());
        if self.after.is_some() || self.static_given {
            // Rows were taken before: the static row does not stand alone.
            let clustering = Some(self.after.clone().unwrap_or_default());
            collector.resume(&SequenceState {
                position: Position { key, clustering },
                rows_met: true,
                limit_left: None,
                partition_left: None,
            });
        }
        let ahead = match self.ahead.take() {
            // Rows that come from another shard come with no more than are wanted.
            None if scan.store.reads_ahead() && !scan.read.statics => {
                let max = AheadMax { rows: fetch.rows, bytes: fetch.bytes };
                scan.store.read_ahead(vec![scan.read.clone()], max).await?.pop().flatten()
            }
            ahead => ahead,
        };
        scan.drive_from(ahead, &mut collector).await?;
        if collector.stopped.is_none() {
            self.here = None;
        }
        let (mut start, mut bytes) = (0, 0);
        debug_assert!(self.rows.is_empty(), "rows that wait are in what is replaced");
        self.fetched = std::mem::take(&mut collector.body);
        for (clustering, end) in collector.trace.take().unwrap_or_default() {
            bytes += clustering.len() + end - start;
            self.rows.push_back((clustering, start..end));
            start = end;
        }
        if let Some((last, _)) = self.rows.back() {
            self.after = Some(last.clone());
        }
        Ok(bytes)
    }

    /// Whether a static row came that stands alone as far as this page can tell.
    fn is_static_alone<S: Store, T: Store>(&self, scan: &Scan<'_, '_, S, T>) -> bool {
        let has_clustering = !scan.plan.table.clustering.is_empty();
        has_clustering && self.static_unsure && self.rows.front().is_some_and(|(row, _)| row.is_empty())
    }

    /// Whether the partition has no rows at all: those of earlier pages were not looked at again.
    async fn confirm_static<S: Store, T: Store>(
        &mut self,
        scan: &mut Scan<'_, '_, S, T>,
    ) -> Result<bool, QueryError> {
        let mut collector = collector(scan, Fetch { rows: 1, bytes: CHUNK_BYTES_MAX })?;
        scan.read.after = None;
        scan.drive(&mut collector).await?;
        let first = collector.trace.take().unwrap_or_default();
        Ok(first.first().is_some_and(|(clustering, _)| clustering.is_empty()))
    }
}

fn collector<'a, S: Store, T: Store>(
    scan: &Scan<'a, '_, S, T>,
    fetch: Fetch,
) -> Result<Collector<'a, 'a>, QueryError> {
    let budget = PageBudget { rows: fetch.rows, bytes: fetch.bytes };
    let mut collector =
        Collector::new(scan.plan, &scan.context.request, scan.context.ids, budget, (None, None))?;
    collector.trace = Some(Vec::new());
    Ok(collector)
}
