//! One suite that every cursor runs, against a sorted map of the same entries.

use super::{Cursor, Entry};
use rt::Random;
use std::collections::BTreeMap;

type Payload = (i64, Vec<u8>);
type Partition = BTreeMap<Vec<u8>, Payload>;

/// The entries of a run, as a plain map.
#[derive(Default, Debug, PartialEq)]
pub struct Run(BTreeMap<Vec<u8>, Partition>);

impl Run {
    /// Reads a whole run forwards, checking order.
    pub fn read(cursor: &mut impl Cursor) -> Run {
        let mut run = Run::default();
        cursor.seek_partition(&[]).unwrap();
        while let Some(prefix) = cursor.partition().map(<[u8]>::to_vec) {
            assert!(run.0.last_key_value().is_none_or(|(last, _)| *last < prefix), "partitions out of order");
            let mut entries = Partition::new();
            while let Some(entry) = cursor.entry() {
                assert!(entries.last_key_value().is_none_or(|(last, _)| last.as_slice() < entry.position));
                entries.insert(entry.position.to_vec(), (entry.timestamp, entry.rest.to_vec()));
                cursor.next().unwrap();
            }
            run.0.insert(prefix, entries);
            cursor.next_partition().unwrap();
        }
        run
    }

    /// Leaves out partitions without entries, which a memtable may have and a file has not.
    pub fn without_empty(mut self) -> Run {
        self.0.retain(|_, partition| !partition.is_empty());
        self
    }

    /// Whether exactly this entry is in the run.
    pub fn holds(&self, prefix: &[u8], entry: Entry<'_>) -> bool {
        let found = self.0.get(prefix).and_then(|partition| partition.get(entry.position));
        found.is_some_and(|(timestamp, rest)| *timestamp == entry.timestamp && *rest == entry.rest)
    }

    pub fn prefixes(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().map(Vec::as_slice)
    }

    pub fn partitions(&self) -> usize {
        self.0.len()
    }
}

type Owned = (Vec<u8>, Payload);

fn owned(entry: Option<Entry<'_>>) -> Option<Owned> {
    entry.map(|e| (e.position.to_vec(), (e.timestamp, e.rest.to_vec())))
}

fn cloned(pair: Option<(&Vec<u8>, &Payload)>) -> Option<Owned> {
    pair.map(|(k, v)| (k.clone(), v.clone()))
}

/// Walks `cursor` at random and compares every step with `run`.
pub fn check(run: &Run, cursor: &mut impl Cursor, random: &mut Random) {
    let prefixes: Vec<&Vec<u8>> = run.0.keys().collect();
    for _ in 0..400 {
        let prefix = match prefixes.len() {
            0 => b"nothing".to_vec(),
            n => {
                let mut prefix = prefixes[random.below(n as u64) as usize].clone();
                if random.one_in(6) {
                    let at = random.below(prefix.len() as u64) as usize;
                    prefix[at] = prefix[at].wrapping_add(random.below(3) as u8);
                }
                prefix
            }
        };
        if random.one_in(3) {
            cursor.seek_partition(&prefix).unwrap();
            let expected = run.0.range(prefix.clone()..).next();
            assert_eq!(cursor.partition(), expected.map(|(k, _)| k.as_slice()));
            let first = expected.and_then(|(_, p)| p.first_key_value());
            assert_eq!(owned(cursor.entry()), cloned(first));
            continue;
        }
        cursor.enter(&prefix);
        assert_eq!(cursor.entry(), None);
        inside(run.0.get(&prefix), cursor, random);
        if random.one_in(3) {
            cursor.next_partition().unwrap();
            let next = run.0.keys().find(|k| **k > prefix);
            assert_eq!(cursor.partition(), next.map(Vec::as_slice));
        }
    }
    // Every partition, left at a random place in it.
    cursor.seek_partition(&[]).unwrap();
    for (prefix, partition) in &run.0 {
        assert_eq!(cursor.partition(), Some(prefix.as_slice()));
        inside(Some(partition), cursor, random);
        cursor.next_partition().unwrap();
    }
    assert_eq!(cursor.partition(), None);
    assert_eq!(cursor.entry(), None);
}

fn inside(partition: Option<&Partition>, cursor: &mut impl Cursor, random: &mut Random) {
    let empty = Partition::new();
    let partition = partition.unwrap_or(&empty);
    for _ in 0..random.below(4) {
        let target = target(partition, random);
        let mut expected = if random.one_in(2) {
            cursor.seek(&target).unwrap();
            cloned(partition.range(target.clone()..).next())
        } else {
            cursor.seek_before(&target).unwrap();
            cloned(partition.range(..target.clone()).next_back())
        };
        assert_eq!(owned(cursor.entry()), expected, "seek {target:02x?}");
        for _ in 0..random.below(30) {
            let Some((at, _)) = &expected else { break };
            if random.one_in(3) {
                cursor.prev().unwrap();
                expected = cloned(partition.range(..at.clone()).next_back());
            } else {
                cursor.next().unwrap();
                let mut behind = at.clone();
                behind.push(0);
                expected = cloned(partition.range(behind..).next());
            }
            assert_eq!(owned(cursor.entry()), expected);
        }
        if expected.is_none() {
            cursor.next().unwrap();
            cursor.prev().unwrap();
            assert_eq!(cursor.entry(), None, "without an entry it stays without one");
        }
    }
}

fn target(partition: &Partition, random: &mut Random) -> Vec<u8> {
    let mut target = match partition.len() {
        0 => vec![random.below(5) as u8],
        n => partition.keys().nth(random.below(n as u64) as usize).unwrap().clone(),
    };
    match random.below(6) {
        0 => target.push(0),
        1 => target.push(0xff),
        2 => drop(target.pop()),
        3 => target = vec![random.below(5) as u8],
        4 => target = vec![0xff],
        _ => {}
    }
    target
}
