//! The page as it is sent.

use super::*;

#[test]
fn the_page_is_small_and_asks_nobody_else() {
    let bytes = PAGE.len() + SCRIPT.len() + STYLE.len();
    assert!(bytes < 100 << 10, "{bytes}");
    for text in [PAGE, SCRIPT, STYLE] {
        let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"));
        assert!(!text.contains("innerHTML") && !text.contains("eval("));
    }
    // The policy allows neither scripts nor styles inside the page.
    assert!(!PAGE.contains("<style") && !PAGE.contains(" style=") && !PAGE.contains(" onclick="));
}
