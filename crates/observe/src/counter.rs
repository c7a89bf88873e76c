//! Counters, and reading them.

use crate::histogram::Snapshot;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that grows, or (a level) goes up and down. Any thread may count and read.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    #[inline]
    pub fn subtract(&self, n: u64) {
        self.0.fetch_sub(n, Ordering::Relaxed);
    }

    pub fn set(&self, n: u64) {
        self.0.store(n, Ordering::Relaxed);
    }

    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub fn reading(&self) -> Reading {
        Reading::Number(self.get())
    }
}

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    Level,
    Histogram,
}

impl Kind {
    /// Prometheus' word for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Level => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// One metric at one moment.
#[derive(Clone, Debug)]
pub struct Sample {
    pub name: &'static str,
    pub help: &'static str,
    pub kind: Kind,
    pub reading: Reading,
}

#[derive(Clone, Debug)]
pub enum Reading {
    Number(u64),
    Histogram(Box<Snapshot>),
}

impl Reading {
    /// The number; `None` of a histogram.
    pub fn number(&self) -> Option<u64> {
        match self {
            Reading::Number(number) => Some(*number),
            Reading::Histogram(_) => None,
        }
    }
}
