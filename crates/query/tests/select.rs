//! Read plans on stores made for tests.

#[path = "select/allocations.rs"]
mod allocations;
#[path = "select/fixture.rs"]
mod fixture;
#[path = "select/indexed.rs"]
mod indexed;
#[path = "select/indexed_data.rs"]
mod indexed_data;
#[path = "select/limits.rs"]
mod limits;
#[path = "select/pausing.rs"]
mod pausing;
#[path = "select/turns.rs"]
mod turns;
