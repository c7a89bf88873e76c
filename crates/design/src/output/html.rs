//! A review as one self-contained HTML page: findings, a diagram per table, the access-pattern graph, growth curves.
//! No script, no outside resource; light and dark.

use super::{chart, diagram};
use crate::entry::Review;
use crate::finding::{Finding, Severity};
use crate::growth::{HORIZONS, PARTITION_BYTES_MAX};
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
            "<section id=\"patterns\"><h2>Access patterns</h2><p class=\"legend\"><span class=\"read\">reads</span> and <span class=\"write\">writes</span>, \
             and the tables that answer them; outlined where the review found something</p><div class=\"scroll\">{graph}</div></section>"
        );
    }
    tables(&mut out, review);
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(
        out,
        "</main><footer>partita {version} · <code>partita review --explain RULE</code> teaches a rule · \
         K partition or hash key, C clustering or sort key with its direction, S static, ++ counter</footer></body></html>"
    );
    out
}

fn summary(out: &mut String, review: &Review) {
    let names: Vec<String> = review.catalogue.files.iter().map(|file| escape(&file.name)).collect();
    let (errors, warnings) =
        (review.count(Severity::Error) + review.errors().len(), review.count(Severity::Warning));
    let (class, verdict) = match (errors, warnings) {
        (0, 0) => ("ok", "Ready for the first row."),
        (0, _) => ("warning", "No error. Settle the warnings before the first row."),
        _ => ("error", "Not ready for the first row."),
    };
    let _ = write!(
        out,
        "<p class=\"verdict {class}\">{verdict}</p><p class=\"files\">{}</p><ul class=\"counts\">",
        names.join(", ")
    );
    for (severity, one, many) in [
        (Severity::Error, "error", "errors"),
        (Severity::Warning, "warning", "warnings"),
        (Severity::Advice, "advice", "advice"),
    ] {
        let count = review.count(severity);
        tile(out, severity.name(), count, if count == 1 { one } else { many });
    }
    if !review.errors().is_empty() {
        let count = review.errors().len();
        tile(out, "error", count, if count == 1 { "statement not read" } else { "statements not read" });
    }
    let tables = review.table_count();
    tile(out, "", tables, if tables == 1 { "table" } else { "tables" });
    let patterns = review.pattern_count();
    tile(out, "", patterns, if patterns == 1 { "access pattern" } else { "access patterns" });
    out.push_str("</ul>");
}

fn tile(out: &mut String, class: &str, count: usize, word: &str) {
    let quiet = if count == 0 { " none" } else { "" };
    let _ = write!(out, "<li class=\"{class}{quiet}\"><b>{count}</b> {word}</li>");
}

fn findings(out: &mut String, review: &Review) {
    out.push_str("<section id=\"findings\"><h2>Findings</h2>");
    for error in review.errors() {
        let _ = write!(
            out,
            "<article class=\"finding error\"><h3><span class=\"badge\">not read</span> <small>{}</small></h3><p>{}</p></article>",
            place(review, error.place),
            escape(&error.message)
        );
    }
    let mut sorted: Vec<(usize, &Finding)> = review.findings.iter().enumerate().collect();
    sorted.sort_by_key(|(_, f)| std::cmp::Reverse(f.severity));
    for (number, finding) in &sorted {
        finding_of(out, review, *number, finding);
    }
    if sorted.is_empty() && review.errors().is_empty() {
        out.push_str("<p>Nothing to say: every declared pattern is served by its key.</p>");
    }
    out.push_str("</section>");
}

fn finding_of(out: &mut String, review: &Review, number: usize, finding: &Finding) {
    let of = finding.pattern.as_deref().or(finding.table.as_deref()).unwrap_or("");
    let _ = write!(
        out,
        "<article class=\"finding {0}\" id=\"finding-{number}\"><h3><span class=\"badge\">{0}</span> <span class=\"rule\">{1}</span> \
         <small>{2} · {3}</small></h3><p>{4}</p>",
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
        // The repair of an error is what the reader came for.
        let open = if finding.severity == Severity::Error { " open" } else { "" };
        let fix = escape(&finding.fix);
        let _ =
            write!(out, "<details{open}><summary>Repair</summary><pre class=\"fix\">{fix}</pre></details>");
    }
    out.push_str("</article>");
}

fn tables(out: &mut String, review: &Review) {
    out.push_str("<section id=\"tables\"><h2>Tables</h2><div class=\"tables\">");
    for (at, (table, facts)) in review.catalogue.tables.iter().zip(&review.facts).enumerate() {
        let _ = write!(out, "<article class=\"one-table\" id=\"{}\">", anchor(&table.name));
        out.push_str(&diagram::write(table));
        about(out, review, at, &table.name);
        // Without a clustering key a partition is one row and does not grow.
        let grows = facts.growth.is_declared || facts.growth.rows_per_day[2] > 0.0;
        if grows && !table.clustering.is_empty() {
            growth(out, &facts.growth);
        }
        out.push_str("</article>");
    }
    for (at, table) in review.catalogue.dynamo.tables.iter().enumerate() {
        let _ = write!(out, "<article class=\"one-table\" id=\"{}\">", anchor(&table.name));
        out.push_str(&diagram::write_dynamo(table));
        let used = review.catalogue.dynamo.operations.iter().filter(|o| o.table == Some(at)).count();
        let _ = write!(out, "<p class=\"serves\">{used} operations</p>");
        found(out, review, &table.name);
        out.push_str("</article>");
    }
    out.push_str("</div></section>");
}

/// Which patterns the table answers, and which findings it has.
fn about(out: &mut String, review: &Review, at: usize, name: &str) {
    let patterns: Vec<String> = review
        .catalogue
        .accesses_of(at)
        .filter_map(|a| a.pattern.as_ref().map(|p| (p, a.is_read())))
        .map(|(p, is_read)| {
            format!("<span class=\"{}\">{}</span>", if is_read { "read" } else { "write" }, escape(p))
        })
        .collect();
    if !patterns.is_empty() {
        let _ = write!(out, "<p class=\"serves\">serves {}</p>", patterns.join(", "));
    }
    found(out, review, name);
}

/// Links to the findings of a table.
fn found(out: &mut String, review: &Review, name: &str) {
    let of_table = |f: &&(usize, &Finding)| f.1.table.as_deref() == Some(name);
    let numbered: Vec<(usize, &Finding)> = review.findings.iter().enumerate().collect();
    let links: Vec<String> = numbered
        .iter()
        .filter(of_table)
        .map(|(number, f)| format!("<a class=\"{}\" href=\"#finding-{number}\">{}</a>", f.severity, f.rule))
        .collect();
    if !links.is_empty() {
        let _ = write!(out, "<p class=\"serves\">found {}</p>", links.join(", "));
    }
}

fn growth(out: &mut String, growth: &crate::growth::Growth) {
    let kind = if growth.is_declared { "as declared" } else { "assumed, because nothing is declared" };
    let _ = write!(
        out,
        "<p class=\"legend\">Size of one partition, {kind}; {} a row",
        units::bytes(growth.row_bytes)
    );
    let lines: Vec<[f64; 5]> =
        (0..3).map(|which| HORIZONS.map(|(_, days)| growth.bytes_at(which, days))).collect();
    let differ = lines.first() != lines.last();
    if differ {
        out.push_str(": <span class=\"typical\">typical</span>, <span class=\"p99\">p99</span>, <span class=\"worst\">worst</span>");
    }
    out.push_str("</p>");
    out.push_str(&chart::growth(growth));
    out.push_str("<div class=\"scroll\"><table class=\"horizons\"><tr><th></th>");
    for (label, _) in HORIZONS {
        let _ = write!(out, "<th>{label}</th>");
    }
    out.push_str("</tr>");
    for (which, label) in [(0, "typical"), (1, "p99"), (2, "worst")] {
        let Some(line) = lines.get(which).filter(|_| differ || which == 2) else { continue };
        let label = if differ { label } else { "" };
        let _ = write!(out, "<tr><th class=\"{label}\">{label}</th>");
        for bytes in line {
            let class = if *bytes > PARTITION_BYTES_MAX { " class=\"over\"" } else { "" };
            let _ = write!(out, "<td{class}>{}</td>", units::bytes(*bytes));
        }
        out.push_str("</tr>");
    }
    out.push_str("</table></div>");
    match growth.breach_day() {
        Some(day) if day <= 0.0 => out.push_str("<p class=\"breach\">Past 100 MB by the declared rows.</p>"),
        // A breach that nobody alive will see is no news.
        Some(day) if day < 36_500.0 => {
            let (day, bucket) = (units::days(day), growth.bucket_advice().word());
            let _ = write!(
                out,
                "<p class=\"breach\">Passes 100 MB after {day}; a bucket of one {bucket} would hold it.</p>"
            );
        }
        _ => {}
    }
}

/// The place of a table on the page.
pub fn anchor(name: &str) -> String {
    let safe = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    format!("table-{}", safe.collect::<String>())
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
