//! INSERT JSON: a document becomes one bound value per column.

use super::plan::{JsonSource, WritePlan};
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::Evaluated;
use crate::fault::{NullIn, ValueFault};
use crate::values::Bound;
use model::json::{self, JsonValue};
use model::types::DataType;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The values of a document, one per column of the source.
pub(super) struct Document {
    values: Vec<Field>,
}

enum Field {
    Absent,
    Null,
    Value(Vec<u8>),
}

/// Documents above this are read beside the shard.
const BYTES_HERE_MAX: usize = 16 << 10;

impl Document {
    pub fn parse(source: &JsonSource, request: &Request<'_>, ids: &dyn Ids) -> Result<Document, QueryError> {
        Document::read(&source.columns, &text(source, request, ids)?, request.now_micros)
    }

    /// The same for a document that may be long.
    pub async fn parse_aside(
        source: &JsonSource,
        request: &Request<'_>,
        ids: &dyn Ids,
    ) -> Result<Document, QueryError> {
        let text = text(source, request, ids)?;
        if text.len() <= BYTES_HERE_MAX {
            return Document::read(&source.columns, &text, request.now_micros);
        }
        let (columns, text, now_micros) = (source.columns.clone(), text.into_owned(), request.now_micros);
        rt::aside(move || Document::read(&columns, &text, now_micros)).await
    }

    fn read(columns: &[(Arc<str>, DataType)], text: &[u8], now_micros: i64) -> Result<Document, QueryError> {
        let text = std::str::from_utf8(text).map_err(|_| ValueFault::JsonNotUtf8)?;
        let decode = |why: String| ValueFault::JsonMalformed { why, text: text.to_string() };
        let members = match JsonValue::parse(text).map_err(|e| decode(e.to_string()))? {
            JsonValue::Object(members) => members,
            JsonValue::Null => return Err(got_null()),
            _ => return Err(ValueFault::JsonNotAnObject { text: text.to_string() }.into()),
        };
        let mut values: Vec<Field> = columns.iter().map(|_| Field::Absent).collect();
        let places: HashMap<&str, usize> = columns.iter().map(|(column, _)| &**column).zip(0..).collect();
        for (name, value) in json::case_folded_keys(&members) {
            let at = places
                .get(name.as_str())
                .copied()
                .ok_or_else(|| ValueFault::JsonUnknownColumn { column: name.to_string() })?;
            let (column, data_type) = &columns[at];
            values[at] = match value {
                JsonValue::Null => Field::Null,
                value => Field::Value(
                    json::from_json(data_type, value, now_micros / 1000)
                        .map_err(|e| ValueFault::JsonValue { column: column.to_string(), why: e })?,
                ),
            };
        }
        Ok(Document { values })
    }

    /// The values for the statement that the document belongs to.
    pub fn bound_for(&self, plan: &WritePlan) -> Option<Vec<Bound<'_>>> {
        plan.json.as_ref().map(|source| self.bound(source))
    }

    pub fn bound(&self, source: &JsonSource) -> Vec<Bound<'_>> {
        let bound = |field| match field {
            &Field::Absent if source.default_unset => Bound::Unset,
            Field::Absent | Field::Null => Bound::Null,
            Field::Value(bytes) => Bound::Value(bytes),
        };
        self.values.iter().map(bound).collect()
    }
}

fn got_null() -> QueryError {
    NullIn::Document.into()
}

fn text<'v>(
    source: &'v JsonSource,
    request: &Request<'v>,
    ids: &dyn Ids,
) -> Result<Cow<'v, [u8]>, QueryError> {
    match source.document.evaluate(request, ids)? {
        Evaluated::Value(bytes) => Ok(bytes),
        Evaluated::Null => Err(got_null()),
        Evaluated::Unset => Ok(Cow::Borrowed(&[])),
    }
}
