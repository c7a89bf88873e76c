//! Any bytes to the HTTP listener: answers of HTTP or none, bounded, whatever they are.

#![no_main]

use libfuzzer_sys::fuzz_target;

/// A request takes some 16 bytes at least and gets some 150 back.
const ANSWER_BYTES_MAX: usize = 64 << 10;

fuzz_target!(|bytes: &[u8]| {
    let answer = server::drive::http(bytes);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "{:?}", String::from_utf8_lossy(&answer));
    assert!(answer.len() <= ANSWER_BYTES_MAX, "{} bytes for {}", answer.len(), bytes.len());
});
