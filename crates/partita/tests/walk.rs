//! docs/walk.md names files and functions; this test walks along and looks whether they are there.

use std::path::Path;

#[test]
fn every_function_on_the_walk_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/walk.md")).unwrap();
    let mut steps = 0;
    // `path` `function`: two code spans in a row, the first of which is a source file.
    let spans: Vec<&str> = text.split('`').collect();
    for window in spans.windows(3) {
        let [path, between, function] = window else { continue };
        if !path.starts_with("crates/") || !path.ends_with(".rs") || *between != " " {
            continue;
        }
        let source = std::fs::read_to_string(root.join(path))
            .unwrap_or_else(|error| panic!("docs/walk.md names {path}: {error}"));
        let found = [format!("fn {function}("), format!("fn {function}<")];
        assert!(found.iter().any(|text| source.contains(text)), "{path} has no function {function}");
        steps += 1;
    }
    assert!(steps >= 20, "only {steps} steps were found");
}
