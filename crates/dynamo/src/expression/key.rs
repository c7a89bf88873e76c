//! Key conditions of Query: which attributes they name, and what they mean for a table or index.

use super::check::Checker;
use super::parser::{ExpressionKind, Parser};
use super::placeholders::Placeholders;
use super::tree::{Comparison, Condition, KeyCondition, KeyRange, KeyTest, Operand, Path};
use crate::error::ApiError;
use crate::messages::{Layer, Rule};
use crate::table::{KeyAttribute, KeySchema};
use crate::value::{Item, Value};

/// A KeyConditionExpression as a condition like any other. What it may not be is told later, by `key_condition`.
pub fn key_expression(text: &str, placeholders: &Placeholders, layer: Layer) -> Result<Condition, ApiError> {
    let kind = ExpressionKind::Key;
    let node = Parser::new(text, kind, layer)?.condition()?;
    let checker = Checker { kind, placeholders };
    checker.functions_of_condition(&node)?;
    checker.condition(&node)
}

/// What a KeyConditionExpression says of each attribute.
pub fn key_condition(condition: &Condition, layer: Layer) -> Result<KeyCondition, ApiError> {
    let mut tests = Vec::new();
    collect(condition, &mut tests)?;
    for (at, (name, _)) in tests.iter().enumerate() {
        if tests[..at].iter().any(|(known, _)| known == name) {
            return Err(Rule::KeyConditionTwice.refuse_in(layer, &[]));
        }
    }
    Ok(KeyCondition { tests, legacy: false })
}

fn operator(name: &str) -> ApiError {
    Rule::KeyOperator.refuse(&[name])
}

fn collect(condition: &Condition, tests: &mut Vec<(String, KeyTest)>) -> Result<(), ApiError> {
    match condition {
        Condition::And(all) => all.iter().try_for_each(|part| collect(part, tests)),
        Condition::Or(_) => Err(operator("OR")),
        Condition::Not(_) => Err(operator("NOT")),
        Condition::In(..) => Err(operator("IN")),
        Condition::Exists(_) => Err(operator("attribute_exists")),
        Condition::NotExists(_) => Err(operator("attribute_not_exists")),
        Condition::HasType(..) => Err(operator("attribute_type")),
        Condition::Contains(..) | Condition::NotContains(..) => Err(operator("contains")),
        Condition::Compare(Comparison::NotEqual, ..) => Err(operator("<>")),
        Condition::Compare(comparison, a, b) => {
            let (path, value, turned) = match (simple(a)?, simple(b)?) {
                (Simple::Path(path), Simple::Value(value)) => (path, value, false),
                (Simple::Value(value), Simple::Path(path)) => (path, value, true),
                (Simple::Path(_), Simple::Path(_)) => return Err(Rule::KeyManyAttributes.refuse(&[])),
                (Simple::Value(_), Simple::Value(_)) => return Err(Rule::KeyNoAttribute.refuse(&[])),
            };
            let value = value.clone();
            let test = match (comparison, turned) {
                (Comparison::Less, false) | (Comparison::Greater, true) => KeyTest::Less(value),
                (Comparison::LessOrEqual, false) | (Comparison::GreaterOrEqual, true) => {
                    KeyTest::LessOrEqual(value)
                }
                (Comparison::Greater, false) | (Comparison::Less, true) => KeyTest::Greater(value),
                (Comparison::GreaterOrEqual, false) | (Comparison::LessOrEqual, true) => {
                    KeyTest::GreaterOrEqual(value)
                }
                _ => KeyTest::Equal(value),
            };
            push(path, test, tests)
        }
        Condition::Between(of, low, high) => match (simple(of)?, simple(low)?, simple(high)?) {
            (Simple::Path(path), Simple::Value(low), Simple::Value(high)) => {
                push(path, KeyTest::Between(low.clone(), high.clone()), tests)
            }
            (Simple::Value(_), Simple::Value(_), Simple::Value(_)) => Err(Rule::KeyNoAttribute.refuse(&[])),
            (Simple::Path(_), ..) => Err(Rule::KeyManyAttributes.refuse(&[])),
            _ => Err(Rule::KeyFirstOperand.refuse(&["BETWEEN"])),
        },
        Condition::BeginsWith(of, prefix) => match (simple(of)?, simple(prefix)?) {
            (Simple::Path(path), Simple::Value(prefix)) => {
                push(path, KeyTest::BeginsWith(prefix.clone()), tests)
            }
            (Simple::Path(_), Simple::Path(_)) => Err(Rule::KeyManyAttributes.refuse(&[])),
            (Simple::Value(_), Simple::Value(_)) => Err(Rule::KeyNoAttribute.refuse(&[])),
            _ => Err(Rule::KeyFirstOperand.refuse(&["begins_with"])),
        },
    }
}

enum Simple<'a> {
    Path(&'a Path),
    Value(&'a Value),
}

fn simple(operand: &Operand) -> Result<Simple<'_>, ApiError> {
    match operand {
        Operand::Path(path) => Ok(Simple::Path(path)),
        Operand::Value(value) => Ok(Simple::Value(value)),
        Operand::Size(_) => Err(Rule::KeyNestedOperations.refuse(&[])),
    }
}

fn push(path: &Path, test: KeyTest, tests: &mut Vec<(String, KeyTest)>) -> Result<(), ApiError> {
    if !path.steps.is_empty() {
        return Err(Rule::KeyNestedAttributes.refuse(&[]));
    }
    tests.push((path.name.clone(), test));
    Ok(())
}

impl KeyTest {
    fn values(&self) -> Vec<&Value> {
        match self {
            KeyTest::Equal(value)
            | KeyTest::Less(value)
            | KeyTest::LessOrEqual(value)
            | KeyTest::Greater(value)
            | KeyTest::GreaterOrEqual(value)
            | KeyTest::BeginsWith(value) => vec![value],
            KeyTest::Between(low, high) => vec![low, high],
        }
    }

    /// Does a key value pass?
    pub fn holds(&self, value: &Value) -> bool {
        let order = |other: &Value| value.order(other);
        match self {
            KeyTest::Equal(other) => value == other,
            KeyTest::Less(other) => order(other).is_some_and(|o| o.is_lt()),
            KeyTest::LessOrEqual(other) => order(other).is_some_and(|o| o.is_le()),
            KeyTest::Greater(other) => order(other).is_some_and(|o| o.is_gt()),
            KeyTest::GreaterOrEqual(other) => order(other).is_some_and(|o| o.is_ge()),
            KeyTest::Between(low, high) => {
                order(low).is_some_and(|o| o.is_ge()) && order(high).is_some_and(|o| o.is_le())
            }
            KeyTest::BeginsWith(prefix) => match (value, prefix) {
                (Value::S(of), Value::S(prefix)) => of.starts_with(prefix.as_str()),
                (Value::B(of), Value::B(prefix)) => of.starts_with(prefix),
                _ => false,
            },
        }
    }
}

impl KeyCondition {
    fn test(&self, attribute: &KeyAttribute) -> Option<&KeyTest> {
        self.tests.iter().find(|(name, _)| *name == attribute.name).map(|(_, test)| test)
    }

    /// What the conditions mean for these keys, of a table or of the index of this name.
    pub fn bind(&self, schema: &KeySchema, index: Option<&str>) -> Result<KeyRange, ApiError> {
        if self.legacy && self.tests.len() > schema.attributes().count().max(2) {
            return Err(Rule::KeyConditionsCount.refuse(&[]));
        }
        let known = schema.attributes().count();
        if self.tests.len() > known {
            return Err(
                Rule::TooManyKeyConditions.refuse(&[&self.tests.len().to_string(), &known.to_string()])
            );
        }
        self.check_presence(schema)?;
        for attribute in schema.attributes() {
            let values = self.test(attribute).map(KeyTest::values).unwrap_or_default();
            if values.iter().any(|value| value.kind() != attribute.kind.kind()) {
                return Err(Rule::KeyConditionType.refuse(&[]));
            }
        }
        for attribute in schema.attributes() {
            let values = self.test(attribute).map(KeyTest::values).unwrap_or_default();
            values.iter().try_for_each(|value| not_empty(value, attribute, index))?;
        }
        let mut range = KeyRange { hash: Vec::new(), sort_equal: Vec::new(), sort_test: None };
        for attribute in &schema.hash {
            match self.test(attribute) {
                Some(KeyTest::Equal(value)) => range.hash.push(value.clone()),
                _ => return Err(Rule::KeyConditionNotSupported.refuse(&[])),
            }
        }
        for attribute in &schema.sort {
            match self.test(attribute) {
                None => break,
                Some(KeyTest::Equal(value)) => range.sort_equal.push(value.clone()),
                Some(test) => {
                    range.sort_test = Some(test.clone());
                    break;
                }
            }
        }
        Ok(range)
    }

    /// Which attributes must have which conditions; the words differ for keys of several attributes.
    fn check_presence(&self, schema: &KeySchema) -> Result<(), ApiError> {
        let several = schema.hash.len() > 1 || schema.sort.len() > 1;
        let is_equal = |attribute: &&KeyAttribute| matches!(self.test(attribute), Some(KeyTest::Equal(_)));
        if several {
            let names = |list: Vec<&KeyAttribute>| {
                list.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ")
            };
            // Those without any condition are told before those with another than equality.
            let absent: Vec<_> = schema.hash.iter().filter(|a| self.test(a).is_none()).collect();
            let unequal = || schema.hash.iter().filter(|a| !is_equal(a)).collect();
            let lacking: Vec<_> = if absent.is_empty() { unequal() } else { absent };
            if !lacking.is_empty() {
                return Err(Rule::HashNeedsEquality.refuse(&[&names(lacking)]));
            }
            if let Some(last) = schema.sort.iter().rposition(|a| self.test(a).is_some()) {
                let lacking: Vec<_> = schema.sort[..last].iter().filter(|a| !is_equal(a)).collect();
                if let Some(first) = schema.sort.iter().position(|a| !is_equal(&a)) {
                    // Of several conditions behind the gap, the first one is named.
                    let behind = schema.sort[first + 1..].iter().find(|a| self.test(a).is_some());
                    if let Some(behind) = behind {
                        return Err(Rule::RangeNeedsEquality.refuse(&[&names(lacking), &behind.name]));
                    }
                }
            }
        } else if let Some(hash) = schema.hash.first()
            && self.test(hash).is_none()
        {
            return Err(Rule::MissedKeyElement.refuse(&[&hash.name]));
        }
        if self.tests.iter().any(|(name, _)| !schema.contains(name)) {
            let missed = schema.sort.iter().find(|a| self.test(a).is_none());
            return Err(Rule::MissedKeyElement.refuse(&[missed.map_or("", |a| a.name.as_str())]));
        }
        Ok(())
    }
}

/// No key is empty, so nothing can be compared with an empty one.
fn not_empty(value: &Value, attribute: &KeyAttribute, index: Option<&str>) -> Result<(), ApiError> {
    let word = match value {
        Value::S(text) if text.is_empty() => "string",
        Value::B(bytes) if bytes.is_empty() => "binary",
        _ => return Ok(()),
    };
    Err(match index {
        None => Rule::EmptyKey.refuse(&[word, &attribute.name]),
        Some(index) => Rule::EmptyIndexKey.refuse(&[word, index, &attribute.name]),
    })
}

impl KeyRange {
    /// Checks that ExclusiveStartKey, whose shape is right, lies within the range. `unique` says that the whole key of
    /// the table is given, so that there is nothing behind its one item.
    pub fn check_start(&self, schema: &KeySchema, start: &Item, unique: bool) -> Result<(), ApiError> {
        if unique && self.sort_equal.len() == schema.sort.len() && self.sort_test.is_none() {
            let rule = if schema.sort.is_empty() { Rule::StartKeyHashOnly } else { Rule::StartKeyOneRow };
            return Err(rule.refuse(&[]));
        }
        let same = |attributes: &[KeyAttribute], values: &[Value]| {
            attributes.iter().zip(values).all(|(attribute, value)| start.get(&attribute.name) == Some(value))
        };
        if !same(&schema.hash, &self.hash) {
            return Err(Rule::StartKeyOutside.refuse(&[]));
        }
        let tested = schema.sort.get(self.sort_equal.len()).zip(self.sort_test.as_ref());
        let within =
            tested.is_none_or(|(attribute, test)| start.get(&attribute.name).is_some_and(|v| test.holds(v)));
        if same(&schema.sort, &self.sort_equal) && within {
            Ok(())
        } else {
            Err(Rule::StartKeyPredicate.refuse(&[]))
        }
    }
}
