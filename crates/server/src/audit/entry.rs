//! One entry and its line of JSON.

use model::temporal::CivilDate;
use std::net::SocketAddr;
use std::sync::Arc;

/// Of a statement; more says nothing about who did it.
const STATEMENT_BYTES_MAX: usize = 4 << 10;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The protocol's error code, and its sentence.
    Refused {
        code: i32,
        message: String,
    },
}

/// Who did what, and what came of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Counted from the start of the server.
    pub number: u64,
    pub at_micros: i64,
    /// `login`, `role`, `schema`, `read` or `write`.
    pub event: &'static str,
    /// `None`: nobody is logged in, or who it is was not found out.
    pub role: Option<Arc<str>>,
    pub address: SocketAddr,
    pub keyspace: Option<Arc<str>>,
    pub table: Option<Arc<str>>,
    /// Without secrets.
    pub statement: Option<String>,
    pub outcome: Outcome,
}

/// The text without its end, if it is long.
pub fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(STATEMENT_BYTES_MAX)]
}

impl Entry {
    /// One line, without its end.
    pub fn to_json(&self) -> String {
        let mut line = serde_json::Map::new();
        let mut put = |name: &str, value: serde_json::Value| line.insert(name.into(), value);
        put("at", rfc3339(self.at_micros).into());
        put("event", self.event.into());
        let (outcome, code, message) = match &self.outcome {
            Outcome::Done => ("done", None, None),
            Outcome::Refused { code, message } => ("refused", Some(*code), Some(message.as_str())),
        };
        put("outcome", outcome.into());
        put("role", self.role.as_deref().into());
        put("address", self.address.ip().to_string().into());
        put("port", self.address.port().into());
        put("keyspace", self.keyspace.as_deref().into());
        put("table", self.table.as_deref().into());
        put("statement", self.statement.as_deref().into());
        put("error", code.map(|code| format!("0x{code:04X}")).into());
        put("message", message.into());
        line.retain(|_, value| !value.is_null());
        serde_json::Value::Object(line).to_string()
    }
}

/// The line that says how many are missing.
pub fn losses(count: u64) -> String {
    serde_json::json!({ "event": "lost", "count": count }).to_string()
}

/// `2026-11-18T03:13:40.123456Z`.
fn rfc3339(micros: i64) -> String {
    const DAY: i64 = 24 * 60 * 60 * 1_000_000;
    let date = CivilDate::from_days(micros.div_euclid(DAY));
    let of_day = micros.rem_euclid(DAY);
    let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{micros:06}Z",
        date.year,
        date.month,
        date.day,
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line_whatever_it_holds() {
        let entry = Entry {
            number: 1,
            at_micros: 1_700_000_000_000_001,
            event: "schema",
            role: Some("bob\n\"the\" builder".into()),
            address: ([192, 0, 2, 1], 4711).into(),
            keyspace: Some("k".into()),
            table: None,
            statement: Some("CREATE TABLE k.t (\n k int PRIMARY KEY)".into()),
            outcome: Outcome::Refused { code: 0x2100, message: "no".into() },
        };
        let line = entry.to_json();
        assert!(!line.contains('\n'), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["at"], "2023-11-14T22:13:20.000001Z");
        assert_eq!(read["role"], "bob\n\"the\" builder");
        assert_eq!((&read["error"], &read["outcome"]), (&"0x2100".into(), &"refused".into()));
        assert!(read.get("table").is_none());
    }
}
