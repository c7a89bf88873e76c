//! The entry points: texts in, findings out.

use crate::act_as::{self, Profile};
use crate::catalogue::Catalogue;
use crate::facts::Facts;
use crate::finding::{Finding, ReadError, Severity};
use crate::repair;
use crate::rules;
use crate::source::SourceFile;
use crate::suppress;

/// The result of a review, with all that is needed to print it.
#[derive(Debug)]
pub struct Review {
    pub catalogue: Catalogue,
    /// One per table of the catalogue.
    pub facts: Vec<Facts>,
    /// In order of place.
    pub findings: Vec<Finding>,
}

impl Review {
    pub fn errors(&self) -> &[ReadError] {
        &self.catalogue.errors
    }

    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity).count()
    }

    /// Tables of both dialects.
    pub fn table_count(&self) -> usize {
        self.catalogue.tables.len() + self.catalogue.dynamo.tables.len()
    }

    /// Access patterns of CQL and operations on DynamoDB.
    pub fn pattern_count(&self) -> usize {
        let patterns = self.catalogue.accesses.iter().filter(|a| a.pattern.is_some()).count();
        let operations = self.catalogue.dynamo.operations.iter().filter(|o| o.member_of.is_none()).count();
        patterns + operations
    }

    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }
}

/// Where repairs are to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Target {
    /// Any server that speaks CQL: buckets are columns, which the application computes and asks for one by one.
    #[default]
    Cassandra,
    /// Partita: buckets are a clause of the table, and statements stay as they are.
    Partita,
}

/// Reviews files of CQL and of DynamoDB, given as name and text. Repairs run anywhere.
pub fn review<N: Into<String>, T: Into<String>>(files: impl IntoIterator<Item = (N, T)>) -> Review {
    review_for(Target::default(), files)
}

/// Reviews files, with repairs for one kind of server.
pub fn review_for<N: Into<String>, T: Into<String>>(
    target: Target,
    files: impl IntoIterator<Item = (N, T)>,
) -> Review {
    review_as(target, None, files)
}

/// The same, with what another server would refuse.
pub fn review_as<N: Into<String>, T: Into<String>>(
    target: Target,
    profile: Option<Profile>,
    files: impl IntoIterator<Item = (N, T)>,
) -> Review {
    let files = files.into_iter().map(|(name, text)| SourceFile::new(name, text)).collect();
    review_catalogue(Catalogue::read(files), target, profile)
}

/// Reviews what has been read.
fn review_catalogue(catalogue: Catalogue, target: Target, profile: Option<Profile>) -> Review {
    let facts: Vec<Facts> =
        catalogue.tables.iter().enumerate().map(|(at, table)| Facts::of(&catalogue, at, table)).collect();
    let mut findings = rules::findings(&catalogue, &facts);
    if let Some(profile) = profile {
        findings.extend(act_as::findings(profile, &catalogue.files));
    }
    let mut findings = suppress::apply(&catalogue, findings);
    repair::apply(&catalogue, &facts, &mut findings, target);
    findings.sort_by_key(|f| (f.place.file, f.place.span.start, std::cmp::Reverse(f.severity)));
    Review { catalogue, facts, findings }
}

/// Reviews one DDL statement: `known` holds the statements that exist already (tables it refers to, access patterns),
/// and only findings in `statement` are returned. No I/O.
pub fn review_statement(keyspace: Option<&str>, statement: &str, known: &[&str]) -> Vec<Finding> {
    let mut before = script(keyspace, known);
    let start = before.len() as u32;
    before.push_str(statement);
    let review = review([("statement", before)]);
    review.findings.into_iter().filter(|f| f.place.span.start >= start).collect()
}

/// Reviews the schema that these statements make, as our server keeps them; it can run its own clauses. No I/O.
pub fn review_statements(keyspace: Option<&str>, statements: &[&str]) -> Vec<Finding> {
    review_for(Target::Partita, [("statements", script(keyspace, statements))]).findings
}

/// The statements one after another, in a keyspace.
fn script(keyspace: Option<&str>, statements: &[&str]) -> String {
    let mut script = String::new();
    if let Some(keyspace) = keyspace {
        script.push_str(&format!("USE {};\n", cql_syntax::maybe_quote(keyspace)));
    }
    for text in statements {
        script.push_str(text.trim_end().trim_end_matches(';'));
        // On a line of its own: the statement may end in a comment.
        script.push_str("\n;\n");
    }
    script
}

/// Findings as short texts for a CQL response: `rule: message`. Advice is left out: a driver logs every warning.
pub fn warnings(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .filter(|f| f.severity >= Severity::Warning)
        .map(|f| format!("review {} ({}): {}", f.severity, f.rule, f.message))
        .collect()
}
