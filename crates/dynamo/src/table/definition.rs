//! What the catalogue keeps of a table: everything that its owner said and DescribeTable gives back.

use crate::value::Type;
use serde::{Deserialize, Serialize};

/// The version of the JSON form in the catalogue.
pub const FORMAT: u32 = 1;

/// The types that a key attribute can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeyType {
    S,
    N,
    B,
}

impl KeyType {
    pub fn name(self) -> &'static str {
        match self {
            KeyType::S => "S",
            KeyType::N => "N",
            KeyType::B => "B",
        }
    }

    pub fn kind(self) -> Type {
        match self {
            KeyType::S => Type::S,
            KeyType::N => Type::N,
            KeyType::B => Type::B,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyAttribute {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: KeyType,
}

/// Key attributes in order. A table has one HASH and at most one RANGE attribute; a global index up to four of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeySchema {
    pub hash: Vec<KeyAttribute>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<KeyAttribute>,
}

impl KeySchema {
    pub fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        self.hash.iter().chain(&self.sort)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.attributes().any(|attribute| attribute.name == name)
    }
}

/// What an index holds of an item besides the keys of table and index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexProjection {
    All,
    KeysOnly,
    Include(Vec<String>),
}

impl IndexProjection {
    pub fn name(&self) -> &'static str {
        match self {
            IndexProjection::All => "ALL",
            IndexProjection::KeysOnly => "KEYS_ONLY",
            IndexProjection::Include(_) => "INCLUDE",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexKind {
    Local,
    Global,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexStatus {
    Creating,
    Active,
    Updating,
    Deleting,
}

impl IndexStatus {
    pub fn name(self) -> &'static str {
        match self {
            IndexStatus::Creating => "CREATING",
            IndexStatus::Active => "ACTIVE",
            IndexStatus::Updating => "UPDATING",
            IndexStatus::Deleting => "DELETING",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    pub name: String,
    pub kind: IndexKind,
    pub key: KeySchema,
    pub projection: IndexProjection,
    pub status: IndexStatus,
    /// Present while an index that was added later is filled: false before, true during it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfilling: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_demand: Option<OnDemand>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm: Option<Warm>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DistanceFunction {
    Cosine,
    DotProduct,
    Euclidean,
}

impl DistanceFunction {
    pub fn name(self) -> &'static str {
        match self {
            DistanceFunction::Cosine => "COSINE",
            DistanceFunction::DotProduct => "DOT_PRODUCT",
            DistanceFunction::Euclidean => "EUCLIDEAN",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorIndex {
    pub name: String,
    pub attribute: String,
    pub dimensions: u32,
    pub distance: DistanceFunction,
    pub projection: IndexProjection,
    /// Attributes that a search must equal, and those that it may filter by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search_hash: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search_filters: Vec<String>,
    pub status: IndexStatus,
}

/// Provisioned units; zeros on demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    pub read: i64,
    pub write: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_increase_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_decrease_ms: Option<i64>,
    #[serde(default)]
    pub decreases_today: i64,
}

/// Limits of an on-demand table; kept and given back, without effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnDemand {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<i64>,
}

/// Prepared throughput; kept and given back, without effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warm {
    pub read: i64,
    pub write: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BillingMode {
    Provisioned,
    PayPerRequest,
}

impl BillingMode {
    pub fn name(self) -> &'static str {
        match self {
            BillingMode::Provisioned => "PROVISIONED",
            BillingMode::PayPerRequest => "PAY_PER_REQUEST",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ViewType {
    KeysOnly,
    NewImage,
    OldImage,
    NewAndOldImages,
}

impl ViewType {
    pub fn name(self) -> &'static str {
        match self {
            ViewType::KeysOnly => "KEYS_ONLY",
            ViewType::NewImage => "NEW_IMAGE",
            ViewType::OldImage => "OLD_IMAGE",
            ViewType::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }

    pub fn of_name(name: &str) -> Option<ViewType> {
        [ViewType::KeysOnly, ViewType::NewImage, ViewType::OldImage, ViewType::NewAndOldImages]
            .into_iter()
            .find(|view| view.name() == name)
    }
}

/// A table's stream. A disabled one stays readable, so the label stays too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamDefinition {
    pub enabled: bool,
    pub view: ViewType,
    /// When it was enabled, as `2026-11-18T00:37:34.851`; names the stream for ever.
    pub label: String,
    /// Since when it is not enabled any more; a day later it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_ms: Option<i64>,
}

impl StreamDefinition {
    pub fn disable(&mut self, now_ms: i64) {
        if std::mem::replace(&mut self.enabled, false) {
            self.disabled_ms = Some(now_ms);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encryption {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableStatus {
    Creating,
    Active,
    Updating,
    Deleting,
}

impl TableStatus {
    pub fn name(self) -> &'static str {
        match self {
            TableStatus::Creating => "CREATING",
            TableStatus::Active => "ACTIVE",
            TableStatus::Updating => "UPDATING",
            TableStatus::Deleting => "DELETING",
        }
    }
}

/// Where a restored table came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    pub backup_arn: String,
    pub source_arn: String,
    pub at_ms: i64,
    pub in_progress: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDefinition {
    pub format: u32,
    pub name: String,
    /// A UUID; a table that is created again gets another one.
    pub id: String,
    pub created_ms: i64,
    pub key: KeySchema,
    pub billing: BillingMode,
    /// The table was switched from one mode to the other at some time, so DescribeTable says which it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_demand_since_ms: Option<i64>,
    #[serde(default)]
    pub throughput: Throughput,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_demand: Option<OnDemand>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm: Option<Warm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<Index>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vector_indexes: Vec<VectorIndex>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamDefinition>,
    /// Labels of streams that are no more the table's but still readable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_streams: Vec<StreamDefinition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_to_live: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<(String, String)>,
    #[serde(default)]
    pub deletion_protection: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Restored>,
}

impl TableDefinition {
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    pub fn vector_index(&self, name: &str) -> Option<&VectorIndex> {
        self.vector_indexes.iter().find(|index| index.name == name)
    }

    pub fn has_local_indexes(&self) -> bool {
        self.indexes.iter().any(|index| index.kind == IndexKind::Local)
    }

    /// The stream if it is enabled.
    pub fn enabled_stream(&self) -> Option<&StreamDefinition> {
        self.stream.as_ref().filter(|stream| stream.enabled)
    }

    /// For the catalogue.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// From the catalogue; a form from a later version is refused.
    pub fn from_json(text: &str) -> Result<TableDefinition, String> {
        let definition: TableDefinition = serde_json::from_str(text)
            .map_err(|error| format!("a DynamoDB table's definition is unreadable: {error}"))?;
        if definition.format > FORMAT {
            return Err(format!(
                "the DynamoDB table {} has format {}, and this version reads up to {FORMAT}",
                definition.name, definition.format
            ));
        }
        Ok(definition)
    }
}
