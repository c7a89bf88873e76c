//! The operations of an application: a list of objects with `op`, in a file of its own or as `operations` beside the tables.
//!
//! Both our short names and the names of the API are read (`key` or `KeyConditionExpression`), so that a logged request can be
//! pasted. Unknown fields are ignored, with a note.

use super::Reading;
use super::expression::Bindings;
use super::model::{Action, Expression, Model, Operation, Update};
use super::template::Template;
use super::text::{Kind, Node};
use crate::finding::ReadError;
use crate::source::Place;
use std::collections::HashSet;

const KNOWN: &[&str] = &[
    "op",
    "operation",
    "name",
    "table",
    "tablename",
    "index",
    "indexname",
    "key",
    "keyconditionexpression",
    "filter",
    "filterexpression",
    "condition",
    "conditionexpression",
    "update",
    "updateexpression",
    "item",
    "values",
    "expressionattributevalues",
    "names",
    "expressionattributenames",
    "projection",
    "projectionexpression",
    "select",
    "consistent",
    "consistentread",
    "forward",
    "scanindexforward",
    "limit",
    "segments",
    "totalsegments",
    "segment",
    "items",
    "transactitems",
    "requestitems",
    "then",
    "after",
    "rate",
    "ttl",
    "comment",
    "note",
    "description",
    "returnvalues",
    "exclusivestartkey",
    "returnconsumedcapacity",
];

/// Adds the operations of a document.
pub fn read(root: &Node, file: usize, model: &mut Model, reading: &mut Reading) {
    let mut unknown: HashSet<String> = HashSet::new();
    let list = match &root.kind {
        Kind::List(items) => items.iter().filter(|item| item.get(&["op", "operation"]).is_some()).collect(),
        Kind::Map(_) if root.get(&["op", "operation"]).is_some() => vec![root],
        Kind::Map(_) => root.at(&["operations"]).items(),
        _ => return,
    };
    for node in list {
        let Some(operation) = one(node, file, reading) else { continue };
        for entry in node.entries() {
            let key = entry.key.to_ascii_lowercase();
            if !KNOWN.contains(&key.as_str()) && unknown.insert(key) {
                let message = format!("the field {} is not known: it was ignored", entry.key);
                reading.notes.push(ReadError { place: Place { file, span: entry.key_span }, message });
            }
        }
        super::comments_of(node, file, reading);
        let members = members(node, &operation, file, reading);
        model.operations.push(operation);
        model.operations.extend(members);
    }
}

fn one(node: &Node, file: usize, reading: &mut Reading) -> Option<Operation> {
    let word = node.at(&["op", "operation"]);
    let Some(name) = word.text() else {
        let message = "an operation is an object with \"op\": \"Query\" and its table".to_string();
        reading.errors.push(ReadError { place: Place { file, span: node.span }, message });
        return None;
    };
    let Some(action) = Action::named(&name) else {
        let message = format!(
            "{name} is no operation; the operations are GetItem, PutItem, UpdateItem, DeleteItem, Query, Scan, BatchGetItem, \
             BatchWriteItem, TransactGetItems and TransactWriteItems"
        );
        reading.errors.push(ReadError { place: Place { file, span: word.span }, message });
        return None;
    };
    Some(operation(action, node, file))
}

fn operation(action: Action, node: &Node, file: usize) -> Operation {
    let bindings = bindings(node);
    let expression = |names: &[&str]| {
        let found = node.get(names)?;
        let text = found.text()?;
        let (terms, has_or) = bindings.terms(&text);
        Some(Expression { terms, has_or, span: found.span, text })
    };
    let key = node.at(&["key", "KeyConditionExpression"]);
    let mut item: Vec<(String, Template)> = Vec::new();
    for node in [node.at(&["item", "Item"]), key] {
        item.extend(node.entries().iter().filter_map(|e| Some((e.key.clone(), template(&e.value)?))));
    }
    let update = node.get(&["update", "UpdateExpression"]);
    let projection = node.at(&["projection", "ProjectionExpression"]);
    let mut projected: Vec<String> = match &projection.kind {
        Kind::List(items) => items.iter().filter_map(Node::text).collect(),
        _ => projection.text().unwrap_or_default().split(',').map(|s| s.trim().to_string()).collect(),
    };
    projected.retain(|name| !name.is_empty());
    let projected =
        projected.into_iter().map(|name| bindings.names.get(&name).cloned().unwrap_or(name)).collect();
    Operation {
        action,
        name: node.at(&["name"]).text(),
        place: Place { file, span: node.span },
        table_name: node.at(&["table", "TableName"]).text(),
        table: None,
        index: node.at(&["index", "IndexName"]).text(),
        key: if key.is_map() { None } else { expression(&["key", "KeyConditionExpression"]) }.map(
            |mut key| {
                // A single item is named by a condition too: `id = :id`.
                if !matches!(action, Action::Query | Action::Scan) {
                    let of_item = key.terms.drain(..);
                    item.extend(of_item.filter_map(|term| Some((term.attribute, term.value?))));
                }
                key
            },
        ),
        item,
        filter: expression(&["filter", "FilterExpression"]),
        condition: expression(&["condition", "ConditionExpression"]),
        update: update.and_then(|found| {
            let text = found.text()?;
            Some(Update { changes: bindings.changes(&text), span: found.span, text })
        }),
        projection: projected,
        is_consistent: node.at(&["consistent", "ConsistentRead"]).boolean() == Some(true),
        is_forward: node.at(&["forward", "ScanIndexForward"]).boolean(),
        limit: node.at(&["limit", "Limit"]).number().map(|n| n.max(0.0) as u64),
        has_segments: node.get(&["segments", "TotalSegments"]).is_some(),
        then: node.at(&["then"]).text(),
        after_read: node.get(&["after"]).is_some(),
        rate: node.at(&["rate"]).number(),
        has_ttl: node.get(&["ttl"]).is_some(),
        member_of: None,
        member_count: 0,
    }
}

/// The operations inside a batch or a transaction.
fn members(node: &Node, group: &Operation, file: usize, reading: &mut Reading) -> Vec<Operation> {
    if !group.action.is_group() {
        return Vec::new();
    }
    let fallback = match group.action {
        Action::BatchGet | Action::TransactGet => Action::Get,
        _ => Action::Put,
    };
    let list = node.at(&["items", "TransactItems", "operations"]).items();
    let mut out: Vec<Operation> = Vec::new();
    for member in &list {
        // `{"op": "PutItem", ...}`, or `{"Put": {...}}` as the API writes it.
        let named = member.at(&["op", "operation"]).text().and_then(|name| Action::named(&name));
        let wrapped = match member.entries() {
            [only] => Action::named(&only.key).map(|action| (action, &only.value)),
            _ => None,
        };
        let (action, body) = match (named, wrapped) {
            (Some(action), _) => (action, *member),
            (None, Some(found)) => found,
            (None, None) if member.is_map() => (fallback, *member),
            _ => {
                let message =
                    "a member of a batch or a transaction is an object with \"op\" and its table".to_string();
                reading.errors.push(ReadError { place: Place { file, span: member.span }, message });
                continue;
            }
        };
        let mut one = operation(action, body, file);
        one.member_of = Some(group.action);
        one.member_count = list.len();
        one.table_name = one.table_name.or_else(|| group.table_name.clone());
        one.name = one.name.or_else(|| group.name.clone());
        out.push(one);
    }
    // A group without a list is about items of its own table.
    if list.is_empty() && (group.table_name.is_some() || !group.item.is_empty()) {
        let mut one = group.clone();
        one.action = fallback;
        one.member_of = Some(group.action);
        out.push(one);
    }
    out
}

fn bindings(node: &Node) -> Bindings {
    let mut bindings = Bindings::default();
    for entry in node.at(&["names", "ExpressionAttributeNames"]).entries() {
        bindings.names.extend(entry.value.text().map(|text| (entry.key.clone(), text)));
    }
    for entry in node.at(&["values", "ExpressionAttributeValues"]).entries() {
        bindings.values.extend(template(&entry.value).map(|value| (entry.key.clone(), value)));
    }
    bindings
}

/// A value as the API writes it (`{"S": "x"}`) or plain.
pub fn template(node: &Node) -> Option<Template> {
    match &node.kind {
        Kind::Text(text) => Some(Template::read(text)),
        Kind::Number(text) => Some(Template { is_number: true, ..Template::read(text) }),
        Kind::Bool(value) => Some(Template::read(&value.to_string())),
        Kind::Map(entries) => match entries.as_slice() {
            [only] if matches!(only.key.as_str(), "S" | "B") => template(&only.value),
            [only] if only.key == "N" => {
                template(&only.value).map(|value| Template { is_number: true, ..value })
            }
            [only] if only.key == "BOOL" => template(&only.value),
            _ => Some(Template::hole("")),
        },
        Kind::List(_) => Some(Template::hole("")),
        Kind::Null => None,
    }
}
