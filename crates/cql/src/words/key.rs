//! Words for keys that cannot be.

use query::fault::KeyFault;

pub fn words(fault: &KeyFault) -> String {
    match fault {
        KeyFault::Empty => "Key may not be empty".into(),
        KeyFault::TooLong { bytes, bytes_max } => {
            format!("Key length of {bytes} is longer than maximum of {bytes_max}")
        }
        KeyFault::MalformedPartition => "Malformed partition key".into(),
        KeyFault::MalformedClustering => "Malformed clustering key".into(),
        KeyFault::SoughtTooLong => "Index expression values may not be larger than 64K".into(),
        KeyFault::NotIndexable { bytes, bytes_max, index, keyspace, table, column } => format!(
            "Cannot index value of size {bytes} for index {index} on {keyspace}.{table}({column}) (maximum allowed size={bytes_max})"
        ),
    }
}
