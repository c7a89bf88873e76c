//! What is in a keyspace, as the source describes it, and making the same on the target.

use super::super::table::{Table, quoted_name};
use super::{Failure, failed};
use client::Client;
use cql_wire::{QueryParams, Request};

/// An object of a keyspace with the statement that makes it.
struct Object {
    kind: String,
    keyspace: String,
    name: String,
    create: String,
}

#[derive(Default)]
pub struct Schema {
    objects: Vec<Object>,
}

/// The server's answer when something of that name is there.
const ALREADY_EXISTS: i32 = 0x2400;

impl Schema {
    pub fn read(from: &mut Client, keyspaces: &[String]) -> Result<Schema, Failure> {
        let mut schema = Schema::default();
        for keyspace in keyspaces {
            let described =
                from.texts(&format!("DESCRIBE KEYSPACE {}", quoted_name(keyspace))).map_err(failed)?;
            for row in described {
                let of = |name: &str| row.get(name).cloned().unwrap_or_default();
                schema.objects.push(Object {
                    kind: of("type"),
                    keyspace: of("keyspace_name"),
                    name: of("name"),
                    create: without_hold(&of("create_statement")),
                });
            }
        }
        Ok(schema)
    }

    fn of_kinds<'s>(&'s self, kinds: &'s [&str]) -> impl Iterator<Item = &'s Object> {
        kinds.iter().flat_map(|kind| self.objects.iter().filter(move |object| object.kind == **kind))
    }

    /// `keyspace.table` of every table; names are in quotes where they need them.
    pub fn tables(&self) -> Vec<String> {
        self.of_kinds(&["table"]).map(|object| format!("{}.{}", object.keyspace, object.name)).collect()
    }

    /// Keyspaces, types, functions and tables. What is there already stays as it is.
    pub fn make_tables(&self, to: &mut Client, replication: Option<&str>) -> Result<(), Failure> {
        for object in self.of_kinds(&["keyspace", "type", "function", "aggregate", "table"]) {
            let statement = match (object.kind.as_str(), replication) {
                ("keyspace", Some(map)) => {
                    format!("CREATE KEYSPACE {} WITH replication = {map}", object.keyspace)
                }
                _ => object.create.clone(),
            };
            make(to, object, &statement)?;
        }
        Ok(())
    }

    /// Indexes and views, which are filled from the rows that are there.
    pub fn make_copies(&self, to: &mut Client) -> Result<(), Failure> {
        self.of_kinds(&["index", "materialized_view", "view"])
            .try_for_each(|object| make(to, object, &object.create))
    }
}

/// That tombstones are held is a state of one side's migration, and no word that others know.
fn without_hold(statement: &str) -> String {
    const CLAUSE: &str = "AND hold_tombstones = '";
    let Some(at) = statement.find(CLAUSE) else { return statement.to_string() };
    let (before, rest) = statement.split_at(at);
    let behind =
        rest.get(CLAUSE.len()..).and_then(|rest| rest.split_once('\'')).map_or("", |(_, behind)| behind);
    format!("{}{behind}", before.trim_end())
}

fn make(to: &mut Client, object: &Object, statement: &str) -> Result<(), Failure> {
    let request = Request::Query { query: statement, params: QueryParams::default() };
    let named = format!("{} {}.{}", object.kind, object.keyspace, object.name);
    match to.send_all(&[request]).map_err(failed)?.into_iter().next() {
        None => println!("made {named}"),
        Some((_, refusal)) if refusal.code == ALREADY_EXISTS || refusal.message.contains("already exist") => {
            println!("there is a {named} already");
        }
        Some((_, refusal)) => {
            return Err(Failure::Failed(format!("{named}: {}\n{statement}", refusal.message)));
        }
    }
    Ok(())
}

/// Refuses to copy between tables whose columns differ.
pub fn same_columns(table: &Table, there: &Table) -> Result<(), Failure> {
    for column in &table.columns {
        let same = there.columns.iter().find(|other| other.name == column.name);
        let what = match same {
            None => "is not there".to_string(),
            Some(other) if other.kind != column.kind => "is another kind of column".to_string(),
            Some(other) if other.type_text != column.type_text => format!("is a {}", other.type_text),
            Some(_) => continue,
        };
        let (path, name, kind) = (table.path(), &column.name, &column.type_text);
        return Err(Failure::Failed(format!("{path}: the column {name} ({kind}) {what} on the target")));
    }
    Ok(())
}

pub fn has_rows(to: &mut Client, table: &Table) -> Result<bool, Failure> {
    let first = table.columns.first().map(|column| quoted_name(&column.name)).unwrap_or_default();
    let rows = to.texts(&format!("SELECT {first} FROM {} LIMIT 1", table.path())).map_err(failed)?;
    Ok(!rows.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_stays_where_it_is() {
        let text = "CREATE TABLE a.t (k int PRIMARY KEY) WITH comment = 'x'\n    AND hold_tombstones = '2026-11-19'\n    AND cdc = false;";
        let plain = "CREATE TABLE a.t (k int PRIMARY KEY) WITH comment = 'x'\n    AND cdc = false;";
        assert_eq!(without_hold(text), plain);
        assert_eq!(without_hold(plain), plain);
    }
}
