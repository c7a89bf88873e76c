//! `missing-tenant`: tenant data whose key does not start with the tenant.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::{Role, Table};
use crate::finding::{Findings, Severity};
use crate::fix::Draft;
use crate::vocabulary::{any_word, words};

pub static RULE: Rule = Rule {
    id: "missing-tenant",
    title: "tenant data whose key does not start with the tenant",
    why: "With the tenant in the partition key a read cannot leave the tenant, even when the application forgets to check. Outside the \
          key, isolation hangs on a filter that someone must remember.",
    bad: "CREATE TABLE cases (case_id uuid PRIMARY KEY, tenant_id uuid, title text);",
    good: "CREATE TABLE cases (tenant_id uuid, case_id uuid, title text, PRIMARY KEY ((tenant_id, case_id)));",
    check,
};

const TENANT: &[&str] = &["tenant", "org", "organization", "organisation", "workspace"];
/// Keys that are looked up to learn the tenant.
const LOOKUP: &[&str] = &[
    "email",
    "username",
    "login",
    "token",
    "domain",
    "slug",
    "phone",
    "hostname",
    "host",
    "subdomain",
    "session",
    "key",
    "hash",
    "user",
    "invitation",
    "invite",
    "tenant",
    "member",
];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, _) in context.tables() {
        if table.is_view() {
            continue;
        }
        let is_tenant = |name: &str| {
            let words = words(name);
            any_word(&words[..words.len().min(1)], TENANT)
                && (words.len() == 1
                    || matches!(
                        words.last().map(String::as_str),
                        Some("id" | "uuid" | "key" | "code" | "slug" | "name")
                    ))
        };
        let Some(tenant) = table.columns.iter().find(|c| is_tenant(&c.name)) else { continue };
        let leads = table.partition_columns().next().is_some_and(|c| c.name == tenant.name);
        if leads || is_lookup(table) {
            continue;
        }
        let inside = tenant.role == Role::Partition;
        let severity = if inside { Severity::Advice } else { Severity::Warning };
        let message = if inside {
            format!(
                "{} is in the partition key of {} but does not lead it: every reader must know to give it, and keys of one tenant do not look alike",
                tenant.name, table.name
            )
        } else {
            format!(
                "{} carries {} outside its partition key: 0 of its reads are confined to one tenant by the key, so isolation rests on a filter someone must not forget",
                table.name, tenant.name
            )
        };
        let mut partition = vec![tenant.name.clone()];
        partition
            .extend(table.partition_columns().map(|c| c.name.clone()).filter(|name| *name != tenant.name));
        let clustering = table
            .clustering
            .iter()
            .filter_map(|item| table.columns.get(item.column).map(|c| (c.name.clone(), item.descending)));
        let fix = Draft::of(table).keyed(partition, clustering.collect()).print();
        findings.push(on_table(&RULE, severity, table, partition_span(table)).say(message, fix));
    }
}

/// A table from which the tenant of something is learned.
fn is_lookup(table: &Table) -> bool {
    let natural = table.partition_columns().all(|c| any_word(&words(&c.name), LOOKUP));
    natural && table.partition.len() == 1
}
