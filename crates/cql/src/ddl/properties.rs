//! Properties of the syntax tree as the schema takes them.

use crate::CqlError;
use cql_syntax::ast;
use schema::{Properties, PropertyValue, SchemaError};

pub(super) fn properties<'a>(
    written: impl IntoIterator<Item = &'a ast::Property>,
) -> Result<Properties, CqlError> {
    let mut properties = Properties::new();
    for property in written {
        let value = match (property.value.text(), property.value.map()) {
            (Some(text), _) => PropertyValue::Text(text.to_string()),
            (None, Some(entries)) => {
                PropertyValue::Map(entries.map(|(key, value)| (key.to_string(), value.to_string())).collect())
            }
            (None, None) => PropertyValue::Map(Default::default()),
        };
        properties.add(property.name.as_str(), value).map_err(SchemaError::from)?;
    }
    Ok(properties)
}
