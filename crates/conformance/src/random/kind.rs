//! Random types, and random constants of a type in both spellings: as CQL and as JSON.
//!
//! Domains are small on purpose: statements must meet the same rows.

use super::seeded::Seeded;

/// A native type and its few values, as CQL writes them.
#[derive(Debug)]
pub struct Native {
    pub name: &'static str,
    pub group: Group,
    values: &'static [&'static str],
}

/// What may be done with values of a native type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Number,
    Text,
    /// timestamp, date, timeuuid: what time functions take.
    Moment,
    Other,
    /// Has no order, cannot be part of a key.
    Duration,
}

const fn native(name: &'static str, group: Group, values: &'static [&'static str]) -> Native {
    Native { name, group, values }
}

const NATIVES: &[Native] = &[
    native("int", Group::Number, &["0", "1", "2", "-1", "2147483647"]),
    native("bigint", Group::Number, &["0", "5", "-5", "9223372036854775807"]),
    native("smallint", Group::Number, &["0", "1", "-32768"]),
    native("tinyint", Group::Number, &["0", "127", "-128"]),
    native("varint", Group::Number, &["0", "-1", "128", "-129", "123456789012345678901234567890"]),
    // Without trailing zeros: a clustering column keeps no scale (COMPAT.md).
    native("decimal", Group::Number, &["0", "1.5", "-0.25", "123456789012345678901234567890.5"]),
    native("double", Group::Number, &["0.0", "-0.0", "1.5", "-1.5", "NaN", "Infinity"]),
    native("float", Group::Number, &["0.0", "1.5", "-1.5", "NaN"]),
    native("text", Group::Text, &["'a'", "'b'", "'ab'", "'é'", "'~'", "''"]),
    native("ascii", Group::Text, &["'a'", "'B'", "'c'"]),
    native(
        "timestamp",
        Group::Moment,
        &["'1970-01-01T00:00:00Z'", "'2026-11-16T10:00:00Z'", "'1969-12-31T23:59:59.999Z'"],
    ),
    native("date", Group::Moment, &["'2026-11-16'", "'1969-12-31'", "'2000-02-29'"]),
    native(
        "timeuuid",
        Group::Moment,
        &[
            "e1f2b3c4-5d6e-11ef-8000-000000000001",
            "e1f2b3c4-5d6e-11ef-8000-0000000000ff",
            "00000001-5d6f-11ef-8000-000000000001",
        ],
    ),
    native(
        "uuid",
        Group::Other,
        &[
            "7b0a1f5e-3c1d-4a57-9b1e-2f3a4b5c6d7e",
            "00000000-0000-0000-0000-000000000000",
            "e1f2b3c4-5d6e-11ef-8000-000000000001",
        ],
    ),
    native("time", Group::Other, &["'00:00:00'", "'23:59:59.999999999'", "'12:00:00'"]),
    native("boolean", Group::Other, &["true", "false"]),
    native("blob", Group::Other, &["0x00", "0xff", "0x00ff", "0x0100", "0x"]),
    native("inet", Group::Other, &["'127.0.0.1'", "'::1'", "'10.0.0.1'"]),
    native("duration", Group::Duration, &["1mo", "1d", "-2h30m", "1mo2d3h"]),
];

/// A constant in both spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    pub cql: String,
    pub json: String,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Native(&'static Native),
    List(Box<Kind>),
    Set(Box<Kind>),
    Map(Box<Kind>, Box<Kind>),
    Tuple(Vec<Kind>),
    Vector(Box<Kind>, usize),
    Udt { name: String, fields: Vec<(String, Kind)> },
    Frozen(Box<Kind>),
}

impl Kind {
    /// A type that may stand in a primary key.
    pub fn for_key(random: &mut Seeded, udt: Option<&Kind>) -> Kind {
        match random.below(20) {
            0 => Kind::frozen(Kind::List(Box::new(Kind::native(random, true)))),
            1 => Kind::frozen(Kind::Set(Box::new(Kind::native(random, true)))),
            2 => Kind::Tuple(vec![Kind::native(random, true), Kind::native(random, true)]),
            3 => Kind::frozen(Kind::map(random)),
            4 => udt.map_or_else(|| Kind::native(random, true), |udt| Kind::frozen(udt.clone())),
            _ => Kind::native(random, true),
        }
    }

    /// A type of a column outside the key.
    pub fn for_data(random: &mut Seeded, udt: Option<&Kind>) -> Kind {
        match random.below(24) {
            0..9 => Kind::native(random, false),
            9 | 10 => Kind::List(Box::new(Kind::element(random, udt))),
            11 | 12 => Kind::Set(Box::new(Kind::element_with_order(random))),
            13..16 => Kind::map(random),
            16 => Kind::Map(Box::new(Kind::native(random, true)), Box::new(Kind::element(random, udt))),
            17 => Kind::frozen(Kind::List(Box::new(Kind::element(random, udt)))),
            18 => Kind::frozen(Kind::map(random)),
            19 => Kind::Tuple(vec![Kind::native(random, false), Kind::element(random, udt)]),
            20 => Kind::Vector(Box::new(Kind::native_named("float")), 3),
            21 => Kind::Vector(Box::new(Kind::native(random, true)), 2),
            22 => udt.cloned().unwrap_or_else(|| Kind::native(random, false)),
            _ => udt.map_or_else(|| Kind::native(random, false), |udt| Kind::frozen(udt.clone())),
        }
    }

    /// Fields of various kinds, one of them a collection that is only ever whole.
    pub fn udt(random: &mut Seeded, name: &str) -> Kind {
        let mut fields = vec![
            ("a".to_string(), Kind::native(random, true)),
            ("b".to_string(), Kind::native(random, true)),
        ];
        if random.chance(50) {
            fields.push(("m".into(), Kind::frozen(Kind::map(random))));
        }
        Kind::Udt { name: name.into(), fields }
    }

    pub fn native_named(name: &str) -> Kind {
        Kind::Native(NATIVES.iter().find(|n| n.name == name).unwrap_or(&NATIVES[0]))
    }

    fn native(random: &mut Seeded, ordered: bool) -> Kind {
        let count = NATIVES.len() - usize::from(ordered);
        Kind::Native(&NATIVES[random.below(count)])
    }

    fn frozen(inner: Kind) -> Kind {
        Kind::Frozen(Box::new(inner))
    }

    fn map(random: &mut Seeded) -> Kind {
        Kind::Map(Box::new(Kind::native(random, true)), Box::new(Kind::native(random, true)))
    }

    fn element(random: &mut Seeded, udt: Option<&Kind>) -> Kind {
        match random.below(10) {
            0 => Kind::frozen(Kind::List(Box::new(Kind::native(random, true)))),
            1 => Kind::frozen(Kind::Tuple(vec![Kind::native(random, true), Kind::native(random, true)])),
            2 => udt.map_or_else(|| Kind::native(random, true), |udt| Kind::frozen(udt.clone())),
            _ => Kind::native(random, true),
        }
    }

    fn element_with_order(random: &mut Seeded) -> Kind {
        match random.below(6) {
            0 => Kind::frozen(Kind::Tuple(vec![Kind::native(random, true), Kind::native(random, true)])),
            _ => Kind::native(random, true),
        }
    }

    /// As a statement names it.
    pub fn name(&self) -> String {
        match self {
            Kind::Native(native) => native.name.into(),
            Kind::List(element) => format!("list<{}>", element.name()),
            Kind::Set(element) => format!("set<{}>", element.name()),
            Kind::Map(key, value) => format!("map<{}, {}>", key.name(), value.name()),
            Kind::Tuple(parts) => {
                format!("tuple<{}>", parts.iter().map(Kind::name).collect::<Vec<_>>().join(", "))
            }
            Kind::Vector(element, dimensions) => format!("vector<{}, {dimensions}>", element.name()),
            Kind::Udt { name, .. } => name.clone(),
            Kind::Frozen(inner) => format!("frozen<{}>", inner.name()),
        }
    }

    /// The type without `frozen`.
    pub fn inner(&self) -> &Kind {
        match self {
            Kind::Frozen(inner) => inner.inner(),
            other => other,
        }
    }

    /// A value of many cells: elements and fields can be written one by one.
    pub fn is_multi_cell(&self) -> bool {
        matches!(self, Kind::List(_) | Kind::Set(_) | Kind::Map(..) | Kind::Udt { .. })
    }

    pub fn group(&self) -> Option<Group> {
        match self {
            Kind::Native(native) => Some(native.group),
            _ => None,
        }
    }

    pub fn is_named(&self, name: &str) -> bool {
        matches!(self, Kind::Native(native) if native.name == name)
    }

    /// `<` works: a duration anywhere inside prevents it.
    pub fn is_ordered(&self) -> bool {
        match self {
            Kind::Native(native) => native.group != Group::Duration,
            Kind::List(element) | Kind::Set(element) | Kind::Vector(element, _) => element.is_ordered(),
            Kind::Map(key, value) => key.is_ordered() && value.is_ordered(),
            Kind::Tuple(parts) => parts.iter().all(Kind::is_ordered),
            Kind::Udt { fields, .. } => fields.iter().all(|(_, kind)| kind.is_ordered()),
            Kind::Frozen(inner) => inner.is_ordered(),
        }
    }

    pub fn constant(&self, random: &mut Seeded) -> Constant {
        match self {
            Kind::Native(native) => {
                let cql = random.one_of(native.values);
                Constant { cql: cql.into(), json: json_of(cql) }
            }
            Kind::Frozen(inner) => inner.constant(random),
            Kind::List(element) => sequence(('[', ']'), &some(random, element, 0..3)),
            Kind::Set(element) => sequence(('{', '}'), &distinct(some(random, element, 0..3))),
            Kind::Vector(element, dimensions) => {
                sequence(('[', ']'), &some(random, element, *dimensions..dimensions + 1))
            }
            Kind::Map(key, value) => {
                let keys = distinct(some(random, key, 0..3));
                let entries: Vec<_> = keys.into_iter().map(|key| (key, value.constant(random))).collect();
                let cql = entries.iter().map(|(k, v)| format!("{}: {}", k.cql, v.cql));
                let json = entries.iter().map(|(k, v)| format!("{}: {}", as_json_key(&k.json), v.json));
                Constant { cql: braced(cql), json: braced(json) }
            }
            Kind::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(|kind| kind.or_null(random)).collect();
                sequence(('(', ')'), &parts)
            }
            Kind::Udt { fields, .. } => {
                let fields: Vec<_> = fields.iter().map(|(name, kind)| (name, kind.or_null(random))).collect();
                let cql = fields.iter().map(|(name, value)| format!("{name}: {}", value.cql));
                let json = fields.iter().map(|(name, value)| format!("\"{name}\": {}", value.json));
                Constant { cql: braced(cql), json: braced(json) }
            }
        }
    }

    fn or_null(&self, random: &mut Seeded) -> Constant {
        if random.chance(15) {
            Constant { cql: "null".into(), json: "null".into() }
        } else {
            self.constant(random)
        }
    }
}

fn some(random: &mut Seeded, kind: &Kind, count: std::ops::Range<usize>) -> Vec<Constant> {
    let count = count.start + random.below(count.len());
    (0..count).map(|_| kind.constant(random)).collect()
}

/// A repeated map key would keep a value that depends on the order of a hash table.
fn distinct(all: Vec<Constant>) -> Vec<Constant> {
    let mut kept: Vec<Constant> = Vec::new();
    for one in all {
        if !kept.iter().any(|k| k.cql == one.cql) {
            kept.push(one);
        }
    }
    kept
}

fn sequence((open, close): (char, char), all: &[Constant]) -> Constant {
    let join = |texts: Vec<&str>| texts.join(", ");
    Constant {
        cql: format!("{open}{}{close}", join(all.iter().map(|c| c.cql.as_str()).collect())),
        json: format!("[{}]", join(all.iter().map(|c| c.json.as_str()).collect())),
    }
}

fn braced(parts: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
}

/// A native constant as JSON: numbers and booleans bare, all else quoted.
fn json_of(cql: &str) -> String {
    if let Some(text) = cql.strip_prefix('\'') {
        return format!("\"{}\"", text.trim_end_matches('\''));
    }
    // Jackson reads a number with a point as a double; a quoted one keeps its digits.
    let long = cql.contains('.') && cql.len() > 15;
    let bare = !long
        && (cql == "true"
            || cql == "false"
            || cql.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '.')
                && cql.matches('-').count() < 2);
    if bare { cql.into() } else { format!("\"{cql}\"") }
}

/// Keys of JSON objects are strings, whatever the type.
fn as_json_key(json: &str) -> String {
    if json.starts_with('"') {
        return json.into();
    }
    format!("\"{}\"", json.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_both_spellings() {
        assert_eq!(json_of("'a'"), "\"a\"");
        assert_eq!(json_of("-1.5"), "-1.5");
        assert_eq!(json_of("NaN"), "\"NaN\"");
        assert_eq!(json_of("0x00"), "\"0x00\"");
        assert_eq!(
            json_of("00000000-0000-0000-0000-000000000000"),
            "\"00000000-0000-0000-0000-000000000000\""
        );
        assert_eq!(as_json_key("[1, \"a\"]"), "\"[1, \\\"a\\\"]\"");
    }

    #[test]
    fn key_types_have_an_order_and_every_type_has_a_name() {
        let mut random = Seeded::new(7);
        let udt = Kind::udt(&mut random, "u");
        for _ in 0..500 {
            assert!(Kind::for_key(&mut random, Some(&udt)).is_ordered());
            assert!(!Kind::for_data(&mut random, Some(&udt)).name().is_empty());
        }
    }
}
