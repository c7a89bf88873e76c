//! `missing-tenant-prefix`: one kind of item without the tenant that all others carry in their key.

use super::{Rule, on_operation, views};
use crate::dynamo::facts::Entity;
use crate::dynamo::fix;
use crate::finding::{Findings, Severity};
use crate::lexicon::TENANT_LIKE;
use crate::rules::Context;
use crate::vocabulary::{any_word, words};

pub static RULE: Rule = Rule {
    id: "missing-tenant-prefix",
    title: "one kind of item lacks the tenant that the others carry in their hash key",
    why: "Where the hash key begins with the tenant, access can be limited to it by policy (LeadingKeys) and one tenant's items can be found and \
          removed. A kind of item without it is outside: two tenants' items meet under one key, and a policy by prefix does not hold.",
    bad: r##"{"tables": [{"table": "saas", "hash": "PK", "range": "SK"}],
 "operations": [{"op": "PutItem", "table": "saas", "item": {"PK": "TENANT#<tenant_id>", "SK": "USER#<user_id>"}},
  {"op": "PutItem", "table": "saas", "item": {"PK": "TENANT#<tenant_id>#PROJECT#<project_id>", "SK": "META"}},
  {"op": "PutItem", "table": "saas", "item": {"PK": "INVOICE#<number>", "SK": "LINE#<line_id>"}}]}"##,
    good: r##"{"tables": [{"table": "saas", "hash": "PK", "range": "SK"}],
 "operations": [{"op": "PutItem", "table": "saas", "item": {"PK": "TENANT#<tenant_id>", "SK": "USER#<user_id>"}},
  {"op": "PutItem", "table": "saas", "item": {"PK": "TENANT#<tenant_id>#PROJECT#<project_id>", "SK": "META"}},
  {"op": "PutItem", "table": "saas", "item": {"PK": "TENANT#<tenant_id>#INVOICE#<number>", "SK": "LINE#<line_id>"}}]}"##,
    seen: super::seen::TENANT,
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let entities = view.entities();
        let (with, without): (Vec<&Entity<'_>>, Vec<&Entity<'_>>) = entities
            .iter()
            .filter(|e| {
                e.operation.is_some() && e.hash.is_some_and(|h| !h.is_constant() && !h.prefix().is_empty())
            })
            .partition(|e| has_tenant(e));
        if with.len() < 2 || without.is_empty() || with.len() <= without.len() {
            continue;
        }
        // The tenant must be the first part with all others: then it is a rule of the table, not one kind of item among many.
        let leading = with
            .iter()
            .filter(|e| {
                e.hash
                    .and_then(|h| h.holes().next())
                    .is_some_and(|first| any_word(&words(first), TENANT_LIKE))
            })
            .count();
        if leading < 2 {
            continue;
        }
        for entity in without {
            let (Some(operation), Some(hash)) = (entity.operation, entity.hash) else { continue };
            // A user or an email is the same in all tenants, and is looked up before the tenant is known.
            let first = words(hash.prefix());
            if any_word(
                &first,
                &[
                    "user",
                    "email",
                    "tenant",
                    "org",
                    "organization",
                    "account",
                    "domain",
                    "session",
                    "token",
                    "invite",
                    "key",
                    "api",
                    "lookup",
                    "login",
                    "auth",
                    "connection",
                ],
            ) {
                continue;
            }
            let message = format!(
                "{} writes {} without the tenant that {} other kinds of items begin with: two tenants' items meet under one key",
                operation.title(),
                hash.text,
                with.len()
            );
            let tenant = with.first().and_then(|e| e.hash).map_or("TENANT#<tenant_id>", |h| {
                h.text
                    .split('#')
                    .take(2)
                    .map(str::len)
                    .sum::<usize>()
                    .checked_add(1)
                    .and_then(|end| h.text.get(..end))
                    .unwrap_or("TENANT#<tenant_id>")
            });
            let lines = [format!(
                "{} = \"{tenant}#{}\"; copy existing items under the new key before the readers move over.",
                view.table.hash.name, hash.text
            )];
            findings.push(
                on_operation(&RULE, Severity::Warning, &view, operation, None)
                    .say(message, fix::said(&lines)),
            );
        }
    }
}

fn has_tenant(entity: &Entity<'_>) -> bool {
    let of =
        |t: &crate::dynamo::template::Template| t.holes().any(|hole| any_word(&words(hole), TENANT_LIKE));
    entity.hash.is_some_and(of) || entity.range.is_some_and(of)
}
