//! From the properties of CREATE TABLE to a plan: which columns, whether they can be, and the bucket columns themselves.

use super::{Bucketing, EXTENSION, Every, HASH_BUCKETS_MAX, HashBuckets, TimeBuckets, is_time, spill};
use crate::change::{NewColumn, NewTable};
use crate::error::SchemaError;
use crate::properties::Properties;
use model::types::DataType;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What the bucket column is called unless the plan says otherwise.
pub const COLUMN: &str = "bucket";

const FORMS: &str = "use {'by': 'event_time', 'every': '1d'} for time buckets, {'by': 'task_id', 'into': 16} for hash buckets, \
     {'by': 'event_time', 'every': '1d', 'hash': 'task_id', 'into': 16} for both; time buckets that grow too large go on in finer \
     ones with 'spill': '1h', 'at': '50MB'";

/// The table with its bucket columns in the partition key, and its plan; unchanged if it has none. The record of buckets has no
/// id yet.
pub(crate) fn adopt(new: &NewTable) -> Result<(Cow<'_, NewTable>, Option<Bucketing>), SchemaError> {
    let Some(map) = written(&new.properties)? else {
        if new.properties.has("retention") {
            return Err(SchemaError::config(
                "retention drops whole time buckets, and this table has none. Add bucketing = {'by': …, 'every': '1d'}, or use \
                 default_time_to_live, which expires rows one by one",
            ));
        }
        return Ok((Cow::Borrowed(new), None));
    };
    let mut plan = plan(new, &map)?;
    if let Some(text) = new.properties.text("retention")?.or(map.get("retention").map(String::as_str)) {
        plan.retention_seconds = retention(text, plan.time.as_ref())?;
    }
    let first = map.get("column").map_or(COLUMN, String::as_str);
    let mut columns = Vec::new();
    if plan.time.is_some() {
        columns.push((first.to_string(), DataType::Timestamp));
    }
    if plan.hash.is_some() {
        let name = if plan.time.is_some() { format!("{first}_hash") } else { first.to_string() };
        columns.push((name, DataType::Int));
    }
    let table = with_columns(new, columns)?;
    refuse_unfit(&table)?;
    Ok((Cow::Owned(table), Some(plan)))
}

/// The plan as it was written: as a property, or in the form in which DESCRIBE gives it.
fn written(properties: &Properties) -> Result<Option<BTreeMap<String, String>>, SchemaError> {
    if let Some(map) = properties.map("bucketing")? {
        return Ok(Some(map.clone()));
    }
    let Some(text) = properties.map("extensions")?.and_then(|map| map.get(EXTENSION)) else {
        return Ok(None);
    };
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_string(), value.trim().to_string()))
    };
    let map: Option<BTreeMap<String, String>> = text.split(';').map(pair).collect();
    map.map(Some).ok_or_else(|| wrong(&format!("the extension {EXTENSION} holds {text}")))
}

fn wrong(text: &str) -> SchemaError {
    SchemaError::Config(format!("bucketing: {text}; {FORMS}"))
}

fn plan(new: &NewTable, map: &BTreeMap<String, String>) -> Result<Bucketing, SchemaError> {
    const KNOWN: [&str; 8] = ["by", "every", "spill", "at", "hash", "into", "column", "retention"];
    if let Some(unknown) = map.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(wrong(&format!("'{unknown}' is unknown")));
    }
    let by = map.get("by").ok_or_else(|| wrong("'by' is missing"))?;
    let time = match map.get("every") {
        None => None,
        Some(text) => {
            let every = Every::parse(text).ok_or_else(|| {
                SchemaError::Config(format!(
                    "bucketing: 'every' is '{text}'; it can be a number with m (minutes), h, d, w, mo (months) or y, from 1m to \
                     10y, or a word: 'hour', 'day', 'week', 'month', 'year'"
                ))
            })?;
            let at = place(new, by)?;
            let data_type = type_of(new, by);
            if !data_type.is_some_and(is_time) {
                return Err(SchemaError::Config(format!(
                    "bucketing: time buckets are made of a timestamp, a timeuuid or a date; {by} is none"
                )));
            }
            Some(TimeBuckets { by: at, every })
        }
    };
    let hash = match map.get("into") {
        None if map.contains_key("hash") => return Err(wrong("'hash' needs 'into', the number of buckets")),
        None => None,
        Some(text) => {
            let into: u32 = text.parse().unwrap_or(0);
            if !(2..=HASH_BUCKETS_MAX).contains(&into) {
                return Err(SchemaError::Config(format!(
                    "bucketing: 'into' is {text}; it can be 2 to {HASH_BUCKETS_MAX}. Every read of an entity merges that many \
                     partitions, so few are better"
                )));
            }
            if time.is_none() && map.contains_key("hash") {
                return Err(wrong("'hash' is for time buckets that are divided; without 'every' say 'by'"));
            }
            Some(HashBuckets { by: place(new, map.get("hash").unwrap_or(by))?, into })
        }
    };
    if time.is_none() && hash.is_none() {
        return Err(wrong("'every' or 'into' is missing"));
    }
    let spill = spill::read(map, time.as_ref(), spill::first_name(&new.clustering))?;
    Ok(Bucketing { time, hash, record: 0, spill, retention_seconds: None })
}

/// The place of a column among the clustering columns.
fn place(new: &NewTable, name: &str) -> Result<usize, SchemaError> {
    if let Some(at) = new.clustering.iter().position(|column| column == name) {
        return Ok(at);
    }
    if new.partition_key.iter().any(|column| column == name) {
        return Err(SchemaError::Config(format!(
            "bucketing: {name} is in the partition key, so all rows of a partition have the same {name} and would be in one \
             bucket. Make it a clustering column: the bucket joins the partition key by itself"
        )));
    }
    let known = new.columns.iter().any(|column| column.name == name);
    Err(SchemaError::Config(match known {
        true => format!(
            "bucketing: {name} is not in the PRIMARY KEY. The bucket of a row must follow from its key, else an UPDATE could \
             not find the row"
        ),
        false => format!("bucketing: there is no column {name}"),
    }))
}

fn type_of<'t>(new: &'t NewTable, name: &str) -> Option<&'t DataType> {
    new.columns.iter().find(|column| column.name == name).map(|column| &column.data_type)
}

/// Adds the bucket columns, or finds them where the statement declares them, as DESCRIBE does.
fn with_columns(new: &NewTable, columns: Vec<(String, DataType)>) -> Result<NewTable, SchemaError> {
    let mut table = new.clone();
    let names: Vec<&String> = columns.iter().map(|(name, _)| name).collect();
    let declared = table.partition_key.len() > names.len()
        && table.partition_key.iter().rev().zip(names.iter().rev()).all(|(key, name)| key == *name);
    for (name, data_type) in &columns {
        match type_of(&table, name) {
            None if declared => {}
            None => {
                table.columns.push(NewColumn::regular(name, data_type.clone()));
                table.partition_key.push(name.clone());
            }
            Some(found) if declared && found == data_type => {}
            Some(found) => {
                return Err(SchemaError::Config(format!(
                    "bucketing: the table has a column {name} ({found}) of its own. Leave it out: the bucket column ({name} \
                     {data_type}) is added as the last of the partition key; or call the bucket something else with 'column'"
                )));
            }
        }
    }
    Ok(table)
}

fn refuse_unfit(table: &NewTable) -> Result<(), SchemaError> {
    if table.is_compact {
        return Err(SchemaError::invalid(
            "bucketing: a table WITH COMPACT STORAGE has its form since before there were buckets; leave COMPACT STORAGE out",
        ));
    }
    if let Some(column) = table.columns.iter().find(|column| column.is_static) {
        return Err(static_in_buckets(&column.name));
    }
    Ok(())
}

pub(crate) fn static_in_buckets(name: &str) -> SchemaError {
    SchemaError::Invalid(format!(
        "bucketing: {name} is static, and a static column belongs to one partition, while the rows of an entity are in many. Keep \
         it in a table of its own with the same partition key"
    ))
}

/// `90d`, `12mo` and the like, in seconds; `0` is none.
pub(crate) fn retention(text: &str, time: Option<&TimeBuckets>) -> Result<Option<u64>, SchemaError> {
    let Some(time) = time else {
        return Err(SchemaError::config(
            "retention drops whole time buckets, and this table has none; use default_time_to_live, which expires rows one by one",
        ));
    };
    if matches!(text.trim(), "0" | "") {
        return Ok(None);
    }
    let seconds = match text.trim().strip_suffix('s').and_then(|number| number.parse().ok()) {
        Some(seconds) => Some(seconds),
        None => Every::parse(text).map(Every::seconds),
    };
    let Some(seconds) = seconds.filter(|seconds| *seconds > 0 && *seconds < (1 << 40)) else {
        return Err(SchemaError::Config(format!(
            "retention: '{text}' is no length of time; use '90d', '12mo' or '2y'"
        )));
    };
    if seconds < time.every.seconds() {
        return Err(SchemaError::Config(format!(
            "retention: '{text}' is shorter than a bucket ('every' is {}). Whole buckets are dropped, so make the buckets smaller",
            time.every
        )));
    }
    Ok(Some(seconds))
}

/// Views have the buckets that their own key makes.
pub(crate) fn refuse_on_view(properties: &Properties) -> Result<(), SchemaError> {
    match properties.has("bucketing") || properties.has("retention") {
        false => Ok(()),
        true => Err(SchemaError::invalid(
            "bucketing and retention are properties of tables. A view can have the bucket column of its base in its own key",
        )),
    }
}
