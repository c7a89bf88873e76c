//! Words for conditional writes.

use query::fault::ConditionFault;

pub fn words(fault: &ConditionFault) -> String {
    let writes = |deletes: bool| if deletes { "deletions" } else { "updates" };
    match fault {
        ConditionFault::EmptyBatch => "A conditional batch needs at least one statement".into(),
        ConditionFault::SeveralTables => "Batch with conditions cannot span multiple tables".into(),
        ConditionFault::SeveralPartitions => "Batch with conditions cannot span multiple partitions".into(),
        ConditionFault::SeveralKeys { deletes } => {
            format!("IN on the partition key is not supported with conditional {}", writes(*deletes))
        }
        ConditionFault::SeveralRows { deletes } => {
            format!("IN on the clustering key columns is not supported with conditional {}", writes(*deletes))
        }
        ConditionFault::RangeOfRows => {
            "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF conditions".into()
        }
        ConditionFault::ExistsAndNotExists => {
            "Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row".into()
        }
        ConditionFault::ValuesAndExistence { exists: true } => {
            "Cannot mix IF conditions and IF EXISTS for the same row".into()
        }
        ConditionFault::ValuesAndExistence { exists: false } => {
            "Cannot mix IF conditions and IF NOT EXISTS for the same row".into()
        }
        ConditionFault::NegativeListIndex { index } => format!("Invalid negative list index {index}"),
        ConditionFault::SeveralBuckets => {
            "A deletion over several buckets cannot be part of a conditional batch".into()
        }
    }
}
