//! Repairs as runnable CQL: tables made from a table with another key, printed by the syntax crate.

use crate::catalogue::{Bucketing, Column, Table};
use crate::vocabulary::{Meaning, any_word};
use cql_syntax::Span;
use cql_syntax::ast::{
    ClusteringItem, ColumnDef, CreateTable, DataType, Ident, Literal, MapEntry, NativeType, PrimaryKey,
    Property, PropertyValue, QualifiedName, SortOrder, TableOption,
};
use std::fmt::Write;

/// A table under construction.
#[derive(Debug, Clone)]
pub struct Draft {
    create: CreateTable,
    partition: Vec<String>,
    clustering: Vec<(String, bool)>,
}

impl Draft {
    /// Columns, key and order of a table.
    pub fn of(table: &Table) -> Draft {
        let mut create = table.statement.clone();
        create.if_not_exists = false;
        if let Some(plan) = &table.bucketing {
            let buckets: Vec<String> = plan.columns().into_iter().map(|(name, _)| name).collect();
            create.columns.retain(|c| !buckets.contains(&c.name.name));
            create.options.retain(|o| !is_property(o, "extensions"));
            put(&mut create.options, bucketing_property(plan));
        }
        if create.name.keyspace.is_none() {
            create.name.keyspace = table.keyspace.as_ref().map(Ident::new);
        }
        let name = |c: &Column| c.name.clone();
        let clustering = table
            .clustering
            .iter()
            .filter_map(|item| table.columns.get(item.column).map(|c| (c.name.clone(), item.descending)))
            .collect();
        Draft { create, partition: table.partition_columns().map(name).collect(), clustering }
    }

    /// The same with another name.
    pub fn named(mut self, name: &str) -> Draft {
        let keyspace = self.create.name.keyspace.take();
        self.create.name = QualifiedName { keyspace, name: Ident::new(name) };
        self
    }

    /// Another key. Columns of the new partition key leave the clustering key.
    pub fn keyed(mut self, partition: Vec<String>, clustering: Vec<(String, bool)>) -> Draft {
        self.clustering = clustering.into_iter().filter(|(name, _)| !partition.contains(name)).collect();
        self.partition = partition;
        self
    }

    /// A further column of the partition key, declared if the table does not have it.
    pub fn partition_with(mut self, column: &str, native: NativeType) -> Draft {
        self.declare(column, native);
        self.clustering.retain(|(name, _)| name != column);
        if !self.partition.iter().any(|name| name == column) {
            self.partition.push(column.to_string());
        }
        self
    }

    /// A further clustering column at the end, declared if the table does not have it.
    pub fn clustering_with(mut self, column: &str, native: NativeType) -> Draft {
        self.declare(column, native);
        if !self.clustering.iter().any(|(name, _)| name == column)
            && !self.partition.iter().any(|p| p == column)
        {
            self.clustering.push((column.to_string(), false));
        }
        self
    }

    pub fn without_column(mut self, column: &str) -> Draft {
        self.create.columns.retain(|c| c.name.name != column);
        self
    }

    /// A further plain column.
    pub fn with_column(mut self, column: &str, native: NativeType) -> Draft {
        let known = self.create.columns.iter().any(|c| c.name.name == column);
        if !known {
            self.create.columns.push(definition(column, native));
        }
        self
    }

    pub fn without_counters(mut self) -> Draft {
        self.create.columns.retain(|c| crate::vocabulary::native(&c.data_type) != Some(NativeType::Counter));
        self
    }

    pub fn with_ttl(mut self, seconds: u64) -> Draft {
        self.create
            .options
            .retain(|o| !matches!(o, TableOption::Property(p) if p.name.name == "default_time_to_live"));
        self.create.options.push(TableOption::Property(Property {
            name: Ident::new("default_time_to_live"),
            value: PropertyValue::Literal(Literal::Integer(seconds.to_string()), Span::default()),
            span: Span::default(),
        }));
        self
    }

    /// Buckets that the server makes; they are no columns of the definition.
    pub fn with_bucketing(mut self, plan: &Bucketing) -> Draft {
        put(&mut self.create.options, bucketing_property(plan));
        self
    }

    pub fn without_bucketing(mut self) -> Draft {
        self.create.options.retain(|o| !is_property(o, "bucketing"));
        self
    }

    pub fn has_bucketing(&self) -> bool {
        self.create.options.iter().any(|o| is_property(o, "bucketing"))
    }

    pub fn partition(&self) -> &[String] {
        &self.partition
    }

    pub fn clustering(&self) -> &[(String, bool)] {
        &self.clustering
    }

    /// Rows sorted by this column first come newest first.
    pub fn newest_first(mut self, column: &str) -> Draft {
        if let Some(first) = self.clustering.first_mut().filter(|(name, _)| name == column) {
            first.1 = true;
        }
        self
    }

    pub fn without_ttl(mut self) -> Draft {
        self.create
            .options
            .retain(|o| !matches!(o, TableOption::Property(p) if p.name.name == "default_time_to_live"));
        self
    }

    fn declare(&mut self, column: &str, native: NativeType) {
        if !self.create.columns.iter().any(|c| c.name.name == column) {
            let at = self.partition.len().min(self.create.columns.len());
            self.create.columns.insert(at, definition(column, native));
        }
    }

    /// The statement, with a semicolon.
    pub fn print(self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write!(out, "{:#};", self.statement());
        out
    }

    /// The definition with its key and order.
    pub fn statement(&self) -> CreateTable {
        self.clone().finished()
    }

    fn finished(mut self) -> CreateTable {
        self.create.primary_keys = vec![PrimaryKey {
            partition: self.partition.iter().map(Ident::new).collect(),
            clustering: self.clustering.iter().map(|(name, _)| Ident::new(name)).collect(),
            span: Span::default(),
        }];
        // What applications before CQL needed is no option of a new table.
        let old =
            |o: &TableOption| matches!(o, TableOption::ClusteringOrder(..) | TableOption::CompactStorage(_));
        self.create.options.retain(|o| !old(o));
        if self.clustering.is_empty() {
            for column in &mut self.create.columns {
                column.is_static = false;
            }
        }
        if self.clustering.iter().any(|(_, descending)| *descending) {
            let items = self.clustering.iter().map(|(name, descending)| ClusteringItem {
                column: Ident::new(name),
                order: if *descending { SortOrder::Desc } else { SortOrder::Asc },
                span: Span::default(),
            });
            self.create.options.insert(0, TableOption::ClusteringOrder(items.collect(), Span::default()));
        }
        self.create
    }
}

fn is_property(option: &TableOption, name: &str) -> bool {
    matches!(option, TableOption::Property(property) if property.name.name == name)
}

/// Puts a property in the place of the one of its name.
fn put(options: &mut Vec<TableOption>, property: Property) {
    options.retain(|option| !is_property(option, &property.name.name));
    options.push(TableOption::Property(property));
}

fn bucketing_property(plan: &Bucketing) -> Property {
    let literal = |key: &str, text: &str| match key {
        "into" => Literal::Integer(text.to_string()),
        _ => Literal::String(text.to_string()),
    };
    let entries = plan.entries().into_iter().map(|(key, value)| MapEntry {
        value: literal(&key, &value),
        key: Literal::String(key),
        key_span: Span::default(),
        value_span: Span::default(),
    });
    Property {
        name: Ident::new("bucketing"),
        value: PropertyValue::Map(entries.collect(), Span::default()),
        span: Span::default(),
    }
}

fn definition(column: &str, native: NativeType) -> ColumnDef {
    let data_type = DataType::native(native);
    ColumnDef {
        name: Ident::new(column),
        data_type,
        is_static: false,
        is_ttl: false,
        mask: None,
        checks: Vec::new(),
        span: Span::default(),
    }
}

/// The table with a hash bucket in its partition key.
pub fn with_hash_bucket(table: &Table) -> Draft {
    Draft::of(table).named(&format!("{}_by_bucket", table.name)).partition_with("bucket", NativeType::Int)
}

/// `keyspace.table` or `table`.
pub fn qualified(table: &Table) -> String {
    let name = match &table.keyspace {
        Some(keyspace) => QualifiedName::qualified(keyspace, &table.name),
        None => QualifiedName::unqualified(&table.name),
    };
    name.to_string()
}

/// A declaration of the number that would settle a doubt.
pub fn declaration(table: &Table, numbers: &str) -> String {
    let mut relations = String::new();
    for (at, column) in table.partition_columns().enumerate() {
        let join = if at == 0 { "WHERE" } else { "AND" };
        let _ = write!(relations, " {join} {} = ?", cql_syntax::maybe_quote(&column.name));
    }
    let name = cql_syntax::maybe_quote(&format!("read_{}", table.name)).to_string();
    format!(
        "CREATE ACCESS PATTERN {name} AS SELECT * FROM {}{relations} LIMIT 100 WITH {numbers};",
        qualified(table)
    )
}

/// Whether rows have a time at which they came, and so a day that stays the same; when they were last changed is none.
pub fn has_arrival(table: &Table) -> bool {
    let moves = ["updated", "update", "modified", "last", "expires", "expire", "expiry", "seen", "until"];
    let is_arrival = |c: &Column| {
        (c.is_chronological() || matches!(c.meaning, Meaning::TimeBucket(_))) && !any_word(&c.words, &moves)
    };
    table.columns.iter().any(is_arrival)
}
