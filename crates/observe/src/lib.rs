//! What the layers above count: counters, histograms, and which partitions are hot. No clock, no thread, no I/O.
//!
//! [`metrics!`] declares a group of counters with the name and the help text that the metrics page shows beside each, so
//! that a new one is one line in one place. Counting is a relaxed atomic add, reading may happen on any thread.

mod counter;
mod growth;
mod histogram;
mod hot;
mod size;
mod windows;

pub use counter::{Counter, Kind, Reading, Sample};
pub use growth::{DAY_MILLIS, Growth, Samples, WEEK_MILLIS};
pub use histogram::{Histogram, Snapshot};
pub use hot::{HEAT_RANGES, Heat, HotKey, HotKeys, KEY_BYTES_MAX, Load, Slot, range_of};
pub use size::{LargePartition, Spread, TableSize};
pub use windows::{SLOT_MILLIS, Window, Windows};

/// Declares a struct of counters, levels and histograms, and how to read them all.
///
/// ```
/// observe::metrics! {
///     /// What a mill counts.
///     pub struct Mill {
///         /// Sacks, not kilograms.
///         pub sacks: counter("mill_sacks_total", "Sacks ground"),
///         pub waiting: level("mill_waiting", "Carts that wait"),
///         pub loads: histogram("mill_load_sacks", "Sacks per cart"),
///     }
/// }
/// let mill = Mill::default();
/// mill.sacks.add(3);
/// mill.loads.record(3);
/// let samples = mill.samples();
/// assert_eq!((samples[0].name, samples[0].reading.number()), ("mill_sacks_total", Some(3)));
/// assert_eq!(samples.len(), 3);
/// ```
#[macro_export]
macro_rules! metrics {
    ($(#[$about:meta])* $seen:vis struct $name:ident {
        $($(#[$doc:meta])* $field_seen:vis $field:ident: $kind:ident($shown:literal, $help:literal),)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        $seen struct $name {
            $($(#[$doc])* $field_seen $field: $crate::metrics!(@type $kind),)*
        }

        impl $name {
            /// Everything that is counted here, as of now, in the order of declaration.
            pub fn samples(&self) -> Vec<$crate::Sample> {
                vec![$($crate::Sample {
                    name: $shown,
                    help: $help,
                    kind: $crate::metrics!(@kind $kind),
                    reading: self.$field.reading(),
                }),*]
            }
        }
    };
    (@type counter) => { $crate::Counter };
    (@type level) => { $crate::Counter };
    (@type histogram) => { $crate::Histogram };
    (@kind counter) => { $crate::Kind::Counter };
    (@kind level) => { $crate::Kind::Level };
    (@kind histogram) => { $crate::Kind::Histogram };
}
