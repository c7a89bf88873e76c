//! The older parameters, translated into the trees of expressions: Expected, filters, KeyConditions, AttributeUpdates.

use super::tree::{Action, Comparison, Condition, KeyCondition, KeyTest, Operand, Path, Update};
use crate::error::ApiError;
use crate::messages::Rule;
use crate::value::{Type, Value};

/// Four HASH and four RANGE attributes of an index.
const KEY_ATTRIBUTES_MAX: usize = 8;

/// One entry of Expected, QueryFilter, ScanFilter or KeyConditions.
#[derive(Clone, Debug, Default)]
pub struct LegacyCondition {
    pub attribute: String,
    pub operator: Option<String>,
    pub list: Option<Vec<Value>>,
    /// Of Expected only.
    pub value: Option<Value>,
    pub exists: Option<bool>,
}

/// How the conditions of a map are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joined {
    #[default]
    And,
    Or,
}

fn join(mut conditions: Vec<Condition>, joined: Joined) -> Option<Condition> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ if joined == Joined::And => Some(Condition::And(conditions)),
        _ => Some(Condition::Or(conditions)),
    }
}

/// Expected.
pub fn expected(entries: &[LegacyCondition], joined: Joined) -> Result<Option<Condition>, ApiError> {
    let conditions = entries.iter().map(expectation).collect::<Result<_, _>>()?;
    Ok(join(conditions, joined))
}

/// QueryFilter and ScanFilter.
pub fn filter(entries: &[LegacyCondition], joined: Joined) -> Result<Option<Condition>, ApiError> {
    let one = |entry: &LegacyCondition| {
        let values = entry.list.as_deref().unwrap_or_default();
        compared(&entry.attribute, entry.operator.as_deref().unwrap_or_default(), values)
    };
    let conditions = entries.iter().map(one).collect::<Result<_, _>>()?;
    Ok(join(conditions, joined))
}

fn expectation(entry: &LegacyCondition) -> Result<Condition, ApiError> {
    let attribute = entry.attribute.as_str();
    if let Some(operator) = &entry.operator {
        if entry.exists.is_some() {
            return Err(Rule::ExistsAndOperator.refuse(&[attribute]));
        }
        if entry.value.is_some() && entry.list.is_some() {
            return Err(Rule::ValueAndList.refuse(&[attribute]));
        }
        let values = match (&entry.value, &entry.list) {
            (Some(value), _) => std::slice::from_ref(value),
            (None, Some(list)) => list.as_slice(),
            (None, None) if arguments(operator) != Some((0, 0)) => {
                return Err(Rule::OperatorWithoutValue.refuse(&[operator, attribute]));
            }
            (None, None) => &[],
        };
        return compared(attribute, operator, values);
    }
    if entry.list.is_some() {
        let rule = if entry.value.is_some() { Rule::ValueAndList } else { Rule::ListWithoutOperator };
        return Err(rule.refuse(&[attribute]));
    }
    match (entry.exists, &entry.value) {
        (Some(false), Some(_)) => Err(Rule::ExistsFalseValue.refuse(&[attribute])),
        (Some(false), None) => Ok(Condition::NotExists(Path::of_name(attribute))),
        (Some(true), None) => Err(Rule::ExistsTrueNoValue.refuse(&["true", attribute])),
        (None, None) => Err(Rule::ExistsTrueNoValue.refuse(&["null", attribute])),
        (_, Some(value)) => {
            let (path, value) = (Operand::Path(Path::of_name(attribute)), Operand::Value(value.clone()));
            Ok(Condition::Compare(Comparison::Equal, path, value))
        }
    }
}

/// How many arguments an operator takes, at least and at most; none if there is no such operator.
fn arguments(operator: &str) -> Option<(usize, usize)> {
    Some(match operator {
        "NULL" | "NOT_NULL" => (0, 0),
        "EQ" | "NE" | "LE" | "LT" | "GE" | "GT" | "CONTAINS" | "NOT_CONTAINS" | "BEGINS_WITH" => (1, 1),
        "BETWEEN" => (2, 2),
        "IN" => (1, usize::MAX),
        _ => return None,
    })
}

/// Number and types of the arguments.
fn check_arguments(operator: &str, values: &[Value]) -> Result<(), ApiError> {
    let (least, most) = arguments(operator).ok_or_else(|| Rule::ComparisonOperator.refuse(&[]))?;
    if !(least..=most).contains(&values.len()) {
        return Err(Rule::ArgumentCount.refuse(&[operator]));
    }
    let scalar = [Type::S, Type::N, Type::B];
    let allowed: &[Type] = match operator {
        "LE" | "LT" | "GE" | "GT" | "BETWEEN" | "IN" => &scalar,
        "BEGINS_WITH" => &[Type::S, Type::B],
        "CONTAINS" | "NOT_CONTAINS" => &[Type::S, Type::N, Type::B, Type::Bool, Type::Null],
        _ => &Type::ALL,
    };
    if let Some(value) = values.iter().find(|value| !allowed.contains(&value.kind())) {
        return Err(Rule::ArgumentType.refuse(&[operator, value.kind().name()]));
    }
    if values.iter().any(|value| value.kind() != values[0].kind()) {
        return Err(Rule::ArgumentTypes.refuse(&[]));
    }
    match values {
        [low, high] if operator == "BETWEEN" && low.order(high).is_some_and(|o| o.is_gt()) => {
            Err(Rule::ArgumentRange.refuse(&[]))
        }
        _ => Ok(()),
    }
}

fn compared(attribute: &str, operator: &str, values: &[Value]) -> Result<Condition, ApiError> {
    check_arguments(operator, values)?;
    let path = Operand::Path(Path::of_name(attribute));
    let value = |at: usize| Operand::Value(values[at].clone());
    let compare = |comparison, path| Condition::Compare(comparison, path, value(0));
    Ok(match operator {
        "EQ" => compare(Comparison::Equal, path),
        "NE" => compare(Comparison::NotEqual, path),
        "LE" => compare(Comparison::LessOrEqual, path),
        "LT" => compare(Comparison::Less, path),
        "GE" => compare(Comparison::GreaterOrEqual, path),
        "GT" => compare(Comparison::Greater, path),
        "NULL" => Condition::NotExists(Path::of_name(attribute)),
        "NOT_NULL" => Condition::Exists(Path::of_name(attribute)),
        "CONTAINS" => Condition::Contains(path, value(0)),
        "NOT_CONTAINS" => Condition::NotContains(path, value(0)),
        "BEGINS_WITH" => Condition::BeginsWith(path, value(0)),
        "BETWEEN" => Condition::Between(path, value(0), value(1)),
        _ => Condition::In(path, values.iter().cloned().map(Operand::Value).collect()),
    })
}

/// KeyConditions.
pub fn key_conditions(entries: &[LegacyCondition]) -> Result<KeyCondition, ApiError> {
    let mut tests = Vec::with_capacity(entries.len());
    for entry in entries {
        let operator = entry.operator.as_deref().unwrap_or_default();
        let values = entry.list.as_deref().unwrap_or_default();
        check_arguments(operator, values)?;
        let value = |at: usize| values[at].clone();
        let test = match operator {
            "EQ" => KeyTest::Equal(value(0)),
            "LE" => KeyTest::LessOrEqual(value(0)),
            "LT" => KeyTest::Less(value(0)),
            "GE" => KeyTest::GreaterOrEqual(value(0)),
            "GT" => KeyTest::Greater(value(0)),
            "BEGINS_WITH" => KeyTest::BeginsWith(value(0)),
            "BETWEEN" => KeyTest::Between(value(0), value(1)),
            _ => return Err(Rule::KeyConditionsOperator.refuse(&[])),
        };
        tests.push((entry.attribute.clone(), test));
    }
    // An index may have several key attributes; `bind` knows whether this one has.
    if tests.is_empty() || tests.len() > KEY_ATTRIBUTES_MAX {
        return Err(Rule::KeyConditionsCount.refuse(&[]));
    }
    Ok(KeyCondition { tests, legacy: true })
}

/// One entry of AttributeUpdates.
#[derive(Clone, Debug)]
pub struct LegacyUpdate {
    pub attribute: String,
    pub action: Option<String>,
    pub value: Option<Value>,
}

/// AttributeUpdates.
pub fn attribute_updates(entries: &[LegacyUpdate]) -> Result<Update, ApiError> {
    let actions = entries.iter().map(attribute_update).collect::<Result<_, _>>()?;
    Ok(Update { actions, legacy: true })
}

fn attribute_update(entry: &LegacyUpdate) -> Result<Action, ApiError> {
    let path = Path::of_name(entry.attribute.as_str());
    let action = entry.action.as_deref().unwrap_or("PUT");
    let Some(value) = &entry.value else {
        return if action == "DELETE" { Ok(Action::Remove(path)) } else { Err(Rule::OnlyDelete.refuse(&[])) };
    };
    let set = matches!(value.kind(), Type::Ss | Type::Ns | Type::Bs);
    match (action, value) {
        ("DELETE", _) if set => Ok(Action::Delete(path, value.clone())),
        ("DELETE", _) => Err(Rule::DeleteType.refuse(&[value.kind().name()])),
        ("ADD", Value::L(list)) => Ok(Action::Append(path, list.clone())),
        ("ADD", _) if set || value.kind() == Type::N => Ok(Action::Add(path, value.clone())),
        ("ADD", _) => Err(Rule::AddType.refuse(&[value.kind().name()])),
        _ => Ok(Action::Set(path, super::tree::Term::Value(value.clone()))),
    }
}
