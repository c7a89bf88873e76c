//! PutItem, GetItem, UpdateItem and DeleteItem.

use super::parameters::Forms;
use super::{Context, DeleteItem, GetItem, PutItem, ReturnValues, UpdateItem, WriteOptions};
use super::{item_on_failure, return_capacity, return_metrics, table};
use crate::error::ApiError;
use crate::expression::{self, ExpressionKind, LegacyUpdate, Placeholders, Update};
use crate::messages::Layer;
use crate::messages::Rule;
use crate::shape::{Faults, Members, Node, table_name_faults, table_of};
use crate::size;

const WRITE: Forms = Forms {
    legacy: &["Expected", "ConditionalOperator"],
    expressions: &["ConditionExpression"],
    with_values: &["ConditionExpression"],
};
const UPDATE: Forms = Forms {
    legacy: &["AttributeUpdates", "Expected", "ConditionalOperator"],
    expressions: &["UpdateExpression", "ConditionExpression"],
    with_values: &["UpdateExpression", "ConditionExpression"],
};
const GET: Forms = Forms {
    legacy: &["AttributesToGet"],
    expressions: &["ProjectionExpression"],
    with_values: &["ProjectionExpression"],
};

impl Context {
    /// Members of an operation on items. The newer layer tells faults of the table's name alone, and only the first.
    pub(super) fn item_constraints(&self, members: &Members<'_>) -> Result<(), ApiError> {
        if self.layer == Layer::Older {
            return self.constraints(members, &[]);
        }
        if let Some(name) = members.text("TableName") {
            if name.is_empty() {
                return Err(ApiError::validation(
                    "1 validation error detected: Value at 'TableName' failed to satisfy constraint: \
                     Member must have length greater than or equal to 1",
                ));
            }
            if let Some(rule) = table_name_faults(table_of(name)).first() {
                let mut faults = Faults::default();
                faults.broken(name, "tableName", rule);
                return faults.finish();
            }
        }
        self.return_values(members)?;
        self.constraints(members, &[])
    }

    fn write_options(
        &self,
        members: &mut Members<'_>,
        placeholders: &Placeholders,
        legacy: &[expression::LegacyCondition],
    ) -> Result<WriteOptions, ApiError> {
        let joined = self.joined(members, legacy.len())?;
        let expected = self.envelope(expression::expected(legacy, joined))?;
        let text = members.text("ConditionExpression");
        let condition = self.condition(ExpressionKind::Condition, text, placeholders)?;
        Ok(WriteOptions {
            condition: condition.or(expected),
            return_values: return_values(members),
            return_capacity: return_capacity(members),
            return_metrics: return_metrics(members),
            item_on_failure: item_on_failure(members),
        })
    }

    /// ConditionalOperator is judged before what it joins.
    fn joins(&self, members: &Members<'_>) -> Result<(), ApiError> {
        let count = match members.get("Expected") {
            Some(Node::Map(map)) => map.len(),
            _ => 0,
        };
        self.joined(members, count).map(drop)
    }

    /// PutItem and DeleteItem know only two kinds.
    fn only_all_old(&self, members: &Members<'_>) -> Result<(), ApiError> {
        match return_values(members) {
            ReturnValues::None | ReturnValues::AllOld => Ok(()),
            _ => Err(Rule::ReturnValuesAllOld.refuse(&[])),
        }
    }
}

fn return_values(members: &Members<'_>) -> ReturnValues {
    match members.text("ReturnValues") {
        Some("ALL_OLD") => ReturnValues::AllOld,
        Some("ALL_NEW") => ReturnValues::AllNew,
        Some("UPDATED_OLD") => ReturnValues::UpdatedOld,
        Some("UPDATED_NEW") => ReturnValues::UpdatedNew,
        _ => ReturnValues::None,
    }
}

pub(super) fn put(context: &Context, mut members: Members<'_>) -> Result<PutItem, ApiError> {
    context.item_constraints(&members)?;
    context.only_all_old(&members)?;
    let item = context.item(members.take_attributes("Item").unwrap_or_default())?;
    context.mixing(&members, &WRITE)?;
    let placeholders = context.placeholders(&mut members, &WRITE)?;
    context.joins(&members)?;
    let expected = context.legacy(&mut members, "Expected")?;
    let options = context.write_options(&mut members, &placeholders, &expected)?;
    context.envelope(placeholders.check_used())?;
    if size::item(&item) > size::ITEM_MAX {
        return Err(Rule::ItemSize.refuse(&[]));
    }
    Ok(PutItem { table: table(&members), item, options })
}

pub(super) fn delete(context: &Context, mut members: Members<'_>) -> Result<DeleteItem, ApiError> {
    context.item_constraints(&members)?;
    context.only_all_old(&members)?;
    context.mixing(&members, &WRITE)?;
    let placeholders = context.placeholders(&mut members, &WRITE)?;
    context.joins(&members)?;
    let key = context.item(members.take_attributes("Key").unwrap_or_default())?;
    let expected = context.legacy(&mut members, "Expected")?;
    let options = context.write_options(&mut members, &placeholders, &expected)?;
    context.envelope(placeholders.check_used())?;
    Ok(DeleteItem { table: table(&members), key, options })
}

pub(super) fn get(context: &Context, mut members: Members<'_>) -> Result<GetItem, ApiError> {
    context.item_constraints(&members)?;
    context.mixing(&members, &GET)?;
    let placeholders = context.placeholders(&mut members, &GET)?;
    let key = context.item(members.take_attributes("Key").unwrap_or_default())?;
    let projection = context.projection(&members, &placeholders)?;
    placeholders.check_used()?;
    Ok(GetItem {
        table: table(&members),
        key,
        consistent: members.boolean("ConsistentRead").unwrap_or(false),
        projection,
        return_capacity: return_capacity(&members),
    })
}

pub(super) fn update(context: &Context, mut members: Members<'_>) -> Result<UpdateItem, ApiError> {
    context.item_constraints(&members)?;
    context.mixing(&members, &UPDATE)?;
    let placeholders = context.placeholders(&mut members, &UPDATE)?;
    context.joins(&members)?;
    let key = context.item(members.take_attributes("Key").unwrap_or_default())?;
    let expected = context.legacy(&mut members, "Expected")?;
    let updates = attribute_updates(context, &mut members)?;
    let mut update = match members.text("UpdateExpression") {
        Some(text) => context.envelope(expression::update(text, &placeholders, context.layer))?,
        None => Update::default(),
    };
    let options = context.write_options(&mut members, &placeholders, &expected)?;
    context.envelope(placeholders.check_used())?;
    if !updates.is_empty() {
        update = context.envelope(expression::attribute_updates(&updates))?;
    }
    Ok(UpdateItem { table: table(&members), key, update, options })
}

fn attribute_updates(context: &Context, members: &mut Members<'_>) -> Result<Vec<LegacyUpdate>, ApiError> {
    let mut updates = Vec::new();
    for (attribute, node) in members.take_map("AttributeUpdates").unwrap_or_default() {
        let Node::Structure(mut entry) = node else { continue };
        if attribute.is_empty() {
            return context.envelope(Err(Rule::EmptyAttributeName.refuse(&[])));
        }
        let value = match entry.take("Value") {
            Some(Node::Value(read)) => match &read.fault {
                Some(fault) => return context.value_fault(fault),
                None => Some(read.value),
            },
            _ => None,
        };
        let action = entry.take_text("Action");
        if let Some(action) = action.as_deref().filter(|word| !["ADD", "PUT", "DELETE"].contains(word)) {
            if context.layer == Layer::Newer {
                return Err(ApiError::validation(
                    "1 validation error detected: Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action",
                ));
            }
            let mut faults = Faults::default();
            let path = format!("attributeUpdates.{attribute}.member.action");
            faults.broken(action, &path, "Member must satisfy enum value set: [ADD, DELETE, PUT]");
            faults.finish()?;
        }
        updates.push(LegacyUpdate { attribute: attribute.into_owned(), action, value });
    }
    Ok(updates)
}
