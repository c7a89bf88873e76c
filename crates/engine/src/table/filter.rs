//! Filters: a few bits per partition that say "certainly not here" (layout: docs/format/table.md).
//!
//! A filter is cut into pages by token, so that building one needs memory for a page only, however
//! many partitions a file has. A page is a blocked Bloom filter: one cache line, eight bits per key.
//! Guarantees: a partition that was added is never denied. About 0.5 % of others are let through.

use super::frame::FrameAt;
use model::key::token_of;
use model::vint;
use xxhash_rust::xxh3::xxh3_64;

/// Twelve bits a key, in groups of 256 bits.
const BITS_PER_KEY: usize = 12;
const GROUP_BYTES: usize = 32;
/// Keys in a page: 48 KiB of hashes while it is built, 12 KiB when it is done.
const PAGE_KEYS: usize = 8192;

const SALTS: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

pub fn hash_of(prefix: &[u8]) -> u64 {
    xxh3_64(prefix)
}

fn masks(hash: u64) -> [u32; 8] {
    SALTS.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
}

fn group_of(hash: u64, groups: usize) -> usize {
    (((hash >> 32) * groups as u64) >> 32) as usize
}

/// A finished page, to be written.
pub struct FilterPage {
    pub first_token: u64,
    pub bytes: Vec<u8>,
}

/// Collects partitions in storage order and hands out pages as they fill.
#[derive(Default)]
pub struct FilterBuilder {
    hashes: Vec<u64>,
    first_token: u64,
    last_token: u64,
    pub directory: Directory,
}

impl FilterBuilder {
    /// Adds a partition. When that completes the page before it, returns the page to be written.
    pub fn add(&mut self, prefix: &[u8]) -> Option<FilterPage> {
        let token = token_of(prefix).ring_position();
        // Partitions with one token stay in one page, so that a token names its page.
        let full = self.hashes.len() >= PAGE_KEYS && token != self.last_token;
        let page = if full { self.take_page() } else { None };
        if self.hashes.is_empty() {
            self.first_token = token;
        }
        self.last_token = token;
        self.hashes.push(hash_of(prefix));
        page
    }

    /// The page under construction.
    pub fn take_page(&mut self) -> Option<FilterPage> {
        if self.hashes.is_empty() {
            return None;
        }
        let groups = (self.hashes.len() * BITS_PER_KEY).div_ceil(GROUP_BYTES * 8).max(1);
        let mut bytes = vec![0u8; groups * GROUP_BYTES];
        for hash in self.hashes.drain(..) {
            let start = group_of(hash, groups) * GROUP_BYTES;
            let words = bytes[start..start + GROUP_BYTES].chunks_exact_mut(4);
            for (word, mask) in words.zip(masks(hash)) {
                let bits = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) | mask;
                word.copy_from_slice(&bits.to_le_bytes());
            }
        }
        Some(FilterPage { first_token: self.first_token, bytes })
    }

    /// Notes where a page lies. Pages are written in the order they are handed out.
    pub fn page_written(&mut self, first_token: u64, at: FrameAt) {
        self.directory.pages.push((first_token, at));
    }
}

/// Where the pages of a filter lie: first token of each, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    pub pages: Vec<(u64, FrameAt)>,
}

impl Directory {
    pub fn encode(&self, out: &mut Vec<u8>) {
        vint::put(out, self.pages.len() as u64);
        for (token, at) in &self.pages {
            out.extend_from_slice(&token.to_be_bytes());
            vint::put(out, at.offset);
            vint::put(out, u64::from(at.len));
        }
    }

    pub fn decode(mut bytes: &[u8]) -> Option<Directory> {
        let count = vint::take(&mut bytes)?;
        let mut pages = vec![];
        for _ in 0..count {
            let (token, rest) = bytes.split_first_chunk::<8>()?;
            bytes = rest;
            let at = FrameAt { offset: vint::take(&mut bytes)?, len: vint::take_u32(&mut bytes)? };
            pages.push((u64::from_be_bytes(*token), at));
        }
        (bytes.is_empty() && pages.is_sorted_by(|a, b| a.0 < b.0)).then_some(Directory { pages })
    }
}

/// A filter ready for questions.
#[derive(Debug, Default)]
pub struct Filter {
    pages: Vec<Page>,
}

#[derive(Debug)]
struct Page {
    first_token: u64,
    groups: Box<[[u32; 8]]>,
}

impl Filter {
    /// Adds the next page; `None` when its bytes are not one.
    pub fn push_page(&mut self, first_token: u64, bytes: &[u8]) -> Option<()> {
        let (groups, rest) = bytes.as_chunks::<GROUP_BYTES>();
        if groups.is_empty() || !rest.is_empty() {
            return None;
        }
        let group = |bytes: &[u8; GROUP_BYTES]| {
            let (words, _) = bytes.as_chunks::<4>();
            std::array::from_fn(|i| words.get(i).map_or(0, |w| u32::from_le_bytes(*w)))
        };
        self.pages.push(Page { first_token, groups: groups.iter().map(group).collect() });
        Some(())
    }

    /// Whether the partition may have been added.
    #[inline]
    pub fn may_contain(&self, token: u64, hash: u64) -> bool {
        let after = match self.pages.len() {
            1 => usize::from(self.pages[0].first_token <= token),
            _ => self.pages.partition_point(|page| page.first_token <= token),
        };
        let Some(page) = after.checked_sub(1).and_then(|i| self.pages.get(i)) else { return false };
        let Some(group) = page.groups.get(group_of(hash, page.groups.len())) else { return false };
        group.iter().zip(masks(hash)).all(|(word, mask)| word & mask != 0)
    }

    pub fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.groups.len() * GROUP_BYTES + size_of::<Page>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::key::PartitionKey;

    #[test]
    fn what_was_added_is_let_through_and_little_else() {
        let mut keys: Vec<PartitionKey> =
            (0..30_000u32).map(|n| PartitionKey::of(&n.to_be_bytes()).unwrap()).collect();
        keys.sort();
        let mut builder = FilterBuilder::default();
        let mut filter = Filter::default();
        let mut pages = 0;
        for key in &keys {
            if let Some(page) = builder.add(key.prefix()) {
                filter.push_page(page.first_token, &page.bytes).unwrap();
                pages += 1;
            }
        }
        let page = builder.take_page().unwrap();
        filter.push_page(page.first_token, &page.bytes).unwrap();
        assert_eq!(pages, 3);
        let asks =
            |key: &PartitionKey| filter.may_contain(key.token().ring_position(), hash_of(key.prefix()));
        assert!(keys.iter().all(asks));
        let others = (30_000..130_000u32).map(|n| PartitionKey::of(&n.to_be_bytes()).unwrap());
        let wrong = others.filter(asks).count();
        assert!(wrong < 1000, "{wrong} of 100,000 let through");
        assert!(filter.bytes() < 30_000 * 13 / 8);
        assert!(!Filter::default().may_contain(1, 2));
    }

    #[test]
    fn directories_come_back() {
        let at = |n: u64| FrameAt { offset: n * 1000, len: n as u32 };
        let directory = Directory { pages: vec![(3, at(1)), (900, at(2)), (u64::MAX, at(3))] };
        let mut bytes = vec![];
        directory.encode(&mut bytes);
        assert_eq!(Directory::decode(&bytes), Some(directory));
        assert_eq!(Directory::decode(&bytes[..bytes.len() - 1]), None);
    }
}
