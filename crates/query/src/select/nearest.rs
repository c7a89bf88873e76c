//! ORDER BY ... ANN OF: the rows whose vectors are most similar, found by looking at every vector.
//!
//! Nothing is approximated, so the cost is that of a scan. The column's index says which similarity counts,
//! otherwise it is the cosine, Cassandra's default; rows without a vector are never near.

use crate::error::QueryError;
use crate::expr::Expr;
use crate::fault::ReadFault;
use crate::function::{cosine, dot_product, euclidean, floats};

/// The order by similarity of a plan.
#[derive(Clone, Debug)]
pub struct Ann {
    /// The input that holds the vector.
    pub slot: usize,
    /// What vectors are compared with.
    pub target: Expr,
    pub similarity: Similarity,
}

/// How similar two vectors are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Similarity {
    #[default]
    Cosine,
    DotProduct,
    Euclidean,
}

impl Similarity {
    /// As an index has it among its options, in any case.
    pub fn named(name: &str) -> Option<Similarity> {
        match name.to_ascii_lowercase().as_str() {
            "cosine" => Some(Similarity::Cosine),
            "dot_product" => Some(Similarity::DotProduct),
            "euclidean" => Some(Similarity::Euclidean),
            _ => None,
        }
    }

    fn of(self, left: &[f32], right: &[f32]) -> f32 {
        match self {
            Similarity::Cosine => cosine(left, right),
            Similarity::DotProduct => dot_product(left, right),
            Similarity::Euclidean => euclidean(left, right),
        }
    }
}

/// The most similar rows so far.
pub struct Nearest {
    pub slot: usize,
    target: Vec<f32>,
    similarity: Similarity,
    wanted: usize,
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
        self.similarity.of(&self.target, &floats(vector))
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
