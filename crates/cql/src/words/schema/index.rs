//! Words: indexes.

use model::types::{DataType, java_class_name, quote_identifier};
use schema::fault::{AttachedFault, IndexFault};

pub fn index(fault: &IndexFault) -> String {
    match fault {
        IndexFault::TableMissing { table } => format!("Table '{table}' doesn't exist"),
        IndexFault::Exists { index } => format!("Index '{index}' already exists"),
        IndexFault::OfView => "Secondary indexes on materialized views aren't supported".into(),
        IndexFault::OfCounters => "Secondary indexes on counter tables aren't supported".into(),
        IndexFault::Same { index, same } => format!("Index {index} is a duplicate of existing index {same}"),
        IndexFault::NotAWord { index } => format!("Illegal index name {index}"),
        IndexFault::NoColumn => "An index is on a column".into(),
        IndexFault::Missing { index } => format!("Index '{index}' doesn't exist'"),
        IndexFault::OptionsOfPlain => "Cannot specify options for a non-CUSTOM index".into(),
        IndexFault::OwnOption { option } => format!("Cannot specify {option} as a CUSTOM option"),
        IndexFault::Sasi => {
            "SASI indexes are disabled. An index USING 'sai' serves equality and ranges".into()
        }
        IndexFault::ClassUnknown { class } => format!("Unable to find custom indexer class '{class}'"),
        IndexFault::UndefinedColumn { column, table } => format!(
            "Undefined column name {column} in table {keyspace}.{table}",
            column = quote_identifier(column),
            keyspace = quote_identifier(&table.keyspace),
            table = quote_identifier(&table.name)
        ),
        IndexFault::NoTarget => {
            "Only CUSTOM indexes can be created without specifying a target column".into()
        }
        IndexFault::SeveralTargets => "Only CUSTOM indexes support multiple columns".into(),
        IndexFault::DuplicateTarget { column } => format!("Duplicate column '{column}' in index target list"),
        IndexFault::DropsColumn { column, indexes } => format!(
            "Cannot drop column {column} because it has dependent secondary indexes ({indexes})",
            indexes = indexes.join(", ")
        ),
        IndexFault::RenamesColumn { column, indexes } => format!(
            "Can't rename column {column} because it has dependent secondary indexes ({indexes})",
            indexes = indexes.join(", ")
        ),
        IndexFault::ColumnName { column, characters_max } => format!(
            "Column '{column}' is longer than the permissible name length of {characters_max} characters or contains non-alphanumeric-underscore characters"
        ),
        IndexFault::Durations { data_type } => {
            let holders = if data_type.is_collection() {
                "collections containing durations"
            } else if matches!(data_type, DataType::Tuple(_)) {
                "tuples containing durations"
            } else if matches!(data_type, DataType::Udt(_)) {
                "UDTs containing durations"
            } else {
                "duration columns"
            };
            format!("Secondary indexes are not supported on {holders}")
        }
        IndexFault::CompactKey => {
            "Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables".into()
        }
        IndexFault::CompactValue => {
            "Secondary indexes are not supported on compact value column of COMPACT STORAGE tables".into()
        }
        IndexFault::OnlyKey { column } => {
            format!("Cannot create secondary index on the only partition key column {column}")
        }
        IndexFault::FrozenInParts { part, column } => {
            let (part, quoted) = (part.word().unwrap_or_default(), quote_identifier(column));
            format!(
                "Cannot create {part}() index on frozen column {column}. Frozen collections are immutable and must be fully indexed by using the 'full({quoted})' modifier"
            )
        }
        IndexFault::FullOfOthers => "full() indexes can only be created on frozen collections".into(),
        IndexFault::PartOfOthers { part, column } => format!(
            "Cannot create {part}() index on {column}. Non-collection columns only support simple indexes",
            part = part.word().unwrap_or_default()
        ),
        IndexFault::NotAMap { part, column } => format!(
            "Cannot create index on {part} of column {column} with non-map type",
            part = part.word().unwrap_or_default()
        ),
        IndexFault::UdtColumn { column } => format!("Cannot create index on non-frozen UDT column {column}"),
    }
}

pub fn attached(fault: &AttachedFault) -> String {
    match fault {
        AttachedFault::UnknownOptions { options } => format!(
            "Properties specified [{options}] are not understood by StorageAttachedIndex",
            options = options.join(", ")
        ),
        AttachedFault::Several { column } => {
            format!("Cannot create more than one storage-attached index on the same column: {column}")
        }
        AttachedFault::VectorElement => {
            "SAI ANN indexes are only allowed on vector columns with float elements".into()
        }
        AttachedFault::CosineOfOne => {
            "Cosine similarity is not supported for single-dimension vectors".into()
        }
        AttachedFault::Type { data_type } => format!("Unsupported type: {data_type}"),
        AttachedFault::AnalysisOfKey { options } => format!(
            "Analysis options are not supported on primary key columns, but found {{{options}}}",
            options = options.join(", ")
        ),
        AttachedFault::AnalysisOfEntries { types } => format!(
            "CQL type 'org.apache.cassandra.db.marshal.CompositeType({types})' cannot be analyzed.",
            types = types.iter().map(java_class_name).collect::<Vec<_>>().join(",")
        ),
        AttachedFault::AnalysisOf { data_type } => format!("CQL type {data_type} cannot be analyzed."),
        AttachedFault::EmptyBoolean { option } => format!("Empty value for boolean option '{option}'"),
        AttachedFault::Boolean { option, value } => {
            format!("Illegal value for boolean option '{option}': {value}")
        }
        AttachedFault::VectorOptionsOf { data_type } => {
            format!("CQL type {data_type} cannot have vector options")
        }
        AttachedFault::NodeConnections => fixed("Maximum node connections"),
        AttachedFault::BeamWidth => fixed("Construction beam width"),
        // The name of the index is missing in these two sentences: Cassandra has `null` there.
        AttachedFault::Similarity { name } => format!(
            "Similarity function {name} was not recognized for index null. Valid values are: EUCLIDEAN, DOT_PRODUCT, COSINE"
        ),
        AttachedFault::OptimizeFor { value } => format!(
            "optimize_for '{value}' was not recognized for index null. Valid values are: LATENCY, RECALL"
        ),
        AttachedFault::NoTarget => "Failed to retrieve target column for:".into(),
        AttachedFault::SeveralTargets { target } => {
            format!("A storage-attached index cannot be created over multiple columns: {target}")
        }
    }
}

fn fixed(option: &str) -> String {
    format!("{option} cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS")
}
