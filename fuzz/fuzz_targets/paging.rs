//! Any bytes as a paging state: refused, or a state that is the same after encoding.
//!
//! The checksum is made right for every input, so that the fuzzer gets behind it; as they are, inputs are tried too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use query::select::PagingState;

fuzz_target!(|bytes: &[u8]| {
    let _ = PagingState::decode(bytes, 7);
    let mut summed = bytes.to_vec();
    summed.extend_from_slice(&model::token::murmur3_h1(bytes).to_be_bytes()[..4]);
    if let Ok(state) = PagingState::decode(&summed, 7) {
        let encoded = state.encode(7);
        assert_eq!(PagingState::decode(&encoded, 7).ok(), Some(state));
        assert!(PagingState::decode(&encoded, 8).is_err(), "another table's");
    }
});
