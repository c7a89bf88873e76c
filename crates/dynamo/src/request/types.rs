//! Requests after all checks that need nothing but the request: names resolved, expressions parsed, legacy parameters
//! translated.

use crate::expression::{Condition, KeyCondition, Projection, Update};
use crate::table::{
    BillingMode, Encryption, Index, KeyAttribute, KeySchema, KeyType, OnDemand, Throughput, VectorIndex,
    ViewType, Warm,
};
use crate::value::{Item, Value};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReturnCapacity {
    #[default]
    None,
    Total,
    Indexes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReturnValues {
    #[default]
    None,
    AllOld,
    UpdatedOld,
    AllNew,
    UpdatedNew,
}

/// What every write of one item has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    pub condition: Option<Condition>,
    pub return_values: ReturnValues,
    pub return_capacity: ReturnCapacity,
    pub return_metrics: bool,
    /// ReturnValuesOnConditionCheckFailure is ALL_OLD.
    pub item_on_failure: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutItem {
    pub table: String,
    pub item: Item,
    pub options: WriteOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteItem {
    pub table: String,
    pub key: Item,
    pub options: WriteOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateItem {
    pub table: String,
    pub key: Item,
    /// No actions: an item with its key only is made if there is none.
    pub update: Update,
    pub options: WriteOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetItem {
    pub table: String,
    pub key: Item,
    pub consistent: bool,
    pub projection: Option<Projection>,
    pub return_capacity: ReturnCapacity,
}

/// What a page of items shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// Whatever the projection says, or all attributes of the table or index.
    Attributes,
    /// ALL_ATTRIBUTES was asked for.
    AllAttributes,
    Count,
}

/// What Query and Scan share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    pub table: String,
    pub index: Option<String>,
    pub select: Select,
    pub projection: Option<Projection>,
    pub filter: Option<Condition>,
    /// The filter came as QueryFilter or ScanFilter.
    pub legacy_filter: bool,
    pub limit: Option<u32>,
    pub consistent: bool,
    pub start_key: Option<Item>,
    pub return_capacity: ReturnCapacity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub read: ReadOptions,
    pub key_condition: KeyCondition,
    pub forward: bool,
    /// A PartiQL statement: its filter may look at the key.
    pub of_statement: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    pub read: ReadOptions,
    pub segment: Option<Segment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub number: u32,
    pub total: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchGetItem {
    pub tables: Vec<BatchGetTable>,
    pub return_capacity: ReturnCapacity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchGetTable {
    /// The key of the map, given back in answers.
    pub requested: String,
    pub table: String,
    pub keys: Vec<Item>,
    pub consistent: bool,
    pub projection: Option<Projection>,
    /// The members of the request beside Keys, as JSON members, for UnprocessedKeys.
    pub echo: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchWriteItem {
    pub tables: Vec<BatchWriteTable>,
    pub return_capacity: ReturnCapacity,
    pub return_metrics: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchWriteTable {
    pub requested: String,
    pub table: String,
    pub writes: Vec<BatchWrite>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchWrite {
    Put(Item),
    Delete(Item),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactGetItems {
    pub gets: Vec<TransactGet>,
    pub return_capacity: ReturnCapacity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactGet {
    pub table: String,
    pub key: Item,
    pub projection: Option<Projection>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactWriteItems {
    pub actions: Vec<TransactAction>,
    pub token: Option<String>,
    pub return_capacity: ReturnCapacity,
    pub return_metrics: bool,
    /// A digest of the actions, to compare requests of one token with.
    pub digest: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TransactAction {
    pub table: String,
    pub condition: Option<Condition>,
    pub item_on_failure: bool,
    pub write: TransactWrite,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TransactWrite {
    Check { key: Item },
    Put { item: Item },
    Update { key: Item, update: Update },
    Delete { key: Item },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    pub text: String,
    pub parameters: Vec<Value>,
    pub consistent: bool,
    pub item_on_failure: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteStatement {
    pub statement: Statement,
    pub next_token: Option<String>,
    pub limit: Option<u32>,
    pub return_capacity: ReturnCapacity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchExecuteStatement {
    pub statements: Vec<Statement>,
    pub return_capacity: ReturnCapacity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteTransaction {
    pub statements: Vec<Statement>,
    pub token: Option<String>,
    pub return_capacity: ReturnCapacity,
    pub digest: u64,
}

/// A table that is to be made; `TableDefinition::create` turns it into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTable {
    pub table: String,
    pub key: KeySchema,
    pub indexes: Vec<Index>,
    pub vector_indexes: Vec<VectorIndex>,
    pub billing: BillingMode,
    pub throughput: Throughput,
    pub on_demand: Option<OnDemand>,
    pub warm: Option<Warm>,
    /// The view type, if the table is to have a stream.
    pub stream: Option<ViewType>,
    pub tags: Vec<(String, String)>,
    pub class: Option<String>,
    pub deletion_protection: bool,
    pub encryption: Option<Encryption>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexUpdate {
    Create(NewIndex),
    Update { name: String, throughput: Option<Throughput>, on_demand: Option<OnDemand>, warm: Option<Warm> },
    Delete { name: String },
}

/// A global index whose key types come from the request's or the table's attribute definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIndex {
    pub name: String,
    /// Attribute and whether it is HASH, in order.
    pub schema: Vec<(String, bool)>,
    pub projection: crate::table::IndexProjection,
    pub throughput: Option<Throughput>,
    pub on_demand: Option<OnDemand>,
    pub warm: Option<Warm>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VectorUpdate {
    Create(VectorIndex),
    Delete { name: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateTable {
    pub table: String,
    pub attributes: Option<Vec<KeyAttribute>>,
    pub billing: Option<BillingMode>,
    pub throughput: Option<Throughput>,
    pub indexes: Vec<IndexUpdate>,
    pub vector_indexes: Vec<VectorUpdate>,
    /// Some(None) disables the stream.
    pub stream: Option<Option<ViewType>>,
    pub encryption: Option<Option<Encryption>>,
    pub class: Option<String>,
    pub deletion_protection: Option<bool>,
    pub on_demand: Option<OnDemand>,
    pub warm: Option<Warm>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTables {
    pub start: Option<String>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateTimeToLive {
    pub table: String,
    pub attribute: String,
    pub enabled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagResource {
    /// The ARN as it was given, and the table within it.
    pub arn: String,
    pub table: String,
    pub tags: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntagResource {
    pub arn: String,
    pub table: String,
    pub keys: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTagsOfResource {
    pub arn: String,
    pub table: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListStreams {
    pub table: Option<String>,
    pub limit: usize,
    pub start: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeStream {
    pub arn: String,
    pub limit: usize,
    pub start_shard: Option<String>,
    /// ShardFilter CHILD_SHARDS: only the children of this shard.
    pub children_of: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IteratorStart {
    TrimHorizon,
    Latest,
    At(u128),
    After(u128),
    /// Milliseconds since 1970.
    AtTimestamp(i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetShardIterator {
    pub arn: String,
    pub shard: String,
    pub start: IteratorStart,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetRecords {
    pub iterator: String,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListBackups {
    pub table: Option<String>,
    pub limit: usize,
    pub from_ms: Option<i64>,
    pub to_ms: Option<i64>,
    pub start: Option<String>,
    /// Backups that this server makes are all of type USER.
    pub kind: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreTableFromBackup {
    pub target: String,
    pub backup_arn: String,
    pub billing: Option<BillingMode>,
    pub throughput: Option<Throughput>,
    pub on_demand: Option<OnDemand>,
    /// Names of the indexes to keep; none keeps all.
    pub global_indexes: Option<Vec<String>>,
    pub local_indexes: Option<Vec<String>>,
    pub vector_indexes: Option<Vec<String>>,
    pub encryption: Option<Encryption>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SearchVectors {
    pub table: String,
    pub index: String,
    pub vector: Vec<f64>,
    pub top: usize,
    pub condition: Option<Condition>,
    pub projection: Option<Projection>,
    pub return_capacity: ReturnCapacity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportTable {
    pub arn: String,
    pub table: String,
    pub bucket: String,
    pub prefix: Option<String>,
    pub time_ms: Option<i64>,
    pub token: Option<String>,
    pub filter: Option<Condition>,
    pub projection: Option<Projection>,
    /// Members to give back in the description, as a JSON object.
    pub echo: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    DynamoJson,
    Csv,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportTable {
    pub bucket: String,
    pub prefix: Option<String>,
    pub format: ImportFormat,
    pub csv_delimiter: Option<char>,
    pub csv_header: Option<Vec<String>>,
    /// GZIP, ZSTD or none.
    pub compression: Option<String>,
    pub token: Option<String>,
    pub create: CreateTable,
    pub echo: Vec<u8>,
}

/// A fact about a table that one machine answers without asking anything but whether the table is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnTable {
    pub table: String,
    /// The body of the answer.
    pub body: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    PutItem(PutItem),
    GetItem(GetItem),
    UpdateItem(UpdateItem),
    DeleteItem(DeleteItem),
    Query(Box<Query>),
    Scan(Box<Scan>),
    BatchGetItem(BatchGetItem),
    BatchWriteItem(BatchWriteItem),
    TransactGetItems(TransactGetItems),
    TransactWriteItems(TransactWriteItems),
    ExecuteStatement(ExecuteStatement),
    BatchExecuteStatement(BatchExecuteStatement),
    ExecuteTransaction(ExecuteTransaction),
    CreateTable(Box<CreateTable>),
    UpdateTable(Box<UpdateTable>),
    DeleteTable {
        table: String,
    },
    DescribeTable {
        table: String,
    },
    ListTables(ListTables),
    UpdateTimeToLive(UpdateTimeToLive),
    DescribeTimeToLive {
        table: String,
    },
    TagResource(TagResource),
    UntagResource(UntagResource),
    ListTagsOfResource(ListTagsOfResource),
    ListStreams(ListStreams),
    DescribeStream(DescribeStream),
    GetShardIterator(GetShardIterator),
    GetRecords(GetRecords),
    CreateBackup {
        table: String,
        name: String,
    },
    DeleteBackup {
        arn: String,
    },
    DescribeBackup {
        arn: String,
    },
    ListBackups(ListBackups),
    RestoreTableFromBackup(Box<RestoreTableFromBackup>),
    SearchVectors(Box<SearchVectors>),
    ExportTable(Box<ExportTable>),
    DescribeExport {
        arn: String,
    },
    ListExports {
        table: Option<String>,
        limit: usize,
        /// So many were listed before.
        skip: usize,
    },
    ImportTable(Box<ImportTable>),
    DescribeImport {
        arn: String,
    },
    ListImports {
        table: Option<String>,
        limit: usize,
        /// So many were listed before.
        skip: usize,
    },
    /// The Host header is the endpoint.
    DescribeEndpoints,
    /// If the table is there, this is the answer.
    OnTable(OnTable),
    /// The answer, whatever the store holds.
    Answer(Vec<u8>),
}

/// The type of an attribute definition.
pub fn key_type(name: &str) -> Option<KeyType> {
    match name {
        "S" => Some(KeyType::S),
        "N" => Some(KeyType::N),
        "B" => Some(KeyType::B),
        _ => None,
    }
}
