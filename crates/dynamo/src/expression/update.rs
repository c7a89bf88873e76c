//! Updates applied to an item. Every right side and every path sees the item as it was before.

use super::project::Tree;
use super::tree::{Action, Path, Step, Term, Update};
use crate::error::ApiError;
use crate::messages::Rule;
use crate::number::{Number, NumberFault};
use crate::value::{Item, NESTING_MAX, Value};

/// The item after an update, and what UPDATED_OLD and UPDATED_NEW give back of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    pub item: Item,
    /// The addressed parts before and after; empty if there is nothing to tell.
    pub updated_old: Item,
    pub updated_new: Item,
}

/// A change of one place.
struct Edit<'a> {
    path: &'a Path,
    /// None removes.
    value: Option<Value>,
}

impl Update {
    /// Applies the actions to `old`, or to an item that has its `key` only.
    pub fn apply(&self, old: Option<&Item>, key: &Item) -> Result<Updated, ApiError> {
        let before = old.unwrap_or(key);
        let mut edits = Vec::with_capacity(self.actions.len());
        // The service looks at the last action first, and at where it leads before what it needs.
        for action in self.actions.iter().rev() {
            edits.extend(self.edit(action, before)?);
        }
        edits.reverse();
        let mut item = before.clone();
        let new_places = perform(&mut item, before, edits)?;
        let addressed = self.actions.iter().map(Action::path);
        let updated_old = old.map_or_else(Item::new, |old| Tree::of_paths(addressed).apply_to_item(old));
        let updated_new = Tree::of_paths(new_places.iter()).apply_to_item(&item);
        Ok(Updated { item, updated_old, updated_new })
    }

    /// The attributes that the update writes to.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.actions.iter().map(|action| action.path().name.as_str())
    }

    /// What an action does, if it does anything.
    fn edit<'a>(&self, action: &'a Action, before: &Item) -> Result<Option<Edit<'a>>, ApiError> {
        let wrong_type =
            || if self.legacy { Rule::LegacyTypeMismatch } else { Rule::RuntimeType }.refuse(&[]);
        let path = action.path();
        parent_exists(path, before)?;
        let current = path.find(before);
        let value = match action {
            Action::Set(_, term) => Some(compute(term, before)?),
            Action::Remove(_) => {
                return Ok(current.map(|_| Edit { path, value: None }));
            }
            Action::Add(_, operand) => Some(match current {
                None => operand.clone(),
                Some(current) => added(current, operand).ok_or_else(wrong_type)??,
            }),
            Action::Delete(_, operand) => {
                let Some(current) = current else { return Ok(None) };
                taken(current, operand).ok_or_else(wrong_type)?
            }
            Action::Append(_, elements) => match current {
                None => Some(Value::L(elements.clone())),
                Some(Value::L(list)) => Some(Value::L([list.as_slice(), elements].concat())),
                Some(_) => return Err(wrong_type()),
            },
        };
        Ok(Some(Edit { path, value }))
    }
}

impl Action {
    pub fn path(&self) -> &Path {
        match self {
            Action::Set(path, _)
            | Action::Remove(path)
            | Action::Add(path, _)
            | Action::Delete(path, _)
            | Action::Append(path, _) => path,
        }
    }
}

fn number_fault(fault: NumberFault) -> ApiError {
    let rule = match fault {
        NumberFault::Overflow => Rule::NumberOverflow,
        NumberFault::Underflow => Rule::NumberUnderflow,
        NumberFault::TooManyDigits | NumberFault::NotANumber => Rule::NumberPrecision,
    };
    rule.refuse(&[])
}

fn compute(term: &Term, before: &Item) -> Result<Value, ApiError> {
    let number = |term: &Term| -> Result<Number, ApiError> {
        match compute(term, before)? {
            Value::N(number) => Ok(number),
            _ => Err(Rule::RuntimeType.refuse(&[])),
        }
    };
    let list = |term: &Term| match compute(term, before)? {
        Value::L(list) => Ok(list),
        _ => Err(Rule::RuntimeType.refuse(&[])),
    };
    match term {
        Term::Path(path) => path.find(before).cloned().ok_or_else(|| Rule::RuntimeMissing.refuse(&[])),
        Term::Value(value) => Ok(value.clone()),
        Term::IfNotExists(path, otherwise) => match path.find(before) {
            Some(value) => Ok(value.clone()),
            None => compute(otherwise, before),
        },
        Term::ListAppend(first, second) => {
            let mut joined = list(first)?;
            joined.extend(list(second)?);
            Ok(Value::L(joined))
        }
        Term::Add(left, right) => number(left)?.add(&number(right)?).map(Value::N).map_err(number_fault),
        Term::Subtract(left, right) => {
            number(left)?.subtract(&number(right)?).map(Value::N).map_err(number_fault)
        }
    }
}

/// What ADD makes of a number or a set; none if the types do not fit.
fn added(current: &Value, operand: &Value) -> Option<Result<Value, ApiError>> {
    fn union<T: Ord + Clone>(a: &[T], b: &[T]) -> Vec<T> {
        let mut all = [a, b].concat();
        all.sort();
        all.dedup();
        all
    }
    Some(match (current, operand) {
        (Value::N(a), Value::N(b)) => a.add(b).map(Value::N).map_err(number_fault),
        (Value::Ss(a), Value::Ss(b)) => Ok(Value::Ss(union(a, b))),
        (Value::Ns(a), Value::Ns(b)) => Ok(Value::Ns(union(a, b))),
        (Value::Bs(a), Value::Bs(b)) => Ok(Value::Bs(union(a, b))),
        _ => return None,
    })
}

/// What DELETE leaves of a set, if anything; the outer none means that the types do not fit.
fn taken(current: &Value, operand: &Value) -> Option<Option<Value>> {
    fn rest<T: Ord + Clone>(a: &[T], b: &[T]) -> Option<Vec<T>> {
        let rest: Vec<T> = a.iter().filter(|member| b.binary_search(member).is_err()).cloned().collect();
        (!rest.is_empty()).then_some(rest)
    }
    Some(match (current, operand) {
        (Value::Ss(a), Value::Ss(b)) => rest(a, b).map(Value::Ss),
        (Value::Ns(a), Value::Ns(b)) => rest(a, b).map(Value::Ns),
        (Value::Bs(a), Value::Bs(b)) => rest(a, b).map(Value::Bs),
        _ => return None,
    })
}

/// The place that `path` leads into must be there and of its kind: a map for a name, a list for an index.
fn parent_exists(path: &Path, before: &Item) -> Result<(), ApiError> {
    let Some((last, steps)) = path.steps.split_last() else { return Ok(()) };
    let parent = Path { name: path.name.clone(), steps: steps.to_vec() };
    match (parent.find(before), last) {
        (Some(Value::M(_)), Step::Name(_)) | (Some(Value::L(_)), Step::Index(_)) => Ok(()),
        _ => Err(Rule::RuntimePath.refuse(&[])),
    }
}

/// The value at a place that is known to be there.
fn place<'a>(item: &'a mut Item, name: &str, steps: &[Step]) -> Option<&'a mut Value> {
    let mut value = item.get_mut(name)?;
    for step in steps {
        value = match (step, value) {
            (Step::Name(name), Value::M(map)) => map.get_mut(name)?,
            (Step::Index(index), Value::L(list)) => list.get_mut(*index as usize)?,
            _ => return None,
        };
    }
    Some(value)
}

/// Performs all edits; the paths where new values are afterwards.
fn perform(item: &mut Item, before: &Item, edits: Vec<Edit<'_>>) -> Result<Vec<Path>, ApiError> {
    let (puts, mut removes): (Vec<_>, Vec<_>) = edits.into_iter().partition(|edit| edit.value.is_some());
    let mut appends: Vec<Edit<'_>> = Vec::new();
    let mut written: Vec<Path> = Vec::new();
    for edit in puts {
        let value = edit.value.unwrap_or(Value::Null);
        if edit.path.steps.len() + value.nesting() > NESTING_MAX {
            return Err(Rule::Nesting.refuse(&[]));
        }
        if edit.path.find(before).is_none() && matches!(edit.path.steps.last(), Some(Step::Index(_))) {
            appends.push(Edit { path: edit.path, value: Some(value) });
            continue;
        }
        written.push(edit.path.clone());
        put(item, edit.path, value);
    }
    // Behind the end of a list, values follow each other in the order of their indexes.
    appends.sort_by_key(|edit| match edit.path.steps.last() {
        Some(Step::Index(index)) => *index,
        _ => 0,
    });
    for edit in appends {
        let Some((_, steps)) = edit.path.steps.split_last() else { continue };
        if let (Some(Value::L(list)), Some(value)) = (place(item, &edit.path.name, steps), edit.value) {
            let mut path = edit.path.clone();
            if let Some(last) = path.steps.last_mut() {
                *last = Step::Index(list.len() as u32);
            }
            list.push(value);
            written.push(path);
        }
    }
    // The deepest first, and from the highest index down, so that the others keep their meaning.
    removes.sort_by_key(|edit| std::cmp::Reverse((edit.path.steps.len(), index_of(edit.path))));
    let removed: Vec<&Path> = removes.iter().map(|edit| edit.path).collect();
    for path in &removed {
        remove(item, path);
    }
    for path in &mut written {
        shift(path, &removed);
    }
    Ok(written)
}

fn index_of(path: &Path) -> Option<u32> {
    match path.steps.last() {
        Some(Step::Index(index)) => Some(*index),
        _ => None,
    }
}

fn put(item: &mut Item, path: &Path, value: Value) {
    let Some((last, steps)) = path.steps.split_last() else {
        item.insert(path.name.as_str(), value);
        return;
    };
    match (place(item, &path.name, steps), last) {
        (Some(Value::M(map)), Step::Name(name)) => drop(map.insert(name.as_str(), value)),
        (Some(Value::L(list)), Step::Index(index)) => {
            if let Some(element) = list.get_mut(*index as usize) {
                *element = value;
            }
        }
        _ => {}
    }
}

fn remove(item: &mut Item, path: &Path) {
    let Some((last, steps)) = path.steps.split_last() else {
        item.remove(&path.name);
        return;
    };
    match (place(item, &path.name, steps), last) {
        (Some(Value::M(map)), Step::Name(name)) => drop(map.remove(name)),
        (Some(Value::L(list)), Step::Index(index)) if (*index as usize) < list.len() => {
            list.remove(*index as usize);
        }
        _ => {}
    }
}

/// Indexes move down by the elements that went away before them.
fn shift(path: &mut Path, removed: &[&Path]) {
    let original = path.clone();
    for (depth, step) in path.steps.iter_mut().enumerate() {
        let Step::Index(index) = step else { continue };
        let here = *index;
        let before = removed.iter().filter(|other| {
            other.name == original.name
                && other.steps.len() == depth + 1
                && other.steps[..depth] == original.steps[..depth]
                && matches!(other.steps[depth], Step::Index(other) if other < here)
        });
        *index -= before.count() as u32;
    }
}
