//! Compaction. Under construction.
