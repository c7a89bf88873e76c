//! `missing-tenant`: tenant data whose key does not start with the tenant.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::{Column, Role, Table};
use crate::finding::{Findings, Severity};
use crate::vocabulary::any_word;

pub static RULE: Rule = Rule {
    id: "missing-tenant",
    title: "tenant data whose key does not start with the tenant",
    why: "With the tenant in the partition key a read cannot leave the tenant, even when the application forgets to check. Outside the \
          key, isolation hangs on a filter that someone must remember.",
    bad: "CREATE TABLE cases (case_id uuid PRIMARY KEY, tenant_id uuid, title text);",
    good: "CREATE TABLE cases (tenant_id uuid, case_id uuid, title text, PRIMARY KEY ((tenant_id, case_id)));",
    seen: "opdt/keycloak-cassandra-extension leads the key of users with the realm and looks users up by (realm, name, \
           value): no query can leave its realm.",
    check,
};

const TENANT: &[&str] = &["tenant", "org", "organization", "organisation", "workspace"];
/// What stands above an organization or a workspace.
const ABOVE: &[&str] = &["tenant", "company", "account", "customer", "realm", "enterprise", "corporation"];
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
        let Some(tenant) = tenant_column(table) else { continue };
        let leads = table.partition_columns().next().is_some_and(|c| c.name == tenant.name);
        // An organization of a company is no tenant: the company is.
        let within = table
            .partition_columns()
            .next()
            .is_some_and(|c| any_word(&c.words, ABOVE) && c.name != tenant.name);
        if leads || within || is_lookup(table) {
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
        findings.push(on_table(&RULE, severity, table, partition_span(table)).say(message, String::new()));
    }
}

/// The column that names the tenant.
pub fn tenant_column(table: &Table) -> Option<&Column> {
    let is_tenant = |c: &&Column| {
        any_word(&c.words[..c.words.len().min(1)], TENANT)
            && (c.words.len() == 1
                || matches!(
                    c.words.last().map(String::as_str),
                    Some("id" | "uuid" | "key" | "code" | "slug" | "name")
                ))
    };
    table.columns.iter().find(is_tenant)
}

/// A table from which the tenant of something is learned.
fn is_lookup(table: &Table) -> bool {
    let natural = table.partition_columns().all(|c| any_word(&c.words, LOOKUP));
    natural && table.partition.len() == 1
}
