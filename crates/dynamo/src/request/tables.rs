//! CreateTable and UpdateTable: the rules of 2.3 in their order.

use super::{Context, CreateTable, IndexUpdate, NewIndex, UpdateTable, VectorUpdate, key_type};
use crate::error::ApiError;
use crate::messages::{Rule, java_order};
use crate::shape::{Faults, Members, Node, table_name_faults, table_of};
use crate::table::{
    BillingMode, DistanceFunction, Encryption, Index, IndexKind, IndexProjection, IndexStatus, KeyAttribute,
    KeySchema, OnDemand, Throughput, VectorIndex, ViewType, Warm,
};

const LOCAL_MAX: usize = 5;
const GLOBAL_MAX: usize = 20;
const VECTOR_MAX: usize = 5;
const HASH_MAX: usize = 4;
const PROJECTED_MAX: usize = 100;
const DIMENSIONS_MAX: i64 = 4096;
const UNITS_MAX: i64 = 1_000_000_000_000;
pub(super) const TAGS_MAX: usize = 50;

type Checked<T> = Result<T, ApiError>;

/// The name of a table that the control plane is asked about.
pub(super) fn table_name(context: &Context, members: &Members<'_>) -> Checked<String> {
    let Some(given) = members.text("TableName") else { return Err(Rule::TableNameMissing.refuse(&[])) };
    let name = table_of(given);
    let rules = table_name_faults(name);
    if rules.is_empty() {
        return Ok(name.to_string());
    }
    let length = name.chars().count();
    if context.operation != crate::operation::Operation::CreateTable && !(3..=255).contains(&length) {
        return Err(Rule::TableNameLength.refuse(&[]));
    }
    let mut faults = Faults::default();
    rules.iter().for_each(|rule| faults.broken(given, "tableName", rule));
    faults.finish()?;
    Ok(name.to_string())
}

/// What would change results and is not offered is refused in words.
fn refuse_unoffered(members: &Members<'_>, names: &[(&str, &str)]) -> Checked<()> {
    for (name, why) in names {
        if members.contains(name) {
            return Err(ApiError::validation(format!("{name} is not offered by this server: {why}")));
        }
    }
    Ok(())
}

const REGIONS: &str = "a table is on one machine and has no replicas in other regions";
const POLICY: &str = "it does not enforce resource policies, so it does not accept one";

pub(super) fn create(context: &Context, members: Members<'_>) -> Checked<CreateTable> {
    table_name(context, &members)?;
    context.constraints(&members, &["TableName", "Tags"])?;
    refuse_unoffered(
        &members,
        &[
            ("GlobalTableSourceArn", REGIONS),
            ("GlobalTableSettingsReplicationMode", REGIONS),
            ("ResourcePolicy", POLICY),
        ],
    )?;
    definition(members)
}

/// The table that the members of CreateTable or ImportTable describe.
pub(super) fn definition(members: Members<'_>) -> Checked<CreateTable> {
    let (billing, throughput) = billing(&members)?;
    let attributes = attribute_definitions(&members);
    let schema = schema_elements(members.list("KeySchema").unwrap_or_default());
    let key = table_key(&schema, &attributes)?;
    for name in ["LocalSecondaryIndexes", "GlobalSecondaryIndexes", "VectorIndexes"] {
        if members.list(name).is_some_and(<[Node<'_>]>::is_empty) {
            return Err(invalid(format!("List of {name} is empty")));
        }
    }
    let mut indexes: Vec<Index> = Vec::new();
    local_indexes(&members, &key, &attributes, &mut indexes)?;
    global_indexes(&members, billing, &attributes, &mut indexes)?;
    let projected: usize = indexes.iter().map(|index| projected_count(&index.projection)).sum();
    if projected > PROJECTED_MAX {
        return Err(invalid(format!(
            "The total number of NonKeyAttributes of all indexes is {projected}, and the limit is {PROJECTED_MAX}"
        )));
    }
    let vector_indexes = vector_indexes(&members, billing, &indexes)?;
    let search: Vec<&str> = vector_indexes
        .iter()
        .flat_map(|v| v.search_hash.iter().chain(&v.search_filters))
        .map(String::as_str)
        .collect();
    spare_definitions(&attributes, &key, &indexes, &search)?;
    let stream = match members.structure("StreamSpecification") {
        Some(stream) => stream_view(stream, "created")?,
        None => None,
    };
    let on_demand = on_demand(&members, billing, "table")?;
    Ok(CreateTable {
        table: table_of(members.text("TableName").unwrap_or_default()).to_string(),
        key,
        indexes,
        vector_indexes,
        billing,
        throughput,
        on_demand,
        warm: warm(&members),
        stream,
        tags: tags(members.list("Tags").unwrap_or_default())?,
        class: members.text("TableClass").map(str::to_string),
        deletion_protection: members.boolean("DeletionProtectionEnabled").unwrap_or(false),
        encryption: encryption(&members).flatten(),
    })
}

fn invalid(text: impl std::fmt::Display) -> ApiError {
    ApiError::validation(format!("One or more parameter values were invalid: {text}"))
}

fn throughput(members: &Members<'_>) -> Checked<Option<Throughput>> {
    let Some(units) = members.structure("ProvisionedThroughput") else { return Ok(None) };
    let read = units.integer("ReadCapacityUnits").unwrap_or(0);
    let write = units.integer("WriteCapacityUnits").unwrap_or(0);
    for (name, value) in [("ReadCapacityUnits", read), ("WriteCapacityUnits", write)] {
        if value > UNITS_MAX {
            return Err(ApiError::validation(format!("Given value {value} for {name} is out of bounds")));
        }
    }
    Ok(Some(Throughput { read, write, ..Throughput::default() }))
}

fn billing(members: &Members<'_>) -> Checked<(BillingMode, Throughput)> {
    let throughput = throughput(members)?;
    match (billing_mode(members), throughput) {
        (Some(BillingMode::PayPerRequest), Some(_)) => Err(invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
        )),
        (Some(BillingMode::PayPerRequest), None) => Ok((BillingMode::PayPerRequest, Throughput::default())),
        (_, Some(throughput)) => Ok((BillingMode::Provisioned, throughput)),
        (_, None) => Err(invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
        )),
    }
}

pub(super) fn billing_mode(members: &Members<'_>) -> Option<BillingMode> {
    match members.text("BillingMode").or_else(|| members.text("BillingModeOverride")) {
        Some("PAY_PER_REQUEST") => Some(BillingMode::PayPerRequest),
        Some(_) => Some(BillingMode::Provisioned),
        None => None,
    }
}

fn attribute_definitions(members: &Members<'_>) -> Vec<KeyAttribute> {
    let definition = |node: &Node<'_>| {
        let Node::Structure(entry) = node else { return None };
        let kind = key_type(entry.text("AttributeType")?)?;
        Some(KeyAttribute { name: entry.text("AttributeName")?.to_string(), kind })
    };
    members.list("AttributeDefinitions").unwrap_or_default().iter().filter_map(definition).collect()
}

/// Name and whether it is HASH.
fn schema_elements(list: &[Node<'_>]) -> Vec<(String, bool)> {
    let element = |node: &Node<'_>| {
        let Node::Structure(entry) = node else { return None };
        Some((entry.text("AttributeName")?.to_string(), entry.text("KeyType") == Some("HASH")))
    };
    list.iter().filter_map(element).collect()
}

/// Rule 4: every key attribute is defined.
fn defined(schema: &[(String, bool)], attributes: &[KeyAttribute]) -> Checked<()> {
    let known = |name: &str| attributes.iter().any(|attribute| attribute.name == name);
    if schema.iter().all(|(name, _)| known(name)) {
        return Ok(());
    }
    if attributes.len() < schema.len() {
        return Err(ApiError::validation("Invalid KeySchema: Some index key attribute have no definition"));
    }
    let keys: Vec<&str> = schema.iter().map(|(name, _)| name.as_str()).collect();
    let names: Vec<&str> = attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    Err(invalid(format!(
        "Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], AttributeDefinitions: [{}]",
        keys.join(", "),
        names.join(", ")
    )))
}

fn find(attributes: &[KeyAttribute], name: &str) -> Option<KeyAttribute> {
    attributes.iter().find(|attribute| attribute.name == name).cloned()
}

/// Rules 4 and 5 for a table or a local index.
fn table_key(schema: &[(String, bool)], attributes: &[KeyAttribute]) -> Checked<KeySchema> {
    defined(schema, attributes)?;
    match schema {
        [(a, _), (b, _)] if a == b => {
            return Err(ApiError::validation(
                "Both the Hash Key and the Range Key element in the KeySchema have the same name",
            ));
        }
        [(_, false), ..] => {
            return Err(ApiError::validation(
                "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
            ));
        }
        [_, (_, true), ..] => {
            return Err(ApiError::validation(
                "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
            ));
        }
        _ => {}
    }
    Ok(built(schema, attributes))
}

fn built(schema: &[(String, bool)], attributes: &[KeyAttribute]) -> KeySchema {
    let part = |hash: bool| {
        let of = schema.iter().filter(|(_, is_hash)| *is_hash == hash);
        of.filter_map(|(name, _)| find(attributes, name)).collect()
    };
    KeySchema { hash: part(true), sort: part(false) }
}

/// The rules of keys with several attributes.
pub(crate) fn global_key(schema: &[(String, bool)], attributes: &[KeyAttribute]) -> Checked<KeySchema> {
    defined(schema, attributes)?;
    // Two HASH attributes are a key of several already.
    if schema.len() < 2 || schema.len() == 2 && !(schema[0].1 && schema[1].1) {
        return table_key(schema, attributes);
    }
    if schema.iter().enumerate().any(|(at, (name, _))| schema[..at].iter().any(|(known, _)| known == name)) {
        return Err(ApiError::validation(
            "The KeySchema contains multiple key attributes with the same name",
        ));
    }
    if !schema[0].1 {
        return Err(ApiError::validation(
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ));
    }
    if schema.windows(2).any(|pair| !pair[0].1 && pair[1].1) {
        return Err(invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema"));
    }
    for (hash, word) in [(true, "HASH"), (false, "RANGE")] {
        if schema.iter().filter(|(_, is_hash)| *is_hash == hash).count() > HASH_MAX {
            return Err(invalid(format!(
                "The KeySchema exceeds the maximum allowed number of {word} key attributes"
            )));
        }
    }
    Ok(built(schema, attributes))
}

/// Rule 8.
fn projection(members: &Members<'_>) -> Checked<IndexProjection> {
    let projection = members.structure("Projection");
    let names = projection.and_then(|p| p.list("NonKeyAttributes"));
    let word = projection.and_then(|p| p.text("ProjectionType"));
    match (word, names) {
        (None, _) => Err(invalid("Unknown ProjectionType: null")),
        (Some(word @ ("ALL" | "KEYS_ONLY")), Some(_)) => {
            Err(invalid(format!("ProjectionType is {word}, but NonKeyAttributes is specified")))
        }
        (Some("ALL"), None) => Ok(IndexProjection::All),
        (Some("KEYS_ONLY"), None) => Ok(IndexProjection::KeysOnly),
        (Some(_), None) => Err(invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")),
        (Some(_), Some(names)) => {
            let name =
                |node: &Node<'_>| if let Node::Text(text) = node { Some(text.to_string()) } else { None };
            Ok(IndexProjection::Include(names.iter().filter_map(name).collect()))
        }
    }
}

pub(crate) fn projected_count(projection: &IndexProjection) -> usize {
    if let IndexProjection::Include(names) = projection { names.len() } else { 0 }
}

fn structures<'n, 'a>(members: &'n Members<'a>, name: &str) -> impl Iterator<Item = &'n Members<'a>> {
    let of = |node: &'n Node<'a>| if let Node::Structure(entry) = node { Some(entry) } else { None };
    members.list(name).unwrap_or_default().iter().filter_map(of)
}

fn duplicate(indexes: &[Index], name: &str) -> Checked<()> {
    if indexes.iter().any(|index| index.name == name) {
        return Err(invalid(format!("Duplicate index name: {name}")));
    }
    Ok(())
}

/// Rule 7.
fn local_indexes(
    members: &Members<'_>,
    key: &KeySchema,
    attributes: &[KeyAttribute],
    indexes: &mut Vec<Index>,
) -> Checked<()> {
    for entry in structures(members, "LocalSecondaryIndexes") {
        if key.sort.is_empty() {
            return Err(invalid(
                "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
            ));
        }
        let name = entry.text("IndexName").unwrap_or_default();
        let schema = schema_elements(entry.list("KeySchema").unwrap_or_default());
        let index_key = table_key(&schema, attributes)?;
        if index_key.sort.is_empty() {
            return Err(invalid(format!("Index KeySchema does not have a range key for index: {name}")));
        }
        if index_key.hash != key.hash {
            let of = |key: &KeySchema| key.hash.first().map(|a| a.name.clone()).unwrap_or_default();
            return Err(invalid(format!(
                "Index KeySchema does not have the same leading hash key as table KeySchema for index: {name}. index \
                 hash key: {}, table hash key: {}",
                of(&index_key),
                of(key)
            )));
        }
        let projection = projection(entry)?;
        duplicate(indexes, name)?;
        indexes.push(new_index(name, IndexKind::Local, index_key, projection));
    }
    if indexes.len() > LOCAL_MAX {
        return Err(invalid(format!(
            "Number of LocalSecondaryIndexes exceeds per-table limit of {LOCAL_MAX}"
        )));
    }
    Ok(())
}

fn new_index(name: &str, kind: IndexKind, key: KeySchema, projection: IndexProjection) -> Index {
    Index {
        name: name.to_string(),
        kind,
        key,
        projection,
        status: IndexStatus::Active,
        backfilling: None,
        throughput: None,
        on_demand: None,
        warm: None,
    }
}

/// Rule 9.
fn global_indexes(
    members: &Members<'_>,
    billing: BillingMode,
    attributes: &[KeyAttribute],
    indexes: &mut Vec<Index>,
) -> Checked<()> {
    let local = indexes.len();
    for entry in structures(members, "GlobalSecondaryIndexes") {
        let name = entry.text("IndexName").unwrap_or_default();
        let schema = schema_elements(entry.list("KeySchema").unwrap_or_default());
        let key = global_key(&schema, attributes)?;
        let projection = projection(entry)?;
        let throughput = throughput(entry)?;
        match (billing, throughput) {
            (BillingMode::PayPerRequest, Some(_)) => {
                return Err(invalid(format!(
                    "ProvisionedThroughput should not be specified for index: {name} when BillingMode is PAY_PER_REQUEST"
                )));
            }
            (BillingMode::Provisioned, None) => {
                return Err(invalid(format!(
                    "ReadCapacityUnits and WriteCapacityUnits must both be specified for index: {name} when BillingMode \
                     is PROVISIONED"
                )));
            }
            _ => {}
        }
        duplicate(indexes, name)?;
        let mut index = new_index(name, IndexKind::Global, key, projection);
        index.throughput = throughput;
        index.on_demand = on_demand(entry, billing, "index")?;
        index.warm = warm(entry);
        indexes.push(index);
    }
    if indexes.len() - local > GLOBAL_MAX {
        return Err(invalid(format!(
            "GlobalSecondaryIndex count exceeds the per-table limit of {GLOBAL_MAX}"
        )));
    }
    Ok(())
}

fn vector_indexes(
    members: &Members<'_>,
    billing: BillingMode,
    indexes: &[Index],
) -> Checked<Vec<VectorIndex>> {
    let mut vectors: Vec<VectorIndex> = Vec::new();
    for entry in structures(members, "VectorIndexes") {
        let vector = vector_index(entry)?;
        duplicate(indexes, &vector.name)?;
        if vectors.iter().any(|known| known.name == vector.name) {
            return Err(invalid(format!("Duplicate index name: {}", vector.name)));
        }
        vectors.push(vector);
    }
    if !vectors.is_empty() && billing != BillingMode::PayPerRequest {
        return Err(invalid("VectorIndexes can only be specified when BillingMode is PAY_PER_REQUEST"));
    }
    if vectors.len() > VECTOR_MAX {
        return Err(invalid(format!("VectorIndex count exceeds the per-table limit of {VECTOR_MAX}")));
    }
    Ok(vectors)
}

fn vector_index(entry: &Members<'_>) -> Checked<VectorIndex> {
    let name = entry.text("IndexName").unwrap_or_default().to_string();
    let dimensions = entry.integer("Dimensions").unwrap_or(0);
    if !(1..=DIMENSIONS_MAX).contains(&dimensions) {
        return Err(invalid(format!("Dimensions of index {name} must be between 1 and {DIMENSIONS_MAX}")));
    }
    let distance = match entry.text("DistanceFunction") {
        Some("DOT_PRODUCT") => DistanceFunction::DotProduct,
        Some("EUCLIDEAN") => DistanceFunction::Euclidean,
        _ => DistanceFunction::Cosine,
    };
    let attribute =
        entry.structure("VectorAttribute").and_then(|a| a.text("AttributeName")).unwrap_or_default();
    let searched = |kind: &str| -> Vec<String> {
        let of =
            structures(entry, "SearchSchema").filter(|e| e.text("SearchSchemaElementType") == Some(kind));
        of.filter_map(|e| e.text("AttributeName").map(str::to_string)).collect()
    };
    Ok(VectorIndex {
        attribute: attribute.to_string(),
        dimensions: dimensions as u32,
        distance,
        projection: projection(entry)?,
        search_hash: searched("HASH"),
        search_filters: searched("INLINE_FILTER"),
        status: IndexStatus::Active,
        name,
    })
}

/// Rule 10: nothing is defined that no key uses.
fn spare_definitions(
    attributes: &[KeyAttribute],
    key: &KeySchema,
    indexes: &[Index],
    search: &[&str],
) -> Checked<()> {
    for (at, attribute) in attributes.iter().enumerate() {
        if attributes[..at].iter().any(|known| known.name == attribute.name) {
            return Err(invalid("Cannot have two attributes with the same name"));
        }
    }
    let mut used: Vec<&str> = Vec::new();
    let keys = std::iter::once(key).chain(indexes.iter().map(|index| &index.key));
    let names = keys.flat_map(KeySchema::attributes).map(|attribute| attribute.name.as_str());
    for name in names.chain(search.iter().copied()) {
        if !used.contains(&name) {
            used.push(name);
        }
    }
    if attributes.iter().all(|attribute| used.contains(&attribute.name.as_str())) {
        return Ok(());
    }
    if indexes.is_empty() {
        return Err(invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
        ));
    }
    let defined: Vec<&str> = attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    Err(invalid(format!(
        "Some AttributeDefinitions are not used. AttributeDefinitions: [{}], keys used: [{}]",
        java_order(&defined).join(", "),
        java_order(&used).join(", ")
    )))
}

fn stream_view(stream: &Members<'_>, how: &str) -> Checked<Option<ViewType>> {
    let view = stream.text("StreamViewType").and_then(ViewType::of_name);
    match (stream.boolean("StreamEnabled").unwrap_or(false), view) {
        (false, Some(_)) => Err(invalid(format!(
            "Table is being {how} with a stream disabled, UpdateViewType should not be specified"
        ))),
        (false, None) => Ok(None),
        (true, None) => Err(invalid("StreamViewType must be specified when StreamEnabled is true")),
        (true, view) => Ok(view),
    }
}

pub(super) fn on_demand(
    members: &Members<'_>,
    billing: BillingMode,
    what: &str,
) -> Checked<Option<OnDemand>> {
    let Some(limits) = members.structure("OnDemandThroughput") else { return Ok(None) };
    let limits = OnDemand {
        read: limits.integer("MaxReadRequestUnits"),
        write: limits.integer("MaxWriteRequestUnits"),
    };
    for (name, value) in [("MaxReadRequestUnits", limits.read), ("MaxWriteRequestUnits", limits.write)] {
        let Some(value) = value else { continue };
        if billing == BillingMode::Provisioned {
            return Err(invalid(format!(
                "{name} for OnDemandThroughput cannot be specified when {what} BillingMode is PROVISIONED."
            )));
        }
        if value != -1 && !(1..=UNITS_MAX).contains(&value) {
            return Err(invalid(format!(
                "Requested {name} for OnDemandThroughput for {what} is outside of valid range"
            )));
        }
    }
    Ok(Some(limits))
}

fn warm(members: &Members<'_>) -> Option<Warm> {
    let warm = members.structure("WarmThroughput")?;
    let units = |name: &str, least: i64| warm.integer(name).unwrap_or(least);
    Some(Warm { read: units("ReadUnitsPerSecond", 12_000), write: units("WriteUnitsPerSecond", 4_000) })
}

/// Some(None) turns the table's own key off.
pub(super) fn encryption(members: &Members<'_>) -> Option<Option<Encryption>> {
    let of =
        members.structure("SSESpecification").or_else(|| members.structure("SSESpecificationOverride"))?;
    let enabled = of.boolean("Enabled").unwrap_or(false);
    Some(enabled.then(|| Encryption { key: of.text("KMSMasterKeyId").map(str::to_string) }))
}

pub(super) fn tags(list: &[Node<'_>]) -> Checked<Vec<(String, String)>> {
    let mut tags: Vec<(String, String)> = Vec::new();
    for node in list {
        let Node::Structure(tag) = node else { continue };
        let (key, value) = (tag.text("Key").unwrap_or_default(), tag.text("Value").unwrap_or_default());
        if key.is_empty() || key.chars().count() > 128 || value.chars().count() > 256 {
            return Err(invalid(format!(
                "Tag key must have 1 to 128 characters and its value at most 256: {key}"
            )));
        }
        if tags.iter().any(|(known, _)| known == key) {
            return Err(invalid(format!("Duplicate tag key: {key}")));
        }
        tags.push((key.to_string(), value.to_string()));
    }
    if tags.len() > TAGS_MAX {
        return Err(invalid(format!("Number of tags exceeds the limit of {TAGS_MAX}")));
    }
    Ok(tags)
}

/// Parameters of which UpdateTable needs at least one.
const CHANGES: [&str; 10] = [
    "ProvisionedThroughput",
    "BillingMode",
    "StreamSpecification",
    "GlobalSecondaryIndexUpdates",
    "SSESpecification",
    "TableClass",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "WarmThroughput",
    "VectorIndexUpdates",
];

pub(super) fn update(context: &Context, members: Members<'_>) -> Checked<UpdateTable> {
    let table = table_name(context, &members)?;
    context.constraints(&members, &["TableName"])?;
    refuse_unoffered(
        &members,
        &[
            ("ReplicaUpdates", REGIONS),
            ("MultiRegionConsistency", REGIONS),
            ("GlobalTableWitnessUpdates", REGIONS),
            ("GlobalTableSettingsReplicationMode", REGIONS),
            ("DisassociationProtectionEnabled", REGIONS),
        ],
    )?;
    let throughput = throughput(&members)?;
    let billing = billing_mode(&members);
    if billing == Some(BillingMode::PayPerRequest) && throughput.is_some() {
        return Err(invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
        ));
    }
    let changes = |name: &&&str| match members.get(name) {
        Some(Node::List(list)) => !list.is_empty(),
        other => other.is_some(),
    };
    if !CHANGES.iter().any(|name| changes(&name)) {
        return Err(ApiError::validation(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or \
             SSESpecification or ReplicaUpdates is required",
        ));
    }
    let stream = match members.structure("StreamSpecification") {
        Some(stream) => Some(stream_view(stream, "updated")?),
        None => None,
    };
    let mut indexes: Vec<IndexUpdate> = Vec::new();
    for entry in structures(&members, "GlobalSecondaryIndexUpdates") {
        let update = index_update(entry)?;
        if indexes.iter().any(|known| known.name() == update.name()) {
            return Err(invalid(format!(
                "Only one global secondary index update per index is allowed simultaneously. Index: {}",
                update.name()
            )));
        }
        indexes.push(update);
    }
    if indexes.iter().filter(|update| !matches!(update, IndexUpdate::Update { .. })).count() > 1 {
        return Err(ApiError::new(
            crate::error::ErrorName::LimitExceeded,
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
        ));
    }
    let mut vector_indexes = Vec::new();
    for entry in structures(&members, "VectorIndexUpdates") {
        vector_indexes.push(match (entry.structure("Create"), entry.structure("Delete")) {
            (Some(create), None) => VectorUpdate::Create(vector_index(create)?),
            (None, Some(delete)) => {
                VectorUpdate::Delete { name: delete.text("IndexName").unwrap_or_default().to_string() }
            }
            _ => {
                return Err(invalid(
                    "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null",
                ));
            }
        });
    }
    Ok(UpdateTable {
        table,
        attributes: members.list("AttributeDefinitions").map(|_| attribute_definitions(&members)),
        billing,
        throughput,
        indexes,
        vector_indexes,
        stream,
        encryption: encryption(&members),
        class: members.text("TableClass").map(str::to_string),
        deletion_protection: members.boolean("DeletionProtectionEnabled"),
        on_demand: on_demand(&members, BillingMode::PayPerRequest, "table")?,
        warm: warm(&members),
    })
}

impl IndexUpdate {
    pub fn name(&self) -> &str {
        match self {
            IndexUpdate::Create(index) => &index.name,
            IndexUpdate::Update { name, .. } | IndexUpdate::Delete { name } => name,
        }
    }
}

fn index_update(entry: &Members<'_>) -> Checked<IndexUpdate> {
    match (entry.structure("Update"), entry.structure("Create"), entry.structure("Delete")) {
        (Some(update), None, None)
            if ["ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput"]
                .iter()
                .all(|name| !update.contains(name)) =>
        {
            Err(invalid(format!(
                "One of ProvisionedThroughput, OnDemandThroughput, WarmThroughput must be specified to update index: {}",
                update.text("IndexName").unwrap_or_default()
            )))
        }
        (Some(update), None, None) => Ok(IndexUpdate::Update {
            name: update.text("IndexName").unwrap_or_default().to_string(),
            throughput: throughput(update)?,
            on_demand: on_demand(update, BillingMode::PayPerRequest, "index")?,
            warm: warm(update),
        }),
        (None, Some(create), None) => {
            let schema = schema_elements(create.list("KeySchema").unwrap_or_default());
            Ok(IndexUpdate::Create(NewIndex {
                name: create.text("IndexName").unwrap_or_default().to_string(),
                schema,
                projection: projection(create)?,
                throughput: throughput(create)?,
                on_demand: on_demand(create, BillingMode::PayPerRequest, "index")?,
                warm: warm(create),
            }))
        }
        (None, None, Some(delete)) => {
            Ok(IndexUpdate::Delete { name: delete.text("IndexName").unwrap_or_default().to_string() })
        }
        _ => Err(invalid(
            "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
             GlobalSecondaryIndexUpdate.Delete must not be null",
        )),
    }
}
