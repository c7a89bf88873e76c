//! A history of the DynamoDB API, cut at every I/O of a simulated disk.
//!
//! Once with several clients at a time, held against `model`; once as a script of two tables with all kinds of writes, local and global
//! indexes, one of them added later, streams, client tokens and items that expire. After every cut the stream has exactly the
//! records of what was acknowledged, or of that and the request under way, never a part of a transaction; the items are what the stream
//! leaves, the indexes what the items say; and the rest of the script then leads to the same end as without a crash.

mod model;

use dynamo::{ApiError, Operation};
use model::node::{Node, START_MICROS, run};
use model::{Told, Worker, all_items, all_records, check, create, follow, same_entries, same_items};
use rt::{CrashImage, Fault, SimDisk};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const CLIENTS: u64 = 4;
const TURNS: u64 = 9;

fn images(disk: &SimDisk, seed: u64) -> [CrashImage; 4] {
    let torn = disk.last_write_len() / 2;
    [
        CrashImage::DropUnsynced,
        CrashImage::KeepAll,
        CrashImage::TornLast { bytes: torn },
        CrashImage::Random { seed },
    ]
}

/// Several clients until the disk crashes; then what they were told must be what table, indexes and stream say.
#[test]
fn a_crash_at_every_io_under_clients_keeps_what_they_were_told() {
    let (mut recovered, mut most) = (0, 0);
    for k in 1.. {
        let disk = SimDisk::new();
        let told = Arc::new(Mutex::new(Told::default()));
        run(async {
            let node = Node::start(&disk, 0).await;
            create(&node.client).await;
            disk.fault_at(disk.io_count() + k, Fault::Crash);
            let worker = |id| Worker::new(&node.client, id, TURNS, &told);
            let mut tasks: Vec<_> =
                (0..CLIENTS).map(|id| tokio::task::spawn_local(worker(id).work())).collect();
            // In the middle of it, memtables become files.
            for task in tasks.split_off(CLIENTS as usize / 2) {
                task.await.unwrap();
            }
            node.flush().await;
            for task in tasks {
                task.await.unwrap();
            }
        });
        let told = std::mem::take(&mut *told.lock().unwrap());
        most = most.max(told.acknowledged());
        for image in images(&disk, k) {
            recovered += 1;
            run(async {
                let node = Node::start(&disk.image(image), 1).await;
                check(&node.client, &told).await;
            });
        }
        if !disk.is_crashed() {
            println!("{k} cuts, {recovered} images recovered, up to {most} changes acknowledged");
            assert!(k > 30 && most > 20, "k {k}, {most} changes");
            return;
        }
    }
}

enum Step {
    Call(Operation, Value),
    /// Its condition fails.
    Refused(Operation, Value),
    /// Several commits of their own.
    Batch(Value),
    /// Expired items are deleted, each in a commit of its own.
    Sweep,
    /// New indexes are filled.
    Build,
    Flush,
}

fn put(p: &str, s: i64, more: Value) -> (Operation, Value) {
    (Operation::PutItem, json!({"TableName": "things", "Item": item(p, s, more)}))
}

fn item(p: &str, s: i64, more: Value) -> Value {
    let mut item = json!({"p": {"S": p}, "s": {"N": s.to_string()}});
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    item
}

fn update(p: &str, s: i64, expression: &str, condition: &str, values: Value) -> Value {
    let mut body = json!({"TableName": "things", "Key": item(p, s, json!({})), "UpdateExpression": expression,
        "ExpressionAttributeValues": values});
    if !condition.is_empty() {
        body["ConditionExpression"] = json!(condition);
    }
    body
}

/// Moves units from a thing to another table's item, with a client token.
fn transfer(token: &str, amount: i64) -> Value {
    let amount = json!({":a": {"N": amount.to_string()}});
    json!({"ClientRequestToken": token, "TransactItems": [
        {"Update": update("a", 1, "SET v = v - :a", "v >= :a", amount.clone())},
        {"Update": {"TableName": "others", "Key": {"k": {"S": "o"}}, "UpdateExpression": "ADD v :a", "ExpressionAttributeValues": amount}},
        {"ConditionCheck": {"TableName": "things", "Key": item("b", 2, json!({})), "ConditionExpression": "attribute_exists(g)"}}]})
}

fn script() -> Vec<Step> {
    use Operation::*;
    use Step::*;
    let s = |text: &str| json!({ "S": text });
    let n = |number: i64| json!({ "N": number.to_string() });
    let call = |(operation, body)| Call(operation, body);
    let past = START_MICROS / 1_000_000 - 100;
    let projection = json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["v"]});
    vec![
        Call(
            CreateTable,
            json!({"TableName": "things", "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
                "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "s", "AttributeType": "N"},
                    {"AttributeName": "g", "AttributeType": "S"}, {"AttributeName": "v", "AttributeType": "N"}],
                "LocalSecondaryIndexes": [{"IndexName": "local", "Projection": {"ProjectionType": "ALL"},
                    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "v", "KeyType": "RANGE"}]}],
                "GlobalSecondaryIndexes": [{"IndexName": "first", "Projection": projection,
                    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}],
                "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}}),
        ),
        Call(
            CreateTable,
            json!({"TableName": "others", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
                "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}}),
        ),
        Call(
            UpdateTimeToLive,
            json!({"TableName": "things", "TimeToLiveSpecification": {"AttributeName": "ends", "Enabled": true}}),
        ),
        call(put("a", 1, json!({"v": n(100), "g": s("one")}))),
        call(put("b", 2, json!({"v": n(7), "g": s("two"), "ends": n(past), "h": s("x")}))),
        call(put("a", 3, json!({"v": n(8), "g": s("one"), "h": s("x")}))),
        Call(UpdateItem, update("a", 1, "SET g = :g, h = :h", "", json!({":g": s("two"), ":h": s("y")}))),
        Refused(UpdateItem, update("a", 1, "SET g = :g", "v > :g2", json!({":g": s("no"), ":g2": n(1_000)}))),
        Call(TransactWriteItems, transfer("token-1", 30)),
        Flush,
        Refused(TransactWriteItems, transfer("token-2", 1_000)),
        Batch(json!({"RequestItems": {
            "things": [
                {"PutRequest": {"Item": item("c", 1, json!({"v": n(1), "ends": n(past)}))}},
                {"PutRequest": {"Item": item("c", 2, json!({"v": n(2), "g": s("three"), "ends": n(past)}))}},
                {"DeleteRequest": {"Key": item("a", 3, json!({}))}}],
            "others": [{"PutRequest": {"Item": {"k": s("batch"), "v": n(1)}}}]}})),
        Sweep,
        // Nothing changes: no record.
        Call(UpdateItem, update("a", 1, "SET g = :g", "", json!({":g": s("two")}))),
        call(put("b", 2, json!({"v": n(9), "g": s("two"), "h": s("x")}))),
        call(put("d", 4, json!({"v": n(11), "h": s("y")}))),
        Call(
            UpdateTable,
            json!({"TableName": "things", "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
                "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "second", "Projection": {"ProjectionType": "ALL"},
                    "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}]}}]}),
        ),
        call(put("e", 5, json!({"v": n(12), "h": s("x")}))),
        Build,
        Call(UpdateItem, update("d", 4, "REMOVE h SET v = v + :one", "", json!({":one": n(1)}))),
        Flush,
        Call(TransactWriteItems, transfer("token-3", 5)),
        Call(DeleteItem, json!({"TableName": "things", "Key": item("e", 5, json!({}))})),
        Call(TransactWriteItems, transfer("token-1", 30)),
    ]
}

/// How long each stream is.
type Lengths = [usize; 2];
const TABLES: [&str; 2] = ["things", "others"];

impl Node {
    async fn step(&self, step: &Step) -> Result<(), ApiError> {
        match step {
            Step::Call(operation, body) => self.client.call(*operation, body.clone()).await.map(|_| ()),
            Step::Refused(operation, body) => match self.client.call(*operation, body.clone()).await {
                Err(error) if error.to_string().contains("ConditionalCheckFailed") => Ok(()),
                Err(error) if error.to_string().contains("conditional request failed") => Ok(()),
                Err(error) => Err(error),
                Ok(answer) => panic!("not refused: {body} {answer}"),
            },
            Step::Batch(body) => {
                let answer = self.client.call(Operation::BatchWriteItem, body.clone()).await?;
                match answer["UnprocessedItems"].as_object().is_some_and(serde_json::Map::is_empty) {
                    true => Ok(()),
                    false => Err(ApiError::validation("some of it was not done")),
                }
            }
            Step::Sweep => {
                self.client.dynamo.sweep(&self.caller()).await;
                Ok(())
            }
            Step::Build => {
                self.client.dynamo.build_indexes(&self.caller()).await;
                Ok(())
            }
            Step::Flush => {
                self.flush().await;
                Ok(())
            }
        }
    }

    async fn exists(&self, table: &str) -> bool {
        self.client.call(Operation::DescribeTable, json!({"TableName": table})).await.is_ok()
    }

    /// Both streams, after items and indexes were held against them.
    async fn probe(&self) -> [Vec<Value>; 2] {
        let client = &*self.client;
        let (things, others) = (all_records(client, "things").await, all_records(client, "others").await);
        if self.exists("things").await {
            let items = all_items(client, "things", None).await;
            same_items(follow(&things, |_, _| ()), &items, &["p", "s"]);
            let entries = all_items(client, "things", Some("local")).await;
            same_entries(entries, &items, &["v"], &["p", "s", "v", "g", "h", "ends"]);
            let entries = all_items(client, "things", Some("first")).await;
            same_entries(entries, &items, &["g"], &["p", "s", "g", "v"]);
            let table = client.call(Operation::DescribeTable, json!({"TableName": "things"})).await.unwrap();
            let indexes = table["Table"]["GlobalSecondaryIndexes"].as_array().unwrap();
            if indexes.iter().any(|index| index["IndexName"] == "second" && index["IndexStatus"] == "ACTIVE")
            {
                let entries = all_items(client, "things", Some("second")).await;
                same_entries(entries, &items, &["h"], &["p", "s", "v", "g", "h", "ends"]);
            }
        }
        if self.exists("others").await {
            let items = all_items(client, "others", None).await;
            same_items(follow(&others, |_, _| ()), &items, &["k"]);
        }
        [things, others].map(|records| records.iter().map(told).collect())
    }
}

/// What must be the same in every run: not when a change was made, and so not its number.
fn told(record: &Value) -> Value {
    let body = &record["dynamodb"];
    json!({"event": record["eventName"], "keys": body["Keys"], "old": body["OldImage"], "new": body["NewImage"],
        "size": body["SizeBytes"], "by": record["userIdentity"]})
}

fn lengths(streams: &[Vec<Value>; 2]) -> Lengths {
    [streams[0].len(), streams[1].len()]
}

/// How long the streams are after each number of steps, and what is in them at the end.
fn without_crash() -> (Vec<Lengths>, [Vec<Value>; 2]) {
    run(async {
        let node = Node::start(&SimDisk::new(), 0).await;
        let mut all = vec![lengths(&node.probe().await)];
        for (nth, step) in script().iter().enumerate() {
            node.step(step).await.unwrap_or_else(|error| panic!("step {nth}: {error}"));
            all.push(lengths(&node.probe().await));
        }
        (all, node.probe().await)
    })
}

/// Whether streams may be so long when so many steps were acknowledged and the next was under way.
fn may_be(found: Lengths, all: &[Lengths], done: usize, step: Option<&Step>) -> bool {
    let before = all[done];
    let after = all.get(done + 1).copied().unwrap_or(before);
    let between = matches!(step, Some(Step::Batch(_) | Step::Sweep));
    found == before
        || found == after
        || between && (0..2).all(|nth| (before[nth]..=after[nth]).contains(&found[nth]))
}

/// Goes on behind a crash: what was under way is done again, unless the streams say that it was done.
async fn go_on(node: &Node, steps: &[Step], all: &[Lengths], done: usize, found: Lengths) {
    for (nth, step) in steps.iter().enumerate().skip(done) {
        let was_done = nth == done && all[nth] != all[nth + 1] && found == all[nth + 1];
        let has_token = matches!(step, Step::Call(Operation::TransactWriteItems, _));
        // A transaction with a token may be sent again in any case.
        if was_done && !has_token {
            continue;
        }
        let outcome = node.step(step).await;
        let makes_schema = matches!(
            step,
            Step::Call(Operation::CreateTable | Operation::UpdateTable | Operation::UpdateTimeToLive, _)
        );
        assert!(outcome.is_ok() || nth == done && makes_schema, "step {nth}: {outcome:?}");
    }
}

#[test]
fn a_crash_at_every_io_of_a_history_keeps_items_indexes_and_streams_together() {
    let (all, end) = without_crash();
    let steps = script();
    let mut recovered = 0;
    for k in 1.. {
        let disk = SimDisk::new();
        let done = run(async {
            let node = Node::start(&disk, 0).await;
            disk.fault_at(disk.io_count() + k, Fault::Crash);
            for (nth, step) in steps.iter().enumerate() {
                // Work in the background tells nobody that it failed.
                let is_silent = matches!(step, Step::Sweep | Step::Build | Step::Flush);
                if node.step(step).await.is_err() || is_silent && disk.is_crashed() {
                    return nth;
                }
            }
            steps.len()
        });
        for image in images(&disk, k) {
            recovered += 1;
            run(async {
                let node = Node::start(&disk.image(image), 1).await;
                let streams = node.probe().await;
                let found = lengths(&streams);
                assert!(
                    may_be(found, &all, done, steps.get(done)),
                    "k {k} {image:?}, {done} steps acknowledged: streams of {found:?} records, of {:?} and {:?}",
                    all[done],
                    all.get(done + 1)
                );
                for (nth, stream) in streams.iter().enumerate() {
                    let whole = &end[nth];
                    let expected = &whole[..stream.len()];
                    // Items of a batch have no order among them.
                    let in_batch = matches!(steps.get(done), Some(Step::Batch(_)));
                    assert!(in_batch || stream == expected, "k {k} {image:?} {}: {stream:?}", TABLES[nth]);
                }
                go_on(&node, &steps, &all, done, found).await;
                let ended = node.probe().await;
                assert_eq!(lengths(&ended), lengths(&end), "k {k} {image:?}");
                assert_eq!(ended, end, "k {k} {image:?}");
            });
        }
        if !disk.is_crashed() {
            println!("{k} cuts, {recovered} images recovered");
            assert!(done == steps.len() && k > 60, "k {k}");
            return;
        }
    }
}
