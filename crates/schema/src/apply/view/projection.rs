//! The properties that only CREATE PROJECTION has.

use crate::fault::{ProjectionFault, SchemaError};
use crate::later::{BOUND_MILLIS, LagRule, Later, parse_millis};
use crate::properties::Properties;
use crate::table::Table;
use crate::view::{Backfill, Projection};

pub(super) const NAMES: [&str; 5] = ["owner", "freshness", "on_lag", "backfill", "wait"];

pub(super) fn read(properties: &Properties) -> Result<Projection, SchemaError> {
    Ok(Projection {
        owner: properties.text("owner")?.map(str::to_string),
        backfill: backfill(properties)?,
        wait: properties.boolean("wait")?.unwrap_or(false),
        totals: None,
        later: later(properties)?,
    })
}

/// Without the ids of its tables.
fn later(properties: &Properties) -> Result<Option<Later>, SchemaError> {
    let rule = properties.text("on_lag")?;
    let text = match properties.text("freshness")? {
        None | Some("atomic") if rule.is_some() => {
            return Err(ProjectionFault::LagOfAtomic.into());
        }
        None | Some("atomic") => return Ok(None),
        Some(text) => text,
    };
    let Some(millis) = parse_millis(text) else {
        return Err(ProjectionFault::FreshnessMalformed { text: text.to_string() }.into());
    };
    if !BOUND_MILLIS.contains(&millis) {
        return Err(ProjectionFault::FreshnessOutOfBounds { text: text.to_string() }.into());
    }
    let on_lag = match rule {
        None => LagRule::default(),
        Some(word) => {
            LagRule::of_word(word).ok_or_else(|| ProjectionFault::LagRule { word: word.to_string() })?
        }
    };
    let bound_millis = u32::try_from(millis).unwrap_or(u32::MAX);
    Ok(Some(Later { bound_millis, on_lag, pending: 0, places: 0 }))
}

fn backfill(properties: &Properties) -> Result<Backfill, SchemaError> {
    let mut backfill = Backfill::default();
    for (name, value) in properties.map("backfill")?.into_iter().flatten() {
        let limit = match name.as_str() {
            "rows_per_second" => &mut backfill.rows_per_second,
            "mb_per_second" => &mut backfill.mb_per_second,
            "p99_ms" => &mut backfill.p99_millis,
            _ => {
                return Err(ProjectionFault::BackfillSetting { name: name.to_string() }.into());
            }
        };
        let number = value.parse::<u32>().ok().filter(|limit| *limit > 0);
        *limit = Some(number.ok_or_else(|| ProjectionFault::BackfillNumber {
            name: name.to_string(),
            value: value.to_string(),
        })?);
    }
    Ok(backfill)
}

/// What a projection that follows later cannot have.
pub(super) fn check_later(base: &Table, table: &Table) -> Result<(), SchemaError> {
    if table.later().is_none() {
        return Ok(());
    }
    let name = &table.name;
    if table.totals().is_some() {
        return Err(ProjectionFault::LateTotals { projection: name.to_string() }.into());
    }
    if base.bucketing().is_some() {
        return Err(ProjectionFault::LateBuckets {
            projection: name.to_string(),
            table: base.name.to_string(),
        }
        .into());
    }
    check_limit(table)
}

/// A full partition of the projection would keep it from following for ever.
pub(super) fn check_limit(table: &Table) -> Result<(), SchemaError> {
    let refuses = table.options.partition_limit().is_some_and(|limit| limit.refuse);
    match table.later() {
        Some(_) if refuses => Err(ProjectionFault::LateLimit { projection: table.name.to_string() }.into()),
        _ => Ok(()),
    }
}
