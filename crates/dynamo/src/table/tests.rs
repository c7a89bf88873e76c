//! Definitions made, changed, described and kept; keys of items.

use super::*;
use crate::messages::Layers;
use crate::number::Number;
use crate::operation::Operation;
use crate::request::{self, Request};
use crate::value::{Item, Value};

const TABLE: &str = r#"{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
    "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
    "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"},
        {"AttributeName":"g","AttributeType":"S"},{"AttributeName":"h","AttributeType":"B"}],
    "LocalSecondaryIndexes":[{"IndexName":"by-g","KeySchema":[{"AttributeName":"p","KeyType":"HASH"},
        {"AttributeName":"g","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
    "GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},
        {"AttributeName":"h","KeyType":"RANGE"}],
        "Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]}}],
    "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"Tags":[{"Key":"k","Value":"v"}]}"#;

fn table() -> TableDefinition {
    let Request::CreateTable(create) =
        request::parse(Operation::CreateTable, TABLE.as_bytes(), Layers::Older).unwrap()
    else {
        panic!()
    };
    TableDefinition::create(&create, "id".into(), 1_794_962_254_851)
}

fn updated(body: &str) -> Result<TableDefinition, String> {
    let request = request::parse(Operation::UpdateTable, body.as_bytes(), Layers::Older);
    let Request::UpdateTable(update) = request.map_err(|error| error.message().to_string())? else {
        panic!()
    };
    table().update(&update, 1_794_962_255_000).map_err(|error| error.message().to_string())
}

fn item(attributes: &[(&str, Value)]) -> Item {
    attributes.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}

fn s(text: &str) -> Value {
    Value::S(text.into())
}

#[test]
fn definitions_are_kept_as_json() {
    let table = table();
    assert_eq!(TableDefinition::from_json(&table.to_json().unwrap()), Ok(table.clone()));
    let later = table.to_json().unwrap().replace("\"format\":1", "\"format\":2");
    assert!(TableDefinition::from_json(&later).unwrap_err().contains("format 2"));
}

/// What the catalogue keeps; every installation has texts like this.
#[test]
fn golden() {
    assert_eq!(table().to_json().unwrap(), include_str!("golden.json").trim());
}

#[test]
fn descriptions() {
    let mut out = Vec::new();
    let facts = Facts {
        arn_prefix: "arn:aws:dynamodb:local:000000000000:table/",
        status: TableStatus::Active,
        items: 2,
        bytes: 30,
        indexes: &[(1, 10), (2, 20)],
        vector_indexes: &[],
    };
    table().describe(&facts, &mut out);
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["LatestStreamLabel"], "2026-11-18T00:37:34.851");
    assert_eq!(json["TableArn"], "arn:aws:dynamodb:local:000000000000:table/tab");
    assert_eq!(json["GlobalSecondaryIndexes"][0]["IndexSizeBytes"], 20);
    assert_eq!(json["GlobalSecondaryIndexes"][0]["Projection"]["NonKeyAttributes"][0], "x");
    assert_eq!(json["LocalSecondaryIndexes"][0]["ItemCount"], 1);
    assert_eq!(json["AttributeDefinitions"].as_array().unwrap().len(), 4);
    assert_eq!(json["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST");
    assert_eq!(json["ProvisionedThroughput"]["ReadCapacityUnits"], 0);
}

#[test]
fn updates() {
    let named = |rest: &str| format!(r#"{{"TableName":"tab",{rest}}}"#);
    let index = r#""GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"new","KeySchema":[{"AttributeName":"z",
        "KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]"#;
    let declared = format!(r#"{index},"AttributeDefinitions":[{{"AttributeName":"z","AttributeType":"N"}}]"#);
    let after = updated(&named(&declared)).unwrap();
    assert_eq!(after.index("new").unwrap().status, IndexStatus::Creating);
    assert_eq!(after.index("new").unwrap().key.hash[0].kind, KeyType::N);
    assert!(updated(&named(index)).unwrap_err().contains("have no definition"));
    let gone = updated(&named(r#""GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"gsi"}}]"#)).unwrap();
    assert!(gone.index("gsi").is_none());
    assert_eq!(gone.attributes().len(), 3, "the key of the dropped index is pruned");
    let off = updated(&named(r#""StreamSpecification":{"StreamEnabled":false}"#)).unwrap();
    assert!(off.enabled_stream().is_none() && off.stream.is_some());
    assert_eq!(
        updated(&named(r#""StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}"#)),
        Err("Table already has an enabled stream: TableName: tab".into())
    );
    assert!(
        updated(&named(r#""BillingMode":"PROVISIONED""#))
            .unwrap_err()
            .ends_with("BillingMode is PROVISIONED")
    );
    assert!(
        updated(r#"{"TableName":"tab"}"#).unwrap_err().starts_with("At least one of ProvisionedThroughput")
    );
}

#[test]
fn keys_of_items() {
    let table = table();
    let one = Value::N(Number::from_i64(1));
    let message = |attributes: &[(&str, Value)]| match table.key_of_item(&item(attributes)) {
        Ok(_) => "ok".to_string(),
        Err(error) => error.message().to_string(),
    };
    assert_eq!(message(&[("p", s("x")), ("r", one.clone())]), "ok");
    assert!(message(&[("p", s("x"))]).ends_with("Missing the key r in the item"));
    assert!(
        message(&[("p", one.clone()), ("r", one.clone())])
            .ends_with("Type mismatch for key p expected: S actual: N")
    );
    assert!(message(&[("p", s("")), ("r", one.clone())]).ends_with("empty string value. Key: p"));
    assert!(message(&[("p", s(&"x".repeat(2049))), ("r", one.clone())]).contains("limit of2048"));
    assert!(table.key_of_request(&item(&[("p", s("x"))])).is_err());
}

#[test]
fn entries_of_indexes() {
    let table = table();
    let one = Value::N(Number::from_i64(1));
    let full = item(&[
        ("p", s("x")),
        ("r", one.clone()),
        ("g", s("g")),
        ("h", Value::B(vec![1])),
        ("x", s("x")),
        ("y", s("y")),
    ]);
    let gsi = table.index("gsi").unwrap();
    let entry = table.index_entry(gsi, &full).unwrap();
    assert_eq!((entry.hash, entry.sort), (vec![s("g")], vec![Value::B(vec![1])]));
    assert_eq!(entry.item.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["g", "h", "p", "r", "x"]);
    let mut sparse = full.clone();
    sparse.remove("h");
    assert!(table.index_entry(gsi, &sparse).is_none());
    assert!(table.index_entry(table.index("by-g").unwrap(), &sparse).is_some());
    let key = table.last_evaluated_key(Some(gsi), &full);
    assert!(table.is_start_key(Some(gsi), &key) && !table.is_start_key(None, &key));
    let mut wrong = full.clone();
    wrong.insert("h", s("text"));
    let error = table.check_index_keys(&wrong, false).unwrap_err();
    assert!(error.message().ends_with("Type mismatch for Index Key h Expected: B Actual: S IndexName: gsi"));
}
