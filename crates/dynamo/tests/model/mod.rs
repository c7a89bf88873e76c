//! A table of the DynamoDB API under several clients, and what must hold whatever the order of their requests was.
//!
//! Every change carries a number of its own, so the stream can be held against what clients were told: each acknowledged change is in it
//! once, no refused one is, the records of an item follow from each other, the parts of a transaction stand together, and the last image
//! is the item. The stream is also the order in which transactions must have happened: a transaction that was made on the condition that
//! an account is as it was read finds it so in the records before its own, and what was read of all accounts at once is what the records
//! say of some moment. Indexes are held against their definition, money against its sum.

// Each test binary uses a part of this.
#![allow(dead_code)]

pub mod node;

use database::ids::ShardIds;
use dynamo::run::{Caller, Dynamo};
use dynamo::{ApiError, Operation};
use engine::EmbeddedStore;
use rt::Random;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

const KEYS: u64 = 9;
const ACCOUNTS: u64 = 4;
const START: i64 = 1_000;
/// Numbers that one turn of a client may use.
const NUMBERS_PER_TURN: u64 = 2;

pub struct Client {
    pub dynamo: Rc<Dynamo<EmbeddedStore>>,
    pub ids: Rc<ShardIds>,
}

impl Client {
    pub async fn call(&self, operation: Operation, body: Value) -> Result<Value, ApiError> {
        let caller = Caller::new(None, self.ids.now_micros(), "h");
        let answer = self.dynamo.execute(&caller, operation, body.to_string().as_bytes()).await?;
        Ok(if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() })
    }
}

/// What clients were told of their changes, by the change's number. Of what is in neither set nobody was told anything.
#[derive(Default)]
pub struct Told {
    done: BTreeSet<i64>,
    refused: BTreeSet<i64>,
    /// Numbers that belong together: all of them are in the stream, or none.
    together: Vec<Vec<i64>>,
    seen: Vec<Seen>,
}

/// The numbers of all accounts as a client read them at one moment.
struct Seen {
    numbers: Vec<i64>,
    /// A transfer that the client was told of before it read.
    after: Option<i64>,
}

impl Told {
    pub fn acknowledged(&self) -> usize {
        self.done.len()
    }
}

fn key(n: u64) -> Value {
    json!({"p": {"S": format!("key{}", n % 5)}, "s": {"N": (n / 5).to_string()}})
}

fn account(n: u64) -> Value {
    json!({"p": {"S": format!("account{n}")}, "s": {"N": "0"}})
}

pub async fn create(client: &Client) {
    let body = json!({
        "TableName": "things",
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
        "AttributeDefinitions": [
            {"AttributeName": "p", "AttributeType": "S"},
            {"AttributeName": "s", "AttributeType": "N"},
            {"AttributeName": "w", "AttributeType": "N"},
            {"AttributeName": "g", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "LocalSecondaryIndexes": [{"IndexName": "by-w",
            "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "w", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"}}],
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

/// One client: it goes on until the store fails it.
pub struct Worker {
    pub client: Rc<Client>,
    pub id: u64,
    pub turns: u64,
    pub told: Arc<Mutex<Told>>,
    /// Its newest transfer that was acknowledged.
    transferred: Option<i64>,
}

/// The store does not answer any more.
struct Down;

impl Worker {
    pub fn new(client: &Rc<Client>, id: u64, turns: u64, told: &Arc<Mutex<Told>>) -> Worker {
        Worker { client: client.clone(), id, turns, told: told.clone(), transferred: None }
    }

    pub async fn work(mut self) {
        let mut random = Random::seeded(self.id);
        for turn in 0..self.turns {
            let number = ((self.id * self.turns + turn) * NUMBERS_PER_TURN + 1) as i64;
            let done = match turn % 4 {
                0 => self.transfer(&mut random, (number, number + 1)).await,
                1 => self.witness(&mut random, number).await,
                _ => self.change(&mut random, turn, number).await,
            };
            if done.is_err() {
                return;
            }
        }
    }

    /// Notes what the client was told of changes.
    fn hear(&self, numbers: &[i64], outcome: Result<Value, ApiError>) -> Result<bool, Down> {
        let mut told = self.told.lock().unwrap();
        match outcome {
            Ok(_) => {
                told.done.extend(numbers);
                Ok(true)
            }
            Err(error) if error.to_string().contains("ConditionalCheckFailed") => {
                told.refused.extend(numbers);
                Ok(false)
            }
            Err(error) if error.to_string().contains("The conditional request failed") => {
                told.refused.extend(numbers);
                Ok(false)
            }
            Err(error) => {
                assert!(error.to_string().contains("the store failed"), "{error}");
                Err(Down)
            }
        }
    }

    async fn change(&self, random: &mut Random, turn: u64, number: i64) -> Result<(), Down> {
        let (operation, body) = change(random, random_key(self.id, turn), number);
        let outcome = self.client.call(operation, body).await;
        let numbers: &[i64] = if operation == Operation::DeleteItem { &[] } else { &[number] };
        self.hear(numbers, outcome).map(|_| ())
    }

    async fn transfer(&mut self, random: &mut Random, numbers: (i64, i64)) -> Result<(), Down> {
        let (from, to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
        if from == to {
            return Ok(());
        }
        let amount = random.below(400).to_string();
        let update = |n: u64, sign: &str, number: i64, condition: Value| {
            json!({"Update": {"TableName": "things", "Key": account(n),
                "UpdateExpression": format!("SET balance = balance {sign} :a, w = :w"),
                "ConditionExpression": condition,
                "ExpressionAttributeValues": {":a": {"N": amount}, ":w": {"N": number.to_string()}}}})
        };
        let body = json!({"ClientRequestToken": format!("transfer{}", numbers.0), "TransactItems": [
            update(from, "-", numbers.0, json!("balance >= :a")),
            update(to, "+", numbers.1, json!("attribute_exists(balance) OR :a = :w")),
        ]});
        self.told.lock().unwrap().together.push(vec![numbers.0, numbers.1]);
        let outcome = self.client.call(Operation::TransactWriteItems, body).await;
        if self.hear(&[numbers.0, numbers.1], outcome)? {
            self.transferred = Some(numbers.0);
        }
        Ok(())
    }

    /// Reads all accounts at once, and writes what it read of one of them if that is still so.
    async fn witness(&self, random: &mut Random, number: i64) -> Result<(), Down> {
        let Ok(read) = self.client.call(Operation::TransactGetItems, all_accounts()).await else {
            return Err(Down);
        };
        assert_eq!(sum(&read), ACCOUNTS as i64 * START, "{read}");
        let numbers: Vec<i64> =
            (0..ACCOUNTS as usize).map(|n| number_of(&read["Responses"][n]["Item"]).unwrap()).collect();
        let of = random.below(ACCOUNTS);
        let saw = json!({"N": numbers[of as usize].to_string()});
        self.told.lock().unwrap().seen.push(Seen { numbers, after: self.transferred });
        let witness = json!({"p": {"S": format!("witness{}", self.id)}, "s": {"N": "0"},
            "w": {"N": number.to_string()}, "of": account(of)["p"], "saw": saw});
        let body = json!({"TransactItems": [
            {"ConditionCheck": {"TableName": "things", "Key": account(of), "ConditionExpression": "w = :saw",
                "ExpressionAttributeValues": {":saw": saw}}},
            {"Put": {"TableName": "things", "Item": witness}}]});
        let outcome = self.client.call(Operation::TransactWriteItems, body).await;
        self.hear(&[number], outcome).map(|_| ())
    }
}

fn random_key(id: u64, turn: u64) -> u64 {
    (id.wrapping_mul(31) ^ turn.wrapping_mul(17)) % KEYS
}

fn all_accounts() -> Value {
    let get = |n| json!({"Get": {"TableName": "things", "Key": account(n)}});
    json!({"TransactItems": (0..ACCOUNTS).map(get).collect::<Vec<_>>()})
}

fn sum(read: &Value) -> i64 {
    let balance =
        |n: usize| -> i64 { read["Responses"][n]["Item"]["balance"]["N"].as_str().unwrap().parse().unwrap() };
    (0..ACCOUNTS as usize).map(balance).sum()
}

pub async fn all_items(client: &Client, table: &str, index: Option<&str>) -> Vec<Value> {
    let mut items = Vec::new();
    let mut start = Value::Null;
    loop {
        let mut body = json!({"TableName": table, "Limit": 3});
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

/// Every record of a table's stream, from the beginning; none if there is no stream.
pub async fn all_records(client: &Client, table: &str) -> Vec<Value> {
    let streams = client.call(Operation::ListStreams, json!({"TableName": table})).await.unwrap();
    let arn = streams["Streams"][0]["StreamArn"].clone();
    if arn.is_null() {
        return Vec::new();
    }
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

/// Walks the records in their order and says what they leave, by key: each must follow from the one before.
pub fn follow(
    records: &[Value],
    mut look: impl FnMut(usize, &BTreeMap<String, Value>),
) -> BTreeMap<String, Value> {
    let mut items: BTreeMap<String, Value> = BTreeMap::new();
    for (nth, record) in records.iter().enumerate() {
        look(nth, &items);
        let body = &record["dynamodb"];
        let name = body["Keys"].to_string();
        let before = items.get(&name).cloned().unwrap_or(Value::Null);
        assert_eq!(body["OldImage"], before, "{name}: a record does not follow from the one before");
        let event = match (before.is_null(), body["NewImage"].is_null()) {
            (true, false) => "INSERT",
            (false, false) => "MODIFY",
            _ => "REMOVE",
        };
        assert_eq!(record["eventName"], event);
        assert_ne!(body["NewImage"], before, "{name}: a record of no change");
        items.insert(name, body["NewImage"].clone());
    }
    items.retain(|_, item| !item.is_null());
    items
}

/// Holds a table's items against what its stream leaves.
pub fn same_items(mut left: BTreeMap<String, Value>, items: &[Value], keys: &[&str]) {
    for item in items {
        let key: serde_json::Map<String, Value> =
            keys.iter().map(|name| (name.to_string(), item[*name].clone())).collect();
        assert_eq!(left.remove(&Value::Object(key).to_string()).as_ref(), Some(item));
    }
    assert!(left.is_empty(), "the stream has items that the table has not: {left:?}");
}

/// Holds an index against its definition: the items that have its key, with these attributes.
pub fn same_entries(mut found: Vec<Value>, items: &[Value], keys: &[&str], attributes: &[&str]) {
    let with_key = items.iter().filter(|item| keys.iter().all(|name| !item[*name].is_null()));
    let mut expected: Vec<String> = with_key
        .map(|item| {
            let mut entry = item.clone();
            entry.as_object_mut().unwrap().retain(|name, _| attributes.contains(&name.as_str()));
            entry.to_string()
        })
        .collect();
    let mut found: Vec<String> = found.drain(..).map(|entry| entry.to_string()).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "the index on {keys:?} is not its definition");
}

/// Everything of the module's first lines. Returns how many records there are.
pub async fn check(client: &Client, told: &Told) -> usize {
    let read = client.call(Operation::TransactGetItems, all_accounts()).await.unwrap();
    assert_eq!(sum(&read), ACCOUNTS as i64 * START, "{read}");
    let records = all_records(client, "things").await;
    let items = all_items(client, "things", None).await;
    // Where each change stands in the order, and its sequence number.
    let mut places: BTreeMap<i64, (usize, String)> = BTreeMap::new();
    let mut accounts: Vec<Vec<(usize, i64)>> = vec![Vec::new(); ACCOUNTS as usize];
    for (nth, record) in records.iter().enumerate() {
        let body = &record["dynamodb"];
        let Some(number) = number_of(&body["NewImage"]) else { continue };
        let sequence = body["SequenceNumber"].as_str().unwrap().to_string();
        assert!(places.insert(number, (nth, sequence)).is_none(), "change {number} is there twice");
        let name = body["Keys"]["p"]["S"].as_str().unwrap();
        if let Some(n) = name.strip_prefix("account") {
            accounts[n.parse::<usize>().unwrap()].push((nth, number));
        }
    }
    let left = follow(&records, |nth, state| {
        let image = &records[nth]["dynamodb"]["NewImage"];
        if !image["saw"].is_null() {
            let key = json!({"p": image["of"], "s": {"N": "0"}}).to_string();
            assert_eq!(
                state[&key]["w"], image["saw"],
                "not serializable: {image} came after {}",
                state[&key]
            );
        }
    });
    same_items(left, &items, &["p", "s"]);
    for number in &told.done {
        assert!(places.contains_key(number), "acknowledged change {number} is not in the stream");
    }
    for number in &told.refused {
        assert!(!places.contains_key(number), "refused change {number} is in the stream");
    }
    for numbers in &told.together {
        let micros: BTreeSet<Option<&str>> =
            numbers.iter().map(|number| places.get(number).map(|(_, sequence)| &sequence[..16])).collect();
        assert_eq!(micros.len(), 1, "a transaction is torn apart: {numbers:?}");
    }
    for seen in &told.seen {
        one_moment(seen, &accounts, &places);
    }
    let entries = all_items(client, "things", Some("by-g")).await;
    same_entries(entries, &items, &["g"], &["p", "s", "g", "w"]);
    let entries = all_items(client, "things", Some("by-w")).await;
    same_entries(entries, &items, &["w"], &["p", "s", "w"]);
    records.len()
}

/// There is a moment in the order of the records at which all accounts were as they were read, and it is not before what the reader
/// had been told.
fn one_moment(seen: &Seen, accounts: &[Vec<(usize, i64)>], places: &BTreeMap<i64, (usize, String)>) {
    let mut first = seen.after.map_or(0, |number| places[&number].0);
    let mut behind = usize::MAX;
    for (changes, number) in accounts.iter().zip(&seen.numbers) {
        let at = changes.iter().position(|(_, change)| change == number);
        let at = at.unwrap_or_else(|| panic!("{number} was read, and never written"));
        first = first.max(changes[at].0);
        behind = behind.min(changes.get(at + 1).map_or(usize::MAX, |(nth, _)| *nth));
    }
    assert!(
        first < behind,
        "{:?} was never so at one moment: from {first} on, before {behind}",
        seen.numbers
    );
}
