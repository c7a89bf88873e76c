//! Tables, views and indexes as the review sees them.

use crate::source::Place;
use crate::vocabulary::{self, Meaning};
use cql_syntax::Span;
use cql_syntax::ast::{self, CreateTable, PropertyValue, SortOrder, TypeKind};

/// A table or a view.
#[derive(Debug, Clone)]
pub struct Table {
    pub keyspace: Option<String>,
    pub name: String,
    pub kind: TableKind,
    /// The name in CREATE TABLE.
    pub place: Place,
    /// The PRIMARY KEY clause.
    pub key_span: Span,
    pub columns: Vec<Column>,
    /// Indices into `columns`.
    pub partition: Vec<usize>,
    pub clustering: Vec<Clustering>,
    pub default_ttl_days: Option<f64>,
    pub gc_grace_days: f64,
    pub comment: Option<String>,
    /// Whether the table declares `bucketing`, so that the server keeps its partitions small.
    pub is_bucketed_by_server: bool,
    /// The statement, from which repairs are made.
    pub statement: CreateTable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableKind {
    Base,
    /// A view of the named table.
    View {
        base: String,
    },
}

#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub data_type: ast::DataType,
    pub is_static: bool,
    pub role: Role,
    pub meaning: Meaning,
    /// Name and type, where it is declared.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Partition,
    Clustering,
    Regular,
}

#[derive(Debug, Clone, Copy)]
pub struct Clustering {
    /// Index into `columns`.
    pub column: usize,
    pub descending: bool,
}

/// A secondary index.
#[derive(Debug, Clone)]
pub struct Index {
    pub name: Option<String>,
    pub table: usize,
    pub column: String,
    pub place: Place,
}

impl Table {
    /// The table of a CREATE TABLE; a sentence when its key makes no sense.
    pub fn new(statement: &CreateTable, keyspace: Option<String>, file: usize) -> Result<Table, String> {
        let name = statement.name.as_str().to_string();
        let key = match statement.primary_keys.as_slice() {
            [key] => key,
            [] => return Err(format!("table {name} has no PRIMARY KEY")),
            _ => return Err(format!("table {name} has more than one PRIMARY KEY")),
        };
        let mut columns: Vec<Column> = statement
            .columns
            .iter()
            .map(|column| Column {
                name: column.name.name.clone(),
                meaning: vocabulary::meaning(&column.name.name, &column.data_type),
                data_type: column.data_type.clone(),
                is_static: column.is_static,
                role: Role::Regular,
                span: column.name.span,
            })
            .collect();
        let find = |columns: &[Column], wanted: &str| {
            columns
                .iter()
                .position(|c| c.name == wanted)
                .ok_or_else(|| format!("PRIMARY KEY of {name} names unknown column {wanted}"))
        };
        let mut partition = Vec::new();
        for part in &key.partition {
            let at = find(&columns, &part.name)?;
            columns[at].role = Role::Partition;
            partition.push(at);
        }
        let mut clustering = Vec::new();
        for part in &key.clustering {
            let at = find(&columns, &part.name)?;
            columns[at].role = Role::Clustering;
            let order = statement.clustering_order().find(|item| item.column.name == part.name);
            let descending = order.is_some_and(|item| item.order == SortOrder::Desc);
            clustering.push(Clustering { column: at, descending });
        }
        let mut table = Table {
            keyspace,
            name,
            kind: TableKind::Base,
            place: Place { file, span: statement.name.span() },
            key_span: key.span,
            columns,
            partition,
            clustering,
            default_ttl_days: None,
            gc_grace_days: 10.0,
            comment: None,
            is_bucketed_by_server: false,
            statement: statement.clone(),
        };
        for property in statement.properties() {
            table.set(&property.name.name, &property.value);
        }
        Ok(table)
    }

    /// Takes over one property of the WITH clause.
    pub fn set(&mut self, name: &str, value: &PropertyValue) {
        let seconds = || value.text().and_then(|text| text.parse::<f64>().ok()).map(|s| s / 86_400.0);
        match name {
            "default_time_to_live" => self.default_ttl_days = seconds().filter(|days| *days > 0.0),
            "gc_grace_seconds" => self.gc_grace_days = seconds().unwrap_or(self.gc_grace_days),
            "comment" => self.comment = value.text().map(str::to_string),
            "bucketing" => self.is_bucketed_by_server = true,
            _ => {}
        }
    }

    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    pub fn partition_columns(&self) -> impl Iterator<Item = &Column> {
        self.partition.iter().filter_map(|at| self.columns.get(*at))
    }

    pub fn clustering_columns(&self) -> impl Iterator<Item = &Column> {
        self.clustering.iter().filter_map(|item| self.columns.get(item.column))
    }

    pub fn regular_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.role == Role::Regular)
    }

    pub fn is_counter(&self) -> bool {
        self.columns.iter().any(|c| vocabulary::native(&c.data_type) == Some(ast::NativeType::Counter))
    }

    pub fn is_view(&self) -> bool {
        self.kind != TableKind::Base
    }

    /// `(a, b)` of the partition key, for messages.
    pub fn partition_text(&self) -> String {
        let names: Vec<&str> = self.partition_columns().map(|c| c.name.as_str()).collect();
        match names.as_slice() {
            [one] => (*one).to_string(),
            many => format!("({})", many.join(", ")),
        }
    }
}

impl Column {
    /// An instant, or an id that is ordered by time.
    pub fn is_chronological(&self) -> bool {
        self.meaning == Meaning::Time
            || vocabulary::native(&self.data_type) == Some(ast::NativeType::Timeuuid)
    }

    /// The element type of a collection, below `frozen`.
    pub fn is_collection(&self) -> bool {
        let kind = match &self.data_type.kind {
            TypeKind::Frozen(inner) => &inner.kind,
            kind => kind,
        };
        matches!(kind, TypeKind::List(_) | TypeKind::Set(_) | TypeKind::Map(..))
    }
}
