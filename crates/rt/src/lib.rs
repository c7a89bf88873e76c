//! Shard threads, mail, files, clock and randomness: the only crate that touches the outside world.
//!
//! Everything above speaks to the disk through [`Disk`] and [`DiskFile`], to time through [`Clock`] and to
//! other shards through [`Mail`], so that tests can replace each of them: [`SimDisk`] crashes at any chosen
//! input or output, [`ManualClock`] stands still until it is told to move, [`Random`] repeats from its seed.

pub mod aside;
pub mod budget;
pub mod clock;
pub mod disk;
pub mod mail;
pub mod net;
pub mod random;
pub mod shards;

pub mod threads;
pub mod turn;

pub use aside::aside;
pub use budget::{Budget, Share};
pub use clock::{Clock, ManualClock, SystemClock};
pub use disk::real::RealDisk;
pub use disk::sim::{CrashImage, Fault, SimDisk};
pub use disk::{Disk, DiskFile, DiskLock, LockError, may_pass};
pub use mail::{Inbox, Mail, mail};
pub use random::Random;
pub use shards::ShardThreads;
pub use threads::Moment;
