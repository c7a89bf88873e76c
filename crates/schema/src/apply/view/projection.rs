//! The properties that only CREATE PROJECTION has.

use crate::error::SchemaError;
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
            return Err(SchemaError::config(
                "on_lag says what happens when a projection is late, and freshness = 'atomic' never is: say freshness = '5s', or leave it out",
            ));
        }
        None | Some("atomic") => return Ok(None),
        Some(text) => text,
    };
    let Some(millis) = parse_millis(text) else {
        return Err(SchemaError::config(format!(
            "freshness = '{text}' is no length of time: it is 'atomic' (in the commit of its table), or how far the projection may be behind, \
             as '500ms', '5s' or '2m'"
        )));
    };
    if !BOUND_MILLIS.contains(&millis) {
        return Err(SchemaError::config(format!(
            "freshness = '{text}' is out of bounds: it is between '100ms' and '24h', or 'atomic'"
        )));
    }
    let on_lag = match rule {
        None => LagRule::default(),
        Some(word) => LagRule::of_word(word).ok_or_else(|| {
            SchemaError::config(format!(
                "on_lag is 'wait' (writers of the table wait until the projection has caught up), 'refuse' (they are refused as overload) or 'late' \
                 (the projection is late), not '{word}'"
            ))
        })?,
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
                return Err(SchemaError::config(format!(
                    "backfill has no setting '{name}'; it has {{'rows_per_second': '20000'}}, {{'mb_per_second': '5'}} and {{'p99_ms': '20'}}"
                )));
            }
        };
        let number = value.parse::<u32>().ok().filter(|limit| *limit > 0);
        *limit = Some(number.ok_or_else(|| {
            SchemaError::config(format!("{name} of backfill is a positive number, not '{value}'"))
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
        return Err(SchemaError::Invalid(format!(
            "Projection '{name}' has aggregates, and totals are kept in the commit of their table: leave freshness out, or say freshness = 'atomic'"
        )));
    }
    if base.bucketing().is_some() {
        return Err(SchemaError::Invalid(format!(
            "Projection '{name}' cannot follow later: table {} has buckets, and its rows move from one to another. Leave freshness out, or say \
             freshness = 'atomic'",
            base.name
        )));
    }
    check_limit(table)
}

/// A full partition of the projection would keep it from following for ever.
pub(super) fn check_limit(table: &Table) -> Result<(), SchemaError> {
    let refuses = table.options.partition_limit().is_some_and(|limit| limit.refuse);
    match table.later() {
        Some(_) if refuses => Err(SchemaError::Invalid(format!(
            "Projection '{}' follows its table later, when writes cannot be refused any more: use partition_limit with 'action': 'warn'",
            table.name
        ))),
        _ => Ok(()),
    }
}
