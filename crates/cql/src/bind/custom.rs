//! Types written as Java class names in quotes: those that are CQL types become them, a few others are carried as
//! opaque bytes, unknown ones are refused.

use crate::CqlError;
use model::types::{DataType, java_class_name, native_of_java_class, split_java_parameters};

const PACKAGE: &str = "org.apache.cassandra.db.marshal.";
/// Levels of parentheses that a class text may have.
const DEPTH_MAX: usize = 32;
/// Classes without a CQL type, kept so that a schema that names them can be loaded.
const OPAQUE: [&str; 4] =
    ["CompositeType", "DynamicCompositeType", "LexicalUUIDType", "PartitionerDefinedOrder"];

/// The type that a class text names.
pub(super) fn resolve(class: &str) -> Result<DataType, CqlError> {
    let refusal = |reason: String| CqlError::Syntax(format!("Error setting type {class}: {reason}"));
    read(class, 0).map_err(refusal)
}

fn read(class: &str, depth: usize) -> Result<DataType, String> {
    if depth > DEPTH_MAX {
        return Err("the type is nested too deep".into());
    }
    let class = class.trim();
    let (name, arguments) = match class.split_once('(') {
        None => (class, Vec::new()),
        Some((name, rest)) => {
            let inside =
                rest.strip_suffix(')').ok_or_else(|| format!("a parenthesis is open in '{class}'"))?;
            (name.trim(), split_java_parameters(inside))
        }
    };
    let short = name.strip_prefix(PACKAGE).unwrap_or(name);
    if OPAQUE.contains(&short) {
        return opaque(short, &arguments, depth);
    }
    let part = |at: usize| match arguments.get(at) {
        Some(text) => read(text, depth + 1),
        None => Err(format!("{short} needs another parameter")),
    };
    Ok(match short {
        "ListType" => DataType::list(part(0)?),
        "SetType" => DataType::set(part(0)?),
        "MapType" => DataType::map(part(0)?, part(1)?),
        "FrozenType" => part(0)?.freeze(),
        "ReversedType" => part(0)?,
        "TupleType" => DataType::tuple((0..arguments.len()).map(part).collect::<Result<Vec<_>, _>>()?),
        "VectorType" => {
            let dimensions = arguments.get(1).and_then(|text| text.trim().parse().ok()).filter(|n| *n > 0);
            DataType::vector(part(0)?, dimensions.ok_or("VectorType needs a positive number of dimensions")?)
        }
        simple => native_of_java_class(simple).ok_or_else(|| {
            let full = if name.contains('.') { name.to_string() } else { format!("{PACKAGE}{name}") };
            format!("Unable to find abstract-type class '{full}'")
        })?,
    })
}

/// A class that is carried as bytes, with the full name of every class in it: drivers parse what the schema says.
fn opaque(short: &str, arguments: &[&str], depth: usize) -> Result<DataType, String> {
    let parameter = |text: &&str| {
        // `a => UTF8Type`: the alias of a DynamicCompositeType.
        let (alias, class) = match text.split_once("=>") {
            Some((alias, class)) => (format!("{}=>", alias.trim()), class),
            None => (String::new(), *text),
        };
        let class = match read(class, depth + 1)? {
            DataType::Custom(class) => class.to_string(),
            data_type => java_class_name(&data_type),
        };
        Ok(format!("{alias}{class}"))
    };
    let parameters = arguments.iter().map(parameter).collect::<Result<Vec<_>, String>>()?;
    let parameters =
        if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(",")) };
    Ok(DataType::Custom(format!("{PACKAGE}{short}{parameters}").into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composite_types_name_their_parts_in_full() {
        let name = |class: &str| resolve(class).map(|t| t.to_string());
        assert_eq!(
            name("DynamicCompositeType(s => UTF8Type, i => Int32Type)").unwrap(),
            format!("'{PACKAGE}DynamicCompositeType(s=>{PACKAGE}UTF8Type,i=>{PACKAGE}Int32Type)'")
        );
        assert_eq!(
            name("org.apache.cassandra.db.marshal.CompositeType(AsciiType, Int32Type)").unwrap(),
            format!("'{PACKAGE}CompositeType({PACKAGE}AsciiType,{PACKAGE}Int32Type)'")
        );
        assert_eq!(name("LexicalUUIDType").unwrap(), format!("'{PACKAGE}LexicalUUIDType'"));
        assert!(name("CompositeType(NoSuchType)").is_err());
    }

    #[test]
    fn class_texts_are_types_or_errors() {
        let text = |class: &str| resolve(class).map(|t| t.to_string()).map_err(|e| e.to_string());
        assert_eq!(text("org.apache.cassandra.db.marshal.Int32Type").unwrap(), "int");
        assert_eq!(text("ReversedType(LongType)").unwrap(), "bigint");
        assert_eq!(
            text("MapType(UTF8Type, FrozenType(ListType(Int32Type)))").unwrap(),
            "map<text, frozen<list<int>>>"
        );
        assert_eq!(text("VectorType(FloatType , 3)").unwrap(), "vector<float, 3>");
        assert!(
            text("CompositeType(Int32Type)").unwrap().starts_with("'org.apache.cassandra.db.marshal.Comp")
        );
        for wrong in ["", "(", ")", "ListType", "ListType(", "ListType()", "VectorType(FloatType, 0)", "Nope"]
        {
            assert!(text(wrong).unwrap_err().starts_with("Error setting type"), "{wrong}");
        }
        assert!(text(&"FrozenType(".repeat(1000)).is_err());
        assert!(text(&format!("{}Int32Type{}", "FrozenType(".repeat(1000), ")".repeat(1000))).is_err());
    }
}
