//! Query, Scan and SearchVectors.

use super::parameters::Forms;
use super::{Context, Query, ReadOptions, Scan, SearchVectors, Segment, Select};
use super::{return_capacity, table};
use crate::error::ApiError;
use crate::expression::{self, Condition, ExpressionKind, LegacyCondition, Placeholders, Projection};
use crate::messages::{Layer, Rule};
use crate::number::Number;
use crate::shape::{Faults, Members, Node};
use crate::value::{Item, Value};

const QUERY: Forms = Forms {
    legacy: &["AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"],
    expressions: &["ProjectionExpression", "FilterExpression", "KeyConditionExpression"],
    with_values: &["FilterExpression", "KeyConditionExpression"],
};
const SCAN: Forms = Forms {
    legacy: &["AttributesToGet", "ScanFilter", "ConditionalOperator"],
    expressions: &["ProjectionExpression", "FilterExpression"],
    with_values: &["FilterExpression"],
};
const SEARCH: Forms = Forms {
    legacy: &[],
    expressions: &["ProjectionExpression", "SearchConditionExpression"],
    with_values: &["SearchConditionExpression"],
};
/// The most that one search gives back.
const TOP_MAX: i64 = 100;

impl Context {
    /// Numbers out of their range, which the newer layer tells first and alone.
    fn number_faults(&self, members: &Members<'_>, bounds: &[(&str, i64, i64)]) -> Result<(), ApiError> {
        let mut faults = Faults::default();
        for (name, least, most) in bounds {
            let Some(value) = members.integer(name) else { continue };
            let rule = if value < *least {
                format!("Member must have value greater than or equal to {least}")
            } else if value > *most {
                format!("Member must have value less than or equal to {most}")
            } else {
                continue;
            };
            if self.layer == Layer::Newer {
                let text = format!(
                    "1 validation error detected: Value at '{name}' failed to satisfy constraint: {rule}"
                );
                return Err(ApiError::validation(text));
            }
            faults.broken(&value.to_string(), &format!("{}{}", name[..1].to_lowercase(), &name[1..]), &rule);
        }
        faults.finish()
    }

    /// What is read of a start key, before anything is known of the table.
    fn start_key(&self, members: &mut Members<'_>) -> Result<Option<Item>, ApiError> {
        match members.take_attributes("ExclusiveStartKey") {
            Some(key) => self.item(key).map(Some),
            None => Ok(None),
        }
    }

    fn select(&self, members: &Members<'_>, projected: bool) -> Result<Select, ApiError> {
        let word = members.text("Select");
        let parameter =
            if members.contains("ProjectionExpression") { "ProjectionExpression" } else { "AttributesToGet" };
        let refuse = |what: &str| Err(Rule::SelectAndAttributes.refuse_in(self.layer, &[parameter, what]));
        match word {
            Some("SPECIFIC_ATTRIBUTES") if !projected => {
                Err(Rule::SelectNeedsAttributes.refuse_in(self.layer, &[]))
            }
            Some("ALL_PROJECTED_ATTRIBUTES") if projected => refuse("ALL_PROJECTED_ATTRIBUTES"),
            Some("ALL_PROJECTED_ATTRIBUTES") if !members.contains("IndexName") => {
                Err(Rule::SelectProjectedWithoutIndex.refuse_in(self.layer, &[]))
            }
            Some("ALL_ATTRIBUTES") if projected => refuse("ALL_ATTRIBUTES"),
            Some("COUNT") if projected => refuse("only the Count"),
            Some("ALL_ATTRIBUTES") => Ok(Select::AllAttributes),
            Some("COUNT") => Ok(Select::Count),
            _ => Ok(Select::Attributes),
        }
    }

    fn filter(
        &self,
        members: &Members<'_>,
        legacy: &[LegacyCondition],
        placeholders: &Placeholders,
    ) -> Result<Option<Condition>, ApiError> {
        let joined = self.joined(members, legacy.len())?;
        let old = expression::filter(legacy, joined)?;
        let new = self.condition(ExpressionKind::Filter, members.text("FilterExpression"), placeholders)?;
        Ok(new.or(old))
    }
}

fn options(
    members: &Members<'_>,
    select: Select,
    projection: Option<Projection>,
    filter: (Option<Condition>, bool),
    start_key: Option<Item>,
) -> ReadOptions {
    ReadOptions {
        table: table(members),
        index: members.text("IndexName").map(str::to_string),
        select,
        projection,
        filter: filter.0,
        legacy_filter: filter.1,
        limit: members.integer("Limit").map(|limit| limit as u32),
        consistent: members.boolean("ConsistentRead").unwrap_or(false),
        start_key,
        return_capacity: return_capacity(members),
    }
}

pub(super) fn query(context: &Context, mut members: Members<'_>) -> Result<Query, ApiError> {
    if context.layer == Layer::Newer {
        context.number_faults(&members, &[("Limit", 1, i64::MAX)])?;
    }
    context.item_constraints(&members)?;
    context.mixing(&members, &QUERY)?;
    let filter = context.legacy(&mut members, "QueryFilter")?;
    let keys = context.legacy(&mut members, "KeyConditions")?;
    // Before the expressions: how many conditions an operator joins.
    context.joined(&members, filter.len())?;
    let start_key = context.start_key(&mut members)?;
    let placeholders = context.placeholders(&mut members, &QUERY)?;
    let legacy_filter = !filter.is_empty();
    let filter = context.filter(&members, &filter, &placeholders)?;
    let projection = context.projection(&members, &placeholders)?;
    let expression = match members.text("KeyConditionExpression") {
        Some(text) => Some(expression::key_expression(text, &placeholders, context.layer)?),
        None => None,
    };
    placeholders.check_used()?;
    let select = context.select(&members, projection.is_some())?;
    let key_condition = match expression {
        Some(expression) => expression::key_condition(&expression, context.layer)?,
        None if keys.is_empty() => return Err(Rule::NoKeyCondition.refuse(&[])),
        None => expression::key_conditions(&keys)?,
    };
    let read = options(&members, select, projection, (filter, legacy_filter), start_key);
    Ok(Query {
        read,
        key_condition,
        forward: members.boolean("ScanIndexForward").unwrap_or(true),
        of_statement: false,
    })
}

pub(super) fn scan(context: &Context, mut members: Members<'_>) -> Result<Scan, ApiError> {
    if context.layer == Layer::Newer {
        let bounds = [("Limit", 1, i64::MAX), ("TotalSegments", 1, 1_000_000), ("Segment", 0, 999_999)];
        context.number_faults(&members, &bounds)?;
    }
    context.item_constraints(&members)?;
    context.mixing(&members, &SCAN)?;
    let filter = context.legacy(&mut members, "ScanFilter")?;
    context.joined(&members, filter.len())?;
    let start_key = context.start_key(&mut members)?;
    let placeholders = context.placeholders(&mut members, &SCAN)?;
    let legacy_filter = !filter.is_empty();
    let filter = context.filter(&members, &filter, &placeholders)?;
    let projection = context.projection(&members, &placeholders)?;
    placeholders.check_used()?;
    let select = context.select(&members, projection.is_some())?;
    let segment = segment(&members)?;
    let read = options(&members, select, projection, (filter, legacy_filter), start_key);
    Ok(Scan { read, segment })
}

fn segment(members: &Members<'_>) -> Result<Option<Segment>, ApiError> {
    match (members.integer("Segment"), members.integer("TotalSegments")) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(Rule::SegmentWithoutTotal.refuse(&[])),
        (None, Some(_)) => Err(Rule::TotalWithoutSegment.refuse(&[])),
        (Some(number), Some(total)) if number >= total => {
            Err(Rule::SegmentTooLarge.refuse(&[&number.to_string(), &total.to_string()]))
        }
        (Some(number), Some(total)) => Ok(Some(Segment { number: number as u32, total: total as u32 })),
    }
}

pub(super) fn search(context: &Context, mut members: Members<'_>) -> Result<SearchVectors, ApiError> {
    super::tables::table_name(context, &members)?;
    context.constraints(&members, &["TableName"])?;
    let placeholders = context.placeholders(&mut members, &SEARCH)?;
    let projection = context.projection(&members, &placeholders)?;
    let text = members.text("SearchConditionExpression");
    let condition = context.condition(ExpressionKind::Search, text, &placeholders)?;
    placeholders.check_used()?;
    let top = members.integer("TopK").unwrap_or(0);
    if !(1..=TOP_MAX).contains(&top) {
        return Err(ApiError::validation(format!("TopK must be between 1 and {TOP_MAX}, and is {top}")));
    }
    let vector = vector(context, members.take_list("SearchVector").unwrap_or_default())?;
    Ok(SearchVectors {
        table: table(&members),
        index: members.take_text("IndexName").unwrap_or_default(),
        vector,
        top: top as usize,
        condition,
        projection,
        return_capacity: return_capacity(&members),
    })
}

/// Numbers of a vector, whether they came as attribute values or as plain numbers.
fn vector(context: &Context, list: Vec<Node<'_>>) -> Result<Vec<f64>, ApiError> {
    let mut vector = Vec::with_capacity(list.len());
    for node in list {
        vector.push(match node {
            Node::Double(value) => value,
            Node::Integer(value) => value as f64,
            Node::Value(read) => match (&read.fault, read.value) {
                (Some(fault), _) => return context.value_fault(fault),
                (None, Value::N(number)) => number.to_f64(),
                (None, _) => return Err(ApiError::validation("SearchVector must hold numbers only")),
            },
            Node::Text(text) => match Number::parse(&text) {
                Ok(number) => number.to_f64(),
                Err(_) => return Err(ApiError::validation("SearchVector must hold numbers only")),
            },
            _ => return Err(ApiError::validation("SearchVector must hold numbers only")),
        });
    }
    if vector.is_empty() {
        return Err(ApiError::validation("SearchVector must not be empty"));
    }
    Ok(vector)
}
