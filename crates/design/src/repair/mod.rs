//! One repair per table: it answers all findings of the table together, says how to get there, and passes the review.
//!
//! Rules propose; what is printed is decided here. A new key is planned once from all that is wrong with the old one
//! ([`plan`]); tables that rules propose for single queries are kept. Each is reviewed alone and mended until nothing
//! speaks against it; what cannot be mended is not printed. Nothing here deletes data, changes a table in place or takes
//! a name that exists. What is no DDL of Cassandra (declarations, statements with bind markers) is printed as comments.

mod plan;
mod text;

use crate::catalogue::{Catalogue, Table};
use crate::entry::Target;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::rules;
use crate::source::SourceFile;
use cql_syntax::ast::{CreateTable, Statement};
use plan::Plan;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Rules that a new key answers.
const KEY_RULES: &[&str] = &[
    "constant-key",
    "low-cardinality-key",
    "time-only-key",
    "shattered-key",
    "unbounded-partition",
    "bucket-size",
    "hot-key",
    "no-tie-breaker",
    "missing-tenant",
    "queue-like",
    "wide-ttl-reads",
];
/// Rounds of review and mending before a table is given up.
const ROUNDS: usize = 4;

/// Gives every finding the repair of its table.
pub fn apply(catalogue: &Catalogue, facts: &[Facts], findings: &mut [Finding], target: Target) {
    let of_cql = |finding: &Finding| {
        catalogue.files.get(finding.place.file).is_none_or(|file| !crate::dynamo::is_dynamo(file))
    };
    let mut names: HashSet<String> = catalogue.tables.iter().map(|table| table.name.clone()).collect();
    let mut of_table: HashMap<(Option<&str>, &str), Vec<usize>> = HashMap::new();
    for (at, finding) in findings.iter().enumerate() {
        let Some(name) = finding.table.as_deref().filter(|_| of_cql(finding)) else { continue };
        let Some(table) = catalogue.find(finding.keyspace.as_deref(), name) else { continue };
        let table = &catalogue.tables[table];
        of_table.entry((table.keyspace.as_deref(), &table.name)).or_default().push(at);
    }
    let with_table: HashSet<usize> = of_table.values().flatten().copied().collect();
    for (table, facts) in catalogue.tables.iter().zip(facts) {
        let Some(mine) = of_table.remove(&(table.keyspace.as_deref(), table.name.as_str())) else { continue };
        // A table that has buckets of the server is on one that knows them.
        let target = if table.bucketing.is_some() { Target::Partita } else { target };
        let (loud, quiet): (Vec<usize>, Vec<usize>) =
            mine.into_iter().partition(|at| findings[*at].severity >= Severity::Warning);
        if !loud.is_empty() {
            let answered: Vec<&Finding> = loud.iter().map(|at| &findings[*at]).collect();
            let repair = repair(catalogue, (table, facts), &answered, &mut names, target);
            loud.iter().for_each(|at| findings[*at].fix.clone_from(&repair));
        }
        // Advice is no order: what one could do stands in comments.
        for at in quiet {
            let fix = repair(catalogue, (table, facts), &[&findings[at]], &mut names.clone(), target);
            findings[at].fix = text::commented(&fix);
        }
    }
    // Rules for DynamoDB print what they mean: there is no planning of tables.
    let rest = findings.iter_mut().enumerate().filter(|(at, f)| !with_table.contains(at) && of_cql(f));
    for (_, finding) in rest {
        finding.fix = text::commented(&finding.fix);
    }
}

fn repair(
    catalogue: &Catalogue,
    (table, facts): (&Table, &Facts),
    findings: &[&Finding],
    names: &mut HashSet<String>,
    target: Target,
) -> String {
    let rules: BTreeSet<&str> = findings.iter().map(|f| f.rule).filter(|r| KEY_RULES.contains(r)).collect();
    let mut plans: Vec<Plan> = Vec::new();
    let mut comments: Vec<String> = Vec::new();
    if !rules.is_empty() {
        let proposal = findings.iter().find(|f| matches!(f.rule, "shattered-key" | "bucket-size"));
        let start = proposal.and_then(|f| proposed(&f.fix).into_iter().next());
        let plan = Plan::of(table, facts, start, target).rekeyed(&rules);
        plans.extend(settled(plan));
    }
    for finding in findings.iter().filter(|f| !KEY_RULES.contains(&f.rule)) {
        for statement in cql_syntax::parse_script(&finding.fix).statements {
            match statement.statement {
                Statement::CreateTable(create) => {
                    plans.extend(settled(Plan::of(table, facts, Some(*create), target).parted(&rules)));
                }
                Statement::AlterTable(_) if finding.rule == "ungoverned-copy" => {
                    comments.push(format!("{};", statement.statement));
                }
                other => comments.push(text::commented(&format!("{other};"))),
            }
        }
        comments.extend(text::comments_of(&finding.fix));
    }
    let mut seen: HashSet<String> = HashSet::new();
    plans.retain(|plan| seen.insert(plan.key_text()));
    let created: Vec<Plan> = plans.into_iter().map(|plan| plan.fresh_name(table, names)).collect();
    comments.dedup();
    text::write(catalogue, table, &created, &comments, findings)
}

/// The tables that a rule proposes.
fn proposed(fix: &str) -> Vec<CreateTable> {
    let statements = cql_syntax::parse_script(fix).statements;
    statements
        .into_iter()
        .filter_map(|parsed| match parsed.statement {
            Statement::CreateTable(create) => Some(*create),
            _ => None,
        })
        .collect()
}

/// The plan when the review has nothing against it, mended as long as it has; none when that does not end.
fn settled(mut plan: Plan) -> Option<Plan> {
    for _ in 0..ROUNDS {
        let rules = objections(&plan.print());
        if rules.is_empty() {
            return Some(plan);
        }
        plan = plan.again(&rules);
    }
    None
}

/// What the review has against a table by itself.
fn objections(create: &str) -> BTreeSet<&'static str> {
    let catalogue = Catalogue::read(vec![SourceFile::new("repair", create)]);
    let facts: Vec<Facts> =
        catalogue.tables.iter().enumerate().map(|(at, table)| Facts::of(&catalogue, at, table)).collect();
    let findings = rules::findings(&catalogue, &facts);
    findings.into_iter().filter(|f| f.severity >= Severity::Warning).map(|f| f.rule).collect()
}
