//! Repairs for DynamoDB: what a careful person would run or write, in the language of the definition. Nothing here deletes data,
//! drops an index or changes a key in place.

use super::model::{Form, Table};
use serde_json::{Value, json};
use std::fmt::Write;

/// A key attribute of a new index, with its type.
pub type Attribute<'a> = (&'a str, char);

/// Adds a global index, with comments before it.
pub fn new_index(
    table: &Table,
    name: &str,
    hash: Attribute<'_>,
    range: Option<Attribute<'_>>,
    include: &[&str],
    why: &[String],
) -> String {
    let mut out = comments(why);
    let keys = std::iter::once(hash).chain(range);
    if table.form == Form::Terraform {
        let known: Vec<&str> = table
            .keys()
            .chain(table.indexes.iter().flat_map(|i| i.keys()))
            .map(|k| k.name.as_str())
            .collect();
        for (attribute, kind) in keys.filter(|(attribute, _)| !known.contains(attribute)) {
            let _ = writeln!(
                out,
                "  attribute {{\n    name = {}\n    type = \"{kind}\"\n  }}",
                quoted(attribute)
            );
        }
        let _ = writeln!(
            out,
            "  global_secondary_index {{\n    name            = {}\n    hash_key        = {}",
            quoted(name),
            quoted(hash.0)
        );
        if let Some((range, _)) = range {
            let _ = writeln!(out, "    range_key       = {}", quoted(range));
        }
        if include.is_empty() {
            let _ = writeln!(out, "    projection_type = \"KEYS_ONLY\"\n  }}");
        } else {
            let list: Vec<String> = include.iter().map(|a| quoted(a)).collect();
            let _ = writeln!(
                out,
                "    projection_type = \"INCLUDE\"\n    non_key_attributes = [{}]\n  }}",
                list.join(", ")
            );
        }
        return out.trim_end().to_string();
    }
    let definitions: Vec<Value> = keys
        .clone()
        .map(|(a, kind)| json!({"AttributeName": a, "AttributeType": kind.to_string()}))
        .collect();
    let schema: Vec<Value> = keys
        .zip(["HASH", "RANGE"])
        .map(|((attribute, _), role)| json!({"AttributeName": attribute, "KeyType": role}))
        .collect();
    let projection = if include.is_empty() {
        json!({"ProjectionType": "KEYS_ONLY"})
    } else {
        json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": include})
    };
    let body = json!({
        "TableName": super::model::plain_text(&table.name),
        "AttributeDefinitions": definitions,
        "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": name, "KeySchema": schema, "Projection": projection}}],
    });
    let _ = write!(out, "aws dynamodb update-table --cli-input-json {}", shell(&body));
    out
}

/// Switches TTL on.
pub fn ttl(table: &Table, attribute: &str, why: &[String]) -> String {
    let mut out = comments(why);
    if table.form == Form::Terraform {
        let _ = write!(
            out,
            "  ttl {{\n    attribute_name = {}\n    enabled        = true\n  }}",
            quoted(attribute)
        );
    } else {
        let body = json!({
            "TableName": super::model::plain_text(&table.name),
            "TimeToLiveSpecification": {"Enabled": true, "AttributeName": attribute},
        });
        let _ = write!(out, "aws dynamodb update-time-to-live --cli-input-json {}", shell(&body));
    }
    out
}

/// Lines as comments that shells and Terraform understand.
pub fn comments(lines: &[String]) -> String {
    lines.iter().map(|line| format!("# {line}\n")).collect()
}

/// Only comments: what to do in the application.
pub fn said(lines: &[String]) -> String {
    comments(lines).trim_end().to_string()
}

/// An operation to put in place of another, as a line of the operations file.
pub fn operation(why: &[String], operation: &Value) -> String {
    format!("{}{operation}", comments(why))
}

/// A JSON body as one word of a shell.
fn shell(body: &Value) -> String {
    format!("'{}'", body.to_string().replace('\'', "'\\''"))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name that no index of the table has.
pub fn free_name(table: &Table, wanted: &str) -> String {
    let mut name = wanted.to_string();
    let mut n = 2;
    while table.index(&name).is_some() {
        name = format!("{wanted}_{n}");
        n += 1;
    }
    name
}
