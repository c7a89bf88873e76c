//! From the properties of CREATE TABLE to a plan: which columns, whether they can be, and the bucket columns themselves.

use super::{Bucketing, EXTENSION, Every, HASH_BUCKETS_MAX, HashBuckets, TimeBuckets, is_time, spill};
use crate::change::{NewColumn, NewTable};
use crate::fault::{BucketingFault, SchemaError};
use crate::properties::Properties;
use model::types::DataType;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What the bucket column is called unless the plan says otherwise.
pub const COLUMN: &str = "bucket";

/// The table with its bucket columns in the partition key, and its plan; unchanged if it has none. The record of buckets has no
/// id yet.
pub(crate) fn adopt(new: &NewTable) -> Result<(Cow<'_, NewTable>, Option<Bucketing>), SchemaError> {
    let Some(map) = written(&new.properties)? else {
        if new.properties.has("retention") {
            return Err(BucketingFault::RetentionAlone.into());
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
    map.map(Some).ok_or_else(|| BucketingFault::Extension { name: EXTENSION, text: text.clone() }.into())
}

fn plan(new: &NewTable, map: &BTreeMap<String, String>) -> Result<Bucketing, SchemaError> {
    const KNOWN: [&str; 8] = ["by", "every", "spill", "at", "hash", "into", "column", "retention"];
    if let Some(unknown) = map.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(BucketingFault::Unknown { name: unknown.to_string() }.into());
    }
    let by = map.get("by").ok_or(BucketingFault::NoBy)?;
    let time = match map.get("every") {
        None => None,
        Some(text) => {
            let every = Every::parse(text).ok_or_else(|| BucketingFault::Every { text: text.to_string() })?;
            let at = place(new, by)?;
            let data_type = type_of(new, by);
            if !data_type.is_some_and(is_time) {
                return Err(BucketingFault::NoTime { column: by.to_string() }.into());
            }
            Some(TimeBuckets { by: at, every })
        }
    };
    let hash = match map.get("into") {
        None if map.contains_key("hash") => return Err(BucketingFault::HashWithoutInto.into()),
        None => None,
        Some(text) => {
            let into: u32 = text.parse().unwrap_or(0);
            if !(2..=HASH_BUCKETS_MAX).contains(&into) {
                return Err(BucketingFault::Into { text: text.to_string(), most: HASH_BUCKETS_MAX }.into());
            }
            if time.is_none() && map.contains_key("hash") {
                return Err(BucketingFault::HashWithoutEvery.into());
            }
            Some(HashBuckets { by: place(new, map.get("hash").unwrap_or(by))?, into })
        }
    };
    if time.is_none() && hash.is_none() {
        return Err(BucketingFault::NoBuckets.into());
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
        return Err(BucketingFault::InPartitionKey { column: name.to_string() }.into());
    }
    let known = new.columns.iter().any(|column| column.name == name);
    let column = name.to_string();
    Err(match known {
        true => BucketingFault::NotInKey { column },
        false => BucketingFault::NoColumn { column },
    }
    .into())
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
                return Err(BucketingFault::ColumnTaken {
                    column: name.to_string(),
                    found: found.clone(),
                    data_type: data_type.clone(),
                }
                .into());
            }
        }
    }
    Ok(table)
}

fn refuse_unfit(table: &NewTable) -> Result<(), SchemaError> {
    if table.is_compact {
        return Err(BucketingFault::OfCompact.into());
    }
    if let Some(column) = table.columns.iter().find(|column| column.is_static) {
        return Err(static_in_buckets(&column.name));
    }
    Ok(())
}

pub(crate) fn static_in_buckets(name: &str) -> SchemaError {
    BucketingFault::StaticColumn { column: name.to_string() }.into()
}

/// `90d`, `12mo` and the like, in seconds; `0` is none.
pub(crate) fn retention(text: &str, time: Option<&TimeBuckets>) -> Result<Option<u64>, SchemaError> {
    let Some(time) = time else {
        return Err(BucketingFault::RetentionWithoutTime.into());
    };
    if matches!(text.trim(), "0" | "") {
        return Ok(None);
    }
    let seconds = match text.trim().strip_suffix('s').and_then(|number| number.parse().ok()) {
        Some(seconds) => Some(seconds),
        None => Every::parse(text).map(Every::seconds),
    };
    let Some(seconds) = seconds.filter(|seconds| *seconds > 0 && *seconds < (1 << 40)) else {
        return Err(BucketingFault::RetentionMalformed { text: text.to_string() }.into());
    };
    if seconds < time.every.seconds() {
        return Err(BucketingFault::RetentionTooShort { text: text.to_string(), every: time.every }.into());
    }
    Ok(Some(seconds))
}

/// Views have the buckets that their own key makes.
pub(crate) fn refuse_on_view(properties: &Properties) -> Result<(), SchemaError> {
    match properties.has("bucketing") || properties.has("retention") {
        false => Ok(()),
        true => Err(BucketingFault::OfView.into()),
    }
}
