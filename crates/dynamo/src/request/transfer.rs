//! ExportTableToPointInTime and ImportTable, on a folder that stands for a bucket.

use super::parameters::Forms;
use super::{Context, ExportTable, ImportFormat, ImportTable, Request, tables};
use crate::error::ApiError;
use crate::expression::ExpressionKind;
use crate::json::Writer;
use crate::messages::Rule;
use crate::shape::{Members, Node, table_of};

const FILTER: Forms = Forms {
    legacy: &[],
    expressions: &["ProjectionExpression", "FilterExpression", "KeyConditionExpression"],
    with_values: &["FilterExpression", "KeyConditionExpression"],
};

/// Texts that a description gives back as they came.
fn echo(members: &Members<'_>, names: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Writer::object(&mut out);
    for name in names {
        if let Some(text) = members.text(name) {
            object.string(name, text);
        }
    }
    object.end();
    out
}

pub(super) fn export(context: &Context, mut members: Members<'_>) -> Result<Request, ApiError> {
    context.constraints(&members, &[])?;
    let arn = members.take_text("TableArn").unwrap_or_default();
    if !arn.contains(":table/") {
        return Err(Rule::TableArnInvalid.refuse(&[]));
    }
    if members.text("ExportFormat") == Some("ION") {
        return Err(ApiError::validation(
            "ExportFormat ION is not offered by this server; use DYNAMODB_JSON",
        ));
    }
    if members.text("ExportType") == Some("INCREMENTAL_EXPORT")
        || members.contains("IncrementalExportSpecification")
    {
        return Err(ApiError::validation(
            "INCREMENTAL_EXPORT is not offered by this server: it keeps no continuous backup to export changes from",
        ));
    }
    let names = ["S3BucketOwner", "S3SseAlgorithm", "S3SseKmsKeyId", "ClientToken", "S3Prefix", "S3Bucket"];
    let echo = echo(&members, &names);
    let (mut filter, mut projection) = (None, None);
    if let Some(Node::Structure(mut specification)) = members.take("FilterSpecification") {
        if specification.contains("KeyConditionExpression") {
            return Err(ApiError::validation(
                "KeyConditionExpression is not offered for exports by this server; use FilterExpression",
            ));
        }
        let placeholders = context.placeholders(&mut specification, &FILTER)?;
        let text = specification.text("FilterExpression");
        filter = context.condition(ExpressionKind::Filter, text, &placeholders)?;
        projection = context.projection(&specification, &placeholders)?;
        placeholders.check_used()?;
    }
    Ok(Request::ExportTable(Box::new(ExportTable {
        table: table_of(&arn).to_string(),
        arn,
        bucket: members.take_text("S3Bucket").unwrap_or_default(),
        prefix: members.take_text("S3Prefix"),
        time_ms: members.double("ExportTime").map(|seconds| (seconds * 1000.0) as i64),
        token: members.take_text("ClientToken"),
        filter,
        projection,
        echo,
    })))
}

pub(super) fn import(context: &Context, mut members: Members<'_>) -> Result<Request, ApiError> {
    context.constraints(&members, &[])?;
    let format = match members.text("InputFormat") {
        Some("CSV") => ImportFormat::Csv,
        Some("DYNAMODB_JSON") => ImportFormat::DynamoJson,
        other => {
            let other = other.unwrap_or_default();
            return Err(ApiError::validation(format!("InputFormat {other} is not offered by this server")));
        }
    };
    let echo = echo(&members, &["InputFormat", "InputCompressionType", "ClientToken"]);
    let (mut csv_delimiter, mut csv_header) = (None, None);
    if let Some(csv) = members.structure("InputFormatOptions").and_then(|options| options.structure("Csv")) {
        csv_delimiter = csv.text("Delimiter").and_then(|text| text.chars().next());
        csv_header = csv.list("HeaderList").map(|list| {
            let name =
                |node: &Node<'_>| if let Node::Text(text) = node { Some(text.to_string()) } else { None };
            list.iter().filter_map(name).collect()
        });
    }
    let Some(Node::Structure(source)) = members.take("S3BucketSource") else {
        return Err(ApiError::validation("S3BucketSource is required"));
    };
    let Some(Node::Structure(creation)) = members.take("TableCreationParameters") else {
        return Err(ApiError::validation("TableCreationParameters is required"));
    };
    Ok(Request::ImportTable(Box::new(ImportTable {
        bucket: source.text("S3Bucket").unwrap_or_default().to_string(),
        prefix: source.text("S3KeyPrefix").map(str::to_string),
        format,
        csv_delimiter,
        csv_header,
        compression: members.take_text("InputCompressionType").filter(|word| word != "NONE"),
        token: members.take_text("ClientToken"),
        create: tables::definition(creation)?,
        echo,
    })))
}
