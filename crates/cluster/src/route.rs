//! What becomes of a statement, decided from its words.
//!
//! Only the first words and, of a SELECT, the table are looked at, with a lexer that knows comments, strings and quoted
//! names. A full parse would refuse what a newer cluster understands; the first word is enough to know whether a statement
//! can change anything, because no SELECT, LIST or DESCRIBE can. What is not known counts as a change.

/// What a statement may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It changes nothing: it may be sent again.
    Read,
    Write,
    /// A write with a condition: nobody knows what became of it when its answer is lost.
    Conditional,
    /// Schema, roles, and whatever this front end does not know.
    Other,
}

/// Which of the statements that only Partita has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    Explain,
    AccessPattern,
    Projection,
    Job,
    /// A table of `system_views` that only Partita has.
    LiveTable,
}

/// Where a statement goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Answered by the front end: who the nodes are.
    Local,
    /// To the cluster, as it is.
    Forward(Class),
    /// Sets the keyspace of the client's connection.
    Use(String),
    Refused(Own),
}

/// Tables that tell drivers where the nodes are. A driver that saw the real ones would go past the front end.
const LOCAL_TABLES: [&str; 3] = ["local", "peers", "peers_v2"];

/// Live tables of Partita that a Cassandra does not have.
const OWN_TABLES: [&str; 13] = [
    "access_pattern_numbers",
    "access_patterns",
    "audit",
    "findings",
    "heat_map",
    "hot_history",
    "hot_partitions",
    "jobs",
    "largest_partitions",
    "projections",
    "table_load",
    "table_sizes",
    "unmatched_statements",
];

/// Decides about a statement; `keyspace` is the one that unqualified names are in.
pub fn route(text: &str, keyspace: Option<&str>) -> Route {
    let mut words = Words { rest: text };
    let Some(Word::Name(first)) = words.next() else { return Route::Forward(Class::Other) };
    match &*first.to_ascii_uppercase() {
        "SELECT" => select(words, keyspace),
        "INSERT" | "UPDATE" | "DELETE" => written(words),
        "BEGIN" => written(words),
        "TRUNCATE" => Route::Forward(Class::Write),
        "LIST" | "DESCRIBE" | "DESC" => Route::Forward(Class::Read),
        "USE" => match words.next() {
            Some(Word::Name(name)) => Route::Use(name.to_ascii_lowercase()),
            Some(Word::Quoted(name)) => Route::Use(name),
            _ => Route::Forward(Class::Other),
        },
        "EXPLAIN" => Route::Refused(Own::Explain),
        "CHECK" | "REPAIR" => Route::Refused(Own::Projection),
        "PAUSE" | "RESUME" | "CANCEL" => Route::Refused(Own::Job),
        "CREATE" | "ALTER" | "DROP" => match words.next() {
            Some(Word::Name(what)) if what.eq_ignore_ascii_case("ACCESS") => {
                Route::Refused(Own::AccessPattern)
            }
            Some(Word::Name(what)) if what.eq_ignore_ascii_case("PROJECTION") => {
                Route::Refused(Own::Projection)
            }
            _ => Route::Forward(Class::Other),
        },
        _ => Route::Forward(Class::Other),
    }
}

/// A write is conditional if the word IF stands anywhere in it.
fn written(words: Words<'_>) -> Route {
    let has_condition = words.into_iter().any(|word| word.is("IF"));
    Route::Forward(if has_condition { Class::Conditional } else { Class::Write })
}

fn select(mut words: Words<'_>, keyspace: Option<&str>) -> Route {
    let read = Route::Forward(Class::Read);
    // FROM is reserved, so the first one is the clause.
    if !words.by_ref().any(|word| word.is("FROM")) {
        return read;
    }
    let Some(first) = words.next().and_then(Word::name) else { return read };
    let (keyspace, table) = match words.next() {
        Some(Word::Other('.')) => {
            let Some(table) = words.next().and_then(Word::name) else { return read };
            (Some(first), table)
        }
        _ => (keyspace.map(str::to_owned), first),
    };
    match keyspace.as_deref() {
        Some("system") if LOCAL_TABLES.contains(&&*table) => Route::Local,
        Some("system_views") if OWN_TABLES.contains(&&*table) => Route::Refused(Own::LiveTable),
        _ => read,
    }
}

/// A piece of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    /// A name or keyword as written.
    Name(String),
    /// A name in double quotes, without them.
    Quoted(String),
    /// A string, of which nothing matters here.
    Text,
    Other(char),
}

impl Word {
    fn is(&self, keyword: &str) -> bool {
        matches!(self, Word::Name(name) if name.eq_ignore_ascii_case(keyword))
    }

    /// The object that it names: names without quotes are lower case.
    fn name(self) -> Option<String> {
        match self {
            Word::Name(name) => Some(name.to_ascii_lowercase()),
            Word::Quoted(name) => Some(name),
            Word::Text | Word::Other(_) => None,
        }
    }
}

struct Words<'a> {
    rest: &'a str,
}

impl Words<'_> {
    /// Skips spaces and comments, exactly those that Cassandra's lexer skips: if the two disagreed, a write could look like a
    /// read here. A line ends with either kind of line break, and `/*/` is only the beginning of a comment.
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
            let Some((start, inside)) = self.rest.split_at_checked(2) else { return };
            let end = match start {
                "--" | "//" => inside.find(['\n', '\r']).map(|at| at + 1),
                "/*" => inside.find("*/").map(|at| at + 2),
                _ => return,
            };
            self.rest = end.and_then(|end| inside.get(end..)).unwrap_or("");
        }
    }

    /// What stands until the closing mark, which is doubled to stand for itself; the mark is consumed.
    fn until(&mut self, mark: char) -> String {
        let mut found = String::new();
        let mut characters = self.rest.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if character == mark {
                match characters.peek() {
                    Some((_, next)) if *next == mark => {
                        characters.next();
                    }
                    _ => {
                        self.rest = self.rest.get(at + mark.len_utf8()..).unwrap_or("");
                        return found;
                    }
                }
            }
            found.push(character);
        }
        self.rest = "";
        found
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        self.skip();
        let first = self.rest.chars().next()?;
        if self.rest.starts_with("$$") {
            let inside = self.rest.get(2..).unwrap_or("");
            self.rest = inside.find("$$").map_or("", |at| inside.get(at + 2..).unwrap_or(""));
            return Some(Word::Text);
        }
        if first.is_ascii_alphanumeric() || first == '_' {
            let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest;
            return Some(Word::Name(word.to_owned()));
        }
        self.rest = self.rest.get(first.len_utf8()..).unwrap_or("");
        Some(match first {
            '\'' => {
                self.until('\'');
                Word::Text
            }
            '"' => Word::Quoted(self.until('"')),
            other => Word::Other(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes() {
        use Class::*;
        let cases: [(&str, Route); 31] = [
            ("SELECT * FROM t", Route::Forward(Read)),
            ("select release_version from system.local where key='local'", Route::Local),
            ("SELECT count(*) /* x */ FROM \"system\" . \"peers_v2\"", Route::Local),
            ("SELECT * FROM peers", Route::Forward(Read)),
            ("SELECT a, 'FROM system.local' FROM t", Route::Forward(Read)),
            ("SELECT \"from\" FROM system.peers", Route::Local),
            ("SELECT * FROM \"System\".local", Route::Forward(Read)),
            ("SELECT * FROM system_views.hot_partitions", Route::Refused(Own::LiveTable)),
            ("SELECT * FROM system_views.settings", Route::Forward(Read)),
            ("-- hello\n// there\n  INSERT INTO t (a) VALUES (1)", Route::Forward(Write)),
            ("INSERT INTO t (a) VALUES (1) IF NOT EXISTS", Route::Forward(Conditional)),
            ("INSERT INTO t (a) VALUES ('IF')", Route::Forward(Write)),
            ("UPDATE t SET \"IF\" = 1 WHERE k = 1", Route::Forward(Write)),
            ("DELETE FROM t WHERE k = 1 IF v = 2", Route::Forward(Conditional)),
            ("BEGIN BATCH INSERT INTO t (a) VALUES (1) APPLY BATCH", Route::Forward(Write)),
            ("TRUNCATE t", Route::Forward(Write)),
            ("USE Shop;", Route::Use("shop".into())),
            ("USE \"Sh\"\"op\"", Route::Use("Sh\"op".into())),
            ("/* USE x */ USE y", Route::Use("y".into())),
            ("USE", Route::Forward(Other)),
            ("CREATE TABLE t (k int PRIMARY KEY)", Route::Forward(Other)),
            ("CREATE ACCESS PATTERN p AS SELECT 1", Route::Refused(Own::AccessPattern)),
            ("create projection p", Route::Refused(Own::Projection)),
            ("CHECK PROJECTION p", Route::Refused(Own::Projection)),
            ("PAUSE JOB 3", Route::Refused(Own::Job)),
            ("EXPLAIN SELECT 1", Route::Refused(Own::Explain)),
            ("LIST ROLES", Route::Forward(Read)),
            ("DESC KEYSPACES", Route::Forward(Read)),
            ("GRANT x TO y", Route::Forward(Other)),
            ("", Route::Forward(Other)),
            ("/* never ends", Route::Forward(Other)),
        ];
        for (text, expected) in cases {
            assert_eq!(route(text, None), expected, "{text}");
        }
        assert_eq!(route("SELECT * FROM peers", Some("system")), Route::Local);
        assert_eq!(route("SELECT * FROM $$", Some("system")), Route::Forward(Read));
    }

    /// Whatever changes something must not look like a read.
    #[test]
    fn nothing_unknown_is_a_read() {
        for text in [
            "WITH x",
            "MERGE INTO t",
            "\"SELECT\" 1",
            "'SELECT'",
            "(SELECT 1)",
            "é",
            "ADD IDENTITY x",
            "$$ SELECT $$",
        ] {
            assert_eq!(route(text, None), Route::Forward(Class::Other), "{text}");
        }
    }
}
