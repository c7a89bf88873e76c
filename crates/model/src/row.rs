//! Row images: one row's marker, deletion and cells in one byte string (layout: docs/format/row.md).
//!
//! The same bytes travel in commit records, lie in memtables and, with the base timestamp
//! delta-coded, in files. A [`RowView`] borrows them; reading cells allocates nothing.
//! A view over bytes from outside must pass [`RowView::check`] once; after that iteration is total.
//! Does not decide between versions of a row: see `merge`.

use crate::deletion::{Deletion, Marker, Timestamp};
use crate::vint;

/// Identifies a column within its table for ever; never reused after DROP.
pub type ColumnId = u32;

/// The cell that keeps clustering values as they were written, where the clustering key does not give them back (the
/// scale of decimals). It belongs to no column, and like a cell of a dropped column it keeps no row alive.
pub const KEY_AS_WRITTEN: ColumnId = ColumnId::MAX;

/// The value of a cell of [`KEY_AS_WRITTEN`]: each clustering value with its length before it.
pub fn encode_written<V: AsRef<[u8]>>(values: &[V]) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.iter().map(|v| v.as_ref().len() + 4).sum());
    for value in values {
        out.extend_from_slice(&(value.as_ref().len() as u32).to_be_bytes());
        out.extend_from_slice(value.as_ref());
    }
    out
}

/// The values inside what [`encode_written`] made.
pub fn written_values(mut kept: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (len, rest) = kept.split_first_chunk::<4>()?;
        let (value, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        kept = rest;
        Some(value)
    })
}

/// "Never": something lives for ever.
pub const NEVER: u32 = u32::MAX;

const HAS_MARKER: u8 = 1;
const HAS_MARKER_TTL: u8 = 2;
const HAS_DELETION: u8 = 4;
const ROW_FLAGS: u8 = HAS_MARKER | HAS_MARKER_TTL | HAS_DELETION;

const TOMBSTONE: u8 = 1;
const EXPIRING: u8 = 2;
const OWN_TIMESTAMP: u8 = 4;
const SAME_TTL: u8 = 8;
const PATH: u8 = 16;
const COMPLEX_DELETION: u8 = 32;
const CELL_FLAGS: u8 = 63;

/// A borrowed row image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowView<'a> {
    base: Timestamp,
    body: &'a [u8],
}

/// One cell of a row image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell<'a> {
    pub column: ColumnId,
    /// The element of a multi-cell column; `None` for simple cells and complex deletions.
    pub path: Option<&'a [u8]>,
    pub timestamp: Timestamp,
    pub state: CellState<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState<'a> {
    Live(&'a [u8]),
    /// Live until `expiry` (seconds since 1970), a tombstone from then on.
    Expiring {
        value: &'a [u8],
        ttl: u32,
        expiry: u32,
    },
    Tombstone {
        local_seconds: u32,
    },
    /// Deletes the elements of a multi-cell column written up to the cell's timestamp.
    ComplexDeletion {
        local_seconds: u32,
    },
}

impl<'a> Cell<'a> {
    /// The value if the cell is live at `now_seconds`.
    #[inline]
    pub fn live_value(&self, now_seconds: u32) -> Option<&'a [u8]> {
        match self.state {
            CellState::Live(value) => Some(value),
            CellState::Expiring { value, expiry, .. } if now_seconds < expiry => Some(value),
            _ => None,
        }
    }

    pub fn is_complex_deletion(&self) -> bool {
        matches!(self.state, CellState::ComplexDeletion { .. })
    }

    /// Remaining and original time to live of an expiring cell.
    pub fn ttl(&self) -> Option<(u32, u32)> {
        match self.state {
            CellState::Expiring { ttl, expiry, .. } => Some((ttl, expiry)),
            _ => None,
        }
    }
}

impl<'a> RowView<'a> {
    /// An image as stored in memory and in the log: eight bytes of base timestamp, then the body.
    #[inline]
    pub fn from_payload(payload: &'a [u8]) -> Option<RowView<'a>> {
        let (base, body) = payload.split_first_chunk::<8>()?;
        Some(RowView { base: i64::from_be_bytes(*base), body })
    }

    /// An image whose base timestamp is kept elsewhere (files delta-code it).
    #[inline]
    pub fn from_parts(base: Timestamp, body: &'a [u8]) -> RowView<'a> {
        RowView { base, body }
    }

    pub fn base(&self) -> Timestamp {
        self.base
    }

    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    pub fn to_payload(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(8 + self.body.len());
        self.put_payload(&mut payload);
        payload
    }

    pub fn put_payload(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.base.to_be_bytes());
        out.extend_from_slice(self.body);
    }

    /// Whether the bytes are a well-formed image: flags known, cells in order, nothing left over.
    pub fn check(&self) -> bool {
        let Some((header, rest)) = self.header() else { return false };
        let mut cells = Cells { rest, base: self.base, column: 0, marker: header.marker };
        let mut last: Option<(ColumnId, Option<&[u8]>)> = None;
        while !cells.rest.is_empty() {
            let Some(cell) = cells.take_cell() else { return false };
            let position = (cell.column, cell.path);
            if last.is_some_and(|last| last >= position) {
                return false;
            }
            last = Some(position);
        }
        true
    }

    fn header(&self) -> Option<(Header, &'a [u8])> {
        let (&flags, mut rest) = self.body.split_first()?;
        if flags & !ROW_FLAGS != 0 {
            return None;
        }
        let mut header = Header { marker: None, deletion: Deletion::NONE };
        if flags & HAS_MARKER != 0 {
            let mut marker = Marker::new(self.base);
            if flags & HAS_MARKER_TTL != 0 {
                marker.ttl = vint::take_u32(&mut rest)?;
                marker.expiry = vint::take_u32(&mut rest)?;
            }
            header.marker = Some(marker);
        }
        if flags & HAS_DELETION != 0 {
            let timestamp = self.base.wrapping_add(vint::take_signed(&mut rest)?);
            header.deletion = Deletion { timestamp, local_seconds: vint::take_u32(&mut rest)? };
        }
        Some((header, rest))
    }

    pub fn marker(&self) -> Option<Marker> {
        self.header().and_then(|(header, _)| header.marker)
    }

    pub fn deletion(&self) -> Deletion {
        self.header().map_or(Deletion::NONE, |(header, _)| header.deletion)
    }

    /// The cells in (column, path) order; ends early where the bytes are malformed.
    #[inline]
    pub fn cells(&self) -> Cells<'a> {
        // What nearly every INSERT leaves.
        if let [HAS_MARKER, rest @ ..] = self.body {
            let marker = Some(Marker::new(self.base));
            return Cells { rest, base: self.base, column: 0, marker };
        }
        match self.header() {
            Some((header, rest)) => Cells { rest, base: self.base, column: 0, marker: header.marker },
            None => Cells { rest: &[], base: 0, column: 0, marker: None },
        }
    }

    /// Whether the row exists at `now_seconds`: its marker or one of its cells is live.
    #[inline]
    pub fn is_live(&self, now_seconds: u32) -> bool {
        // A marker that does not expire, as nearly every INSERT leaves it, decides at once.
        let lasting = |flags: &u8| flags & (HAS_MARKER | HAS_MARKER_TTL) == HAS_MARKER;
        self.body.first().is_some_and(lasting) || self.is_live_in_part(now_seconds)
    }

    fn is_live_in_part(&self, now_seconds: u32) -> bool {
        let Some((Header { marker, .. }, rest)) = self.header() else { return false };
        marker.is_some_and(|m| m.is_live(now_seconds))
            || Cells { rest, base: self.base, column: 0, marker }.any(|c| c.live_value(now_seconds).is_some())
    }

    /// Whether the image is what a plain INSERT leaves: a marker and cells that all are as old as the row, live for ever and
    /// without paths. `false` may also mean that a value is long: then look at the cells.
    #[inline]
    pub fn is_uniform(&self) -> bool {
        let [HAS_MARKER, rest @ ..] = self.body else { return false };
        let mut rest = rest;
        while let [delta, 0, length, tail @ ..] = rest {
            if (*delta | *length) >= 0x80 {
                return false;
            }
            let Some(behind) = tail.get(usize::from(*length)..) else { return false };
            rest = behind;
        }
        rest.is_empty()
    }

    /// From this second on nothing of the row is live; [`NEVER`] when something in it does not expire.
    #[inline]
    pub fn dead_from(&self) -> u32 {
        if let [HAS_MARKER, ..] = self.body {
            return NEVER;
        }
        self.dead_from_parts()
    }

    fn dead_from_parts(&self) -> u32 {
        let Some((header, rest)) = self.header() else { return 0 };
        let mut latest = match header.marker {
            None => 0,
            Some(marker) if marker.ttl == 0 => return NEVER,
            Some(marker) => marker.expiry,
        };
        for cell in (Cells { rest, base: self.base, column: 0, marker: header.marker }) {
            match cell.state {
                CellState::Live(_) => return NEVER,
                CellState::Expiring { expiry, .. } => latest = latest.max(expiry),
                CellState::Tombstone { .. } | CellState::ComplexDeletion { .. } => {}
            }
        }
        latest
    }

    /// As `is_live`, where only cells of these columns count: those of dropped columns do not keep a row alive.
    pub fn is_live_in(&self, columns: &[ColumnId], now_seconds: u32) -> bool {
        self.marker().is_some_and(|m| m.is_live(now_seconds))
            || self.cells().any(|c| columns.contains(&c.column) && c.live_value(now_seconds).is_some())
    }

    /// Largest and smallest timestamp of anything in the row; `None` for an empty image.
    pub fn timestamps(&self) -> Option<(Timestamp, Timestamp)> {
        let (header, _) = self.header()?;
        let marker = header.marker.map(|m| m.timestamp);
        let deletion = (!header.deletion.is_none()).then_some(header.deletion.timestamp);
        let all = marker.into_iter().chain(deletion).chain(self.cells().map(|c| c.timestamp));
        all.fold(None, |acc: Option<(i64, i64)>, t| Some(acc.map_or((t, t), |(a, b)| (a.min(t), b.max(t)))))
    }
}

struct Header {
    marker: Option<Marker>,
    deletion: Deletion,
}

/// Iterates the cells of a row image.
#[derive(Clone)]
pub struct Cells<'a> {
    rest: &'a [u8],
    base: Timestamp,
    column: ColumnId,
    marker: Option<Marker>,
}

impl<'a> Cells<'a> {
    /// Takes the next cell if it is of the plainest form: live for ever, as old as the row, without a path. Most cells
    /// are, and this is several times cheaper than [`Cells::next`], which must be asked when there is none.
    #[inline]
    pub fn next_plain(&mut self) -> Option<(ColumnId, &'a [u8])> {
        let [delta, 0, length, rest @ ..] = self.rest else { return None };
        if *delta >= 0x80 || *length >= 0x80 {
            return None;
        }
        let (value, rest) = rest.split_at_checked(usize::from(*length))?;
        self.column = self.column.checked_add(u32::from(*delta))?;
        self.rest = rest;
        Some((self.column, value))
    }

    /// Whether all cells were given.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The cell that [`Cells::next_plain`] gave, in full.
    #[inline]
    pub fn of_plain(&self, column: ColumnId, value: &'a [u8]) -> Cell<'a> {
        Cell { column, path: None, timestamp: self.base, state: CellState::Live(value) }
    }

    fn next_of_any_form(&mut self) -> Option<Cell<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let cell = self.take_cell();
        if cell.is_none() {
            self.rest = &[];
        }
        cell
    }

    #[inline]
    fn take_cell(&mut self) -> Option<Cell<'a>> {
        let rest = &mut self.rest;
        self.column = self.column.checked_add(vint::take_u32(rest)?)?;
        let (&flags, tail) = rest.split_first()?;
        *rest = tail;
        if flags & !CELL_FLAGS != 0 {
            return None;
        }
        let timestamp = match flags & OWN_TIMESTAMP {
            0 => self.base,
            _ => self.base.wrapping_add(vint::take_signed(rest)?),
        };
        if flags & COMPLEX_DELETION != 0 {
            let local_seconds = vint::take_u32(rest)?;
            let state = CellState::ComplexDeletion { local_seconds };
            return Some(Cell { column: self.column, path: None, timestamp, state });
        }
        let mut lifetime = None;
        let mut local_seconds = 0;
        if flags & TOMBSTONE != 0 {
            local_seconds = vint::take_u32(rest)?;
        } else if flags & EXPIRING != 0 {
            lifetime = Some((vint::take_u32(rest)?, vint::take_u32(rest)?));
        } else if flags & SAME_TTL != 0 {
            let marker = self.marker?;
            lifetime = Some((marker.ttl, marker.expiry));
        }
        let path = if flags & PATH != 0 { Some(vint::take_slice(rest)?) } else { None };
        let state = if flags & TOMBSTONE != 0 {
            CellState::Tombstone { local_seconds }
        } else {
            let value = vint::take_slice(rest)?;
            match lifetime {
                Some((ttl, expiry)) => CellState::Expiring { value, ttl, expiry },
                None => CellState::Live(value),
            }
        };
        Some(Cell { column: self.column, path, timestamp, state })
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = Cell<'a>;

    #[inline]
    fn next(&mut self) -> Option<Cell<'a>> {
        if let Some((column, value)) = self.next_plain() {
            return Some(self.of_plain(column, value));
        }
        self.next_of_any_form()
    }
}

/// Builds a row image. Cells must be added in (column, path) order, at most one each.
///
/// The buffer is kept between rows, so a writer that is reused allocates nothing.
#[derive(Default)]
pub struct RowWriter {
    base: Timestamp,
    marker: Option<Marker>,
    column: ColumnId,
    body: Vec<u8>,
}

impl RowWriter {
    pub fn new() -> RowWriter {
        RowWriter::default()
    }

    /// With room for a row of this size.
    pub fn with_capacity(bytes: usize) -> RowWriter {
        RowWriter { body: Vec::with_capacity(bytes), ..RowWriter::default() }
    }

    /// Starts a row, dropping what the writer held. Without a marker, `base` only serves as the
    /// origin of the other timestamps: use the one most cells have.
    pub fn begin(&mut self, base: Timestamp, marker: Option<Marker>, deletion: Deletion) {
        debug_assert!(marker.is_none_or(|m| m.timestamp == base));
        self.base = base;
        self.marker = marker;
        self.column = 0;
        self.body.clear();
        let expiring = marker.filter(|m| m.ttl > 0);
        let mut flags = 0;
        flags |= if marker.is_some() { HAS_MARKER } else { 0 };
        flags |= if expiring.is_some() { HAS_MARKER_TTL } else { 0 };
        flags |= if deletion.is_none() { 0 } else { HAS_DELETION };
        self.body.push(flags);
        if let Some(marker) = expiring {
            vint::put(&mut self.body, marker.ttl as u64);
            vint::put(&mut self.body, marker.expiry as u64);
        }
        if !deletion.is_none() {
            vint::put_signed(&mut self.body, deletion.timestamp.wrapping_sub(base));
            vint::put(&mut self.body, deletion.local_seconds as u64);
        }
    }

    /// Adds a cell; the writer chooses the shortest form.
    #[inline]
    pub fn cell(&mut self, cell: &Cell<'_>) {
        debug_assert!(cell.column >= self.column, "cells must be in column order");
        let distance = cell.column - self.column;
        self.column = cell.column;
        // What nearly every cell is: live for ever, as old as its row, and short.
        if let Cell { path: None, timestamp, state: CellState::Live(value), .. } = *cell
            && timestamp == self.base
            && (distance as u64 | value.len() as u64) < 0x80
        {
            self.body.reserve(3 + value.len());
            self.body.extend_from_slice(&[distance as u8, 0, value.len() as u8]);
            self.body.extend_from_slice(value);
            return;
        }
        vint::put(&mut self.body, distance as u64);
        let mut flags = if cell.timestamp == self.base { 0 } else { OWN_TIMESTAMP };
        flags |= if cell.path.is_some() { PATH } else { 0 };
        flags |= match cell.state {
            CellState::Live(_) => 0,
            CellState::Tombstone { .. } => TOMBSTONE,
            CellState::ComplexDeletion { .. } => COMPLEX_DELETION,
            CellState::Expiring { ttl, expiry, .. } => match self.marker {
                Some(m) if m.ttl > 0 && m.ttl == ttl && m.expiry == expiry => SAME_TTL,
                _ => EXPIRING,
            },
        };
        self.body.push(flags);
        if flags & OWN_TIMESTAMP != 0 {
            vint::put_signed(&mut self.body, cell.timestamp.wrapping_sub(self.base));
        }
        match cell.state {
            CellState::Expiring { ttl, expiry, .. } if flags & EXPIRING != 0 => {
                vint::put(&mut self.body, ttl as u64);
                vint::put(&mut self.body, expiry as u64);
            }
            CellState::Tombstone { local_seconds } | CellState::ComplexDeletion { local_seconds } => {
                vint::put(&mut self.body, local_seconds as u64);
            }
            _ => {}
        }
        if let Some(path) = cell.path {
            vint::put_slice(&mut self.body, path);
        }
        if let CellState::Live(value) | CellState::Expiring { value, .. } = cell.state {
            vint::put_slice(&mut self.body, value);
        }
    }

    /// A simple live cell at the base timestamp: the common case of an INSERT.
    #[inline]
    pub fn live(&mut self, column: ColumnId, value: &[u8]) {
        let (timestamp, state) = (self.base, CellState::Live(value));
        self.cell(&Cell { column, path: None, timestamp, state });
    }

    /// Bytes of the image built so far.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    /// The image built so far.
    #[inline]
    pub fn view(&self) -> RowView<'_> {
        RowView { base: self.base, body: &self.body }
    }

    /// Whether neither marker, deletion nor cell was written: such a row need not exist.
    pub fn is_empty(&self) -> bool {
        self.body.len() <= 1 && self.body.first().is_none_or(|&flags| flags == 0)
    }
}

#[cfg(test)]
pub(crate) mod tests;
