//! The common scenario through the AWS SDK for Rust. Prints `ok NAME`, `FAIL NAME: why`.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Credentials, Region};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, Put, PutRequest, ReturnValue,
    ScalarAttributeType, TransactWriteItem, WriteRequest,
};
use std::collections::HashMap;

type Checked = Result<(), Box<dyn std::error::Error>>;
type Item = HashMap<String, AttributeValue>;

fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.into())
}

fn number(value: i64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn item(pk: &str, sk: i64) -> Item {
    HashMap::from([("pk".into(), text(pk)), ("sk".into(), number(sk))])
}

fn equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Checked {
    if found == expected { Ok(()) } else { Err(format!("{found:?} is not {expected:?}").into()) }
}

struct World {
    client: Client,
    table: String,
}

impl World {
    async fn a_table_is_created(&self) -> Checked {
        let key = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
        let typed = |name: &str, kind| AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build();
        self.client
            .create_table()
            .table_name(&self.table)
            .billing_mode(BillingMode::PayPerRequest)
            .key_schema(key("pk", KeyType::Hash)?)
            .key_schema(key("sk", KeyType::Range)?)
            .attribute_definitions(typed("pk", ScalarAttributeType::S)?)
            .attribute_definitions(typed("sk", ScalarAttributeType::N)?)
            .send()
            .await?;
        let described = self.client.describe_table().table_name(&self.table).send().await?;
        let status = described.table.and_then(|table| table.table_status).map(|status| status.to_string());
        equal(status, Some("ACTIVE".into()))
    }

    async fn items_come_back(&self) -> Checked {
        let mut put = item("a", 1);
        put.insert("list".into(), AttributeValue::L(vec![AttributeValue::Bool(true), AttributeValue::Null(true)]));
        put.insert("set".into(), AttributeValue::Ss(vec!["x".into(), "y".into()]));
        put.insert("bytes".into(), AttributeValue::B(aws_sdk_dynamodb::primitives::Blob::new(vec![0, 255])));
        self.client.put_item().table_name(&self.table).set_item(Some(put.clone())).send().await?;
        let found = self.client.get_item().table_name(&self.table).set_key(Some(item("a", 1))).consistent_read(true).send().await?;
        equal(found.item, Some(put))
    }

    async fn a_condition_that_fails_is_typed(&self) -> Checked {
        let put = self.client.put_item().table_name(&self.table).set_item(Some(item("a", 1)));
        match put.condition_expression("attribute_not_exists(pk)").send().await {
            Err(SdkError::ServiceError(error)) if error.err().is_conditional_check_failed_exception() => Ok(()),
            other => Err(format!("{other:?}").into()),
        }
    }

    async fn updates_return_the_new_values(&self) -> Checked {
        let update = || {
            let update = self.client.update_item().table_name(&self.table).set_key(Some(item("u", 1)));
            update
                .update_expression("ADD hits :one SET note = :n")
                .expression_attribute_values(":one", number(1))
                .expression_attribute_values(":n", text("seen"))
                .return_values(ReturnValue::UpdatedNew)
                .send()
        };
        update().await?;
        let attributes = update().await?.attributes;
        equal(attributes, Some(HashMap::from([("hits".into(), number(2)), ("note".into(), text("seen"))])))
    }

    async fn queries_page(&self) -> Checked {
        let requests: Result<Vec<WriteRequest>, _> = (0..25)
            .map(|n| {
                let put = PutRequest::builder().set_item(Some(item("q", n))).build()?;
                Ok::<_, aws_sdk_dynamodb::error::BuildError>(WriteRequest::builder().put_request(put).build())
            })
            .collect();
        self.client.batch_write_item().request_items(&self.table, requests?).send().await?;
        let mut pages = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :p AND sk >= :n")
            .expression_attribute_values(":p", text("q"))
            .expression_attribute_values(":n", number(5))
            .limit(6)
            .into_paginator()
            .send();
        let mut seen = Vec::new();
        while let Some(page) = pages.next().await {
            seen.extend(page?.items.unwrap_or_default().into_iter().filter_map(|item| item.get("sk").cloned()));
        }
        equal(seen, (5..25).map(number).collect())
    }

    async fn transactions_tell_their_reasons(&self) -> Checked {
        let put = |sk, condition: Option<&str>| {
            let put = Put::builder().table_name(&self.table).set_item(Some(item("t", sk)));
            let put = put.set_condition_expression(condition.map(Into::into)).build()?;
            Ok::<_, aws_sdk_dynamodb::error::BuildError>(TransactWriteItem::builder().put(put).build())
        };
        self.client.transact_write_items().transact_items(put(1, None)?).transact_items(put(2, None)?).send().await?;
        let second = self.client.transact_write_items().transact_items(put(3, None)?);
        match second.transact_items(put(1, Some("attribute_not_exists(pk)"))?).send().await {
            Err(SdkError::ServiceError(error)) if error.err().is_transaction_canceled_exception() => Ok(()),
            other => Err(format!("{other:?}").into()),
        }
    }

    async fn the_table_is_deleted(&self) -> Checked {
        self.client.delete_table().table_name(&self.table).send().await?;
        for _ in 0..600 {
            if self.client.describe_table().table_name(&self.table).send().await.is_err() {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        Err("it is still there".into())
    }
}

fn environment(name: &str, otherwise: &str) -> String {
    std::env::var(name).ok().filter(|value| !value.is_empty()).unwrap_or_else(|| otherwise.into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    let credentials = Credentials::new(environment("DYNAMO_KEY", "local"), environment("DYNAMO_SECRET", "local"), None, None, "checks");
    let config = aws_sdk_dynamodb::Config::builder()
        .region(Region::new("us-east-1"))
        .endpoint_url(environment("DYNAMO_ENDPOINT", "http://127.0.0.1:8000"))
        .credentials_provider(credentials)
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    let world = World { client: Client::from_conf(config), table: environment("DYNAMO_PREFIX", "rust") + "_table" };
    let mut failed = false;
    let mut told = |name: &str, outcome: Checked| match outcome {
        Ok(()) => println!("ok {name}"),
        Err(error) => {
            failed = true;
            println!("FAIL {name}: {}", format!("{error:?}").replace('\n', " "));
        }
    };
    told("a_table_is_created", world.a_table_is_created().await);
    told("items_come_back", world.items_come_back().await);
    told("a_condition_that_fails_is_typed", world.a_condition_that_fails_is_typed().await);
    told("updates_return_the_new_values", world.updates_return_the_new_values().await);
    told("queries_page", world.queries_page().await);
    told("transactions_tell_their_reasons", world.transactions_tell_their_reasons().await);
    told("the_table_is_deleted", world.the_table_is_deleted().await);
    if failed { std::process::ExitCode::FAILURE } else { std::process::ExitCode::SUCCESS }
}
