//! The four operations of DynamoDB Streams.

use super::{Context, DescribeStream, GetRecords, GetShardIterator, IteratorStart, ListStreams, Request};
use crate::error::ApiError;
use crate::messages::Rule;
use crate::operation::Operation;
use crate::shape::Members;

const STREAMS_MAX: i64 = 100;
const RECORDS_MAX: i64 = 1000;

pub(super) fn parse(context: &Context, mut members: Members<'_>) -> Result<Request, ApiError> {
    context.constraints(&members, &[])?;
    let limit = members.integer("Limit");
    let streams = matches!(context.operation, Operation::ListStreams | Operation::DescribeStream);
    if streams && limit.is_some_and(|limit| limit > STREAMS_MAX) {
        return Err(Rule::StreamsLimit.refuse(&[&STREAMS_MAX.to_string()]));
    }
    match context.operation {
        Operation::ListStreams => Ok(Request::ListStreams(ListStreams {
            table: members.take_text("TableName"),
            limit: limit.unwrap_or(STREAMS_MAX).min(STREAMS_MAX) as usize,
            start: members.take_text("ExclusiveStartStreamArn"),
        })),
        Operation::DescribeStream => Ok(Request::DescribeStream(DescribeStream {
            arn: members.take_text("StreamArn").unwrap_or_default(),
            limit: limit.unwrap_or(STREAMS_MAX).min(STREAMS_MAX) as usize,
            start_shard: members.take_text("ExclusiveStartShardId"),
            children_of: members
                .structure("ShardFilter")
                .filter(|filter| filter.text("Type") == Some("CHILD_SHARDS"))
                .and_then(|filter| filter.text("ShardId").map(str::to_string)),
        })),
        Operation::GetShardIterator => iterator(members),
        _ => {
            let limit = limit.unwrap_or(RECORDS_MAX);
            if limit > RECORDS_MAX {
                return Err(Rule::RecordsLimit.refuse(&[]));
            }
            let iterator = members.take_text("ShardIterator").unwrap_or_default();
            Ok(Request::GetRecords(GetRecords { iterator, limit: limit as usize }))
        }
    }
}

fn iterator(mut members: Members<'_>) -> Result<Request, ApiError> {
    let sequence = members.text("SequenceNumber");
    let timestamp = members.double("Timestamp");
    let word = members.text("ShardIteratorType").unwrap_or_default();
    let by_sequence = matches!(word, "AT_SEQUENCE_NUMBER" | "AFTER_SEQUENCE_NUMBER");
    if sequence.is_some() && !by_sequence {
        return Err(Rule::SequenceNotWanted.refuse(&[]));
    }
    if timestamp.is_some() && word != "AT_TIMESTAMP" {
        return Err(Rule::TimestampNotWanted.refuse(&[]));
    }
    let number = || -> Result<u128, ApiError> {
        let text = sequence.ok_or_else(|| Rule::SequenceMissing.refuse(&[]))?;
        text.parse().map_err(|_| Rule::SequenceInvalid.refuse(&[]))
    };
    let start = match word {
        "LATEST" => IteratorStart::Latest,
        "AT_SEQUENCE_NUMBER" => IteratorStart::At(number()?),
        "AFTER_SEQUENCE_NUMBER" => IteratorStart::After(number()?),
        "AT_TIMESTAMP" => {
            let seconds = timestamp.ok_or_else(|| Rule::TimestampMissing.refuse(&[]))?;
            IteratorStart::AtTimestamp((seconds * 1000.0) as i64)
        }
        _ => IteratorStart::TrimHorizon,
    };
    Ok(Request::GetShardIterator(GetShardIterator {
        arn: members.take_text("StreamArn").unwrap_or_default(),
        shard: members.take_text("ShardId").unwrap_or_default(),
        start,
    }))
}
