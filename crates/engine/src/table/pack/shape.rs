//! The shape of a row image: everything in it but its values (docs/format/row.md).
//!
//! Only rows without anything unusual have one: a marker or none, a time to live of the whole row or none, live
//! cells with the row's timestamp. Other rows are written as they are.

use model::vint;

const HAS_MARKER: u8 = 1;
const HAS_MARKER_TTL: u8 = 2;
const SAME_TTL: u8 = 8;

/// More columns than this are not worth taking apart.
const COLUMNS_MAX: usize = 512;

/// Splits a row image. `shape` becomes `flags (vint column delta, cell flags)*`; the values are appended to `values`,
/// as ranges of `body`: first ttl and expiry (as the vints they are) if the marker has them, then one per cell.
/// `false`, with nothing appended, when the row has no shape.
pub fn split(body: &[u8], shape: &mut Vec<u8>, values: &mut Vec<(u32, u32)>) -> bool {
    shape.clear();
    let kept = values.len();
    let split = try_split(body, shape, values).is_some();
    if !split {
        values.truncate(kept);
    }
    split
}

fn try_split(body: &[u8], shape: &mut Vec<u8>, values: &mut Vec<(u32, u32)>) -> Option<()> {
    let offset = |rest: &[u8]| (body.len() - rest.len()) as u32;
    let (&flags, mut rest) = body.split_first()?;
    shape.push(flags);
    match flags {
        0 | HAS_MARKER => {}
        TTL => {
            for _ in 0..2 {
                let start = offset(rest);
                vint::take(&mut rest)?;
                values.push((start, offset(rest)));
            }
        }
        _ => return None,
    }
    let mut columns = 0;
    while !rest.is_empty() {
        let start = offset(rest) as usize;
        vint::take_u32(&mut rest)?;
        let (&cell_flags, tail) = rest.split_first()?;
        if !(cell_flags == 0 || cell_flags == SAME_TTL && flags == TTL) {
            return None;
        }
        rest = tail;
        shape.extend_from_slice(&body[start..offset(rest) as usize]);
        let value = vint::take_slice(&mut rest)?;
        let end = offset(rest);
        values.push((end - value.len() as u32, end));
        columns += 1;
    }
    (columns <= COLUMNS_MAX).then_some(())
}

const TTL: u8 = HAS_MARKER | HAS_MARKER_TTL;

/// A shape as a reader needs it.
pub struct Shape<'a> {
    pub flags: u8,
    /// Values without a length in front: ttl and expiry.
    pub bare: usize,
    /// For each cell: column delta and cell flags, as they stand in the row.
    pub cells: Vec<&'a [u8]>,
}

impl<'a> Shape<'a> {
    pub fn parse(bytes: &'a [u8]) -> Option<Shape<'a>> {
        let (&flags, mut rest) = bytes.split_first()?;
        if !matches!(flags, 0 | HAS_MARKER | TTL) {
            return None;
        }
        let mut cells = vec![];
        while !rest.is_empty() {
            let start = rest;
            vint::take_u32(&mut rest)?;
            let (&cell_flags, tail) = rest.split_first()?;
            if !(cell_flags == 0 || cell_flags == SAME_TTL && flags == TTL) {
                return None;
            }
            rest = tail;
            cells.push(&start[..start.len() - rest.len()]);
        }
        (cells.len() <= COLUMNS_MAX).then_some(Shape { flags, bare: if flags == TTL { 2 } else { 0 }, cells })
    }

    pub fn columns(&self) -> usize {
        self.bare + self.cells.len()
    }
}
