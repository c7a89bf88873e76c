//! Tables, views and indexes as the review sees them.

use super::bucketing::Bucketing;
use crate::source::Place;
use crate::vocabulary::{self, Meaning};
use cql_syntax::Span;
use cql_syntax::ast::{self, CreateTable, IndexTargetKind, PropertyValue, RelationOp, SortOrder, TypeKind};

/// A table or a view.
#[derive(Debug, Clone)]
pub struct Table {
    pub keyspace: Option<String>,
    pub name: String,
    /// The words of the name, as it is written: `orderItems` is two, though the server knows `orderitems`.
    pub words: Vec<String>,
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
    /// Buckets that the server makes: statements do not name them, and they are not among the partition columns here.
    pub bucketing: Option<Bucketing>,
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
    /// The words of the name, as it is written.
    pub words: Vec<String>,
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
    /// What of a collection is indexed.
    pub target: IndexTargetKind,
    pub kind: IndexKind,
    pub place: Place,
}

/// What an index can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// Equality only, and one index per query.
    Legacy,
    /// Ranges of numbers and times, and several in one query.
    Attached,
    /// Ranges and LIKE.
    Sasi,
    /// Somebody else's: nothing is known.
    Other,
}

impl Index {
    /// Whether the index finds the rows of this relation.
    pub fn serves(&self, op: RelationOp, is_entry: bool, column: &Column) -> bool {
        let is_collection = column.is_collection() && self.target != IndexTargetKind::Full;
        match op {
            RelationOp::Contains => {
                is_collection && matches!(self.target, IndexTargetKind::Simple | IndexTargetKind::Values)
            }
            RelationOp::ContainsKey => is_collection && self.target == IndexTargetKind::Keys,
            RelationOp::Eq if is_entry => self.target == IndexTargetKind::Entries,
            RelationOp::Eq => !is_collection,
            RelationOp::In => !is_collection && self.kind == IndexKind::Attached,
            RelationOp::Like => matches!(self.kind, IndexKind::Sasi | IndexKind::Other),
            RelationOp::Matches => self.kind == IndexKind::Other,
            op if op.is_slice() => !is_collection && self.kind != IndexKind::Legacy,
            _ => false,
        }
    }
}

impl Table {
    /// The table of a CREATE TABLE; a sentence when its key makes no sense.
    pub fn new(
        statement: &CreateTable,
        keyspace: Option<String>,
        file: usize,
        text: &str,
    ) -> Result<Table, String> {
        let name = statement.name.as_str().to_string();
        let key = match statement.primary_keys.as_slice() {
            [key] => key,
            [] => return Err(format!("table {name} has no PRIMARY KEY")),
            _ => return Err(format!("table {name} has more than one PRIMARY KEY")),
        };
        let mut columns: Vec<Column> =
            statement.columns.iter().map(|column| Column::new(column, text)).collect();
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
            words: vocabulary::words(written(&name, statement.name.name.span, text)),
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
            bucketing: None,
            statement: statement.clone(),
        };
        for property in statement.properties() {
            table.set(&property.name.name, &property.value);
        }
        table.mend_meanings();
        table.set_buckets_apart();
        Ok(table)
    }

    /// The columns that the server's buckets are in can be named, but are no part of the key that statements give.
    fn set_buckets_apart(&mut self) {
        use ast::NativeType::{Int, Timestamp};
        let Some(bucketing) = &self.bucketing else { return };
        for (name, is_time) in bucketing.columns() {
            let at = self.columns.iter().position(|c| c.name == name);
            // Described tables declare them, at the end of the partition key.
            self.partition.retain(|part| Some(*part) != at);
            if at.is_none() {
                let data_type = ast::DataType::native(if is_time { Timestamp } else { Int });
                self.columns.push(Column {
                    words: vocabulary::words(&name),
                    meaning: Meaning::Other,
                    name,
                    data_type,
                    is_static: false,
                    role: Role::Partition,
                    span: self.key_span,
                });
            }
        }
    }

    /// Whether the column holds a bucket that the server makes.
    pub fn is_server_bucket(&self, name: &str) -> bool {
        self.bucketing.as_ref().is_some_and(|plan| plan.columns().iter().any(|(column, _)| column == name))
    }

    /// Whether the server closes each partition after a stretch of time.
    pub fn has_time_buckets(&self) -> bool {
        self.bucketing.as_ref().is_some_and(|plan| plan.time.is_some())
    }

    /// Whether the server spreads each key over several partitions.
    pub fn has_hash_buckets(&self) -> bool {
        self.bucketing.as_ref().is_some_and(|plan| plan.hash.is_some())
    }

    /// What a column of the key means beside the others: `tx_id_group` cuts `tx_id` into runs, and a `bucket` of objects
    /// is no time.
    fn mend_meanings(&mut self) {
        const PARTS: &[&str] = &["part", "slice", "chunk", "window", "range", "div", "mod", "seg"];
        const CUTS: &[&str] = &["group", "bucket", "range", "block", "page", "segment", "slice", "batch"];
        let mut mended: Vec<(usize, Meaning)> = Vec::new();
        for at in &self.partition {
            let Some(column) = self.columns.get(*at) else { continue };
            let is_cut = column.words.split_last().is_some_and(|(last, stem)| {
                CUTS.contains(&last.as_str()) && self.clustering_columns().any(|c| c.words == stem)
            });
            let is_int = matches!(
                vocabulary::native(&column.data_type),
                Some(ast::NativeType::Int | ast::NativeType::Bigint | ast::NativeType::Smallint)
            );
            // `dpart` beside an owner: what divides its rows.
            let divides = self.partition.len() > 1
                && matches!(column.meaning, Meaning::Sequence | Meaning::Other)
                && column.words.iter().any(|word| PARTS.iter().any(|part| word.ends_with(part)));
            let is_cut = is_cut && !matches!(column.meaning, Meaning::TimeBucket(_));
            if is_int && (divides || is_cut) {
                mended.push((*at, Meaning::HashBucket));
            } else if column.is_container(self) {
                mended.push((*at, Meaning::Other));
            }
        }
        for (at, meaning) in mended {
            self.columns[at].meaning = meaning;
        }
    }

    /// Takes over one property of the WITH clause.
    pub fn set(&mut self, name: &str, value: &PropertyValue) {
        let seconds = || value.text().and_then(|text| text.parse::<f64>().ok()).map(|s| s / 86_400.0);
        match name {
            "default_time_to_live" => self.default_ttl_days = seconds().filter(|days| *days > 0.0),
            "gc_grace_seconds" => self.gc_grace_days = seconds().unwrap_or(self.gc_grace_days),
            "comment" => self.comment = value.text().map(str::to_string),
            "bucketing" => self.bucketing = Bucketing::of_property(value),
            "extensions" => {
                self.bucketing = Bucketing::of_extensions(value).or_else(|| self.bucketing.take())
            }
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

    /// `tx_id_group` cuts `tx_id` into runs: there are as many as there are rows to cut, and each is closed when it is full.
    pub fn is_run(&self, column: &Column) -> bool {
        column.meaning == Meaning::HashBucket
            && column
                .words
                .split_last()
                .is_some_and(|(_, stem)| self.clustering_columns().any(|c| c.words == stem))
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

/// The name as it is written in the text, where the case of letters parts words.
fn written<'t>(name: &'t str, span: Span, text: &'t str) -> &'t str {
    let spelled = text.get(span.start as usize..span.end as usize).unwrap_or("");
    if spelled.eq_ignore_ascii_case(name) { spelled } else { name }
}

impl Column {
    /// A regular column of a definition in this text.
    pub fn new(definition: &ast::ColumnDef, text: &str) -> Column {
        let name = definition.name.name.clone();
        let words = vocabulary::words(written(&name, definition.name.span, text));
        Column {
            meaning: vocabulary::meaning(&words, &definition.data_type),
            name,
            words,
            data_type: definition.data_type.clone(),
            is_static: definition.is_static,
            role: Role::Regular,
            span: definition.name.span,
        }
    }

    /// An instant, or an id that is ordered by time.
    pub fn is_chronological(&self) -> bool {
        self.meaning == Meaning::Time
            || vocabulary::native(&self.data_type) == Some(ast::NativeType::Timeuuid)
    }

    /// A column called `bucket` that names a container of objects, as in an object store; not a stretch of time.
    pub fn is_container(&self, table: &Table) -> bool {
        let is_text = matches!(
            vocabulary::native(&self.data_type),
            Some(ast::NativeType::Text | ast::NativeType::Ascii)
        );
        let objects = ["object", "path", "key", "file", "name", "upload", "version", "blob"];
        is_text
            && self.words.iter().any(|word| word == "bucket" || word == "container")
            && !table.clustering_columns().any(Column::is_chronological)
            && table.clustering_columns().any(|c| vocabulary::any_word(&c.words, &objects))
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
