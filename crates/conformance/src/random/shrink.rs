//! Makes a failing sequence of statements short: statements are left out as long as the last one still differs.

use super::{Pair, Sent, Servers};
use crate::client::ClientError;
use crate::compare;

/// Runs that shrinking one difference may take; each makes a keyspace on both servers.
const TRIES_MAX: usize = 14;
const KEYSPACE: &str = "random_shrink";

/// The first statement makes the table and the last one differs; both are kept.
pub fn shrink(servers: Servers, all: &[Sent]) -> Result<Vec<Sent>, ClientError> {
    let mut kept = all.to_vec();
    let mut chunk = kept.len() / 2;
    let mut tries = 0;
    while chunk > 0 {
        let mut start = 1;
        while start + 1 < kept.len() {
            if tries == TRIES_MAX {
                return Ok(kept);
            }
            tries += 1;
            let end = (start + chunk).min(kept.len() - 1);
            let mut shorter = kept.clone();
            shorter.drain(start..end);
            if differs(servers, &shorter)? {
                kept = shorter;
            } else {
                start = end;
            }
        }
        chunk /= 2;
    }
    Ok(kept)
}

fn differs(servers: Servers, all: &[Sent]) -> Result<bool, ClientError> {
    let mut pair = Pair::open(servers, KEYSPACE)?;
    let mut last = false;
    for sent in all {
        let (cassandra, partita) = pair.send(sent)?;
        last = !compare::agrees(&sent.options, &cassandra, &partita);
    }
    pair.close(KEYSPACE);
    Ok(last)
}

/// The statements as a scenario without answers.
pub fn scenario(name: &str, all: &[Sent]) -> String {
    let mut text = format!("=== {name}\n");
    for sent in all {
        if let Some(page) = sent.options.page {
            text.push_str(&format!("@page {page}\n"));
        }
        if let Some(now) = sent.options.now {
            text.push_str(&format!("@now {now}\n"));
        }
        text.push_str(&sent.text);
        text.push_str(";\n");
    }
    text
}
