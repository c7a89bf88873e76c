//! Partitions near or at their limit, in words: the key, the size, the limit and what to do.

use crate::context::Context;
use model::literal::format_text;
use model::types::DataType;
use schema::Table;
use store::{Mutation, PartitionLimit, Store};

/// A partition key as text: values of several columns with a colon between, as nodetool shows them.
pub fn key_text(types: &[&DataType], key: &[u8]) -> String {
    let shown = |data_type: &DataType, value: &[u8]| match data_type {
        // Keys of the DynamoDB API are bytes here, and mostly text there.
        DataType::Blob => readable(value),
        other => format_text(other, value).unwrap_or_else(|| hex(value)),
    };
    match types {
        [only] => shown(only, key),
        [] => readable(key),
        types => {
            let mut rest = key;
            let mut parts = Vec::with_capacity(types.len());
            for data_type in types {
                // Cut keys end early.
                let Some((len, behind)) = rest.split_first_chunk::<2>() else { break };
                let len = usize::from(u16::from_be_bytes(*len));
                let Some(value) = behind.get(..len) else { break };
                parts.push(shown(data_type, value));
                rest = behind.get(len + 1..).unwrap_or_default();
            }
            parts.join(":")
        }
    }
}

/// Text where it is text that can be shown.
fn readable(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && !text.contains(char::is_control) => text.to_string(),
        _ => hex(bytes),
    }
}

fn hex(bytes: &[u8]) -> String {
    format_text(&DataType::Blob, bytes).unwrap_or_default()
}

/// A partition of `table` that has come close to its limit, or has reached it.
pub struct Crowded<'a> {
    pub table: &'a Table,
    pub key: &'a [u8],
    pub bytes: u64,
    pub rows: u64,
    pub limit: PartitionLimit,
}

impl Crowded<'_> {
    /// The error for a refused writer.
    pub fn refusal(&self) -> String {
        let table = self.name();
        format!(
            "{}; the write was refused. Deletes and reads still work. To go on, split the partition: copy the table into one \
             created WITH bucketing; or raise the limit: ALTER TABLE {table} WITH partition_limit = {{…}}",
            self.facts()
        )
    }

    /// The warning for a writer whose write was accepted.
    pub fn warning(&self) -> String {
        let then = if self.limit.refuse { "; writes will be refused at the limit" } else { "" };
        format!("{}{then}", self.facts())
    }

    fn name(&self) -> String {
        format!("{}.{}", self.table.keyspace, self.table.name)
    }

    fn facts(&self) -> String {
        let types: Vec<&DataType> = self.table.partition_key.iter().map(|column| &column.data_type).collect();
        let key = key_text(&types, self.key);
        let (bytes, rows) = (self.bytes, self.rows);
        let limit = match (self.limit.bytes, self.limit.rows) {
            (u64::MAX, rows) => format!("{rows} rows"),
            (bytes, u64::MAX) => format!("{bytes} bytes"),
            (bytes, rows) => format!("{bytes} bytes or {rows} rows"),
        };
        format!("Partition {key} of {} holds {bytes} bytes in {rows} rows; its limit is {limit}", self.name())
    }
}

/// Warns once for each partition that the mutations crowd further.
pub(crate) fn warn<'t, S: Store>(
    ctx: &Context<'_, S>,
    mutations: &[Mutation],
    table_of: impl Fn(&Mutation) -> Option<&'t Table>,
) {
    for mutation in mutations.iter().filter(|mutation| mutation.adds_data()) {
        let Some((bytes, rows, limit)) = ctx.store.crowding(mutation.table, &mutation.key) else { continue };
        if let Some(table) = table_of(mutation) {
            let key = mutation.key.bytes();
            ctx.warn(Crowded { table, key, bytes, rows, limit }.warning());
        }
    }
}
