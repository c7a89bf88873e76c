//! Random schemas, data and statements, run on two servers at once and compared after every statement.
//!
//! Everything follows from the seed. Data domains are small, so that statements meet the same rows; the clock that TTLs
//! see is chosen here, and in half of the rounds timestamps too, so that both servers decide on the same facts. A
//! difference is shrunk and given back as the text of a scenario. Rounds are independent, so several run at once.

mod compact;
mod conditional;
mod counter;
mod function;
mod kind;
mod maker;
mod pair;
mod read;
mod restrict;
mod round;
mod schema;
mod seeded;
mod selection;
mod shrink;
mod six;
mod tally;
mod write;
mod wrong;

pub use tally::{Count, Report};

use crate::scenario::Options;
use client::ClientError;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// One statement of a round: what it is counted as, how it is sent, and its text.
#[derive(Debug, Clone)]
pub struct Sent {
    pub kind: &'static str,
    pub text: String,
    /// What Partita is sent instead, where it has another language.
    pub ours: Option<String>,
    pub options: Options,
}

impl Sent {
    fn new(kind: &'static str, text: String) -> Sent {
        Sent { kind, text, ours: None, options: Options::default() }
    }
}

/// The two servers.
#[derive(Debug, Clone, Copy)]
pub struct Servers {
    pub cassandra: SocketAddr,
    pub partita: SocketAddr,
}

/// A difference, as a scenario that shows it.
#[derive(Debug)]
pub struct Found {
    pub round: u64,
    /// Of the statement in its round.
    pub index: usize,
    pub scenario: String,
    pub statement: String,
    pub cassandra: Vec<String>,
    pub partita: Vec<String>,
}

/// What to run.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    pub seed: u64,
    pub statements: usize,
    /// Stop after so many differences.
    pub found_max: usize,
    /// Only this round.
    pub round: Option<u64>,
    /// Runs that shrinking one difference may take.
    pub shrink_tries: usize,
    /// Rounds at once.
    pub connections: usize,
    /// What only Cassandra 6 has, and nothing else.
    pub six: bool,
}

/// Runs until `statements` have been compared or `found_max` differences are known.
pub fn run(servers: Servers, task: Task, say: impl FnMut(&Report) + Send) -> Result<Report, ClientError> {
    if let Some(number) = task.round {
        return round::run(servers, task, number);
    }
    let next = AtomicU64::new(0);
    let shared = Mutex::new((Report::default(), say));
    let enough =
        |report: &Report| report.total().sent >= task.statements || report.found.len() >= task.found_max;
    let work = || -> Result<(), ClientError> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let done = round::run(servers, task, number)?;
            let mut guard = shared.lock().map_err(|_| ClientError("another connection failed".into()))?;
            let (report, say) = &mut *guard;
            report.merge(done);
            say(report);
            if enough(report) {
                return Ok(());
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..task.connections.max(1)).map(|_| scope.spawn(work)).collect();
        let failed = |_| ClientError("a connection's thread panicked".into());
        workers.into_iter().try_for_each(|worker| worker.join().map_err(failed)?)
    })?;
    shared.into_inner().map(|(report, _)| report).map_err(|_| ClientError("a connection failed".into()))
}
