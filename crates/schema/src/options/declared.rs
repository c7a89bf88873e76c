//! Every option of tables, each in one place: its name, whose it is, how it is read and what of it is shown.
//!
//! From these lines follow which properties a table may have, DESCRIBE, and the columns of `system_schema`. What is stored of an option
//! is a field of [`TableOptions`]; the texts of its faults are the dialect's.

use super::{TableOptions, compaction, compression, elsewhere, limit, parse, retry, tenant};
use crate::fault::SchemaError;
use crate::properties::Properties;
use std::collections::BTreeMap;

/// One option. They are read in this order, so the first that is wrong is told.
pub struct TableOption {
    pub name: &'static str,
    pub owner: Owner,
    /// Takes it from the properties, which may lack it.
    pub(super) read: fn(&mut TableOptions, &Properties) -> Result<(), SchemaError>,
    /// What it is now; `None`: there is nothing to show.
    pub shown: fn(&TableOptions) -> Option<OptionValue<'_>>,
}

/// Who has an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Cassandra has it: always shown.
    Cassandra,
    /// Cassandra has it, and its `system_schema` shows it only where it is not what it usually is.
    CassandraSometimes,
    /// Only we have it: shown where it says something.
    Partita,
    /// It is no setting of an existing table, or is shown by other means.
    Elsewhere,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue<'o> {
    Boolean(bool),
    Integer(i32),
    Double(f64),
    Text(&'o str),
    Map(&'o BTreeMap<String, String>),
    Blobs(&'o BTreeMap<String, Vec<u8>>),
}

use OptionValue::{Blobs, Boolean, Double, Integer, Map, Text};
use Owner::{Cassandra, CassandraSometimes, Elsewhere, Partita};

fn integer(value: u32) -> Option<OptionValue<'static>> {
    Some(Integer(i32::try_from(value).unwrap_or(i32::MAX)))
}

fn text(value: &str) -> Option<OptionValue<'_>> {
    (!value.is_empty()).then_some(Text(value))
}

fn map(value: &BTreeMap<String, String>) -> Option<OptionValue<'_>> {
    (!value.is_empty()).then_some(Map(value))
}

/// An option whose value is read by a method of [`Properties`] and kept as `$keep` makes it.
macro_rules! option {
    ($name:ident, $owner:expr, $read:ident, $keep:expr, $shown:expr) => {
        TableOption {
            name: stringify!($name),
            owner: $owner,
            read: |options, from| {
                if let Some(value) = from.$read(stringify!($name))? {
                    options.$name = $keep(value)?;
                }
                Ok(())
            },
            shown: $shown,
        }
    };
}

/// What is kept as it came.
fn as_is<T, V: Into<T>>(value: V) -> Result<T, SchemaError> {
    Ok(value.into())
}

/// All of them.
pub static OPTIONS: [TableOption; 27] = [
    option!(comment, Cassandra, text, as_is, |o| Some(Text(&o.comment))),
    option!(speculative_retry, Cassandra, text, retry::canonical, |o| Some(Text(&o.speculative_retry))),
    option!(additional_write_policy, Cassandra, text, retry::canonical, |o| {
        Some(Text(&o.additional_write_policy))
    }),
    option!(read_repair, Cassandra, text, parse::read_repair, |o| Some(Text(&o.read_repair))),
    option!(memtable, CassandraSometimes, text, parse::memtable, |o| {
        Some(Text(if o.memtable.is_empty() { "default" } else { &o.memtable }))
    }),
    option!(bloom_filter_fp_chance, Cassandra, double, as_is, |o| Some(Double(o.bloom_filter_fp_chance))),
    option!(crc_check_chance, Cassandra, double, as_is, |o| Some(Double(o.crc_check_chance))),
    option!(default_time_to_live, Cassandra, int, parse::time_to_live, |o| integer(o.default_time_to_live)),
    option!(gc_grace_seconds, Cassandra, int, parse::grace_seconds, |o| integer(o.gc_grace_seconds)),
    option!(min_index_interval, Cassandra, int, as_is, |o| Some(Integer(o.min_index_interval))),
    option!(max_index_interval, Cassandra, int, as_is, |o| Some(Integer(o.max_index_interval))),
    option!(memtable_flush_period_in_ms, Cassandra, int, as_is, |o| {
        Some(Integer(o.memtable_flush_period_in_ms))
    }),
    TableOption {
        name: "cdc",
        owner: CassandraSometimes,
        read: |options, from| {
            options.cdc = elsewhere::cdc(from)?.unwrap_or(options.cdc);
            Ok(())
        },
        shown: |o| Some(Boolean(o.cdc)),
    },
    option!(allow_auto_snapshot, CassandraSometimes, boolean, as_is, |o| {
        Some(Boolean(o.allow_auto_snapshot))
    }),
    option!(incremental_backups, CassandraSometimes, boolean, as_is, |o| {
        Some(Boolean(o.incremental_backups))
    }),
    option!(caching, Cassandra, map, parse::caching, |o| Some(Map(&o.caching))),
    option!(compaction, Cassandra, map, compaction::read, |o| Some(Map(&o.compaction))),
    option!(compression, Cassandra, map, compression::normalise, |o| Some(Map(&o.compression))),
    // Cassandra reads it and ignores it in CREATE and ALTER; so do we.
    TableOption {
        name: "extensions",
        owner: Cassandra,
        read: |_, from| Ok(from.map("extensions").map(drop)?),
        shown: |o| Some(Blobs(&o.extensions)),
    },
    option!(review, Partita, text, parse::review, |o| text(&o.review)),
    option!(partition_limit, Partita, map, limit::normalise, |o| map(&o.partition_limit)),
    option!(tenant, Partita, text, as_is, |o| text(&o.tenant)),
    option!(hold_tombstones, Partita, text, parse::held_since, |o| text(&o.hold_tombstones)),
    option!(tenant_limits, Partita, map, tenant::normalise, |o| map(&o.tenant_limits)),
    // A plan is made with its table and shown with it, see `bucketing`.
    TableOption {
        name: "bucketing",
        owner: Elsewhere,
        read: |_, from| Ok(from.map("bucketing").map(drop)?),
        shown: |_| None,
    },
    TableOption { name: "retention", owner: Elsewhere, read: |_, _| Ok(()), shown: |_| None },
    // Which table it is; taken where the table is made.
    TableOption { name: "id", owner: Elsewhere, read: |_, _| Ok(()), shown: |_| None },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// An option that is stored and not declared could never be set or seen.
    #[test]
    fn every_stored_option_is_declared_once() {
        let all = serde_json::to_value(TableOptions {
            tenant: "a".into(),
            tenant_limits: [("a".to_string(), "b".to_string())].into(),
            hold_tombstones: "x".into(),
            ..TableOptions::default()
        });
        let stored: Vec<String> = all.unwrap().as_object().unwrap().keys().cloned().collect();
        let mut names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
        names.sort_unstable();
        assert!(names.is_sorted_by(|a, b| a < b), "one is there twice: {names:?}");
        assert_eq!(stored.len() + 3, names.len(), "and bucketing, retention, id: {stored:?}");
        for name in stored {
            assert!(names.contains(&name.as_str()), "{name} is stored and not declared");
        }
    }
}
