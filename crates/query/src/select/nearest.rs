//! ORDER BY ... ANN OF: the rows whose vectors are most similar, of all that are read.
//!
//! Which are read is not decided here: all that the statement may look at (then the answer is exact, and costs a scan), or those that an
//! index leads to (see `through/near.rs`). Similarity is what the column's index says, else the cosine, as Cassandra's default; rows
//! without a vector are never near, and one of which the similarity is no number comes last.

use crate::error::QueryError;
use crate::expr::Expr;
use crate::fault::ReadFault;
use model::lists::Lists;
use model::vector::{Similarity, floats};
use std::sync::Arc;
use store::IndexConfig;

/// The order by similarity of a plan.
#[derive(Clone, Debug)]
pub struct Ann {
    /// The input that holds the vector.
    pub slot: usize,
    /// What vectors are compared with.
    pub target: Expr,
    pub similarity: Similarity,
    /// An index whose lists say which rows are near. `None`: all are compared.
    pub near: Option<NearPath>,
}

/// An index on the vector.
#[derive(Clone, Debug)]
pub struct NearPath {
    pub name: Arc<str>,
    pub config: IndexConfig,
    pub lists: Arc<Lists>,
    /// It was made to find more, rather than to be fast.
    pub thorough: bool,
}

/// A search begins with the nearest eighth of the lists, and with this many at least. So few because entries have codes: only the best of
/// what is read costs a look at its row.
const PART_OF_LISTS: usize = 8;
const LISTS_MIN: usize = 8;

impl NearPath {
    /// How many lists a search looks into at first.
    pub fn lists_first(&self) -> usize {
        let usual = (self.lists.count() / PART_OF_LISTS).max(LISTS_MIN);
        if self.thorough { 2 * usual } else { usual }.min(self.lists.count())
    }
}

/// The most similar rows so far.
pub struct Nearest {
    pub slot: usize,
    pub(super) target: Vec<f32>,
    similarity: Similarity,
    pub(super) wanted: usize,
    /// Similarity, order of arrival, encoded row.
    rows: Vec<(f32, u64, Vec<u8>)>,
    arrived: u64,
    /// Of the rows.
    bytes: usize,
}

/// Most bytes of rows that are kept while the most similar are looked for.
const KEPT_BYTES_MAX: usize = 64 << 20;

impl Nearest {
    pub fn new(ann: &Ann, target: &[u8], wanted: u64) -> Nearest {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let (slot, similarity) = (ann.slot, ann.similarity);
        Nearest { slot, target: floats(target), similarity, wanted, rows: Vec::new(), arrived: 0, bytes: 0 }
    }

    /// How similar a vector is to the target.
    pub fn similarity(&self, vector: &[u8]) -> f32 {
        self.similarity_of(&floats(vector))
    }

    pub(super) fn similarity_of(&self, vector: &[f32]) -> f32 {
        let similarity = self.similarity.of(&self.target, vector);
        if similarity.is_nan() { f32::NEG_INFINITY } else { similarity }
    }

    /// Whether as many rows as are wanted were near enough to be kept.
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= self.wanted
    }

    /// Forgets every row: they will all come again.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }

    /// Keeps a row for now. Refused when those that are kept are too large together.
    pub fn add(&mut self, similarity: f32, row: Vec<u8>) -> Result<(), QueryError> {
        self.bytes += row.len();
        self.rows.push((similarity, self.arrived, row));
        self.arrived += 1;
        // Twice the wanted rows are kept before the worst are dropped: sorting stays cheap.
        if self.rows.len() >= self.wanted.saturating_mul(2).max(64) {
            self.drop_worst();
        }
        if self.bytes > KEPT_BYTES_MAX {
            self.drop_worst();
        }
        if self.bytes > KEPT_BYTES_MAX {
            return Err(ReadFault::NearestTooLarge { bytes_max: KEPT_BYTES_MAX }.into());
        }
        Ok(())
    }

    /// Of the rows that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn drop_worst(&mut self) {
        self.rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.rows.truncate(self.wanted);
        self.bytes = self.rows.iter().map(|(_, _, row)| row.len()).sum();
    }

    /// The rows, most similar first.
    pub fn finish(mut self) -> Vec<Vec<u8>> {
        self.drop_worst();
        self.rows.into_iter().map(|(_, _, row)| row).collect()
    }
}
