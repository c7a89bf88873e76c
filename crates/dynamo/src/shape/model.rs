//! The model, read once from its text.

use crate::operation::Operation;
use std::collections::HashMap;
use std::sync::LazyLock;

#[derive(Debug, Default)]
pub struct Range {
    pub least: Option<i64>,
    pub most: Option<i64>,
}

#[derive(Debug)]
pub struct Member {
    pub name: &'static str,
    pub required: bool,
    shape: usize,
}

impl Member {
    pub fn shape(&self) -> &'static Shape {
        &MODEL.shapes[self.shape]
    }
}

#[derive(Debug)]
pub enum Kind {
    Structure(Vec<Member>),
    List {
        of: usize,
        range: Range,
    },
    Map {
        of: usize,
        range: Range,
    },
    /// A map of names to attribute values.
    Attributes,
    /// One attribute value.
    Value,
    Text {
        range: Range,
        pattern: Option<&'static str>,
        allowed: Vec<&'static str>,
    },
    Boolean,
    /// 32 bits.
    Integer {
        range: Range,
    },
    Long {
        range: Range,
    },
    Double,
    Timestamp,
}

#[derive(Debug)]
pub struct Shape {
    pub name: &'static str,
    pub kind: Kind,
}

impl Shape {
    /// The shape of the elements of a list or map.
    pub fn element(&self) -> &'static Shape {
        match &self.kind {
            Kind::List { of, .. } | Kind::Map { of, .. } => &MODEL.shapes[*of],
            _ => input(Operation::DescribeLimits),
        }
    }
}

struct Model {
    shapes: Vec<Shape>,
    inputs: HashMap<&'static str, usize>,
}

static MODEL: LazyLock<Model> = LazyLock::new(load);

/// The shape of an operation's request.
pub fn input(operation: Operation) -> &'static Shape {
    &MODEL.shapes[MODEL.inputs[operation.name()]]
}

/// Does the operation's request have this member?
pub fn has_member(operation: Operation, name: &str) -> bool {
    matches!(&input(operation).kind, Kind::Structure(members) if members.iter().any(|member| member.name == name))
}

fn load() -> Model {
    let lines: Vec<(&str, &str)> =
        include_str!("model.txt").lines().filter_map(|line| line.split_once(' ')).collect();
    let is_shape = |(_, rest): &&(&str, &str)| !rest.starts_with("operation ");
    let numbers: HashMap<&'static str, usize> =
        lines.iter().filter(is_shape).enumerate().map(|(at, (name, _))| (*name, at)).collect();
    let shapes = lines
        .iter()
        .filter(is_shape)
        .map(|(name, rest)| Shape { name, kind: kind(rest, &numbers) })
        .collect();
    let operation = |(name, rest): &(&'static str, &'static str)| {
        let input = rest.strip_prefix("operation ")?;
        Some((*name, numbers[input]))
    };
    Model { shapes, inputs: lines.iter().filter_map(operation).collect() }
}

fn kind(text: &'static str, numbers: &HashMap<&'static str, usize>) -> Kind {
    let mut words = text.split(' ');
    let word = words.next().unwrap_or_default();
    let mut next = || words.next().unwrap_or_default();
    match word {
        "structure" => {
            Kind::Structure(words.filter(|w| !w.is_empty()).map(|word| member(word, numbers)).collect())
        }
        "list" => Kind::List { of: numbers[next()], range: range(next()) },
        "map" => Kind::Map { of: numbers[next()], range: range(next()) },
        "attributes" => Kind::Attributes,
        "value" => Kind::Value,
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer { range: range(next()) },
        "long" => Kind::Long { range: range(next()) },
        "double" => Kind::Double,
        "timestamp" => Kind::Timestamp,
        _ => text_kind(words.collect()),
    }
}

fn member(word: &'static str, numbers: &HashMap<&'static str, usize>) -> Member {
    let (name, shape) = word.split_once(':').unwrap_or((word, ""));
    let required = name.ends_with('!');
    Member { name: name.trim_end_matches('!'), required, shape: numbers[shape] }
}

fn text_kind(words: Vec<&'static str>) -> Kind {
    let mut kind = (Range::default(), None, Vec::new());
    for word in words {
        if let Some(pattern) = word.strip_prefix('/') {
            kind.1 = Some(pattern);
        } else if word.contains("..") {
            kind.0 = range(word);
        } else {
            kind.2 = word.split('|').collect();
        }
    }
    Kind::Text { range: kind.0, pattern: kind.1, allowed: kind.2 }
}

fn range(word: &str) -> Range {
    let (least, most) = word.split_once("..").unwrap_or_default();
    Range { least: least.parse().ok(), most: most.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_shape() {
        for operation in Operation::ALL {
            assert!(matches!(input(*operation).kind, Kind::Structure(_)), "{operation:?}");
        }
        let Kind::Structure(members) = &input(Operation::PutItem).kind else { panic!() };
        assert_eq!(members[0].name, "TableName");
        assert!(members[0].required);
        assert!(matches!(members[1].shape().kind, Kind::Attributes));
    }
}
