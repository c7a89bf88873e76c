//! Reads end to end on the naive store: statements in, rows (or the error) out, as text.

mod harness;

#[path = "reads/aggregates.rs"]
mod aggregates;
#[path = "reads/bucket_groups.rs"]
mod bucket_groups;
#[path = "reads/buckets.rs"]
mod buckets;
#[path = "reads/errors.rs"]
mod errors;
#[path = "reads/explain.rs"]
mod explain;
#[path = "reads/filtering.rs"]
mod filtering;
#[path = "reads/functions.rs"]
mod functions;
#[path = "reads/keys_and_slices.rs"]
mod keys_and_slices;
#[path = "reads/nearest.rs"]
mod nearest;
#[path = "reads/paging.rs"]
mod paging;
#[path = "reads/properties.rs"]
mod properties;
#[path = "reads/rebucketing.rs"]
mod rebucketing;
#[path = "reads/selectors.rs"]
mod selectors;
#[path = "reads/user_functions.rs"]
mod user_functions;
