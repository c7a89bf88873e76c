//! The buckets of a table change while clients on several shards write, delete, decide and read.
//!
//! Each client has entities of its own and knows what must be in them; together they count one row up by conditions, each success
//! exactly once. When a plan is reached, and at the end, every entity must be what its client says, in every plan.

use crate::bench::{Answer, Bench, Client, Reply};
use cql_wire::ValueList;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

const CLIENTS: i64 = 4;
const DAY: i64 = 86_400_000;
/// All hash buckets of an entity are known to a deletion, also those that are empty: so timestamps alone decide.
const HASHED: [&str; 4] =
    ["{'by': 'at', 'into': 5}", "{}", "{'by': 'id', 'into': 2}", "{'by': 'at', 'into': 3}"];
/// Changes of the plan of a small table.
const TURNS: usize = 12;
const PLANS: [&str; 6] = [
    "{'by': 'at', 'every': '1d'}",
    "{'by': 'id', 'into': 5}",
    "{'by': 'at', 'every': 'month'}",
    "{}",
    "{'by': 'at', 'every': '1w', 'hash': 'id', 'into': 3}",
    "{'by': 'id', 'into': 2}",
];

/// Clients work until this is gone, also when the test fails.
struct Until<'a>(&'a AtomicBool);

impl Drop for Until<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a client knows of its entities: entity, day and id, to the value.
type Known = BTreeMap<(i64, i64, i64), i64>;

#[test]
fn rows_move_while_clients_on_several_shards_write() {
    let bench = Bench::start(|config| config.shards = 3);
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE k.t (k bigint, at timestamp, id bigint, v bigint, PRIMARY KEY (k, at, id))");
    client.run("INSERT INTO k.t (k, at, id, v) VALUES (0, 0, 0, 0)");
    let ended = AtomicBool::new(false);
    let (bench, over) = (&bench, &ended);
    let counted: i64 = std::thread::scope(|scope| {
        let until = Until(over);
        let clients: Vec<_> =
            (1..=CLIENTS).map(|number| scope.spawn(move || work(bench, number, over))).collect();
        for plan in PLANS {
            client.run(&format!("ALTER TABLE k.t WITH bucketing = {plan}"));
            finish(&mut client);
        }
        drop(until);
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    let last = numbers(&client.rows("SELECT v FROM k.t WHERE k = 0"));
    assert_eq!(last, [counted], "each condition that held counted once");
    println!("{counted} conditions held");
}

/// Writes until it is told to stop; how often its condition held.
fn work(bench: &Bench, number: i64, ended: &AtomicBool) -> i64 {
    let mut client = Client::connect(bench);
    let (mut known, mut counted, mut state) = (Known::new(), 0, number as u64 * 77);
    let mut below = move |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % n) as i64
    };
    let mut round = 0;
    while !ended.load(Ordering::Relaxed) || round < 200 {
        round += 1;
        let (k, day, id, v) = (number * 10 + below(3), below(40), below(5), below(1000));
        let at = day * DAY;
        match below(20) {
            0..=9 => {
                let insert = format!("INSERT INTO k.t (k, at, id, v) VALUES ({k}, {at}, {id}, {v})");
                patiently(&mut client, &insert);
                known.insert((k, day, id), v);
            }
            10 | 11 => {
                patiently(&mut client, &format!("DELETE FROM k.t WHERE k = {k} AND at = {at} AND id = {id}"));
                known.remove(&(k, day, id));
            }
            12 => {
                let until = at + 5 * DAY;
                patiently(
                    &mut client,
                    &format!("DELETE FROM k.t WHERE k = {k} AND at >= {at} AND at < {until}"),
                );
                known.retain(|place, _| place.0 != k || !(day..day + 5).contains(&place.1));
            }
            13 | 14 => {
                let first = format!("INSERT INTO k.t (k, at, id, v) VALUES ({k}, {at}, {id}, {v})");
                let second =
                    format!("UPDATE k.t SET v = {v} WHERE k = {k} AND at = {} AND id = {id}", at + DAY);
                patiently(&mut client, &format!("BEGIN BATCH {first}; {second}; APPLY BATCH"));
                known.insert((k, day, id), v);
                known.insert((k, day + 1, id), v);
            }
            15 | 16 => counted += count_up(&mut client),
            _ => compare(&mut client, k, &known),
        }
    }
    (0..3).for_each(|k| compare(&mut client, number * 10 + k, &known));
    counted
}

/// What somebody has done at a timestamp that decides: a row with a value, or a range of rows that is gone.
enum Did {
    Wrote { at: i64, v: i64 },
    Deleted { from: i64, until: i64 },
}

/// Six clients on the same few rows, through many turns of a small table: the timestamps say what must be left.
#[test]
fn the_highest_timestamp_wins_at_every_turn() {
    let bench = Bench::start(|config| config.shards = 3);
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE k.t (k bigint, at timestamp, id bigint, v bigint, PRIMARY KEY (k, at, id))");
    client.run("INSERT INTO k.t (k, at, id, v) VALUES (0, 0, 0, 0)");
    let (ended, stamps) = (AtomicBool::new(false), AtomicI64::new(1));
    let (bench, over, stamps) = (&bench, &ended, &stamps);
    let outcomes: Vec<(i64, Vec<(i64, Did)>)> = std::thread::scope(|scope| {
        let until = Until(over);
        let clients: Vec<_> =
            (1..=6).map(|number| scope.spawn(move || struggle(bench, number, stamps, over))).collect();
        for plan in HASHED.iter().cycle().take(TURNS) {
            client.run(&format!("ALTER TABLE k.t WITH bucketing = {plan}"));
            finish(&mut client);
        }
        drop(until);
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let counted: i64 = outcomes.iter().map(|(counted, _)| counted).sum();
    assert_eq!(numbers(&client.rows("SELECT v FROM k.t WHERE k = 0")), [counted]);
    let did: BTreeMap<i64, Did> = outcomes.into_iter().flat_map(|(_, did)| did).collect();
    let operations = did.len();
    let mut rows: BTreeMap<i64, i64> = BTreeMap::new();
    for did in did.into_values() {
        match did {
            Did::Wrote { at, v } => drop(rows.insert(at, v)),
            Did::Deleted { from, until } => rows.retain(|at, _| !(from..until).contains(at)),
        }
    }
    let expected: Vec<i64> = rows.into_iter().flat_map(|(at, v)| [at * DAY, v]).collect();
    assert_eq!(numbers(&client.rows("SELECT at, v FROM k.t WHERE k = 1")), expected);
    println!("{operations} operations, {counted} conditions held, {TURNS} turns");
}

/// Half of the clients write rows with timestamps that may be old by then, the others delete ranges; all count up.
fn struggle(bench: &Bench, number: i64, stamps: &AtomicI64, ended: &AtomicBool) -> (i64, Vec<(i64, Did)>) {
    let mut client = Client::connect(bench);
    let (mut counted, mut did, mut kept) = (0, Vec::new(), None);
    while !ended.load(Ordering::Relaxed) {
        let fresh = stamps.fetch_add(1, Ordering::Relaxed);
        // Every other timestamp is used when there are newer ones.
        let stamp = match kept.take() {
            None => {
                kept = Some(fresh);
                stamps.fetch_add(1, Ordering::Relaxed)
            }
            Some(old) => old,
        };
        let at = (stamp * 7 + number) % 200;
        match (number % 2, stamp % 5) {
            (_, 0) => counted += count_up(&mut client),
            (0, _) => {
                let day = at * DAY;
                let insert = format!(
                    "INSERT INTO k.t (k, at, id, v) VALUES (1, {day}, 0, {stamp}) USING TIMESTAMP {stamp}"
                );
                patiently(&mut client, &insert);
                did.push((stamp, Did::Wrote { at, v: stamp }));
            }
            _ => {
                let (from, until) = (at * DAY, (at + 40) * DAY);
                let delete = format!(
                    "DELETE FROM k.t USING TIMESTAMP {stamp} WHERE k = 1 AND at >= {from} AND at < {until}"
                );
                patiently(&mut client, &delete);
                did.push((stamp, Did::Deleted { from: at, until: at + 40 }));
            }
        }
    }
    (counted, did)
}

/// Waits until no job is left, and none has failed.
fn finish(client: &mut Client) {
    while client.rows("SELECT state FROM system_views.jobs").texts().iter().any(|state| state != "done") {
        let reply = client.rows("SELECT error FROM system_views.jobs");
        assert!(reply.texts().iter().all(|error| error == "null" || error.is_empty()), "{:?}", reply.texts());
    }
}

/// One row for all: read it, and add one if it is still so.
fn count_up(client: &mut Client) -> i64 {
    let now = numbers(&patiently(client, "SELECT v FROM k.t WHERE k = 0"))[0];
    let next = format!("UPDATE k.t SET v = {} WHERE k = 0 AND at = 0 AND id = 0 IF v = {now}", now + 1);
    let reply = patiently(client, &next);
    i64::from(reply.cells[0].as_deref() == Some(&[1]))
}

fn compare(client: &mut Client, k: i64, known: &Known) {
    let reply =
        patiently(client, &format!("SELECT at, id, v FROM k.t WHERE k = {k} ORDER BY at DESC, id DESC"));
    let found: Vec<i64> = numbers(&reply);
    let own = known.iter().rev().filter(|(place, _)| place.0 == k);
    let expected: Vec<i64> = own.flat_map(|((_, day, id), v)| [day * DAY, *id, *v]).collect();
    assert_eq!(found, expected, "entity {k}");
}

fn numbers(reply: &Reply) -> Vec<i64> {
    let number = |cell: &Option<Vec<u8>>| i64::from_be_bytes(cell.as_deref().unwrap().try_into().unwrap());
    reply.cells.iter().map(number).collect()
}

/// As drivers do: prepares again when that is asked for, tries again when nothing was done.
fn patiently(client: &mut Client, text: &str) -> Reply {
    loop {
        let reply = match text.starts_with("BEGIN") {
            true => client.query_with(text, &ValueList::new()),
            false => client.execute(text, &ValueList::new()),
        };
        match &reply.answer {
            Answer::Error(0x2500 | 0x1001, _) => {}
            Answer::Error(code, words) => panic!("{text}: {code:x} {words}"),
            _ => return reply,
        }
    }
}
