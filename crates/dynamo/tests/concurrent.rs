//! Requests of several clients at once on two shards of a real engine, checked by what must hold whatever the order was.
//!
//! Every change carries a number of its own, so the stream can be held against what clients were told: each acknowledged change is in it
//! once, no refused one is, the records of an item follow from each other, the parts of a transaction stand together, and the last
//! image is the item. Indexes are held against their definition, money against its sum. Then the same again after the server ended
//! without a word.

use database::Runtime;
use database::catalogue::SharedCatalogue;
use database::ids::ShardIds;
use dynamo::run::{AllShards, Caller, Dynamo, Settings};
use dynamo::{ApiError, Operation};
use engine::{Durability, EmbeddedStore, Engine, EngineOptions};
use query::context::Limits;
use rt::{Clock, Random, RealDisk, ShardThreads, SystemClock};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

const SHARDS: usize = 2;
const TASKS: u64 = 5;
const TURNS: u64 = 60;
const KEYS: u64 = 9;
const ACCOUNTS: u64 = 4;
const START: i64 = 1_000;

struct Client {
    dynamo: Rc<Dynamo<EmbeddedStore>>,
    ids: Rc<ShardIds>,
}

impl Client {
    async fn call(&self, operation: Operation, body: Value) -> Result<Value, ApiError> {
        let caller = Caller::new(None, self.ids.now_micros(), "h");
        let answer = self.dynamo.execute(&caller, operation, body.to_string().as_bytes()).await?;
        Ok(if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() })
    }
}

/// What clients were told of their changes, by the change's number.
#[derive(Default)]
struct Told {
    done: BTreeSet<i64>,
    refused: BTreeSet<i64>,
    /// Numbers that belong together.
    together: Vec<Vec<i64>>,
}

fn key(n: u64) -> Value {
    json!({"p": {"S": format!("key{}", n % 5)}, "s": {"N": (n / 5).to_string()}})
}

fn account(n: u64) -> Value {
    json!({"p": {"S": format!("account{n}")}, "s": {"N": "0"}})
}

async fn create(client: &Client) {
    let body = json!({
        "TableName": "things",
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
        "AttributeDefinitions": [
            {"AttributeName": "p", "AttributeType": "S"},
            {"AttributeName": "s", "AttributeType": "N"},
            {"AttributeName": "g", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [{"IndexName": "by-g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["w"]}}],
        "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}});
    client.call(Operation::CreateTable, body).await.unwrap();
    for n in 0..ACCOUNTS {
        let mut item = account(n);
        item["balance"] = json!({"N": START.to_string()});
        item["w"] = json!({"N": (-1 - n as i64).to_string()});
        client.call(Operation::PutItem, json!({"TableName": "things", "Item": item})).await.unwrap();
    }
}

/// A change of one item, with its number.
fn change(random: &mut Random, n: u64, number: i64) -> (Operation, Value) {
    let group = format!("group{}", random.below(3));
    match random.below(5) {
        0 => {
            let mut item = key(n);
            item["w"] = json!({"N": number.to_string()});
            if random.below(3) > 0 {
                item["g"] = json!({"S": group});
            }
            (Operation::PutItem, json!({"TableName": "things", "Item": item}))
        }
        1 => (
            Operation::UpdateItem,
            json!({"TableName": "things", "Key": key(n), "UpdateExpression": "SET w = :w, g = :g ADD c :one",
                "ExpressionAttributeValues": {":w": {"N": number.to_string()}, ":g": {"S": group}, ":one": {"N": "1"}}}),
        ),
        2 => (
            Operation::UpdateItem,
            json!({"TableName": "things", "Key": key(n), "UpdateExpression": "SET w = :w REMOVE g",
                "ConditionExpression": "attribute_exists(g) AND c > :low",
                "ExpressionAttributeValues": {":w": {"N": number.to_string()}, ":low": {"N": "0"}}}),
        ),
        3 => {
            let mut item = key(n);
            item["w"] = json!({"N": number.to_string()});
            (
                Operation::PutItem,
                json!({"TableName": "things", "Item": item, "ConditionExpression": "attribute_not_exists(p)"}),
            )
        }
        _ => (Operation::DeleteItem, json!({"TableName": "things", "Key": key(n)})),
    }
}

async fn transfer(client: &Client, random: &mut Random, numbers: (i64, i64), told: &Mutex<Told>) {
    let (from, to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
    if from == to {
        return;
    }
    let amount = random.below(400).to_string();
    let update = |n: u64, sign: &str, number: i64, condition: Value| {
        json!({"Update": {"TableName": "things", "Key": account(n),
            "UpdateExpression": format!("SET balance = balance {sign} :a, w = :w"),
            "ConditionExpression": condition,
            "ExpressionAttributeValues": {":a": {"N": amount}, ":w": {"N": number.to_string()}}}})
    };
    let body = json!({"TransactItems": [
        update(from, "-", numbers.0, json!("balance >= :a")),
        update(to, "+", numbers.1, json!("attribute_exists(balance) OR :a = :w")),
    ]});
    let outcome = client.call(Operation::TransactWriteItems, body).await;
    let mut told = told.lock().unwrap();
    match outcome {
        Ok(_) => {
            told.done.extend([numbers.0, numbers.1]);
            told.together.push(vec![numbers.0, numbers.1]);
        }
        Err(error) => {
            assert!(error.to_string().contains("[ConditionalCheckFailed, None]"), "{error}");
            told.refused.extend([numbers.0, numbers.1]);
        }
    }
}

async fn money(client: &Client) {
    let get = |n| json!({"Get": {"TableName": "things", "Key": account(n)}});
    let body = json!({"TransactItems": (0..ACCOUNTS).map(get).collect::<Vec<_>>()});
    let answer = client.call(Operation::TransactGetItems, body).await.unwrap();
    let balance = |n: usize| -> i64 {
        answer["Responses"][n]["Item"]["balance"]["N"].as_str().unwrap().parse().unwrap()
    };
    let sum: i64 = (0..ACCOUNTS as usize).map(balance).sum();
    assert_eq!(sum, ACCOUNTS as i64 * START, "{answer}");
}

async fn work(client: Rc<Client>, id: u64, told: Arc<Mutex<Told>>) {
    let mut random = Random::seeded(id);
    for turn in 0..TURNS {
        let number = ((id * TURNS + turn) * 2 + 1) as i64;
        if turn.is_multiple_of(4) {
            transfer(&client, &mut random, (number, number + 1), &told).await;
            money(&client).await;
            continue;
        }
        let (operation, body) = change(&mut random, random_key(id, turn), number);
        let outcome = client.call(operation, body).await;
        if operation == Operation::DeleteItem {
            outcome.unwrap();
            continue;
        }
        let mut told = told.lock().unwrap();
        match outcome {
            Ok(_) => told.done.insert(number),
            Err(error) => {
                assert!(error.to_string().contains("The conditional request failed"), "{error}");
                told.refused.insert(number)
            }
        };
    }
}

fn random_key(id: u64, turn: u64) -> u64 {
    (id.wrapping_mul(31) ^ turn.wrapping_mul(17)) % KEYS
}

async fn all_items(client: &Client, index: Option<&str>) -> Vec<Value> {
    let mut items = Vec::new();
    let mut start = Value::Null;
    loop {
        let mut body = json!({"TableName": "things", "Limit": 3});
        if let Some(index) = index {
            body["IndexName"] = json!(index);
        }
        if !start.is_null() {
            body["ExclusiveStartKey"] = start;
        }
        let answer = client.call(Operation::Scan, body).await.unwrap();
        items.extend(answer["Items"].as_array().unwrap().iter().cloned());
        start = answer["LastEvaluatedKey"].clone();
        if start.is_null() {
            return items;
        }
    }
}

async fn all_records(client: &Client) -> Vec<Value> {
    let streams = client.call(Operation::ListStreams, json!({"TableName": "things"})).await.unwrap();
    let arn = streams["Streams"][0]["StreamArn"].clone();
    let stream = client.call(Operation::DescribeStream, json!({"StreamArn": arn})).await.unwrap();
    let shard = stream["StreamDescription"]["Shards"][0]["ShardId"].clone();
    let body = json!({"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"});
    let mut iterator = client.call(Operation::GetShardIterator, body).await.unwrap()["ShardIterator"].clone();
    let mut records = Vec::new();
    loop {
        let body = json!({"ShardIterator": iterator, "Limit": 7});
        let answer = client.call(Operation::GetRecords, body).await.unwrap();
        let found = answer["Records"].as_array().unwrap();
        if found.is_empty() {
            return records;
        }
        records.extend(found.iter().cloned());
        iterator = answer["NextShardIterator"].clone();
    }
}

fn number_of(image: &Value) -> Option<i64> {
    image["w"]["N"].as_str()?.parse().ok()
}

async fn check(client: &Client, told: &Told) {
    money(client).await;
    let records = all_records(client).await;
    let items = all_items(client, None).await;
    let mut last: BTreeMap<String, Value> = BTreeMap::new();
    let mut seen: BTreeMap<i64, String> = BTreeMap::new();
    for record in &records {
        let body = &record["dynamodb"];
        let name = body["Keys"].to_string();
        let before = last.get(&name).cloned().unwrap_or(Value::Null);
        assert_eq!(body["OldImage"], before, "{name}: a record does not follow from the one before");
        let event = match (before.is_null(), body["NewImage"].is_null()) {
            (true, false) => "INSERT",
            (false, false) => "MODIFY",
            _ => "REMOVE",
        };
        assert_eq!(record["eventName"], event);
        assert_ne!(body["NewImage"], before, "{name}: a record of no change");
        if let Some(number) = number_of(&body["NewImage"]) {
            let sequence = body["SequenceNumber"].as_str().unwrap().to_string();
            assert!(seen.insert(number, sequence).is_none(), "change {number} is there twice");
        }
        last.insert(name, body["NewImage"].clone());
    }
    for item in &items {
        let name = json!({"p": item["p"], "s": item["s"]}).to_string();
        assert_eq!(last.remove(&name).as_ref(), Some(item));
    }
    assert!(last.values().all(Value::is_null), "the stream has items that the table has not");
    for number in &told.done {
        assert!(seen.contains_key(number), "acknowledged change {number} is not in the stream");
    }
    assert!(
        told.refused.iter().all(|number| !seen.contains_key(number)),
        "a refused change is in the stream"
    );
    for numbers in &told.together {
        let micros: BTreeSet<&str> = numbers.iter().map(|number| &seen[number][..16]).collect();
        assert_eq!(micros.len(), 1, "a transaction is torn apart: {numbers:?}");
    }
    let mut entries: Vec<String> =
        all_items(client, Some("by-g")).await.iter().map(Value::to_string).collect();
    let with_key = items.iter().filter(|item| !item["g"].is_null());
    let mut expected: Vec<String> = with_key
        .map(|item| {
            let mut entry = item.clone();
            entry.as_object_mut().unwrap().retain(|name, _| ["p", "s", "g", "w"].contains(&name.as_str()));
            entry.to_string()
        })
        .collect();
    entries.sort();
    expected.sort();
    assert_eq!(entries, expected, "the index is not its definition");
}

fn on_threads(dir: &Path, first: bool, told: &Arc<Mutex<Told>>) {
    let mut options = EngineOptions::new(dir);
    options.shards = SHARDS;
    options.durability = Durability::Sync;
    options.log_segment_bytes = 256 << 10;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let (engine, opened) = Engine::open(Arc::new(RealDisk), clock.clone(), options).unwrap();
    let catalogue = SharedCatalogue::open(opened.catalogue.as_deref(), clock.micros(), Ok).unwrap();
    let (catalogue, shared) = (Arc::new(catalogue), Arc::new(AllShards::new(Settings::default())));
    let (told, ready) = (told.clone(), Arc::new(tokio::sync::Barrier::new(SHARDS)));
    let main = move |index: usize| {
        let (engine, catalogue, shared) = (engine.clone(), catalogue.clone(), shared.clone());
        let (told, ready, clock) = (told.clone(), ready.clone(), clock.clone());
        async move {
            let store = engine.store(index).unwrap();
            if index == 0 {
                catalogue.bootstrap(&store).await.unwrap();
            }
            ready.wait().await;
            let ids = Rc::new(ShardIds::new(clock, index, 7));
            let runtime = Rc::new(Runtime::new(store, catalogue, Box::new(ids.clone()), Limits::default()));
            let client = Rc::new(Client { dynamo: Rc::new(Dynamo::new(runtime, shared)), ids });
            if index == 0 && first {
                create(&client).await;
            }
            ready.wait().await;
            if first {
                let tasks: Vec<_> = (0..TASKS)
                    .map(|n| {
                        let id = index as u64 * TASKS + n;
                        tokio::task::spawn_local(work(client.clone(), id, told.clone()))
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            }
            ready.wait().await;
            if index == 0 {
                // Taken out, so that no lock is held while waiting, and put back for the next round.
                let told_now = std::mem::take(&mut *told.lock().unwrap());
                check(&client, &told_now).await;
                *told.lock().unwrap() = told_now;
            }
            ready.wait().await;
        }
    };
    ShardThreads::start(SHARDS, main).unwrap().join().unwrap();
}

#[test]
fn what_clients_were_told_is_what_table_index_and_stream_say() {
    let dir = tempfile::tempdir().unwrap();
    let told = Arc::new(Mutex::new(Told::default()));
    on_threads(dir.path(), true, &told);
    // The log has it all.
    on_threads(dir.path(), false, &told);
}
