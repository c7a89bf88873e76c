//! Which type may take the place of a dropped column's type.

use model::types::DataType;
use std::sync::Arc;

/// Whether values written as `old` can be read as `new`: Cassandra's rule for re-adding a dropped column.
pub(super) fn is_readable_as(old: &DataType, new: &DataType) -> bool {
    if old == new {
        return true;
    }
    if old.is_multi_cell() != new.is_multi_cell() {
        return false;
    }
    match (old, new) {
        (DataType::List { element: old, .. }, DataType::List { element: new, .. }) => {
            is_readable_as(old, new)
        }
        (DataType::Set { element: old, .. }, DataType::Set { element: new, .. }) => sorts_alike(old, new),
        (DataType::Map { key, value, .. }, DataType::Map { key: new_key, value: new_value, .. }) => {
            sorts_alike(key, new_key) && is_readable_as(value, new_value)
        }
        (DataType::Tuple(old), DataType::Tuple(new)) => {
            old.len() <= new.len() && old.iter().zip(new.iter()).all(|(old, new)| is_readable_as(old, new))
        }
        // A length that is not fixed on either side travels in front of the value.
        (old, DataType::Blob) => old.fixed_len().is_none(),
        (DataType::Ascii, DataType::Text)
        | (DataType::TimeUuid, DataType::Uuid)
        | (DataType::BigInt, DataType::Timestamp)
        | (DataType::Timestamp, DataType::BigInt)
        | (DataType::VarInt, DataType::Date | DataType::Time) => true,
        _ => false,
    }
}

/// Keys keep their order only among the types that compare bytes.
fn sorts_alike(old: &DataType, new: &DataType) -> bool {
    let bytes = |t: &DataType| matches!(t, DataType::Ascii | DataType::Text | DataType::Blob);
    old == new || (bytes(old) && bytes(new) && is_readable_as(old, new))
}

/// The type without user-defined types: a dropped column must not keep one from being dropped.
pub(super) fn expand_udts(data_type: &DataType) -> DataType {
    let inside = |inner: &DataType| Arc::new(expand_udts(inner));
    match data_type {
        // Its fields are not known here; as bytes its cells can stay.
        DataType::Udt(udt) if udt.is_unusable() => DataType::Blob,
        DataType::Udt(udt) => DataType::tuple(udt.fields.iter().map(|field| expand_udts(&field.data_type))),
        DataType::Tuple(components) => DataType::Tuple(components.iter().map(expand_udts).collect()),
        DataType::List { element, frozen } => DataType::List { element: inside(element), frozen: *frozen },
        DataType::Set { element, frozen } => DataType::Set { element: inside(element), frozen: *frozen },
        DataType::Map { key, value, frozen } => {
            DataType::Map { key: inside(key), value: inside(value), frozen: *frozen }
        }
        DataType::Vector { element, dimensions } => {
            DataType::Vector { element: inside(element), dimensions: *dimensions }
        }
        other => other.clone(),
    }
}
