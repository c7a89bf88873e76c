//! The block cache. Under construction.

pub struct BlockCache {}
