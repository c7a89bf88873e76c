//! Random schemas, data and statements, run on two servers at once and compared after every statement.
//!
//! Everything follows from the seed. Data domains are small, so that statements meet the same rows; timestamps and the
//! clock that TTLs see are chosen here, so that both servers decide on the same facts. A difference is shrunk and given
//! back as the text of a scenario.

mod read;
mod schema;
mod seeded;
mod shrink;
mod write;

use crate::client::{Client, ClientError};
use crate::compare;
use crate::run::run_step;
use crate::scenario::Options;
use schema::Table;
use seeded::Seeded;
use std::net::SocketAddr;

/// One statement of a round: how it is sent and its text.
#[derive(Debug, Clone)]
pub struct Sent {
    pub text: String,
    pub options: Options,
}

impl Sent {
    fn new(text: String) -> Sent {
        Sent { text, options: Options::default() }
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
    pub scenario: String,
    pub statement: String,
    pub cassandra: Vec<String>,
    pub partita: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Report {
    pub statements: usize,
    pub errors: usize,
    pub found: Vec<Found>,
}

/// Statements per random table.
const ROUND_STATEMENTS: usize = 600;

/// Runs until `statements` have been compared or `found_max` differences are known.
pub fn run(
    servers: Servers,
    seed: u64,
    statements: usize,
    found_max: usize,
    mut say: impl FnMut(&Report),
) -> Result<Report, ClientError> {
    let mut report = Report::default();
    let mut round = 0;
    while report.statements < statements && report.found.len() < found_max {
        run_round(servers, seed, round, &mut report)?;
        say(&report);
        round += 1;
    }
    Ok(report)
}

/// The statements of a round: the table first.
fn statements_of(seed: u64, round: u64) -> Vec<Sent> {
    let mut random = Seeded::new(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let table = Table::random(&mut random);
    let mut all = vec![Sent::new(table.create())];
    let mut now = 1_000_000;
    for _ in 0..ROUND_STATEMENTS {
        now += u32::try_from(random.below(20)).unwrap_or_default();
        let mut sent = if random.chance(45) {
            read::statement(&mut random, &table)
        } else {
            write::statement(&mut random, &table)
        };
        sent.options.now = Some(now);
        all.push(sent);
    }
    all
}

fn run_round(servers: Servers, seed: u64, round: u64, report: &mut Report) -> Result<(), ClientError> {
    let all = statements_of(seed, round);
    let keyspace = format!("random_{round}");
    let mut pair = Pair::open(servers, &keyspace)?;
    for (index, sent) in all.iter().enumerate() {
        let (cassandra, partita) = pair.send(sent)?;
        report.statements += 1;
        report.errors += usize::from(cassandra.iter().any(|line| line.starts_with("error ")));
        if !compare::agrees(&sent.options, &cassandra, &partita) {
            let kept = shrink::shrink(servers, all.get(..=index).unwrap_or_default())?;
            report.found.push(Found {
                round,
                scenario: shrink::scenario(&format!("random {seed} {round}"), &kept),
                statement: sent.text.clone(),
                cassandra,
                partita,
            });
            break;
        }
    }
    pair.close(&keyspace);
    Ok(())
}

/// A connection to each server, in the same fresh keyspace.
pub(crate) struct Pair {
    cassandra: Client,
    partita: Client,
}

impl Pair {
    pub(crate) fn open(servers: Servers, keyspace: &str) -> Result<Pair, ClientError> {
        let fresh = |address| {
            let mut client = Client::connect(address)?;
            client.must(&format!("DROP KEYSPACE IF EXISTS {keyspace}"))?;
            client.must(&format!(
                "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
            ))?;
            client.must(&format!("USE {keyspace}"))?;
            Ok::<Client, ClientError>(client)
        };
        Ok(Pair { cassandra: fresh(servers.cassandra)?, partita: fresh(servers.partita)? })
    }

    pub(crate) fn send(&mut self, sent: &Sent) -> Result<(Vec<String>, Vec<String>), ClientError> {
        let cassandra = run_step(&mut self.cassandra, &sent.text, &sent.options)?;
        let partita = run_step(&mut self.partita, &sent.text, &sent.options)?;
        let plain = |lines: Vec<String>| lines.iter().map(|line| without_clock(line)).collect();
        Ok((plain(cassandra), plain(partita)))
    }

    pub(crate) fn close(mut self, keyspace: &str) {
        // The next run drops it again anyway.
        let drop = format!("DROP KEYSPACE IF EXISTS {keyspace}");
        let _ = self.cassandra.must(&drop);
        let _ = self.partita.must(&drop);
    }
}

/// Digits of a clock reading in microseconds, which is what `writetime` shows after a conditional write.
const CLOCK_DIGITS: usize = 16;

/// The line with clock readings replaced: each server has its own clock.
fn without_clock(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut digits = String::new();
    for c in line.chars().chain(['\n']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let clock = digits.len() == CLOCK_DIGITS && digits.starts_with('1');
        out.push_str(if clock { "CLOCK" } else { &digits });
        digits.clear();
        out.push(c);
    }
    out.pop();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_readings_are_not_compared() {
        assert_eq!(without_clock("1 | 1794829896337001 | 1039"), "1 | CLOCK | 1039");
        assert_eq!(without_clock("9223372036854775807 | 12"), "9223372036854775807 | 12");
    }

    #[test]
    fn a_seed_gives_the_same_statements_and_another_gives_others() {
        let texts = |seed, round| statements_of(seed, round).into_iter().map(|s| s.text).collect::<Vec<_>>();
        assert_eq!(texts(1, 0), texts(1, 0));
        assert_ne!(texts(1, 0), texts(2, 0));
        assert_ne!(texts(1, 0), texts(1, 1));
        assert!(texts(1, 0)[0].starts_with("CREATE TABLE t ("));
    }
}
