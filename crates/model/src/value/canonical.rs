//! What Cassandra makes of the bytes that a client binds to a list, set or map: sets and maps sorted and without
//! duplicates, big integers without redundant sign bytes, booleans as 0 or 1, at every depth down to a tuple or user
//! type.
//!
//! Everything else stays as it was sent, because its bytes are its identity: scalars, vectors, tuples and user types,
//! and what these hold, so that a set inside a vector may hold a value twice. Bytes already canonical are borrowed,
//! not copied.

use std::borrow::Cow;

use super::elements;
use super::{ValueError, compare, encode_elements, encode_map, encode_set, encode_vector};
use super::{validate, varint};
use crate::types::DataType;

/// The canonical form of valid bytes; an error when they are not a value of the type.
pub fn canonical<'a>(data_type: &DataType, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, ValueError> {
    validate(data_type, bytes)?;
    if !data_type.is_collection() || is_canonical(data_type, bytes) {
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
        DataType::Vector { element, dimensions } => {
            let walk = elements::vector_elements(element, *dimensions, bytes);
            let parts = walk.filter_map(Result::ok).map(|part| rebuild(element, part));
            Cow::Owned(encode_vector(element, parts))
        }
        _ => Cow::Borrowed(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::encode_fields;

    fn int(n: i32) -> Vec<u8> {
        n.to_be_bytes().to_vec()
    }

    /// What is let through at a glance is what the long way lets through unchanged.
    #[test]
    fn plain_values_are_canonical() {
        use DataType::*;
        let texts: [&[u8]; 6] =
            [b"", b"plain", "\u{e9}\u{1f600}".as_bytes(), &[0xff], &[0xc3], &[0xed, 0xa0, 0x80]];
        let lengths: Vec<Vec<u8>> = (0..20).map(|len| vec![0x91; len]).collect();
        let bytes: Vec<&[u8]> = texts.into_iter().chain(lengths.iter().map(Vec::as_slice)).collect();
        let at_a_glance = [Blob, Text, Int, Float, Date, BigInt, Counter, Timestamp, Double, Time, Uuid];
        let never = [Ascii, TimeUuid, Boolean, TinyInt, VarInt, Decimal, Inet, Duration, DataType::set(Int)];
        for (data_type, expected) in
            at_a_glance.iter().map(|t| (t, true)).chain(never.iter().map(|t| (t, false)))
        {
            let plain: Vec<_> = bytes.iter().filter(|b| crate::value::is_plain_value(data_type, b)).collect();
            assert_eq!(!plain.is_empty(), expected, "{data_type:?}");
            for bytes in plain {
                let form = canonical(data_type, bytes);
                assert!(matches!(form, Ok(Cow::Borrowed(same)) if same == *bytes), "{data_type:?}");
            }
        }
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

    /// Seen on Cassandra 5.0.6; the Node driver's own suite binds such vectors.
    #[test]
    fn vectors_and_tuples_keep_what_they_hold() {
        let set = DataType::set(DataType::Int).freeze();
        let twice = encode_elements([int(2), int(1), int(2)]);
        let once = encode_elements([int(1), int(2)]);
        let vector = DataType::vector(set.clone(), 1);
        let in_vector = encode_vector(&set, [&twice]);
        assert_eq!(canonical(&vector, &in_vector).unwrap(), in_vector);
        let tuple = DataType::tuple(vec![set.clone()]);
        let in_tuple = encode_fields([Some(&twice)]);
        assert_eq!(canonical(&tuple, &in_tuple).unwrap(), in_tuple);
        let in_list = encode_elements([&in_tuple]);
        assert_eq!(canonical(&DataType::list(tuple), &in_list).unwrap(), in_list);
        let rebuilt = encode_elements([encode_vector(&set, [once])]);
        assert_eq!(canonical(&DataType::list(vector), &encode_elements([in_vector])).unwrap(), rebuilt);
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
