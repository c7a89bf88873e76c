//! The text form of scenarios, read and written without losing comments or layout.
//!
//! ```text
//! === name                      a scenario: its own fresh keyspace and connection
//! # comment
//! @page 2                       options of the next statement
//! @bind 1                       one bound value as JSON (or `unset`, `0x…` raw bytes); `@bind :k 1` by name
//! SELECT * FROM t WHERE k = ?;  a statement ends with `;` at the end of a line (a batch with `APPLY BATCH;`)
//! > columns: k int              Cassandra's answer
//! ```
//!
//! `{ks}` in a statement stands for the scenario's keyspace, `{trace}` for the id of the last traced statement (a
//! statement that names it is repeated until it answers rows: traces are written in the background).
//!
//! Other options: `@timestamp N`, `@now SECONDS`, `@consistency NAME`, `@serial NAME`, `@keyspace NAME` of the request;
//! `@query` sends bound values with QUERY instead of EXECUTE; `@message` sends `BEGIN … APPLY BATCH` as a BATCH message,
//! one statement a line; `@trace` asks for a trace; `@version 4` and `@as ROLE PASSWORD` use another connection;
//! `@prepare` shows what PREPARE says; `@shape` and `@class` compare less (see [`Options`]).

use crate::connections::Key;
use cql_wire::{Consistency, Version};

/// What the next statement is run with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    pub page: Option<u32>,
    pub bind: Vec<String>,
    pub timestamp: Option<i64>,
    pub now: Option<u32>,
    pub consistency: Option<Consistency>,
    pub serial: Option<Consistency>,
    /// The keyspace in the request (v5).
    pub keyspace: Option<String>,
    /// Send values with QUERY, without PREPARE.
    pub query: bool,
    /// Send a batch as a BATCH message.
    pub message: bool,
    pub trace: bool,
    pub connection: Key,
    /// Show what PREPARE says of the statement.
    pub prepare: bool,
    /// Compare the columns and the number of rows, not the values.
    pub shape: bool,
    /// Compare only the class of an error.
    pub class: bool,
}

impl Options {
    /// The option lines of a statement that is sent so.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.page.map(|page| format!("@page {page}")));
        lines.extend(self.timestamp.map(|timestamp| format!("@timestamp {timestamp}")));
        lines.extend(self.now.map(|now| format!("@now {now}")));
        lines.extend(self.bind.iter().map(|value| format!("@bind {value}")));
        let flags = [(self.prepare, "@prepare"), (self.shape, "@shape"), (self.class, "@class")];
        lines.extend(flags.iter().filter(|(set, _)| *set).map(|(_, line)| (*line).to_string()));
        lines
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The option lines as written.
    pub option_lines: Vec<String>,
    pub options: Options,
    /// The statement as written.
    pub text_lines: Vec<String>,
    pub expected: Vec<String>,
}

impl Step {
    pub fn text(&self) -> String {
        self.text_lines.join("\n")
    }

    /// The statement on one line, for messages and the list of known differences.
    pub fn title(&self) -> String {
        self.text().split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A comment or an empty line.
    Note(String),
    Scenario(String),
    Step(Box<Step>),
}

/// A file of scenarios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub items: Vec<Item>,
}

impl File {
    pub fn parse(text: &str) -> Result<File, String> {
        let mut items = Vec::new();
        let mut lines = text.lines().enumerate().peekable();
        let mut option_lines = Vec::new();
        while let Some((index, line)) = lines.next() {
            let at = |what: String| format!("line {}: {what}", index + 1);
            if let Some(name) = line.strip_prefix("=== ") {
                items.push(Item::Scenario(name.trim().to_string()));
            } else if line.starts_with('@') {
                option_lines.push(line.to_string());
            } else if line.trim().is_empty() || line.starts_with('#') {
                items.push(Item::Note(line.to_string()));
            } else if line.starts_with('>') {
                return Err(at("an answer without a statement".into()));
            } else {
                let mut text_lines = vec![line.to_string()];
                while !is_complete(&text_lines) {
                    let next = lines.next().ok_or_else(|| at("the statement has no end".into()))?;
                    text_lines.push(next.1.to_string());
                }
                let mut expected = Vec::new();
                while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with('>')) {
                    expected.push(line.trim_start_matches('>').trim_start_matches(' ').to_string());
                }
                let options = parse_options(&option_lines).map_err(at)?;
                let option_lines = std::mem::take(&mut option_lines);
                items.push(Item::Step(Box::new(Step { option_lines, options, text_lines, expected })));
            }
        }
        Ok(File { items })
    }

    pub fn print(&self) -> String {
        let mut out = String::new();
        let mut put = |line: &str| {
            out.push_str(line);
            out.push('\n');
        };
        for item in &self.items {
            match item {
                Item::Note(line) => put(line),
                Item::Scenario(name) => put(&format!("=== {name}")),
                Item::Step(step) => {
                    step.option_lines.iter().chain(&step.text_lines).for_each(|line| put(line));
                    step.expected.iter().for_each(|line| put(format!("> {line}").trim_end()));
                }
            }
        }
        out
    }
}

fn is_complete(lines: &[String]) -> bool {
    let first = lines.first().map(|line| line.trim_start().to_ascii_uppercase()).unwrap_or_default();
    let last = lines.last().map(|line| line.trim_end().to_ascii_uppercase()).unwrap_or_default();
    match first.starts_with("BEGIN ") {
        true => last.ends_with("APPLY BATCH;") || last.ends_with("COMMIT TRANSACTION;"),
        false => last.ends_with(';'),
    }
}

fn parse_options(lines: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        let number = || rest.parse::<i64>().map_err(|_| format!("{line}: not a number"));
        let small = || number().and_then(|n| u32::try_from(n).map_err(|_| format!("{line}: too large")));
        match word {
            "@page" => options.page = Some(small()?),
            "@bind" => options.bind.push(rest.to_string()),
            "@timestamp" => options.timestamp = Some(number()?),
            "@now" => options.now = Some(small()?),
            "@consistency" => options.consistency = Some(consistency(rest)?),
            "@serial" => options.serial = Some(consistency(rest)?),
            "@keyspace" => options.keyspace = Some(rest.to_string()),
            "@query" => options.query = true,
            "@message" => options.message = true,
            "@trace" => options.trace = true,
            "@version" => {
                let number = small()?.try_into().ok().and_then(Version::from_number);
                options.connection.version = number.ok_or_else(|| format!("{line}: not a version"))?;
            }
            "@as" => {
                let (role, password) = rest.split_once(' ').ok_or_else(|| format!("{line}: no password"))?;
                options.connection.login = Some((role.to_string(), password.to_string()));
            }
            "@prepare" => options.prepare = true,
            "@shape" => options.shape = true,
            "@class" => options.class = true,
            _ => return Err(format!("{line}: not an option")),
        }
    }
    Ok(options)
}

fn consistency(name: &str) -> Result<Consistency, String> {
    Ok(match name {
        "ANY" => Consistency::Any,
        "ONE" => Consistency::One,
        "QUORUM" => Consistency::Quorum,
        "ALL" => Consistency::All,
        "SERIAL" => Consistency::Serial,
        "LOCAL_SERIAL" => Consistency::LocalSerial,
        "LOCAL_QUORUM" => Consistency::LocalQuorum,
        "EACH_QUORUM" => Consistency::EachQuorum,
        _ => return Err(format!("{name}: not a consistency level")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_printed_as_it_was_read() {
        let text = "# note\n=== one\n@page 2\n@bind 1\nSELECT *\n FROM t;\n> columns: k int\n> 1\n\n=== two\nBEGIN BATCH\n  INSERT;\nAPPLY BATCH;\n> void\n";
        let file = File::parse(text).unwrap();
        assert_eq!(file.print(), text);
        let Item::Step(step) = &file.items[2] else { panic!("{:?}", file.items[2]) };
        assert_eq!(step.options.page, Some(2));
        assert_eq!(step.options.bind, ["1"]);
        assert_eq!(step.title(), "SELECT * FROM t;");
        assert_eq!(step.expected, ["columns: k int", "1"]);
    }

    #[test]
    fn mistakes_are_refused() {
        assert!(File::parse("> void\n").is_err());
        assert!(File::parse("SELECT 1\n").is_err());
        assert!(File::parse("@pages 3\nSELECT 1;\n").is_err());
    }
}
