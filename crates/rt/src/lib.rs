//! Shard threads, mail, files, clock and randomness: the only crate that touches the outside world.
//!
//! Everything above speaks to the disk through [`Disk`] and [`DiskFile`], to time through [`Clock`] and to
//! other shards through [`mail`], so that tests can replace each of them: [`SimDisk`] crashes at any chosen
//! input or output, [`ManualClock`] stands still until it is told to move, [`Random`] repeats from its seed.

pub mod clock;
pub mod disk;
pub mod mail;
pub mod random;
pub mod shards;

pub use clock::{Clock, ManualClock, SystemClock};
pub use disk::real::RealDisk;
pub use disk::sim::{CrashImage, Fault, SimDisk};
pub use disk::{Disk, DiskFile, DiskLock, LockError};
pub use mail::{Inbox, Mail, mail};
pub use random::Random;
pub use shards::ShardThreads;
