//! Counters have no times: what one side counts more is added to the other, while nobody counts.

use super::super::copy::{all_accepted, each_page_of};
use super::super::{Failure, Server, failed};
use super::record::PARTS;
use crate::commands::transfer::load::{insert_or_add, send};
use crate::commands::transfer::ranges::part;
use crate::commands::transfer::table::{Kind, Table, quoted_name};
use client::{Client, REQUESTS_MAX, Statement};
use cql_wire::{Value, ValueList};
use std::collections::BTreeMap;

/// Counters of a row by the bytes of its key; null is 0 and not there.
type Counted = BTreeMap<Vec<Vec<u8>>, Vec<Option<i64>>>;

/// Makes the counters of `to` those of `from`; how many rows were changed. Repeated, it adds only what is missing.
pub fn bring_over(from: Server<'_>, to: Server<'_>, table: &Table) -> Result<u64, Failure> {
    if table.of_kind(Kind::Static).next().is_some() {
        return Err(Failure::Failed(format!("{}: static counters cannot be brought over", table.path())));
    }
    let (mut ours, mut theirs) = (from.connect()?, to.connect()?);
    let in_order = || table.columns.iter().filter(|column| !column.is_key()).chain(table.key());
    let names: Vec<String> = in_order().map(|column| quoted_name(&column.name)).collect();
    let counters = in_order().filter(|column| !column.is_key()).count();
    let (path, token) = (table.path(), table.token());
    let text = format!("SELECT {} FROM {path} WHERE {token} > ? AND {token} <= ?", names.join(", "));
    let select = [ours.prepare(&text).map_err(failed)?, theirs.prepare(&text).map_err(failed)?];
    let add = theirs.prepare(&insert_or_add(table)).map_err(failed)?;
    let key: Vec<String> = table.key().map(|column| format!("{} = ?", quoted_name(&column.name))).collect();
    let delete =
        theirs.prepare(&format!("DELETE FROM {path} WHERE {}", key.join(" AND "))).map_err(failed)?;
    let mut changed = 0;
    for at in 0..PARTS {
        let here = counted(&mut ours, &select[0], at, counters)?;
        let there = counted(&mut theirs, &select[1], at, counters)?;
        let mut writes = Vec::new();
        for (key, values) in &here {
            let none = vec![None; counters];
            let known = there.get(key).unwrap_or(&none);
            let missing = |(ours, theirs): (&Option<i64>, &Option<i64>)| match (ours, theirs) {
                (None, None) => None,
                // A counter that was set to nothing is 0 there.
                (ours, theirs) => {
                    Some(ours.unwrap_or(0) - theirs.unwrap_or(0)).filter(|n| *n != 0 || theirs.is_none())
                }
            };
            let missing: Vec<Option<i64>> = values.iter().zip(known).map(missing).collect();
            if missing.iter().any(Option::is_some) {
                writes.push((&add, list(&missing, key), false));
            }
        }
        let gone = there.keys().filter(|key| !here.contains_key(*key));
        writes.extend(gone.map(|key| (&delete, list(&[], key), true)));
        for part in writes.chunks(REQUESTS_MAX) {
            let all: Vec<(&Statement, &ValueList, bool)> =
                part.iter().map(|(statement, values, again)| (*statement, values, *again)).collect();
            all_accepted(send(&mut theirs, &all)?)?;
        }
        changed += writes.len() as u64;
    }
    Ok(changed)
}

fn counted(client: &mut Client, select: &Statement, at: usize, counters: usize) -> Result<Counted, Failure> {
    let mut found = Counted::new();
    each_page_of(client, select, part(at, PARTS), &mut |cells| {
        for row in cells.chunks(select.result.len().max(1)) {
            let number = |cell: &Option<&[u8]>| {
                cell.and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()).map(i64::from_be_bytes)
            };
            let values = row.iter().take(counters).map(number).collect();
            let key = row.iter().skip(counters).map(|cell| cell.unwrap_or_default().to_vec()).collect();
            found.insert(key, values);
        }
        Ok(true)
    })?;
    Ok(found)
}

fn list(values: &[Option<i64>], key: &[Vec<u8>]) -> ValueList {
    let mut list = ValueList::new();
    for value in values {
        list.push(value.map(i64::to_be_bytes).as_ref().map_or(Value::Unset, |bytes| Value::Bytes(bytes)));
    }
    for part in key {
        list.push(Value::Bytes(part));
    }
    list
}
