//! Properties of cells besides their values: when they were written, how long they live.

use super::input::{CellPart, CellPlace, Input, Source};
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::Expr;
use model::comparable;
use model::row::{Cell, RowView};
use model::types::DataType;
use model::value::put_part;
use store::assemble::field_path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Property {
    WriteTime,
    MaxWriteTime,
    Ttl,
}

/// Which cells of a multi-cell column are meant, as bounds on their paths.
enum Paths {
    All,
    One(Vec<u8>),
    Between(Option<Vec<u8>>, Option<Vec<u8>>),
    /// A key that is null: no cell has it.
    Nothing,
}

/// One property of one column, with its values bound.
pub struct CellInfo {
    pub slot: usize,
    property: Property,
    column: u32,
    multi_cell: bool,
    /// The result is a list with one entry per cell.
    many: bool,
    /// Of a user-defined type: the list has an entry for each field, null where there is no cell.
    fields: Option<u16>,
    paths: Paths,
    is_static: bool,
}

/// All properties a plan asks for.
#[derive(Default)]
pub struct CellInfos(Vec<CellInfo>);

impl CellInfos {
    pub fn bind(
        slots: &[usize],
        inputs: &[Input],
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<CellInfos, QueryError> {
        let mut infos = Vec::with_capacity(slots.len());
        for &slot in slots {
            let (property, place, part) = match &inputs[slot].source {
                Source::WriteTime(place, part) => (Property::WriteTime, place, part),
                Source::MaxWriteTime(place, part) => (Property::MaxWriteTime, place, part),
                Source::Ttl(place, part) => (Property::Ttl, place, part),
                _ => continue,
            };
            infos.push(CellInfo {
                slot,
                property,
                column: place.column,
                multi_cell: place.data_type.is_multi_cell(),
                many: inputs[slot].data_type.is_collection(),
                fields: match &place.data_type {
                    DataType::Udt(udt) if !udt.frozen => u16::try_from(udt.fields.len()).ok(),
                    _ => None,
                },
                paths: paths(place, part, request, ids)?,
                is_static: place.is_static,
            });
        }
        Ok(CellInfos(infos))
    }

    pub fn of_statics(&self) -> impl Iterator<Item = &CellInfo> {
        self.0.iter().filter(|info| info.is_static)
    }

    pub fn of_rows(&self) -> impl Iterator<Item = &CellInfo> {
        self.0.iter().filter(|info| !info.is_static)
    }
}

fn paths(
    place: &CellPlace,
    part: &CellPart,
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<Paths, QueryError> {
    let key_type = match &place.data_type {
        DataType::Set { element, .. } => element.as_ref(),
        DataType::Map { key, .. } => key.as_ref(),
        _ => &DataType::Blob,
    };
    let path = |expr: &Expr| -> Result<Option<Vec<u8>>, QueryError> {
        let value = expr.evaluate(request, ids)?;
        let Some(bytes) = value.bytes() else { return Ok(None) };
        let mut path = Vec::new();
        comparable::encode(key_type, false, bytes, &mut path)?;
        Ok(Some(path))
    };
    Ok(match part {
        CellPart::Whole => Paths::All,
        CellPart::Field(index) => Paths::One(field_path(*index as u16).to_vec()),
        CellPart::Element(key) => path(key)?.map_or(Paths::Nothing, Paths::One),
        CellPart::Slice(from, to) => {
            let bound = |expr: &Option<Expr>| match expr {
                Some(expr) => path(expr),
                None => Ok(None),
            };
            Paths::Between(bound(from)?, bound(to)?)
        }
    })
}

impl CellInfo {
    fn wants(&self, cell: &Cell<'_>) -> bool {
        let path = cell.path.unwrap_or_default();
        cell.column == self.column
            && (cell.path.is_some() == self.multi_cell)
            && match &self.paths {
                Paths::All => true,
                Paths::One(one) => path == one.as_slice(),
                Paths::Between(from, to) => {
                    from.as_deref().is_none_or(|from| from <= path)
                        && to.as_deref().is_none_or(|to| path <= to)
                }
                Paths::Nothing => false,
            }
    }
}

/// Appends the wire value of a property; `false`, with nothing appended, when it is null.
pub fn put_info(info: &CellInfo, row: RowView<'_>, now_seconds: u32, out: &mut Vec<u8>) -> bool {
    let live = |cell: &Cell<'_>| info.wants(cell) && cell.live_value(now_seconds).is_some();
    let mut cells = row.cells().filter(live).peekable();
    if cells.peek().is_none() {
        return false;
    }
    let ttl =
        |cell: &Cell<'_>| cell.ttl().map(|(_, expiry)| (i64::from(expiry) - i64::from(now_seconds)) as i32);
    match (info.property, info.many) {
        (Property::MaxWriteTime, _) => match cells.map(|c| c.timestamp).max() {
            Some(newest) => out.extend_from_slice(&newest.to_be_bytes()),
            None => return false,
        },
        (Property::WriteTime, false) => match cells.next() {
            Some(cell) => out.extend_from_slice(&cell.timestamp.to_be_bytes()),
            None => return false,
        },
        (Property::Ttl, false) => match cells.next().and_then(|cell| ttl(&cell)) {
            Some(left) => out.extend_from_slice(&left.to_be_bytes()),
            None => return false,
        },
        (property, true) => {
            let at = out.len();
            out.extend_from_slice(&[0; 4]);
            let mut count = 0i32;
            let mut fields = (0..info.fields.unwrap_or_default()).map(field_path);
            for cell in cells {
                let missing = fields.by_ref().take_while(|path| cell.path != Some(&path[..])).count();
                (0..missing).for_each(|_| put_part(out, None));
                count += i32::try_from(missing).unwrap_or_default() + 1;
                match property {
                    Property::Ttl => match ttl(&cell) {
                        Some(left) => put_part(out, Some(&left.to_be_bytes())),
                        None => put_part(out, None),
                    },
                    _ => put_part(out, Some(&cell.timestamp.to_be_bytes())),
                }
            }
            for _ in fields {
                put_part(out, None);
                count += 1;
            }
            out[at..at + 4].copy_from_slice(&count.to_be_bytes());
        }
    }
    true
}
