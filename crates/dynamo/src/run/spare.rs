//! Buffers of long answers, kept for the next: a page of 100 KB that grows from nothing is copied ten times over, into memory that the
//! system has to give first.

use std::cell::RefCell;

/// Buffers that are kept ...
const KEPT: usize = 4;
/// ... if they are longer than this: short ones cost nothing ...
const BYTES_MIN: usize = 16 << 10;
/// ... and not longer than this: a page of 1 MiB is rare.
const BYTES_MAX: usize = 512 << 10;

#[derive(Debug, Default)]
pub(super) struct Spare(RefCell<Vec<Vec<u8>>>);

impl Spare {
    /// An empty buffer.
    pub fn take(&self) -> Vec<u8> {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    pub fn put(&self, mut buffer: Vec<u8>) {
        let mut kept = self.0.borrow_mut();
        if (BYTES_MIN..=BYTES_MAX).contains(&buffer.capacity()) && kept.len() < KEPT {
            buffer.clear();
            kept.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_long_buffers_are_kept_and_come_back_empty() {
        let spare = Spare::default();
        spare.put(vec![1; 100]);
        assert_eq!(spare.take().capacity(), 0, "too short");
        spare.put(vec![1; BYTES_MAX + 1]);
        assert_eq!(spare.take().capacity(), 0, "too long");
        for _ in 0..2 * KEPT {
            spare.put(vec![1; BYTES_MIN]);
        }
        for _ in 0..KEPT {
            let buffer = spare.take();
            assert!(buffer.is_empty() && buffer.capacity() >= BYTES_MIN);
        }
        assert_eq!(spare.take().capacity(), 0);
    }
}
