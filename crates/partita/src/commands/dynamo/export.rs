//! `partita dynamo export`: a Scan, page by page, into files.

use super::endpoint::Endpoint;
use super::{ExportOptions, Failure, Format, csv, described, key_names};
use crate::commands::tally::Tally;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Failure + '_ {
    move |error| Failure::Failed(format!("{}: {error}", path.display()))
}

pub fn run(options: &ExportOptions) -> Result<(), Failure> {
    let mut endpoint = options.at.connect()?;
    let table = described(&mut endpoint, &options.at.table)?;
    match options.format {
        Format::DynamodbJson => to_json(options, &mut endpoint, &table),
        Format::Csv => to_csv(options, &mut endpoint, &table),
    }
}

/// Gives every item of a table to `take`.
fn scan(
    endpoint: &mut Endpoint,
    table: &str,
    mut take: impl FnMut(&Value) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut request = json!({"TableName": table, "ConsistentRead": true});
    loop {
        let mut page =
            endpoint.call("Scan", &request).map_err(|error| Failure::Failed(format!("{table}: {error}")))?;
        for item in page["Items"].as_array().into_iter().flatten() {
            take(item)?;
        }
        match page["LastEvaluatedKey"].take() {
            Value::Null => return Ok(()),
            last => request["ExclusiveStartKey"] = last,
        }
    }
}

/// Files of an export, one after the other.
struct Files {
    data: PathBuf,
    /// Within the folder that was named.
    key: String,
    per_file: u64,
    open: Option<(GzEncoder<BufWriter<File>>, String, u64)>,
    manifest: Vec<u8>,
    written: u64,
}

impl Files {
    fn put(&mut self, line: &[u8]) -> io::Result<()> {
        let mut current = match self.open.take() {
            Some(current) => current,
            None => {
                self.written += 1;
                let name = format!("{:06}.json.gz", self.written);
                let file = BufWriter::new(File::create_new(self.data.join(&name))?);
                (GzEncoder::new(file, Compression::default()), name, 0)
            }
        };
        current.0.write_all(line)?;
        current.2 += 1;
        let full = current.2 >= self.per_file;
        self.open = Some(current);
        if full { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> io::Result<()> {
        let Some((encoder, name, items)) = self.open.take() else { return Ok(()) };
        encoder.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        let line = json!({"itemCount": items, "dataFileS3Key": format!("{}/data/{name}", self.key)});
        self.manifest.extend_from_slice(format!("{line}\n").as_bytes());
        Ok(())
    }
}

fn to_json(options: &ExportOptions, endpoint: &mut Endpoint, table: &Value) -> Result<(), Failure> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_millis());
    let key = format!("AWSDynamoDB/{started:014}-{:08x}", std::process::id());
    let folder = options.to.join(&key);
    let data = folder.join("data");
    fs::create_dir_all(&data).map_err(failed(&data))?;
    put_file(&folder.join("table.json"), definition(table).to_string().as_bytes())?;
    let per_file = options.items_per_file.max(1);
    let mut files = Files { data, key, per_file, open: None, manifest: Vec::new(), written: 0 };
    let mut tally = Tally::begin("exported", "items");
    scan(endpoint, &options.at.table, |item| {
        let line = format!("{}\n", json!({ "Item": item }));
        files.put(line.as_bytes()).map_err(failed(&files.data))?;
        tally.add(1, line.len() as u64);
        Ok(())
    })?;
    files.close().map_err(failed(&files.data))?;
    put_file(&folder.join("manifest-files.json"), &files.manifest)?;
    let summary = json!({
        "version": "2020-06-30", "tableArn": table["TableArn"], "tableId": table["TableId"],
        "manifestFilesS3Key": format!("{}/manifest-files.json", files.key), "itemCount": tally.items,
        "outputFormat": "DYNAMODB_JSON", "exportType": "FULL_EXPORT",
    });
    // The last file: an export that has it is whole.
    put_file(&folder.join("manifest-summary.json"), summary.to_string().as_bytes())?;
    tally.end(&format!(", to {}", folder.display()));
    Ok(())
}

fn put_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(failed(path))
}

/// What CreateTable would take to make such a table: keys, indexes and stream, billed on demand.
pub fn definition(table: &Value) -> Value {
    let mut request = json!({
        "TableName": table["TableName"], "KeySchema": table["KeySchema"],
        "AttributeDefinitions": table["AttributeDefinitions"], "BillingMode": "PAY_PER_REQUEST",
    });
    for name in ["GlobalSecondaryIndexes", "LocalSecondaryIndexes"] {
        let Some(indexes) = table[name].as_array() else { continue };
        let index = |index: &Value| json!({"IndexName": index["IndexName"], "KeySchema": index["KeySchema"], "Projection": index["Projection"]});
        request[name] = indexes.iter().map(index).collect();
    }
    if table["StreamSpecification"]["StreamEnabled"] == true {
        request["StreamSpecification"] = table["StreamSpecification"].clone();
    }
    request
}

/// The names of all attributes are needed first, so the table is read twice.
fn to_csv(options: &ExportOptions, endpoint: &mut Endpoint, table: &Value) -> Result<(), Failure> {
    let mut names = BTreeSet::new();
    scan(endpoint, &options.at.table, |item| {
        for name in item.as_object().into_iter().flat_map(|item| item.keys()) {
            if !names.contains(name) {
                names.insert(name.clone());
            }
        }
        Ok(())
    })?;
    let mut header = key_names(table);
    names.retain(|name| !header.contains(name));
    header.extend(names);
    let file = File::create_new(&options.to).map_err(failed(&options.to))?;
    let mut file = BufWriter::new(file);
    let mut line = Vec::new();
    csv::put(&mut line, header.iter().map(String::as_str));
    file.write_all(&line).map_err(failed(&options.to))?;
    let mut tally = Tally::begin("exported", "items");
    scan(endpoint, &options.at.table, |item| {
        let fields: Vec<String> = header.iter().map(|name| csv::field(&item[name.as_str()])).collect();
        line.clear();
        csv::put(&mut line, fields.iter().map(String::as_str));
        file.write_all(&line).map_err(failed(&options.to))?;
        tally.add(1, line.len() as u64);
        Ok(())
    })?;
    let file = file.into_inner().map_err(|error| failed(&options.to)(error.into_error()))?;
    file.sync_all().map_err(failed(&options.to))?;
    tally.end(&format!(", to {}", options.to.display()));
    Ok(())
}
