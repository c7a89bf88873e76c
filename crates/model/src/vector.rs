//! Vectors of floats, and how similar two of them are.

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

    pub fn of(self, left: &[f32], right: &[f32]) -> f32 {
        match self {
            Similarity::Cosine => cosine(left, right),
            Similarity::DotProduct => dot_product(left, right),
            Similarity::Euclidean => euclidean(left, right),
        }
    }
}

/// The numbers of a float vector in wire form.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_be_bytes(*b)).collect()
}

pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Cosine, moved to 0..1 as the index does it.
pub fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let norm = (dot(left, left) as f64 * dot(right, right) as f64).sqrt();
    (1.0 + (dot(left, right) as f64 / norm) as f32) / 2.0
}

pub fn euclidean(left: &[f32], right: &[f32]) -> f32 {
    let squares: f32 = left.iter().zip(right).map(|(a, b)| (a - b) * (a - b)).sum();
    1.0 / (1.0 + squares)
}

pub fn dot_product(left: &[f32], right: &[f32]) -> f32 {
    (1.0 + dot(left, right)) / 2.0
}
