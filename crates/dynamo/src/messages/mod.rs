//! Every sentence that the API refuses a request with: one catalogue, keyed by rule and validation layer.
//!
//! During 2026 the service moves its operations, one by one, from an older validation layer to a newer one, and some
//! sentences change with it. Which layer an operation answers from is a table of its own (`Layers`), so that it can be
//! switched without touching a rule. `{0}`, `{1}` stand for the facts of a case.

use crate::error::ApiError;
use crate::operation::Operation;

/// Which of the service's two validation layers an operation answers from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    Older,
    Newer,
}

/// The layer of each operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// What clients and suites written before 2026 know: the default.
    Older,
    /// The service in most regions since summer 2026.
    Current,
}

impl Layers {
    pub fn of(self, operation: Operation) -> Layer {
        use Operation::*;
        match (self, operation) {
            (Layers::Older, _) => Layer::Older,
            (Layers::Current, PutItem | UpdateItem | DeleteItem | GetItem | BatchGetItem | Query | Scan) => {
                Layer::Newer
            }
            (Layers::Current, _) => Layer::Older,
        }
    }
}

mod rules;
pub use rules::Rule;

impl Rule {
    /// The sentence with its facts.
    pub fn say(self, layer: Layer, facts: &[&str]) -> String {
        fill(self.text(layer), facts)
    }

    /// The refusal in the older layer's words, which most rules share.
    pub fn refuse(self, facts: &[&str]) -> ApiError {
        self.refuse_in(Layer::Older, facts)
    }

    pub fn refuse_in(self, layer: Layer, facts: &[&str]) -> ApiError {
        ApiError::new(self.name(), self.say(layer, facts))
    }
}

/// Names in the order in which the service, which keeps them in a hash set of Java, lists them.
pub fn java_order<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let mut distinct: Vec<&str> = Vec::with_capacity(names.len());
    names.iter().for_each(|name| {
        if !distinct.contains(name) {
            distinct.push(name);
        }
    });
    let mut buckets = 16u32;
    while distinct.len() as u32 * 4 > buckets * 3 {
        buckets *= 2;
    }
    distinct.sort_by_key(|name| {
        let hash =
            name.encode_utf16().fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
        (hash ^ (hash >> 16)) & (buckets - 1)
    });
    distinct
}

/// One pass, so that a fact that looks like a placeholder stays as it is.
fn fill(text: &str, facts: &[&str]) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let index = from.as_bytes().get(1).filter(|b| b.is_ascii_digit()).map(|b| usize::from(b - b'0'));
        match index {
            Some(index) if from.as_bytes().get(2) == Some(&b'}') => {
                out.push_str(facts.get(index).copied().unwrap_or(""));
                rest = &from[3..];
            }
            _ => {
                out.push('{');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_filled_in_once() {
        assert_eq!(fill("a {0} b {1} {x}", &["{1}", "z"]), "a {1} b z {x}");
    }

    /// The whole catalogue as a file: a changed sentence shows in review.
    #[test]
    fn golden() {
        let mut all = String::new();
        for rule in Rule::ALL {
            let (older, newer) = (rule.text(Layer::Older), rule.text(Layer::Newer));
            all.push_str(&format!("{rule:?}: {older}\n"));
            if older != newer {
                all.push_str(&format!("{rule:?} (newer): {newer}\n"));
            }
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/messages/golden.txt");
        if std::env::var_os("PARTITA_BLESS").is_some() {
            return std::fs::write(path, &all).unwrap();
        }
        let known = std::fs::read_to_string(path).unwrap();
        for (now, known) in all.lines().zip(known.lines()) {
            assert_eq!(now, known, "PARTITA_BLESS=1 writes the catalogue anew");
        }
        assert_eq!(all.lines().count(), known.lines().count());
    }
}
