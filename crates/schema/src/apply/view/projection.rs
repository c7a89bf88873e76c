//! The properties that only CREATE PROJECTION has.

use crate::error::SchemaError;
use crate::properties::Properties;
use crate::view::Projection;

pub(super) const NAMES: [&str; 4] = ["owner", "freshness", "backfill", "wait"];

pub(super) fn read(properties: &Properties) -> Result<Projection, SchemaError> {
    match properties.text("freshness")? {
        None | Some("atomic") => {}
        Some(other) => {
            return Err(SchemaError::config(format!(
                "freshness = '{other}' is not built yet: a projection is in the commit of its table. Leave it out, or say \
                 freshness = 'atomic'"
            )));
        }
    }
    let mut projection = Projection {
        owner: properties.text("owner")?.map(str::to_string),
        backfill_rows_per_second: None,
        wait: properties.boolean("wait")?.unwrap_or(false),
        totals: None,
    };
    for (name, value) in properties.map("backfill")?.into_iter().flatten() {
        if name != "rows_per_second" {
            return Err(SchemaError::config(format!(
                "backfill has no setting '{name}'; it has {{'rows_per_second': '20000'}}"
            )));
        }
        let limit = value.parse::<u32>().ok().filter(|limit| *limit > 0);
        projection.backfill_rows_per_second = Some(limit.ok_or_else(|| {
            SchemaError::config(format!("rows_per_second of backfill is a positive number, not '{value}'"))
        })?);
    }
    Ok(projection)
}
