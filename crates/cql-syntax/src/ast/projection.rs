//! Our own statements about copies and the jobs that keep them: CHECK and REPAIR PROJECTION, orders to jobs.

use super::name::QualifiedName;
use super::property::Property;

/// `CHECK PROJECTION name` or `REPAIR PROJECTION name`: an index, a view or a projection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckProjection {
    /// What differs is mended, too.
    pub repair: bool,
    pub name: QualifiedName,
}

/// `PAUSE JOB id`, `RESUME JOB id`, `CANCEL JOB id`, `ALTER JOB id WITH ...`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderJob {
    pub id: u64,
    pub order: JobOrder,
}

/// What a job is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOrder {
    Pause,
    Resume,
    Cancel,
    /// Never empty.
    With(Vec<Property>),
}
