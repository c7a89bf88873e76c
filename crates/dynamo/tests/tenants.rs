//! A caller that is bound to a tenant, and every operation that could show it another's items or change them.
//!
//! Items of the tenant `beta` hold the word `beta` in every attribute, so whatever of them gets out is seen.

use database::Runtime;
use database::catalogue::SharedCatalogue;
use database::grants::{Grants, Permission, PermissionSet, StoredRole};
use database::ids::ShardIds;
use dynamo::run::{AllShards, Caller, Dynamo, KEYSPACE, Settings};
use dynamo::{ApiError, ErrorName, Operation};
use query::QueryError;
use query::context::Limits;
use rt::{Clock, ShardThreads, SystemClock};
use schema::{Change, NewColumn, NewTable, Properties, PropertyValue, TableAlteration};
use serde_json::{Value, json};
use std::rc::Rc;
use std::sync::Arc;
use store::naive::NaiveStore;

struct Client {
    dynamo: Dynamo<NaiveStore>,
    ids: Rc<ShardIds>,
}

impl Client {
    async fn call(
        &self,
        grants: Option<&Grants>,
        operation: Operation,
        body: &Value,
    ) -> Result<Value, ApiError> {
        let caller = Caller::new(grants, self.ids.now_micros(), "h");
        let answer = self.dynamo.execute(&caller, operation, body.to_string().as_bytes()).await?;
        Ok(if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() })
    }

    async fn change(&self, change: Change) {
        let runtime = &self.dynamo.runtime;
        let apply = |catalogue: &schema::Catalogue, setting: &schema::Setting| {
            catalogue.apply(&change, setting).map_err(QueryError::from)
        };
        runtime.shared.change(&runtime.store, self.ids.now_micros(), apply).await.unwrap();
    }

    /// A role that may do everything with the tables but is bound to `acme`.
    async fn bound(&self) -> Rc<Grants> {
        let runtime = &self.dynamo.runtime;
        let read = async || {
            let some = PermissionSet::of(&[Permission::Select, Permission::Modify]);
            Ok::<_, QueryError>(StoredRole {
                superuser: false,
                roles: ["app".to_string()].into(),
                granted: vec![
                    (format!("data/{KEYSPACE}?tenant=acme"), some),
                    ("data/app?tenant=acme".to_string(), some),
                    ("data".to_string(), PermissionSet::ALL),
                ],
            })
        };
        database::grants::grants(runtime, &"app".into(), self.ids.now_micros(), read).await.unwrap()
    }
}

fn item(tenant: &str, n: u64) -> Value {
    json!({"org": {"S": tenant}, "n": {"N": n.to_string()}, "note": {"S": format!("{tenant}-note")}, "city": {"S": "Bern"}})
}

fn key(tenant: &str, n: u64) -> Value {
    json!({"org": {"S": tenant}, "n": {"N": n.to_string()}})
}

async fn create(client: &Client) {
    let body = json!({"TableName": "things", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "org", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": "org", "AttributeType": "S"}, {"AttributeName": "n", "AttributeType": "N"},
            {"AttributeName": "city", "AttributeType": "S"}],
        "GlobalSecondaryIndexes": [{"IndexName": "by-city",
            "KeySchema": [{"AttributeName": "city", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}],
        "LocalSecondaryIndexes": [{"IndexName": "in-city",
            "KeySchema": [{"AttributeName": "org", "KeyType": "HASH"}, {"AttributeName": "city", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"}}],
        "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}});
    client.call(None, Operation::CreateTable, &body).await.unwrap();
    for (tenant, n) in [("acme", 1), ("acme", 2), ("beta", 1), ("beta", 2), ("beta", 3)] {
        let body = json!({"TableName": "things", "Item": item(tenant, n)});
        client.call(None, Operation::PutItem, &body).await.unwrap();
    }
    let mut tenant = Properties::new();
    tenant.add("tenant", PropertyValue::Text("org".into())).unwrap();
    let alteration = TableAlteration::With(tenant.clone());
    let (keyspace, name) = (KEYSPACE.to_string(), "things".to_string());
    client.change(Change::AlterTable { keyspace, name, if_exists: false, alteration }).await;
    // A table of CQL that this API serves.
    let mut properties = Properties::new();
    let replication =
        [("class".to_string(), "SimpleStrategy".to_string()), ("replication_factor".into(), "1".into())];
    properties.add("replication", PropertyValue::Map(replication.into())).unwrap();
    client.change(Change::CreateKeyspace { name: "app".into(), if_not_exists: false, properties }).await;
    let columns = ["org", "note"].map(|name| NewColumn::regular(name, model::types::DataType::Text));
    let table = NewTable {
        keyspace: "app".into(),
        name: "things".into(),
        columns: columns.into(),
        partition_key: vec!["org".into()],
        properties: tenant,
        ..NewTable::default()
    };
    client.change(Change::CreateTable(Box::new(table))).await;
    for tenant in ["acme", "beta"] {
        let row = json!({"org": {"S": tenant}, "note": {"S": format!("{tenant}-note")}});
        client
            .call(None, Operation::PutItem, &json!({"TableName": "app.things", "Item": row}))
            .await
            .unwrap();
    }
}

/// Every operation on the items of a tenant.
fn attempts(tenant: &str) -> Vec<(Operation, Value)> {
    use Operation::*;
    let (t, k) = ("things", key(tenant, 1));
    let value = json!({":o": {"S": tenant}});
    let partiql = |text: &str| json!({"Statement": text.replace("{t}", tenant)});
    let statements = [
        "SELECT * FROM things WHERE org = '{t}'",
        "SELECT * FROM things WHERE org = '{t}' AND n = 1",
        "SELECT * FROM things WHERE org IN ['acme', '{t}']",
        "SELECT * FROM things WHERE org = 'acme' OR org = '{t}'",
        "SELECT * FROM things",
        "SELECT * FROM things WHERE note = '{t}-note'",
        "SELECT * FROM \"things\".\"by-city\" WHERE city = 'Bern'",
        "SELECT * FROM \"things\".\"in-city\" WHERE org = '{t}' AND city = 'Bern'",
        "INSERT INTO things VALUE {'org': '{t}', 'n': 9, 'note': 'mine'}",
        "UPDATE things SET note = 'mine' WHERE org = '{t}' AND n = 1",
        "UPDATE things SET note = 'mine' WHERE org = '{t}' AND n = 1 RETURNING ALL OLD *",
        "DELETE FROM things WHERE org = '{t}' AND n = 1",
    ];
    let mut all = vec![
        (GetItem, json!({"TableName": t, "Key": k})),
        (PutItem, json!({"TableName": t, "Item": item(tenant, 7), "ReturnValues": "ALL_OLD"})),
        (
            PutItem,
            json!({"TableName": t, "Item": item(tenant, 1), "ConditionExpression": "attribute_not_exists(org)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
        ),
        (
            UpdateItem,
            json!({"TableName": t, "Key": k, "UpdateExpression": "SET note = :o", "ExpressionAttributeValues": value,
            "ReturnValues": "ALL_OLD"}),
        ),
        (DeleteItem, json!({"TableName": t, "Key": k, "ReturnValues": "ALL_OLD"})),
        (
            Query,
            json!({"TableName": t, "KeyConditionExpression": "org = :o", "ExpressionAttributeValues": value}),
        ),
        (
            Query,
            json!({"TableName": t, "KeyConditionExpression": "org = :o", "ExpressionAttributeValues": value, "IndexName": "in-city"}),
        ),
        (
            Query,
            json!({"TableName": t, "KeyConditionExpression": "org = :o", "ExpressionAttributeValues": {":o": {"S": "acme"}},
            "ExclusiveStartKey": k}),
        ),
        (BatchGetItem, json!({"RequestItems": {t: {"Keys": [key("acme", 1), key(tenant, 2)]}}})),
        (
            BatchWriteItem,
            json!({"RequestItems": {t: [{"PutRequest": {"Item": item("acme", 8)}}, {"DeleteRequest": {"Key": key(tenant, 2)}}]}}),
        ),
        (BatchWriteItem, json!({"RequestItems": {t: [{"PutRequest": {"Item": item(tenant, 8)}}]}})),
        (
            TransactGetItems,
            json!({"TransactItems": [{"Get": {"TableName": t, "Key": key("acme", 1)}}, {"Get": {"TableName": t, "Key": key(tenant, 2)}}]}),
        ),
        (
            TransactWriteItems,
            json!({"TransactItems": [{"Put": {"TableName": t, "Item": item("acme", 5)}},
            {"ConditionCheck": {"TableName": t, "Key": k, "ConditionExpression": "attribute_exists(org)",
             "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]}),
        ),
        (TransactWriteItems, json!({"TransactItems": [{"Put": {"TableName": t, "Item": item(tenant, 5)}}]})),
        (TransactWriteItems, json!({"TransactItems": [{"Delete": {"TableName": t, "Key": k}}]})),
        (
            BatchExecuteStatement,
            json!({"Statements": [{"Statement": format!("SELECT * FROM things WHERE org = '{tenant}' AND n = 1")}]}),
        ),
        (
            BatchExecuteStatement,
            json!({"Statements": [{"Statement": format!("DELETE FROM things WHERE org = '{tenant}' AND n = 1")}]}),
        ),
        (
            ExecuteTransaction,
            json!({"TransactStatements": [{"Statement": format!("SELECT * FROM things WHERE org = '{tenant}' AND n = 1")}]}),
        ),
        (
            ExecuteTransaction,
            json!({"TransactStatements": [{"Statement": format!("DELETE FROM things WHERE org = '{tenant}' AND n = 1")}]}),
        ),
        (GetItem, json!({"TableName": "app.things", "Key": {"org": {"S": tenant}}})),
        (
            PutItem,
            json!({"TableName": "app.things", "Item": {"org": {"S": tenant}, "note": {"S": "mine"}}, "ReturnValues": "ALL_OLD"}),
        ),
        (
            UpdateItem,
            json!({"TableName": "app.things", "Key": {"org": {"S": tenant}}, "UpdateExpression": "SET note = :o",
            "ExpressionAttributeValues": value, "ReturnValues": "ALL_OLD"}),
        ),
        (
            DeleteItem,
            json!({"TableName": "app.things", "Key": {"org": {"S": tenant}}, "ReturnValues": "ALL_OLD"}),
        ),
        (
            Query,
            json!({"TableName": "app.things", "KeyConditionExpression": "org = :o", "ExpressionAttributeValues": value}),
        ),
    ];
    all.extend(statements.map(|text| (ExecuteStatement, partiql(text))));
    all
}

/// Operations that are about the items of everybody.
fn wide() -> Vec<(Operation, Value)> {
    use Operation::*;
    let stream = "arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/x";
    vec![
        (Scan, json!({"TableName": "things"})),
        (Scan, json!({"TableName": "things", "TotalSegments": 2, "Segment": 1})),
        (
            Scan,
            json!({"TableName": "things", "FilterExpression": "org = :o", "ExpressionAttributeValues": {":o": {"S": "acme"}}}),
        ),
        (Scan, json!({"TableName": "things", "IndexName": "by-city"})),
        (Scan, json!({"TableName": "app.things"})),
        (
            Query,
            json!({"TableName": "things", "IndexName": "by-city", "KeyConditionExpression": "city = :c",
            "ExpressionAttributeValues": {":c": {"S": "Bern"}}}),
        ),
        (CreateBackup, json!({"TableName": "things", "BackupName": "copy"})),
        (
            ExportTableToPointInTime,
            json!({"TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/things", "S3Bucket": "b"}),
        ),
        (DescribeStream, json!({"StreamArn": stream})),
        (
            GetShardIterator,
            json!({"StreamArn": stream, "ShardId": "shardId-0", "ShardIteratorType": "TRIM_HORIZON"}),
        ),
        (DeleteTable, json!({"TableName": "things"})),
        (
            UpdateTimeToLive,
            json!({"TableName": "things", "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": true}}),
        ),
    ]
}

/// What the tables hold, as somebody sees it who is bound to nothing.
async fn everything(client: &Client) -> Vec<String> {
    let mut all = Vec::new();
    for table in ["things", "app.things"] {
        let found = client.call(None, Operation::Scan, &json!({"TableName": table})).await.unwrap();
        all.extend(found["Items"].as_array().unwrap().iter().map(Value::to_string));
    }
    all.retain(|item| item.contains("beta"));
    all.sort();
    all
}

async fn check(client: Client) {
    create(&client).await;
    let grants = client.bound().await;
    let before = everything(&client).await;
    assert_eq!(before.len(), 4);
    let mut own = 0;
    let mut others = attempts("beta");
    others.extend(wide());
    for (operation, body) in &others {
        match client.call(Some(&grants), *operation, body).await {
            // A batch tells of each statement by itself.
            Ok(answer) => {
                let text = answer.to_string();
                assert!(!text.contains("beta"), "{operation:?} {body}\n{text}");
            }
            Err(error) => assert!(!error.to_string().contains("beta-note"), "{operation:?} {body}\n{error}"),
        }
        assert_eq!(everything(&client).await, before, "{operation:?} {body}");
    }
    // Whether an item is there is told to nobody.
    for (there, not_there) in attempts("beta").iter().zip(attempts("zzz")) {
        let first = client.call(Some(&grants), there.0, &there.1).await.map_err(|error| error.to_string());
        let second =
            client.call(Some(&grants), not_there.0, &not_there.1).await.map_err(|error| error.to_string());
        let plain = |outcome: Result<Value, String>| format!("{outcome:?}").replace("beta", "zzz");
        assert_eq!(plain(first), plain(second), "{:?} {}", there.0, there.1);
    }
    for (operation, body) in wide() {
        let error = client.call(Some(&grants), operation, &body).await.unwrap_err();
        assert_ne!(error.name(), ErrorName::InternalServer, "{operation:?} {error}");
    }
    for (operation, body) in attempts("acme") {
        own += usize::from(client.call(Some(&grants), operation, &body).await.is_ok());
    }
    assert!(own >= 20, "{own} of its own are open");
    let used = client.dynamo.runtime.shared.tenants.all();
    let acme = used.iter().find(|used| used.tenant == "acme" && used.keyspace == KEYSPACE).unwrap();
    assert!(acme.requests >= 15 && acme.bytes_read > 0 && acme.bytes_written > 0, "{acme:?}");
    limits(&client).await;
}

/// A limit is answered with this API's own error.
async fn limits(client: &Client) {
    let mut properties = Properties::new();
    let limits = [("requests_per_second".to_string(), "5".to_string())];
    properties.add("tenant_limits", PropertyValue::Map(limits.into())).unwrap();
    let alteration = TableAlteration::With(properties);
    let (keyspace, name) = (KEYSPACE.to_string(), "things".to_string());
    client.change(Change::AlterTable { keyspace, name, if_exists: false, alteration }).await;
    let get = json!({"TableName": "things", "Key": key("beta", 1)});
    let mut over = 0;
    for _ in 0..50 {
        if let Err(error) = client.call(None, Operation::GetItem, &get).await {
            assert_eq!(error.name(), ErrorName::Throttling, "{error}");
            over += 1;
        }
    }
    assert!(over >= 40, "{over} of 50 are over a limit of 5 per second");
    client
        .call(None, Operation::GetItem, &json!({"TableName": "things", "Key": key("acme", 1)}))
        .await
        .unwrap();
}

#[test]
fn no_operation_reaches_another_tenant() {
    let main = |_: usize| async {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let catalogue = Arc::new(SharedCatalogue::open(None, clock.micros(), Ok).unwrap());
        let store = NaiveStore::new();
        catalogue.bootstrap(&store).await.unwrap();
        let ids = Rc::new(ShardIds::new(clock, 0, 7));
        let runtime = Rc::new(Runtime::new(store, catalogue, Box::new(ids.clone()), Limits::default()));
        let shared = Arc::new(AllShards::new(Settings::default()));
        check(Client { dynamo: Dynamo::new(runtime, shared), ids }).await;
    };
    ShardThreads::start(1, main).unwrap().join().unwrap();
}
