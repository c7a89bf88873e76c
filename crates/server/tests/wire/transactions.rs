//! Transactions of several clients: their history must be one that could have happened one after the other.
//!
//! Each key holds a text that grows: a transaction reads keys and appends its own number to some of them, so the final texts
//! say in which order the writers came, and what a transaction read says between which two writers it stood. The order is
//! serializable when these say nothing that goes in a circle.

use crate::bench::{Bench, Client};
use std::collections::{BTreeMap, BTreeSet};

const CLIENTS: usize = 6;
const ROUNDS: usize = 40;
const KEYS: [u32; 5] = [1, 2, 3, 4, 5];

/// What one transaction saw and did.
struct Done {
    id: String,
    /// The numbers that were in each key it read.
    read: BTreeMap<u32, Vec<String>>,
    wrote: BTreeSet<u32>,
}

#[test]
fn concurrent_transactions_could_have_come_one_after_the_other() {
    let bench = Bench::start(|config| config.shards = 3);
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE k.t (k int PRIMARY KEY, v text)");
    for key in KEYS {
        client.run(&format!("INSERT INTO k.t (k, v) VALUES ({key}, '')"));
    }
    let history: Vec<Done> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                scope.spawn({
                    let bench = &bench;
                    move || work(bench, number)
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let last: BTreeMap<u32, Vec<String>> =
        KEYS.iter().map(|key| (*key, numbers(&mut client, *key))).collect();
    let writers: usize = history.iter().map(|done| done.wrote.len()).sum();
    assert_eq!(last.values().map(Vec::len).sum::<usize>(), writers, "an append was lost or done twice");
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for done in &history {
        for (key, read) in &done.read {
            let order = &last[key];
            assert!(
                order.starts_with(read),
                "{} read {read:?} of {key}, which came to be {order:?}",
                done.id
            );
            // After whom it read, and before whoever came next (unless that was it itself).
            if let Some(before) = read.last() {
                edges.entry(before).or_default().insert(&done.id);
            }
            match order.get(read.len()) {
                Some(next) if *next == done.id => {}
                Some(next) => {
                    assert!(!done.wrote.contains(key), "{} appended to {key} what it had not read", done.id);
                    edges.entry(&done.id).or_default().insert(next);
                }
                None => assert!(!done.wrote.contains(key)),
            }
        }
    }
    assert_eq!(circle(&edges), None, "these cannot have come one after the other");
}

/// A small generator: the mix must differ between clients, not be random.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn work(bench: &Bench, number: usize) -> Vec<Done> {
    let mut client = Client::connect(bench);
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ (number as u64 + 1);
    (0..ROUNDS).map(|round| transact(&mut client, format!("{number}x{round}"), &mut state)).collect()
}

fn transact(client: &mut Client, id: String, state: &mut u64) -> Done {
    let read: BTreeSet<u32> =
        (0..1 + next(state) % 3).map(|_| KEYS[next(state) as usize % KEYS.len()]).collect();
    // Every fourth only reads; others append to what they have read.
    let wrote: BTreeSet<u32> =
        if next(state).is_multiple_of(4) { BTreeSet::new() } else { read.iter().take(2).copied().collect() };
    let mut text = "BEGIN TRANSACTION ".to_string();
    for key in &read {
        text.push_str(&format!("LET a{key} = (SELECT v FROM k.t WHERE k = {key}); "));
    }
    let values: Vec<String> = read.iter().map(|key| format!("a{key}.v")).collect();
    text.push_str(&format!("SELECT {}; ", values.join(", ")));
    for key in &wrote {
        text.push_str(&format!("UPDATE k.t SET v += '{id},' WHERE k = {key}; "));
    }
    text.push_str("COMMIT TRANSACTION");
    let shown = client.rows(&text).texts();
    let found = read.iter().copied().zip(shown.iter().map(|text| split(text))).collect();
    Done { id, read: found, wrote }
}

fn numbers(client: &mut Client, key: u32) -> Vec<String> {
    split(&client.rows(&format!("SELECT v FROM k.t WHERE k = {key}")).texts()[0])
}

fn split(text: &str) -> Vec<String> {
    text.split(',').filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// Somebody who is before itself, found by taking away whoever has nobody before.
fn circle(edges: &BTreeMap<&str, BTreeSet<&str>>) -> Option<Vec<String>> {
    let mut before: BTreeMap<&str, usize> = BTreeMap::new();
    for (from, all) in edges {
        before.entry(from).or_default();
        all.iter().for_each(|to| *before.entry(to).or_default() += 1);
    }
    let mut free: Vec<&str> = before.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        before.remove(id);
        for to in edges.get(id).into_iter().flatten() {
            if let Some(count) = before.get_mut(to) {
                *count -= 1;
                if *count == 0 {
                    free.push(to);
                }
            }
        }
    }
    (!before.is_empty()).then(|| before.keys().map(|id| id.to_string()).collect())
}

#[test]
fn the_checker_finds_circles() {
    let edges = |pairs: &[(&'static str, &'static str)]| {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, to) in pairs {
            edges.entry(from).or_default().insert(to);
        }
        edges
    };
    assert_eq!(circle(&edges(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    assert!(circle(&edges(&[("a", "b"), ("b", "c"), ("c", "a")])).is_some());
}
