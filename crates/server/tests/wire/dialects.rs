//! One table, two dialects: tables of the DynamoDB API read in CQL, tables of CQL served by the DynamoDB API.

use crate::bench::{Answer, Bench, Client, PATIENCE};
use serde_json::{Value, json};
use server::config::Dynamo;
use std::io::{Read, Write};
use std::net::TcpStream;

fn start() -> Bench {
    Bench::start(|config| config.dynamo = Some(Dynamo::at("127.0.0.1:0".parse().unwrap())))
}

/// A request of the API; an error is its name and message.
fn ask(bench: &Bench, operation: &str, body: Value) -> Result<Value, String> {
    ask_for(bench, "DynamoDB", operation, body).1
}

/// The same with the head of the answer, of either service.
fn ask_for(bench: &Bench, service: &str, operation: &str, body: Value) -> (String, Result<Value, String>) {
    let mut stream = TcpStream::connect(bench.listener("dynamo")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-amz-json-1.0\r\n\
         X-Partita-Explain: yes\r\nX-Amz-Target: {service}_20120810.{operation}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let answer: Value = serde_json::from_str(body).unwrap();
    if head.starts_with("HTTP/1.1 200") {
        return (head.to_string(), Ok(answer));
    }
    let name = answer["__type"].as_str().unwrap().split('#').nth(1).unwrap();
    let message = answer["message"].as_str().or(answer["Message"].as_str()).unwrap_or_default();
    (head.to_string(), Err(format!("{name}: {message}")))
}

fn orders(bench: &Bench) {
    let table = json!({"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"},
            {"AttributeName": "who", "AttributeType": "S"}],
        "GlobalSecondaryIndexes": [{"IndexName": "by_who", "KeySchema": [{"AttributeName": "who", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"}}],
        "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"}});
    ask(bench, "CreateTable", table).unwrap();
}

/// Operations that the table of `orders` is asked for, each with the pattern that declares it.
fn operations() -> Vec<(&'static str, Value, &'static str)> {
    let key = json!({"pk": {"S": "a"}, "sk": {"S": "b"}});
    let item = json!({"pk": {"S": "a"}, "sk": {"S": "b"}, "who": {"S": "me"}});
    let name = "orders";
    let value = json!({":v": {"S": "a"}});
    vec![
        (
            "PutItem",
            json!({"TableName": name, "Item": item}),
            "INSERT INTO orders (pk, sk, item) VALUES (?, ?, ?)",
        ),
        ("GetItem", json!({"TableName": name, "Key": key}), "SELECT * FROM orders WHERE pk = ? AND sk = ?"),
        (
            "Query",
            json!({"TableName": name, "KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": value, "Limit": 3,
            "ScanIndexForward": false}),
            "SELECT * FROM orders WHERE pk = ? ORDER BY sk DESC LIMIT 10",
        ),
        (
            "Query",
            json!({"TableName": name, "IndexName": "by_who", "KeyConditionExpression": "who = :v", "ExpressionAttributeValues": value}),
            "SELECT * FROM orders WHERE who = ?",
        ),
        (
            "UpdateItem",
            json!({"TableName": name, "Key": key, "ConditionExpression": "pk = :v", "UpdateExpression": "SET x = :v",
            "ExpressionAttributeValues": value}),
            "UPDATE orders SET item = ? WHERE pk = ? AND sk = ? IF EXISTS",
        ),
        ("Scan", json!({"TableName": name}), "SELECT * FROM orders"),
        (
            "ExecuteStatement",
            json!({"Statement": "SELECT * FROM orders WHERE pk = 'a'"}),
            "SELECT item FROM orders WHERE pk = ?",
        ),
        (
            "TransactWriteItems",
            json!({"TransactItems": [{"Delete": {"TableName": name, "Key": key}}]}),
            "DELETE FROM orders WHERE pk = ? AND sk = ?",
        ),
    ]
}

#[test]
fn operations_are_instances_of_patterns_that_cql_declares() {
    let bench = start();
    orders(&bench);
    let mut client = Client::connect(&bench);
    for (operation, body, _) in operations() {
        ask(&bench, operation, body).unwrap();
    }
    // Nothing is declared: each is told, with the statement that would declare it.
    let unmatched = "SELECT declare FROM system_views.unmatched_statements WHERE keyspace_name = 'dynamo' AND table_name = 'orders'";
    let declarations = client.rows(unmatched).texts();
    assert_eq!(declarations.len(), operations().len(), "{declarations:?}");
    client.run("ALTER KEYSPACE dynamo WITH patterns = 'enforce'");
    for (nth, (operation, body, pattern)) in operations().into_iter().enumerate() {
        let refused = ask(&bench, operation, body.clone()).unwrap_err();
        assert!(
            refused.starts_with("ValidationException: This operation is an instance of no declared"),
            "{refused}"
        );
        client.run(&format!("CREATE ACCESS PATTERN dynamo.p{nth} AS {pattern}"));
        ask(&bench, operation, body).unwrap_or_else(|error| panic!("{operation}: {error}"));
    }
    assert!(client.rows(unmatched).texts().is_empty());
    let calls = client.rows("SELECT calls FROM system_views.access_patterns WHERE keyspace_name = 'dynamo' AND pattern_name = 'p0'");
    // Once before it was declared and once after; the refused one was never counted.
    assert_eq!(calls.cells, [Some(2i64.to_be_bytes().to_vec())]);
    // Every declaration that was suggested can be made.
    for declaration in declarations {
        let renamed = declaration.replacen("dynamo.", "dynamo.again_", 1);
        client.run(&renamed);
    }
}

#[test]
fn an_operation_is_explained_and_warned_of() {
    let bench = start();
    orders(&bench);
    let mut client = Client::connect(&bench);
    let scan = || ask_for(&bench, "DynamoDB", "Scan", json!({"TableName": "orders", "IndexName": "by_who"}));
    let (head, answer) = scan();
    answer.unwrap();
    assert!(head.contains(r#"X-Partita-Explain: [{"class":"unbounded","partitions":"all","path":"global secondary index by_who""#), "{head}");
    assert!(!head.contains("X-Partita-Warning"), "{head}");
    client.run("ALTER KEYSPACE dynamo WITH patterns = 'warn'");
    let (head, answer) = scan();
    answer.unwrap();
    assert!(head.contains("X-Partita-Warning: This operation is an instance of no declared"), "{head}");
}

#[test]
fn a_stream_outlives_its_table() {
    let bench = start();
    orders(&bench);
    let stream = |operation: &str, body: Value| ask_for(&bench, "DynamoDBStreams", operation, body).1;
    let put = |who: &str| {
        let item = json!({"pk": {"S": "a"}, "sk": {"S": who}});
        ask(&bench, "PutItem", json!({"TableName": "orders", "Item": item})).unwrap();
    };
    put("first");
    put("second");
    let described = ask(&bench, "DescribeTable", json!({"TableName": "orders"})).unwrap();
    let arn = described["Table"]["LatestStreamArn"].clone();
    ask(&bench, "DeleteTable", json!({"TableName": "orders"})).unwrap();
    // Another table of its name has another stream.
    orders(&bench);
    put("third");
    let read = |arn: &Value| {
        let shown = stream("DescribeStream", json!({"StreamArn": arn})).unwrap()["StreamDescription"].clone();
        let shard = &shown["Shards"][0]["ShardId"];
        let from = json!({"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"});
        let iterator = stream("GetShardIterator", from).unwrap()["ShardIterator"].clone();
        let page = stream("GetRecords", json!({"ShardIterator": iterator})).unwrap();
        let records = page["Records"].as_array().unwrap().iter();
        let keys: Vec<String> =
            records.map(|r| r["dynamodb"]["Keys"]["sk"]["S"].as_str().unwrap().to_string()).collect();
        (shown["StreamStatus"].clone(), keys, page.get("NextShardIterator").is_some())
    };
    assert_eq!(read(&arn), (json!("DISABLED"), vec!["first".into(), "second".into()], false));
    let now =
        ask(&bench, "DescribeTable", json!({"TableName": "orders"})).unwrap()["Table"]["LatestStreamArn"]
            .clone();
    assert_ne!(now, arn);
    assert_eq!(read(&now), (json!("ENABLED"), vec!["third".into()], true));
    let listed = stream("ListStreams", json!({"TableName": "orders"})).unwrap();
    assert_eq!(listed["Streams"].as_array().unwrap().len(), 2);
}

#[test]
fn a_table_of_the_api_is_read_in_cql() {
    let bench = start();
    let table = json!({"TableName": "Orders.2026", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "n", "AttributeType": "N"}]});
    ask(&bench, "CreateTable", table).unwrap();
    for (n, total) in [("-1.5", "3"), ("2", "40"), ("10", "7")] {
        let item = json!({"pk": {"S": "a"}, "n": {"N": n}, "total": {"N": total}, "Tags": {"SS": ["x", "y"]}, "ok": {"BOOL": true},
            "m": {"M": {"k": {"S": "v"}}}});
        ask(&bench, "PutItem", json!({"TableName": "Orders.2026", "Item": item})).unwrap();
    }
    let mut client = Client::connect(&bench);
    let from = "FROM dynamo.\"Orders.2026\"";
    let texts = |client: &mut Client, text: &str| client.rows(text).texts();
    assert_eq!(
        texts(&mut client, &format!("SELECT total {from} WHERE pk = 'a'")),
        ["3", "40", "7"],
        "in the order of numbers"
    );
    assert_eq!(
        texts(&mut client, &format!("SELECT total {from} WHERE pk = 'a' AND n > 1.9 AND n <= 10.0")),
        ["40", "7"]
    );
    assert_eq!(
        texts(&mut client, &format!("SELECT total {from} WHERE pk = 'a' AND n IN (10, -1.5)")),
        ["3", "7"]
    );
    assert_eq!(
        texts(&mut client, &format!("SELECT \"Tags\", ok, m, nothing, item {from} WHERE pk = 'a' AND n = 2")),
        [
            r#"["x","y"]"#,
            "true",
            r#"{"k":{"S":"v"}}"#,
            "null",
            r#"{"Tags":{"SS":["x","y"]},"m":{"M":{"k":{"S":"v"}}},"n":{"N":"2"},"ok":{"BOOL":true},"pk":{"S":"a"},"total":{"N":"40"}}"#
        ]
    );
    // A decimal: a scale of four bytes, then the digits.
    let rows = client.rows(&format!("SELECT n {from} WHERE pk = 'a' LIMIT 1"));
    assert_eq!(rows.cells, [Some(vec![0, 0, 0, 1, 0xf1])]);
    assert_eq!(client.query(&format!("SELECT count(*) {from}")), Answer::Rows(1));
    for (statement, told) in [
        (
            format!("SELECT * {from} WHERE total = '3' ALLOW FILTERING"),
            "total is no key of the DynamoDB table",
        ),
        (
            "INSERT INTO dynamo.\"Orders.2026\" (pk, n) VALUES ('b', 0x01)".into(),
            "belongs to the DynamoDB API",
        ),
        (format!("DELETE {from} WHERE pk = 'a'"), "belongs to the DynamoDB API"),
        ("DROP TABLE dynamo.\"Orders.2026\"".into(), "belongs to the DynamoDB API"),
    ] {
        match client.query(&statement) {
            Answer::Error(0x2200, text) if text.contains(told) => {}
            other => panic!("{statement}: {other:?}"),
        }
    }
}

fn readings(bench: &Bench) -> Client {
    let mut client = Client::connect(bench);
    for statement in [
        "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TYPE app.place (room text, floor int)",
        "CREATE TABLE app.readings (sensor text, at int, celsius double, tags set<text>, notes list<text>, by_hour map<int, text>, \
         place frozen<place>, seen timestamp, id uuid, PRIMARY KEY (sensor, at)) WITH CLUSTERING ORDER BY (at DESC)",
        "CREATE INDEX ON app.readings (celsius)",
        "CREATE MATERIALIZED VIEW app.by_id AS SELECT id, sensor, at, celsius FROM app.readings WHERE id IS NOT NULL AND sensor IS NOT NULL \
         AND at IS NOT NULL PRIMARY KEY (id, sensor, at)",
    ] {
        client.run(statement);
    }
    client
}

fn key(at: i64) -> Value {
    json!({"sensor": {"S": "attic"}, "at": {"N": at.to_string()}})
}

const ID: &str = "123e4567-e89b-42d3-a456-426614174000";

fn whole() -> Value {
    json!({"sensor": {"S": "attic"}, "at": {"N": "1"}, "celsius": {"N": "21.5"}, "tags": {"SS": ["a", "b"]},
        "notes": {"L": [{"S": "x"}, {"S": "y"}]}, "by_hour": {"M": {"7": {"S": "cold"}}},
        "place": {"M": {"room": {"S": "r"}, "floor": {"N": "3"}}}, "seen": {"S": "2026-11-16 10:00:00.000Z"}, "id": {"S": ID}})
}

#[test]
fn a_table_of_cql_is_written_and_read_through_the_api() {
    let bench = start();
    let mut client = readings(&bench);
    let name = "app.readings";
    let described = ask(&bench, "DescribeTable", json!({"TableName": name})).unwrap();
    assert_eq!(
        described["Table"]["KeySchema"],
        json!([{"AttributeName": "sensor", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}])
    );
    ask(&bench, "PutItem", json!({"TableName": name, "Item": whole()})).unwrap();
    let got =
        ask(&bench, "GetItem", json!({"TableName": name, "Key": key(1), "ConsistentRead": true})).unwrap();
    assert_eq!(got["Item"], whole());
    // Index and view are in the same commit.
    assert_eq!(client.query("SELECT * FROM app.readings WHERE celsius = 21.5"), Answer::Rows(1));
    assert_eq!(client.query(&format!("SELECT * FROM app.by_id WHERE id = {ID}")), Answer::Rows(1));
    // Written in CQL, read here.
    for at in 2..=5 {
        client.run(&format!("INSERT INTO app.readings (sensor, at, celsius) VALUES ('attic', {at}, {at})"));
    }
    let query = |more: Value| {
        let mut body = json!({"TableName": name, "KeyConditionExpression": "sensor = :s AND #at BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#at": "at"},
            "ExpressionAttributeValues": {":s": {"S": "attic"}, ":low": {"N": "2"}, ":high": {"N": "4"}}});
        more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
        let page = ask(&bench, "Query", body).unwrap();
        let at = |item: &Value| item["at"]["N"].as_str().unwrap().to_string();
        let found: Vec<String> = page["Items"].as_array().unwrap().iter().map(at).collect();
        (found, page["LastEvaluatedKey"].clone())
    };
    assert_eq!(query(json!({})).0, ["2", "3", "4"], "ascending, whatever the clustering order is");
    assert_eq!(query(json!({"ScanIndexForward": false})).0, ["4", "3", "2"]);
    let (first, last) = query(json!({"Limit": 2}));
    assert_eq!((first.as_slice(), &last), (&["2".to_string(), "3".to_string()][..], &key(3)));
    assert_eq!(query(json!({"ExclusiveStartKey": last})).0, ["4"]);
    let (first, last) = query(json!({"Limit": 1, "ScanIndexForward": false}));
    assert_eq!(first, ["4"]);
    assert_eq!(query(json!({"ScanIndexForward": false, "ExclusiveStartKey": last})).0, ["3", "2"]);
    assert_eq!(
        query(json!({"ProjectionExpression": "#at", "FilterExpression": "celsius > :low"})).0,
        ["3", "4"]
    );
    let mut scanned = 0;
    for segment in 0..3 {
        let page =
            ask(&bench, "Scan", json!({"TableName": name, "Segment": segment, "TotalSegments": 3})).unwrap();
        scanned += page["Count"].as_i64().unwrap();
    }
    assert_eq!(scanned, 5);
    let refused = ask(&bench, "ExecuteStatement", json!({"Statement": format!("SELECT * FROM \"{name}\"")}))
        .unwrap_err();
    assert!(refused.contains("is a table of CQL. The DynamoDB API has DescribeTable"), "{refused}");
}

#[test]
fn a_transaction_on_tables_of_cql_does_all_or_nothing() {
    let bench = start();
    let mut client = readings(&bench);
    orders(&bench);
    let name = "app.readings";
    let put = |sensor: &str, more: Value| {
        let mut put = json!({"TableName": name, "Item": {"sensor": {"S": sensor}, "at": {"N": "1"}, "celsius": {"N": "3"}}});
        more.as_object().unwrap().iter().for_each(|(name, value)| put[name] = value.clone());
        json!({"Put": put})
    };
    let count =
        |client: &mut Client| client.rows("SELECT count(*) FROM app.readings").cells[0].clone().unwrap()[7];
    let both =
        json!({"TransactItems": [put("a", json!({})), put("b", json!({}))], "ClientRequestToken": "t1"});
    ask(&bench, "TransactWriteItems", both.clone()).unwrap();
    assert_eq!(count(&mut client), 2);
    // The same token does nothing again, and is not for other actions.
    client.run("DELETE FROM app.readings WHERE sensor = 'a'");
    ask(&bench, "TransactWriteItems", both).unwrap();
    assert_eq!(count(&mut client), 1);
    let other = json!({"TransactItems": [put("c", json!({}))], "ClientRequestToken": "t1"});
    assert!(ask(&bench, "TransactWriteItems", other).unwrap_err().starts_with("IdempotentParameterMismatch"));
    // One condition that fails, and nothing is done; all reasons are told.
    let absent = json!({"ConditionExpression": "attribute_not_exists(sensor)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"});
    let wrong = json!({"Update": {"TableName": name, "Key": {"sensor": {"S": "d"}, "at": {"N": "1"}}, "UpdateExpression": "SET celsius = id"}});
    let none = json!({"TransactItems": [put("c", json!({})), put("b", absent), wrong]});
    let refused = ask(&bench, "TransactWriteItems", none).unwrap_err();
    assert!(refused.contains("[None, ConditionalCheckFailed, ValidationError]"), "{refused}");
    assert_eq!(count(&mut client), 1);
    // Indexes and views follow.
    let key = |sensor: &str| json!({"sensor": {"S": sensor}, "at": {"N": "1"}});
    let update = json!({"Update": {"TableName": name, "Key": key("b"), "UpdateExpression": "SET celsius = celsius + :n, id = :i",
        "ConditionExpression": "celsius = :c", "ExpressionAttributeValues": {":n": {"N": "1"}, ":c": {"N": "3"}, ":i": {"S": ID}}}});
    let check = json!({"ConditionCheck": {"TableName": name, "Key": key("z"), "ConditionExpression": "attribute_not_exists(sensor)"}});
    ask(&bench, "TransactWriteItems", json!({"TransactItems": [update, check, put("e", json!({}))]}))
        .unwrap();
    assert_eq!(client.query("SELECT * FROM app.readings WHERE celsius = 4"), Answer::Rows(1));
    assert_eq!(client.query(&format!("SELECT * FROM app.by_id WHERE id = {ID}")), Answer::Rows(1));
    let gets: Vec<Value> = ["b", "nobody", "e"]
        .map(|s| json!({"Get": {"TableName": name, "Key": key(s), "ProjectionExpression": "celsius"}}))
        .into();
    let got = ask(&bench, "TransactGetItems", json!({"TransactItems": gets})).unwrap();
    assert_eq!(
        got["Responses"],
        json!([{"Item": {"celsius": {"N": "4"}}}, {}, {"Item": {"celsius": {"N": "3"}}}])
    );
    // Tables of both dialects are locked in different ways.
    let own = json!({"Put": {"TableName": "orders", "Item": {"pk": {"S": "a"}, "sk": {"S": "b"}}}});
    let refused =
        ask(&bench, "TransactWriteItems", json!({"TransactItems": [put("f", json!({})), own]})).unwrap_err();
    assert!(refused.contains("cannot have tables of both dialects"), "{refused}");
}

#[test]
fn batches_reach_tables_of_both_dialects() {
    let bench = start();
    let mut client = readings(&bench);
    orders(&bench);
    let name = "app.readings";
    let reading = |at: i64| json!({"PutRequest": {"Item": {"sensor": {"S": "s1"}, "at": {"N": at.to_string()}, "celsius": {"N": "20.5"}}}});
    let order = json!({"PutRequest": {"Item": {"pk": {"S": "a"}, "sk": {"S": "b"}}}});
    let batch = json!({"RequestItems": {name: [reading(1), reading(2)], "orders": [order]}, "ReturnConsumedCapacity": "TOTAL"});
    let answer = ask(&bench, "BatchWriteItem", batch).unwrap();
    assert_eq!(answer["UnprocessedItems"], json!({}));
    assert_eq!(answer["ConsumedCapacity"].as_array().unwrap().len(), 2);
    assert_eq!(client.query("SELECT * FROM app.readings WHERE sensor = 's1'"), Answer::Rows(2));
    assert_eq!(
        client.query("SELECT * FROM app.readings WHERE celsius = 20.5"),
        Answer::Rows(2),
        "through its index"
    );
    let keys = json!([{"sensor": {"S": "s1"}, "at": {"N": "2"}}, {"sensor": {"S": "s1"}, "at": {"N": "3"}}]);
    let wanted = json!({"RequestItems": {name: {"Keys": keys, "ProjectionExpression": "celsius"},
        "orders": {"Keys": [{"pk": {"S": "a"}, "sk": {"S": "b"}}]}}});
    let answer = ask(&bench, "BatchGetItem", wanted).unwrap();
    assert_eq!(answer["Responses"][name], json!([{"celsius": {"N": "20.5"}}]));
    assert_eq!(answer["Responses"]["orders"], json!([{"pk": {"S": "a"}, "sk": {"S": "b"}}]));
    // Nothing is done if something is wrong.
    let wrong =
        json!({"PutRequest": {"Item": {"sensor": {"S": "s1"}, "at": {"N": "9"}, "nosuch": {"S": "x"}}}});
    let gone = json!({"DeleteRequest": {"Key": {"sensor": {"S": "s1"}, "at": {"N": "1"}}}});
    let refused = ask(&bench, "BatchWriteItem", json!({"RequestItems": {name: [gone, wrong]}})).unwrap_err();
    assert!(refused.contains("has no column nosuch"), "{refused}");
    let batch = json!({"RequestItems": {name: [gone]}});
    ask(&bench, "BatchWriteItem", batch).unwrap();
    assert_eq!(client.query("SELECT * FROM app.readings WHERE sensor = 's1'"), Answer::Rows(1));
}

#[test]
fn conditions_and_updates_hold_on_a_table_of_cql() {
    let bench = start();
    let mut client = readings(&bench);
    let name = "app.readings";
    let update = |expression: &str, values: Value, more: Value| {
        let mut body = json!({"TableName": name, "Key": key(1), "UpdateExpression": expression});
        if values.as_object().is_some_and(|values| !values.is_empty()) {
            body["ExpressionAttributeValues"] = values;
        }
        more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
        ask(&bench, "UpdateItem", body)
    };
    // Made by an update, with nothing but a key.
    update("REMOVE celsius", json!({}), json!({})).unwrap();
    assert_eq!(client.query("SELECT * FROM app.readings WHERE sensor = 'attic'"), Answer::Rows(1));
    let put =
        json!({"TableName": name, "Item": whole(), "ConditionExpression": "attribute_not_exists(sensor)"});
    assert!(ask(&bench, "PutItem", put).unwrap_err().starts_with("ConditionalCheckFailedException"));
    ask(&bench, "PutItem", json!({"TableName": name, "Item": whole(), "ReturnValues": "ALL_OLD"})).unwrap();
    let changed = update(
        "SET celsius = celsius + :one, notes = list_append(notes, :z) ADD tags :c REMOVE seen",
        json!({":one": {"N": "1"}, ":z": {"L": [{"S": "z"}]}, ":c": {"SS": ["c"]}, ":max": {"N": "22"}}),
        json!({"ConditionExpression": "celsius < :max", "ReturnValues": "UPDATED_NEW"}),
    );
    assert_eq!(
        changed.unwrap()["Attributes"],
        json!({"celsius": {"N": "22.5"}, "notes": {"L": [{"S": "x"}, {"S": "y"}, {"S": "z"}]}, "tags": {"SS": ["a", "b", "c"]}})
    );
    assert_eq!(
        client.query("SELECT * FROM app.readings WHERE celsius = 21.5"),
        Answer::Rows(0),
        "the index followed"
    );
    assert_eq!(client.query("SELECT * FROM app.readings WHERE celsius = 22.5"), Answer::Rows(1));
    // A put replaces the row.
    let slim = json!({"sensor": {"S": "attic"}, "at": {"N": "1"}, "celsius": {"N": "1"}});
    ask(&bench, "PutItem", json!({"TableName": name, "Item": slim})).unwrap();
    assert_eq!(ask(&bench, "GetItem", json!({"TableName": name, "Key": key(1)})).unwrap()["Item"], slim);
    assert_eq!(
        client.query(&format!("SELECT * FROM app.by_id WHERE id = {ID}")),
        Answer::Rows(0),
        "the view followed"
    );
    let gone =
        ask(&bench, "DeleteItem", json!({"TableName": name, "Key": key(1), "ReturnValues": "ALL_OLD"}))
            .unwrap();
    assert_eq!(gone["Attributes"], slim);
    assert_eq!(client.query("SELECT * FROM app.readings WHERE sensor = 'attic'"), Answer::Rows(0));
    for (item, told) in [
        (json!({"colour": {"S": "x"}}), "has no column colour"),
        (json!({"celsius": {"S": "warm"}}), "has the type double: Unable to make double from 'warm'"),
        (json!({"tags": {"S": "x"}}), "a value of type S cannot be a set<text>"),
    ] {
        let mut item = item;
        item["sensor"] = json!({"S": "attic"});
        item["at"] = json!({"N": "9"});
        let refused = ask(&bench, "PutItem", json!({"TableName": name, "Item": item})).unwrap_err();
        assert!(refused.starts_with("ValidationException") && refused.contains(told), "{refused}");
    }
}

/// Both dialects count on one row at once: nothing is lost.
#[test]
fn both_dialects_write_one_row_with_conditions() {
    let bench = start();
    let mut client = readings(&bench);
    client.run("CREATE TABLE app.counts (k text PRIMARY KEY, n int)");
    client.run("INSERT INTO app.counts (k, n) VALUES ('x', 0)");
    const EACH: usize = 40;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let body = json!({"TableName": "app.counts", "Key": {"k": {"S": "x"}}, "UpdateExpression": "ADD n :one",
                        "ExpressionAttributeValues": {":one": {"N": "1"}}});
                    ask(&bench, "UpdateItem", body).unwrap();
                }
            });
        }
        scope.spawn(|| {
            let mut client = Client::connect(&bench);
            let mut done = 0;
            while done < EACH {
                let seen = client.rows("SELECT n FROM app.counts WHERE k = 'x'").cells[0].clone().unwrap();
                let seen = i32::from_be_bytes(seen.try_into().unwrap());
                let statement = format!("UPDATE app.counts SET n = {} WHERE k = 'x' IF n = {seen}", seen + 1);
                let applied = client.rows(&statement).cells[0] == Some(vec![1]);
                done += usize::from(applied);
            }
        });
    });
    let counted = client.rows("SELECT n FROM app.counts WHERE k = 'x'").cells[0].clone().unwrap();
    assert_eq!(i32::from_be_bytes(counted.try_into().unwrap()) as usize, 3 * EACH);
}

#[test]
fn tables_that_do_not_fit_are_refused_in_words() {
    let bench = start();
    let mut client = readings(&bench);
    for (definition, told) in [
        ("a int, b int, PRIMARY KEY ((a, b))", "one partition key column"),
        ("a int, b int, c int, PRIMARY KEY (a, b, c)", "one partition key column"),
        ("a int, b int, s int static, PRIMARY KEY (a, b)", "static columns"),
        ("a int PRIMARY KEY, n counter", "its column n has the type counter"),
        ("a int PRIMARY KEY, d duration", "its column d has the type duration"),
        ("a double PRIMARY KEY", "its key column a has the type double"),
    ] {
        client.run("DROP TABLE IF EXISTS app.t");
        client.run(&format!("CREATE TABLE app.t ({definition})"));
        let refused = ask(&bench, "Scan", json!({"TableName": "app.t"})).unwrap_err();
        assert!(refused.starts_with("ValidationException") && refused.contains(told), "{refused}");
    }
    for name in ["app.nothing", "system.local", "system_auth.roles", "dynamo.x", "nothing.at.all"] {
        let refused = ask(&bench, "Scan", json!({"TableName": name})).unwrap_err();
        assert!(refused.starts_with("ResourceNotFoundException"), "{refused}");
    }
}
