//! BatchGetItem and BatchWriteItem.

use super::parameters::Forms;
use super::{BatchGetItem, BatchGetTable, BatchWrite, BatchWriteItem, BatchWriteTable, Context};
use super::{return_capacity, return_metrics};
use crate::error::ApiError;
use crate::json::Writer;
use crate::messages::{Layer, Rule};
use crate::shape::{Faults, Members, Node, table_name_faults, table_of};
use crate::size;
use crate::value::Item;
use std::borrow::Cow;
use std::collections::HashSet;

const KEYS_MAX: usize = 100;
const WRITES_MAX: usize = 25;
const GET: Forms = Forms {
    legacy: &["AttributesToGet"],
    expressions: &["ProjectionExpression"],
    with_values: &["ProjectionExpression"],
};

type Tables<'a> = Vec<(Cow<'a, str>, Node<'a>)>;

/// The keys of the map are tables: all names of a bad one's rules in one sentence.
fn table_names(tables: &Tables<'_>, faults: &mut Faults) {
    if tables.iter().any(|(name, _)| !table_name_faults(table_of(name)).is_empty()) {
        let names: Vec<String> = tables.iter().map(|(name, _)| format!("{name}=KeysAndAttributes")).collect();
        faults.broken(
            &format!("{{{}}}", names.join(", ")),
            "requestItems",
            "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have \
             length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]",
        );
    }
}

pub(super) fn get(context: &Context, mut members: Members<'_>) -> Result<BatchGetItem, ApiError> {
    let newer = context.layer == Layer::Newer;
    let tables = members.take_map("RequestItems");
    let mut faults = Faults::default();
    match &tables {
        None => faults.missing("requestItems"),
        Some(tables) if tables.is_empty() && newer => faults.push(
            "Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1".into(),
        ),
        Some(tables) if tables.is_empty() => {
            faults.broken("{}", "requestItems", "Member must have length greater than or equal to 1");
        }
        Some(tables) => get_faults(tables, newer, &mut faults),
    }
    faults.check(&members, crate::shape::input(context.operation), &["RequestItems"]);
    faults.finish()?;
    let tables = tables.unwrap_or_default();
    let total: usize = tables.iter().map(|(_, node)| keys_of(node).map_or(0, <[Node<'_>]>::len)).sum();
    if total > KEYS_MAX {
        return Err(Rule::BatchGetTooMany.refuse(&[]));
    }
    // Old and new parameters exclude each other across all tables of the request.
    let has = |name: &str| {
        tables.iter().any(|(_, node)| matches!(node, Node::Structure(entry) if entry.contains(name)))
    };
    if has("AttributesToGet") && has("ProjectionExpression") {
        let facts = ["{AttributesToGet}", "{ProjectionExpression}"];
        return Err(Rule::Mixing.refuse_in(context.layer, &facts));
    }
    let mut result = Vec::with_capacity(tables.len());
    for (name, node) in tables {
        let Node::Structure(entry) = node else { continue };
        result.push(get_table(context, name.into_owned(), entry)?);
    }
    Ok(BatchGetItem { tables: result, return_capacity: return_capacity(&members) })
}

fn keys_of<'n, 'a>(node: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    match node {
        Node::Structure(entry) => entry.list("Keys"),
        _ => None,
    }
}

fn get_faults(tables: &Tables<'_>, newer: bool, faults: &mut Faults) {
    table_names(tables, faults);
    for (name, node) in tables {
        let length = keys_of(node).map(<[Node<'_>]>::len);
        let (text, rule) = match length {
            None => {
                faults.missing(&format!("requestItems.{name}.member.keys"));
                continue;
            }
            Some(0) => ("[]", "Member must have length greater than or equal to 1"),
            Some(n) if n > KEYS_MAX => ("[…]", "Member must have length less than or equal to 100"),
            Some(_) => continue,
        };
        if newer {
            faults.push(format!(
                "Value at 'RequestItems.{name}.member.Keys' failed to satisfy constraint: {rule}"
            ));
        } else {
            faults.broken(text, &format!("requestItems.{name}.member.keys"), rule);
        }
    }
}

fn get_table(
    context: &Context,
    requested: String,
    mut entry: Members<'_>,
) -> Result<BatchGetTable, ApiError> {
    context.mixing(&entry, &GET)?;
    let echo = echo(&entry);
    let placeholders = context.placeholders(&mut entry, &GET)?;
    let mut keys = Vec::new();
    for node in entry.take_list("Keys").unwrap_or_default() {
        if let Node::Attributes(attributes) = node {
            keys.push(context.item(attributes)?);
        }
    }
    if has_duplicates(keys.iter()) {
        return Err(Rule::BatchDuplicateKeys.refuse(&[]));
    }
    let projection = context.projection(&entry, &placeholders)?;
    placeholders.check_used()?;
    Ok(BatchGetTable {
        table: table_of(&requested).to_string(),
        requested,
        keys,
        consistent: entry.boolean("ConsistentRead").unwrap_or(false),
        projection,
        echo,
    })
}

fn has_duplicates<'a>(keys: impl Iterator<Item = &'a Item>) -> bool {
    let mut seen = HashSet::new();
    keys.into_iter().any(|key| !seen.insert(key))
}

/// The members beside Keys, as `"name":value,…` without braces.
fn echo(entry: &Members<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Writer::object(&mut out);
    if let Some(list) = entry.list("AttributesToGet") {
        object.list("AttributesToGet", list, |node, out| {
            if let Node::Text(text) = node {
                crate::json::write_string(text, out);
            }
        });
    }
    if let Some(truth) = entry.boolean("ConsistentRead") {
        object.boolean("ConsistentRead", truth);
    }
    if let Some(text) = entry.text("ProjectionExpression") {
        object.string("ProjectionExpression", text);
    }
    if let Some(Node::Map(names)) = entry.get("ExpressionAttributeNames") {
        let mut inner = object.nested("ExpressionAttributeNames");
        for (key, node) in names {
            if let Node::Text(name) = node {
                inner.string(key, name);
            }
        }
        inner.end();
    }
    object.end();
    out.pop();
    out.remove(0);
    out
}

pub(super) fn write(context: &Context, mut members: Members<'_>) -> Result<BatchWriteItem, ApiError> {
    let Some(tables) = members.take_map("RequestItems") else {
        return Err(Rule::BatchWriteMissing.refuse(&[]));
    };
    let mut faults = Faults::default();
    if tables.is_empty() {
        faults.broken("{}", "requestItems", "Member must have length greater than or equal to 1");
    } else {
        table_names(&tables, &mut faults);
        let count = |node: &Node<'_>| if let Node::List(list) = node { list.len() } else { 0 };
        let total: usize = tables.iter().map(|(_, node)| count(node)).sum();
        if total > WRITES_MAX || tables.iter().any(|(_, node)| count(node) == 0) {
            let names: Vec<String> = tables.iter().map(|(name, _)| format!("{name}=[…]")).collect();
            faults.broken(
                &format!("{{{}}}", names.join(", ")),
                "requestItems",
                "Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must \
                 have length greater than or equal to 1]",
            );
        }
    }
    faults.check(&members, crate::shape::input(context.operation), &["RequestItems"]);
    faults.finish()?;
    let mut result = Vec::with_capacity(tables.len());
    for (name, node) in tables {
        let Node::List(list) = node else { continue };
        let writes = list.into_iter().map(|node| one_write(context, node)).collect::<Result<_, _>>()?;
        result.push(BatchWriteTable {
            table: table_of(&name).to_string(),
            requested: name.into_owned(),
            writes,
        });
    }
    Ok(BatchWriteItem {
        tables: result,
        return_capacity: return_capacity(&members),
        return_metrics: return_metrics(&members),
    })
}

fn one_write(context: &Context, node: Node<'_>) -> Result<BatchWrite, ApiError> {
    let Node::Structure(mut write) = node else { return Err(Rule::ValueTwoTypes.refuse(&[])) };
    match (write.take("PutRequest"), write.take("DeleteRequest")) {
        (Some(Node::Structure(mut put)), None) => {
            let Some(attributes) = put.take_attributes("Item") else {
                return Err(missing("requestItems.member.putRequest.item"));
            };
            let item = context.item(attributes)?;
            if size::item(&item) > size::ITEM_MAX {
                return Err(Rule::ItemSize.refuse(&[]));
            }
            Ok(BatchWrite::Put(item))
        }
        (None, Some(Node::Structure(mut delete))) => {
            let Some(attributes) = delete.take_attributes("Key") else {
                return Err(missing("requestItems.member.deleteRequest.key"));
            };
            Ok(BatchWrite::Delete(context.item(attributes)?))
        }
        _ => Err(Rule::ValueTwoTypes.refuse(&[])),
    }
}

fn missing(path: &str) -> ApiError {
    let mut faults = Faults::default();
    faults.missing(path);
    faults.finish().err().unwrap_or_else(|| Rule::ValueEmpty.refuse(&[]))
}
