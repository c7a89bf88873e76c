//! What belongs to the account and not to a table: client tokens, and the lists of exports and imports.

mod model;

use dynamo::Operation;
use dynamo::run::{Buckets, Settings};
use model::node::{Node, run};
use rt::SimDisk;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::sync::Arc;

/// Takes every file and has none.
struct Bottomless;

impl Buckets for Bottomless {
    fn exists(&self, _: &str) -> bool {
        true
    }

    fn append(&self, _: &str, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, _: &str, _: &str) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn open(&self, _: &str, _: &str) -> io::Result<Box<dyn Read + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

async fn start(disk: &SimDisk, starts: i64) -> Node {
    let settings = Settings { buckets: Some(Arc::new(Bottomless)), ..Settings::default() };
    Node::start_with(disk, starts, settings).await
}

async fn call(node: &Node, operation: Operation, body: Value) -> Value {
    node.client.call(operation, body).await.unwrap()
}

async fn create(node: &Node, table: &str) {
    let body = json!({"TableName": table, "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}]});
    call(node, Operation::CreateTable, body).await;
}

fn add_one(tables: &[&str]) -> Value {
    let add = |table| {
        json!({"Update": {"TableName": table, "Key": {"k": {"S": "x"}}, "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}}}})
    };
    json!({"ClientRequestToken": "once", "TransactItems": tables.iter().map(add).collect::<Vec<_>>()})
}

async fn count(node: &Node, table: &str) -> Value {
    let body = json!({"TableName": table, "Key": {"k": {"S": "x"}}});
    call(node, Operation::GetItem, body).await["Item"]["n"]["N"].clone()
}

#[test]
fn a_client_token_is_for_one_transaction_whatever_its_first_table_is() {
    run(async {
        let disk = SimDisk::new();
        let node = start(&disk, 0).await;
        create(&node, "first").await;
        create(&node, "second").await;
        call(&node, Operation::TransactWriteItems, add_one(&["first", "second"])).await;
        for others in [&["second", "first"] as &[&str], &["second"], &["first"]] {
            let refused = node.client.call(Operation::TransactWriteItems, add_one(others)).await.unwrap_err();
            assert!(
                format!("{:?}", refused.name()).contains("IdempotentParameterMismatch"),
                "{others:?}: {refused}"
            );
        }
        call(&node, Operation::TransactWriteItems, add_one(&["first", "second"])).await;
        assert_eq!([count(&node, "first").await, count(&node, "second").await], ["1", "1"]);
        // Neither a table that goes nor a restart makes the token new.
        call(&node, Operation::DeleteTable, json!({"TableName": "second"})).await;
        drop(node);
        let node = start(&disk.image(rt::CrashImage::DropUnsynced), 1).await;
        let refused = node.client.call(Operation::TransactWriteItems, add_one(&["first"])).await.unwrap_err();
        assert!(format!("{:?}", refused.name()).contains("IdempotentParameterMismatch"), "{refused}");
        assert_eq!(count(&node, "first").await, "1");
    });
}

#[test]
fn exports_and_imports_are_listed_after_a_restart() {
    run(async {
        let disk = SimDisk::new();
        let node = start(&disk, 0).await;
        create(&node, "orders").await;
        let arn =
            call(&node, Operation::DescribeTable, json!({"TableName": "orders"})).await["Table"]["TableArn"]
                .clone();
        let export = json!({"TableArn": arn, "S3Bucket": "b", "ClientToken": "e1"});
        let exported = call(&node, Operation::ExportTableToPointInTime, export.clone()).await;
        let import = json!({"S3BucketSource": {"S3Bucket": "b"}, "InputFormat": "DYNAMODB_JSON", "TableCreationParameters": {
            "TableName": "copies", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}]}});
        call(&node, Operation::ImportTable, import).await;
        let exports = call(&node, Operation::ListExports, json!({})).await;
        let imports = call(&node, Operation::ListImports, json!({})).await;
        assert_eq!(exports["ExportSummaries"].as_array().unwrap().len(), 1);
        assert_eq!(imports["ImportSummaryList"].as_array().unwrap().len(), 1);
        drop(node);
        let node = start(&disk.image(rt::CrashImage::DropUnsynced), 1).await;
        assert_eq!(call(&node, Operation::ListExports, json!({})).await, exports);
        assert_eq!(call(&node, Operation::ListImports, json!({})).await, imports);
        let described = json!({"ExportArn": exported["ExportDescription"]["ExportArn"]});
        assert_eq!(call(&node, Operation::DescribeExport, described).await, exported);
        // The same token is the same export.
        assert_eq!(call(&node, Operation::ExportTableToPointInTime, export).await, exported);
    });
}
