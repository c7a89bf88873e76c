//! The open documents, and what the review says of them.

use super::position;
use design::output::{edit, explain};
use design::{Finding, Review, Severity, Target};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// More open documents than this are not kept: an editor has tabs, not thousands.
const DOCUMENTS_MAX: usize = 1_000;

#[derive(Default)]
pub struct Documents {
    /// By their URI.
    texts: BTreeMap<String, String>,
    target: Target,
}

/// Everything before the last slash.
fn folder(uri: &str) -> &str {
    uri.rfind('/').map_or("", |at| &uri[..at])
}

impl Documents {
    /// No documents; their repairs are for this kind of server.
    pub fn for_target(target: Target) -> Documents {
        Documents { target, ..Documents::default() }
    }

    /// Diagnostics of every document that the opened one may touch.
    pub fn open(&mut self, params: &Value) -> Vec<Value> {
        let document = &params["textDocument"];
        self.set(document["uri"].as_str(), document["text"].as_str())
    }

    pub fn change(&mut self, params: &Value) -> Vec<Value> {
        let last = params["contentChanges"].as_array().and_then(|changes| changes.last());
        self.set(params["textDocument"]["uri"].as_str(), last.and_then(|change| change["text"].as_str()))
    }

    pub fn close(&mut self, params: &Value) -> Vec<Value> {
        let Some(uri) = params["textDocument"]["uri"].as_str() else { return Vec::new() };
        self.texts.remove(uri);
        let mut out = vec![json!({"uri": uri, "diagnostics": []})];
        out.extend(self.diagnostics(uri));
        out
    }

    fn set(&mut self, uri: Option<&str>, text: Option<&str>) -> Vec<Value> {
        let (Some(uri), Some(text)) = (uri, text) else { return Vec::new() };
        if !self.texts.contains_key(uri) && self.texts.len() >= DOCUMENTS_MAX {
            return Vec::new();
        }
        self.texts.insert(uri.to_string(), text.to_string());
        self.diagnostics(uri)
    }

    /// The review of a document and of its open neighbours, with their URIs in order.
    fn review(&self, uri: &str) -> (Vec<&str>, Review) {
        let near: Vec<(&str, &str)> = self
            .texts
            .iter()
            .filter(|(other, _)| folder(other) == folder(uri))
            .map(|(uri, text)| (uri.as_str(), text.as_str()))
            .collect();
        let uris = near.iter().map(|(uri, _)| *uri).collect();
        (uris, design::review_for(self.target, near))
    }

    fn diagnostics(&self, uri: &str) -> Vec<Value> {
        let (uris, review) = self.review(uri);
        let mut of_file: Vec<Vec<Value>> = uris.iter().map(|_| Vec::new()).collect();
        for finding in &review.findings {
            let place = finding.place;
            let (Some(list), Some(file)) =
                (of_file.get_mut(place.file), review.catalogue.files.get(place.file))
            else {
                continue;
            };
            list.push(json!({
                "range": position::range(&file.text, place.span.start, place.span.end),
                "severity": severity(finding.severity),
                "code": finding.rule,
                "source": "partita",
                "message": finding.message,
            }));
        }
        for error in review.errors() {
            let place = error.place;
            let (Some(list), Some(file)) =
                (of_file.get_mut(place.file), review.catalogue.files.get(place.file))
            else {
                continue;
            };
            list.push(json!({
                "range": position::range(&file.text, place.span.start, place.span.end),
                "severity": 1,
                "source": "partita",
                "message": error.message,
            }));
        }
        uris.iter()
            .zip(of_file)
            .map(|(uri, diagnostics)| json!({"uri": uri, "diagnostics": diagnostics}))
            .collect()
    }

    /// The lesson of the rule whose finding stands here, with its repair.
    pub fn hover(&self, params: &Value) -> Value {
        let Some(uri) = params["textDocument"]["uri"].as_str() else { return Value::Null };
        let Some(text) = self.texts.get(uri) else { return Value::Null };
        let at = position::offset(text, &params["position"]);
        let (uris, review) = self.review(uri);
        let here: Vec<&Finding> = found(&uris, &review, uri, at, at);
        let Some(first) = here.first() else { return Value::Null };
        let mut shown: Vec<String> = Vec::new();
        for finding in &here {
            let lesson = explain::rule(finding.rule).unwrap_or_default();
            let repair = if finding.fix.is_empty() {
                String::new()
            } else {
                format!("\n\nRepair:\n\n```\n{}\n```", finding.fix)
            };
            shown.push(format!(
                "**{}**: {}{repair}\n\n```\n{}\n```",
                finding.rule,
                finding.message,
                lesson.trim_end()
            ));
        }
        let span = first.place.span;
        json!({
            "contents": {"kind": "markdown", "value": shown.join("\n\n---\n\n")},
            "range": position::range(text, span.start, span.end),
        })
    }

    /// Repairs, and comments that allow a finding, as edits.
    pub fn actions(&self, params: &Value) -> Value {
        let Some(uri) = params["textDocument"]["uri"].as_str() else { return json!([]) };
        let Some(text) = self.texts.get(uri) else { return json!([]) };
        let start = position::offset(text, &params["range"]["start"]);
        let end = position::offset(text, &params["range"]["end"]);
        let (uris, review) = self.review(uri);
        let mut actions: Vec<Value> = Vec::new();
        for finding in found(&uris, &review, uri, start, end) {
            let repair = edit::repair(&review, finding).map(|edit| (edit, true));
            let allow = edit::allow(&review, finding).map(|edit| (edit, false));
            for (edit, is_preferred) in repair.into_iter().chain(allow) {
                let change = json!({"range": position::range(text, edit.span.start, edit.span.end), "newText": edit.text});
                let span = finding.place.span;
                actions.push(json!({
                    "title": edit.title,
                    "kind": "quickfix",
                    "isPreferred": is_preferred,
                    "diagnostics": [{
                        "range": position::range(text, span.start, span.end),
                        "severity": severity(finding.severity),
                        "code": finding.rule,
                        "source": "partita",
                        "message": finding.message,
                    }],
                    "edit": {"changes": {uri: [change]}},
                }));
            }
        }
        Value::Array(actions)
    }
}

/// Findings of a document that touch a range.
fn found<'r>(uris: &[&str], review: &'r Review, uri: &str, start: u32, end: u32) -> Vec<&'r Finding> {
    let file = uris.iter().position(|known| *known == uri);
    let touches =
        |f: &&Finding| Some(f.place.file) == file && f.place.span.start <= end && start <= f.place.span.end;
    review.findings.iter().filter(touches).collect()
}

fn severity(severity: Severity) -> u32 {
    match severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Advice => 3,
    }
}
