//! Syntax trees to meanings: functions, reserved words, placeholders, operand types, in the service's order.

use super::lexer::Word;
use super::parser::{ExpressionKind, Node, Parser, RawAction, RawPath, RawStep};
use super::placeholders::Placeholders;
use super::reserved::is_reserved;
use super::tree::{Action, Comparison, Condition, Operand, Path, Projection, Step, Term, Update};
use crate::error::ApiError;
use crate::json;
use crate::messages::{Layer, Rule};
use crate::value::{Type, Value};

const OPERATORS_MAX: usize = 300;
const IN_OPERANDS_MAX: usize = 100;
/// Names and indexes of a path.
const PATH_STEPS_MAX: usize = 32;

type Checked<T> = Result<T, ApiError>;

/// A ConditionExpression or FilterExpression.
pub fn condition(
    kind: ExpressionKind,
    text: &str,
    placeholders: &Placeholders,
    layer: Layer,
) -> Checked<Condition> {
    let node = Parser::new(text, kind, layer)?.condition()?;
    let checker = Checker { kind, placeholders };
    checker.functions(&node, Place::Condition)?;
    let condition = checker.condition(&node)?;
    let operators = count(&node);
    if operators > OPERATORS_MAX {
        return Err(Rule::TooManyOperators.refuse(&[kind.name(), &operators.to_string()]));
    }
    Ok(condition)
}

/// A ProjectionExpression.
pub fn projection(text: &str, placeholders: &Placeholders, layer: Layer) -> Checked<Projection> {
    let kind = ExpressionKind::Projection;
    let raw = Parser::new(text, kind, layer)?.projection()?;
    let checker = Checker { kind, placeholders };
    for path in &raw {
        checker.words(path)?;
    }
    let mut paths = checker.distinct_paths(raw.iter())?;
    paths.reverse();
    Ok(Projection { paths })
}

/// An UpdateExpression.
pub fn update(text: &str, placeholders: &Placeholders, layer: Layer) -> Checked<Update> {
    let kind = ExpressionKind::Update;
    let raw = Parser::new(text, kind, layer)?.update()?;
    let checker = Checker { kind, placeholders };
    for action in &raw.actions {
        checker.words(&action.path)?;
        if let Some(value) = &action.value {
            checker.functions(value, Place::Assigned)?;
        }
    }
    for (at, section) in raw.sections.iter().enumerate() {
        if raw.sections[..at].contains(section) {
            return Err(Rule::SectionTwice.refuse(&[kind.name(), section_name(*section)]));
        }
    }
    let paths = checker.distinct_paths(raw.actions.iter().map(|action| &action.path))?;
    // From the last action to the first, as the service looks at them.
    let mut actions = Vec::with_capacity(paths.len());
    for (action, path) in raw.actions.iter().rev().zip(paths) {
        actions.push(checker.action(action, path)?);
    }
    actions.reverse();
    Ok(Update { actions, legacy: false })
}

fn section_name(word: Word) -> &'static str {
    match word {
        Word::Remove => "REMOVE",
        Word::Add => "ADD",
        Word::Delete => "DELETE",
        _ => "SET",
    }
}

/// Where a call stands decides which functions it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Condition,
    Operand,
    Assigned,
    /// Within a function of an update.
    Argument,
}

const CONDITIONS: [&str; 5] =
    ["attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"];

pub(super) struct Checker<'a> {
    pub(super) kind: ExpressionKind,
    pub(super) placeholders: &'a Placeholders,
}

impl Checker<'_> {
    fn refuse<T>(&self, rule: Rule, facts: &[&str]) -> Checked<T> {
        let all: Vec<&str> = std::iter::once(self.kind.name()).chain(facts.iter().copied()).collect();
        Err(rule.refuse(&all))
    }

    /// The first pass: unknown and misplaced functions, reserved words, in source order.
    pub(super) fn functions_of_condition(&self, node: &Node<'_>) -> Checked<()> {
        self.functions(node, Place::Condition)
    }

    fn functions(&self, node: &Node<'_>, place: Place) -> Checked<()> {
        match node {
            Node::Path(path) => self.words(path),
            Node::Value(_) => Ok(()),
            Node::Group(inner) => self.functions(inner, place),
            Node::Not(inner) => self.functions(inner, Place::Condition),
            Node::And(all) | Node::Or(all) => {
                all.iter().try_for_each(|n| self.functions(n, Place::Condition))
            }
            Node::Compare(_, a, b) => {
                self.functions(a, Place::Operand)?;
                self.functions(b, Place::Operand)
            }
            Node::Between(all) => all.iter().try_for_each(|n| self.functions(n, Place::Operand)),
            Node::In(of, list) => {
                self.functions(of, Place::Operand)?;
                list.iter().try_for_each(|n| self.functions(n, Place::Operand))
            }
            Node::Arithmetic(_, a, b) => {
                self.functions(a, Place::Argument)?;
                self.functions(b, Place::Argument)
            }
            Node::Call(name, operands) => {
                self.function(name, place)?;
                let within = match place {
                    Place::Condition | Place::Operand => Place::Operand,
                    Place::Assigned | Place::Argument => Place::Argument,
                };
                operands.iter().try_for_each(|n| self.functions(n, within))
            }
        }
    }

    fn function(&self, name: &str, place: Place) -> Checked<()> {
        let of_condition = CONDITIONS.contains(&name);
        let of_update = matches!(name, "if_not_exists" | "list_append");
        if !of_condition && !of_update && name != "size" {
            return self.refuse(Rule::FunctionUnknown, &[name]);
        }
        let fits = match place {
            Place::Condition => of_condition,
            Place::Operand => name == "size",
            Place::Assigned | Place::Argument if !of_update => {
                return self.refuse(Rule::FunctionNotInUpdate, &[name]);
            }
            Place::Assigned => true,
            Place::Argument => name == "if_not_exists",
        };
        if fits { Ok(()) } else { self.refuse(Rule::FunctionMisused, &[name]) }
    }

    fn words(&self, path: &RawPath<'_>) -> Checked<()> {
        if path.steps.len() > PATH_STEPS_MAX {
            return self.refuse(Rule::PathDepth, &[&path.steps.len().to_string()]);
        }
        for step in &path.steps {
            if let RawStep::Name(name) = step
                && !name.starts_with('#')
                && is_reserved(name)
            {
                return self.refuse(Rule::ReservedWord, &[name]);
            }
        }
        Ok(())
    }

    /// Resolves paths from the last to the first, and refuses those that meet. The result is in that order.
    fn distinct_paths<'n>(
        &self,
        raw: impl DoubleEndedIterator<Item = &'n RawPath<'n>>,
    ) -> Checked<Vec<Path>> {
        let mut paths: Vec<Path> = Vec::new();
        for path in raw.rev() {
            let path = self.path(path)?;
            for later in &paths {
                match meet(&path, later) {
                    Some(rule) => return self.refuse(rule, &[&path.to_string(), &later.to_string()]),
                    None => continue,
                }
            }
            paths.push(path);
        }
        Ok(paths)
    }

    pub(super) fn path(&self, path: &RawPath<'_>) -> Checked<Path> {
        let mut name = None;
        let mut steps = Vec::with_capacity(path.steps.len().saturating_sub(1));
        for step in &path.steps {
            let step = match step {
                RawStep::Name(text) if text.starts_with('#') => match self.placeholders.name(text) {
                    Some(meaning) => Step::Name(meaning.to_string()),
                    None => return self.refuse(Rule::NameUndefined, &[text]),
                },
                RawStep::Name(text) => Step::Name((*text).to_string()),
                RawStep::Index(index) => Step::Index(*index),
            };
            match (&name, step) {
                (None, Step::Name(first)) => name = Some(first),
                (_, step) => steps.push(step),
            }
        }
        Ok(Path { name: name.unwrap_or_default(), steps })
    }

    fn value(&self, key: &str) -> Checked<Value> {
        match self.placeholders.value(key) {
            Some(value) => Ok(value.clone()),
            None => self.refuse(Rule::ValueUndefined, &[key]),
        }
    }

    pub(super) fn condition(&self, node: &Node<'_>) -> Checked<Condition> {
        match node {
            Node::Group(inner) => self.condition(inner),
            Node::Not(inner) => Ok(Condition::Not(Box::new(self.condition(inner)?))),
            Node::And(all) => {
                Ok(Condition::And(all.iter().map(|n| self.condition(n)).collect::<Checked<_>>()?))
            }
            Node::Or(all) => {
                Ok(Condition::Or(all.iter().map(|n| self.condition(n)).collect::<Checked<_>>()?))
            }
            Node::Compare(comparison, a, b) => self.compare(*comparison, a, b),
            Node::Between(operands) => self.between(operands),
            Node::In(of, list) => self.in_list(of, list),
            Node::Call(name, operands) => self.call(name, operands),
            // The parser lets no operand stand here.
            Node::Path(_) | Node::Value(_) | Node::Arithmetic(..) => self.refuse(Rule::ExpressionEmpty, &[]),
        }
    }

    fn operand(&self, node: &Node<'_>) -> Checked<Operand> {
        match node {
            Node::Path(path) => self.path(path).map(Operand::Path),
            Node::Value(key) => self.value(key).map(Operand::Value),
            Node::Group(inner) => self.operand(inner),
            Node::Call(name, operands) => {
                let mut operands = self.operands(operands)?;
                if operands.len() != 1 {
                    return self.refuse(Rule::OperandCount, &[name, &operands.len().to_string()]);
                }
                let of = operands.remove(0);
                let kind = of_literal(&of);
                match kind {
                    Some(kind @ (Type::N | Type::Bool | Type::Null)) => {
                        self.refuse(Rule::OperandType, &[name, kind.name()])
                    }
                    _ => Ok(Operand::Size(Box::new(of))),
                }
            }
            _ => self.refuse(Rule::ExpressionEmpty, &[]),
        }
    }

    fn operands(&self, nodes: &[Node<'_>]) -> Checked<Vec<Operand>> {
        nodes.iter().map(|node| self.operand(node)).collect()
    }

    fn distinct(&self, operator: &str, first: &Operand, rest: &[&Operand]) -> Checked<()> {
        match first {
            Operand::Path(path) if rest.contains(&first) => {
                self.refuse(Rule::NotDistinct, &[operator, &path.to_string()])
            }
            _ => Ok(()),
        }
    }

    /// Literal operands must be of one of these types.
    fn types(&self, operator: &str, operands: &[&Operand], allowed: &[Type]) -> Checked<()> {
        for operand in operands {
            if let Some(kind) = of_literal(operand)
                && !allowed.contains(&kind)
            {
                return self.refuse(Rule::OperandType, &[operator, kind.name()]);
            }
        }
        Ok(())
    }

    fn compare(&self, comparison: Comparison, a: &Node<'_>, b: &Node<'_>) -> Checked<Condition> {
        self.judged(Condition::Compare(comparison, self.operand(a)?, self.operand(b)?))
    }

    fn between(&self, operands: &[Node<'_>; 3]) -> Checked<Condition> {
        let [of, low, high] = operands;
        self.judged(Condition::Between(self.operand(of)?, self.operand(low)?, self.operand(high)?))
    }

    fn in_list(&self, of: &Node<'_>, list: &[Node<'_>]) -> Checked<Condition> {
        self.judged(Condition::In(self.operand(of)?, self.operands(list)?))
    }

    fn judged(&self, condition: Condition) -> Checked<Condition> {
        self.judge(&condition)?;
        Ok(condition)
    }

    /// What can be told of one comparison or call without an item: types of literals, counts, distinctness.
    fn judge(&self, condition: &Condition) -> Checked<()> {
        match condition {
            Condition::Compare(comparison, a, b) => {
                if !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
                    self.types(comparison.symbol(), &[a, b], &[Type::S, Type::N, Type::B])?;
                }
                self.distinct(comparison.symbol(), a, &[b])
            }
            Condition::Between(of, low, high) => {
                self.types("BETWEEN", &[of, low, high], &[Type::S, Type::N, Type::B])?;
                self.distinct("BETWEEN", of, &[low, high])?;
                let (Operand::Value(l), Operand::Value(h)) = (low, high) else { return Ok(()) };
                match l.order(h) {
                    None => self.refuse(Rule::BetweenTypes, &[&shown(l), &shown(h)]),
                    Some(order) if order.is_gt() => self.refuse(Rule::BetweenOrder, &[&shown(l), &shown(h)]),
                    Some(_) => Ok(()),
                }
            }
            Condition::In(of, list) => {
                if list.len() > IN_OPERANDS_MAX {
                    return self.refuse(Rule::TooManyInOperands, &[&list.len().to_string()]);
                }
                self.distinct("IN", of, &list.iter().collect::<Vec<_>>())
            }
            Condition::BeginsWith(a, b) => {
                self.types("begins_with", &[a, b], &[Type::S, Type::B])?;
                self.distinct("begins_with", a, &[b])
            }
            Condition::Contains(a, b) => self.distinct("contains", a, &[b]),
            _ => Ok(()),
        }
    }

    fn call(&self, name: &str, nodes: &[Node<'_>]) -> Checked<Condition> {
        let operands = self.operands(nodes)?;
        let wanted = if matches!(name, "attribute_exists" | "attribute_not_exists") { 1 } else { 2 };
        if operands.len() != wanted {
            return self.refuse(Rule::OperandCount, &[name, &operands.len().to_string()]);
        }
        let mut operands = operands.into_iter();
        let (Some(first), second) = (operands.next(), operands.next()) else {
            return self.refuse(Rule::OperandCount, &[name, "0"]);
        };
        if matches!(name, "attribute_exists" | "attribute_not_exists" | "attribute_type") {
            if let (false, Some(second)) = (matches!(first, Operand::Path(_)), &second) {
                self.type_name(second)?;
            }
            let Operand::Path(path) = first else { return self.refuse(Rule::NeedsPath, &[name]) };
            return match (name, second) {
                ("attribute_exists", _) => Ok(Condition::Exists(path)),
                ("attribute_not_exists", _) => Ok(Condition::NotExists(path)),
                (_, Some(second)) => self.has_type(path, second),
                _ => self.refuse(Rule::OperandCount, &[name, "1"]),
            };
        }
        let Some(second) = second else { return self.refuse(Rule::OperandCount, &[name, "1"]) };
        if name == "contains" {
            return self.judged(Condition::Contains(first, second));
        }
        self.judged(Condition::BeginsWith(first, second))
    }

    fn has_type(&self, path: Path, operand: Operand) -> Checked<Condition> {
        self.type_name(&operand).map(|kind| Condition::HasType(path, kind))
    }

    /// The type that an operand of attribute_type names.
    fn type_name(&self, operand: &Operand) -> Checked<Type> {
        /// What the service says that a path might be.
        const ANYTHING: &str = "{L,DECIMAL,BS,HD,FLOAT,B,S,DICT,N,HDS,DECIMALSET,INT,NULL,BOOL,FS,DOUBLESET,INTSET,DOUBLE,M,SS,NS}";
        match operand {
            Operand::Value(Value::S(name)) => match Type::of_name(name) {
                Some(kind) => Ok(kind),
                None => self.refuse(Rule::TypeName, &[name]),
            },
            other => {
                let kind = of_literal(other).map_or(ANYTHING, Type::name);
                self.refuse(Rule::OperandType, &["attribute_type", kind])
            }
        }
    }

    fn action(&self, action: &RawAction<'_>, path: Path) -> Checked<Action> {
        let Some(node) = &action.value else { return Ok(Action::Remove(path)) };
        if action.word == Word::Set {
            return Ok(Action::Set(path, self.term(node)?));
        }
        let Node::Value(key) = node else { return self.refuse(Rule::ExpressionEmpty, &[]) };
        let value = self.value(key)?;
        let set = matches!(value.kind(), Type::Ss | Type::Ns | Type::Bs);
        let (allowed, name) = match action.word {
            Word::Add => (set || value.kind() == Type::N, "ADD"),
            _ => (set, "DELETE"),
        };
        if !allowed {
            return self.refuse(Rule::ActionOperandType, &[name, long_name(value.kind())]);
        }
        Ok(match action.word {
            Word::Add => Action::Add(path, value),
            _ => Action::Delete(path, value),
        })
    }

    fn term(&self, node: &Node<'_>) -> Checked<Term> {
        match node {
            Node::Path(path) => self.path(path).map(Term::Path),
            Node::Value(key) => self.value(key).map(Term::Value),
            Node::Group(inner) => self.term(inner),
            Node::Arithmetic(sign, a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                self.term_types(sign, &[&a, &b], Type::N)?;
                let (a, b) = (Box::new(a), Box::new(b));
                Ok(if *sign == "+" { Term::Add(a, b) } else { Term::Subtract(a, b) })
            }
            Node::Call(name, nodes) => {
                let mut terms = Vec::with_capacity(nodes.len());
                for node in nodes {
                    terms.push(self.term(node)?);
                }
                let count = terms.len();
                let mut terms = terms.into_iter();
                let (Some(first), Some(second), 2) = (terms.next(), terms.next(), count) else {
                    return self.refuse(Rule::OperandCount, &[name, &count.to_string()]);
                };
                if *name == "list_append" {
                    self.term_types(name, &[&first, &second], Type::L)?;
                    return Ok(Term::ListAppend(Box::new(first), Box::new(second)));
                }
                match first {
                    Term::Path(path) => Ok(Term::IfNotExists(path, Box::new(second))),
                    _ => self.refuse(Rule::NeedsPath, &[name]),
                }
            }
            _ => self.refuse(Rule::ExpressionEmpty, &[]),
        }
    }

    fn term_types(&self, operator: &str, terms: &[&Term], wanted: Type) -> Checked<()> {
        for term in terms {
            if let Term::Value(value) = term
                && value.kind() != wanted
            {
                return self.refuse(Rule::OperandType, &[operator, value.kind().name()]);
            }
        }
        Ok(())
    }
}

/// The type of an operand that does not depend on the item.
fn of_literal(operand: &Operand) -> Option<Type> {
    match operand {
        Operand::Value(value) => Some(value.kind()),
        Operand::Size(_) => Some(Type::N),
        Operand::Path(_) => None,
    }
}

fn long_name(kind: Type) -> &'static str {
    match kind {
        Type::S => "STRING",
        Type::N => "NUMBER",
        Type::B => "BINARY",
        Type::Bool => "BOOLEAN",
        Type::Null => "NULL",
        Type::L => "LIST",
        Type::M => "MAP",
        Type::Ss => "STRING_SET",
        Type::Ns => "NUMBER_SET",
        Type::Bs => "BINARY_SET",
    }
}

/// `{S:a}`, as messages show a value.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::S(text) => text.clone(),
        Value::N(number) => number.to_string(),
        Value::B(bytes) => {
            let mut out = Vec::new();
            json::encode_base64(bytes, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
        other => format!("{other:?}"),
    };
    format!("{{{}:{text}}}", value.kind().name())
}

/// Do two paths lead to places of which one holds the other, or into one place in two ways?
fn meet(a: &Path, b: &Path) -> Option<Rule> {
    if a.name != b.name {
        return None;
    }
    for (a, b) in a.steps.iter().zip(&b.steps) {
        match (a, b) {
            (Step::Name(a), Step::Name(b)) if a == b => {}
            (Step::Index(a), Step::Index(b)) if a == b => {}
            (Step::Name(_), Step::Index(_)) | (Step::Index(_), Step::Name(_)) => {
                return Some(Rule::PathsConflict);
            }
            _ => return None,
        }
    }
    Some(Rule::PathsOverlap)
}

/// The same judgement for the WHERE clause of a statement, in words without the parameter's name.
pub fn judge_clause(condition: &Condition) -> Checked<()> {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().try_for_each(judge_clause),
        Condition::Not(inner) => judge_clause(inner),
        other => {
            let checker = Checker { kind: ExpressionKind::Condition, placeholders: &Placeholders::default() };
            checker.judge(other).map_err(|error| {
                let text = error.message().trim_start_matches("Invalid ConditionExpression: ").to_string();
                error.reworded(text)
            })
        }
    }
}

/// The first two paths of an update that meet, from the last to the first, in words without the parameter's name.
pub fn meeting_paths(update: &Update) -> Option<String> {
    let paths: Vec<&Path> = update.actions.iter().map(Action::path).collect();
    for (at, path) in paths.iter().enumerate().rev() {
        for later in paths[at + 1..].iter().rev() {
            if let Some(rule) = meet(path, later) {
                let text = rule.say(Layer::Older, &["", &path.to_string(), &later.to_string()]);
                return Some(text.trim_start_matches("Invalid : ").to_string());
            }
        }
    }
    None
}

/// AND, OR, NOT, comparisons, functions, BETWEEN and IN.
fn count(node: &Node<'_>) -> usize {
    match node {
        Node::Path(_) | Node::Value(_) => 0,
        Node::Group(inner) => count(inner),
        Node::Not(inner) => 1 + count(inner),
        Node::And(all) | Node::Or(all) => all.len() - 1 + all.iter().map(count).sum::<usize>(),
        Node::Compare(_, a, b) | Node::Arithmetic(_, a, b) => 1 + count(a) + count(b),
        Node::Between(all) => 1 + all.iter().map(count).sum::<usize>(),
        Node::In(of, list) => 1 + count(of) + list.iter().map(count).sum::<usize>(),
        Node::Call(_, operands) => 1 + operands.iter().map(count).sum::<usize>(),
    }
}
