//! One byte form per value for what clients send: sets and maps sorted and without duplicates at every depth,
//! and inside collections big integers without redundant sign bytes and booleans as 0 or 1.
//!
//! A scalar that is not inside a collection stays as it was sent, because it may be a partition key, whose bytes
//! are its identity. Bytes already canonical are borrowed, not copied.

use std::borrow::Cow;

use super::elements::{self, Part};
use super::{ValueError, compare, encode_elements, encode_fields, encode_map, encode_set, encode_vector};
use super::{validate, varint};
use crate::types::DataType;

/// The canonical form of valid bytes; an error when they are not a value of the type.
pub fn canonical<'a>(data_type: &DataType, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, ValueError> {
    validate(data_type, bytes)?;
    let needs_work = data_type.is_collection()
        || matches!(data_type, DataType::Tuple(_) | DataType::Udt(_) | DataType::Vector { .. });
    if !needs_work || is_canonical(data_type, bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    Ok(rebuild(data_type, bytes))
}

fn is_canonical(data_type: &DataType, bytes: &[u8]) -> bool {
    match data_type {
        DataType::VarInt => varint::minimal(bytes).len() == bytes.len(),
        DataType::Boolean => bytes.first().is_none_or(|byte| *byte <= 1),
        DataType::List { element, .. } => all_elements(bytes, |part| is_canonical(element, part)),
        DataType::Set { element, .. } => {
            let mut previous: Option<&[u8]> = None;
            all_elements(bytes, |part| {
                let ordered = previous.is_none_or(|before| compare(element, before, part).is_lt());
                previous = Some(part);
                ordered && is_canonical(element, part)
            })
        }
        DataType::Map { key, value, .. } => {
            let mut previous: Option<&[u8]> = None;
            elements::map_entries(bytes).is_ok_and(|entries| {
                entries.into_iter().all(|entry| {
                    let Ok((Some(key_part), Some(value_part))) = entry else { return false };
                    let ordered = previous.is_none_or(|before| compare(key, before, key_part).is_lt());
                    previous = Some(key_part);
                    ordered && is_canonical(key, key_part) && is_canonical(value, value_part)
                })
            })
        }
        DataType::Tuple(components) => canonical_fields(components.iter(), bytes),
        DataType::Udt(udt) => canonical_fields(udt.fields.iter().map(|field| &field.data_type), bytes),
        DataType::Vector { element, dimensions } => {
            // Elements such as floats have one form each; do not walk long vectors for nothing.
            !may_vary(element)
                || elements::vector_elements(element, *dimensions, bytes)
                    .all(|part| part.is_ok_and(|part| is_canonical(element, part)))
        }
        _ => true,
    }
}

/// True when values of the type can have more than one byte form.
fn may_vary(data_type: &DataType) -> bool {
    !matches!(
        data_type,
        DataType::Float | DataType::Double | DataType::Int | DataType::BigInt | DataType::Text
    )
}

fn all_elements<'a>(bytes: &'a [u8], mut test: impl FnMut(&'a [u8]) -> bool) -> bool {
    elements::elements(bytes)
        .is_ok_and(|mut walk| walk.all(|part| matches!(part, Ok(Some(part)) if test(part))))
}

fn canonical_fields<'t>(types: impl Iterator<Item = &'t DataType>, bytes: &[u8]) -> bool {
    let parts = elements::fields(bytes);
    types.zip(parts).all(|(data_type, part)| match part {
        Ok(Some(part)) => is_canonical(data_type, part),
        Ok(None) => true,
        Err(_) => false,
    })
}

/// Rebuilds valid bytes; parts that cannot be read (there are none after validation) are left out.
fn rebuild<'a>(data_type: &DataType, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    let parts = |element: &DataType| -> Vec<Cow<'a, [u8]>> {
        let walk = elements::elements(bytes).into_iter().flatten();
        walk.filter_map(|part| part.ok().flatten()).map(|part| rebuild(element, part)).collect()
    };
    match data_type {
        DataType::VarInt => Cow::Borrowed(varint::minimal(bytes)),
        DataType::Boolean => match bytes.first() {
            Some(byte) if *byte > 1 => Cow::Borrowed(&[1]),
            _ => Cow::Borrowed(bytes),
        },
        DataType::List { element, .. } => Cow::Owned(encode_elements(parts(element))),
        DataType::Set { element, .. } => Cow::Owned(encode_set(element, parts(element))),
        DataType::Map { key, value, .. } => {
            let walk = elements::map_entries(bytes).into_iter().flatten();
            let entries = walk.filter_map(|entry| match entry {
                Ok((Some(k), Some(v))) => Some((rebuild(key, k), rebuild(value, v))),
                _ => None,
            });
            Cow::Owned(encode_map(key, entries.collect()))
        }
        DataType::Tuple(components) => Cow::Owned(rebuild_fields(components.iter(), bytes)),
        DataType::Udt(udt) => {
            Cow::Owned(rebuild_fields(udt.fields.iter().map(|field| &field.data_type), bytes))
        }
        DataType::Vector { element, dimensions } => {
            let walk = elements::vector_elements(element, *dimensions, bytes);
            let parts = walk.filter_map(Result::ok).map(|part| rebuild(element, part));
            Cow::Owned(encode_vector(element, parts))
        }
        _ => Cow::Borrowed(bytes),
    }
}

fn rebuild_fields<'t>(types: impl Iterator<Item = &'t DataType>, bytes: &[u8]) -> Vec<u8> {
    let rebuilt = |(data_type, part): (&DataType, Result<Part<'_>, _>)| {
        part.ok().flatten().map(|part| rebuild(data_type, part).into_owned())
    };
    encode_fields(types.zip(elements::fields(bytes)).map(rebuilt))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(n: i32) -> Vec<u8> {
        n.to_be_bytes().to_vec()
    }

    #[test]
    fn nested_sets_are_sorted() {
        let inner = DataType::set(DataType::Int).freeze();
        let data_type = DataType::list(inner);
        let unsorted = encode_elements([encode_elements([int(2), int(1), int(2)])]);
        let sorted = encode_elements([encode_elements([int(1), int(2)])]);
        assert_eq!(canonical(&data_type, &unsorted).unwrap(), sorted);
        assert!(matches!(canonical(&data_type, &sorted).unwrap(), Cow::Borrowed(_)));
    }

    #[test]
    fn scalars_change_only_inside_collections() {
        let padded: &[u8] = &[0, 0, 1];
        assert_eq!(canonical(&DataType::VarInt, padded).unwrap(), padded);
        let list = DataType::list(DataType::VarInt);
        assert_eq!(canonical(&list, &encode_elements([padded])).unwrap(), encode_elements([[1u8]]));
    }

    #[test]
    fn invalid_bytes_are_refused() {
        assert!(canonical(&DataType::set(DataType::Int), &[0, 0, 0, 1]).is_err());
    }
}
