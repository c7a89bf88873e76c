//! Read plans on stores made for tests.

#[path = "select/allocations.rs"]
mod allocations;
#[path = "select/fixture.rs"]
mod fixture;
#[path = "select/limits.rs"]
mod limits;
#[path = "select/pausing.rs"]
mod pausing;
