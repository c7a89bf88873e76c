//! A connection to each of the two servers, in the same fresh keyspace.

use super::{Sent, Servers};
use crate::run::{open, run_step};
use client::{Client, ClientError};

pub struct Pair {
    cassandra: Client,
    partita: Client,
}

impl Pair {
    pub fn open(servers: Servers, keyspace: &str) -> Result<Pair, ClientError> {
        Ok(Pair { cassandra: open(servers.cassandra, keyspace)?, partita: open(servers.partita, keyspace)? })
    }

    pub fn send(&mut self, sent: &Sent) -> Result<(Vec<String>, Vec<String>), ClientError> {
        let told = |error: ClientError| ClientError(format!("{}: {error}", sent.text));
        let cassandra = run_step(&mut self.cassandra, &sent.text, &sent.options).map_err(told)?;
        let ours = sent.ours.as_ref().unwrap_or(&sent.text);
        let partita = run_step(&mut self.partita, ours, &sent.options).map_err(told)?;
        let plain = |lines: Vec<String>| lines.iter().map(|line| without_clock(line)).collect();
        Ok((plain(cassandra), plain(partita)))
    }

    pub fn close(mut self, keyspace: &str) {
        // The next run drops it again anyway.
        let drop = format!("DROP KEYSPACE IF EXISTS {keyspace}");
        let _ = self.cassandra.must(&drop);
        let _ = self.partita.must(&drop);
    }
}

/// Digits of a clock reading in microseconds, which is what `writetime` shows after a write without a timestamp.
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
}
