//! `--act-as`: what other servers of CQL refuse, refused here as well, so that what works here works there.
//!
//! The rules are data, in one place ([`rules`]); the server asks them for every statement it binds, the review for every statement of a
//! file, and `docs/act-as.md` is made of them. What they know is in the statement; whether a column exists is not looked at.

mod rules;
mod walk;

pub use rules::{RULES, arithmetic};

use crate::finding::{Finding, Severity};
use crate::source::{Place, SourceFile};
use cql_syntax::ast::Statement;
use cql_syntax::{LineIndex, Span};
use std::fmt::Write;

/// The id of findings that come of a profile.
pub const RULE: &str = "act-as";

/// Whose refusals hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Apache Cassandra 4.1.
    Cassandra4,
    /// Apache Cassandra 5.0.
    Cassandra5,
    /// Amazon Keyspaces.
    Keyspaces,
    /// ScyllaDB.
    Scylla,
}

impl Profile {
    pub const ALL: [Profile; 4] =
        [Profile::Cassandra4, Profile::Cassandra5, Profile::Keyspaces, Profile::Scylla];

    /// As options name it.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Cassandra4 => "cassandra-4",
            Profile::Cassandra5 => "cassandra-5",
            Profile::Keyspaces => "keyspaces",
            Profile::Scylla => "scylla",
        }
    }

    pub fn named(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// The protocol's class of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Syntax,
    Invalid,
    Config,
}

/// Something that a statement may have and that some servers refuse.
pub struct Rule {
    pub id: &'static str,
    /// In a few words, for people.
    pub what: &'static str,
    /// Who refuses it, as what, and in which words; `{}` is what was found.
    pub refused: &'static [Refused],
    /// Looks for it.
    pub find: fn(&Statement) -> Option<Found>,
}

pub struct Refused {
    pub by: &'static [Profile],
    pub class: Class,
    pub words: &'static str,
}

/// What a rule found, and where.
pub struct Found {
    pub text: String,
    pub span: Option<Span>,
}

/// A statement is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub rule: &'static str,
    pub class: Class,
    pub span: Option<Span>,
    /// As the other server says it, as far as that is known; behind it why it is said here.
    pub text: String,
}

/// Whether this server would refuse the statement. `text` is what the statement was read from.
pub fn refused(profile: Profile, statement: &Statement, text: &str) -> Option<Refusal> {
    RULES.iter().find_map(|rule| {
        let refused = rule.refused.iter().find(|refused| refused.by.contains(&profile))?;
        let found = (rule.find)(statement)?;
        Some(refusal(profile, rule, refused, found, text))
    })
}

fn refusal(profile: Profile, rule: &Rule, refused: &Refused, found: Found, text: &str) -> Refusal {
    let mut words = refused.words.replace("{}", &found.text);
    if let (Class::Syntax, Some(span)) = (refused.class, found.span) {
        let at = LineIndex::new(text).position(text, span.start);
        // Lines from 1, columns from 0, as Cassandra's parser counts.
        words = format!("line {}:{} {words}", at.line, at.column.saturating_sub(1));
    }
    Refusal {
        rule: rule.id,
        class: refused.class,
        span: found.span,
        text: format!("{words} (refused because of --act-as {}: {})", profile.name(), rule.what),
    }
}

/// What a plan of a write turned out to do, which the words alone do not say.
pub fn refused_arithmetic(profile: Profile, column: &str, conditional: bool) -> Option<Refusal> {
    let rule = arithmetic();
    let refused = rule.refused.iter().find(|refused| refused.by.contains(&profile))?;
    if conditional && profile == Profile::Cassandra5 {
        return None;
    }
    let found = Found { text: column.to_string(), span: None };
    Some(refusal(profile, rule, refused, found, ""))
}

/// What a profile refuses in files.
pub fn findings(profile: Profile, files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in files.iter().enumerate() {
        let (text, _) = crate::catalogue::without_commands(&source.text);
        for parsed in cql_syntax::parse_script(&text).statements {
            let Some(refusal) = refused(profile, &parsed.statement, &text) else { continue };
            findings.push(Finding {
                rule: RULE,
                severity: Severity::Error,
                keyspace: None,
                table: None,
                pattern: None,
                place: Place { file, span: refusal.span.unwrap_or(parsed.span) },
                message: refusal.text,
                fix: format!(
                    "-- {} has nothing to put in its place; see docs/act-as.md, {}",
                    profile.name(),
                    refusal.rule
                ),
            });
        }
    }
    findings
}

/// The rules as a table in Markdown.
pub fn table() -> String {
    let mut out = String::from("| rule | what |");
    Profile::ALL.iter().for_each(|profile| {
        let _ = write!(out, " {} |", profile.name());
    });
    out.push_str("\n|---|---|---|---|---|---|\n");
    for rule in RULES.iter().chain([arithmetic()]) {
        let _ = write!(out, "| `{}` | {} |", rule.id, rule.what.replace('|', "\\|"));
        for profile in Profile::ALL {
            let refused = rule.refused.iter().find(|refused| refused.by.contains(&profile));
            let _ = match refused {
                Some(refused) => write!(
                    out,
                    " {:?}: {} |",
                    refused.class,
                    refused.words.replace("{}", "…").replace('|', "\\|")
                ),
                None => write!(out, " |"),
            };
        }
        out.push('\n');
    }
    out
}
