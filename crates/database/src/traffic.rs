//! What statements really do, by shape: calls, errors, rows, bytes, time. Always on.
//!
//! A shard has its own counters, which only it writes; readers add the shards up. A statement finds its counters once, when
//! it is bound. The number of shapes is bounded: statements of further shapes share one set of counters, whose name says so.

use crate::shape::{Class, Shape};
use observe::{Counter, Histogram, Snapshot};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{Account, Work};

/// Different shapes that a shard tells apart; each takes about 3 KiB.
pub const SHAPES_MAX: usize = 1000;

/// Counters of the statements of one shape on one shard.
#[derive(Debug)]
pub struct Observed {
    /// `None`: of all that came when there was no place left.
    pub shape: Option<Shape>,
    pub class: Class,
    /// As a pattern would declare it.
    pub statement: String,
    /// The first that came, without its values.
    pub example: String,
    /// What its reads did in the store.
    pub account: Arc<Account>,
    pub calls: Counter,
    pub errors: Counter,
    /// Refused for want of room or time.
    pub refused: Counter,
    /// Of answers.
    pub rows: Counter,
    pub bytes: Counter,
    pub micros: Histogram,
}

impl Observed {
    fn new(shape: Option<Shape>, class: Class, (statement, example): (String, String)) -> Observed {
        Observed {
            example,
            account: Arc::default(),
            shape,
            class,
            statement,
            calls: Counter::default(),
            errors: Counter::default(),
            refused: Counter::default(),
            rows: Counter::default(),
            bytes: Counter::default(),
            micros: Histogram::default(),
        }
    }

    /// A call was answered with this much.
    #[inline]
    pub fn answered(&self, rows: u64, bytes: u64) {
        self.calls.add(1);
        self.rows.add(rows);
        self.bytes.add(bytes);
    }

    pub fn failed(&self, refused: bool) {
        self.calls.add(1);
        self.errors.add(1);
        if refused {
            self.refused.add(1);
        }
    }
}

/// The counters of all shards.
#[derive(Debug)]
pub struct Traffic {
    shards: Vec<Mutex<HashMap<Shape, Arc<Observed>>>>,
    other: Vec<Arc<Observed>>,
    rates: Mutex<Rates>,
}

/// How often shapes were called of late; filled in by the task that looks every few seconds.
#[derive(Debug, Default)]
struct Rates {
    at_millis: u64,
    by_shape: HashMap<Shape, Rate>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    calls: u64,
    /// As added up so far in the look that is under way.
    counted: u64,
    now: f64,
    peak: f64,
}

/// What was seen of one shape, over all shards.
#[derive(Clone, Debug)]
pub struct Seen {
    pub shape: Option<Shape>,
    pub class: Class,
    pub statement: String,
    pub example: String,
    pub work: Work,
    pub calls: u64,
    pub errors: u64,
    pub refused: u64,
    pub rows: u64,
    pub bytes: u64,
    /// Calls per second, over about the last ten seconds, and the most there ever were.
    pub rate: f64,
    pub peak: f64,
    pub micros: Vec<Snapshot>,
}

/// Seconds between two looks at the rates.
pub const RATE_SECONDS: u64 = 5;

impl Traffic {
    pub fn new(shards: usize) -> Traffic {
        let text = "statements of further shapes, which are not told apart";
        let other = || Arc::new(Observed::new(None, Class::Unbounded, (text.into(), String::new())));
        Traffic {
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            other: (0..shards).map(|_| other()).collect(),
            rates: Mutex::default(),
        }
    }

    /// The counters for statements of this shape on this shard. `texts` are the statement as a pattern would declare it, and
    /// as it came.
    pub fn of(
        &self,
        shard: usize,
        shape: &Shape,
        class: Class,
        texts: impl FnOnce() -> (String, String),
    ) -> Option<Arc<Observed>> {
        let mut known = lock(self.shards.get(shard)?);
        if let Some(observed) = known.get(shape) {
            return Some(observed.clone());
        }
        if known.len() >= SHAPES_MAX {
            return self.other.get(shard).cloned();
        }
        let observed = Arc::new(Observed::new(Some(shape.clone()), class, texts()));
        known.insert(shape.clone(), observed.clone());
        Some(observed)
    }

    /// Counts how often shapes were called since the last look. Called every [`RATE_SECONDS`] by one shard.
    pub fn measure(&self, now_millis: u64) {
        let mut rates = lock(&self.rates);
        let millis = now_millis.saturating_sub(rates.at_millis).max(1);
        rates.at_millis = now_millis;
        // Shapes are compared and not copied: there may be a thousand, and hardly ever a new one.
        for shard in &self.shards {
            for (shape, observed) in lock(shard).iter() {
                let calls = observed.calls.get();
                match rates.by_shape.get_mut(shape) {
                    Some(rate) => rate.counted += calls,
                    None => {
                        rates.by_shape.insert(shape.clone(), Rate { counted: calls, ..Rate::default() });
                    }
                }
            }
        }
        for rate in rates.by_shape.values_mut() {
            let calls = std::mem::take(&mut rate.counted);
            let now = calls.saturating_sub(rate.calls) as f64 * 1000.0 / millis as f64;
            *rate = Rate { calls, counted: 0, now, peak: rate.peak.max(now) };
        }
    }

    /// Everything that was called, the most often called first.
    pub fn all(&self) -> Vec<Seen> {
        let mut by_shape: HashMap<Option<Shape>, Seen> = HashMap::new();
        for (shard, other) in self.shards.iter().zip(&self.other) {
            let observed: Vec<Arc<Observed>> = lock(shard).values().cloned().chain([other.clone()]).collect();
            for one in observed {
                let seen = by_shape.entry(one.shape.clone()).or_insert_with(|| Seen {
                    shape: one.shape.clone(),
                    class: one.class,
                    statement: one.statement.clone(),
                    example: one.example.clone(),
                    work: Work::default(),
                    calls: 0,
                    errors: 0,
                    refused: 0,
                    rows: 0,
                    bytes: 0,
                    rate: 0.0,
                    peak: 0.0,
                    micros: Vec::new(),
                });
                seen.work = seen.work.plus(&one.account.sum());
                seen.calls += one.calls.get();
                seen.errors += one.errors.get();
                seen.refused += one.refused.get();
                seen.rows += one.rows.get();
                seen.bytes += one.bytes.get();
                seen.micros.push(one.micros.snapshot());
            }
        }
        let rates = lock(&self.rates);
        let mut all: Vec<Seen> = by_shape.into_values().filter(|seen| seen.calls > 0).collect();
        for seen in &mut all {
            let known = seen.shape.as_ref().and_then(|shape| rates.by_shape.get(shape));
            let Rate { calls, now, peak, .. } = known.copied().unwrap_or_default();
            // The stretch that is not over yet has at least this rate: what came a moment ago is not forgotten.
            let begun = seen.calls.saturating_sub(calls) as f64 / RATE_SECONDS as f64;
            (seen.rate, seen.peak) = (now, peak.max(begun));
        }
        all.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.statement.cmp(&b.statement)));
        all
    }
}

impl Seen {
    /// A time that 99 % of the calls did not exceed.
    pub fn p99_millis(&self) -> f64 {
        quantile_millis(&self.micros, 0.99)
    }
}

/// Of several histograms together.
pub fn quantile_millis(parts: &[Snapshot], fraction: f64) -> f64 {
    let whole = parts.iter().fold(Histogram::default().snapshot(), |mut sum, part| {
        sum.add(part);
        sum
    });
    whole.quantile(fraction) as f64 / 1000.0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Limit, Order, Verb};

    fn shape(table: &str) -> Shape {
        Shape {
            keyspace: "k".into(),
            table: table.into(),
            verb: Verb::Select,
            restricted: Vec::new(),
            order: Order::Stored,
            limit: Limit::None,
            conditional: false,
            grouped: false,
        }
    }

    #[test]
    fn shards_are_added_up_and_rates_are_of_late() {
        let traffic = Traffic::new(2);
        traffic.measure(0);
        let counters = [0, 1]
            .map(|shard| traffic.of(shard, &shape("t"), Class::Single, || ("s".into(), "e".into())).unwrap());
        for (observed, calls) in counters.iter().zip([30, 20]) {
            (0..calls).for_each(|_| observed.answered(2, 100));
            (0..calls).for_each(|_| observed.micros.record(1000));
        }
        assert_eq!((traffic.all()[0].rate, traffic.all()[0].peak), (0.0, 10.0), "before the first look");
        counters[0].failed(true);
        traffic.measure(5000);
        let all = traffic.all();
        assert_eq!(all.len(), 1);
        assert_eq!(
            (all[0].calls, all[0].errors, all[0].refused, all[0].rows, all[0].bytes),
            (51, 1, 1, 100, 5000)
        );
        assert!((all[0].rate - 10.2).abs() < 0.01, "{}", all[0].rate);
        assert!((1.0..1.3).contains(&all[0].p99_millis()), "{}", all[0].p99_millis());
        traffic.measure(10_000);
        assert_eq!((traffic.all()[0].rate, traffic.all()[0].peak > 10.0), (0.0, true));
    }

    #[test]
    fn shapes_are_bounded() {
        let traffic = Traffic::new(1);
        for n in 0..SHAPES_MAX + 10 {
            traffic.of(0, &shape(&format!("t{n}")), Class::Single, Default::default).unwrap().answered(0, 0);
        }
        let all = traffic.all();
        assert_eq!(all.len(), SHAPES_MAX + 1);
        assert_eq!(all.iter().find(|seen| seen.shape.is_none()).unwrap().calls, 10);
        assert!(traffic.of(7, &shape("t"), Class::Single, Default::default).is_none());
    }
}
