//! The rest of the control plane: tables by name, tags, time to live, backups, and what one machine answers or refuses.

use super::tables::{self, table_name};
use super::{
    Context, ListBackups, ListTables, ListTagsOfResource, OnTable, Request, RestoreTableFromBackup,
    TagResource, UntagResource, UpdateTimeToLive,
};
use crate::error::{ApiError, ErrorName};
use crate::json::Writer;
use crate::messages::Rule;
use crate::operation::Operation;
use crate::shape::{Members, Node, table_of};
use crate::table::{BillingMode, Throughput};

const LIST_MAX: i64 = 100;
const PAGE_MAX: i64 = 25;

pub(super) fn parse(context: &Context, members: Members<'_>) -> Result<Request, ApiError> {
    use Operation as O;
    match context.operation {
        O::DescribeTable => named(context, &members).map(|table| Request::DescribeTable { table }),
        O::DeleteTable => named(context, &members).map(|table| Request::DeleteTable { table }),
        O::DescribeTimeToLive => named(context, &members).map(|table| Request::DescribeTimeToLive { table }),
        O::ListTables => list_tables(context, members),
        O::UpdateTimeToLive => time_to_live(context, &members),
        O::TagResource | O::UntagResource | O::ListTagsOfResource => tag(context, members),
        O::CreateBackup => {
            let table = named(context, &members)?;
            Ok(Request::CreateBackup {
                table,
                name: members.text("BackupName").unwrap_or_default().to_string(),
            })
        }
        O::DeleteBackup => arn(context, members, "BackupArn").map(|arn| Request::DeleteBackup { arn }),
        O::DescribeBackup => arn(context, members, "BackupArn").map(|arn| Request::DescribeBackup { arn }),
        O::ListBackups => list_backups(context, members),
        O::RestoreTableFromBackup => restore(context, members),
        O::DescribeExport => arn(context, members, "ExportArn").map(|arn| Request::DescribeExport { arn }),
        O::DescribeImport => arn(context, members, "ImportArn").map(|arn| Request::DescribeImport { arn }),
        O::ListExports => {
            context.constraints(&members, &[])?;
            let limit = members.integer("MaxResults").unwrap_or(PAGE_MAX) as usize;
            let table = members.text("TableArn").map(|arn| table_of(arn).to_string());
            Ok(Request::ListExports { table, limit, skip: listed_before(&members)? })
        }
        O::ListImports => {
            context.constraints(&members, &[])?;
            let limit = members.integer("PageSize").unwrap_or(PAGE_MAX) as usize;
            let table = members.text("TableArn").map(|arn| table_of(arn).to_string());
            Ok(Request::ListImports { table, limit, skip: listed_before(&members)? })
        }
        O::DescribeEndpoints => Ok(Request::DescribeEndpoints),
        _ => single_node(context, members),
    }
}

/// A request whose first member is a table's name.
fn named(context: &Context, members: &Members<'_>) -> Result<String, ApiError> {
    let table = table_name(context, members)?;
    context.constraints(members, &["TableName"])?;
    Ok(table)
}

fn arn(context: &Context, mut members: Members<'_>, name: &str) -> Result<String, ApiError> {
    context.constraints(&members, &[])?;
    Ok(members.take_text(name).unwrap_or_default())
}

/// How many entries the page that gave this token had come to.
fn listed_before(members: &Members<'_>) -> Result<usize, ApiError> {
    let Some(token) = members.text("NextToken") else { return Ok(0) };
    let digits = token.trim_start_matches('0');
    usize::from_str_radix(if digits.is_empty() { "0" } else { digits }, 16)
        .map_err(|_| Rule::NextTokenInvalid.refuse(&[]))
}

/// For lists that are never cut: nobody was given a token.
fn no_token(members: &Members<'_>) -> Result<(), ApiError> {
    members.text("NextToken").map_or(Ok(()), |_| Err(Rule::NextTokenInvalid.refuse(&[])))
}

fn list_tables(context: &Context, mut members: Members<'_>) -> Result<Request, ApiError> {
    context.constraints(&members, &[])?;
    Ok(Request::ListTables(ListTables {
        start: members.take_text("ExclusiveStartTableName"),
        limit: members.integer("Limit").unwrap_or(LIST_MAX) as usize,
    }))
}

fn time_to_live(context: &Context, members: &Members<'_>) -> Result<Request, ApiError> {
    let table = named(context, members)?;
    let (mut attribute, mut enabled) = (String::new(), false);
    if let Some(specification) = members.structure("TimeToLiveSpecification") {
        attribute = specification.text("AttributeName").unwrap_or_default().to_string();
        enabled = specification.boolean("Enabled").unwrap_or(false);
    }
    Ok(Request::UpdateTimeToLive(UpdateTimeToLive { table, attribute, enabled }))
}

/// The table of an ARN like `arn:aws:dynamodb:us-east-1:000000000000:table/t`.
fn resource(context: &Context, members: &Members<'_>) -> Result<(String, String), ApiError> {
    let arn = members.text("ResourceArn").unwrap_or_default();
    if !arn.starts_with("arn:") {
        return Err(Rule::ResourceArnNotArn.refuse(&[context.operation.name(), arn]));
    }
    let table = table_of(arn);
    if table == arn || table.is_empty() || arn.split(':').count() < 6 {
        return Err(Rule::ResourceArnInvalid.refuse(&[arn]));
    }
    Ok((arn.to_string(), table.to_string()))
}

fn tag(context: &Context, members: Members<'_>) -> Result<Request, ApiError> {
    context.constraints(&members, &["Tags"])?;
    let (arn, table) = resource(context, &members)?;
    match context.operation {
        Operation::TagResource => {
            let tags = tables::tags(members.list("Tags").unwrap_or_default())?;
            if tags.is_empty() {
                return Err(Rule::TagsMissing.refuse(&[]));
            }
            Ok(Request::TagResource(TagResource { arn, table, tags }))
        }
        Operation::UntagResource => {
            let key =
                |node: &Node<'_>| if let Node::Text(text) = node { Some(text.to_string()) } else { None };
            let keys: Vec<String> =
                members.list("TagKeys").unwrap_or_default().iter().filter_map(key).collect();
            if keys.is_empty() {
                return Err(Rule::TagKeysMissing.refuse(&[]));
            }
            Ok(Request::UntagResource(UntagResource { arn, table, keys }))
        }
        _ => {
            no_token(&members)?;
            Ok(Request::ListTagsOfResource(ListTagsOfResource { arn, table }))
        }
    }
}

fn list_backups(context: &Context, mut members: Members<'_>) -> Result<Request, ApiError> {
    context.constraints(&members, &[])?;
    let millis = |name: &str| members.double(name).map(|seconds| (seconds * 1000.0) as i64);
    Ok(Request::ListBackups(ListBackups {
        from_ms: millis("TimeRangeLowerBound"),
        to_ms: millis("TimeRangeUpperBound"),
        table: members.text("TableName").map(|name| table_of(name).to_string()),
        limit: members.integer("Limit").unwrap_or(LIST_MAX) as usize,
        start: members.take_text("ExclusiveStartBackupArn"),
        kind: members.take_text("BackupType"),
    }))
}

fn restore(context: &Context, members: Members<'_>) -> Result<Request, ApiError> {
    context.constraints(&members, &[])?;
    let names = |list: &str| {
        let name = |node: &Node<'_>| {
            let Node::Structure(index) = node else { return None };
            index.text("IndexName").map(str::to_string)
        };
        members.list(list).map(|list| list.iter().filter_map(name).collect())
    };
    let throughput = members.structure("ProvisionedThroughputOverride").map(|units| Throughput {
        read: units.integer("ReadCapacityUnits").unwrap_or(1),
        write: units.integer("WriteCapacityUnits").unwrap_or(1),
        ..Throughput::default()
    });
    let on_demand = members.structure("OnDemandThroughputOverride").map(|limits| crate::table::OnDemand {
        read: limits.integer("MaxReadRequestUnits"),
        write: limits.integer("MaxWriteRequestUnits"),
    });
    let billing = tables::billing_mode(&members);
    if billing == Some(BillingMode::PayPerRequest) && throughput.is_some() {
        return Err(ApiError::validation(
            "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be \
             specified when BillingMode is PAY_PER_REQUEST",
        ));
    }
    Ok(Request::RestoreTableFromBackup(Box::new(RestoreTableFromBackup {
        target: members.text("TargetTableName").unwrap_or_default().to_string(),
        backup_arn: members.text("BackupArn").unwrap_or_default().to_string(),
        billing,
        throughput,
        on_demand,
        global_indexes: names("GlobalSecondaryIndexOverride"),
        local_indexes: names("LocalSecondaryIndexOverride"),
        vector_indexes: names("VectorIndexOverride"),
        encryption: tables::encryption(&members).flatten(),
    })))
}

fn body(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Writer::object(&mut out);
    write(&mut object);
    object.end();
    out
}

fn empty_list(name: &str) -> Result<Request, ApiError> {
    Ok(Request::Answer(body(|object| object.list(name, &[] as &[()], |_, _| {}))))
}

fn on_table(table: String, write: impl FnOnce(&mut Writer<'_>)) -> Result<Request, ApiError> {
    Ok(Request::OnTable(OnTable { table, body: body(write) }))
}

fn refused(operation: Operation, why: &str) -> Result<Request, ApiError> {
    let text = format!("{} is not offered by this server: {why}", operation.name());
    Err(ApiError::new(ErrorName::UnknownOperation, text))
}

/// What a lone machine knows, or cannot do.
fn single_node(context: &Context, members: Members<'_>) -> Result<Request, ApiError> {
    use Operation as O;
    const REGIONS: &str = "a table is on one machine and has no replicas in other regions";
    const KINESIS: &str = "it sends no changes to Kinesis; read the table's stream";
    const BULK: &str = "bulk operations are not there yet; use BatchWriteItem or ImportTable";
    let operation = context.operation;
    match operation {
        O::DescribeLimits => Ok(Request::Answer(body(|object| {
            object.integer("AccountMaxReadCapacityUnits", 80_000);
            object.integer("AccountMaxWriteCapacityUnits", 80_000);
            object.integer("TableMaxReadCapacityUnits", 40_000);
            object.integer("TableMaxWriteCapacityUnits", 40_000);
        }))),
        O::ListGlobalTables => context.constraints(&members, &[]).and_then(|()| empty_list("GlobalTables")),
        O::ListBulkOperations => {
            context.constraints(&members, &[])?;
            no_token(&members)?;
            empty_list("BulkOperationSummaries")
        }
        O::ListContributorInsights => {
            context.constraints(&members, &["TableName"])?;
            no_token(&members)?;
            empty_list("ContributorInsightsSummaries")
        }
        O::DescribeGlobalTable | O::DescribeGlobalTableSettings => {
            context.constraints(&members, &[])?;
            let name = members.text("GlobalTableName").unwrap_or_default();
            Err(ApiError::new(ErrorName::GlobalTableNotFound, format!("Global table not found: {name}")))
        }
        O::DescribeBulkOperation | O::CancelBulkOperation => {
            context.constraints(&members, &[])?;
            let arn = members.text("BulkOperationArn").unwrap_or_default();
            Err(ApiError::new(ErrorName::ResourceNotFound, format!("Requested resource not found: {arn}")))
        }
        O::DescribeContinuousBackups => {
            let table = named(context, &members)?;
            on_table(table, |object| {
                let mut backups = object.nested("ContinuousBackupsDescription");
                backups.string("ContinuousBackupsStatus", "ENABLED");
                let mut recovery = backups.nested("PointInTimeRecoveryDescription");
                recovery.string("PointInTimeRecoveryStatus", "DISABLED");
                recovery.end();
                backups.end();
            })
        }
        O::UpdateContinuousBackups => update_continuous_backups(context, &members),
        O::DescribeKinesisStreamingDestination => {
            let table = named(context, &members)?;
            on_table(table.clone(), |object| {
                object.string("TableName", &table);
                object.list("KinesisDataStreamDestinations", &[] as &[()], |_, _| {});
            })
        }
        O::DescribeTableReplicaAutoScaling => {
            let table = named(context, &members)?;
            on_table(table.clone(), |object| {
                let mut description = object.nested("TableAutoScalingDescription");
                description.string("TableName", &table);
                description.string("TableStatus", "ACTIVE");
                description.list("Replicas", &[] as &[()], |_, _| {});
                description.end();
            })
        }
        O::DescribeContributorInsights => {
            let table = named(context, &members)?;
            on_table(table.clone(), |object| {
                object.string("TableName", &table);
                if let Some(index) = members.text("IndexName") {
                    object.string("IndexName", index);
                }
                object.string("ContributorInsightsStatus", "DISABLED");
            })
        }
        O::GetResourcePolicy | O::DeleteResourcePolicy => {
            context.constraints(&members, &[])?;
            let (arn, _) = resource(context, &members)?;
            Err(ApiError::new(
                ErrorName::PolicyNotFound,
                format!("Resource-based policy not found for the provided ResourceArn: {arn}"),
            ))
        }
        O::PutResourcePolicy => {
            refused(operation, "it does not enforce resource policies, so it does not accept one")
        }
        O::UpdateContributorInsights => refused(operation, "contributor insights are not there yet"),
        O::RestoreTableToPointInTime => {
            context.constraints(&members, &[])?;
            let source = members
                .text("SourceTableName")
                .or_else(|| members.text("SourceTableArn"))
                .unwrap_or_default();
            Err(ApiError::new(
                ErrorName::PointInTimeRecoveryUnavailable,
                format!("Point in time recovery is not enabled for table '{}'", table_of(source)),
            ))
        }
        O::StartBulkPutItems => refused(operation, BULK),
        O::EnableKinesisStreamingDestination
        | O::DisableKinesisStreamingDestination
        | O::UpdateKinesisStreamingDestination => refused(operation, KINESIS),
        _ => refused(operation, REGIONS),
    }
}

fn update_continuous_backups(context: &Context, members: &Members<'_>) -> Result<Request, ApiError> {
    let table = named(context, members)?;
    let wanted = members.structure("PointInTimeRecoverySpecification");
    if wanted.and_then(|s| s.boolean("PointInTimeRecoveryEnabled")).unwrap_or(false) {
        return Err(ApiError::new(
            ErrorName::ContinuousBackupsUnavailable,
            "Backups are being enabled for the table: point in time recovery is not offered by this server yet; use \
             CreateBackup",
        ));
    }
    on_table(table, |object| {
        let mut backups = object.nested("ContinuousBackupsDescription");
        backups.string("ContinuousBackupsStatus", "ENABLED");
        let mut recovery = backups.nested("PointInTimeRecoveryDescription");
        recovery.string("PointInTimeRecoveryStatus", "DISABLED");
        recovery.end();
        backups.end();
    })
}
