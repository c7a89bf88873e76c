//! Tables as DescribeTable shows them.

use super::definition::{
    BillingMode, Index, IndexKind, IndexProjection, KeyAttribute, KeySchema, OnDemand, TableDefinition,
    TableStatus, Throughput, VectorIndex, Warm,
};
use crate::json::{self, Writer};

/// What a description tells besides the definition.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// `arn:aws:dynamodb:<region>:<account>:table/` without the name.
    pub arn_prefix: &'a str,
    pub status: TableStatus,
    pub items: i64,
    pub bytes: i64,
    /// Items and bytes of each index, in the order of the definition; zeros where there is none.
    pub indexes: &'a [(i64, i64)],
    /// The same of each vector index.
    pub vector_indexes: &'a [(i64, i64)],
}

/// What DescribeTable says of a table on demand that nobody prepared throughput for.
const WARM_ON_DEMAND: (i64, i64) = (12_000, 4_000);

impl TableDefinition {
    pub fn arn(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.name)
    }

    /// Appends the object that the API calls TableDescription.
    pub fn describe(&self, facts: &Facts<'_>, out: &mut Vec<u8>) {
        if facts.status == TableStatus::Deleting {
            return self.describe_deleted(facts, out);
        }
        let arn = self.arn(facts.arn_prefix);
        let mut object = Writer::object(out);
        object.list("AttributeDefinitions", &self.attributes(), |attribute, out| {
            let mut object = Writer::object(out);
            object.string("AttributeName", &attribute.name);
            object.string("AttributeType", attribute.kind.name());
            object.end();
        });
        object.string("TableName", &self.name);
        key_schema(&self.key, &mut object);
        object.string("TableStatus", facts.status.name());
        object.time("CreationDateTime", self.created_ms);
        throughput(&self.throughput, &mut object);
        object.integer("TableSizeBytes", facts.bytes);
        object.integer("ItemCount", facts.items);
        object.string("TableArn", &arn);
        object.string("TableId", &self.id);
        if let Some(since) = self.on_demand_since_ms {
            let mut summary = object.nested("BillingModeSummary");
            summary.string("BillingMode", self.billing.name());
            // The answer of CreateTable does not have it yet.
            if facts.status != TableStatus::Creating {
                summary.time("LastUpdateToPayPerRequestDateTime", since);
            }
            summary.end();
        }
        self.describe_indexes(IndexKind::Local, facts, &arn, &mut object);
        self.describe_indexes(IndexKind::Global, facts, &arn, &mut object);
        self.describe_vectors(facts, &arn, &mut object);
        self.describe_stream(&arn, &mut object);
        self.describe_rest(facts, &mut object);
        object.end();
    }

    /// What is left to say of a table that is being deleted.
    fn describe_deleted(&self, facts: &Facts<'_>, out: &mut Vec<u8>) {
        let mut object = Writer::object(out);
        object.string("TableName", &self.name);
        object.string("TableStatus", facts.status.name());
        throughput(&self.throughput, &mut object);
        object.integer("TableSizeBytes", facts.bytes);
        object.integer("ItemCount", facts.items);
        object.string("TableArn", &self.arn(facts.arn_prefix));
        object.string("TableId", &self.id);
        object.boolean("DeletionProtectionEnabled", self.deletion_protection);
        object.end();
    }

    fn describe_indexes(&self, kind: IndexKind, facts: &Facts<'_>, arn: &str, object: &mut Writer<'_>) {
        let indexes: Vec<(usize, &Index)> =
            self.indexes.iter().enumerate().filter(|(_, index)| index.kind == kind).collect();
        if indexes.is_empty() {
            return;
        }
        let name = if kind == IndexKind::Local { "LocalSecondaryIndexes" } else { "GlobalSecondaryIndexes" };
        object.list(name, &indexes, |(at, index), out| {
            let counts = facts.indexes.get(*at).copied().unwrap_or_default();
            self.describe_index(index, counts, facts, arn, out);
        });
    }

    fn describe_index(
        &self,
        index: &Index,
        counts: (i64, i64),
        facts: &Facts<'_>,
        arn: &str,
        out: &mut Vec<u8>,
    ) {
        let mut object = Writer::object(out);
        object.string("IndexName", &index.name);
        key_schema(&index.key, &mut object);
        projection(&index.projection, &mut object);
        if index.kind == IndexKind::Global {
            object.string("IndexStatus", index.status.name());
            if let Some(running) = index.backfilling {
                object.boolean("Backfilling", running);
            }
            throughput(&index.throughput.unwrap_or_default(), &mut object);
        }
        object.integer("IndexSizeBytes", counts.1);
        object.integer("ItemCount", counts.0);
        object.string("IndexArn", &format!("{arn}/index/{}", index.name));
        if index.kind == IndexKind::Global {
            on_demand(index.on_demand, &mut object);
            self.describe_warm(index.warm, &index.throughput.unwrap_or_default(), facts.status, &mut object);
        }
        object.end();
    }

    fn describe_vectors(&self, facts: &Facts<'_>, arn: &str, object: &mut Writer<'_>) {
        if self.vector_indexes.is_empty() {
            return;
        }
        let indexes: Vec<(usize, &VectorIndex)> = self.vector_indexes.iter().enumerate().collect();
        object.list("VectorIndexes", &indexes, |(at, index), out| {
            let counts = facts.vector_indexes.get(*at).copied().unwrap_or_default();
            let mut object = Writer::object(out);
            object.string("IndexName", &index.name);
            let hash = index.search_hash.iter().map(|name| (name, "HASH"));
            let elements: Vec<(&String, &str)> =
                hash.chain(index.search_filters.iter().map(|name| (name, "INLINE_FILTER"))).collect();
            if !elements.is_empty() {
                object.list("SearchSchema", &elements, |(name, kind), out| {
                    let mut element = Writer::object(out);
                    element.string("AttributeName", name);
                    element.string("SearchSchemaElementType", kind);
                    element.end();
                });
            }
            projection(&index.projection, &mut object);
            let mut attribute = object.nested("VectorAttribute");
            attribute.string("AttributeName", &index.attribute);
            attribute.end();
            object.integer("Dimensions", index.dimensions.into());
            object.string("DistanceFunction", index.distance.name());
            object.string("IndexStatus", index.status.name());
            object.integer("IndexSizeBytes", counts.1);
            object.integer("ItemCount", counts.0);
            object.string("IndexArn", &format!("{arn}/index/{}", index.name));
            object.end();
        });
    }

    fn describe_stream(&self, arn: &str, object: &mut Writer<'_>) {
        let Some(stream) = &self.stream else { return };
        if stream.enabled {
            let mut specification = object.nested("StreamSpecification");
            specification.boolean("StreamEnabled", true);
            specification.string("StreamViewType", stream.view.name());
            specification.end();
        }
        object.string("LatestStreamLabel", &stream.label);
        object.string("LatestStreamArn", &format!("{arn}/stream/{}", stream.label));
    }

    fn describe_rest(&self, facts: &Facts<'_>, object: &mut Writer<'_>) {
        if let Some(restored) = &self.restored {
            let mut summary = object.nested("RestoreSummary");
            summary.string("SourceBackupArn", &restored.backup_arn);
            summary.string("SourceTableArn", &restored.source_arn);
            summary.time("RestoreDateTime", restored.at_ms);
            summary.boolean("RestoreInProgress", restored.in_progress);
            summary.end();
        }
        if let Some(encryption) = &self.encryption {
            let mut description = object.nested("SSEDescription");
            description.string("Status", "ENABLED");
            description.string("SSEType", "KMS");
            if let Some(key) = &encryption.key {
                description.string("KMSMasterKeyArn", key);
            }
            description.end();
        }
        if let Some(class) = &self.class {
            let mut summary = object.nested("TableClassSummary");
            summary.string("TableClass", class);
            summary.end();
        }
        object.boolean("DeletionProtectionEnabled", self.deletion_protection);
        on_demand(self.on_demand, object);
        self.describe_warm(self.warm, &self.throughput, facts.status, object);
    }

    /// Without a wish, what is provisioned is what is warm. The answer of CreateTable tells wishes only.
    fn describe_warm(
        &self,
        wished: Option<Warm>,
        provisioned: &Throughput,
        status: TableStatus,
        object: &mut Writer<'_>,
    ) {
        let units = match wished {
            Some(wished) => (wished.read, wished.write),
            None if status == TableStatus::Creating => return,
            None if self.is_on_demand() => WARM_ON_DEMAND,
            None => (provisioned.read, provisioned.write),
        };
        let mut nested = object.nested("WarmThroughput");
        nested.integer("ReadUnitsPerSecond", units.0);
        nested.integer("WriteUnitsPerSecond", units.1);
        nested.string("Status", if status == TableStatus::Active { "ACTIVE" } else { "UPDATING" });
        nested.end();
    }

    /// Every attribute that is in a key, by name; the table's first.
    pub fn attributes(&self) -> Vec<KeyAttribute> {
        let mut attributes: Vec<KeyAttribute> = Vec::new();
        for key in std::iter::once(&self.key).chain(self.indexes.iter().map(|index| &index.key)) {
            for attribute in key.attributes() {
                if !attributes.iter().any(|known| known.name == attribute.name) {
                    attributes.push(attribute.clone());
                }
            }
        }
        attributes
    }
}

pub fn key_schema(key: &KeySchema, object: &mut Writer<'_>) {
    let hash = key.hash.iter().map(|attribute| (attribute, "HASH"));
    let elements: Vec<(&KeyAttribute, &str)> =
        hash.chain(key.sort.iter().map(|attribute| (attribute, "RANGE"))).collect();
    object.list("KeySchema", &elements, |(attribute, kind), out| {
        let mut element = Writer::object(out);
        element.string("AttributeName", &attribute.name);
        element.string("KeyType", kind);
        element.end();
    });
}

pub fn projection(of: &IndexProjection, object: &mut Writer<'_>) {
    let mut projection = object.nested("Projection");
    projection.string("ProjectionType", of.name());
    if let IndexProjection::Include(names) = of {
        projection.list("NonKeyAttributes", names, |name, out| json::write_string(name, out));
    }
    projection.end();
}

fn throughput(units: &Throughput, object: &mut Writer<'_>) {
    let mut throughput = object.nested("ProvisionedThroughput");
    if let Some(at) = units.last_increase_ms {
        throughput.time("LastIncreaseDateTime", at);
    }
    if let Some(at) = units.last_decrease_ms {
        throughput.time("LastDecreaseDateTime", at);
    }
    throughput.integer("NumberOfDecreasesToday", units.decreases_today);
    throughput.integer("ReadCapacityUnits", units.read);
    throughput.integer("WriteCapacityUnits", units.write);
    throughput.end();
}

fn on_demand(limits: Option<OnDemand>, object: &mut Writer<'_>) {
    let Some(limits) = limits else { return };
    let mut nested = object.nested("OnDemandThroughput");
    nested.integer("MaxReadRequestUnits", limits.read.unwrap_or(-1));
    nested.integer("MaxWriteRequestUnits", limits.write.unwrap_or(-1));
    nested.end();
}

impl TableDefinition {
    /// The mode that CreateTable would have to be told.
    pub fn is_on_demand(&self) -> bool {
        self.billing == BillingMode::PayPerRequest
    }
}
