//! Texts for the old classes that have no CQL type: `'abc:123'` for a `CompositeType(AsciiType, Int32Type)`,
//! `'s@abc:i@123'` for a `DynamicCompositeType`, a uuid for a `LexicalUUIDType`.
//!
//! Layout, as Cassandra 5.0.6 writes it: per component a two-byte length, the value, a zero byte; a dynamic one has its
//! type before that, either `0x80` and its alias or the length and name of a class. Other classes take hex bytes.

use super::text::{hex_to_wire, text_to_wire};
use crate::timeuuid;
use crate::types::{DataType, native_of_java_class, split_java_parameters};
use crate::value::ValueError;
use crate::value::error::invalid;

/// Reads a text as a value of a class, named as the schema keeps it.
pub(super) fn class_text_to_wire(class: &str, text: &str, now_millis: i64) -> Result<Vec<u8>, ValueError> {
    let (name, inside) = class.split_once('(').unwrap_or((class, ""));
    let parameters = split_java_parameters(inside.strip_suffix(')').unwrap_or(inside));
    match short(name) {
        "CompositeType" => components(text, |at, part, out| {
            let Some(class) = parameters.get(at) else {
                return invalid!("'{text}' has more components than {class}");
            };
            put(out, &text_to_wire(&scalar(class)?, part, now_millis)?)
        }),
        "DynamicCompositeType" => components(text, |_, part, out| {
            let Some((named, part)) = part.split_once('@') else {
                return invalid!("'{part}' does not say its type: write alias@value or class@value");
            };
            let aliased = parameters.iter().filter_map(|p| p.split_once("=>")).find(|(a, _)| *a == named);
            let data_type = match (aliased, named.as_bytes()) {
                (Some((_, class)), &[alias]) => {
                    out.extend_from_slice(&[0x80, alias]);
                    scalar(class)?
                }
                _ => {
                    put_sized(out, named.as_bytes())?;
                    scalar(named)?
                }
            };
            put(out, &text_to_wire(&data_type, part, now_millis)?)
        }),
        "LexicalUUIDType" => match timeuuid::parse(text) {
            Some(uuid) => Ok(uuid.to_vec()),
            None => invalid!("unable to make UUID from '{text}'"),
        },
        _ => hex_to_wire(text),
    }
}

fn short(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

fn scalar(class: &str) -> Result<DataType, ValueError> {
    match native_of_java_class(short(class)) {
        Some(data_type) => Ok(data_type),
        None => invalid!("a text cannot hold a component of type {class}; use hex bytes"),
    }
}

/// Splits at colons, of which `\:` is none, and writes every part. A closing `!` means nothing here.
fn components(
    text: &str,
    mut write: impl FnMut(usize, &str, &mut Vec<u8>) -> Result<(), ValueError>,
) -> Result<Vec<u8>, ValueError> {
    let text = text.strip_suffix('!').unwrap_or(text);
    let mut out = Vec::new();
    let mut part = String::new();
    let mut at = 0;
    for piece in text.split(':') {
        match piece.strip_suffix('\\') {
            Some(start) => {
                part.push_str(start);
                part.push(':');
            }
            None => {
                part.push_str(piece);
                write(at, &part, &mut out)?;
                part.clear();
                at += 1;
            }
        }
    }
    if part.is_empty() { Ok(out) } else { invalid!("'{text}' ends inside a component") }
}

fn put(out: &mut Vec<u8>, value: &[u8]) -> Result<(), ValueError> {
    put_sized(out, value)?;
    out.push(0);
    Ok(())
}

fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), ValueError> {
    let Ok(length) = u16::try_from(bytes.len()) else {
        return invalid!("a component of a composite value has at most 65535 bytes");
    };
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::hex;

    const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

    fn read(class: &str, text: &str) -> Result<String, String> {
        class_text_to_wire(class, text, 0).map(|bytes| hex(&bytes)).map_err(|e| e.to_string())
    }

    /// The bytes are those that a Cassandra 5.0.6 stored for the same texts.
    #[test]
    fn composite_texts_are_components() {
        let class = format!("{PACKAGE}CompositeType({PACKAGE}AsciiType,{PACKAGE}Int32Type)");
        assert_eq!(read(&class, "abc:123").unwrap(), "00036162630000040000007b00");
        assert_eq!(read(&class, "abc:123!").unwrap(), "00036162630000040000007b00");
        assert_eq!(read(&class, "abc").unwrap(), "000361626300");
        assert_eq!(read(&class, "abc:").unwrap(), "000361626300000000");
        assert_eq!(read(&class, "a\\:b:5").unwrap(), "0003613a620000040000000500");
        assert_eq!(read(&class, "abc:x").unwrap_err(), "Unable to make int from 'x'");
        assert!(read(&class, "a:1:2").is_err(), "too many");
        assert!(read(&class, &"x".repeat(70_000)).is_err(), "too long");
    }

    #[test]
    fn dynamic_composites_name_the_type_of_each_component() {
        let class = format!("{PACKAGE}DynamicCompositeType(s=>{PACKAGE}UTF8Type,i=>{PACKAGE}Int32Type)");
        assert_eq!(read(&class, "s@abc:i@123").unwrap(), "8073000361626300806900040000007b00");
        assert_eq!(read(&class, "UTF8Type@x").unwrap(), "0008555446385479706500017800");
        assert!(read(&class, "abc").is_err() && read(&class, "z@1").is_err());
    }

    #[test]
    fn lexical_uuids_are_uuids() {
        let class = format!("{PACKAGE}LexicalUUIDType");
        let text = "550e8400-e29b-41d4-a716-446655440000";
        assert_eq!(read(&class, text).unwrap(), text.replace('-', ""));
        assert_eq!(read(&class, "x").unwrap_err(), "unable to make UUID from 'x'");
    }
}
