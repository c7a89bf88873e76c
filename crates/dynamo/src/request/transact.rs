//! TransactGetItems and TransactWriteItems.

use super::parameters::Forms;
use super::{Context, TransactAction, TransactGet, TransactGetItems, TransactWrite, TransactWriteItems};
use super::{item_on_failure, return_capacity, return_metrics, table};
use crate::error::ApiError;
use crate::expression::{self, ExpressionKind};
use crate::messages::Rule;
use crate::shape::{Members, Node};
use crate::size;
use crate::value::Item;
use std::hash::{Hash, Hasher};

const CONDITION: Forms =
    Forms { legacy: &[], expressions: &["ConditionExpression"], with_values: &["ConditionExpression"] };
const UPDATE: Forms = Forms {
    legacy: &[],
    expressions: &["UpdateExpression", "ConditionExpression"],
    with_values: &["UpdateExpression", "ConditionExpression"],
};
const GET: Forms =
    Forms { legacy: &[], expressions: &["ProjectionExpression"], with_values: &["ProjectionExpression"] };
/// All items and keys of one transaction.
const BYTES_MAX: usize = 4 * 1024 * 1024;

pub(super) fn get(context: &Context, mut members: Members<'_>) -> Result<TransactGetItems, ApiError> {
    context.constraints(&members, &[])?;
    let mut gets = Vec::new();
    for node in members.take_list("TransactItems").unwrap_or_default() {
        let Node::Structure(mut entry) = node else { continue };
        let Some(Node::Structure(mut get)) = entry.take("Get") else { continue };
        let placeholders = context.placeholders(&mut get, &GET)?;
        let key = context.item(get.take_attributes("Key").unwrap_or_default())?;
        let projection = context.projection(&get, &placeholders)?;
        placeholders.check_used()?;
        gets.push(TransactGet { table: table(&get), key, projection });
    }
    Ok(TransactGetItems { gets, return_capacity: return_capacity(&members) })
}

const ACTIONS: [&str; 4] = ["ConditionCheck", "Put", "Delete", "Update"];

pub(super) fn write(context: &Context, mut members: Members<'_>) -> Result<TransactWriteItems, ApiError> {
    context.constraints(&members, &[])?;
    let list = members.take_list("TransactItems").unwrap_or_default();
    for node in &list {
        let Node::Structure(entry) = node else { continue };
        match ACTIONS.iter().filter(|name| entry.contains(name)).count() {
            1 => {}
            0 => return Err(Rule::TransactNoAction.refuse(&[])),
            _ => return Err(Rule::TransactTwoActions.refuse(&[])),
        }
    }
    let mut actions = Vec::with_capacity(list.len());
    for node in list {
        let Node::Structure(mut entry) = node else { continue };
        for name in ACTIONS {
            if let Some(Node::Structure(action)) = entry.take(name) {
                actions.push(one_action(context, name, action)?);
            }
        }
    }
    let bytes: usize = actions.iter().map(|action| size::item(action.write.attributes())).sum();
    if bytes > BYTES_MAX {
        return Err(Rule::TransactTooLarge.refuse(&[&bytes.to_string()]));
    }
    let digest = digest(&actions);
    Ok(TransactWriteItems {
        actions,
        token: members.take_text("ClientRequestToken"),
        return_capacity: return_capacity(&members),
        return_metrics: return_metrics(&members),
        digest,
    })
}

fn one_action(context: &Context, name: &str, mut action: Members<'_>) -> Result<TransactAction, ApiError> {
    let forms = if name == "Update" { &UPDATE } else { &CONDITION };
    let item = match name {
        "Put" => Some(context.item(action.take_attributes("Item").unwrap_or_default())?),
        _ => None,
    };
    let placeholders = context.placeholders(&mut action, forms)?;
    let key = match name {
        "Put" => Item::new(),
        _ => context.item(action.take_attributes("Key").unwrap_or_default())?,
    };
    let update = match action.text("UpdateExpression") {
        Some(text) => Some(expression::update(text, &placeholders, context.layer)?),
        None => None,
    };
    let text = action.text("ConditionExpression");
    let condition = context.condition(ExpressionKind::Condition, text, &placeholders)?;
    placeholders.check_used()?;
    let write = match (name, item) {
        ("Put", Some(item)) => {
            if size::item(&item) > size::ITEM_MAX {
                return Err(Rule::ItemSize.refuse(&[]));
            }
            TransactWrite::Put { item }
        }
        ("Update", _) => TransactWrite::Update { key, update: update.unwrap_or_default() },
        ("Delete", _) => TransactWrite::Delete { key },
        _ => TransactWrite::Check { key },
    };
    Ok(TransactAction { table: table(&action), condition, item_on_failure: item_on_failure(&action), write })
}

impl TransactWrite {
    /// The item that is put, or the key.
    pub fn attributes(&self) -> &Item {
        match self {
            TransactWrite::Put { item } => item,
            TransactWrite::Check { key }
            | TransactWrite::Update { key, .. }
            | TransactWrite::Delete { key } => key,
        }
    }
}

/// Two requests with one token are the same if their actions are.
pub(super) fn digest(actions: &impl Hash) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3Default::new();
    actions.hash(&mut hasher);
    hasher.finish()
}
