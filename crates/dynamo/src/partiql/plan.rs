//! Statements to requests: which key a WHERE clause names, and what is left of it as a condition.

use super::statement::{Parsed, Returning, SelectStatement, WriteStatement};
use crate::error::ApiError;
use crate::expression::{Comparison, Condition, KeyCondition, KeyTest, Operand, Path, Projection};
use crate::messages::Rule;
use crate::request::{
    DeleteItem, PutItem, Query, ReadOptions, ReturnCapacity, ReturnValues, Scan, Select, UpdateItem,
    WriteOptions,
};
use crate::table::{IndexKind, KeyAttribute, KeySchema, TableDefinition};
use crate::value::{Item, Value};

/// What a statement does to a table. Columns of a SELECT are applied to what is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    Query(Box<Query>),
    Scan(Box<Scan>),
    /// A failed condition means that the key is there: `Rule::StatementDuplicate`.
    Insert(PutItem),
    Update(UpdateItem),
    Delete(DeleteItem),
    /// A condition on one item, for transactions.
    Check {
        key: Item,
        condition: Condition,
    },
}

/// How a statement is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub consistent: bool,
    pub limit: Option<u32>,
    pub return_capacity: ReturnCapacity,
    pub item_on_failure: bool,
}

impl Parsed {
    /// The request that this statement is, for its table.
    pub fn plan(&self, table: &TableDefinition, options: Options) -> Result<Plan, ApiError> {
        match self {
            Parsed::Select(select) => plan_select(select, table, options),
            Parsed::Insert { item, .. } => plan_insert(item, table, options),
            Parsed::Update(write) => {
                let (key, rest) = write_key(write, table)?;
                let hash = table.key.hash.first().map(|a| a.name.clone()).unwrap_or_default();
                let mut all = vec![Condition::Exists(Path::of_name(hash))];
                all.extend(rest);
                table.check_update(&write.update)?;
                Ok(Plan::Update(UpdateItem {
                    table: table.name.clone(),
                    key,
                    update: write.update.clone(),
                    options: write_options(joined(all), write.returning, options),
                }))
            }
            Parsed::Delete(write) => {
                let (key, rest) = write_key(write, table)?;
                // Deleting what is not there succeeds, whatever else the clause says.
                let hash = table.key.hash.first().map(|a| a.name.clone()).unwrap_or_default();
                let absent = Condition::NotExists(Path::of_name(hash));
                let condition = joined(rest).map(|rest| Condition::Or(vec![absent, rest]));
                let options = write_options(condition, write.returning, options);
                Ok(Plan::Delete(DeleteItem { table: table.name.clone(), key, options }))
            }
            Parsed::Exists(select) => {
                let (key, rest) = key_of(select.condition.as_ref(), table)?;
                let condition = joined(rest).ok_or_else(|| {
                    ApiError::validation("EXISTS must have a condition beside the equalities on the key")
                })?;
                // What is not there does not exist, whatever a negation says of it.
                let hash = table.key.hash.first().map(|a| a.name.clone()).unwrap_or_default();
                let there = Condition::Exists(Path::of_name(hash));
                Ok(Plan::Check { key, condition: Condition::And(vec![there, condition]) })
            }
        }
    }
}

fn write_options(
    condition: Option<Condition>,
    returning: Option<Returning>,
    options: Options,
) -> WriteOptions {
    WriteOptions {
        condition,
        return_values: match returning {
            None => ReturnValues::None,
            Some(Returning::AllOld) => ReturnValues::AllOld,
            Some(Returning::AllNew) => ReturnValues::AllNew,
            Some(Returning::ModifiedOld) => ReturnValues::UpdatedOld,
            Some(Returning::ModifiedNew) => ReturnValues::UpdatedNew,
        },
        return_capacity: options.return_capacity,
        return_metrics: false,
        item_on_failure: options.item_on_failure,
    }
}

fn plan_insert(item: &Item, table: &TableDefinition, options: Options) -> Result<Plan, ApiError> {
    for attribute in table.key.attributes() {
        match item.get(&attribute.name) {
            None => {
                let text = format!("Key attribute should be present in the item: Key {}", attribute.name);
                return Err(ApiError::validation(text));
            }
            Some(value) if value.kind() != attribute.kind.kind() => {
                return Err(Rule::StatementKeyType.refuse(&[&attribute.name]));
            }
            Some(_) => {}
        }
    }
    let hash = table.key.hash.first().map(|a| a.name.clone()).unwrap_or_default();
    let condition = Some(Condition::NotExists(Path::of_name(hash)));
    let options = write_options(condition, None, options);
    Ok(Plan::Insert(PutItem { table: table.name.clone(), item: item.clone(), options }))
}

fn write_key(write: &WriteStatement, table: &TableDefinition) -> Result<(Item, Vec<Condition>), ApiError> {
    key_of(write.condition.as_ref(), table)
}

/// The parts that a condition joins with AND.
fn parts(condition: Option<&Condition>) -> Vec<Condition> {
    match condition {
        None => Vec::new(),
        Some(Condition::And(all)) => all.iter().flat_map(|part| parts(Some(part))).collect(),
        Some(other) => vec![other.clone()],
    }
}

fn joined(mut parts: Vec<Condition>) -> Option<Condition> {
    if parts.len() > 1 { Some(Condition::And(parts)) } else { parts.pop() }
}

/// The value that a part says an attribute equals.
fn equality<'a>(part: &'a Condition, attribute: &KeyAttribute) -> Option<&'a Value> {
    match part {
        Condition::Compare(Comparison::Equal, Operand::Path(path), Operand::Value(value))
        | Condition::Compare(Comparison::Equal, Operand::Value(value), Operand::Path(path))
            if path.steps.is_empty() && path.name == attribute.name =>
        {
            Some(value)
        }
        _ => None,
    }
}

/// Whether what passes has one of a few values in a HASH attribute, however the condition is put together.
fn fixes(part: &Condition, attribute: &KeyAttribute) -> bool {
    match part {
        Condition::And(parts) => parts.iter().any(|part| fixes(part, attribute)),
        Condition::Or(parts) => parts.iter().all(|part| fixes(part, attribute)),
        Condition::In(Operand::Path(path), _) => path.steps.is_empty() && path.name == attribute.name,
        part => equality(part, attribute).is_some(),
    }
}

/// The whole key, and what else the condition says.
fn key_of(
    condition: Option<&Condition>,
    table: &TableDefinition,
) -> Result<(Item, Vec<Condition>), ApiError> {
    let mut rest = parts(condition);
    let mut key = Item::new();
    for attribute in table.key.attributes() {
        let at = rest.iter().position(|part| equality(part, attribute).is_some());
        let Some(at) = at else { return Err(Rule::StatementNoKey.refuse(&[])) };
        let part = rest.remove(at);
        if let Some(value) = equality(&part, attribute) {
            if value.kind() != attribute.kind.kind() {
                return Err(Rule::StatementKeyType.refuse(&[&attribute.name]));
            }
            key.insert(attribute.name.as_str(), value.clone());
        }
    }
    Ok((key, rest))
}

fn plan_select(
    select: &SelectStatement,
    table: &TableDefinition,
    options: Options,
) -> Result<Plan, ApiError> {
    let index = match &select.index {
        Some(name) => Some(table.index(name).ok_or_else(|| Rule::NoSuchIndex.refuse(&[name]))?),
        None => None,
    };
    if index.is_some_and(|index| index.key.hash.len() > 1 || index.key.sort.len() > 1) {
        return Err(Rule::StatementMultiKeys.refuse(&[]));
    }
    if options.consistent && index.is_some_and(|index| index.kind == IndexKind::Global) {
        return Err(Rule::StatementConsistentGlobal.refuse(&[]));
    }
    let schema = index.map_or(&table.key, |index| &index.key);
    let mut rest = parts(select.condition.as_ref());
    let key_condition = take_key_condition(&mut rest, schema)?;
    for (name, _) in &select.order {
        if !schema.contains(name) {
            let text =
                format!("Variable reference {name} in ORDER BY clause must be part of the primary key");
            return Err(ApiError::validation(text));
        }
    }
    let is_fixed = |attribute: &KeyAttribute| rest.iter().any(|part| fixes(part, attribute));
    if !select.order.is_empty() && key_condition.is_none() && !schema.hash.iter().all(is_fixed) {
        return Err(Rule::StatementOrderByKey.refuse(&[]));
    }
    let mut paths = Vec::new();
    if let Some(columns) = &select.columns {
        paths.extend(columns.0.iter().map(|(_, path)| path.clone()));
    }
    let read = ReadOptions {
        table: table.name.clone(),
        index: select.index.clone(),
        select: Select::Attributes,
        projection: (!paths.is_empty()).then_some(Projection { paths }),
        filter: joined(rest),
        legacy_filter: false,
        limit: options.limit,
        consistent: options.consistent,
        start_key: None,
        return_capacity: options.return_capacity,
    };
    Ok(match key_condition {
        Some(key_condition) => {
            let sort = schema.sort.first().map(|attribute| attribute.name.as_str());
            let descends = select.order.iter().any(|(name, ascends)| Some(name.as_str()) == sort && !ascends);
            Plan::Query(Box::new(Query { read, key_condition, forward: !descends, of_statement: true }))
        }
        None => Plan::Scan(Box::new(Scan { read, segment: None })),
    })
}

/// Takes an equality on HASH, and one test of RANGE if there is any, out of the parts; none if HASH is not named.
fn take_key_condition(
    rest: &mut Vec<Condition>,
    schema: &KeySchema,
) -> Result<Option<KeyCondition>, ApiError> {
    let Some(hash) = schema.hash.first() else { return Ok(None) };
    let Some(at) = rest.iter().position(|part| equality(part, hash).is_some()) else { return Ok(None) };
    let part = rest.remove(at);
    let mut tests = Vec::new();
    if let Some(value) = equality(&part, hash) {
        if value.kind() != hash.kind.kind() {
            return Err(Rule::StatementKeyType.refuse(&[&hash.name]));
        }
        tests.push((hash.name.clone(), KeyTest::Equal(value.clone())));
    }
    if let Some(sort) = schema.sort.first()
        && let Some(at) = rest.iter().position(|part| key_test(part, sort).is_some())
    {
        let part = rest.remove(at);
        tests.extend(key_test(&part, sort).map(|test| (sort.name.clone(), test)));
    }
    Ok(Some(KeyCondition { tests, legacy: false }))
}

/// What a part says of a RANGE attribute, if a Query can use it.
fn key_test(part: &Condition, attribute: &KeyAttribute) -> Option<KeyTest> {
    let of = |operand: &Operand| match operand {
        Operand::Path(path) => path.steps.is_empty() && path.name == attribute.name,
        _ => false,
    };
    let value = |operand: &Operand| match operand {
        Operand::Value(value) if value.kind() == attribute.kind.kind() => Some(value.clone()),
        _ => None,
    };
    match part {
        Condition::Compare(comparison, a, b) if of(a) => {
            let value = value(b)?;
            Some(match comparison {
                Comparison::Equal => KeyTest::Equal(value),
                Comparison::Less => KeyTest::Less(value),
                Comparison::LessOrEqual => KeyTest::LessOrEqual(value),
                Comparison::Greater => KeyTest::Greater(value),
                Comparison::GreaterOrEqual => KeyTest::GreaterOrEqual(value),
                Comparison::NotEqual => return None,
            })
        }
        Condition::Between(a, low, high) if of(a) => Some(KeyTest::Between(value(low)?, value(high)?)),
        Condition::BeginsWith(a, prefix) if of(a) => Some(KeyTest::BeginsWith(value(prefix)?)),
        _ => None,
    }
}
