//! Style as a test: the crate graph is the layer table of ARCHITECTURE.md, files stay small, no leftovers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Crate name -> layer, from the table in ARCHITECTURE.md.
fn layer_table() -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let layer = cells.next()?.parse().ok()?;
        Some((cells.next()?.trim_matches('`').to_string(), layer))
    };
    text.lines().filter_map(row).collect()
}

/// Crate name -> our crates it depends on (not for tests), from cargo itself.
fn crate_graph() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let names: Vec<&str> = packages.iter().map(|p| p["name"].as_str().unwrap()).collect();
    let dependencies = |package: &serde_json::Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        let ours = all.filter(|d| d["kind"].is_null()).filter_map(|d| d["name"].as_str());
        ours.filter(|name| names.contains(name)).map(str::to_string).collect()
    };
    packages.iter().map(|p| (p["name"].as_str().unwrap().to_string(), dependencies(p))).collect()
}

#[test]
fn crates_use_only_lower_layers() {
    let (layers, graph) = (layer_table(), crate_graph());
    assert!(graph.len() > 5, "the graph was read");
    for (name, dependencies) in &graph {
        let layer = layers.get(name).unwrap_or_else(|| panic!("{name} is not in ARCHITECTURE.md's table"));
        for dependency in dependencies {
            let below = layers[dependency];
            assert!(below < *layer, "{name} (layer {layer}) uses {dependency} (layer {below})");
        }
    }
    for name in layers.keys() {
        assert!(graph.contains_key(name), "ARCHITECTURE.md names {name}, which does not exist");
    }
}

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Files over this want to be a folder.
const LINES_MAX: usize = 800;

#[test]
fn files_are_small_and_say_what_they_are() {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    assert!(files.len() > 50, "the tree was read");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.display();
        assert!(
            text.lines().count() <= LINES_MAX,
            "{name} has more than {LINES_MAX} lines: make it a folder"
        );
        assert!(text.starts_with("//!"), "{name} does not open with a //! header");
        for leftover in [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("FIX", "ME")] {
            assert!(!text.contains(leftover), "{name} holds a leftover: {leftover}");
        }
    }
}
