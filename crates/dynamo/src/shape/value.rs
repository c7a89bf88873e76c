//! Attribute values read from JSON. Types must be right at once; what else is wrong with a value is remembered and told
//! when its turn comes.

use super::read::{Fault, Read, scalar_fault, struct_fault, text};
use crate::error::ApiError;
use crate::json::{Base64Fault, Kind as Json, Reader, decode_base64, encode_base64};
use crate::messages::{Layer, Rule};
use crate::number::{Number, NumberFault};
use crate::value::{Item, NESTING_MAX, Type, Value};
use std::borrow::Cow;

/// What is wrong with a value whose JSON types are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueFault {
    Empty,
    TwoTypes,
    NullFalse,
    EmptySet(Type),
    Duplicates(Type, Vec<String>),
    Number(NumberFault, String),
    EmptyName,
    Nesting,
}

impl ValueFault {
    pub fn say(&self, layer: Layer) -> String {
        match self {
            ValueFault::Empty => Rule::ValueEmpty.say(layer, &[]),
            ValueFault::TwoTypes => Rule::ValueTwoTypes.say(layer, &[]),
            ValueFault::NullFalse => Rule::NullFalse.say(layer, &[]),
            ValueFault::EmptySet(Type::Ss) => Rule::EmptyStringSet.say(layer, &[]),
            ValueFault::EmptySet(Type::Ns) => Rule::EmptyNumberSet.say(layer, &[]),
            ValueFault::EmptySet(_) => Rule::EmptyBinarySet.say(layer, &[]),
            ValueFault::Duplicates(kind, members) => {
                let bare = format!("[{}]", members.join(", "));
                let separator = if *kind == Type::Ss { ", " } else { "," };
                let quoted: Vec<String> = members.iter().map(|member| format!("\"{member}\"")).collect();
                let quoted = format!("[{}]", quoted.join(separator));
                let rule = match kind {
                    Type::Ss => Rule::DuplicateStrings,
                    Type::Ns => Rule::DuplicateNumbers,
                    _ => Rule::DuplicateBinaries,
                };
                rule.say(layer, &[&bare, &quoted])
            }
            ValueFault::Number(NumberFault::NotANumber, text) if text.is_empty() => {
                Rule::EmptyNumber.say(layer, &[])
            }
            ValueFault::Number(NumberFault::NotANumber, text) => Rule::NotANumber.say(layer, &[text]),
            ValueFault::Number(NumberFault::Overflow, _) => Rule::NumberOverflow.say(layer, &[]),
            ValueFault::Number(NumberFault::Underflow, _) => Rule::NumberUnderflow.say(layer, &[]),
            ValueFault::Number(NumberFault::TooManyDigits, _) => Rule::NumberPrecision.say(layer, &[]),
            ValueFault::EmptyName => Rule::EmptyAttributeName.say(layer, &[]),
            ValueFault::Nesting => Rule::Nesting.say(layer, &[]),
        }
    }

    pub fn refuse(&self, layer: Layer) -> ApiError {
        ApiError::validation(self.say(layer))
    }

    /// Empty and two-typed values are told without the prefix that newer layers give the others.
    pub fn is_bare(&self) -> bool {
        matches!(self, ValueFault::Empty | ValueFault::TwoTypes)
    }
}

/// A value and the first thing that is wrong with it; then the value means nothing.
#[derive(Clone, Debug)]
pub struct ReadValue {
    pub value: Value,
    pub fault: Option<Box<ValueFault>>,
}

impl ReadValue {
    fn broken(fault: ValueFault) -> ReadValue {
        ReadValue { value: Value::Null, fault: Some(Box::new(fault)) }
    }
}

impl From<Value> for ReadValue {
    fn from(value: Value) -> ReadValue {
        ReadValue { value, fault: None }
    }
}

const SHAPE: &str = "AttributeValue";

/// Reads `{"S":"…"}`; `within` says that it stands in a list or map.
pub(super) fn value(reader: &mut Reader<'_>, depth: usize, within: bool) -> Read<ReadValue> {
    match reader.peek()? {
        Json::Object => {}
        Json::Null => {
            reader.literal(Json::Null)?;
            return Ok(ReadValue::broken(ValueFault::Empty));
        }
        found => return Err(struct_fault(found, SHAPE, within)),
    }
    reader.open_object()?;
    let mut result: Option<ReadValue> = None;
    let mut first = true;
    let mut kinds: Vec<Type> = Vec::new();
    while let Some(key) = reader.key(first)? {
        first = false;
        let Some(kind) = Type::of_name(&key) else {
            reader.skip()?;
            continue;
        };
        if reader.peek()? == Json::Null {
            reader.literal(Json::Null)?;
            continue;
        }
        result = Some(member(reader, kind, depth)?);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Ok(match result {
        None => ReadValue::broken(ValueFault::Empty),
        Some(_) if kinds.len() > 1 => ReadValue::broken(ValueFault::TwoTypes),
        Some(value) => value,
    })
}

fn member(reader: &mut Reader<'_>, kind: Type, depth: usize) -> Read<ReadValue> {
    Ok(match kind {
        Type::S => Value::S(text(reader)?.into_owned()).into(),
        Type::N => {
            let text = text(reader)?;
            match Number::parse(&text) {
                Ok(number) => Value::N(number).into(),
                Err(fault) => ReadValue::broken(ValueFault::Number(fault, text.into_owned())),
            }
        }
        Type::B => Value::B(blob(reader)?).into(),
        Type::Bool => Value::Bool(boolean(reader)?).into(),
        Type::Null => match boolean(reader)? {
            true => Value::Null.into(),
            false => ReadValue::broken(ValueFault::NullFalse),
        },
        Type::Ss => {
            set(members(reader, |reader| text(reader).map(Cow::into_owned))?, kind, Value::Ss, String::clone)
        }
        Type::Ns => numbers(members(reader, |reader| text(reader).map(Cow::into_owned))?),
        Type::Bs => set(members(reader, blob)?, kind, Value::Bs, |bytes| {
            let mut out = Vec::new();
            encode_base64(bytes, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }),
        Type::L => list(reader, depth + 1)?,
        Type::M => map(reader, depth + 1)?,
    })
}

/// Legal booleans are words of JSON; the service reads some texts too.
pub(super) fn boolean(reader: &mut Reader<'_>) -> Read<bool> {
    match reader.peek()? {
        found @ (Json::True | Json::False) => {
            reader.literal(found)?;
            Ok(found == Json::True)
        }
        Json::String => {
            let word = reader.string()?.to_ascii_lowercase();
            match word.as_str() {
                "true" | "t" | "yes" | "y" | "1" => Ok(true),
                "false" | "f" | "no" | "n" | "0" => Ok(false),
                _ => Err(Fault::Type("Unexpected token received from parser".into())),
            }
        }
        found => Err(scalar_fault(reader, found, "Boolean")?),
    }
}

fn blob(reader: &mut Reader<'_>) -> Read<Vec<u8>> {
    if reader.peek()? != Json::String {
        return Err(Fault::Type("only base-64-encoded strings are convertible to bytes".into()));
    }
    let text = reader.string()?;
    decode_base64(text.as_bytes()).map_err(|fault| {
        Fault::Type(match fault {
            Base64Fault::Length(length) => {
                format!("Base64 encoded length is expected a multiple of 4 bytes but found: {length}")
            }
            Base64Fault::LastCharacter => "Invalid last non-pad Base64 character dectected".to_string(),
            Base64Fault::Character => "only base-64-encoded strings are convertible to bytes".to_string(),
        })
    })
}

fn members<T>(reader: &mut Reader<'_>, mut one: impl FnMut(&mut Reader<'_>) -> Read<T>) -> Read<Vec<T>> {
    open_list(reader)?;
    let mut list = Vec::new();
    let mut first = true;
    while reader.element(first)? {
        first = false;
        if reader.peek()? == Json::Null {
            reader.literal(Json::Null)?;
            continue;
        }
        list.push(one(reader)?);
    }
    Ok(list)
}

pub(super) fn open_list(reader: &mut Reader<'_>) -> Read<()> {
    match reader.peek()? {
        Json::Array => Ok(reader.open_array()?),
        Json::Object => Err(Fault::Type("Start of structure or map found where not expected".into())),
        _ => Err(Fault::Type("Unexpected field type".into())),
    }
}

fn set<T: Ord>(
    members: Vec<T>,
    kind: Type,
    make: impl Fn(Vec<T>) -> Value,
    show: impl Fn(&T) -> String,
) -> ReadValue {
    if members.is_empty() {
        return ReadValue::broken(ValueFault::EmptySet(kind));
    }
    let mut order: Vec<&T> = members.iter().collect();
    order.sort();
    if order.windows(2).any(|pair| pair[0] == pair[1]) {
        let shown = members.iter().map(show).collect();
        return ReadValue::broken(ValueFault::Duplicates(kind, shown));
    }
    let mut members = members;
    members.sort();
    make(members).into()
}

fn numbers(texts: Vec<String>) -> ReadValue {
    let mut numbers = Vec::with_capacity(texts.len());
    for text in texts {
        match Number::parse(&text) {
            Ok(number) => numbers.push(number),
            Err(fault) => return ReadValue::broken(ValueFault::Number(fault, text)),
        }
    }
    set(numbers, Type::Ns, Value::Ns, Number::to_string)
}

fn list(reader: &mut Reader<'_>, depth: usize) -> Read<ReadValue> {
    open_list(reader)?;
    let mut fault = None;
    let mut list = Vec::new();
    let mut first = true;
    while reader.element(first)? {
        first = false;
        if depth > NESTING_MAX {
            reader.skip()?;
            continue;
        }
        let read = value(reader, depth, true)?;
        fault = fault.or(read.fault);
        list.push(read.value);
    }
    if depth > NESTING_MAX {
        return Ok(ReadValue::broken(ValueFault::Nesting));
    }
    Ok(ReadValue { value: Value::L(list), fault })
}

fn map(reader: &mut Reader<'_>, depth: usize) -> Read<ReadValue> {
    if depth > NESTING_MAX {
        open_map(reader, SHAPE)?;
        let mut first = true;
        while reader.key(first)?.is_some() {
            first = false;
            reader.skip()?;
        }
        return Ok(ReadValue::broken(ValueFault::Nesting));
    }
    let mut fault = None;
    let mut map = Vec::new();
    for (name, read) in attributes(reader, depth)? {
        if name.is_empty() {
            fault = fault.or_else(|| Some(Box::new(ValueFault::EmptyName)));
        }
        fault = fault.or(read.fault);
        map.push((name.into_owned(), read.value));
    }
    Ok(ReadValue { value: Value::M(map.into_iter().collect::<Item>()), fault })
}

pub(super) fn open_map(reader: &mut Reader<'_>, element: &str) -> Read<()> {
    match reader.peek()? {
        Json::Object => Ok(reader.open_object()?),
        Json::Array => Err(Fault::Type(format!(
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.{element}>"
        ))),
        _ => Err(Fault::Type("Unexpected field type".into())),
    }
}

/// `{"name":{"S":"…"},…}` in the order of the text; of equal names the last counts.
pub(super) fn attributes<'a>(reader: &mut Reader<'a>, depth: usize) -> Read<Vec<(Cow<'a, str>, ReadValue)>> {
    open_map(reader, SHAPE)?;
    let mut map: Vec<(Cow<'a, str>, ReadValue)> = Vec::new();
    let mut first = true;
    while let Some(name) = reader.key(first)? {
        first = false;
        if reader.peek()? == Json::Null {
            reader.literal(Json::Null)?;
            continue;
        }
        map.push((name, value(reader, depth, true)?));
    }
    Ok(last_of_each(map))
}

/// Keeps the last of equal keys, in the order of the text, without a loop in a loop.
pub(super) fn last_of_each<'a, T>(mut map: Vec<(Cow<'a, str>, T)>) -> Vec<(Cow<'a, str>, T)> {
    let mut order: Vec<usize> = (0..map.len()).collect();
    order.sort_by(|a, b| map[*a].0.cmp(&map[*b].0).then(a.cmp(b)));
    let double: Vec<usize> =
        order.windows(2).filter(|pair| map[pair[0]].0 == map[pair[1]].0).map(|pair| pair[0]).collect();
    if !double.is_empty() {
        let mut keep = vec![true; map.len()];
        double.iter().for_each(|at| keep[*at] = false);
        let mut at = 0;
        map.retain(|_| {
            at += 1;
            keep[at - 1]
        });
    }
    map
}
