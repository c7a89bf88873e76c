//! Types as written -> types as known: resolves user-defined types, checks nesting rules.

use super::{Scope, custom};
use crate::CqlError;
use cql_syntax::ast::{self, NativeType, TypeKind};
use model::types::{DataType, UdtType, VECTOR_DIMENSIONS_MAX};
use std::sync::Arc;

/// The type a text names, used by something in `keyspace` (a table, a type, a cast).
pub fn resolve(scope: Scope<'_>, keyspace: &str, written: &ast::DataType) -> Result<DataType, CqlError> {
    let resolved = Resolver { scope, keyspace }.resolve(written, false)?;
    // The text is bounded by the parser; what it names may be larger.
    resolved.check_size().map_err(|error| {
        CqlError::invalid(format!(
            "The type {} {error}. Use fewer levels, or keep the inner values as text or blob",
            cut(&text_of(written))
        ))
    })?;
    Ok(resolved)
}

/// As much of a text as a message needs.
fn cut(text: &str) -> String {
    const SHOWN_MAX: usize = 100;
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// A type in a message, with what `frozen` around it means.
fn shown(written: &ast::DataType, frozen: bool) -> String {
    let text = text_of(written);
    if frozen { format!("frozen<{text}>") } else { text }
}

struct Resolver<'a> {
    scope: Scope<'a>,
    keyspace: &'a str,
}

impl Resolver<'_> {
    /// `frozen`: some type around this one is frozen, so this one is too.
    fn resolve(&self, written: &ast::DataType, frozen: bool) -> Result<DataType, CqlError> {
        let inside = |inner: &ast::DataType, kind: &str| self.element(written, inner, frozen, kind);
        Ok(match &written.kind {
            TypeKind::Native(native) => native_type(*native),
            TypeKind::List(element) => {
                DataType::List { element: Arc::new(inside(element, "collections")?), frozen }
            }
            TypeKind::Set(element) => {
                let element = inside(element, "collections")?;
                if element.references_duration() {
                    let text = format!("Durations are not allowed inside sets: {}", shown(written, frozen));
                    return Err(CqlError::invalid(text));
                }
                DataType::Set { element: Arc::new(element), frozen }
            }
            TypeKind::Map(key, value) => {
                let key = inside(key, "collections")?;
                if key.references_duration() {
                    let text = format!("Durations are not allowed as map keys: {}", shown(written, frozen));
                    return Err(CqlError::invalid(text));
                }
                let value = inside(value, "collections")?;
                DataType::Map { key: Arc::new(key), value: Arc::new(value), frozen }
            }
            TypeKind::Tuple(components) => {
                let components: Result<Vec<_>, _> =
                    components.iter().map(|c| self.frozen_part(c, "tuples")).collect();
                DataType::tuple(components?)
            }
            TypeKind::Vector(element, dimensions) => {
                if *dimensions == 0 || *dimensions > VECTOR_DIMENSIONS_MAX {
                    let text = format!("vectors may only have positive dimensions; given {dimensions}");
                    return Err(CqlError::invalid(text));
                }
                DataType::vector(self.frozen_part(element, "vectors")?, *dimensions)
            }
            TypeKind::Frozen(inner) => {
                if let TypeKind::Native(native) = &inner.kind {
                    return Err(CqlError::invalid(format!(
                        "frozen<> is only allowed on collections, tuples, and user-defined types (got {})",
                        native.name()
                    )));
                }
                self.resolve(inner, true)?.freeze()
            }
            TypeKind::User(name) => {
                let udt = self.user_type(name)?;
                let udt = DataType::Udt(Arc::new(UdtType { frozen: false, ..UdtType::clone(&udt) }));
                if frozen { udt.freeze() } else { udt }
            }
            TypeKind::Custom(class) => custom::resolve(class)?,
        })
    }

    /// An element of a collection: no counters, and nothing that is not frozen unless all of it is.
    fn element(
        &self,
        outer: &ast::DataType,
        written: &ast::DataType,
        frozen: bool,
        place: &str,
    ) -> Result<DataType, CqlError> {
        let element = self.resolve(written, frozen)?;
        if element == DataType::Counter {
            let text = format!("Counters are not allowed inside {place}: {}", text_of(outer));
            return Err(CqlError::invalid(text));
        }
        if element.is_multi_cell() {
            let what = if element.is_collection() { "collections" } else { "UDTs" };
            let text = format!("Non-frozen {what} are not allowed inside {place}: {}", text_of(outer));
            return Err(CqlError::invalid(text));
        }
        Ok(element)
    }

    /// A component of a tuple or vector: frozen whether said or not.
    fn frozen_part(&self, written: &ast::DataType, place: &str) -> Result<DataType, CqlError> {
        let part = self.resolve(written, true)?;
        // Cassandra checks tuples only, and the Go driver's own suite has vectors of counters.
        if part == DataType::Counter && place == "tuples" {
            return Err(CqlError::invalid(format!("Counters are not allowed inside {place}")));
        }
        Ok(part.freeze())
    }

    fn user_type(&self, name: &ast::QualifiedName) -> Result<Arc<UdtType>, CqlError> {
        if let Some(other) = name.keyspace_str()
            && other != self.keyspace
        {
            return Err(CqlError::invalid(format!(
                "Statement on keyspace {} cannot refer to a user type in keyspace {other}; \
                 user types can only be used in the keyspace they are defined in",
                self.keyspace
            )));
        }
        let keyspace = self.scope.keyspace(Some(self.keyspace))?;
        let found = keyspace.types.get(name.as_str()).cloned();
        found.ok_or_else(|| CqlError::invalid(format!("Unknown type {}.{}", self.keyspace, name.as_str())))
    }
}

/// A type as it was written, in canonical spelling.
pub fn text_of(written: &ast::DataType) -> String {
    match &written.kind {
        TypeKind::Native(native) => native.name().to_string(),
        TypeKind::List(element) => format!("list<{}>", text_of(element)),
        TypeKind::Set(element) => format!("set<{}>", text_of(element)),
        TypeKind::Map(key, value) => format!("map<{}, {}>", text_of(key), text_of(value)),
        TypeKind::Tuple(components) => {
            format!("tuple<{}>", components.iter().map(text_of).collect::<Vec<_>>().join(", "))
        }
        TypeKind::Vector(element, dimensions) => format!("vector<{}, {dimensions}>", text_of(element)),
        TypeKind::Frozen(inner) => format!("frozen<{}>", text_of(inner)),
        TypeKind::User(name) => match name.keyspace_str() {
            Some(keyspace) => format!("{keyspace}.{}", name.as_str()),
            None => name.as_str().to_string(),
        },
        TypeKind::Custom(class) => format!("'{class}'"),
    }
}

pub fn native_type(native: NativeType) -> DataType {
    match native {
        NativeType::Ascii => DataType::Ascii,
        NativeType::Bigint => DataType::BigInt,
        NativeType::Blob => DataType::Blob,
        NativeType::Boolean => DataType::Boolean,
        NativeType::Counter => DataType::Counter,
        NativeType::Date => DataType::Date,
        NativeType::Decimal => DataType::Decimal,
        NativeType::Double => DataType::Double,
        NativeType::Duration => DataType::Duration,
        NativeType::Float => DataType::Float,
        NativeType::Inet => DataType::Inet,
        NativeType::Int => DataType::Int,
        NativeType::Smallint => DataType::SmallInt,
        NativeType::Text => DataType::Text,
        NativeType::Time => DataType::Time,
        NativeType::Timestamp => DataType::Timestamp,
        NativeType::Timeuuid => DataType::TimeUuid,
        NativeType::Tinyint => DataType::TinyInt,
        NativeType::Uuid => DataType::Uuid,
        NativeType::Varint => DataType::VarInt,
    }
}
