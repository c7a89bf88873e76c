//! What a table of some server looks like, as its `system_schema` says.

use super::{Failure, failed};
use client::Client;
use cql_wire::{QueryParams, Request, Response};
use model::value::elements::elements;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Partition,
    Clustering,
    Static,
    Regular,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    /// As CQL writes it.
    pub type_text: String,
    /// Of a user-defined type that is not frozen: its fields.
    pub fields: Vec<String>,
}

impl Column {
    pub fn is_key(&self) -> bool {
        matches!(self.kind, Kind::Partition | Kind::Clustering)
    }

    /// Whether each of its elements has a time of its own.
    pub fn is_multi_cell(&self) -> bool {
        const COLLECTIONS: [&str; 3] = ["list<", "set<", "map<"];
        COLLECTIONS.iter().any(|name| self.type_text.starts_with(name)) || self.is_open_type()
    }

    pub fn is_list(&self) -> bool {
        self.type_text.starts_with("list<")
    }

    /// A user-defined type that is not frozen.
    fn is_open_type(&self) -> bool {
        const NATIVE: [&str; 22] = [
            "ascii",
            "bigint",
            "blob",
            "boolean",
            "counter",
            "date",
            "decimal",
            "double",
            "duration",
            "float",
            "inet",
            "int",
            "smallint",
            "text",
            "time",
            "timestamp",
            "timeuuid",
            "tinyint",
            "uuid",
            "varchar",
            "varint",
            "empty",
        ];
        let written = self.type_text.as_str();
        !NATIVE.contains(&written) && !written.contains('<') && !written.starts_with('\'')
    }

    pub fn is_counter(&self) -> bool {
        self.type_text == "counter"
    }
}

#[derive(Clone, Debug)]
pub struct Table {
    pub keyspace: String,
    pub name: String,
    /// Partition key, clustering key, static columns, the others.
    pub columns: Vec<Column>,
}

impl Table {
    /// Reads the columns of `keyspace.table`.
    pub fn find(client: &mut Client, name: &str) -> Result<Table, Failure> {
        let Some((keyspace, table)) = split(name) else {
            return Err(Failure::Usage(format!("{name}: say keyspace.table")));
        };
        let query = format!(
            "SELECT column_name, kind, position, type FROM system_schema.columns WHERE keyspace_name = {} AND table_name = {}",
            quoted_text(&keyspace),
            quoted_text(&table)
        );
        let rows = client.texts(&query).map_err(|error| Failure::Failed(error.to_string()))?;
        let mut columns = Vec::new();
        for row in rows {
            let of = |name: &str| row.get(name).cloned().unwrap_or_default();
            let kind = match of("kind").as_str() {
                "partition_key" => Kind::Partition,
                "clustering" => Kind::Clustering,
                "static" => Kind::Static,
                _ => Kind::Regular,
            };
            let position: i32 = of("position").parse().unwrap_or(0);
            columns.push((
                kind as u8,
                position,
                Column { name: of("column_name"), kind, type_text: of("type"), fields: Vec::new() },
            ));
        }
        if columns.is_empty() {
            return Err(Failure::Failed(format!("{name}: there is no such table")));
        }
        columns.sort_by(|a, b| (a.0, a.1, &a.2.name).cmp(&(b.0, b.1, &b.2.name)));
        let mut columns: Vec<Column> = columns.into_iter().map(|(_, _, column)| column).collect();
        for column in columns.iter_mut().filter(|column| column.is_open_type()) {
            column.fields = fields(client, &keyspace, &column.type_text)?;
        }
        Ok(Table { keyspace, name: table, columns })
    }

    /// As statements name it.
    pub fn path(&self) -> String {
        format!("{}.{}", quoted_name(&self.keyspace), quoted_name(&self.name))
    }

    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |column| column.kind == kind)
    }

    pub fn key(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.is_key())
    }

    pub fn is_counter(&self) -> bool {
        self.columns.iter().any(Column::is_counter)
    }

    /// `token(a, b)`
    pub fn token(&self) -> String {
        let names: Vec<String> =
            self.of_kind(Kind::Partition).map(|column| quoted_name(&column.name)).collect();
        format!("token({})", names.join(", "))
    }
}

/// The fields of a user-defined type, in order.
fn fields(client: &mut Client, keyspace: &str, name: &str) -> Result<Vec<String>, Failure> {
    let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
    let query = format!(
        "SELECT field_names FROM system_schema.types WHERE keyspace_name = {} AND type_name = {}",
        quoted_text(keyspace),
        quoted_text(name)
    );
    let request = Request::Query { query: &query, params: QueryParams::default() };
    let found = client.call(&request, |_, response| match response {
        Response::Rows(rows) => rows.iter_cells().next().flatten().and_then(texts),
        _ => None,
    });
    found.map_err(failed)?.ok_or_else(|| Failure::Failed(format!("{keyspace}.{name}: there is no such type")))
}

/// The texts of a list.
fn texts(list: &[u8]) -> Option<Vec<String>> {
    let text = |part: Option<&[u8]>| String::from_utf8(part?.to_vec()).ok();
    elements(list).ok()?.map(|part| part.ok().and_then(text)).collect()
}

/// A name as CQL reads it back, whatever letters it has.
pub fn quoted_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub fn quoted_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `keyspace.table`, each part in quotes where it needs them.
fn split(name: &str) -> Option<(String, String)> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let part = parts.last_mut()?;
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                part.push('"');
            }
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            letter if quoted => part.push(letter),
            letter => part.extend(letter.to_lowercase()),
        }
    }
    let [keyspace, table] = <[String; 2]>::try_from(parts).ok()?;
    (!quoted && !keyspace.is_empty() && !table.is_empty()).then_some((keyspace, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_cql_reads_them() {
        let pair = |a: &str, b: &str| Some((a.to_string(), b.to_string()));
        assert_eq!(split("App.Orders"), pair("app", "orders"));
        assert_eq!(split(r#""App"."a.b""c""#), pair("App", "a.b\"c"));
        assert_eq!(split(r#""App"."a.b"#), None, "a quote is open");
        assert_eq!(split(r#""App"."a.b""#), pair("App", "a.b"));
        assert_eq!((split("orders"), split("a.b.c"), split(".t")), (None, None, None));
        assert_eq!(quoted_name("a\"b"), "\"a\"\"b\"");
    }

    #[test]
    fn frozen_values_have_one_time() {
        let column = |type_text: &str| Column {
            name: "c".into(),
            kind: Kind::Regular,
            type_text: type_text.into(),
            fields: Vec::new(),
        };
        let multi = ["list<int>", "map<text, frozen<list<int>>>", "address"];
        let single = ["int", "frozen<list<int>>", "tuple<int, text>", "vector<float, 3>", "frozen<address>"];
        assert!(multi.iter().all(|text| column(text).is_multi_cell()));
        assert!(!single.iter().any(|text| column(text).is_multi_cell()));
    }
}
