//! Words: options of tables and keyspaces.

use schema::fault::{LimitFault, OptionFault, PropertyFault, TenantFault};
use schema::java_double;

const LIMIT_USAGE: &str = "use partition_limit = {'bytes': '100MB', 'rows': 1000000, 'warn': 0.8, 'action': 'warn' | 'refuse' | 'spill'}, with \
                     'bytes', 'rows' or both";

const TENANT_USAGE: &str = "use tenant_limits = {'requests_per_second': '100', 'bytes_per_second': '1MB', \
                     'acme.requests_per_second': '5000', 'acme.bytes_per_second': 'unlimited'}";

pub fn property(fault: &PropertyFault) -> String {
    match fault {
        PropertyFault::Twice { name } => format!("Multiple definitions for property '{name}'"),
        PropertyFault::Unknown { name } => format!("Unknown property '{name}'"),
        PropertyFault::NotAString { name } => {
            format!("Invalid value for property '{name}'. It should be a string")
        }
        PropertyFault::NotAMap { name } => {
            format!("Invalid value for property '{name}'. It should be a map.")
        }
        PropertyFault::NotAnInteger { text, name } => format!("Invalid integer value {text} for '{name}'"),
        PropertyFault::NotADouble { text, name } => format!("Invalid double value {text} for '{name}'"),
        PropertyFault::NotABoolean { text, name } => format!(
            "Invalid boolean value {text} for '{name}'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'."
        ),
    }
}

pub fn option(fault: &OptionFault) -> String {
    match fault {
        OptionFault::Retry { text } => format!("Invalid value {text} for option 'speculative_retry'"),
        OptionFault::RetryOfOneKind { text, kind } => format!(
            "Invalid value {text} for option 'speculative_retry': MIN()/MAX() arguments should be of different types, but both are of type {kind}"
        ),
        OptionFault::RetryPercentile { text } => format!(
            "Invalid value {text} for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)"
        ),
        OptionFault::ReadRepair { text } => format!(
            "Invalid value {text} for option 'read_repair': must be one of the following [NONE, BLOCKING]"
        ),
        OptionFault::Memtable { text } => format!("Memtable configuration \"{text}\" not found."),
        OptionFault::TtlTooLong { seconds_max, seconds } => {
            format!("default_time_to_live must be less than or equal to {seconds_max} (got {seconds})")
        }
        OptionFault::BloomChance { least, chance } => format!(
            "bloom_filter_fp_chance must be larger than {least} and less than or equal to 1.0 (got {chance})",
            least = java_double(*least),
            chance = java_double(*chance)
        ),
        OptionFault::CrcChance { chance } => format!(
            "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {chance})",
            chance = java_double(*chance)
        ),
        OptionFault::IndexIntervals { least, most } => format!(
            "max_index_interval must be greater than or equal to min_index_interval ({least}) (got {most})"
        ),
        OptionFault::Below { option, least, value } => {
            format!("{option} must be greater than or equal to {least} (got {value})")
        }
        OptionFault::Review { text } => format!(
            "Invalid value {text} for option 'review': use 'enforce' (refuse what the review calls an error), 'warn' (the default) or 'off'"
        ),
        OptionFault::HoldTombstones { text } => format!(
            "Invalid value {text} for option 'hold_tombstones': say since which day they are held ('2026-11-19'), or '' to let them go"
        ),
        OptionFault::Patterns { text } => format!(
            "Invalid value {text} for option 'patterns': use 'enforce' (refuse statements of no declared access pattern), 'warn' or 'off' (the default)"
        ),
        OptionFault::CachingUnknown { names } => format!(
            "Invalid caching sub-options [{names}]: only 'keys' and 'rows_per_partition' are allowed",
            names = names.join(", ")
        ),
        OptionFault::CachingKeys { value } => format!(
            "Invalid value '{value}' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed"
        ),
        OptionFault::CachingRows { value } => format!(
            "Invalid value '{value}' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values are allowed"
        ),
    }
}

pub fn limit(fault: &LimitFault) -> String {
    match fault {
        LimitFault::UnknownSetting { name } => {
            format!("Unknown sub-option '{name}' for the 'partition_limit' option; {LIMIT_USAGE}")
        }
        LimitFault::NoLimit => format!("The 'partition_limit' option names no limit; {LIMIT_USAGE}"),
        LimitFault::Bytes { text } => {
            format!("Invalid value '{text}' for 'bytes' of the 'partition_limit' option; {LIMIT_USAGE}")
        }
        LimitFault::Rows { text } => {
            format!("Invalid value '{text}' for 'rows' of the 'partition_limit' option; {LIMIT_USAGE}")
        }
        LimitFault::Warn { text } => format!(
            "Invalid value '{text}' for 'warn' of the 'partition_limit' option: it is a share of the limit, above 0 and at most 1; {LIMIT_USAGE}"
        ),
        LimitFault::Action { text } => {
            format!("Invalid value '{text}' for 'action' of the 'partition_limit' option; {LIMIT_USAGE}")
        }
    }
}

pub fn tenant(fault: &TenantFault) -> String {
    match fault {
        TenantFault::TooManyLimits { entries, most } => {
            format!("tenant_limits has {entries} entries, and {most} are allowed; {TENANT_USAGE}")
        }
        TenantFault::UnknownLimit { name } => {
            format!("Unknown sub-option '{name}' for the 'tenant_limits' option; {TENANT_USAGE}")
        }
        TenantFault::Limit { value, name } => {
            format!("Invalid value '{value}' for '{name}' of the 'tenant_limits' option; {TENANT_USAGE}")
        }
        TenantFault::OfKeyspace { keyspace, tenant, wanted } => {
            format!("Keyspace {keyspace} has the tenant '{tenant}', so a table there cannot have '{wanted}'")
        }
        TenantFault::LimitsAlone { table } => format!(
            "tenant_limits of {table} need tenants: say WITH tenant = '<first partition key column>' as well"
        ),
        TenantFault::NotFirst { tenant, table, first } => format!(
            "The tenant '{tenant}' must be the first column of the partition key of {table}, which is '{first}': a partition belongs to one tenant. Declare PRIMARY KEY (({tenant}, …), …)"
        ),
        TenantFault::Type { tenant, table, data_type } => format!(
            "The tenant '{tenant}' of {table} has the type {data_type}: use text, ascii, an integer or a uuid, whose values have one form each"
        ),
        TenantFault::OfView { option } => format!("A view has the tenants of its table: say {option} there"),
    }
}
