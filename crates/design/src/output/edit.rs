//! Repairs as edits of the text under review, for editors: what to put where.
//!
//! A repair of CQL is a new table beside the old one, so it goes behind the statement. An operation of DynamoDB is replaced by the
//! one that the repair names; a block of Terraform goes to the end of its resource. What a repair only says in comments is no edit.

use crate::entry::Review;
use crate::finding::Finding;
use cql_syntax::Span;

/// Text to put in place of a span; an empty span inserts.
#[derive(Debug, Clone)]
pub struct Edit {
    pub title: String,
    pub span: Span,
    pub text: String,
}

/// The edit that applies the repair of a finding.
pub fn repair(review: &Review, finding: &Finding) -> Option<Edit> {
    let file = review.catalogue.files.get(finding.place.file)?;
    let statement = statement(review, finding)?;
    let title = format!("Apply the repair ({})", finding.rule);
    if !crate::dynamo::is_dynamo(file) {
        let has_statement =
            finding.fix.lines().any(|line| !line.trim().is_empty() && !line.starts_with("--"));
        let span = line_behind(&file.text, statement.end);
        let text = format!("\n{}\n", finding.fix.trim_end());
        return has_statement.then_some(Edit { title, span, text });
    }
    if finding.fix.contains("global_secondary_index {") || finding.fix.contains("ttl {") {
        // Before the brace that closes the resource.
        let inside = file.text.get(statement.range())?;
        let close = statement.start + inside.rfind('}')? as u32;
        let text = format!("{}\n", finding.fix.trim_end());
        return Some(Edit { title, span: Span::new(close, close), text });
    }
    let operation = finding.fix.lines().find(|line| line.starts_with('{'))?;
    let is_operation = file.text.get(statement.range()).is_some_and(|text| text.contains("\"op\""));
    is_operation.then(|| Edit { title, span: statement, text: operation.to_string() })
}

/// The edit that allows a finding where it stands; the reason is for the reader to write.
pub fn allow(review: &Review, finding: &Finding) -> Option<Edit> {
    let file = review.catalogue.files.get(finding.place.file)?;
    let statement = statement(review, finding)?;
    let is_json = file.text.trim_start().starts_with(['{', '[']);
    let mark = if crate::dynamo::is_dynamo(file) { "#" } else { "--" };
    let before = file.text.get(..statement.start as usize)?;
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let indent: String = before[line..].chars().take_while(|c| c.is_whitespace()).collect();
    // Only where the statement begins its line.
    let begins = before[line..].trim().is_empty();
    (begins && !is_json).then(|| Edit {
        title: format!("Allow {} here (write the reason)", finding.rule),
        span: Span::new(line as u32, line as u32),
        text: format!("{indent}{mark} partita:allow {}: because ...\n", finding.rule),
    })
}

/// The statement, table or operation around a finding: the smallest.
fn statement(review: &Review, finding: &Finding) -> Option<Span> {
    let place = finding.place;
    let around = review.catalogue.statements.iter().filter(|s| {
        s.file == place.file && s.span.start <= place.span.start && place.span.start <= s.span.end
    });
    around.map(|s| s.span).min_by_key(|span| span.end - span.start)
}

/// The empty span at the start of the line behind an offset; the end of the text when there is none.
fn line_behind(text: &str, offset: u32) -> Span {
    let rest = text.get(offset as usize..).unwrap_or("");
    let at = rest.find('\n').map_or(text.len(), |end| offset as usize + end + 1) as u32;
    Span::new(at, at)
}
