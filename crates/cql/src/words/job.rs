//! Words for jobs, checks of copies, and schemas that could not be used again.

use query::fault::JobFault;

pub fn words(fault: &JobFault) -> String {
    match fault {
        JobFault::Unknown { id } => format!("There is no job {id}; system_views.jobs lists them"),
        JobFault::Disobedient { id, why } => format!("Job {id} cannot do that: {why}"),
        JobFault::Cancelled { id } => format!("Job {id} was cancelled"),
        JobFault::Unfinished => "the table of an index was not read to its end".into(),
        JobFault::Differs { key } => {
            let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
            format!(
                "a row of the partition 0x{hex} is not the same in the new buckets; the table stays as it is"
            )
        }
        JobFault::Dropped { target } => format!("{target} was dropped while it was checked"),
        JobFault::NoCopy { keyspace, name } => {
            format!("There is no index, view or projection {keyspace}.{name}")
        }
        JobFault::NotBuilt { keyspace, name } => format!(
            "{keyspace}.{name} is not built yet, so there is nothing to compare; system_views.jobs shows how far it is"
        ),
        JobFault::Drifted { missing, extra, stale } => format!(
            "the filled projection is not its definition: {missing} rows missing, {extra} extra, {stale} stale; it is filled again. If this comes \
             back, drop it"
        ),
        JobFault::Unkeepable { keyspace, name, why } => {
            format!("The materialized view {keyspace}.{name} cannot be kept: {why}")
        }
        JobFault::Unopenable { what } => {
            format!("this change would make a schema that cannot be opened again: {what}")
        }
    }
}
