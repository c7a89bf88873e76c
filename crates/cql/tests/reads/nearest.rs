//! ORDER BY ... ANN OF: exact over all rows, nearly so through the lists of an index.

use crate::harness::{Bench, check};
use database::builds::Renewal;
use model::vector::Similarity;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn most_similar_rows_come_first() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int, c int, v vector<float, 2>, n int, PRIMARY KEY (k, c))");
    check(
        &mut bench,
        "
        INSERT INTO t (k, c, v, n) VALUES (1, 1, [1, 0], 1)
        INSERT INTO t (k, c, v, n) VALUES (1, 2, [0, 1], 2)
        INSERT INTO t (k, c, v, n) VALUES (2, 1, [1, 1], 3)
        INSERT INTO t (k, c, v, n) VALUES (3, 1, [-1, 0], 4)
        INSERT INTO t (k, c, n) VALUES (4, 1, 5)
        SELECT n FROM t ORDER BY v ANN OF [1, 0.1] LIMIT 3
          1
          3
          2
        SELECT n, similarity_cosine(v, [1, 0]) FROM t ORDER BY v ANN OF [1, 0] LIMIT 10
          1 | 1.0
          3 | 0.8535534
          2 | 0.5
          4 | 0.0
        SELECT n FROM t WHERE k = 1 ORDER BY v ANN OF [0, 1] LIMIT 1
          2
        SELECT n FROM t WHERE n > 2 ORDER BY v ANN OF [1, 0] LIMIT 1 ALLOW FILTERING
          3
        SELECT n FROM t ORDER BY v ANN OF [1, 0]
          invalid: Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than 1000. LIMIT was NO LIMIT
        SELECT n FROM t ORDER BY v ANN OF [1, 0] LIMIT 2000
          invalid: Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than 1000. LIMIT was 2000
        SELECT n FROM t ORDER BY v ANN OF [1] LIMIT 2
          invalid: Invalid vector literal for v of type vector<float, 2>; expected 2 elements, but given 1
        SELECT n FROM t ORDER BY n ANN OF [1, 0] LIMIT 2
          invalid: Unexpected receiver type 'int'; only list and vector are expected
    ",
    );
}

const DIMENSIONS: usize = 16;
/// Enough for lists.
const MANY: usize = 10_500;

/// A generator that needs no crate: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// Between -1 and 1, mostly near 0.
    fn number(&mut self) -> f32 {
        let sum: u64 = (0..4).map(|_| self.next() % 1_000).sum();
        sum as f32 / 2_000.0 - 1.0
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| self.number()).collect()
    }

    /// Near one of some topics, as the vectors of texts and pictures are.
    fn near(&mut self, topics: &[Vec<f32>]) -> Vec<f32> {
        let topic = &topics[self.next() as usize % topics.len()];
        topic.iter().map(|x| x + 0.5 * self.number()).collect()
    }
}

fn literal(vector: &[f32]) -> String {
    format!("[{}]", vector.iter().map(f32::to_string).collect::<Vec<_>>().join(", "))
}

/// A table, and what is in it.
struct World {
    bench: Bench,
    random: Random,
    topics: Vec<Vec<f32>>,
    similarity: Similarity,
    rows: BTreeMap<usize, (usize, Vec<f32>)>,
}

impl World {
    fn new(similarity: Similarity) -> World {
        let bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, n int, v vector<float, 16>)");
        let mut random = Random(41);
        let topics = (0..60).map(|_| random.vector()).collect();
        World { bench, random, topics, similarity, rows: BTreeMap::new() }
    }

    fn create_index(&mut self) {
        let name = format!("{:?}", self.similarity).replace("DotProduct", "dot_product").to_lowercase();
        let options = format!("{{'similarity_function': '{name}'}}");
        self.bench.run(&format!("CREATE INDEX near ON t (v) USING 'sai' WITH OPTIONS = {options}")).unwrap();
    }

    fn target(&mut self) -> Vec<f32> {
        self.random.near(&self.topics)
    }

    fn put(&mut self, k: usize) {
        let (n, vector) = (k % 50, self.target());
        let text = format!("INSERT INTO t (k, n, v) VALUES ({k}, {n}, {})", literal(&vector));
        self.bench.run(&text).unwrap();
        self.rows.insert(k, (n, vector));
    }

    fn delete(&mut self, k: usize) {
        self.bench.run(&format!("DELETE FROM t WHERE k = {k}")).unwrap();
        self.rows.remove(&k);
    }

    /// The numbers of the rows that the server finds.
    fn found(&mut self, target: &[f32], condition: &str, limit: usize) -> Vec<usize> {
        let order = format!("ORDER BY v ANN OF {} LIMIT {limit} ALLOW FILTERING", literal(target));
        let (rows, next) = self.bench.page(&format!("SELECT k FROM t {condition} {order}"), 5_000, None);
        assert_eq!(next, None);
        rows.iter().map(|row| row.parse().unwrap()).collect()
    }

    /// Those that are nearest.
    fn nearest(&self, target: &[f32], is_wanted: impl Fn(usize) -> bool, limit: usize) -> Vec<usize> {
        let wanted = self.rows.iter().filter(|(_, (n, _))| is_wanted(*n));
        let mut near: Vec<(f32, usize)> =
            wanted.map(|(k, (_, vector))| (self.similarity.of(target, vector), *k)).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(limit).map(|(_, k)| k).collect()
    }

    /// What share of the nearest rows is found. Whatever is found is there, passes the condition, and is in order.
    fn recall(&mut self, condition: &str, is_wanted: impl Fn(usize) -> bool, limit: usize) -> f64 {
        let (mut hits, mut all) = (0, 0);
        for _ in 0..20 {
            let target = self.target();
            let found = self.found(&target, condition, limit);
            let nearest = self.nearest(&target, &is_wanted, limit);
            assert_eq!(found.len(), nearest.len(), "{condition}: an answer is as long as the exact one");
            let places: BTreeSet<&usize> = found.iter().collect();
            assert_eq!(places.len(), found.len(), "{condition}: no row comes twice");
            let similarity = |k: &usize| {
                let (n, vector) =
                    self.rows.get(k).unwrap_or_else(|| panic!("{condition}: row {k} is deleted"));
                assert!(is_wanted(*n), "{condition}: row {k}");
                self.similarity.of(&target, vector)
            };
            assert!(found.iter().map(similarity).is_sorted_by(|a, b| a >= b), "{condition}");
            hits += nearest.iter().filter(|k| places.contains(k)).count();
            all += nearest.len();
        }
        hits as f64 / all as f64
    }

    /// How EXPLAIN says that the answer is found.
    fn choice(&mut self, condition: &str) -> String {
        let target = literal(&[0.5; DIMENSIONS]);
        let text = format!(
            "EXPLAIN SELECT k FROM t {condition} ORDER BY v ANN OF {target} LIMIT 10 ALLOW FILTERING"
        );
        let lines = self.bench.page(&text, 100, None).0;
        lines.into_iter().find(|line| line.contains("'choice'")).unwrap()
    }

    fn check(&mut self) -> Vec<String> {
        self.bench.page("CHECK PROJECTION near", 1, None).0
    }
}

const APPROXIMATE: &str = "approximate: the lists of index near were made for";

#[test]
fn an_index_on_many_vectors_finds_nearly_all_that_are_near() {
    for similarity in [Similarity::Cosine, Similarity::DotProduct, Similarity::Euclidean] {
        let mut world = World::new(similarity);
        (0..MANY).for_each(|k| world.put(k));
        world.create_index();
        assert!(world.choice("").contains(APPROXIMATE), "{}", world.choice(""));
        assert!(
            world.choice("WHERE k = 5").contains("exact: compares the rows of the partitions that are named")
        );
        let recall = world.recall("", |_| true, 10);
        println!("{similarity:?}: recall {recall}");
        assert!(recall >= 0.95, "{similarity:?}: {recall}");
    }
}

/// Numbers without any order are the hardest: nearly all vectors are about equally far. No lists help much, and it must be known how much.
#[test]
fn vectors_in_no_order_are_found_less_often() {
    let mut world = World::new(Similarity::Cosine);
    world.topics = (0..MANY).map(|_| world.random.vector()).collect();
    (0..MANY).for_each(|k| world.put(k));
    world.create_index();
    let recall = world.recall("", |_| true, 10);
    println!("in no order: recall {recall}");
    assert!(recall >= 0.6, "{recall}");
}

/// Writes after the index was filled, of every kind, and conditions that leave many rows, few and none.
#[test]
fn an_index_on_vectors_shows_what_is_there_and_what_is_asked_for() {
    let mut world = World::new(Similarity::Euclidean);
    (0..MANY).for_each(|k| world.put(k));
    world.create_index();
    for _ in 0..1_500 {
        let k = world.random.next() as usize % (MANY + 300);
        match world.random.next() % 4 {
            0 => world.delete(k),
            _ => world.put(k),
        }
    }
    // Without a vector, and with one that will expire.
    for k in 0..40 {
        let text = match k % 2 {
            0 => format!("DELETE v FROM t WHERE k = {k}"),
            _ => format!("UPDATE t USING TTL 5 SET v = {} WHERE k = {k}", literal(&world.topics[0].clone())),
        };
        world.bench.run(&text).unwrap();
        world.rows.remove(&k);
    }
    world.bench.pass_seconds(6);
    for (condition, recall_min, is_wanted) in [
        ("", 0.95, Box::new(|_| true) as Box<dyn Fn(usize) -> bool>),
        ("WHERE n < 25", 0.95, Box::new(|n| n < 25)),
        ("WHERE n = 7", 0.95, Box::new(|n| n == 7)),
        ("WHERE n = 77", 1.0, Box::new(|n| n == 77)),
    ] {
        assert!(world.choice(condition).contains(APPROXIMATE), "{condition}");
        for limit in [1, 10, 100] {
            let recall = match world.nearest(&[0.0; DIMENSIONS], &is_wanted, 1).is_empty() {
                true => {
                    assert!(world.found(&[0.0; DIMENSIONS], condition, limit).is_empty());
                    1.0
                }
                false => world.recall(condition, &is_wanted, limit),
            };
            println!("{condition} limit {limit}: recall {recall}");
            assert!(recall >= recall_min, "{condition} limit {limit}: {recall}");
        }
    }
    let checked = world.check();
    assert!(checked[0].starts_with("0 | 0 | 0 |"), "{checked:?}");
}

#[test]
fn few_vectors_are_compared_and_more_get_lists() {
    let mut world = World::new(Similarity::Cosine);
    world.create_index();
    (0..300).for_each(|k| world.put(k));
    let few = "exact: compares every row, because index near has no lists";
    assert!(world.choice("").contains(few), "{}", world.choice(""));
    assert_eq!(world.recall("", |_| true, 10), 1.0);
    assert!(world.check()[0].starts_with("0 | 0 | 0 | 0 | 0 | 0"), "{:?}", world.check());

    // Enough rows, but not enough of them have a vector: it is tried once, and again when there are twice as many.
    let mut renewal = Renewal::default();
    assert_eq!(world.bench.renew_lists(&mut renewal, 9_999), 0);
    assert_eq!(world.bench.renew_lists(&mut renewal, 10_000), 1);
    assert!(world.choice("").contains("because index near is being built"), "{}", world.choice(""));
    world.bench.work();
    assert!(world.choice("").contains(few));
    assert_eq!(world.bench.renew_lists(&mut renewal, 19_999), 0);

    (300..MANY).for_each(|k| world.put(k));
    assert_eq!(world.bench.renew_lists(&mut renewal, 20_000), 1);
    // Before and after, the answer is right.
    assert_eq!(world.recall("", |_| true, 10), 1.0);
    world.put(MANY);
    world.bench.work();
    assert!(world.choice("").contains(APPROXIMATE), "{}", world.choice(""));
    assert!(world.recall("", |_| true, 10) >= 0.95);
    assert!(world.check()[0].starts_with("0 | 0 | 0 |"));

    // Four times as many rows as the lists were made for: others.
    assert_eq!(world.bench.renew_lists(&mut renewal, 42_000), 0, "{MANY} and one have a vector");
    assert_eq!(world.bench.renew_lists(&mut renewal, 42_004), 1);
    world.bench.work();
    assert!(world.choice("").contains(APPROXIMATE));
    world.bench.run("TRUNCATE t").unwrap();
    world.rows.clear();
    assert!(world.found(&[0.5; DIMENSIONS], "", 10).is_empty());
    world.put(3);
    assert_eq!(world.found(&[0.5; DIMENSIONS], "", 10), [3]);
}
