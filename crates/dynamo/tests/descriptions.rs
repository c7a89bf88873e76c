//! What CreateTable, DescribeTable and DeleteTable tell of a table, held against what LocalStack recorded of the service (October 2025).

mod model;

use dynamo::Operation;
use dynamo::run::Settings;
use model::node::{Node, run};
use rt::SimDisk;
use serde_json::{Value, json};

fn members(of: &Value) -> Vec<&str> {
    of.as_object().unwrap().keys().map(String::as_str).collect()
}

async fn tell(node: &Node, operation: Operation, body: Value) -> Value {
    let mut answer = node.client.call(operation, body).await.unwrap();
    let name = if operation == Operation::DescribeTable { "Table" } else { "TableDescription" };
    answer[name].take()
}

fn table(name: &str, billing: Value, index: Value) -> Value {
    let index = json!({"IndexName": "by_v", "KeySchema": [{"AttributeName": "v", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": index});
    let mut body = json!({"TableName": name, "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}, {"AttributeName": "v", "AttributeType": "S"}],
        "GlobalSecondaryIndexes": [index]});
    if body["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"].is_null() {
        body["GlobalSecondaryIndexes"][0].as_object_mut().unwrap().remove("ProvisionedThroughput");
    }
    body.as_object_mut().unwrap().extend(billing.as_object().unwrap().clone());
    body
}

fn units(read: i64, write: i64) -> Value {
    json!({"ReadCapacityUnits": read, "WriteCapacityUnits": write})
}

fn warm(read: i64, write: i64) -> Value {
    json!({"ReadUnitsPerSecond": read, "WriteUnitsPerSecond": write, "Status": "ACTIVE"})
}

#[test]
fn descriptions_are_those_of_the_service() {
    run(async {
        let disk = SimDisk::new();
        let node = Node::start_with(&disk, 1, Settings::default()).await;
        let name = |name: &str| json!({"TableName": name});

        let provisioned = table("provisioned", json!({"ProvisionedThroughput": units(5, 5)}), units(1, 1));
        let made = tell(&node, Operation::CreateTable, provisioned).await;
        assert!(made.get("WarmThroughput").is_none(), "{made}");
        assert!(made["GlobalSecondaryIndexes"][0].get("WarmThroughput").is_none(), "{made}");
        let shown = tell(&node, Operation::DescribeTable, name("provisioned")).await;
        assert_eq!(shown["WarmThroughput"], warm(5, 5));
        assert_eq!(shown["GlobalSecondaryIndexes"][0]["WarmThroughput"], warm(1, 1));

        let on_demand = table("on_demand", json!({"BillingMode": "PAY_PER_REQUEST"}), Value::Null);
        let made = tell(&node, Operation::CreateTable, on_demand).await;
        assert_eq!(made["BillingModeSummary"], json!({"BillingMode": "PAY_PER_REQUEST"}));
        let shown = tell(&node, Operation::DescribeTable, name("on_demand")).await;
        assert!(shown["BillingModeSummary"]["LastUpdateToPayPerRequestDateTime"].is_number(), "{shown}");
        assert_eq!(shown["WarmThroughput"], warm(12_000, 4_000));
        assert_eq!(shown["GlobalSecondaryIndexes"][0]["WarmThroughput"], warm(12_000, 4_000));

        // A wish is told from the beginning.
        let mut wished = table("wished", json!({"ProvisionedThroughput": units(5, 5)}), units(5, 5));
        wished["WarmThroughput"] = json!({"ReadUnitsPerSecond": 1000, "WriteUnitsPerSecond": 1200});
        let made = tell(&node, Operation::CreateTable, wished).await;
        assert_eq!(
            made["WarmThroughput"],
            json!({"ReadUnitsPerSecond": 1000, "WriteUnitsPerSecond": 1200, "Status": "UPDATING"})
        );
        assert_eq!(
            tell(&node, Operation::DescribeTable, name("wished")).await["WarmThroughput"],
            warm(1000, 1200)
        );

        let gone = tell(&node, Operation::DeleteTable, name("provisioned")).await;
        let mut told = members(&gone);
        told.sort_unstable();
        let expected = [
            "DeletionProtectionEnabled",
            "ItemCount",
            "ProvisionedThroughput",
            "TableArn",
            "TableId",
            "TableName",
            "TableSizeBytes",
            "TableStatus",
        ];
        assert_eq!(told, expected);
        assert_eq!(gone["TableStatus"], "DELETING");
    });
}
