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

/// Who embeds the library must not pay for listeners, TLS and the command line.
#[test]
fn the_embedding_library_links_no_server() {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "-p",
            "partita",
            "--no-default-features",
            "-e",
            "normal",
            "--prefix",
            "none",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let linked: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(linked.contains(&"engine"), "the tree was read: {tree}");
    for unwanted in ["server", "axum", "rustls", "clap"] {
        assert!(!linked.contains(&unwanted), "{unwanted} is linked into the embedding library");
    }
}

/// What makes a run unrepeatable, and the crates that may do it: `rt` for everybody, the server and what stands on it for
/// themselves.
const OUTSIDE: [&str; 16] = [
    "Instant::now",
    "SystemTime::now",
    "thread::sleep",
    "thread::spawn",
    "thread::Builder",
    "thread::scope",
    "thread::park",
    "thread::current",
    "fs::",
    "File::open",
    "File::create",
    "OpenOptions::new",
    "TcpStream::connect",
    "std::process::",
    "RandomState::new",
    "env::var",
];

#[test]
fn only_rt_touches_clocks_threads_files_and_randomness_below_the_server() {
    let (layers, mut looked_at) = (layer_table(), 0);
    let server = layers["server"];
    for (name, _) in layers.iter().filter(|(name, layer)| **layer < server && *name != "rt") {
        let mut files = Vec::new();
        rust_files(&root().join("crates").join(name).join("src"), &mut files);
        for file in files {
            let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            // The text in front of a file's own tests, unless the file is a test as a whole.
            if ["tests", "testing", "golden"].contains(&stem) || stem.ends_with("_tests") {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for (number, line) in
                code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
            {
                let found = OUTSIDE.iter().find(|what| line.contains(**what) && !line.contains("rt::"));
                assert!(
                    found.is_none(),
                    "{}:{}: {} belongs into rt",
                    file.display(),
                    number + 1,
                    line.trim()
                );
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 100, "only {looked_at} files were looked at");
}

/// A fact that has no words must not compile, so a wildcard arm has no place here.
#[test]
fn refusals_are_worded_in_one_place_without_a_wildcard_arm() {
    let mut files = Vec::new();
    rust_files(&root().join("crates/cql/src/words"), &mut files);
    assert!(files.len() >= 12, "a file for each topic: {files:?}");
    files.push(root().join("crates/dynamo/src/run/words.rs"));
    for file in
        files.iter().filter(|file| !file.ends_with("words/tests.rs") && !file.ends_with("option_tests.rs"))
    {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(
            text.contains("match ") || file.ends_with("schema/samples.rs"),
            "{} words nothing",
            file.display()
        );
        let wildcard = text.lines().find(|line| line.trim_start().starts_with("_ =>"));
        assert_eq!(wildcard, None, "{}", file.display());
    }
    // Who knows no dialect makes no class of one: what is refused there is a fault with facts.
    for name in ["schema", "query", "database", "store", "engine"] {
        let mut files = Vec::new();
        rust_files(&root().join("crates").join(name).join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let prose = text.lines().find(|line| {
                ["QueryError::Invalid", "QueryError::invalid", "StoreError::Invalid", "SchemaError::Invalid"]
                    .iter()
                    .any(|p| line.contains(p))
            });
            assert_eq!(prose, None, "{}", file.display());
        }
    }
}

/// Where `schema` may use sentences: what an operator reads when a stored catalogue cannot be opened.
const DAMAGE: [&str; 5] =
    ["check.rs", "json/mod.rs", "json/read.rs", "bucketing/mod.rs", "bucketing/every.rs"];

/// A column that no statement can name, because its name has blanks.
const HIDDEN_COLUMN: &str = "list of members";

/// What is written between quotes in code, outside comments and a file's own tests.
fn literals(text: &str) -> Vec<(usize, String)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (mut found, mut line) = (Vec::new(), 1);
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '/' if chars.peek() == Some(&'/') => {
                chars.by_ref().find(|c| *c == '\n');
                line += 1;
            }
            // A quote that is a character.
            '\'' if chars.peek() == Some(&'"') => drop(chars.next()),
            '"' => {
                let (at, mut inside) = (line, String::new());
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    line += usize::from(c == '\n');
                    inside.extend(if c == '\\' { chars.next() } else { Some(c) });
                }
                found.push((at, inside));
            }
            _ => {}
        }
    }
    found
}

/// Three words in a row, as no name and no statement has them in lower case.
fn is_a_sentence(text: &str) -> bool {
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase() || c == '\'');
    text.split(' ').collect::<Vec<_>>().windows(3).any(|words| words.iter().all(is_word))
}

/// A crate that has no sentences cannot refuse with one.
#[test]
fn the_schema_has_no_sentences() {
    assert!(is_a_sentence("Cannot drop column {name} because it has dependent secondary indexes"));
    assert!(
        !is_a_sentence("org.apache.cassandra.io.compress.LZ4Compressor") && !is_a_sentence("IS NOT NULL")
    );
    assert_eq!(literals("a(\"b c\"); // \"d\"\n'\"' \"e\\\"f\""), [(1, "b c".into()), (2, "e\"f".into())]);
    let (root, mut files) = (root().join("crates/schema/src"), Vec::new());
    rust_files(&root, &mut files);
    assert!(files.len() > 40, "the crate was read");
    for file in files {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem.ends_with("tests") || DAMAGE.iter().any(|allowed| file == root.join(allowed)) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let is_wrong = |literal: &str| is_a_sentence(literal) && literal != HIDDEN_COLUMN;
        let sentence = literals(&text).into_iter().find(|(_, literal)| is_wrong(literal));
        assert_eq!(sentence, None, "{}: a fact belongs here, its words into a dialect", file.display());
    }
}
