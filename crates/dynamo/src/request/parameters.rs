//! What requests with expressions share: placeholders, mixing of old and new parameters, attribute maps.

use super::Context;
use crate::error::ApiError;
use crate::expression::{self, Condition, ExpressionKind, Joined, LegacyCondition, Placeholders, Projection};
use crate::messages::{Layer, Rule};
use crate::shape::{Members, Node, ReadValue, ValueFault};
use crate::value::{Item, Value};
use std::borrow::Cow;

/// Names and values of all placeholders together.
const PLACEHOLDERS_BYTES_MAX: usize = 2 * 1024 * 1024;
const PLACEHOLDER_KEY_MAX: usize = 255;
const NAME_MAX: usize = 65_535;

/// Which parameters an operation has, so that old and new ones are not mixed.
pub(super) struct Forms {
    pub legacy: &'static [&'static str],
    pub expressions: &'static [&'static str],
    /// Those of the expressions that may use values.
    pub with_values: &'static [&'static str],
}

impl Context {
    /// Old and new parameters exclude each other. Empty maps count as absent.
    pub(super) fn mixing(&self, members: &Members<'_>, forms: &Forms) -> Result<(), ApiError> {
        let present = |name: &&&str| match members.get(name) {
            None => false,
            Some(Node::Map(map)) => !map.is_empty(),
            Some(_) => true,
        };
        let mut legacy: Vec<&str> = forms.legacy.iter().filter(present).copied().collect();
        let expressions: Vec<&str> = forms.expressions.iter().filter(present).copied().collect();
        // KeyConditions go together with the other expressions.
        if !expressions.contains(&"KeyConditionExpression") {
            legacy.retain(|name| *name != "KeyConditions");
        }
        if legacy.is_empty() || expressions.is_empty() {
            return Ok(());
        }
        let facts = [format!("{{{}}}", legacy.join(", ")), format!("{{{}}}", expressions.join(", "))];
        self.envelope(Err(Rule::Mixing.refuse_in(self.layer, &[&facts[0], &facts[1]])))
    }

    /// ExpressionAttributeNames and -Values, checked for themselves.
    pub(super) fn placeholders(
        &self,
        members: &mut Members<'_>,
        forms: &Forms,
    ) -> Result<Placeholders, ApiError> {
        let any = |names: &[&str]| names.iter().any(|name| members.contains(name));
        let (used, used_with_values) = (any(forms.expressions), any(forms.with_values));
        let names = members.take_map("ExpressionAttributeNames");
        let values = members.take_attributes("ExpressionAttributeValues");
        let result = self.names(names, used).and_then(|(names, bytes)| {
            let values = self.values(values, used_with_values, forms, bytes)?;
            Ok(Placeholders::new(names, values))
        });
        self.envelope(result)
    }

    fn names(
        &self,
        map: Option<Vec<(Cow<'_, str>, Node<'_>)>>,
        used: bool,
    ) -> Result<(Vec<(String, String)>, usize), ApiError> {
        let Some(map) = map else { return Ok((Vec::new(), 0)) };
        if !used {
            return if map.is_empty() {
                Ok((Vec::new(), 0))
            } else {
                Err(Rule::NamesWithoutExpression.refuse(&[]))
            };
        }
        if map.is_empty() {
            return Err(Rule::NamesEmpty.refuse(&[]));
        }
        let mut names = Vec::with_capacity(map.len());
        let mut bytes = 0;
        for (key, node) in map {
            let Node::Text(name) = node else { continue };
            check_key(&key, '#', Rule::NamesKeySyntax, Rule::NamesKeyLong)?;
            if name.is_empty() {
                let fault = Rule::EmptyAttributeName.say(self.layer, &[]);
                return Err(Rule::NamesInvalidValue.refuse(&[&fault, &key]));
            }
            if name.len() > NAME_MAX {
                let fault = Rule::NameTooLarge.say(self.layer, &[]);
                return Err(Rule::NamesInvalidValue.refuse(&[&fault, &key]));
            }
            bytes += key.len() + name.len();
            names.push((key.into_owned(), name.into_owned()));
        }
        Ok((names, bytes))
    }

    fn values(
        &self,
        map: Option<Vec<(Cow<'_, str>, ReadValue)>>,
        used: bool,
        forms: &Forms,
        mut bytes: usize,
    ) -> Result<Vec<(String, Value)>, ApiError> {
        let Some(map) = map else { return Ok(Vec::new()) };
        if !used {
            if map.is_empty() {
                return Ok(Vec::new());
            }
            let missing = match forms.with_values {
                [one] => format!(": {one} is null"),
                many => format!(": {} are null", many.join(" and ")),
            };
            return Err(Rule::ValuesWithoutExpression.refuse_in(self.layer, &[&missing]));
        }
        if map.is_empty() {
            return Err(Rule::ValuesEmpty.refuse(&[]));
        }
        let mut values = Vec::with_capacity(map.len());
        for (key, read) in map {
            check_key(&key, ':', Rule::ValuesKeySyntax, Rule::ValuesKeyLong)?;
            if let Some(fault) = &read.fault {
                let message = fault.say(self.layer);
                return Err(Rule::ValuesInvalidValue.refuse_in(self.layer, &[&message, &key]));
            }
            bytes += key.len() + crate::size::value(&read.value);
            values.push((key.into_owned(), read.value));
        }
        if bytes > PLACEHOLDERS_BYTES_MAX {
            return Err(Rule::ExpressionsTooLarge.refuse(&[&bytes.to_string()]));
        }
        Ok(values)
    }

    /// A fault of a value, in this layer's words.
    pub(super) fn value_fault<T>(&self, fault: &ValueFault) -> Result<T, ApiError> {
        let error = Err(fault.refuse(self.layer));
        if fault.is_bare() { error } else { self.envelope(error) }
    }

    /// The attributes of an item or key: names first, then values.
    pub(super) fn item(&self, attributes: Vec<(Cow<'_, str>, ReadValue)>) -> Result<Item, ApiError> {
        if attributes.iter().any(|(name, _)| name.is_empty()) {
            return self.envelope(Err(Rule::EmptyAttributeName.refuse(&[])));
        }
        if let Some(fault) = attributes.iter().find_map(|(_, read)| read.fault.as_deref()) {
            return self.value_fault(fault);
        }
        Ok(attributes.into_iter().map(|(name, read)| (name.into_owned(), read.value)).collect())
    }

    /// Expected, QueryFilter, ScanFilter or KeyConditions; none if absent or empty.
    pub(super) fn legacy(
        &self,
        members: &mut Members<'_>,
        name: &str,
    ) -> Result<Vec<LegacyCondition>, ApiError> {
        let mut entries = Vec::new();
        for (attribute, node) in members.take_map(name).unwrap_or_default() {
            let Node::Structure(mut entry) = node else { continue };
            let list = match entry.take_list("AttributeValueList") {
                Some(list) => Some(self.value_list(list)?),
                None => None,
            };
            let value = match entry.take("Value") {
                Some(Node::Value(read)) => match &read.fault {
                    Some(fault) => return self.value_fault(fault),
                    None => Some(read.value),
                },
                _ => None,
            };
            let operator = entry.take_text("ComparisonOperator");
            if operator.is_none() && name != "Expected" {
                let path = format!(
                    "{}{}.{attribute}.member.comparisonOperator",
                    name[..1].to_lowercase(),
                    &name[1..]
                );
                let mut faults = crate::shape::Faults::default();
                faults.missing(&path);
                faults.finish()?;
            }
            let exists = entry.boolean("Exists");
            entries.push(LegacyCondition {
                attribute: attribute.into_owned(),
                operator,
                list,
                value,
                exists,
            });
        }
        Ok(entries)
    }

    pub(super) fn value_list(&self, list: Vec<Node<'_>>) -> Result<Vec<Value>, ApiError> {
        let mut values = Vec::with_capacity(list.len());
        for node in list {
            let Node::Value(read) = node else { continue };
            match &read.fault {
                Some(fault) => return self.value_fault(fault),
                None => values.push(read.value),
            }
        }
        Ok(values)
    }

    /// ConditionalOperator is for two or more conditions.
    pub(super) fn joined(&self, members: &Members<'_>, conditions: usize) -> Result<Joined, ApiError> {
        let Some(operator) = members.text("ConditionalOperator") else { return Ok(Joined::And) };
        match conditions {
            0 => self.envelope(Err(Rule::ConditionalOperatorAlone.refuse(&[]))),
            1 => self.envelope(Err(Rule::ConditionalOperatorOne.refuse(&[]))),
            _ if operator == "OR" => Ok(Joined::Or),
            _ => Ok(Joined::And),
        }
    }

    pub(super) fn condition(
        &self,
        kind: ExpressionKind,
        text: Option<&str>,
        placeholders: &Placeholders,
    ) -> Result<Option<Condition>, ApiError> {
        let Some(text) = text else { return Ok(None) };
        self.envelope(expression::condition(kind, text, placeholders, self.layer)).map(Some)
    }

    /// ProjectionExpression or AttributesToGet.
    pub(super) fn projection(
        &self,
        members: &Members<'_>,
        placeholders: &Placeholders,
    ) -> Result<Option<Projection>, ApiError> {
        if let Some(text) = members.text("ProjectionExpression") {
            return expression::projection(text, placeholders, self.layer).map(Some);
        }
        let Some(list) = members.list("AttributesToGet") else { return Ok(None) };
        let mut names: Vec<String> = Vec::with_capacity(list.len());
        for node in list {
            let Node::Text(name) = node else { continue };
            if name.is_empty() {
                return Err(Rule::EmptyAttributeName.refuse(&[]));
            }
            if names.iter().any(|known| known == name) {
                return Err(Rule::DuplicateAttributeToGet.refuse(&[name]));
            }
            names.push(name.to_string());
        }
        Ok(Some(Projection::of_names(names)))
    }

    /// In the newer layer a value that is not in its enumeration has words of its own.
    pub(super) fn return_values(&self, members: &Members<'_>) -> Result<(), ApiError> {
        const KNOWN: [&str; 5] = ["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"];
        match members.text("ReturnValues") {
            Some(word) if self.layer == Layer::Newer && !KNOWN.contains(&word) => Err(ApiError::validation(
                "1 validation error detected: Failed to satisfy constraint: \
                     Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
            )),
            _ => Ok(()),
        }
    }
}

fn check_key(key: &str, sign: char, syntax: Rule, long: Rule) -> Result<(), ApiError> {
    if key.len() > PLACEHOLDER_KEY_MAX {
        return Err(long.refuse(&[&key.len().to_string()]));
    }
    let word = key.strip_prefix(sign).unwrap_or_default();
    let good = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if good { Ok(()) } else { Err(syntax.refuse(&[key])) }
}
