//! Words for restrictions that name too many rows, or none.

use query::fault::RestrictionFault;

pub fn words(fault: &RestrictionFault) -> String {
    match fault {
        RestrictionFault::TooManyCombinations { columns, combinations, most } => format!(
            "Guardrail in_select_cartesian_product violated: Aborting query because the cartesian product of the IN restrictions on \
             {} produces {combinations} values, this exceeds fail threshold of {most}. Name fewer keys, or send several statements",
            columns.join(", ")
        ),
        RestrictionFault::KeysTooLarge { bytes, bytes_max } => format!(
            "The IN relations make keys of {bytes} bytes together, the limit is {bytes_max}. Name fewer keys, or send several \
             statements"
        ),
        RestrictionFault::PartitionKeyMissing { columns } => {
            format!("Some partition key parts are missing: {}", columns.join(", "))
        }
        RestrictionFault::EmptyToken => "Invalid empty value for the partition key token".into(),
        RestrictionFault::LimitNotPositive => "LIMIT must be strictly positive".into(),
        RestrictionFault::LimitMalformed => "Invalid limit value".into(),
        RestrictionFault::NearestWithoutLimit { limit, most } => {
            let limit = limit.map_or("NO LIMIT".to_string(), |limit| limit.to_string());
            format!(
                "Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than {most}. LIMIT was {limit}"
            )
        }
    }
}
