//! Words: materialized views and projections.

use model::types::{java_class_name, quote_identifier};
use schema::fault::{ProjectionFault, TotalsFault, Unkept, ViewFault};

const GRACE_IS_NEEDED: &str = "since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low \
                               might cause undelivered updates to expire before being replayed.";

const TTL_OF_BASE: &str = "Data in a materialized view always expire at the same time than the corresponding data in \
                           the parent table.";

pub fn view(fault: &ViewFault) -> String {
    match fault {
        ViewFault::AlteredAsTable => {
            "Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW instead".into()
        }
        ViewFault::DroppedAsTable => {
            "Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED VIEW instead.".into()
        }
        ViewFault::StillThere { keyspace, views } => format!(
            "Cannot drop a table when materialized views still depend on it ({keyspace}): {views}",
            views = views.join(", ")
        ),
        ViewFault::Truncated => {
            "Cannot TRUNCATE materialized view directly; must truncate base table instead".into()
        }
        ViewFault::UndefinedColumn { column, table } => {
            format!("Undefined column name {column} in table {table}", column = quote_identifier(column))
        }
        ViewFault::StaticColumn { column, view } => {
            format!("Cannot include static column '{column}' in materialized view '{view}'")
        }
        ViewFault::KeyUnknown { column, view } => {
            format!("Unknown column '{column}' referenced in PRIMARY KEY for materialized view '{view}'")
        }
        ViewFault::KeyTwice { column, view } => {
            format!("Duplicate column '{column}' in PRIMARY KEY clause for materialized view '{view}'")
        }
        ViewFault::OrderDiffers => {
            "Clustering key columns must exactly match columns in CLUSTERING ORDER BY directive".into()
        }
        ViewFault::KeyLacks { view, columns, table } => format!(
            "Cannot create materialized view '{view}' without primary key columns {columns} from base table '{table}'",
            columns = columns.join(", ")
        ),
        ViewFault::KeyAddsSeveral { columns } => format!(
            "Cannot include more than one non-primary key column in materialized view primary key (got {columns})",
            columns = columns.join(", ")
        ),
        ViewFault::ScaleLost { column } => format!(
            "Clustering column {column} holds decimals, whose scale is not part of a clustering key; a materialized view cannot have it in its partition key. Make it a clustering column of the view"
        ),
        ViewFault::KeyNullable { columns } => format!(
            "Primary key columns {columns} must be restricted with 'IS NOT NULL' or otherwise",
            columns = columns.join(", ")
        ),
        ViewFault::OthersRestricted { columns } => format!(
            "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: {columns} restricted illegally)",
            columns = columns.join(", ")
        ),
        ViewFault::OtherKeyspace => {
            "Cannot create a materialized view on a table in a different keyspace".into()
        }
        ViewFault::BaseMissing { base } => format!("Base table '{base}' doesn't exist"),
        ViewFault::NameOfTable { view } => {
            format!("Cannot create materialized view '{view}' - a table with the same name already exists")
        }
        ViewFault::OfCounters => "Materialized views are not supported on counter tables".into(),
        ViewFault::NoGrace { view, base } => format!(
            "Cannot create materialized view '{view}' for base table '{base}' with gc_grace_seconds of 0, {GRACE_IS_NEEDED}"
        ),
        ViewFault::Ttl => format!("Cannot set default_time_to_live for a materialized view. {TTL_OF_BASE}"),
        ViewFault::GraceAltered => {
            format!("Cannot alter gc_grace_seconds of a materialized view to 0, {GRACE_IS_NEEDED}")
        }
        ViewFault::TtlAltered => format!(
            "Forbidden default_time_to_live detected for a materialized view. {TTL_OF_BASE} default_time_to_live must be set to zero, see CASSANDRA-12868 for more information"
        ),
        ViewFault::Missing { view } => format!("Materialized view '{view}' doesn't exist"),
        ViewFault::ColumnDropped { column, base } => {
            format!("Cannot drop column {column} on base table {base} with materialized views")
        }
        ViewFault::GraceOfBase => format!(
            "Cannot alter gc_grace_seconds of the base table of a materialized view to 0, {GRACE_IS_NEEDED}"
        ),
        ViewFault::KeyUdt { data_type, column } => format!(
            "Invalid non-frozen user-defined type '{data_type}' for PRIMARY KEY column '{column}'",
            data_type = java_class_name(data_type)
        ),
        ViewFault::KeyCollection { data_type, column } => format!(
            "Invalid non-frozen collection type '{data_type}' for PRIMARY KEY column '{column}'",
            data_type = java_class_name(data_type)
        ),
        ViewFault::Written(why) => why.clone(),
    }
}

pub fn projection(fault: &ProjectionFault) -> String {
    match fault {
        ProjectionFault::LagOfAtomic => "on_lag says what happens when a projection is late, and freshness = 'atomic' never is: say freshness = '5s', or leave it out".into(),
        ProjectionFault::FreshnessMalformed { text } => format!("freshness = '{text}' is no length of time: it is 'atomic' (in the commit of its table), or how far the projection may be behind, as '500ms', '5s' or '2m'"),
        ProjectionFault::FreshnessOutOfBounds { text } => format!("freshness = '{text}' is out of bounds: it is between '100ms' and '24h', or 'atomic'"),
        ProjectionFault::LagRule { word } => format!("on_lag is 'wait' (writers of the table wait until the projection has caught up), 'refuse' (they are refused as overload) or 'late' (the projection is late), not '{word}'"),
        ProjectionFault::BackfillSetting { name } => format!("backfill has no setting '{name}'; it has {{'rows_per_second': '20000'}}, {{'mb_per_second': '5'}} and {{'p99_ms': '20'}}"),
        ProjectionFault::BackfillNumber { name, value } => format!("{name} of backfill is a positive number, not '{value}'"),
        ProjectionFault::LateTotals { projection } => format!("Projection '{projection}' has aggregates, and totals are kept in the commit of their table: leave freshness out, or say freshness = 'atomic'"),
        ProjectionFault::LateBuckets { projection, table } => format!("Projection '{projection}' cannot follow later: table {table} has buckets, and its rows move from one to another. Leave freshness out, or say freshness = 'atomic'"),
        ProjectionFault::LateLimit { projection } => format!("Projection '{projection}' follows its table later, when writes cannot be refused any more: use partition_limit with 'action': 'warn'"),
        ProjectionFault::ReplacedBaseMissing { place } => format!("Table {place} does not have projections of that name"),
        ProjectionFault::ReplacesItself { projection } => format!("Projection {projection} cannot replace itself"),
        ProjectionFault::NotReady { new, old } => format!("Projection {new} is not ready, so it cannot replace {old}: SELECT state, progress FROM system_views.projections shows how far it is"),
        ProjectionFault::LacksColumn { new, old, column, data_type } => format!("Projection {new} cannot replace {old}, because it does not have its column {column} {data_type}: whoever reads it would fail. Add it to {new}, or drop {old} when nobody reads it any more"),
        ProjectionFault::Missing { table, projection } => format!("Table {table} has no projection {projection}"),
        ProjectionFault::Condition { column } => format!("The WHERE clause of a projection cannot be about {column}: it is static or a collection that is not frozen"),
    }
}

pub fn totals(fault: &TotalsFault) -> String {
    match fault {
        TotalsFault::TooMany { most } => format!("A projection has at most {most} aggregates"),
        TotalsFault::OfBuckets { projection, table } => format!(
            "Projection '{projection}' cannot have aggregates: table {table} has buckets, and rows of other buckets are other rows to it. Make a projection of a table without buckets"
        ),
        TotalsFault::DuplicateColumn { projection, column } => {
            format!("Projection '{projection}' has two columns called {column}: name one with AS")
        }
        TotalsFault::Neither { column } => format!(
            "Column {column} is neither in the projection's key nor in an aggregate: a row per key has no place for it. Add it to PRIMARY KEY, or select an aggregate of it"
        ),
        TotalsFault::OfExpiring { table } => format!(
            "Rows of {table} expire (default_time_to_live), and nobody writes when they do, so totals of them could not be exact. Use a table without TTL, and delete rows"
        ),
        TotalsFault::OfTenants { table, tenant } => format!(
            "Totals of {table} must have its tenant {tenant} in their key: otherwise they would add up rows of several tenants"
        ),
        TotalsFault::Masked { column, projection } => format!(
            "Column {column} cannot be masked: projection {projection} shows totals of it. Drop the projection first"
        ),
        TotalsFault::Unkept { function, argument, why } => {
            let (argument, why) = (argument.as_deref().unwrap_or("*"), unkept(why));
            format!("A projection cannot keep {function}({argument}): {why}")
        }
    }
}

fn unkept(why: &Unkept) -> String {
    match why {
        Unkept::UnknownFunction => "it keeps count, sum, min and max".into(),
        Unkept::NotOfAll => "only count takes *".into(),
        Unkept::NoColumn { table, column } => format!("table {table} has no column {column}"),
        Unkept::Static { column } => format!("{column} is static, so it is not a value of each row"),
        Unkept::Masked { column } => {
            format!("{column} is masked, and the total would show what the mask hides")
        }
        Unkept::InKey { column } => {
            format!("{column} is part of the projection's key, so all rows of a key have the same")
        }
        Unkept::Inexact { column, data_type } => format!(
            "the sum of {column} depends on the order in which {data_type} numbers are added, so it cannot be kept exactly; use decimal"
        ),
        Unkept::NoSuchTotal { kind, data_type } => {
            let data_type = data_type.as_ref().map_or_else(String::new, |data_type| data_type.to_string());
            format!("there is no {} of values of the type {data_type}", kind.name())
        }
    }
}
