//! `lost-update`: a value that was read is changed and written back without a condition.

use super::{Rule, on_operation, views};
use crate::dynamo::expression::ChangeKind;
use crate::dynamo::facts::View;
use crate::dynamo::{Action, Operation, fix};
use crate::finding::{Findings, Severity};
use crate::rules::Context;
use crate::vocabulary::{any_word, words};

pub static RULE: Rule = Rule {
    id: "lost-update",
    title: "a value computed from what was read, written back without a condition",
    why: "Between a read and the write that follows somebody else may write: the later write silently undoes the earlier. Let the server compute \
          (`SET stock = stock - :n`) under a condition (`stock >= :n`), or write back only if the version is still the one that was read.",
    bad: r#"{"tables": [{"table": "products", "hash": "product_id"}],
 "operations": [{"op": "GetItem", "table": "products", "key": {"product_id": "<product_id>"}},
  {"op": "UpdateItem", "table": "products", "after": "GetItem", "key": {"product_id": "<product_id>"}, "update": "SET stock = :stock"}]}"#,
    good: r#"{"tables": [{"table": "products", "hash": "product_id"}],
 "operations": [{"op": "UpdateItem", "table": "products", "key": {"product_id": "<product_id>"}, "update": "SET stock = stock - :n", "condition": "stock >= :n"}]}"#,
    seen: super::seen::UPDATE,
    check,
};

/// What must not go below zero.
const SCARCE: &[&str] = &[
    "stock",
    "seat",
    "inventory",
    "balance",
    "ticket",
    "credit",
    "remaining",
    "available",
    "availability",
    "quota",
    "capacity",
];
/// What is counted: a value that the server could compute.
const COUNTED: &[&str] = &[
    "count", "counter", "total", "views", "likes", "votes", "points", "score", "quantity", "hits", "number",
];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        for operation in view.writes().filter(|o| o.condition.is_none()) {
            let Some((severity, attribute, message)) = judged(&view, operation) else { continue };
            let span = operation.update.as_ref().map(|u| u.span);
            findings.push(
                on_operation(&RULE, severity, &view, operation, span)
                    .say(message, repaired(&view, operation, attribute)),
            );
        }
    }
}

fn judged<'o>(view: &View<'_>, operation: &'o Operation) -> Option<(Severity, &'o str, String)> {
    let scarce = |name: &str| any_word(&words(name), SCARCE);
    let counted = |name: &str| any_word(&words(name), COUNTED);
    if let Some(change) =
        operation.changes().iter().find(|c| c.kind == ChangeKind::Decrement && scarce(&c.attribute))
    {
        let message = format!(
            "{} takes from {} without asking whether enough is left: two at once bring it below zero",
            operation.title(),
            change.attribute
        );
        return Some((Severity::Error, &change.attribute, message));
    }
    let set = operation
        .changes()
        .iter()
        .find(|c| c.kind == ChangeKind::Set && (scarce(&c.attribute) || counted(&c.attribute)));
    let computed = operation
        .item
        .iter()
        .find(|(_, value)| value.holes().any(|hole| hole.contains('+') || hole.contains(" - ")));
    if operation.after_read {
        let attribute = set
            .map(|c| c.attribute.as_str())
            .or_else(|| computed.map(|(name, _)| name.as_str()))
            .unwrap_or("");
        let what = if attribute.is_empty() { "the item".to_string() } else { attribute.to_string() };
        let message = format!(
            "{} writes back {what} as it was computed from a read, without a condition: a write between the two is undone",
            operation.title()
        );
        return Some((Severity::Error, attribute, message));
    }
    if let Some((name, _)) = computed {
        let message = format!(
            "{} writes {name} as it was computed from a read, without a condition: a write between the two is undone",
            operation.title()
        );
        return Some((Severity::Error, name, message));
    }
    let reads = view.reads().any(|o| o.action == Action::Get);
    let change =
        set.filter(|c| reads && scarce(&c.attribute) && c.value.as_ref().is_none_or(|v| !v.is_constant()))?;
    let message = format!(
        "{} sets {} without a condition, and the table is read item by item: if the value was computed from a read, a write between the two is undone",
        operation.title(),
        change.attribute
    );
    Some((Severity::Warning, &change.attribute, message))
}

fn repaired(view: &View<'_>, operation: &Operation, attribute: &str) -> String {
    let table = view.table;
    let mut body = serde_json::json!({"op": "UpdateItem", "table": table.name, "key": {}});
    for key in table.keys() {
        let value = operation.given(&key.name).map_or_else(|| format!("<{}>", key.name), |t| t.text.clone());
        body["key"][&key.name] = serde_json::json!(value);
    }
    let counts = !attribute.is_empty()
        && (any_word(&words(attribute), SCARCE) || any_word(&words(attribute), COUNTED));
    if counts && any_word(&words(attribute), SCARCE) {
        body["update"] = serde_json::json!(format!("SET {attribute} = {attribute} - :n"));
        body["condition"] = serde_json::json!(format!("{attribute} >= :n"));
    } else if counts {
        body["update"] = serde_json::json!(format!("ADD {attribute} :n"));
    } else {
        let old = operation.update.as_ref().map_or("SET body = :body", |u| u.text.as_str());
        let text = if old.to_ascii_uppercase().contains("SET ") {
            format!("{old}, version = :next")
        } else {
            old.to_string()
        };
        body["update"] = serde_json::json!(text);
        body["condition"] = serde_json::json!("attribute_not_exists(version) OR version = :read");
    }
    fix::operation(
        &["In its place; on ConditionalCheckFailedException read again and decide again:".to_string()],
        &body,
    )
}
