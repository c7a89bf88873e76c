//! The catalogue: keyspaces, tables, types, roles; immutable snapshots and versioned changes.
