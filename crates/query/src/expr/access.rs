//! Parts of collection, tuple and user-defined values: fields, elements, slices. Borrows where it can.

use model::types::DataType;
use model::value::compare;
use model::value::elements::{elements, fields, map_entries, vector_elements};
use model::value::{CollectionBuilder, encode_elements};
use std::borrow::Cow;

/// Runs `pick` on the bytes and keeps the borrow of its result when the bytes are borrowed.
fn within<'v>(
    whole: Cow<'v, [u8]>,
    pick: impl for<'b> Fn(&'b [u8]) -> Option<&'b [u8]>,
) -> Option<Cow<'v, [u8]>> {
    match whole {
        Cow::Borrowed(bytes) => pick(bytes).map(Cow::Borrowed),
        Cow::Owned(bytes) => pick(&bytes).map(|found| Cow::Owned(found.to_vec())),
    }
}

/// Field `index` of a user-defined type or tuple; null when missing.
pub fn field(whole: Cow<'_, [u8]>, index: usize) -> Option<Cow<'_, [u8]>> {
    within(whole, |bytes| fields(bytes).nth(index)?.ok()?)
}

/// The element of a list or vector at an index, of a set equal to `key`, or of a map under `key`.
pub fn element<'v>(data_type: &DataType, whole: Cow<'v, [u8]>, key: &[u8]) -> Option<Cow<'v, [u8]>> {
    match data_type {
        DataType::List { .. } => within(whole, |bytes| elements(bytes).ok()?.nth(list_index(key)?)?.ok()?),
        DataType::Set { element, .. } => within(whole, |bytes| {
            elements(bytes).ok()?.flatten().flatten().find(|part| compare(element, part, key).is_eq())
        }),
        DataType::Map { key: key_type, .. } => within(whole, |bytes| {
            let mut entries = map_entries(bytes).ok()?.flatten();
            entries.find(|(k, _)| k.is_some_and(|k| compare(key_type, k, key).is_eq()))?.1
        }),
        DataType::Vector { element, dimensions } => {
            within(whole, |bytes| vector_elements(element, *dimensions, bytes).nth(list_index(key)?)?.ok())
        }
        _ => None,
    }
}

fn list_index(key: &[u8]) -> Option<usize> {
    usize::try_from(i32::from_be_bytes(key.try_into().ok()?)).ok()
}

/// The entries of a set or map whose element or key lies in `[from, to]`; when there are none, null for
/// collections of cells, which cannot be empty.
pub fn slice(data_type: &DataType, whole: &[u8], from: Option<&[u8]>, to: Option<&[u8]>) -> Option<Vec<u8>> {
    let inside = |t: &DataType, part: &[u8]| {
        from.is_none_or(|from| compare(t, part, from).is_ge())
            && to.is_none_or(|to| compare(t, part, to).is_le())
    };
    match data_type {
        DataType::Set { element, .. } => {
            let parts = elements(whole).ok()?.flatten().flatten().filter(|part| inside(element, part));
            let parts: Vec<&[u8]> = parts.collect();
            (!parts.is_empty() || !data_type.is_multi_cell()).then(|| encode_elements(parts))
        }
        DataType::Map { key, .. } => {
            let mut out = Vec::new();
            let mut builder = CollectionBuilder::begin(&mut out);
            for (k, v) in map_entries(whole).ok()?.flatten() {
                if let (Some(k), Some(v)) = (k, v)
                    && inside(key, k)
                {
                    builder.push_entry(k, v);
                }
            }
            let entries = builder.entries();
            builder.finish();
            (entries > 0 || !data_type.is_multi_cell()).then_some(out)
        }
        _ => None,
    }
}
