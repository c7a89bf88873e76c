//! A review as one self-contained HTML page: findings, a diagram per table, the access-pattern graph, growth curves.
//! No script, no outside resource; light and dark.

use super::{chart, diagram};
use crate::entry::Review;
use crate::finding::{Finding, Severity};
use crate::growth::HORIZONS;
use crate::units;
use std::fmt::Write;

/// The page.
pub fn write(review: &Review) -> String {
    let mut out = String::with_capacity(16_384);
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Partita review</title><style>{STYLE}</style></head><body><header><h1>Review before the first row</h1>"
    );
    summary(&mut out, review);
    out.push_str("</header><main>");
    findings(&mut out, review);
    if let Some(graph) = chart::patterns(review) {
        let _ = write!(
            out,
            "<section><h2>Access patterns</h2><p class=\"legend\"><span class=\"read\">reads</span> <span class=\"write\">writes</span></p>{graph}</section>"
        );
    }
    tables(&mut out, review);
    out.push_str("</main></body></html>\n");
    out
}

fn summary(out: &mut String, review: &Review) {
    let names: Vec<String> = review.catalogue.files.iter().map(|file| escape(&file.name)).collect();
    let _ = write!(out, "<p>{}</p><ul class=\"counts\">", names.join(", "));
    for (severity, word) in
        [(Severity::Error, "errors"), (Severity::Warning, "warnings"), (Severity::Advice, "advice")]
    {
        let _ = write!(out, "<li class=\"{severity}\"><b>{}</b> {word}</li>", review.count(severity));
    }
    let _ = write!(
        out,
        "<li><b>{}</b> tables</li><li><b>{}</b> access patterns</li>",
        review.catalogue.tables.len(),
        review.catalogue.accesses.iter().filter(|a| a.pattern.is_some()).count()
    );
    if !review.errors().is_empty() {
        let _ = write!(out, "<li class=\"error\"><b>{}</b> statements not read</li>", review.errors().len());
    }
    out.push_str("</ul>");
}

fn findings(out: &mut String, review: &Review) {
    out.push_str("<section><h2>Findings</h2>");
    for error in review.errors() {
        let _ = write!(
            out,
            "<article class=\"finding error\"><h3>not read <small>{}</small></h3><p>{}</p></article>",
            place(review, error.place),
            escape(&error.message)
        );
    }
    let mut sorted: Vec<&Finding> = review.findings.iter().collect();
    sorted.sort_by_key(|f| std::cmp::Reverse(f.severity));
    for finding in &sorted {
        finding_of(out, review, finding);
    }
    if sorted.is_empty() && review.errors().is_empty() {
        out.push_str("<p>Nothing to say: every declared pattern is served by its key.</p>");
    }
    out.push_str("</section>");
}

fn finding_of(out: &mut String, review: &Review, finding: &Finding) {
    let of = finding.pattern.as_deref().or(finding.table.as_deref()).unwrap_or("");
    let _ = write!(
        out,
        "<article class=\"finding {}\"><h3><span class=\"badge\">{}</span> {} <small>{} · {}</small></h3><p>{}</p>",
        finding.severity,
        finding.severity,
        finding.rule,
        escape(of),
        place(review, finding.place),
        escape(&finding.message)
    );
    if let Some(file) = review.catalogue.files.get(finding.place.file) {
        let line = file.line(file.position(finding.place.span.start).line);
        let marked = finding.place.span.text(&file.text).lines().next().unwrap_or("");
        let code = match line.split_once(marked).filter(|_| !marked.is_empty()) {
            Some((before, after)) => {
                format!("{}<mark>{}</mark>{}", escape(before), escape(marked), escape(after))
            }
            None => escape(line),
        };
        let _ = write!(out, "<pre>{code}</pre>");
    }
    if !finding.fix.is_empty() {
        let _ =
            write!(out, "<details><summary>Repair</summary><pre>{}</pre></details>", escape(&finding.fix));
    }
    out.push_str("</article>");
}

fn tables(out: &mut String, review: &Review) {
    out.push_str("<section><h2>Tables</h2><div class=\"tables\">");
    for (table, facts) in review.catalogue.tables.iter().zip(&review.facts) {
        out.push_str("<article class=\"one-table\">");
        out.push_str(&diagram::write(table));
        let growth = &facts.growth;
        if growth.is_declared || growth.rows_per_day[2] > 0.0 {
            let kind = if growth.is_declared { "declared" } else { "assumed, nothing is declared" };
            let _ = write!(
                out,
                "<p class=\"legend\">one partition ({kind}), {} a row: ",
                units::bytes(growth.row_bytes)
            );
            out.push_str("<span class=\"typical\">typical</span> <span class=\"p99\">p99</span> <span class=\"worst\">worst</span></p>");
            out.push_str(&chart::growth(growth));
            out.push_str("<table class=\"horizons\"><tr>");
            for (label, _) in HORIZONS {
                let _ = write!(out, "<th>{label}</th>");
            }
            out.push_str("</tr><tr>");
            for (_, days) in HORIZONS {
                let _ = write!(out, "<td>{}</td>", units::bytes(growth.bytes_at(2, days)));
            }
            out.push_str("</tr></table>");
            if let Some(day) = growth.breach_day() {
                let _ = write!(
                    out,
                    "<p>Passes 100 MB after {}; a bucket of one {} would hold it.</p>",
                    units::days(day),
                    growth.bucket_advice().word()
                );
            }
        }
        out.push_str("</article>");
    }
    out.push_str("</div></section>");
}

fn place(review: &Review, place: crate::source::Place) -> String {
    let Some(file) = review.catalogue.files.get(place.file) else { return String::new() };
    let position = file.position(place.span.start);
    format!("{}:{}:{}", escape(&file.name), position.line, position.column)
}

/// Text for HTML content and attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = include_str!("page.css");
