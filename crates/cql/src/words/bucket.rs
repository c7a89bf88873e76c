//! Words for tables with bucketing.

use query::fault::BucketFault;

pub fn words(fault: &BucketFault) -> String {
    match fault {
        BucketFault::NotBucketed => "The table has no buckets".into(),
        BucketFault::NoBucket { column } => {
            format!("{column} is empty or too far from our time: it has no bucket")
        }
        BucketFault::OtherBucket { column, given, own } => {
            format!("{column} is {given}, but the row belongs to {own}. Leave {column} out: it is computed")
        }
        BucketFault::Expired { keyspace, table, bucket, oldest } => format!(
            "The row belongs to the bucket {bucket} of {keyspace}.{table}, which is kept no longer: its retention ends at {oldest}"
        ),
        BucketFault::TooManyPartitions { found, most } => format!(
            "The statement would read {found} partitions, at most {most} are possible: restrict the column that the buckets are made \
             of, or the clustering columns before it"
        ),
        BucketFault::Changed => {
            "The buckets of the table were changed since the first page, and this read is in the order of its partitions: begin it anew"
                .into()
        }
    }
}
