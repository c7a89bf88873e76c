//! Capacity units: how much of a table's throughput an operation counts for, in halves.

/// Reads are counted in blocks of this …
const READ_BLOCK: usize = 4096;
/// … and writes in blocks of this.
const WRITE_BLOCK: usize = 1024;

/// How a read is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    Eventual,
    Strong,
    Transaction,
}

impl Consistency {
    fn factor(self) -> f64 {
        match self {
            Consistency::Eventual => 0.5,
            Consistency::Strong => 1.0,
            Consistency::Transaction => 2.0,
        }
    }
}

/// One item read by key, or the sum of what a page of Query or Scan looked at: at least one block.
pub fn read(bytes: usize, consistency: Consistency) -> f64 {
    bytes.div_ceil(READ_BLOCK).max(1) as f64 * consistency.factor()
}

/// One item written: the larger of what was there and what is now; at least one block.
pub fn write(old: usize, new: usize) -> f64 {
    old.max(new).div_ceil(WRITE_BLOCK).max(1) as f64
}

/// An entry of an index, by the sizes of its projected images; `moved` says that its key changed.
pub fn index_write(old: Option<usize>, new: Option<usize>, change: IndexChange) -> f64 {
    match (old, new, change) {
        (_, _, IndexChange::Unchanged) | (None, None, _) => 0.0,
        (Some(old), Some(new), IndexChange::Moved) => write(old, 0) + write(0, new),
        (old, new, _) => write(old.unwrap_or(0), new.unwrap_or(0)),
    }
}

/// What a write did to an index entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// Nothing that the index holds changed: costs nothing and is not listed.
    Unchanged,
    /// Inserted, removed, or changed in place.
    Changed,
    /// Another key: the old entry goes and a new one comes.
    Moved,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(read(0, Consistency::Eventual), 0.5);
        assert_eq!(read(4096, Consistency::Strong), 1.0);
        assert_eq!(read(4097, Consistency::Eventual), 1.0);
        assert_eq!(read(4097, Consistency::Transaction), 4.0);
        assert_eq!(write(0, 0), 1.0);
        assert_eq!(write(1025, 3), 2.0);
        assert_eq!(index_write(Some(10), Some(10), IndexChange::Unchanged), 0.0);
        assert_eq!(index_write(Some(10), Some(2000), IndexChange::Moved), 3.0);
        assert_eq!(index_write(Some(10), Some(2000), IndexChange::Changed), 2.0);
        assert_eq!(index_write(None, Some(10), IndexChange::Changed), 1.0);
    }
}
