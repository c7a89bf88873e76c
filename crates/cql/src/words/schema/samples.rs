//! One refusal of each kind, for the golden file.

use model::constraint::{BoundsOf, ConstraintError};
use model::types::{DataType, TypeSizeError};
use schema::fault::*;
use schema::{ColumnKind, Every, FullName, IndexPart, NoteKind, SchemaError, Signature, TotalKind};

fn s(text: &str) -> String {
    text.to_string()
}

fn names() -> Vec<String> {
    vec![s("a"), s("b")]
}

fn every() -> Every {
    Every::parse("1d").expect("a day")
}

fn constraint() -> ConstraintError {
    ConstraintError::NotARegexp { pattern: s("pattern") }
}

pub(in crate::words) fn samples() -> Vec<SchemaError> {
    let mut all = objects();
    all.extend(
        [
            SystemFault::Keyspace { keyspace: s("keyspace") },
            SystemFault::Unmodifiable { keyspace: s("keyspace") },
            SystemFault::Resource { verb: "verb", keyspace: s("keyspace"), resource: Resource::AllTables },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            KeyspaceFault::ReplicationMissing,
            KeyspaceFault::NotAWord { keyspace: s("keyspace") },
            KeyspaceFault::NameTooLong { characters_max: 9, characters: 9, keyspace: s("keyspace") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            ReplicationFault::ClassMissing,
            ReplicationFault::LocalStrategy,
            ReplicationFault::ClassUnknown { class: s("class") },
            ReplicationFault::Transient,
            ReplicationFault::FactorMalformed { text: s("text") },
            ReplicationFault::FactorNegative { factor: 9 },
            ReplicationFault::UnknownOption {
                option: s("option"),
                strategy: "strategy",
                keyspace: s("keyspace"),
            },
            ReplicationFault::NoDataCenter,
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            NoteFault::Empty { kind: NoteKind::Comment },
            NoteFault::ColumnMissing { column: s("column"), table: FullName::new("ks", "table") },
            NoteFault::FieldMissing { field: s("field"), name: FullName::new("ks", "name") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            TableFault::LikeView,
            TableFault::LikeTypeElsewhere {
                column: s("column"),
                data_type: DataType::Int,
                of: s("of"),
                into: s("into"),
            },
            TableFault::DuplicateColumn { column: s("column"), table: FullName::new("ks", "table") },
            TableFault::NoPrimaryKey { table: FullName::new("ks", "table") },
            TableFault::DuplicateInOrder { column: s("column"), table: FullName::new("ks", "table") },
            TableFault::TooManyColumns { most: 9, columns: 9, table: s("table") },
            TableFault::NotAWord { table: FullName::new("ks", "table"), name: s("name") },
            TableFault::NameTooLong {
                table: FullName::new("ks", "table"),
                characters_max: 9,
                characters: 9,
                name: s("name"),
            },
            TableFault::IdMalformed,
            TableFault::IdTaken { id: s("id"), table: FullName::new("ks", "table") },
            TableFault::NestedCollections,
            TableFault::CountersAndOthers,
            TableFault::StaticsNeedClustering,
            TableFault::TtlOfCounters,
            TableFault::TooManyKeyColumns { table: s("table"), columns: 9, most: 9 },
            TableFault::IdAltered,
            TableFault::TruncatedKeyspaceMissing { keyspace: s("keyspace") },
            TableFault::TruncatedMissing { table: s("table") },
            TableFault::NotTruncatable { table: FullName::new("ks", "table") },
            TableFault::LikeTargetMissing { keyspace: s("keyspace") },
            TableFault::LikeSourceKeyspaceMissing { keyspace: s("keyspace") },
            TableFault::LikeSourceMissing { table: FullName::new("ks", "table") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            KeyFault::Unknown { column: s("column"), table: s("table") },
            KeyFault::Twice { column: s("column"), table: s("table") },
            KeyFault::OrderOfOthers { columns: names() },
            KeyFault::Static { column: s("column") },
            KeyFault::Counter { column: s("column") },
            KeyFault::Udt { udt: FullName::new("ks", "udt"), column: s("column") },
            KeyFault::Collection { data_type: DataType::Int, column: s("column") },
            KeyFault::Duration { column: s("column") },
            KeyFault::OrderSwapped { column: s("column"), before: s("before") },
            KeyFault::OrderMissing { column: s("column") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            CompactFault::NotCompact,
            CompactFault::ColumnAdded,
            CompactFault::ColumnDropped { column: s("column"), table: FullName::new("ks", "table") },
            CompactFault::Collections,
            CompactFault::Statics,
            CompactFault::NoValue,
            CompactFault::SeveralValues { columns: names() },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            ForeignFault::NoStores,
            ForeignFault::NotAName { table: FullName::new("ks", "table") },
            ForeignFault::OfDynamo { table: FullName::new("ks", "table") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            ColumnFault::Missing { column: s("column") },
            ColumnFault::Exists { column: s("column") },
            ColumnFault::NestedCollections { column: s("column") },
            ColumnFault::CounterAmongOthers { table: FullName::new("ks", "table"), column: s("column") },
            ColumnFault::OtherAmongCounters { table: FullName::new("ks", "table"), column: s("column") },
            ColumnFault::CounterReturns { column: s("column") },
            ColumnFault::ReturnsAsType {
                column: s("column"),
                data_type: DataType::Int,
                before: DataType::Int,
            },
            ColumnFault::ReturnsAsKind { column: s("column"), kind: "kind", before: "before" },
            ColumnFault::NotFound { column: s("column"), table: FullName::new("ks", "table") },
            ColumnFault::KeyDropped { column: s("column") },
            ColumnFault::UdtDropped { column: s("column"), udt: s("udt") },
            ColumnFault::Undefined { column: s("column"), table: FullName::new("ks", "table") },
            ColumnFault::OtherRenamed { column: s("column") },
            ColumnFault::RenameTaken { from: s("from"), to: s("to"), table: FullName::new("ks", "table") },
            ColumnFault::MaskedMissing { column: s("column"), table: s("table") },
            ColumnFault::TypeTooLarge { column: s("column"), error: TypeSizeError::TooDeep },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            TypeFault::Reserved { name: s("name") },
            TypeFault::DuplicateField { field: s("field"), name: s("name") },
            TypeFault::Counter,
            TypeFault::NotFrozen,
            TypeFault::AlteredMissing { name: FullName::new("ks", "name") },
            TypeFault::FieldExists { field: s("field"), name: FullName::new("ks", "name") },
            TypeFault::InFirstState { name: FullName::new("ks", "name"), aggregates: names() },
            TypeFault::FieldMissing { field: s("field"), name: FullName::new("ks", "name") },
            TypeFault::RenamedTwice { field: s("field"), keyspace: s("keyspace") },
            TypeFault::TooLarge { name: FullName::new("ks", "name"), error: TypeSizeError::TooDeep },
            TypeFault::Circular {
                field: s("field"),
                data_type: DataType::set(DataType::Int),
                name: FullName::new("ks", "name"),
            },
            TypeFault::InPartitionKey {
                field: s("field"),
                data_type: DataType::set(DataType::Int),
                name: FullName::new("ks", "name"),
                tables: names(),
            },
            TypeFault::UsedByFunctions { name: FullName::new("ks", "name"), functions: names() },
            TypeFault::UsedByTypes { name: FullName::new("ks", "name"), types: names() },
            TypeFault::UsedByTables { name: FullName::new("ks", "name"), tables: names() },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            ConstraintFault::NotFrozen {
                column: s("column"),
                data_type: DataType::Int,
                table: FullName::new("ks", "table"),
                kind: "kind",
            },
            ConstraintFault::NotNullOfKey { key: "key", column: s("column") },
            ConstraintFault::CounterValue { term: s("term"), column: s("column") },
            ConstraintFault::Counter { column: s("column") },
            ConstraintFault::Unfit(constraint()),
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            IndexFault::TableMissing { table: s("table") },
            IndexFault::Exists { index: s("index") },
            IndexFault::OfView,
            IndexFault::OfCounters,
            IndexFault::Same { index: s("index"), same: s("same") },
            IndexFault::NotAWord { index: s("index") },
            IndexFault::NoColumn,
            IndexFault::Missing { index: FullName::new("ks", "index") },
            IndexFault::OptionsOfPlain,
            IndexFault::OwnOption { option: s("option") },
            IndexFault::Sasi,
            IndexFault::ClassUnknown { class: s("class") },
            IndexFault::UndefinedColumn { column: s("column"), table: FullName::new("Ks", "table") },
            IndexFault::NoTarget,
            IndexFault::SeveralTargets,
            IndexFault::DuplicateTarget { column: s("column") },
            IndexFault::DropsColumn { column: s("column"), indexes: names() },
            IndexFault::RenamesColumn { column: s("column"), indexes: names() },
            IndexFault::ColumnName { column: s("column"), characters_max: 9 },
            IndexFault::Durations { data_type: DataType::Int },
            IndexFault::CompactKey,
            IndexFault::CompactValue,
            IndexFault::OnlyKey { column: s("column") },
            IndexFault::FrozenInParts { part: IndexPart::Keys, column: s("column") },
            IndexFault::FullOfOthers,
            IndexFault::PartOfOthers { part: IndexPart::Keys, column: s("column") },
            IndexFault::NotAMap { part: IndexPart::Keys, column: s("column") },
            IndexFault::UdtColumn { column: s("column") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            AttachedFault::UnknownOptions { options: names() },
            AttachedFault::Several { column: s("column") },
            AttachedFault::VectorElement,
            AttachedFault::CosineOfOne,
            AttachedFault::Type { data_type: DataType::Int },
            AttachedFault::AnalysisOfKey { options: names() },
            AttachedFault::AnalysisOfEntries { types: vec![DataType::Int, DataType::Text] },
            AttachedFault::AnalysisOf { data_type: DataType::Int },
            AttachedFault::EmptyBoolean { option: s("option") },
            AttachedFault::Boolean { option: s("option"), value: s("value") },
            AttachedFault::VectorOptionsOf { data_type: DataType::Int },
            AttachedFault::NodeConnections,
            AttachedFault::BeamWidth,
            AttachedFault::Similarity { name: s("name") },
            AttachedFault::OptimizeFor { value: s("value") },
            AttachedFault::NoTarget,
            AttachedFault::SeveralTargets { target: s("target") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            ViewFault::AlteredAsTable,
            ViewFault::DroppedAsTable,
            ViewFault::StillThere { keyspace: s("keyspace"), views: names() },
            ViewFault::Truncated,
            ViewFault::UndefinedColumn { column: s("column"), table: FullName::new("ks", "table") },
            ViewFault::StaticColumn { column: s("column"), view: s("view") },
            ViewFault::KeyUnknown { column: s("column"), view: s("view") },
            ViewFault::KeyTwice { column: s("column"), view: s("view") },
            ViewFault::OrderDiffers,
            ViewFault::KeyLacks { view: s("view"), columns: names(), table: s("table") },
            ViewFault::KeyAddsSeveral { columns: names() },
            ViewFault::ScaleLost { column: s("column") },
            ViewFault::KeyNullable { columns: names() },
            ViewFault::OthersRestricted { columns: names() },
            ViewFault::OtherKeyspace,
            ViewFault::BaseMissing { base: s("base") },
            ViewFault::NameOfTable { view: s("view") },
            ViewFault::OfCounters,
            ViewFault::NoGrace { view: s("view"), base: s("base") },
            ViewFault::Ttl,
            ViewFault::GraceAltered,
            ViewFault::TtlAltered,
            ViewFault::Missing { view: FullName::new("ks", "view") },
            ViewFault::ColumnDropped { column: s("column"), base: s("base") },
            ViewFault::GraceOfBase,
            ViewFault::KeyUdt { data_type: DataType::set(DataType::Int), column: s("column") },
            ViewFault::KeyCollection { data_type: DataType::set(DataType::Int), column: s("column") },
            ViewFault::Written(s("why")),
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            ProjectionFault::LagOfAtomic,
            ProjectionFault::FreshnessMalformed { text: s("text") },
            ProjectionFault::FreshnessOutOfBounds { text: s("text") },
            ProjectionFault::LagRule { word: s("word") },
            ProjectionFault::BackfillSetting { name: s("name") },
            ProjectionFault::BackfillNumber { name: s("name"), value: s("value") },
            ProjectionFault::LateTotals { projection: s("projection") },
            ProjectionFault::LateBuckets { projection: s("projection"), table: s("table") },
            ProjectionFault::LateLimit { projection: s("projection") },
            ProjectionFault::ReplacedBaseMissing { place: s("place") },
            ProjectionFault::ReplacesItself { projection: s("projection") },
            ProjectionFault::NotReady { new: s("new"), old: s("old") },
            ProjectionFault::LacksColumn {
                new: s("new"),
                old: s("old"),
                column: s("column"),
                data_type: DataType::Int,
            },
            ProjectionFault::Missing { table: s("table"), projection: s("projection") },
            ProjectionFault::Condition { column: s("column") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            TotalsFault::TooMany { most: 9 },
            TotalsFault::OfBuckets { projection: s("projection"), table: s("table") },
            TotalsFault::DuplicateColumn { projection: s("projection"), column: s("column") },
            TotalsFault::Neither { column: s("column") },
            TotalsFault::OfExpiring { table: s("table") },
            TotalsFault::OfTenants { table: s("table"), tenant: s("tenant") },
            TotalsFault::Masked { column: s("column"), projection: s("projection") },
            TotalsFault::Unkept { function: s("function"), argument: None, why: Unkept::NotOfAll },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            RowTtlFault::TwoColumns { first: s("first"), second: s("second") },
            RowTtlFault::NothingToTurnOff { table: FullName::new("ks", "table") },
            RowTtlFault::SaidAlready { table: FullName::new("ks", "table"), column: s("column") },
            RowTtlFault::NoSuchColumn { column: s("column"), table: FullName::new("ks", "table") },
            RowTtlFault::OfKind { column: s("column"), kind: ColumnKind::Static },
            RowTtlFault::OfType { column: s("column"), data_type: DataType::Text },
            RowTtlFault::HasViews { table: FullName::new("ks", "table"), view: s("view") },
            RowTtlFault::HasBuckets { table: FullName::new("ks", "table") },
            RowTtlFault::IsCompact { table: FullName::new("ks", "table") },
            RowTtlFault::IsForeign { table: FullName::new("ks", "table") },
            RowTtlFault::CopiesOutlive { table: FullName::new("ks", "table"), column: s("column") },
            RowTtlFault::Dropped { column: s("column"), table: FullName::new("ks", "table") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            RoutineFault::ReplaceAndIfNotExists,
            RoutineFault::DuplicateArguments { function: s("function"), arguments: names() },
            RoutineFault::ReplacesAggregate { function: s("function") },
            RoutineFault::FunctionExists { function: s("function") },
            RoutineFault::NullInputDiffers { function: s("function"), directive: "directive" },
            RoutineFault::ReturnsDiffer {
                function: s("function"),
                returns: s("returns"),
                before: s("before"),
            },
            RoutineFault::AggregateKeyspaceMissing { keyspace: s("keyspace") },
            RoutineFault::ReplacesFunction { aggregate: s("aggregate") },
            RoutineFault::AggregateExists { aggregate: s("aggregate") },
            RoutineFault::AggregateReturnsDiffer {
                aggregate: s("aggregate"),
                returns: s("returns"),
                before: s("before"),
            },
            RoutineFault::StateFunctionMissing {
                function: Signature { name: FullName::new("ks", "function"), arguments: Some(names()) },
            },
            RoutineFault::StateFunctionReturns {
                function: Signature { name: FullName::new("ks", "function"), arguments: Some(names()) },
            },
            RoutineFault::FinalFunctionMissing {
                function: Signature { name: FullName::new("ks", "function"), arguments: Some(names()) },
            },
            RoutineFault::FirstStateMissing {
                aggregate: s("aggregate"),
                function: FullName::new("ks", "function"),
            },
            RoutineFault::Missing {
                is_aggregate: true,
                routine: Signature { name: FullName::new("ks", "routine"), arguments: Some(names()) },
            },
            RoutineFault::Ambiguous { is_aggregate: true, function: s("function") },
            RoutineFault::Referenced {
                function: Signature { name: FullName::new("ks", "function"), arguments: Some(names()) },
                aggregates: names(),
            },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            BucketingFault::HasView { table: FullName::new("ks", "table"), view: s("view") },
            BucketingFault::IndexUnbuilt { index: s("index") },
            BucketingFault::RetentionLost,
            BucketingFault::UnderWay { table: FullName::new("ks", "table"), job: 9 },
            BucketingFault::NameTaken { column: s("column"), job: 9 },
            BucketingFault::RetentionAlone,
            BucketingFault::Unknown { name: s("name") },
            BucketingFault::NoBy,
            BucketingFault::Every { text: s("text") },
            BucketingFault::NoTime { column: s("column") },
            BucketingFault::HashWithoutInto,
            BucketingFault::Into { text: s("text"), most: 9 },
            BucketingFault::HashWithoutEvery,
            BucketingFault::NoBuckets,
            BucketingFault::InPartitionKey { column: s("column") },
            BucketingFault::ColumnTaken {
                column: s("column"),
                found: DataType::Int,
                data_type: DataType::Int,
            },
            BucketingFault::OfCompact,
            BucketingFault::StaticColumn { column: s("column") },
            BucketingFault::RetentionWithoutTime,
            BucketingFault::RetentionMalformed { text: s("text") },
            BucketingFault::RetentionTooShort { text: s("text"), every: every() },
            BucketingFault::OfView,
            BucketingFault::AtWithoutSpill,
            BucketingFault::SpillWithoutTime,
            BucketingFault::SpillMalformed { text: s("text") },
            BucketingFault::SpillNotFirst { first: s("first") },
            BucketingFault::SpillLength { spill: every(), every: every(), most: 9 },
            BucketingFault::AtMalformed { text: s("text") },
            BucketingFault::LimitSpills,
            BucketingFault::Extension { name: "name", text: s("text") },
            BucketingFault::NotInKey { column: s("column") },
            BucketingFault::NoColumn { column: s("column") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            PropertyFault::Twice { name: s("name") },
            PropertyFault::Unknown { name: s("name") },
            PropertyFault::NotAString { name: s("name") },
            PropertyFault::NotAMap { name: s("name") },
            PropertyFault::NotAnInteger { text: s("text"), name: s("name") },
            PropertyFault::NotADouble { text: s("text"), name: s("name") },
            PropertyFault::NotABoolean { text: s("text"), name: s("name") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            OptionFault::Retry { text: s("text") },
            OptionFault::RetryOfOneKind { text: s("text"), kind: "kind" },
            OptionFault::RetryPercentile { text: s("text") },
            OptionFault::ReadRepair { text: s("text") },
            OptionFault::Memtable { text: s("text") },
            OptionFault::TtlTooLong { seconds_max: 9, seconds: 9 },
            OptionFault::BloomChance { least: 0.5, chance: 0.5 },
            OptionFault::CrcChance { chance: 0.5 },
            OptionFault::IndexIntervals { least: 9, most: 9 },
            OptionFault::Below { option: "option", least: 9, value: 9 },
            OptionFault::Review { text: s("text") },
            OptionFault::HoldTombstones { text: s("text") },
            OptionFault::Patterns { text: s("text") },
            OptionFault::CachingUnknown { names: names() },
            OptionFault::CachingKeys { value: s("value") },
            OptionFault::CachingRows { value: s("value") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            LimitFault::UnknownSetting { name: s("name") },
            LimitFault::NoLimit,
            LimitFault::Bytes { text: s("text") },
            LimitFault::Rows { text: s("text") },
            LimitFault::Warn { text: s("text") },
            LimitFault::Action { text: s("text") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            TenantFault::TooManyLimits { entries: 9, most: 9 },
            TenantFault::UnknownLimit { name: s("name") },
            TenantFault::Limit { value: s("value"), name: s("name") },
            TenantFault::OfKeyspace { keyspace: s("keyspace"), tenant: s("tenant"), wanted: s("wanted") },
            TenantFault::LimitsAlone { table: FullName::new("ks", "table") },
            TenantFault::NotFirst {
                tenant: s("tenant"),
                table: FullName::new("ks", "table"),
                first: s("first"),
            },
            TenantFault::Type {
                tenant: s("tenant"),
                table: FullName::new("ks", "table"),
                data_type: DataType::Int,
            },
            TenantFault::OfView { option: "option" },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            CompactionFault::ClassMissing,
            CompactionFault::ClassUnknown { class: s("class") },
            CompactionFault::OverlappingTombstones { value: s("value") },
            CompactionFault::Threshold { value: s("value"), name: s("name") },
            CompactionFault::ThresholdZero,
            CompactionFault::ThresholdTooLow { low: 9 },
            CompactionFault::ThresholdsCross { low: 9, high: 9 },
            CompactionFault::UnknownOptions { options: names(), strategy: s("strategy") },
            CompactionFault::NotParsable { text: s("text"), kind: "kind", name: "name" },
            CompactionFault::TombstoneThreshold { threshold: -0.5 },
            CompactionFault::TombstoneInterval { interval: 9 },
            CompactionFault::Unchecked { text: s("text") },
            CompactionFault::LogAll { text: s("text") },
            CompactionFault::Enabled { text: s("text") },
            CompactionFault::LeastSizeNegative { size: 9 },
            CompactionFault::BucketsCross { high: 0.5, low: 0.5 },
            CompactionFault::NotPositive { name: "name", value: 9 },
            CompactionFault::NotValid { text: s("text"), name: "name" },
            CompactionFault::WindowSize { size: 9 },
            CompactionFault::Negative { name: "name", value: 9 },
            CompactionFault::AggressiveExpiration { name: "name" },
            CompactionFault::NotBoolean { name: "name", text: s("text") },
            CompactionFault::Scaling { text: s("text") },
            CompactionFault::FanFactor { text: s("text") },
            CompactionFault::ShardCount { shards: 9 },
            CompactionFault::GrowthMalformed { text: s("text") },
            CompactionFault::GrowthOutOfBounds { text: s("text") },
            CompactionFault::LeastSizeMalformed { text: s("text") },
            CompactionFault::LeastSizeAboveTarget { least: 2_097_152.0, target: 2_097_152.0 },
            CompactionFault::OverlapMethod { text: s("text"), methods: names() },
            CompactionFault::TargetMalformed { text: s("text") },
            CompactionFault::TargetTooSmall { text: s("text") },
        ]
        .map(SchemaError::from),
    );
    all.extend(
        [
            CompressionFault::OffWithOptions,
            CompressionFault::ClassMissing,
            CompressionFault::ClassEmpty,
            CompressionFault::ChunkMalformed,
            CompressionFault::ChunkNotPositive,
            CompressionFault::ChunkNotAPower,
            CompressionFault::RatioMalformed { text: s("text") },
            CompressionFault::RatioBelowOne,
            CompressionFault::ClassUnknown { class: s("class") },
            CompressionFault::Lz4Type { kind: s("kind") },
            CompressionFault::UnknownOptions { options: names() },
            CompressionFault::Lz4Level { level: s("level") },
            CompressionFault::ZstdLevel { level: s("level") },
            CompressionFault::ZstdLevelMalformed { level: s("level") },
        ]
        .map(SchemaError::from),
    );
    let column = || s("column");
    let whys = [
        Unkept::UnknownFunction,
        Unkept::NoColumn { table: s("table"), column: column() },
        Unkept::Static { column: column() },
        Unkept::Masked { column: column() },
        Unkept::InKey { column: column() },
        Unkept::Inexact { column: column(), data_type: DataType::Float },
        Unkept::NoSuchTotal { kind: TotalKind::Sum, data_type: Some(DataType::Text) },
    ];
    all.extend(
        whys.map(|why| TotalsFault::Unkept { function: s("sum"), argument: Some(column()), why }.into()),
    );
    all.push(NoteFault::Empty { kind: NoteKind::SecurityLabel }.into());
    for resource in [Resource::Keyspace, Resource::Table(s("table"))] {
        all.push(SystemFault::Resource { verb: "ALTER", keyspace: s("ks"), resource }.into());
    }
    all.push(
        RoutineFault::Missing {
            is_aggregate: false,
            routine: Signature { name: FullName::new("ks", "f"), arguments: None },
        }
        .into(),
    );
    all.push(RoutineFault::Ambiguous { is_aggregate: false, function: s("f") }.into());
    let unfit = [
        ConstraintError::WrongType {
            constraint: s("LENGTH"),
            types: &[DataType::Blob, DataType::Text],
            data_type: DataType::set(DataType::Int),
        },
        ConstraintError::Repeated { column: s("column"), constraints: names() },
        ConstraintError::Unsatisfiable { of: BoundsOf::Values, bounds: [s("c < 1"), s("c > 2")] },
        ConstraintError::Uncombinable { of: BoundsOf::Lengths { octets: true }, bounds: names() },
        ConstraintError::Uncombinable { of: BoundsOf::Lengths { octets: false }, bounds: names() },
    ];
    all.extend(unfit.map(|error| ConstraintFault::Unfit(error).into()));
    let durations = [DataType::set(DataType::Duration), DataType::tuple([DataType::Duration])];
    all.extend(durations.map(|data_type| IndexFault::Durations { data_type }.into()));
    all
}

fn objects() -> Vec<SchemaError> {
    let (keyspace, table, name) = (s("keyspace"), s("table"), s("name"));
    vec![
        SchemaError::KeyspaceExists(keyspace.clone()),
        SchemaError::TableExists { keyspace: keyspace.clone(), table: table.clone() },
        SchemaError::TypeExists { keyspace: keyspace.clone(), name: name.clone() },
        SchemaError::PatternExists { keyspace: keyspace.clone(), name: name.clone() },
        SchemaError::KeyspaceMissing(keyspace.clone()),
        SchemaError::TableMissing { keyspace: keyspace.clone(), table },
        SchemaError::TypeMissing { keyspace: keyspace.clone(), name: name.clone() },
        SchemaError::PatternMissing { keyspace, name },
    ]
}
