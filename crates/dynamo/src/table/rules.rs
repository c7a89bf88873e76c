//! What a table's keys mean for the expressions of a request.

use super::definition::{Index, KeySchema, TableDefinition};
use crate::error::ApiError;
use crate::expression::{Action, Condition, Operand, Path, Projection, Term, Update};
use crate::messages::Rule;

impl Condition {
    /// Every path of the condition, in source order.
    pub fn paths<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        let operand = |operand: &'a Operand| {
            let mut inner = operand;
            while let Operand::Size(of) = inner {
                inner = of;
            }
            if let Operand::Path(path) = inner {
                visit(path);
            }
        };
        match self {
            Condition::And(all) | Condition::Or(all) => all.iter().for_each(|part| part.paths(visit)),
            Condition::Not(inner) => inner.paths(visit),
            Condition::Compare(_, a, b)
            | Condition::BeginsWith(a, b)
            | Condition::Contains(a, b)
            | Condition::NotContains(a, b) => [a, b].into_iter().for_each(operand),
            Condition::Between(a, b, c) => [a, b, c].into_iter().for_each(operand),
            Condition::In(of, list) => std::iter::once(of).chain(list).for_each(operand),
            Condition::Exists(path) | Condition::NotExists(path) | Condition::HasType(path, _) => visit(path),
        }
    }
}

impl Term {
    fn paths<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        match self {
            Term::Path(path) => visit(path),
            Term::Value(_) => {}
            Term::IfNotExists(path, otherwise) => {
                visit(path);
                otherwise.paths(visit);
            }
            Term::ListAppend(a, b) | Term::Add(a, b) | Term::Subtract(a, b) => {
                a.paths(visit);
                b.paths(visit);
            }
        }
    }
}

impl TableDefinition {
    fn scalar_keys(&self, path: &Path) -> Result<(), ApiError> {
        if path.steps.is_empty() {
            return Ok(());
        }
        if self.key.contains(&path.name) {
            return Err(Rule::NestedKeyPath.refuse(&[&path.name]));
        }
        if self.indexes.iter().any(|index| index.key.contains(&path.name)) {
            return Err(Rule::NestedIndexKeyPath.refuse(&[&path.name]));
        }
        Ok(())
    }

    /// No path of a condition may lead into a key.
    pub fn check_condition(&self, condition: &Condition) -> Result<(), ApiError> {
        let mut result = Ok(());
        condition.paths(&mut |path| {
            if result.is_ok() {
                result = self.scalar_keys(path);
            }
        });
        result
    }

    pub fn check_projection(&self, projection: &Projection) -> Result<(), ApiError> {
        projection.paths.iter().try_for_each(|path| self.scalar_keys(path))
    }

    /// A filter of Query looks at what is not in the key that it reads by. `name` is the parameter's.
    pub fn check_filter(
        &self,
        index: Option<&Index>,
        filter: &Condition,
        legacy: bool,
    ) -> Result<(), ApiError> {
        let schema: &KeySchema = index.map_or(&self.key, |index| &index.key);
        let name = if legacy { "QueryFilter" } else { "Filter Expression" };
        let mut used: Vec<&str> = Vec::new();
        filter.paths(&mut |path| used.push(&path.name));
        match schema.attributes().find(|attribute| used.contains(&attribute.name.as_str())) {
            Some(attribute) => Err(Rule::FilterOnKey.refuse(&[name, &attribute.name])),
            None => Ok(()),
        }
    }

    /// An update leaves the key alone, and leads into no key.
    pub fn check_update(&self, update: &Update) -> Result<(), ApiError> {
        for action in &update.actions {
            let path = action.path();
            if self.key.contains(&path.name) {
                return Err(Rule::KeyUpdate.refuse(&[&path.name]));
            }
            self.scalar_keys(path)?;
            if let Action::Set(_, term) = action {
                let mut result = Ok(());
                term.paths(&mut |path| {
                    if result.is_ok() {
                        result = self.scalar_keys(path);
                    }
                });
                result?;
            }
        }
        Ok(())
    }
}
