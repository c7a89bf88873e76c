//! Every fact has its class and its sentence: one golden line for each.

use super::CqlError;
use model::comparison::Comparison;
use model::constraint::Unsatisfied;
use model::value::ValueError;
use query::QueryError;
use query::fault::*;
use store::{Refused, StoreError};

fn s(text: &str) -> String {
    text.to_string()
}

fn names() -> Vec<String> {
    vec![s("a"), s("b")]
}

fn why() -> ValueError {
    ValueError::new("no such value")
}

fn faults() -> Vec<QueryError> {
    let (keyspace, table, column, function) = (s("ks"), s("t"), s("c"), s("f"));
    let mut all: Vec<QueryError> = Vec::new();
    all.extend(
        [
            KeyFault::Empty,
            KeyFault::TooLong { bytes: 9, bytes_max: 8 },
            KeyFault::MalformedPartition,
            KeyFault::MalformedClustering,
            KeyFault::SoughtTooLong,
            KeyFault::NotIndexable {
                bytes: 9,
                bytes_max: 8,
                index: s("i"),
                keyspace: keyspace.clone(),
                table: table.clone(),
                column: column.clone(),
            },
        ]
        .map(QueryError::from),
    );
    all.extend(
        [
            NullIn::Restriction { column: column.clone() },
            NullIn::Restrictions { columns: names() },
            NullIn::Filter { column: column.clone() },
            NullIn::FilterEntry { column: column.clone() },
            NullIn::FilterKey { column: column.clone() },
            NullIn::Alternative { column: column.clone() },
            NullIn::Alternatives,
            NullIn::Collection,
            NullIn::Vector,
            NullIn::Timestamp,
            NullIn::MapKey,
            NullIn::ListIndex,
            NullIn::CounterDelta,
            NullIn::Operand { column: column.clone() },
            NullIn::MapElement,
            NullIn::ListElement,
            NullIn::AlternativesOfCondition,
            NullIn::Token,
            NullIn::Limit,
            NullIn::NearestVector,
            NullIn::Document,
        ]
        .map(QueryError::from),
    );
    all.extend(
        [
            UnsetIn::TupleField { at: 1 },
            UnsetIn::TypeField { field: s("x"), of: s("ty") },
            UnsetIn::Argument { function: function.clone() },
            UnsetIn::Restriction { column: column.clone() },
            UnsetIn::Filter { column: column.clone() },
            UnsetIn::FilterEntry { column: column.clone() },
            UnsetIn::FilterKey { column: column.clone() },
            UnsetIn::Tuple { columns: names() },
            UnsetIn::Tuples { columns: names() },
            UnsetIn::Condition { column: column.clone() },
            UnsetIn::MapKey,
            UnsetIn::ListIndex,
        ]
        .map(QueryError::from),
    );
    all.extend(
        [
            ValueFault::Wrong(why()),
            ValueFault::IntWidth { bytes: 3 },
            ValueFault::LongWidth { bytes: 3 },
            ValueFault::ShortList,
            ValueFault::ShortCollection,
            ValueFault::ComparedWithNull { symbol: "<" },
            ValueFault::JsonNotUtf8,
            ValueFault::JsonMalformed { why: s("it ends"), text: s("{") },
            ValueFault::JsonNotAnObject { text: s("3") },
            ValueFault::JsonUnknownColumn { column: column.clone() },
            ValueFault::JsonValue { column: column.clone(), why: why() },
        ]
        .map(QueryError::from),
    );
    all.extend(unsatisfied().map(|fault| ValueFault::Unsatisfied(fault).into()));
    all.extend(
        [
            FunctionFault::WrongCount { function: function.clone(), wanted: "1 or 2", given: 3 },
            FunctionFault::WrongArguments { function: function.clone(), signature: s("any") },
            FunctionFault::Untyped { function: function.clone(), argument: s("?") },
            FunctionFault::ArgumentOfKind {
                function: function.clone(),
                wanted: "map",
                argument: s("v"),
                found: s("int"),
            },
            FunctionFault::ArgumentOfTypes {
                function: function.clone(),
                wanted: "text|ascii",
                argument: s("v"),
                found: s("int"),
            },
            FunctionFault::NotBinary { function: function.clone(), value: vec![10], returns: s("int") },
            FunctionFault::NotANumber { text: s("x") },
            FunctionFault::Negative,
            FunctionFault::UnknownUnit { what: "time", name: s("q"), known: names() },
            FunctionFault::NotInSelection { function: function.clone() },
            FunctionFault::UnknownHash { name: s("MD4") },
            FunctionFault::LongPadding,
            FunctionFault::FloorBelowDay { duration: s("1h") },
            FunctionFault::FloorBelowMillisecond { duration: s("1ns") },
            FunctionFault::Dimensions,
            FunctionFault::ZeroVector,
            FunctionFault::ResultTooLarge { function: function.clone(), bytes_max: 8 },
            FunctionFault::NotSummable { data_type: s("text") },
            FunctionFault::NotRun { function: s("ks.f") },
            FunctionFault::Failed { function, arguments: names(), why: why() },
            FunctionFault::UnreadableJson { text: s("{") },
            FunctionFault::MismatchedJson { why: why() },
        ]
        .map(QueryError::from),
    );
    all.extend(
        [
            RestrictionFault::TooManyCombinations { columns: names(), combinations: 9, most: 8 },
            RestrictionFault::KeysTooLarge { bytes: 9, bytes_max: 8 },
            RestrictionFault::PartitionKeyMissing { columns: names() },
            RestrictionFault::EmptyToken,
            RestrictionFault::LimitNotPositive,
            RestrictionFault::LimitMalformed,
            RestrictionFault::NearestWithoutLimit { limit: None, most: 8 },
            RestrictionFault::NearestWithoutLimit { limit: Some(9), most: 8 },
        ]
        .map(QueryError::from),
    );
    all.extend(
        [
            ReadFault::ResultTooLarge { bytes_max: 8 },
            ReadFault::RowTooLarge { bytes_max: 8 },
            ReadFault::SortTooLarge { streams: 2, bytes_max: 8 },
            ReadFault::NearestTooLarge { bytes_max: 8 },
            ReadFault::MemoryTaken,
            ReadFault::PagingState,
        ]
        .map(QueryError::from),
    );
    all.extend(
        [
            WriteFault::CounterInLoggedBatch,
            WriteFault::NoCounterInCounterBatch,
            WriteFault::CountersAndOthers,
            WriteFault::TwoTimestamps,
            WriteFault::TimestampOfConditionalBatch,
            WriteFault::TimestampOfCounterBatch,
            WriteFault::BatchTooLarge { bytes: 9, partitions: 2, bytes_max: 8 },
            WriteFault::TimestampOutOfBounds,
            WriteFault::NegativeTtl { seconds: -1 },
            WriteFault::LongTtl { seconds: 9, seconds_max: 8 },
            WriteFault::CounterOverflow { delta: i64::MIN },
            WriteFault::TooManyListOperations { count: 9, most: 8 },
            WriteFault::TooLarge { bytes_max: 8 },
        ]
        .map(QueryError::from),
    );
    all.extend(
        [
            ConditionFault::EmptyBatch,
            ConditionFault::SeveralTables,
            ConditionFault::SeveralPartitions,
            ConditionFault::SeveralKeys { deletes: true },
            ConditionFault::SeveralRows { deletes: false },
            ConditionFault::RangeOfRows,
            ConditionFault::ExistsAndNotExists,
            ConditionFault::ValuesAndExistence { exists: true },
            ConditionFault::ValuesAndExistence { exists: false },
            ConditionFault::NegativeListIndex { index: -1 },
            ConditionFault::SeveralBuckets,
        ]
        .map(QueryError::from),
    );
    all.extend(
        [
            BucketFault::NotBucketed,
            BucketFault::NoBucket { column: column.clone() },
            BucketFault::OtherBucket { column: column.clone(), given: s("1"), own: s("2") },
            BucketFault::Expired {
                keyspace: keyspace.clone(),
                table: table.clone(),
                bucket: s("1"),
                oldest: s("2"),
            },
            BucketFault::TooManyPartitions { found: 9, most: 8 },
            BucketFault::Changed,
        ]
        .map(QueryError::from),
    );
    let role = || s("ann");
    all.extend(
        [
            AccessFault::TenantUnsaid { keyspace: keyspace.clone(), table: table.clone() },
            AccessFault::NoPrivilege { role: role() },
            AccessFault::NoPermission { role: role(), permission: s("SELECT"), resource: s("<table ks.t>") },
            AccessFault::NoSuchPermission { class: s("RoleResource") },
            AccessFault::SystemKeyspace { keyspace: keyspace.clone() },
            AccessFault::SystemResource { permission: s("DROP"), resource: s("<keyspace ks>") },
            AccessFault::AllTenants { role: role(), resource: s("<table ks.t>") },
            AccessFault::OtherTenants { role: role(), keyspace: keyspace.clone(), table, column },
            AccessFault::TenantLimit { tenant: s("acme"), number: 2.5, what: "bytes", place: s("ks.t") },
        ]
        .map(QueryError::from),
    );
    let id = || s("7");
    all.extend(
        [
            JobFault::Unknown { id: id() },
            JobFault::Disobedient { id: id(), why: s("it is over") },
            JobFault::Cancelled { id: id() },
            JobFault::Unfinished,
            JobFault::Differs { key: vec![10] },
            JobFault::Dropped { target: s("i") },
            JobFault::NoCopy { keyspace: keyspace.clone(), name: s("i") },
            JobFault::NotBuilt { keyspace: keyspace.clone(), name: s("i") },
            JobFault::Drifted { missing: 1, extra: 2, stale: 3 },
            JobFault::Unkeepable { keyspace, name: s("v"), why: s("it lacks a column") },
            JobFault::Unopenable { what: s("no key") },
        ]
        .map(QueryError::from),
    );
    all.extend(
        [ForeignFault::Damaged, ForeignFault::NumberOutOfRange, ForeignFault::Unserved].map(QueryError::from),
    );
    all.extend(refused().map(|why| StoreError::from(why).into()));
    all.extend(super::schema::samples().into_iter().map(QueryError::from));
    all
}

fn unsatisfied() -> impl Iterator<Item = Unsatisfied> {
    let column = || s("c");
    let length = |octets| Unsatisfied::Length {
        column: column(),
        octets,
        length: 9,
        comparison: Comparison::Less,
        count: 8,
    };
    [
        Unsatisfied::Json { column: column() },
        Unsatisfied::Value { column: column(), comparison: Comparison::Less, term: s("8") },
        length(true),
        length(false),
        Unsatisfied::Regexp { equal: true, pattern: s("x+") },
        Unsatisfied::Regexp { equal: false, pattern: s("x+") },
        Unsatisfied::Null { column: column() },
        Unsatisfied::Deleted { column: column() },
        Unsatisfied::Missing { column: column() },
    ]
    .into_iter()
}

fn refused() -> impl Iterator<Item = Refused> {
    [
        Refused::NoTransactions,
        Refused::NotARange,
        Refused::RowsOfTransaction { most: 8 },
        Refused::PartitionsOfTransaction { most: 8 },
        Refused::DeferredInTransaction,
        Refused::UnnamedPartition,
        Refused::RowKeyTooLong,
        Refused::CommitTooLarge { bytes: 9, limit: 8 },
        Refused::TooManyTouched { most: 8 },
        Refused::Occupied { place: s("there") },
        Refused::ConditionTooDeep { most: 8 },
        Refused::ComparedWithNull { symbol: "<" },
        Refused::ComparedWithEmpty { kind: "set", symbol: "<" },
        Refused::ListIsNull { sets: true },
        Refused::ListIsNull { sets: false },
        Refused::ListIndex { index: 9, elements: 8 },
        Refused::Arithmetic(why()),
        Refused::NoBucket,
        Refused::NoMirrors,
        Refused::Undecided { why: s("it could not") },
        Refused::Expires,
        Refused::NoSum(why()),
    ]
    .into_iter()
}

fn class(error: &CqlError) -> &'static str {
    match error {
        CqlError::Syntax(_) => "syntax",
        CqlError::Invalid(_) => "invalid",
        CqlError::Config(_) => "config",
        CqlError::AlreadyExists { .. } => "already exists",
        CqlError::Unauthorized(_) => "unauthorized",
        CqlError::Protocol(_) => "protocol",
        CqlError::FunctionFailure { .. } => "function failure",
        CqlError::Overloaded(_) => "overloaded",
        CqlError::Store(_) => "store",
    }
}

#[test]
fn every_fact_has_its_class_and_its_sentence() {
    let line = |error: QueryError| {
        let error = CqlError::from(error);
        format!("{}: {error}\n", class(&error))
    };
    let told: String = faults().into_iter().map(line).collect();
    let golden = include_str!("golden.txt");
    if let Some((told, golden)) = told.lines().zip(golden.lines()).find(|(told, golden)| told != golden) {
        panic!("\n told: {told}\nstood: {golden}");
    }
    assert_eq!(told.lines().count(), golden.lines().count(), "all of it:\n{told}");
}
