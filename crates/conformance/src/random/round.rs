//! One round: a random table and the statements on it, sent to both servers until an answer differs.

use super::pair::Pair;
use super::schema::Table;
use super::seeded::Seeded;
use super::tally::Report;
use super::{Found, Sent, Servers, Task, compact, counter, function, read, shrink, six, write, wrong};
use crate::compare;
use client::ClientError;

/// Statements per random table.
const STATEMENTS: usize = 500;

/// Differences after which a round ends: the rest would mostly be echoes.
const FOUND_MAX: usize = 3;

/// The clock of a round begins after every clock of today: nothing is expired or purged behind our back.
const NOW_BEGIN: u32 = 2_000_000_000;

/// The statements of a round that compares what only Cassandra 6 has.
fn statements_of_six(seed: u64, round: u64) -> (usize, Vec<Sent>) {
    let mut random = Seeded::new(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut all = six::create();
    let set_up = all.len();
    all.extend((0..STATEMENTS).map(|_| six::statement(&mut random)));
    (set_up, all)
}

/// The statements of a round: the tables first.
fn statements_of(seed: u64, round: u64) -> (usize, Vec<Sent>) {
    let mut random = Seeded::new(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut table = Table::random(&mut random);
    let counters = random.chance(25);
    let compacts = random.chance(25);
    let functions = random.chance(25);
    let mut all: Vec<Sent> = table.create().into_iter().map(|text| Sent::new("CREATE", text)).collect();
    if counters {
        all.push(Sent::new("CREATE", counter::create()));
    }
    if compacts {
        all.extend(compact::create());
    }
    if functions {
        all.extend(function::create());
    }
    let set_up = all.len();
    let mut now = NOW_BEGIN;
    for place in 0..STATEMENTS {
        let ending = place >= STATEMENTS - STATEMENTS / 5;
        now += u32::try_from(random.below(20)).unwrap_or_default();
        let mut sent = match random.below(1000) {
            0..2 => Sent::new("ALTER TABLE", table.grow(&mut random)),
            2..4 => match table.shed() {
                Some(text) => Sent::new("ALTER TABLE", text),
                None => Sent::new("TRUNCATE", "TRUNCATE t".into()),
            },
            4..50 => wrong::statement(&mut random, &table),
            50..150 if counters => counter::statement(&mut random, ending),
            150..300 if compacts => compact::statement(&mut random),
            300..450 if functions => function::statement(&mut random),
            150..550 => read::statement(&mut random, &table),
            _ => write::statement(&mut random, &table),
        };
        sent.options.now = Some(now);
        all.push(sent);
    }
    (set_up, all)
}

pub fn run(servers: Servers, task: Task, round: u64) -> Result<Report, ClientError> {
    let mut report = Report { rounds: 1, ..Report::default() };
    let (set_up, all) = match task.six {
        true => statements_of_six(task.seed, round),
        false => statements_of(task.seed, round),
    };
    let keyspace = format!("random_{round}");
    let mut pair = Pair::open(servers, &keyspace)?;
    for (index, sent) in all.iter().enumerate() {
        let (cassandra, partita) = pair.send(sent)?;
        report.count(sent.kind, &cassandra);
        if compare::agrees(&sent.options, &cassandra, &partita) {
            continue;
        }
        let failing = all.get(..=index).unwrap_or_default();
        let kept = shrink::shrink(servers, &format!("shrink_{round}"), task.shrink_tries, set_up, failing)?;
        // After a difference that cannot have left different data the round goes on.
        let refused = |lines: &[String]| lines.iter().any(|line| line.starts_with("error "));
        let harmless = sent.text.starts_with("SELECT") || refused(&cassandra) && refused(&partita);
        report.found.push(Found {
            round,
            scenario: shrink::scenario(&format!("random {} {round} {index}", task.seed), &kept),
            index,
            statement: sent.text.clone(),
            cassandra,
            partita,
        });
        if !harmless || report.found.len() >= FOUND_MAX {
            break;
        }
    }
    pair.close(&keyspace);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_statements_and_another_gives_others() {
        let texts =
            |seed, round| statements_of(seed, round).1.into_iter().map(|s| s.text).collect::<Vec<_>>();
        assert_eq!(texts(1, 0), texts(1, 0));
        assert_ne!(texts(1, 0), texts(2, 0));
        assert_ne!(texts(1, 0), texts(1, 1));
        assert!(texts(1, 0).iter().any(|text| text.starts_with("CREATE TABLE t (")));
    }

    #[test]
    fn every_kind_of_statement_is_made() {
        let mut report = Report::default();
        for round in 0..20 {
            let both = [statements_of(5, round).1, statements_of_six(5, round).1];
            for sent in both.into_iter().flatten() {
                let whole = sent.kind != "wrong words";
                assert!(!whole || sent.options.bind.len() == sent.text.matches('?').count(), "{}", sent.text);
                report.count(sent.kind, &[]);
            }
        }
        assert!(report.kinds.len() >= 38, "{:?}", report.kinds.keys());
    }
}
