//! Making a key equal on both sides: what the side that answers has is read with its times, and written to the other.

use super::super::cells::Layout;
use super::super::copy::{all_accepted, now_micros, tells_elements};
use super::super::{Failure, Server, failed};
use super::cells::{Cell, Change, Row, Rows, changes};
use super::front::Side;
use crate::commands::transfer::load::send;
use crate::commands::transfer::table::{Kind, Table};
use crate::commands::transfer::unload::page_of;
use client::column_type::data_type;
use client::{Client, REQUESTS_MAX, Statement};
use cql_wire::{Value, ValueList};
use model::types::DataType;
use std::collections::BTreeMap;

/// Rows of one partition that are looked at; larger ones are not held in memory.
const ROWS_MAX: usize = 200_000;
const PAGE_ROWS: u32 = 2000;
/// A key that is written while it is looked at may differ for a moment.
const ATTEMPTS: usize = 3;

/// What came of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mended {
    Same,
    Changed,
    /// It differs still.
    Different,
}

/// A connection to each side with what is prepared there.
pub struct Mender {
    /// Source and target.
    sides: [Client; 2],
    statements: [BTreeMap<String, Statement>; 2],
    tables: BTreeMap<String, (Table, Vec<Layout>)>,
}

impl Mender {
    pub fn open(source: Server<'_>, target: Server<'_>) -> Result<Mender, Failure> {
        let sides = [source.connect()?, target.connect()?];
        Ok(Mender { sides, statements: Default::default(), tables: BTreeMap::new() })
    }

    fn prepared(&mut self, side: Side, text: &str) -> Result<Statement, Failure> {
        let at = side as usize;
        if let Some(known) = self.statements[at].get(text) {
            return Ok(known.clone());
        }
        let statement = self.sides[at].prepare(text).map_err(failed)?;
        self.statements[at].insert(text.to_string(), statement.clone());
        Ok(statement)
    }

    /// The table and what of it is compared: static values, rows.
    fn layouts(&mut self, name: &str) -> Result<(), Failure> {
        if self.tables.contains_key(name) {
            return Ok(());
        }
        let [source, target] = &mut self.sides;
        let table = Table::find(source, name)?;
        let elements = tells_elements(source, &table) && tells_elements(target, &table);
        let layouts = [Layout::new(&table, true, elements), Layout::new(&table, false, elements)];
        self.tables.insert(name.to_string(), (table, layouts.into_iter().flatten().collect()));
        Ok(())
    }

    /// Makes a row equal, or a partition if no clustering key is given.
    pub fn mend(
        &mut self,
        name: &str,
        (partition, clustering): (&[Vec<u8>], &[Vec<u8>]),
        answers: Side,
    ) -> Result<Mended, Failure> {
        self.layouts(name)?;
        let Some((table, layouts)) = self.tables.remove(name) else { return Ok(Mended::Same) };
        let keys = table.of_kind(Kind::Partition).count();
        let outcome = layouts.iter().try_fold(Mended::Same, |worst, layout| {
            let mut key: Vec<Vec<u8>> = partition.iter().take(keys).cloned().collect();
            if !layout.is_static() {
                key.extend(clustering.iter().cloned());
            }
            let mended = self.layout(layout, &key, answers)?;
            Ok(match (worst, mended) {
                (Mended::Different, _) | (_, Mended::Different) => Mended::Different,
                (Mended::Changed, _) | (_, Mended::Changed) => Mended::Changed,
                _ => Mended::Same,
            })
        });
        self.tables.insert(name.to_string(), (table, layouts));
        outcome
    }

    fn layout(&mut self, layout: &Layout, key: &[Vec<u8>], answers: Side) -> Result<Mended, Failure> {
        for attempt in 0..ATTEMPTS {
            // Both sides say what is left of a TTL at the same second, and what is written counts from it.
            let now = u32::try_from(now_micros() / 1_000_000).ok();
            self.sides.iter_mut().for_each(|client| client.now_in_seconds = now);
            // First the side that is written second: what is there has been on the other.
            let theirs = self.read(layout, key, answers.other())?;
            let ours = self.read(layout, key, answers)?;
            let found = changes(layout, &ours, &theirs, now_micros(), attempt > 0);
            if found.is_empty() {
                return Ok(if attempt == 0 { Mended::Same } else { Mended::Changed });
            }
            self.write(layout, &found, answers.other())?;
        }
        Ok(Mended::Different)
    }

    fn read(&mut self, layout: &Layout, key: &[Vec<u8>], side: Side) -> Result<Rows, Failure> {
        let statement = self.prepared(side, &layout.select_key(key.len()))?;
        let types: Vec<DataType> =
            statement.result.iter().map(|column| data_type(&column.column_type)).collect();
        let values: Vec<Option<&[u8]>> = key.iter().map(|part| Some(&part[..])).collect();
        let mut rows = Rows::default();
        let mut state: Option<Vec<u8>> = None;
        loop {
            let client = &mut self.sides[side as usize];
            let place = (PAGE_ROWS, state.as_deref());
            let (page, next) = page_of(client, &statement, &values, place, |cells| {
                let rows = cells.chunks(types.len().max(1)).map(|row| read_row(layout, row, &types));
                rows.collect::<Result<Vec<_>, String>>()
            })?;
            rows.rows.extend(page.map_err(Failure::Failed)?);
            if rows.rows.len() > ROWS_MAX {
                return Err(Failure::Failed(format!(
                    "{}: a partition has more than {ROWS_MAX} rows, which is too many to compare value by value",
                    layout.path()
                )));
            }
            match next {
                Some(next) => state = Some(next),
                None => return Ok(rows),
            }
        }
    }

    fn write(&mut self, layout: &Layout, found: &[Change], side: Side) -> Result<(), Failure> {
        let mut all: Vec<(Statement, ValueList, bool)> = Vec::new();
        let update = layout.update();
        // Deletions go first: a list that is deleted and written has other times each.
        for change in found {
            if let Some((text, values)) = deletion(layout, change) {
                all.push((self.prepared(side, &text)?, values, true));
            }
        }
        self.send(&all, side)?;
        all.clear();
        for change in found {
            match change {
                Change::Mark { key, stamp } => {
                    let mut values = key_list(key);
                    values.push(Value::Bytes(&stamp.micros.to_be_bytes()));
                    values.push(Value::Bytes(&stamp.ttl.to_be_bytes()));
                    all.push((self.prepared(side, &layout.mark())?, values, true));
                }
                Change::Write { key, name: (slot, element), cell } => {
                    let (Some(text), Some(stamp)) = (&update, cell.stamp) else { continue };
                    let value = written(layout, *slot, element.as_deref(), &cell.value);
                    let mut values = ValueList::new();
                    values.push(Value::Bytes(&stamp.micros.to_be_bytes()));
                    values.push(Value::Bytes(&stamp.ttl.to_be_bytes()));
                    for at in 0..layout.slots() {
                        values.push(if at == *slot { Value::Bytes(&value) } else { Value::Unset });
                    }
                    key.iter().for_each(|part| {
                        values.push(Value::Bytes(part));
                    });
                    all.push((self.prepared(side, text)?, values, !cell.is_list));
                }
                Change::Delete { .. } | Change::DeleteRow { .. } => {}
            }
        }
        self.send(&all, side)
    }

    fn send(&mut self, all: &[(Statement, ValueList, bool)], side: Side) -> Result<(), Failure> {
        for part in all.chunks(REQUESTS_MAX) {
            let part: Vec<(&Statement, &ValueList, bool)> =
                part.iter().map(|(statement, values, again)| (statement, values, *again)).collect();
            all_accepted(send(&mut self.sides[side as usize], &part)?)?;
        }
        Ok(())
    }
}

fn read_row(
    layout: &Layout,
    cells: &[Option<&[u8]>],
    types: &[DataType],
) -> Result<(Vec<Vec<u8>>, Row), String> {
    let key = cells.iter().take(layout.key_columns()).map(|cell| cell.unwrap_or_default().to_vec()).collect();
    let values = layout.values(cells, types)?.into_iter();
    let row = values
        .map(|(slot, element, value, stamp, is_list)| ((slot, element), Cell { value, stamp, is_list }));
    Ok((key, row.collect()))
}

fn key_list(key: &[Vec<u8>]) -> ValueList {
    let mut values = ValueList::new();
    key.iter().for_each(|part| {
        values.push(Value::Bytes(part));
    });
    values
}

/// The bytes that an UPDATE binds: an element as a collection of one.
fn written(layout: &Layout, slot: usize, element: Option<&[u8]>, value: &[u8]) -> Vec<u8> {
    let (Some(parts), Some(element)) = (layout.element_parts(slot), element) else { return value.to_vec() };
    let mut bytes = 1i32.to_be_bytes().to_vec();
    for part in [element, value].into_iter().take(parts) {
        bytes.extend_from_slice(&i32::try_from(part.len()).unwrap_or(i32::MAX).to_be_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

fn deletion(layout: &Layout, change: &Change) -> Option<(String, ValueList)> {
    let mut values = ValueList::new();
    let (text, key) = match change {
        Change::DeleteRow { key, micros } => {
            values.push(Value::Bytes(&micros.to_be_bytes()));
            let text =
                format!("DELETE FROM {} USING TIMESTAMP ? WHERE {}", layout.path(), layout.key_is(key.len()));
            (text, key)
        }
        Change::Delete { key, name: (slot, element), micros } => {
            let (text, takes_element) = layout.delete_value(*slot)?;
            if takes_element {
                values.push(Value::Bytes(element.as_deref()?));
            }
            values.push(Value::Bytes(&micros.to_be_bytes()));
            (text, key)
        }
        Change::Mark { .. } | Change::Write { .. } => return None,
    };
    key.iter().for_each(|part| {
        values.push(Value::Bytes(part));
    });
    Some((text, values))
}
