//! Lists of vectors that lie near each other: what an index on a vector is made of.
//!
//! A list is known by its centre, and a vector is in the list whose centre is nearest. So the vectors near a target are in the lists
//! near it, and a search need not look at the others. Centres are found once, from vectors that are there (*training*), and stay: which list
//! a vector is in never changes, so whoever removes an entry finds it where it was put.
//!
//! A *code* is a vector in a quarter of its room, a byte for each number: good enough to tell which vectors of a list are worth a look.
//!
//! Guarantees: what [`Lists::decode`] reads back puts every vector where the original put it, on any machine: sums are added in one
//! order. Bytes of any kind are read without a panic.

use crate::vector::{Similarity, dot, floats};

/// Vectors of more numbers are not put into lists: the code must fit into the key of an entry.
pub const DIMENSIONS_MAX: usize = 8192;

/// A table with fewer vectors gets no lists. Looking at all of them takes some milliseconds and is exact; a search by lists looks at a hundred
/// rows one by one, beside the entries of an eighth of the lists, and would save little more than half of that.
pub const VECTORS_MIN: u64 = 10_000;

/// Fewer lists than this save nothing, more are dear to choose from.
const LISTS_MIN: usize = 16;
const LISTS_MAX: usize = 1024;

/// What all centres may take in the catalogue.
const CENTRES_BYTES_MAX: usize = 256 << 10;

/// Vectors that a centre is made of.
const SAMPLES_FOR_LIST: usize = 32;

/// What the vectors may take that centres are made of.
const SAMPLE_BYTES_MAX: usize = 16 << 20;

/// How often centres are moved to the middle of their vectors. More changes little.
const ROUNDS: usize = 8;

/// Sums are added in so many lanes: in one order, and yet several at a time.
const LANES: usize = 8;

const VERSION: u8 = 1;

/// The centres of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Lists {
    similarity: Similarity,
    dimensions: usize,
    /// Vectors that there were when the centres were found.
    vectors: u64,
    /// One after the other.
    centres: Vec<f32>,
}

/// How many lists so many vectors are put into: about as many as each list then has vectors.
pub fn count_for(vectors: u64, dimensions: usize) -> usize {
    let root = usize::try_from(vectors.isqrt()).unwrap_or(LISTS_MAX);
    let fitting = CENTRES_BYTES_MAX / dimensions.max(1);
    root.clamp(LISTS_MIN, LISTS_MAX).min(fitting.max(LISTS_MIN))
}

/// How many vectors centres are found from at most.
pub fn samples_max(dimensions: usize) -> usize {
    (LISTS_MAX * SAMPLES_FOR_LIST).min(SAMPLE_BYTES_MAX / (4 * dimensions.max(1)))
}

impl Lists {
    /// Finds centres. `sample` are vectors in wire form, any of the table's; `vectors` is how many the table has. The same sample gives the
    /// same centres. `None`: there is nothing to learn from.
    pub fn train(
        similarity: Similarity,
        dimensions: usize,
        sample: &[Vec<u8>],
        vectors: u64,
    ) -> Option<Lists> {
        let points: Vec<Vec<f32>> = sample
            .iter()
            .map(|bytes| placed(similarity, floats(bytes)))
            .filter(|point| point.len() == dimensions && point.iter().all(|x| x.is_finite()))
            .collect();
        let count = count_for(vectors, dimensions).min(points.len());
        if count == 0 || dimensions == 0 || dimensions > DIMENSIONS_MAX {
            return None;
        }
        let first = (0..count).filter_map(|list| points.get(list * points.len() / count));
        let centres = first.flatten().copied().collect();
        let mut lists = Lists { similarity, dimensions, vectors, centres };
        for _ in 0..ROUNDS {
            lists.move_centres(&points);
        }
        // As everybody will read it.
        Lists::decode(&lists.encode())
    }

    /// Moves every centre to the middle of its points; one without points takes the place of a point of another.
    fn move_centres(&mut self, points: &[Vec<f32>]) {
        let mut sums = vec![0f64; self.centres.len()];
        let mut counts = vec![0u64; self.count()];
        for point in points {
            let list = self.nearest(point);
            counts[list] += 1;
            let sum = &mut sums[list * self.dimensions..(list + 1) * self.dimensions];
            sum.iter_mut().zip(point).for_each(|(sum, x)| *sum += f64::from(*x));
        }
        for (list, count) in counts.iter().enumerate() {
            let range = list * self.dimensions..(list + 1) * self.dimensions;
            let centre = &mut self.centres[range.clone()];
            match count {
                0 => centre.copy_from_slice(&points[(list * 7919 + 1) % points.len()]),
                _ => {
                    centre.iter_mut().zip(&sums[range]).for_each(|(x, sum)| *x = (sum / *count as f64) as f32)
                }
            }
        }
    }

    pub fn count(&self) -> usize {
        self.centres.len() / self.dimensions
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How many vectors the table had when the centres were found.
    pub fn vectors(&self) -> u64 {
        self.vectors
    }

    pub fn similarity(&self) -> Similarity {
        self.similarity
    }

    /// The list of a vector in wire form.
    pub fn list_of(&self, vector: &[u8]) -> usize {
        self.nearest(&placed(self.similarity, floats(vector)))
    }

    /// All lists, those first that are likely to have the most similar vectors.
    pub fn by_nearness(&self, target: &[f32]) -> Vec<usize> {
        let target = placed(self.similarity, target.to_vec());
        let far = |centre: &[f32]| match self.similarity {
            // The largest product is looked for, wherever it is.
            Similarity::DotProduct => -dot(centre, &target),
            Similarity::Cosine | Similarity::Euclidean => distance(centre, &target),
        };
        let centres = self.centres.chunks_exact(self.dimensions);
        let mut lists: Vec<(f32, usize)> = centres.map(far).zip(0..).collect();
        lists.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        lists.into_iter().map(|(_, list)| list).collect()
    }

    fn nearest(&self, point: &[f32]) -> usize {
        let mut best = (f32::INFINITY, 0);
        for (list, centre) in self.centres.chunks_exact(self.dimensions).enumerate() {
            let distance = distance(centre, point);
            if distance < best.0 {
                best = (distance, list);
            }
        }
        best.1
    }

    pub fn encode(&self) -> Vec<u8> {
        let similarity = match self.similarity {
            Similarity::Cosine => 0,
            Similarity::DotProduct => 1,
            Similarity::Euclidean => 2,
        };
        let mut out = vec![VERSION, similarity];
        out.extend_from_slice(&(self.dimensions as u16).to_be_bytes());
        out.extend_from_slice(&self.vectors.to_be_bytes());
        for centre in self.centres.chunks_exact(self.dimensions) {
            put_code(centre, &mut out);
        }
        out
    }

    /// `None`: these are no lists.
    pub fn decode(bytes: &[u8]) -> Option<Lists> {
        let (&[VERSION, similarity], rest) = bytes.split_first_chunk::<2>()? else { return None };
        let similarity = match similarity {
            0 => Similarity::Cosine,
            1 => Similarity::DotProduct,
            2 => Similarity::Euclidean,
            _ => return None,
        };
        let (dimensions, rest) = rest.split_first_chunk::<2>()?;
        let (vectors, rest) = rest.split_first_chunk::<8>()?;
        let dimensions = usize::from(u16::from_be_bytes(*dimensions));
        let each = dimensions + CODE_HEAD;
        let is_sound = (1..=DIMENSIONS_MAX).contains(&dimensions)
            && !rest.is_empty()
            && rest.len().is_multiple_of(each)
            && rest.len() / each <= LISTS_MAX;
        if !is_sound {
            return None;
        }
        let mut centres = Vec::with_capacity(rest.len());
        rest.chunks_exact(each).for_each(|code| centres.extend(of_code(code)));
        let lists = Lists { similarity, dimensions, vectors: u64::from_be_bytes(*vectors), centres };
        lists.centres.iter().all(|x| x.is_finite()).then_some(lists)
    }
}

/// Where a vector lies among the centres: of those that are compared by their direction, only that counts.
fn placed(similarity: Similarity, mut vector: Vec<f32>) -> Vec<f32> {
    if similarity == Similarity::Cosine {
        let length = dot(&vector, &vector).sqrt();
        if length > 0.0 && length.is_finite() {
            vector.iter_mut().for_each(|x| *x /= length);
        }
    }
    vector
}

/// The square of the distance. Added in lanes, always the same ones.
fn distance(left: &[f32], right: &[f32]) -> f32 {
    let mut lanes = [0f32; LANES];
    let (lefts, rights) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in lefts.0.iter().zip(rights.0) {
        for ((lane, a), b) in lanes.iter_mut().zip(left).zip(right) {
            *lane += (a - b) * (a - b);
        }
    }
    let rest: f32 = lefts.1.iter().zip(rights.1).map(|(a, b)| (a - b) * (a - b)).sum();
    lanes.iter().sum::<f32>() + rest
}

/// What is before the numbers of a code: what each of them is to be multiplied with.
const CODE_HEAD: usize = 4;

/// The code of a vector in wire form.
pub fn code(vector: &[u8]) -> Vec<u8> {
    let numbers = floats(vector);
    let mut out = Vec::with_capacity(CODE_HEAD + numbers.len());
    put_code(&numbers, &mut out);
    out
}

fn put_code(numbers: &[f32], out: &mut Vec<u8>) {
    let largest = numbers.iter().filter(|x| x.is_finite()).fold(0f32, |most, x| most.max(x.abs()));
    let step = largest / f32::from(i8::MAX);
    out.extend_from_slice(&step.to_be_bytes());
    // What is no number becomes zero, and what is too large the largest.
    let short = |x: &f32| if step > 0.0 { (x / step).round() as i8 } else { 0 };
    out.extend(numbers.iter().map(|x| short(x) as u8));
}

/// About the vector that a code was made of. Nothing, if these are not the bytes of a code.
pub fn of_code(code: &[u8]) -> impl Iterator<Item = f32> {
    let (head, numbers) = code.split_first_chunk::<CODE_HEAD>().unwrap_or((&[0; CODE_HEAD], &[]));
    let step = f32::from_be_bytes(*head);
    numbers.iter().map(move |x| f32::from(*x as i8) * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -1 and 1, the same every time.
    fn numbers(seed: u64) -> impl Iterator<Item = f32> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
    }

    fn wire(vector: &[f32]) -> Vec<u8> {
        vector.iter().flat_map(|x| x.to_be_bytes()).collect()
    }

    fn sample(count: usize, dimensions: usize) -> Vec<Vec<u8>> {
        let mut from = numbers(7);
        (0..count).map(|_| wire(&from.by_ref().take(dimensions).collect::<Vec<_>>())).collect()
    }

    #[test]
    fn what_is_read_back_puts_every_vector_where_it_was() {
        for similarity in [Similarity::Cosine, Similarity::DotProduct, Similarity::Euclidean] {
            let sample = sample(900, 12);
            let lists = Lists::train(similarity, 12, &sample, 900).unwrap();
            assert_eq!(lists.count(), 30);
            let again = Lists::decode(&lists.encode()).unwrap();
            assert_eq!(again, lists);
            let mut used = vec![0; lists.count()];
            for vector in &sample {
                used[lists.list_of(vector)] += 1;
                assert_eq!(again.list_of(vector), lists.list_of(vector));
            }
            assert!(used.iter().filter(|count| **count > 0).count() > 25, "{used:?}");
        }
    }

    #[test]
    fn a_vector_is_in_the_list_that_is_first_for_it() {
        let sample = sample(400, 9);
        let lists = Lists::train(Similarity::Euclidean, 9, &sample, 400).unwrap();
        for vector in &sample {
            assert_eq!(lists.by_nearness(&floats(vector))[0], lists.list_of(vector));
        }
    }

    #[test]
    fn a_code_is_near_its_vector() {
        for vector in sample(50, 33) {
            let numbers = floats(&vector);
            let most = numbers.iter().fold(0f32, |most, x| most.max(x.abs()));
            let code = code(&vector);
            assert_eq!(code.len(), 33 + 4);
            for (x, y) in numbers.iter().zip(of_code(&code)) {
                assert!((x - y).abs() <= most / 250.0, "{x} {y}");
            }
        }
        assert_eq!(of_code(&code(&wire(&[0.0, 0.0]))).collect::<Vec<_>>(), [0.0, 0.0]);
        assert_eq!(of_code(&code(&wire(&[f32::NAN, 1.0]))).collect::<Vec<_>>(), [0.0, 1.0]);
        assert_eq!(of_code(&[1, 2]).count(), 0);
    }

    #[test]
    fn vectors_that_are_no_numbers_have_a_place_too() {
        let lists = Lists::train(Similarity::Cosine, 3, &sample(300, 3), 300).unwrap();
        for strange in [[f32::NAN, 0.0, 1.0], [f32::INFINITY, 0.0, 0.0], [0.0, 0.0, 0.0], [f32::MAX; 3]] {
            assert!(lists.list_of(&wire(&strange)) < lists.count());
            assert_eq!(lists.by_nearness(&strange).len(), lists.count());
        }
        assert!(lists.list_of(&[]) < lists.count());
    }

    #[test]
    fn bytes_that_are_no_lists_are_refused() {
        let good = Lists::train(Similarity::Cosine, 3, &sample(300, 3), 300).unwrap().encode();
        for cut in 0..good.len() {
            let read = Lists::decode(&good[..cut]);
            assert!(read.is_none_or(|lists| lists.count() == (cut - 12) / 7 && (cut - 12) % 7 == 0));
        }
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            Lists::decode(&bytes)
        };
        assert_eq!(with(0, 2), None);
        assert_eq!(with(1, 3), None);
        assert_eq!(
            with(12, 0x7f),
            None,
            "a step of 0x7f……… makes centres that are no numbers, or absurd ones"
        );
    }

    #[test]
    fn there_are_as_many_lists_as_are_worth_it() {
        assert_eq!(count_for(10_000, 32), 100);
        assert_eq!(count_for(100_000_000, 32), 1024);
        assert_eq!(count_for(1_000_000, 1536), 170);
        assert_eq!(count_for(3, 8), 16);
        assert!(samples_max(1536) >= 2 * count_for(1_000_000, 1536));
        assert_eq!(Lists::train(Similarity::Cosine, 3, &[], 0), None);
    }
}
