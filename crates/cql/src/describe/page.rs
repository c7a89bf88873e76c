//! Rows of a DESCRIBE as a result page.

use crate::CqlError;
use model::types::DataType;
use query::spec::put_value;
use query::{ColumnSpec, Request, Rows};
use std::sync::Arc;

/// One value per column; none is null.
pub(super) type Row = Vec<Vec<u8>>;

/// Paging state: this byte, the number of the next row, the schema version.
const STATE_FORMAT: u8 = 1;

pub(super) fn paged(
    columns: impl Iterator<Item = (&'static str, DataType)>,
    rows: Vec<Row>,
    version: [u8; 16],
    request: &Request<'_>,
) -> Result<Rows, CqlError> {
    let columns: Arc<[ColumnSpec]> = columns
        .map(|(name, data_type)| ColumnSpec {
            keyspace: "system".into(),
            table: "describe".into(),
            name: name.into(),
            data_type,
        })
        .collect();
    let start = match request.paging_state {
        None => 0,
        Some(state) => next_row(state, version)?,
    };
    let size = request.page_size.map_or(usize::MAX, |size| size as usize).max(1);
    let mut page = Rows::empty(columns);
    for row in rows.iter().skip(start).take(size) {
        row.iter().for_each(|value| put_value(&mut page.body, Some(value)));
        page.count += 1;
    }
    let end = start.saturating_add(page.count as usize);
    // A full page is followed by another, though it may be empty, as those of a SELECT are.
    if end < rows.len() || page.count as usize == size {
        page.paging_state = Some(state(end, version));
    }
    Ok(page)
}

fn state(next: usize, version: [u8; 16]) -> Vec<u8> {
    let mut state = vec![STATE_FORMAT];
    state.extend_from_slice(&(next as u32).to_be_bytes());
    state.extend_from_slice(&version);
    state
}

fn next_row(state: &[u8], version: [u8; 16]) -> Result<usize, CqlError> {
    let invalid = || CqlError::Protocol("Invalid value for the paging state".into());
    let rest = state.strip_prefix(&[STATE_FORMAT]).ok_or_else(invalid)?;
    let (number, made_for) = rest.split_first_chunk::<4>().ok_or_else(invalid)?;
    if made_for.len() != version.len() {
        return Err(invalid());
    }
    if made_for != version {
        return Err(CqlError::invalid(
            "The schema has changed since the previous page of the DESCRIBE statement result. Please retry the \
             DESCRIBE statement.",
        ));
    }
    Ok(u32::from_be_bytes(*number) as usize)
}
