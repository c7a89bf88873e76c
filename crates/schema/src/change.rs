//! Changes of the schema as data: what a dialect asks for, before any rule was checked.
//!
//! Names are as the user meant them (case folded by the dialect), types are resolved. Everything else
//! (existence, name rules, key rules, option values) is checked when the change is applied.

use crate::fault::Warning;
use crate::foreign::NewForeign;
use crate::function::{UserAggregate, UserFunction};
use crate::index::IndexPart;
use crate::note::{NoteKind, NoteTarget};
use crate::properties::Properties;
use crate::view::ViewRestriction;
use model::constraint::Constraint;
use model::lists::Lists;
use model::types::DataType;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What to change. `if_exists` and `if_not_exists` turn a missing or present object into no change.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    CreateKeyspace {
        name: String,
        if_not_exists: bool,
        properties: Properties,
    },
    AlterKeyspace {
        name: String,
        if_exists: bool,
        properties: Properties,
    },
    DropKeyspace {
        name: String,
        if_exists: bool,
    },
    CreateTable(Box<NewTable>),
    CopyTable(Box<TableLike>),
    SetNote(Box<NewNote>),
    AlterTable {
        keyspace: String,
        name: String,
        if_exists: bool,
        alteration: TableAlteration,
    },
    DropTable {
        keyspace: String,
        name: String,
        if_exists: bool,
    },
    Truncate {
        keyspace: String,
        name: String,
    },
    CreateType {
        keyspace: String,
        name: String,
        if_not_exists: bool,
        fields: Vec<(String, DataType)>,
    },
    AlterType {
        keyspace: String,
        name: String,
        if_exists: bool,
        alteration: TypeAlteration,
    },
    DropType {
        keyspace: String,
        name: String,
        if_exists: bool,
    },
    CreateIndex(Box<NewIndex>),
    DropIndex {
        keyspace: String,
        name: String,
        if_exists: bool,
    },
    /// Every row of the table is in the index now. Nothing happens when the index is gone, and drivers are not told.
    IndexBuilt {
        keyspace: String,
        table: String,
        id: u32,
    },
    /// The lists that the entries of an index on a vector will be in. Nothing happens when it is built, has some, or is gone.
    IndexLists {
        keyspace: String,
        table: String,
        id: u32,
        lists: Arc<Lists>,
    },
    /// An index that is built is to be filled once more, under another number. Nothing happens when it is gone.
    IndexAnew {
        keyspace: String,
        table: String,
        id: u32,
    },
    CreateView(Box<NewView>),
    AlterView {
        keyspace: String,
        name: String,
        if_exists: bool,
        properties: Properties,
    },
    /// One projection of a table takes the name and the place of another, which is dropped.
    ReplaceView {
        keyspace: String,
        base: String,
        old: String,
        new: String,
    },
    DropView {
        keyspace: String,
        name: String,
        if_exists: bool,
    },
    /// Every row of the base is in the view now. Nothing happens when the view is gone, and drivers are not told.
    ViewBuilt {
        keyspace: String,
        id: u32,
    },
    /// The rows of a table are all in its next generation.
    Rebucketed {
        keyspace: String,
        name: String,
        id: u32,
    },
    /// The next generation is given up.
    StopRebucketing {
        keyspace: String,
        name: String,
        id: u32,
    },
    /// Another definition and other stores for a table of another dialect.
    AlterForeign {
        keyspace: String,
        name: String,
        foreign: Box<NewForeign>,
    },
    DropForeign {
        keyspace: String,
        name: String,
    },
    RenameForeign {
        keyspace: String,
        from: String,
        to: String,
    },
    /// One table of another dialect takes stores over from another, with all that they hold.
    TakeStores {
        /// Keyspace and name of the table that has them.
        from: (String, String),
        to: (String, String),
        stores: Vec<String>,
    },
    CreatePattern(Box<NewPattern>),
    /// Settings that are not named stay; so does the statement when there is none.
    AlterPattern {
        keyspace: String,
        name: String,
        if_exists: bool,
        statement: Option<String>,
        settings: BTreeMap<String, String>,
    },
    DropPattern {
        keyspace: String,
        name: String,
        if_exists: bool,
    },
    CreateFunction(Box<NewFunction>),
    CreateAggregate(Box<NewAggregate>),
    DropFunction(Box<DropFunction>),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewTable {
    pub keyspace: String,
    pub name: String,
    pub if_not_exists: bool,
    pub columns: Vec<NewColumn>,
    pub partition_key: Vec<String>,
    pub clustering: Vec<String>,
    /// Column and whether it descends, as CLUSTERING ORDER BY lists them; may be shorter than `clustering`.
    pub clustering_order: Vec<(String, bool)>,
    pub properties: Properties,
    /// What another dialect than CQL defines.
    pub foreign: Option<NewForeign>,
    /// WITH COMPACT STORAGE
    pub is_compact: bool,
}

/// A table with the shape of another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableLike {
    pub keyspace: String,
    pub name: String,
    pub if_not_exists: bool,
    pub source_keyspace: String,
    pub source: String,
    pub with_indexes: bool,
    pub properties: Properties,
}

/// A comment or a security label; without a text the one that is there goes.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNote {
    pub keyspace: String,
    pub target: NoteTarget,
    pub kind: NoteKind,
    pub provider: Option<String>,
    pub text: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewColumn {
    pub name: String,
    pub data_type: DataType,
    pub is_static: bool,
    /// Rows expire at the moment that it says.
    pub is_ttl: bool,
    /// Masking function call as CQL text.
    pub mask: Option<String>,
    pub checks: Vec<Constraint>,
}

impl NewColumn {
    pub fn regular(name: &str, data_type: DataType) -> NewColumn {
        NewColumn {
            name: name.into(),
            data_type,
            is_static: false,
            is_ttl: false,
            mask: None,
            checks: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum TableAlteration {
    Add {
        if_not_exists: bool,
        columns: Vec<NewColumn>,
    },
    /// Without `timestamp` (microseconds) the moment of the change counts.
    Drop {
        if_exists: bool,
        columns: Vec<String>,
        timestamp: Option<i64>,
    },
    Rename {
        renames: Vec<(String, String)>,
    },
    Mask {
        if_exists: bool,
        column: String,
        mask: Option<String>,
    },
    /// Without constraints those that are there are dropped.
    Check {
        if_exists: bool,
        column: String,
        checks: Vec<Constraint>,
    },
    With(Properties),
    /// Rows expire at the moment that the column says; without one they no longer do.
    RowTtl(Option<String>),
    DropCompactStorage,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TypeAlteration {
    Add { if_not_exists: bool, field: String, data_type: DataType },
    Rename { if_exists: bool, renames: Vec<(String, String)> },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewIndex {
    pub keyspace: String,
    pub table: String,
    /// Without one the index is named after its table and column.
    pub name: Option<String>,
    pub if_not_exists: bool,
    /// As written: [`IndexPart::Whole`] is just the column, which for a collection means its values.
    pub targets: Vec<(IndexPart, String)>,
    /// `CREATE CUSTOM INDEX`
    pub is_custom: bool,
    /// What stands after USING.
    pub class: Option<String>,
    pub properties: Properties,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewView {
    pub keyspace: String,
    pub name: String,
    pub if_not_exists: bool,
    pub base_keyspace: String,
    pub base: String,
    /// The columns that are named; `None` for all. What cannot be selected is told when it is its turn among the checks.
    pub selected: Result<Option<Vec<String>>, String>,
    /// The WHERE clause, or what is wrong with it.
    pub restrictions: Result<Vec<ViewRestriction>, String>,
    pub partition_key: Vec<String>,
    pub clustering: Vec<String>,
    /// Column and whether it descends, as CLUSTERING ORDER BY lists them.
    pub clustering_order: Vec<(String, bool)>,
    pub properties: Properties,
    /// CREATE PROJECTION: with properties of its own, and without Cassandra's limits.
    pub is_projection: bool,
    /// Its aggregates, in their order; with any of them it has one row per key.
    pub totals: Vec<NewTotal>,
}

/// `function(argument) AS name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTotal {
    pub name: String,
    pub function: String,
    /// `None`: all rows, `*`.
    pub argument: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewPattern {
    pub keyspace: String,
    pub name: String,
    pub if_not_exists: bool,
    pub statement: String,
    pub settings: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewFunction {
    pub keyspace: String,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub function: UserFunction,
    /// The types of the arguments as they were written: drivers are told these.
    pub written_types: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewAggregate {
    pub keyspace: String,
    pub or_replace: bool,
    pub if_not_exists: bool,
    /// What it returns is found out when its functions are.
    pub aggregate: UserAggregate,
    pub written_types: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DropFunction {
    pub keyspace: String,
    pub name: String,
    pub if_exists: bool,
    pub is_aggregate: bool,
    /// `None`: whichever has the name, if it is the only one.
    pub arguments: Option<Vec<String>>,
}

/// Where and when a change happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub now_micros: i64,
    /// The data center of this node, for `NetworkTopologyStrategy`.
    pub data_center: String,
}

/// What a change did, as schema events and DDL results tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    Created,
    Updated,
    Dropped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    Keyspace,
    Table,
    Type,
    Function,
    Aggregate,
    /// Ours; drivers know no such target, so they are told that the keyspace changed.
    Pattern,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    pub kind: EffectKind,
    pub target: TargetKind,
    pub keyspace: String,
    /// Empty for a keyspace.
    pub name: String,
    /// The types that tell functions of one name apart.
    pub arguments: Vec<String>,
}

/// The result of applying a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    pub catalogue: crate::Catalogue,
    /// `None` when an IF clause made it a no-op, and for TRUNCATE, which drivers are not told about.
    pub effect: Option<Effect>,
    pub warnings: Vec<Warning>,
}
