//! A front end before nodes that a test controls, and before a real server of ours.

mod bench;
mod embedded;
mod fake;
mod faults;
mod forwarding;
mod mirror;
mod safety;
