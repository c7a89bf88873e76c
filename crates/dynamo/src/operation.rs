//! The 66 operations by name, and the target header that names them.

macro_rules! operations {
    ($($name:ident),* $(,)?) => {
        /// An operation of the API (the last four are those of streams).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Operation { $($name),* }

        impl Operation {
            pub const ALL: &[Operation] = &[$(Operation::$name),*];

            pub fn name(self) -> &'static str {
                match self { $(Operation::$name => stringify!($name)),* }
            }

            fn of_name(name: &str) -> Option<Operation> {
                match name { $(stringify!($name) => Some(Operation::$name),)* _ => None }
            }
        }
    };
}

operations! {
    BatchExecuteStatement, BatchGetItem, BatchWriteItem, CancelBulkOperation, CreateBackup, CreateGlobalTable,
    CreateTable, DeleteBackup, DeleteItem, DeleteResourcePolicy, DeleteTable, DescribeBackup, DescribeBulkOperation,
    DescribeContinuousBackups, DescribeContributorInsights, DescribeEndpoints, DescribeExport, DescribeGlobalTable,
    DescribeGlobalTableSettings, DescribeImport, DescribeKinesisStreamingDestination, DescribeLimits, DescribeTable,
    DescribeTableReplicaAutoScaling, DescribeTimeToLive, DisableKinesisStreamingDestination,
    EnableKinesisStreamingDestination, ExecuteStatement, ExecuteTransaction, ExportTableToPointInTime, GetItem,
    GetResourcePolicy, ImportTable, ListBackups, ListBulkOperations, ListContributorInsights, ListExports,
    ListGlobalTables, ListImports, ListTables, ListTagsOfResource, PutItem, PutResourcePolicy, Query,
    RestoreTableFromBackup, RestoreTableToPointInTime, Scan, SearchVectors, StartBulkPutItems, TagResource,
    TransactGetItems, TransactWriteItems, UntagResource, UpdateContinuousBackups, UpdateContributorInsights,
    UpdateGlobalTable, UpdateGlobalTableSettings, UpdateItem, UpdateKinesisStreamingDestination, UpdateTable,
    UpdateTableReplicaAutoScaling, UpdateTimeToLive,
    DescribeStream, GetRecords, GetShardIterator, ListStreams,
}

impl Operation {
    /// Is it one of DynamoDB Streams?
    pub fn is_of_streams(self) -> bool {
        self >= Operation::DescribeStream
    }

    /// Reads the header `X-Amz-Target`.
    pub fn of_target(target: &str) -> Option<Operation> {
        let (service, name) = target.split_once('.')?;
        let operation = Operation::of_name(name)?;
        let expected =
            if operation.is_of_streams() { "DynamoDBStreams_20120810" } else { "DynamoDB_20120810" };
        (service == expected).then_some(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        assert_eq!(Operation::ALL.len(), 66);
        assert_eq!(Operation::of_target("DynamoDB_20120810.PutItem"), Some(Operation::PutItem));
        assert_eq!(Operation::of_target("DynamoDBStreams_20120810.GetRecords"), Some(Operation::GetRecords));
        for wrong in [
            "DynamoDB_20120810.GetRecords",
            "DynamoDB_20120810.putItem",
            "PutItem",
            "",
            "DynamoDB_20111205.PutItem",
        ] {
            assert_eq!(Operation::of_target(wrong), None, "{wrong}");
        }
    }
}
