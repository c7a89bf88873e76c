//! Dividing a file between shards, when the number of shards has changed since it was written.

use crate::cursor::Cursor;
use crate::table::{Table, TableWriter, WriterOptions};
use model::key::token_of;
use rt::Disk;
use std::io;
use std::path::PathBuf;
use store::{StoreError, TableConfig};

/// Copies the entries of `table` into one file per shard that owns some of them; nothing is merged or dropped.
/// Returns number and path of each file, synced, their names not yet durable.
pub(crate) fn split_table(
    disk: &dyn Disk,
    table: &Table,
    config: &TableConfig,
    shards: usize,
    new_file: &mut dyn FnMut() -> (u64, PathBuf),
) -> Result<Vec<(u64, PathBuf)>, StoreError> {
    let io = |error: io::Error| StoreError::Io { context: format!("splitting {}: {error}", table.name()) };
    let statistics = table.statistics();
    let mut options = WriterOptions::new(config);
    options.log_segments = Some((statistics.log_min, statistics.log_max));
    let mut files = Vec::new();
    let mut open: Option<(u32, TableWriter)> = None;
    let mut cursor = table.cursor(None);
    cursor.seek_partition(&table.properties().first_prefix)?;
    while let Some(prefix) = cursor.partition().map(<[u8]>::to_vec) {
        let shard = token_of(&prefix).shard(shards as u32);
        if open.as_ref().is_some_and(|(owner, _)| *owner != shard)
            && let Some((_, writer)) = open.take()
        {
            writer.finish().map_err(io)?;
        }
        let (_, writer) = match &mut open {
            Some(open) => open,
            None => {
                let (number, path) = new_file();
                let writer = TableWriter::create(disk, &path, options.clone()).map_err(io)?;
                files.push((number, path));
                open.insert((shard, writer))
            }
        };
        writer.begin_partition(&prefix);
        while let Some(entry) = cursor.entry() {
            writer.add(entry).map_err(io)?;
            cursor.next()?;
        }
        cursor.next_partition()?;
    }
    if let Some((_, writer)) = open {
        writer.finish().map_err(io)?;
    }
    Ok(files)
}
