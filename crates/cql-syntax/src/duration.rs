//! Durations as CQL writes them: `1h30m`, `P1Y2M`, `PT5S`, `P1W`, `P0001-02-03T04:05:06`, each with an optional minus.
//!
//! Follows Cassandra's rules: units in falling order, each at most once; months, days and nanoseconds are kept apart.
//! Does not check that a text is one token of the lexer; any text may be given.

/// A duration: months and days have no fixed length, so they are not converted into each other. All three have one sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DurationParts {
    pub months: i32,
    pub days: i32,
    pub nanoseconds: i64,
}
