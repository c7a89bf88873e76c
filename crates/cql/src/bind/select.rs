//! SELECT -> `query::select`.
