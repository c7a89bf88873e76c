//! Words: buckets, retention and spilling.

use schema::fault::BucketingFault;

const FORMS: &str = "use {'by': 'event_time', 'every': '1d'} for time buckets, {'by': 'task_id', 'into': 16} for hash buckets, \
     {'by': 'event_time', 'every': '1d', 'hash': 'task_id', 'into': 16} for both; time buckets that grow too large go on in finer \
     ones with 'spill': '1h', 'at': '50MB'";

const SPILL_FORM: &str = "use {'by': 'event_time', 'every': 'month', 'spill': '1d', 'at': '50MB'}";

pub fn bucketing(fault: &BucketingFault) -> String {
    match fault {
        BucketingFault::HasView { table, view } => format!("The buckets of {table} cannot be changed while {view} is made of it: a view has every key column of its table, and these change. Drop the view, and create it again when the rows have moved"),
        BucketingFault::IndexUnbuilt { index } => format!("The index {index} is still being built; change the buckets when it is complete"),
        BucketingFault::RetentionLost => "The table has a retention, which drops whole time buckets, and the new plan has none. Say ALTER TABLE … WITH retention = '0' first, or use default_time_to_live".into(),
        BucketingFault::UnderWay { table, job } => format!("The buckets of {table} are being changed by job {job}; wait until it is done (system_views.jobs), or CANCEL JOB {job}"),
        BucketingFault::NameTaken { column, job } => format!("{column} will be a bucket column when job {job} is done; choose another name, or CANCEL JOB {job}"),
        BucketingFault::RetentionAlone => "retention drops whole time buckets, and this table has none. Add bucketing = {'by': …, 'every': '1d'}, or use default_time_to_live, which expires rows one by one".into(),
        BucketingFault::Unknown { name } => format!("bucketing: '{name}' is unknown; {FORMS}"),
        BucketingFault::NoBy => format!("bucketing: 'by' is missing; {FORMS}"),
        BucketingFault::Every { text } => format!("bucketing: 'every' is '{text}'; it can be a number with m (minutes), h, d, w, mo (months) or y, from 1m to 10y, or a word: 'hour', 'day', 'week', 'month', 'year'"),
        BucketingFault::NoTime { column } => format!("bucketing: time buckets are made of a timestamp, a timeuuid or a date; {column} is none"),
        BucketingFault::HashWithoutInto => format!("bucketing: 'hash' needs 'into', the number of buckets; {FORMS}"),
        BucketingFault::Into { text, most } => format!("bucketing: 'into' is {text}; it can be 2 to {most}. Every read of an entity merges that many partitions, so few are better"),
        BucketingFault::HashWithoutEvery => format!("bucketing: 'hash' is for time buckets that are divided; without 'every' say 'by'; {FORMS}"),
        BucketingFault::NoBuckets => format!("bucketing: 'every' or 'into' is missing; {FORMS}"),
        BucketingFault::InPartitionKey { column } => format!("bucketing: {column} is in the partition key, so all rows of a partition have the same {column} and would be in one bucket. Make it a clustering column: the bucket joins the partition key by itself"),
        BucketingFault::ColumnTaken { column, found, data_type } => format!("bucketing: the table has a column {column} ({found}) of its own. Leave it out: the bucket column ({column} {data_type}) is added as the last of the partition key; or call the bucket something else with 'column'"),
        BucketingFault::OfCompact => "bucketing: a table WITH COMPACT STORAGE has its form since before there were buckets; leave COMPACT STORAGE out".into(),
        BucketingFault::StaticColumn { column } => format!("bucketing: {column} is static, and a static column belongs to one partition, while the rows of an entity are in many. Keep it in a table of its own with the same partition key"),
        BucketingFault::RetentionWithoutTime => "retention drops whole time buckets, and this table has none; use default_time_to_live, which expires rows one by one".into(),
        BucketingFault::RetentionMalformed { text } => format!("retention: '{text}' is no length of time; use '90d', '12mo' or '2y'"),
        BucketingFault::RetentionTooShort { text, every } => format!("retention: '{text}' is shorter than a bucket ('every' is {every}). Whole buckets are dropped, so make the buckets smaller"),
        BucketingFault::OfView => "bucketing and retention are properties of tables. A view can have the bucket column of its base in its own key".into(),
        BucketingFault::AtWithoutSpill => format!("bucketing: 'at' says when a bucket continues in finer ones, and 'spill', their length, is missing; {SPILL_FORM}"),
        BucketingFault::SpillWithoutTime => format!("bucketing: 'spill' divides time buckets, and this plan has none ('every' is missing); {SPILL_FORM}"),
        BucketingFault::SpillMalformed { text } => format!("bucketing: 'spill' is '{text}', which is no length of a bucket; {SPILL_FORM}"),
        BucketingFault::SpillNotFirst { first } => format!("bucketing: 'spill' needs the time to be the first clustering column, and that is {first}: the newest row of a bucket must be found at once; {SPILL_FORM}"),
        BucketingFault::SpillLength { spill, every, most } => format!("bucketing: 'spill' is {every} and 'every' is {spill}; it must be shorter, and at most {most} of the finer buckets may be in one; {SPILL_FORM}"),
        BucketingFault::AtMalformed { text } => format!("bucketing: 'at' is '{text}', which is no size; {SPILL_FORM}"),
        BucketingFault::LimitSpills => "partition_limit: the action 'spill' needs time buckets that say how long the finer ones are: WITH bucketing = {'by': 'event_time', 'every': 'month', 'spill': '1d'}. Or let the limit warn or refuse".into(),
        BucketingFault::Extension { name, text } => format!("bucketing: the extension {name} holds {text}; {FORMS}"),
        BucketingFault::NotInKey { column } => format!("bucketing: {column} is not in the PRIMARY KEY. The bucket of a row must follow from its key, else an UPDATE could not find the row"),
        BucketingFault::NoColumn { column } => format!("bucketing: there is no column {column}"),
    }
}
