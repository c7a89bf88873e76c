//! Projections: the parts of an item that a read gives back.

use super::tree::{Path, Projection, Step};
use crate::value::{Item, Value};

impl Projection {
    pub fn of_names(names: impl IntoIterator<Item = String>) -> Projection {
        Projection { paths: names.into_iter().map(Path::of_name).collect() }
    }

    /// The names, if every path is one: then the stored bytes serve, without a tree.
    pub fn names(&self) -> Option<Vec<&str>> {
        let mut names: Vec<&str> = Vec::with_capacity(self.paths.len());
        for path in &self.paths {
            if !path.steps.is_empty() {
                return None;
            }
            names.push(&path.name);
        }
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    /// What the paths find, in the shape of the item; list elements close up in the order of their indexes.
    pub fn apply(&self, item: &Item) -> Item {
        Tree::of_paths(self.paths.iter()).apply_to_item(item)
    }
}

/// Paths grouped by their steps. Paths of one projection never overlap, so a place is whole or has branches.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    whole: bool,
    names: Vec<(&'a str, Tree<'a>)>,
    indexes: Vec<(u32, Tree<'a>)>,
}

impl<'a> Tree<'a> {
    pub(super) fn of_paths(paths: impl Iterator<Item = &'a Path>) -> Tree<'a> {
        let mut root = Tree::default();
        for path in paths {
            let mut place = root.name(&path.name);
            for step in &path.steps {
                place = match step {
                    Step::Name(name) => place.name(name),
                    Step::Index(index) => place.index(*index),
                };
            }
            place.whole = true;
        }
        root
    }

    fn name(&mut self, name: &'a str) -> &mut Tree<'a> {
        let at = match self.names.iter().position(|(known, _)| *known == name) {
            Some(at) => at,
            None => {
                self.names.push((name, Tree::default()));
                self.names.len() - 1
            }
        };
        &mut self.names[at].1
    }

    fn index(&mut self, index: u32) -> &mut Tree<'a> {
        let at = match self.indexes.binary_search_by_key(&index, |(known, _)| *known) {
            Ok(at) => at,
            Err(at) => {
                self.indexes.insert(at, (index, Tree::default()));
                at
            }
        };
        &mut self.indexes[at].1
    }

    pub(super) fn apply_to_item(&self, item: &Item) -> Item {
        let part = |(name, tree): &(&str, Tree<'_>)| {
            item.get(name).and_then(|value| tree.apply(value)).map(|value| (name.to_string(), value))
        };
        self.names.iter().filter_map(part).collect()
    }

    fn apply(&self, value: &Value) -> Option<Value> {
        if self.whole {
            return Some(value.clone());
        }
        match value {
            Value::M(map) => {
                let found = self.apply_to_item(map);
                (!found.is_empty()).then_some(Value::M(found))
            }
            Value::L(list) => {
                let part =
                    |(index, tree): &(u32, Tree<'_>)| list.get(*index as usize).and_then(|v| tree.apply(v));
                let found: Vec<Value> = self.indexes.iter().filter_map(part).collect();
                (!found.is_empty()).then_some(Value::L(found))
            }
            _ => None,
        }
    }
}
