//! Words for writes and batches.

use query::fault::WriteFault;

pub fn words(fault: &WriteFault) -> String {
    match fault {
        WriteFault::CounterInLoggedBatch => "Cannot include a counter statement in a logged batch".into(),
        WriteFault::NoCounterInCounterBatch => {
            "Cannot include non-counter statement in a counter batch".into()
        }
        WriteFault::CountersAndOthers => {
            "Counter and non-counter mutations cannot exist in the same batch".into()
        }
        WriteFault::TwoTimestamps => "Timestamp must be set either on BATCH or individual statements".into(),
        WriteFault::TimestampOfConditionalBatch => {
            "Cannot provide custom timestamp for conditional BATCH".into()
        }
        WriteFault::TimestampOfCounterBatch => "Cannot provide custom timestamp for counter BATCH".into(),
        WriteFault::BatchTooLarge { bytes, partitions, bytes_max } => format!(
            "Batch too large: {bytes} bytes over {partitions} partitions, the limit is {bytes_max}. Split it, or write to one \
             partition per batch"
        ),
        WriteFault::TimestampOutOfBounds => {
            format!("Out of bound timestamp, must be in [{}, {}]", i64::MIN + 1, i64::MAX)
        }
        WriteFault::NegativeTtl { seconds } => {
            format!("A TTL must be greater or equal to 0, but was {seconds}")
        }
        WriteFault::LongTtl { seconds, seconds_max } => {
            format!("ttl is too large. requested ({seconds}) maximum ({seconds_max})")
        }
        WriteFault::CounterOverflow { delta } => {
            format!("The negation of {delta} overflows supported counter precision (signed 8 bytes integer)")
        }
        WriteFault::TooManyListOperations { count, most } => format!(
            "The request has {count} operations on lists by index or value, at most {most} are possible: each reads the list before \
             it writes. Write the whole list, or use a map"
        ),
        WriteFault::TooLarge { bytes_max } => format!(
            "The statement writes more than {bytes_max} bytes, which is the limit. Write fewer rows or smaller values at a time"
        ),
    }
}
