//! Makes a failing sequence of statements short: statements are left out as long as the last one still differs.

use super::pair::Pair;
use super::{Sent, Servers};
use crate::compare;
use client::ClientError;

/// The first `set_up` statements make the tables and the last one differs; all of these are kept. At most `tries_max`
/// runs, each of which makes a keyspace on both servers.
pub fn shrink(
    servers: Servers,
    keyspace: &str,
    tries_max: usize,
    set_up: usize,
    all: &[Sent],
) -> Result<Vec<Sent>, ClientError> {
    let mut kept = all.to_vec();
    let mut tries = 0;
    let last = kept.len().saturating_sub(1);
    // Most differences need no read but the last statement, and many need no earlier statement at all.
    for keep in [|_: &Sent| false, |sent: &Sent| sent.kind == "ALTER TABLE", |sent: &Sent| !is_read(sent)] {
        let each =
            kept.iter().enumerate().filter(|(index, sent)| *index < set_up || *index == last || keep(sent));
        let shorter: Vec<Sent> = each.map(|(_, sent)| sent.clone()).collect();
        if tries >= tries_max {
            return Ok(kept);
        }
        tries += 1;
        if differs(servers, keyspace, &shorter)? {
            kept = shorter;
            break;
        }
    }
    let mut chunk = kept.len() / 2;
    while chunk > 0 {
        let mut start = set_up;
        while start + 1 < kept.len() {
            if tries >= tries_max {
                return Ok(kept);
            }
            tries += 1;
            let end = (start + chunk).min(kept.len() - 1);
            let mut shorter = kept.clone();
            shorter.drain(start..end);
            if differs(servers, keyspace, &shorter)? {
                kept = shorter;
            } else {
                start = end;
            }
        }
        chunk /= 2;
    }
    Ok(kept)
}

fn is_read(sent: &Sent) -> bool {
    sent.text.starts_with("SELECT")
}

fn differs(servers: Servers, keyspace: &str, all: &[Sent]) -> Result<bool, ClientError> {
    let mut pair = Pair::open(servers, keyspace)?;
    let mut last = false;
    for sent in all {
        let (cassandra, partita) = pair.send(sent)?;
        last = !compare::agrees(&sent.options, &cassandra, &partita);
    }
    pair.close(keyspace);
    Ok(last)
}

/// The statements as a scenario without answers.
pub fn scenario(name: &str, all: &[Sent]) -> String {
    let mut text = format!("=== {name}\n");
    for sent in all {
        sent.options.lines().iter().for_each(|line| text.push_str(&format!("{line}\n")));
        text.push_str(&sent.text);
        text.push_str(";\n");
    }
    text
}
