//! Against exact counts: Zipf streams, keys that become hot and cool down, every operation counted once.

use super::*;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Ranks from 0, the likeliest first.
struct Zipf {
    below: Vec<f64>,
}

impl Zipf {
    fn new(keys: usize, exponent: f64) -> Zipf {
        let mut sum = 0.0;
        let mut below = Vec::with_capacity(keys);
        for rank in 1..=keys {
            sum += (rank as f64).powf(-exponent);
            below.push(sum);
        }
        below.iter_mut().for_each(|b| *b /= sum);
        Zipf { below }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        let fraction = random.fraction();
        self.below.partition_point(|b| *b < fraction) as u64
    }
}

/// A hash of the key, as a token is.
fn token(key: u64) -> i64 {
    Random(key.wrapping_mul(0xff51_afd7_ed55_8ccd)).next() as i64
}

const READ: Load = Load { reads: 1, writes: 0, bytes: 100, rows: 1, tombstones: 0, refused: 0 };

fn add(hot: &mut HotKeys, key: u64) {
    hot.add(7, token(key), &key.to_be_bytes(), READ);
}

fn named(key: &HotKey) -> u64 {
    u64::from_be_bytes(key.key[..].try_into().unwrap())
}

/// The ten keys that were read most, with their counts.
fn top_ten(exact: &[u64]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = (0..).zip(exact.iter().copied()).filter(|(_, count)| *count > 0).collect();
    all.sort_by_key(|(key, count)| (std::cmp::Reverse(*count), *key));
    all.truncate(10);
    all
}

fn check(slot: &Slot, exact: &[u64], about: &str) {
    let top = top_ten(exact);
    let mut expected: Vec<u64> = top.iter().map(|(key, _)| *key).collect();
    let mut found: Vec<u64> = slot.keys.iter().take(10).map(named).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected, "{about}");
    for key in &slot.keys {
        let real = exact[named(key) as usize];
        assert!(key.load.reads <= real && real <= key.load.reads + key.missed, "{about}: {key:?} {real}");
    }
    for (key, count) in top {
        let shown = slot.keys.iter().find(|k| named(k) == key).unwrap().load.reads;
        assert!(shown * 10 >= count * 9, "{about}: {shown} of {count} reads of {key}");
    }
    assert_eq!(slot.tables, [(7, Load { reads: exact.iter().sum(), ..slot.tables[0].1 })]);
    assert_eq!(
        slot.heat.iter().map(|heat| heat.reads).sum::<u64>(),
        exact.iter().sum::<u64>(),
        "{about}: the map has everything once"
    );
}

#[test]
fn the_true_top_ten_of_zipf_streams_are_named_with_their_rates() {
    for (seed, exponent) in [(1, 0.8), (2, 1.0), (3, 1.2), (4, 1.4)] {
        let zipf = Zipf::new(1_000_000, exponent);
        let mut random = Random(seed);
        let mut hot = HotKeys::new(512);
        // Ten million operations in ten slots, as the server has them; what is hot moves after the fifth.
        for slot in 0..10u64 {
            let mut exact = vec![0; 1_500_000];
            for _ in 0..1_000_000 {
                let key = zipf.draw(&mut random) + if slot < 5 { 0 } else { 500_000 };
                add(&mut hot, key);
                exact[key as usize] += 1;
            }
            check(&hot.take(10_000, 64), &exact, &format!("exponent {exponent}, slot {slot}"));
        }
    }
}

#[test]
fn uniform_traffic_has_no_hot_keys_and_everything_is_counted() {
    let (mut hot, mut random) = (HotKeys::new(512), Random(9));
    for _ in 0..500_000 {
        add(&mut hot, random.next() % 1_000_000);
    }
    let slot = hot.take(10_000, 64);
    assert_eq!(slot.tables[0].1.reads, 500_000);
    assert_eq!(slot.heat.iter().map(|heat| heat.reads).sum::<u64>(), 500_000);
    assert!(slot.keys[0].load.reads < 100, "{:?}", slot.keys[0]);
    assert!(hot.is_idle());
    assert_eq!(hot.take(10_000, 64), Slot { millis: 10_000, ..Slot::default() });
}

#[test]
fn few_keys_are_counted_exactly() {
    let mut hot = HotKeys::new(8);
    let write = Load { writes: 1, bytes: 50, ..Load::default() };
    for round in 0..10u64 {
        for key in 0..5u64 {
            let table = (key % 2) as u32;
            hot.add(table, token(key), &key.to_be_bytes(), if round % 2 == 0 { READ } else { write });
        }
    }
    let slot = hot.look(1000, 64);
    assert_eq!(slot, hot.look(1000, 64), "looking changes nothing");
    assert_eq!(slot.keys.len(), 5);
    for key in &slot.keys {
        assert_eq!((key.load.reads, key.load.writes, key.missed), (5, 5, 0));
    }
    let operations: Vec<(u32, u64)> =
        slot.tables.iter().map(|(table, load)| (*table, load.operations())).collect();
    assert_eq!(operations, [(0, 30), (1, 20)]);
}

#[test]
fn one_key_in_two_tables_is_two_partitions_and_long_keys_are_cut() {
    let mut hot = HotKeys::new(4);
    hot.add(1, token(1), &[1; 2000], READ);
    hot.add(2, token(1), &[1; 2000], READ);
    let slot = hot.take(1, 64);
    assert_eq!(slot.keys.len(), 2);
    assert!(slot.keys.iter().all(|key| key.key.len() == KEY_BYTES_MAX && key.load.reads == 1));
}
