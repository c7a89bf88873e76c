//! `needless-transaction`: a transaction or a batch around one item.

use super::{Rule, views};
use crate::dynamo::{Action, fix};
use crate::finding::{Finding, Findings, Severity};
use crate::rules::Context;

pub static RULE: Rule = Rule {
    id: "needless-transaction",
    title: "a transaction around one item: twice the price for what one operation does",
    why: "A single PutItem, UpdateItem or DeleteItem is atomic by itself and takes a condition. A transaction writes twice (prepare, commit), costs double, \
          and fails when anything else touches the item meanwhile.",
    bad: r#"{"tables": [{"table": "accounts", "hash": "account_id"}],
 "operations": [{"op": "TransactWriteItems", "items": [
  {"op": "UpdateItem", "table": "accounts", "key": {"account_id": "<account_id>"}, "update": "SET balance = balance - :n", "condition": "balance >= :n"}]}]}"#,
    good: r#"{"tables": [{"table": "accounts", "hash": "account_id"}],
 "operations": [{"op": "UpdateItem", "table": "accounts", "key": {"account_id": "<account_id>"}, "update": "SET balance = balance - :n", "condition": "balance >= :n"}]}"#,
    seen: super::seen::TRANSACTION,
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        for operation in view.operations.iter().filter(|o| o.member_count == 1) {
            let Some(group) = operation.member_of else { continue };
            let (severity, message) = match group {
                Action::TransactWrite | Action::TransactGet => (
                    Severity::Warning,
                    format!(
                        "{} holds one {}: the operation alone is as atomic, at half the price; unless more items join it",
                        group.name(),
                        operation.action.name()
                    ),
                ),
                _ => continue,
            };
            let lines = [format!("{} with the same key and condition.", operation.action.name())];
            let finding: Finding = super::on_operation(&RULE, severity, &view, operation, None);
            findings.push(finding.say(message, fix::said(&lines)));
        }
    }
}
