//! The table files at open: all there, the right ones, each with the shard that owns it now.

use super::error::OpenError;
use super::layout::Layout;
use super::verify::needed_segments;
use crate::background::publish::file_record;
use crate::background::split::split_table;
use crate::manifest::{Edit, FileId, FileRecord, Manifest, Peeked};
use crate::table::Table;
use model::key::token_of;
use rt::Disk;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{StoreError, TableConfig, TableId};

/// Per shard: the files of each table.
pub(super) type ShardFiles = Vec<BTreeMap<TableId, Vec<Arc<Table>>>>;

/// Refuses a manifest that names table files or log segments that are not there. A missing file together
/// with a torn last record is blamed on the manifest: the record is what would have taken the file out.
pub(super) fn check_files(
    disk: &dyn Disk,
    layout: &Layout,
    manifest: &Peeked,
    tables: &[TableConfig],
) -> Result<(), OpenError> {
    let missing = |path: &std::path::Path| -> Result<bool, OpenError> {
        disk.exists(path).map(|there| !there).map_err(OpenError::io(path.display()))
    };
    let blame = |file: &str| manifest.blame(&layout.dir, file).map(OpenError::from);
    let state = &manifest.state;
    for record in state.files.values().filter(|file| is_live(file, tables)) {
        let path = layout.table(record.id);
        if missing(&path)? {
            let file = path.display().to_string();
            return Err(blame(&file).unwrap_or(OpenError::FileMissing { file }));
        }
    }
    needed_segments(disk, layout, manifest).map(|_| ())
}

fn is_live(file: &FileRecord, tables: &[TableConfig]) -> bool {
    tables.iter().any(|t| t.id == file.table && t.incarnation == file.incarnation)
}

/// Opens what the manifest names, drops what belongs to no table any more, divides what spans several shards,
/// removes what an interrupted job left.
pub(super) fn open_files(
    disk: &dyn Disk,
    layout: &Layout,
    manifest: &Manifest,
    tables: &[TableConfig],
    shards: usize,
) -> Result<ShardFiles, OpenError> {
    let state = manifest.state();
    let (live, gone): (Vec<_>, Vec<_>) = state.files.values().partition(|file| is_live(file, tables));
    let gone: Vec<FileId> = gone.iter().map(|file| file.id).collect();
    manifest.remove_files(&gone)?;
    // Before anything is written: leftovers may have the numbers that new files will get.
    remove_leftovers(disk, layout, manifest)?;
    let mut found: ShardFiles = (0..shards).map(|_| BTreeMap::new()).collect();
    let mut place = |file: Arc<Table>, table: TableId, shard: u32| {
        if let Some(tables) = found.get_mut(shard as usize) {
            tables.entry(table).or_default().push(file);
        }
    };
    let mut spanning = Vec::new();
    for record in live {
        let file = Arc::new(open_file(disk, layout, record)?);
        let (first, last) = (record.first_token.shard(shards as u32), record.last_token.shard(shards as u32));
        match first == last {
            true => place(file, record.table, first),
            false => spanning.push((file, record)),
        }
    }
    let count = spanning.len();
    for (done, (file, record)) in spanning.into_iter().enumerate() {
        tracing::info!(file = file.name(), done, of = count, "dividing a file between shards");
        let Some(config) = tables.iter().find(|table| table.id == record.table) else { continue };
        for part in divide(disk, layout, manifest, config, &file, shards)? {
            let shard = token_of(&part.properties().first_prefix).shard(shards as u32);
            place(part, record.table, shard);
        }
    }
    Ok(found)
}

pub(super) fn open_file(disk: &dyn Disk, layout: &Layout, record: &FileRecord) -> Result<Table, OpenError> {
    let path = layout.table(record.id);
    let name = || path.display().to_string();
    if !disk.exists(&path).map_err(OpenError::io(path.display()))? {
        return Err(OpenError::FileMissing { file: name() });
    }
    let table =
        Table::open(disk, &path, record.id.0).map_err(|error| OpenError::Table { file: name(), error })?;
    let properties = table.properties();
    let tokens = (token_of(&properties.first_prefix), token_of(&properties.last_prefix));
    if (properties.table, properties.incarnation) != (record.table.0, record.incarnation)
        || table.bytes() != record.bytes
        || tokens != (record.first_token, record.last_token)
        || table.statistics().log_max != record.log_max
    {
        let what = "the file is not the one the manifest describes".to_owned();
        let error = StoreError::Corrupt { file: name(), offset: 0, what };
        return Err(OpenError::Table { file: name(), error });
    }
    Ok(table)
}

/// Replaces a file by one per shard, in one step of the manifest.
fn divide(
    disk: &dyn Disk,
    layout: &Layout,
    manifest: &Manifest,
    config: &TableConfig,
    file: &Arc<Table>,
    shards: usize,
) -> Result<Vec<Arc<Table>>, OpenError> {
    let failed = |error| OpenError::Table { file: file.name().to_owned(), error };
    let mut new_file = || {
        let id = manifest.next_file();
        (id.0, layout.table(id))
    };
    let parts = split_table(disk, file, config, shards, &mut new_file).map_err(failed)?;
    disk.sync_dir(&layout.tables).map_err(OpenError::io(layout.tables.display()))?;
    let open = |(number, path): (u64, std::path::PathBuf)| Table::open(disk, &path, number).map(Arc::new);
    let parts: Vec<Arc<Table>> = parts.into_iter().map(open).collect::<Result<_, _>>().map_err(failed)?;
    let mut edits: Vec<Edit> = parts.iter().map(|part| Edit::Add(file_record(config, part))).collect();
    edits.push(Edit::Remove(FileId(file.number())));
    manifest.publish(&edits)?;
    if let Err(error) = disk.remove(file.path()) {
        tracing::warn!(file = file.name(), %error, "a file that is not needed any more stays behind");
    }
    Ok(parts)
}

/// Files with our names that the manifest does not know: left by a job that was cut off.
fn remove_leftovers(disk: &dyn Disk, layout: &Layout, manifest: &Manifest) -> Result<(), OpenError> {
    let state = manifest.state();
    for name in disk.list(&layout.tables).map_err(OpenError::io(layout.tables.display()))? {
        let path = layout.tables.join(&name);
        match Layout::parse_table_name(&name) {
            Some(id) if state.files.contains_key(&id) => {}
            Some(_) => {
                tracing::info!(file = %path.display(), "removing what an interrupted job left");
                disk.remove(&path).map_err(OpenError::io(path.display()))?;
            }
            None => tracing::warn!(file = %path.display(), "not a file of the database; left alone"),
        }
    }
    Ok(())
}
