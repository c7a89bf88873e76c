//! Any bytes to the control socket: one line of answer or none, whatever they are.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let answer = server::drive::control(bytes);
    let text = String::from_utf8(answer).expect("an answer in words");
    let whole = text.is_empty() || (text.ends_with('\n') && text.lines().count() == 1);
    assert!(whole && (text.is_empty() || text.starts_with("ok ") || text.starts_with("error ")), "{text:?}");
    // Only the one request that exists gets anything.
    assert_eq!(text.starts_with("ok "), bytes.starts_with(b"snapshot\n"));
});
