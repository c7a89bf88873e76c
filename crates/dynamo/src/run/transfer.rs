//! Exports and imports: a table's items as files in a folder that stands for a bucket, in the service's own layout.
//!
//! An export is of one moment (a backup that goes when the files are written). An import fills a table that nobody sees until it is
//! whole. Both are done when the request is answered; what became of them is remembered (`account`).

use super::backups::Row;
use super::control::uuid_text;
use super::counting::all_rows;
use super::layout::{self, internal};
use super::settings::{Transfer, TransferKind};
use super::{Caller, Dynamo, query_error, store_error};
use crate::document::{self, Document};
use crate::error::{ApiError, ErrorName};
use crate::json::{self, Writer};
use crate::messages::Layers;
use crate::operation::Operation;
use crate::request::{self, ExportTable, ImportFormat, ImportTable, Request};
use crate::size;
use crate::table::TableDefinition;
use crate::value::{Item, Value};
use database::grants::{Permission, Resource};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use store::{ReadEnd, Store};

/// The longest line of a file that is imported: an item of 400 KB in its longest form.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// Items put into a table in one commit.
const ITEMS_PER_COMMIT: usize = 64;

/// Folders that stand for buckets. Outside of them nothing is read or written.
pub trait Buckets: Send + Sync {
    fn exists(&self, bucket: &str) -> bool;
    /// Adds to a file, which is made if it is not there, as are the folders on the way.
    fn append(&self, bucket: &str, path: &str, bytes: &[u8]) -> io::Result<()>;
    /// Files whose path begins so, by name.
    fn list(&self, bucket: &str, prefix: &str) -> io::Result<Vec<String>>;
    fn open(&self, bucket: &str, path: &str) -> io::Result<Box<dyn Read + Send>>;
}

fn no_bucket(bucket: &str) -> ApiError {
    ApiError::validation(format!(
        "There is no bucket {bucket} here: start the server with --bucket {bucket}=DIR to let a folder stand for it"
    ))
}

fn failed(error: io::Error) -> ApiError {
    ApiError::validation(format!("The bucket's folder cannot be used: {error}"))
}

/// A prefix must stay within its bucket.
fn checked(prefix: Option<&str>) -> Result<String, ApiError> {
    let prefix = prefix.unwrap_or_default().trim_matches('/');
    if prefix.split('/').any(|part| part == ".." || part == ".") || prefix.contains('\0') {
        return Err(ApiError::validation("The S3 prefix must not contain . or .. as a part"));
    }
    Ok(if prefix.is_empty() { String::new() } else { format!("{prefix}/") })
}

impl<S: Store> Dynamo<S> {
    fn buckets(&self, bucket: &str) -> Result<Arc<dyn Buckets>, ApiError> {
        let buckets = self.shared.settings.buckets.clone();
        buckets.filter(|buckets| buckets.exists(bucket)).ok_or_else(|| no_bucket(bucket))
    }

    pub(super) async fn export(
        &self,
        caller: &Caller<'_>,
        export: &ExportTable,
    ) -> Result<Vec<u8>, ApiError> {
        let open =
            self.open_for(caller, Permission::Select, &export.table).map_err(|error| match error.name() {
                ErrorName::ResourceNotFound => {
                    ApiError::new(ErrorName::TableNotFound, format!("Table not found: {}", export.table))
                }
                _ => error,
            })?;
        if let Some(known) = self.repeated(TransferKind::Export, export.token.as_deref()) {
            return Ok(self.described_transfer(&known));
        }
        if export.time_ms.is_some_and(|time| time / 1_000 < caller.now_ms() / 1_000) {
            let text = "ExportTime lies in the past, and this server keeps no continuous backup: leave it out to export the table as \
                        it is now";
            return Err(ApiError::new(ErrorName::PointInTimeRecoveryUnavailable, text));
        }
        let buckets = self.buckets(&export.bucket)?;
        let suffix = uuid_text(self.runtime.ids.uuid());
        let id = format!("{:014}-{}", caller.now_ms(), suffix.get(..8).unwrap_or_default());
        let folder = format!("{}AWSDynamoDB/{id}/", checked(export.prefix.as_deref())?);
        let backup = self.make_backup(caller, &open, &format!("export-{id}")).await?;
        let written = self.write_files(caller, export, &buckets, &folder, &backup.id).await;
        self.drop_backup(caller, &backup).await?;
        let (items, bytes) = written?;
        let arn = format!("{}/export/{id}", self.shared.table_arn(&export.table));
        let transfer = Transfer {
            kind: TransferKind::Export,
            arn: arn.clone(),
            table: export.table.clone(),
            table_arn: self.shared.table_arn(&export.table),
            table_id: open.definition.id.clone(),
            token: export.token.clone(),
            started_ms: caller.now_ms(),
            items,
            imported: items,
            errors: 0,
            bytes,
            manifest: format!("{folder}manifest-summary.json"),
            echo: export.echo.clone(),
        };
        let mut summary = Vec::new();
        let mut object = Writer::object(&mut summary);
        object.string("version", "2020-06-30");
        object.string("exportArn", &arn);
        object.string("tableArn", &transfer.table_arn);
        object.string("tableId", &transfer.table_id);
        object.string("s3Bucket", &export.bucket);
        object.string("manifestFilesS3Key", &format!("{folder}manifest-files.json"));
        object.integer("itemCount", items);
        object.string("outputFormat", "DYNAMODB_JSON");
        object.end();
        self.put_file(&buckets, &export.bucket, &transfer.manifest, summary).await?;
        let answer = self.described_transfer(&transfer);
        self.remember(caller, transfer).await?;
        Ok(answer)
    }

    async fn put_file(
        &self,
        buckets: &Arc<dyn Buckets>,
        bucket: &str,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<(), ApiError> {
        let (buckets, bucket, path) = (buckets.clone(), bucket.to_string(), path.to_string());
        rt::aside(move || buckets.append(&bucket, &path, &bytes)).await.map_err(failed)
    }

    /// Items and bytes written.
    async fn write_files(
        &self,
        caller: &Caller<'_>,
        export: &ExportTable,
        buckets: &Arc<dyn Buckets>,
        folder: &str,
        backup: &str,
    ) -> Result<(i64, i64), ApiError> {
        let held = self.backups().into_iter().find(|(known, _)| known.id == backup);
        let (_, holder) = held.ok_or_else(|| internal("the backup is gone"))?;
        let file = format!("{folder}data/{backup}.json.gz");
        let mut read = all_rows(holder.table, caller.now_seconds());
        let (mut items, mut bytes) = (0, 0);
        loop {
            let mut rows = super::backups::Rows::new(holder.column, caller.now_seconds(), i64::MAX);
            let end = self.runtime.store.read(&read, &mut rows).await.map_err(store_error)?.end;
            let last = rows.last.clone();
            let mut lines = Vec::new();
            for row in &rows.found {
                let document = Document::new(&row.document).map_err(internal)?;
                if export.filter.is_some() || export.projection.is_some() {
                    let item = document.decode().map_err(internal)?;
                    if export.filter.as_ref().is_some_and(|filter| !filter.holds(Some(&item))) {
                        continue;
                    }
                    let item = export.projection.as_ref().map_or_else(|| item.clone(), |p| p.apply(&item));
                    lines.extend_from_slice(b"{\"Item\":");
                    json::write_item(&item, &mut lines);
                } else {
                    lines.extend_from_slice(b"{\"Item\":");
                    document.write_json(&mut lines).map_err(internal)?;
                }
                lines.extend_from_slice(b"}\n");
                items += 1;
                bytes += document.size() as i64;
            }
            // Each part is a member of its own; readers of gzip take them one after the other.
            let packed = rt::aside(move || pack(&lines)).await.map_err(failed)?;
            self.put_file(buckets, &export.bucket, &file, packed).await?;
            read.after = match end {
                ReadEnd::Complete => break,
                ReadEnd::Paused(position) => Some(position),
                ReadEnd::Stopped => last,
            };
        }
        let mut manifest = Vec::new();
        let mut object = Writer::object(&mut manifest);
        object.integer("itemCount", items);
        object.string("dataFileS3Key", &file);
        object.end();
        manifest.push(b'\n');
        self.put_file(buckets, &export.bucket, &format!("{folder}manifest-files.json"), manifest).await?;
        Ok((items, bytes))
    }

    pub(super) async fn import(
        &self,
        caller: &Caller<'_>,
        import: &ImportTable,
    ) -> Result<Vec<u8>, ApiError> {
        if let Some(grants) = caller.grants {
            grants
                .require(Permission::Create, &Resource::Keyspace(super::KEYSPACE.into()))
                .map_err(query_error)?;
        }
        if let Some(known) = self.repeated(TransferKind::Import, import.token.as_deref()) {
            return Ok(self.described_transfer(&known));
        }
        if import.compression.as_deref().is_some_and(|kind| kind != "GZIP") {
            return Err(ApiError::validation("InputCompressionType: this server reads NONE and GZIP"));
        }
        let buckets = self.buckets(&import.bucket)?;
        let id = uuid_text(self.runtime.ids.uuid());
        let definition = TableDefinition::create(&import.create, id, caller.now_ms());
        if self.open(&definition.name).is_ok() {
            let text = format!("Table already exists: {}", definition.name);
            return Err(ApiError::new(ErrorName::ResourceInUse, text));
        }
        let hidden = format!("restoring.{}", definition.id);
        self.add_table(caller, &hidden, definition.clone()).await?;
        let filled = self.read_files(caller, import, &definition, &buckets, &hidden).await;
        let renamed = match &filled {
            Ok(_) => self.rename_table(caller, &hidden, &definition.name).await,
            Err(error) => Err(error.clone()),
        };
        if let Err(error) = renamed {
            self.remove_table(caller, &hidden).await?;
            return Err(error);
        }
        let ReadFiles { lines, imported, errors, bytes } = filled?;
        self.open(&definition.name)?.counts.known.store(false, SeqCst);
        let suffix = definition.id.get(..8).unwrap_or_default();
        let arn =
            format!("{}/import/{:014}-{suffix}", self.shared.table_arn(&definition.name), caller.now_ms());
        let transfer = Transfer {
            kind: TransferKind::Import,
            arn,
            table_arn: self.shared.table_arn(&definition.name),
            table: definition.name,
            table_id: definition.id,
            token: import.token.clone(),
            started_ms: caller.now_ms(),
            items: lines,
            imported,
            errors,
            bytes,
            manifest: String::new(),
            echo: import.echo.clone(),
        };
        let answer = self.described_transfer(&transfer);
        self.remember(caller, transfer).await?;
        Ok(answer)
    }

    async fn read_files(
        &self,
        caller: &Caller<'_>,
        import: &ImportTable,
        definition: &TableDefinition,
        buckets: &Arc<dyn Buckets>,
        hidden: &str,
    ) -> Result<ReadFiles, ApiError> {
        let open = self.open(hidden)?;
        let prefix = checked(import.prefix.as_deref())?;
        let prefix = prefix.trim_end_matches('/').to_string();
        let (shelf, bucket) = (buckets.clone(), import.bucket.clone());
        let files = rt::aside(move || shelf.list(&bucket, &prefix)).await.map_err(failed)?;
        let mut read = ReadFiles::default();
        for file in files
            .into_iter()
            .filter(|file| !file.ends_with("manifest-summary.json") && !file.ends_with("manifest-files.json"))
            // What `partita dynamo export` leaves beside them.
            .filter(|file| !file.ends_with("/table.json"))
        {
            let (shelf, bucket, path) = (buckets.clone(), import.bucket.clone(), file.clone());
            let source = rt::aside(move || shelf.open(&bucket, &path)).await.map_err(failed)?;
            let source: Box<dyn std::io::Read + Send> = match import.compression.is_some() {
                true => Box::new(MultiGzDecoder::new(source)),
                false => source,
            };
            let mut lines = Lines {
                source: BufReader::new(source),
                format: import.format,
                delimiter: import.csv_delimiter.unwrap_or(','),
                header: import.csv_header.clone(),
                definition: definition.clone(),
            };
            loop {
                let (back, batch) = rt::aside(move || {
                    let batch = lines.batch();
                    (lines, batch)
                })
                .await;
                lines = back;
                let batch = batch.map_err(failed)?;
                read.lines += batch.lines;
                read.errors += batch.errors;
                read.imported += batch.items.len() as i64;
                read.bytes += batch.items.iter().map(|item| size::item(item) as i64).sum::<i64>();
                let mut rows = Vec::with_capacity(batch.items.len());
                for item in &batch.items {
                    let Some(key) = definition.stored_key(item) else { continue };
                    let place = layout::item_place(&key)?;
                    // Of two with the same key the later one counts, as the service has it.
                    rows.retain(|row: &Row| row.key != place.key || row.clustering != place.clustering);
                    let document = document::encode(item);
                    rows.push(Row { key: place.key, clustering: place.clustering, timestamp: 0, document });
                }
                self.put_rows(caller, &open, rows).await?;
                if batch.ended {
                    break;
                }
            }
        }
        Ok(read)
    }

    fn repeated(&self, kind: TransferKind, token: Option<&str>) -> Option<Transfer> {
        let token = token?;
        self.shared
            .transfers()
            .into_iter()
            .find(|known| known.kind == kind && known.token.as_deref() == Some(token))
    }

    pub(super) fn describe_transfer(&self, kind: TransferKind, arn: &str) -> Result<Vec<u8>, ApiError> {
        let found = self.shared.transfers().into_iter().find(|known| known.kind == kind && known.arn == arn);
        let (name, word) = match kind {
            TransferKind::Export => (ErrorName::ExportNotFound, "Export"),
            TransferKind::Import => (ErrorName::ImportNotFound, "Import"),
        };
        let found = found.ok_or_else(|| ApiError::new(name, format!("{word} not found: {arn}")))?;
        Ok(self.described_transfer(&found))
    }

    pub(super) fn list_transfers(
        &self,
        kind: TransferKind,
        table: Option<&str>,
        skip: usize,
        limit: usize,
    ) -> Vec<u8> {
        let mut found = self.shared.transfers();
        found.retain(|known| {
            known.kind == kind && table.is_none_or(|table| known.table == table || known.table_arn == table)
        });
        let all = found.len();
        let found: Vec<Transfer> = found.into_iter().skip(skip).take(limit).collect();
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let (list, word) = match kind {
            TransferKind::Export => ("ExportSummaries", "Export"),
            TransferKind::Import => ("ImportSummaryList", "Import"),
        };
        object.list(list, &found, |transfer, out| {
            let mut summary = Writer::object(out);
            summary.string(&format!("{word}Arn"), &transfer.arn);
            summary.string(&format!("{word}Status"), "COMPLETED");
            if kind == TransferKind::Import {
                summary.string("TableArn", &transfer.table_arn);
                summary.time("StartTime", transfer.started_ms);
            } else {
                summary.string("ExportType", "FULL_EXPORT");
            }
            summary.end();
        });
        let listed = skip.saturating_add(found.len());
        if listed < all {
            // As long as the tokens of ListImports must be.
            object.string("NextToken", &format!("{listed:0112x}"));
        }
        object.end();
        out
    }

    fn described_transfer(&self, transfer: &Transfer) -> Vec<u8> {
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let word = match transfer.kind {
            TransferKind::Export => "Export",
            TransferKind::Import => "Import",
        };
        let mut description = object.nested(match transfer.kind {
            TransferKind::Export => "ExportDescription",
            TransferKind::Import => "ImportTableDescription",
        });
        description.string(&format!("{word}Arn"), &transfer.arn);
        description.string(&format!("{word}Status"), "COMPLETED");
        description.string("TableArn", &transfer.table_arn);
        description.string("TableId", &transfer.table_id);
        description.time("StartTime", transfer.started_ms);
        description.time("EndTime", transfer.started_ms);
        match transfer.kind {
            TransferKind::Export => {
                description.time("ExportTime", transfer.started_ms);
                description.string("ExportFormat", "DYNAMODB_JSON");
                description.string("ExportType", "FULL_EXPORT");
                description.string("ExportManifest", &transfer.manifest);
                description.integer("BilledSizeBytes", transfer.bytes);
                description.integer("ItemCount", transfer.items);
            }
            TransferKind::Import => {
                description.integer("ProcessedItemCount", transfer.items);
                description.integer("ImportedItemCount", transfer.imported);
                description.integer("ErrorCount", transfer.errors);
                description.integer("ProcessedSizeBytes", transfer.bytes);
            }
        }
        // What the client said, given back.
        if let Some(echo) = transfer.echo.strip_prefix(b"{").and_then(|echo| echo.strip_suffix(b"}"))
            && !echo.is_empty()
        {
            description.out.push(b',');
            description.out.extend_from_slice(echo);
        }
        description.end();
        object.end();
        out
    }
}

/// What came of the files.
#[derive(Default)]
struct ReadFiles {
    lines: i64,
    imported: i64,
    errors: i64,
    bytes: i64,
}

fn pack(lines: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(lines)?;
    encoder.finish()
}

/// A file on its way into a table.
struct Lines {
    source: BufReader<Box<dyn std::io::Read + Send>>,
    format: ImportFormat,
    delimiter: char,
    header: Option<Vec<String>>,
    definition: TableDefinition,
}

#[derive(Default)]
struct Batch {
    items: Vec<Item>,
    lines: i64,
    errors: i64,
    ended: bool,
}

impl Lines {
    fn batch(&mut self) -> io::Result<Batch> {
        let mut batch = Batch::default();
        while batch.items.len() < ITEMS_PER_COMMIT {
            let mut line = Vec::new();
            if (&mut self.source).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
                batch.ended = true;
                break;
            }
            if line.last() != Some(&b'\n') && line.len() as u64 >= LINE_BYTES_MAX {
                return Err(io::Error::other("a line is longer than any item can be"));
            }
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if self.format == ImportFormat::Csv && self.header.is_none() {
                self.header = Some(fields(line, self.delimiter));
                continue;
            }
            batch.lines += 1;
            let item = match self.format {
                ImportFormat::DynamoJson => item_of_json(line),
                ImportFormat::Csv => self.item_of_csv(line),
            };
            let good = |item: &Item| {
                self.definition.key_of_item(item).is_ok()
                    && self.definition.check_index_keys(item, false).is_ok()
                    && size::item(item) <= size::ITEM_MAX
            };
            match item.filter(good) {
                Some(item) => batch.items.push(item),
                None => batch.errors += 1,
            }
        }
        Ok(batch)
    }

    /// Keys have the types of the table; everything else is text.
    fn item_of_csv(&self, line: &[u8]) -> Option<Item> {
        let mut item = Item::new();
        for (name, text) in self.header.as_ref()?.iter().zip(fields(line, self.delimiter)) {
            let indexes = self.definition.indexes.iter().flat_map(|index| index.key.attributes());
            let kind = self.definition.key.attributes().chain(indexes).find(|key| key.name == *name);
            let value = match kind.map(|key| key.kind.name()) {
                Some("N") => Value::N(crate::number::Number::parse(&text).ok()?),
                Some("B") => Value::B(json::decode_base64(text.as_bytes()).ok()?),
                _ if text.is_empty() => continue,
                _ => Value::S(text),
            };
            item.insert(name.clone(), value);
        }
        Some(item)
    }
}

/// `{"Item":{...}}` read as PutItem would read it.
fn item_of_json(line: &[u8]) -> Option<Item> {
    let rest = line.strip_prefix(b"{")?;
    let mut body = br#"{"TableName":"import","#.to_vec();
    body.extend_from_slice(rest);
    match request::parse(Operation::PutItem, &body, Layers::Older).ok()? {
        Request::PutItem(put) => Some(put.item),
        _ => None,
    }
}

/// The fields of a line; in quotes, two quotes are one.
fn fields(line: &[u8], delimiter: char) -> Vec<String> {
    let text = String::from_utf8_lossy(line);
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                fields.last_mut().into_iter().for_each(|field| field.push('"'));
            }
            '"' => quoted = !quoted,
            _ if letter == delimiter && !quoted => fields.push(String::new()),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(letter)),
        }
    }
    fields
}
