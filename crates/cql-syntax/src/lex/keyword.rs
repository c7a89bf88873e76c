//! The words of CQL, and which of them may also be names.
//!
//! Look-up is one hash over a few letters and, nearly always, one comparison: a statement is mostly words, so this is
//! where the lexer spends its time. The table is built at compile time.

/// Where a keyword may also stand for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordClass {
    /// Never, unless in double quotes.
    Reserved,
    /// Everywhere.
    Free,
    /// Everywhere but as the name of a user-defined type: it is the name of a native type.
    NativeType,
    /// Everywhere but as the name of a user-defined type: it has a meaning of its own in a SELECT clause.
    Special,
}

macro_rules! keywords {
    ($($class:ident { $($variant:ident $($text:literal)+,)* })*) => {
        /// A word with a meaning in the grammar. `TABLE` and `COLUMNFAMILY` are one keyword.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Keyword { $($($variant,)*)* }

        const WORDS: &[(&str, Keyword)] = &[$($($(($text, Keyword::$variant),)+)*)*];

        impl Keyword {
            /// Whether the keyword may also be a name.
            pub const fn class(self) -> KeywordClass {
                match self { $($(Keyword::$variant => KeywordClass::$class,)*)* }
            }

            /// The first spelling, in lower case.
            pub const fn text(self) -> &'static str {
                match self { $($(Keyword::$variant => first(&[$($text),+]),)*)* }
            }
        }
    };
}

const fn first(spellings: &[&'static str]) -> &'static str {
    spellings[0]
}

keywords! {
    Reserved {
        Add "add", Allow "allow", Alter "alter", And "and", Apply "apply", Asc "asc", Authorize "authorize",
        Batch "batch", Begin "begin", By "by", Create "create", Delete "delete", Desc "desc", Describe "describe",
        Drop "drop", Entries "entries", Execute "execute", False "false", From "from", Full "full", Grant "grant",
        If "if", In "in", Index "index", Infinity "infinity", Insert "insert", Into "into", Is "is",
        Keyspace "keyspace", Limit "limit", Materialized "materialized", Modify "modify", Nan "nan",
        Norecursive "norecursive", Not "not", Null "null", Of "of", On "on", Or "or", Order "order",
        Primary "primary", Rename "rename", Revoke "revoke", Schema "schema", Select "select", Set "set",
        Table "table" "columnfamily", To "to", Token "token", Truncate "truncate", True "true", Unlogged "unlogged",
        Update "update", Use "use", Using "using", View "view", Where "where", With "with",
    }
    Free {
        Access "access", Aggregate "aggregate", Aggregates "aggregates", All "all", Analyze "analyze", Ann "ann", As "as",
        Between "between", Bypass "bypass", Cache "cache", Called "called", Cancel "cancel", Check "check",
        Cidrs "cidrs", Cluster "cluster",
        Clustering "clustering", Compact "compact", Contains "contains", Custom "custom", Datacenters "datacenters",
        Default "default", Exists "exists", Explain "explain", Expr "expr", Filtering "filtering",
        Finalfunc "finalfunc", Frozen "frozen", Function "function", Functions "functions", Generated "generated",
        Group "group", Hashed "hashed", Identity "identity", Initcond "initcond", Input "input",
        Internals "internals", Job "job", Keys "keys", Keyspaces "keyspaces", Language "language", Like "like", List "list",
        Logged "logged", Login "login", Map "map", Masked "masked", Mbean "mbean", Mbeans "mbeans",
        Nosuperuser "nosuperuser", Only "only", Options "options", Partition "partition", Password "password",
        Pattern "pattern", Patterns "patterns", Pause "pause", Per "per", Permission "permission", Permissions "permissions",
        Projection "projection", Repair "repair", Replace "replace", Resume "resume", Returns "returns", Role "role", Roles "roles", SelectMasked "select_masked",
        Sfunc "sfunc", Static "static", Storage "storage", Stype "stype", Superuser "superuser",
        Superusers "superusers", Tables "tables" "columnfamilies", Timeout "timeout", Trigger "trigger",
        Tuple "tuple", Type "type", Types "types", Unmask "unmask", Unset "unset", User "user", Users "users",
        Values "values", Vector "vector",
        Comment "comment", Commit "commit", End "end", Field "field", Indexes "indexes", Label "label", Let "let",
        Security "security", Then "then", Transaction "transaction",
    }
    NativeType {
        Ascii "ascii", Bigint "bigint", Blob "blob", Boolean "boolean", Counter "counter", Date "date",
        Decimal "decimal", Double "double", Duration "duration", Float "float", Inet "inet", Int "int",
        Smallint "smallint", Text "text", Time "time", Timestamp "timestamp", Timeuuid "timeuuid",
        Tinyint "tinyint", Uuid "uuid", Varchar "varchar", Varint "varint",
    }
    Special {
        Cast "cast", Count "count", Distinct "distinct", Json "json", Key "key", Maxwritetime "maxwritetime",
        Ttl "ttl", Writetime "writetime",
    }
}

/// A power of two, several times the number of words, so that collisions are rare.
const SLOTS: usize = 1024;
const EMPTY: u8 = u8::MAX;
const LONGEST: usize = longest();

const fn longest() -> usize {
    let mut longest = 0;
    let mut at = 0;
    while at < WORDS.len() {
        if WORDS[at].0.len() > longest {
            longest = WORDS[at].0.len();
        }
        at += 1;
    }
    longest
}

/// Length and a few letters are enough to tell the words apart.
const fn hash(word: &[u8]) -> usize {
    let length = word.len();
    if length == 0 {
        return 0;
    }
    // Setting this bit makes a letter lower-case; other characters only change their hash, harmlessly.
    let first = (word[0] | 0x20) as u32;
    let second = (word[length / 3] | 0x20) as u32;
    let third = (word[length / 2] | 0x20) as u32;
    let last = (word[length - 1] | 0x20) as u32;
    let state = first | second << 8 | third << 16 | last << 24;
    let mixed = (state ^ (length as u32)).wrapping_mul(0x9E37_79B1);
    (mixed >> 16) as usize % SLOTS
}

static TABLE: [u8; SLOTS] = table();

const fn table() -> [u8; SLOTS] {
    assert!(WORDS.len() < EMPTY as usize);
    let mut table = [EMPTY; SLOTS];
    let mut at = 0;
    while at < WORDS.len() {
        let mut slot = hash(WORDS[at].0.as_bytes());
        while table[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = at as u8;
        at += 1;
    }
    table
}

impl Keyword {
    /// The keyword that `word` spells in any case.
    pub fn lookup(word: &[u8]) -> Option<Keyword> {
        if word.len() > LONGEST {
            return None;
        }
        let mut slot = hash(word);
        loop {
            let (text, keyword) = WORDS.get(TABLE[slot] as usize)?;
            if text.as_bytes().eq_ignore_ascii_case(word) {
                return Some(*keyword);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Whether the word must be in double quotes to be a name.
    pub const fn is_reserved(self) -> bool {
        matches!(self.class(), KeywordClass::Reserved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_found_in_any_case() {
        for (text, keyword) in WORDS {
            assert_eq!(Keyword::lookup(text.as_bytes()), Some(*keyword));
            assert_eq!(Keyword::lookup(text.to_uppercase().as_bytes()), Some(*keyword));
        }
        for other in ["", "selec", "selects", "x", "a_very_long_identifier_indeed", "SELECT\0", "[IST"] {
            assert_eq!(Keyword::lookup(other.as_bytes()), None, "{other}");
        }
        assert_eq!(Keyword::Table.text(), "table");
    }

    #[test]
    fn the_reserved_words_are_those_of_cassandra() {
        // The list that cqlsh and DESCRIBE quote by, plus the two boolean constants, which can be no names either.
        let reserved = "add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe \
            drop entries execute false from full grant if in index infinity insert into is keyspace limit materialized \
            modify nan norecursive not null of on or order primary rename revoke schema select set table to token \
            true truncate unlogged update use using view where with";
        let ours: Vec<&str> =
            WORDS.iter().filter(|(_, keyword)| keyword.is_reserved()).map(|(text, _)| *text).collect();
        let mut sorted = ours.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, reserved.split_whitespace().collect::<Vec<_>>());
    }
}
