//! Functions that run: the same ones in Java on Cassandra and in Lua on Partita, and random calls of them.
//!
//! They are called where statements take functions: in selections, nested, in aggregates, in values that are written and in WHERE.

use super::Sent;
use super::seeded::Seeded;

/// A function in both languages: arguments, what it returns, whether nulls reach it, Java, Lua.
struct Function {
    name: &'static str,
    arguments: &'static str,
    returns: &'static str,
    on_null: &'static str,
    java: &'static str,
    lua: &'static str,
}

const SKIPPED: &str = "RETURNS NULL";
const CALLED: &str = "CALLED";

const fn function(
    name: &'static str,
    (arguments, returns): (&'static str, &'static str),
    on_null: &'static str,
    java: &'static str,
    lua: &'static str,
) -> Function {
    Function { name, arguments, returns, on_null, java, lua }
}

const FUNCTIONS: &[Function] = &[
    function("twice", ("a int", "int"), SKIPPED, "return a * 2;", "return a * 2"),
    function("twice", ("a text", "text"), SKIPPED, "return a + a;", "return a .. a"),
    function(
        "seen",
        ("a int", "text"),
        CALLED,
        "if (a == null) return \"none\"; return \"a\" + a;",
        "return a == nil and 'none' or 'a' .. a",
    ),
    function(
        "first",
        ("a int, b int", "int"),
        CALLED,
        "if (a != null) return a; return b;",
        "if a ~= nil then return a end return b",
    ),
    function("mix", ("a bigint, b int", "bigint"), SKIPPED, "return a * 31 + b;", "return a * 31 + b"),
    function("half", ("a double", "double"), SKIPPED, "return a / 2;", "return a / 2"),
    function("isbig", ("a int", "boolean"), SKIPPED, "return a > 2;", "return a > 2"),
    function(
        "total",
        ("m map<text, int>", "bigint"),
        SKIPPED,
        "long n = 0; for (Object v : m.values()) n += ((Integer) v); return n;",
        "local n = 0 for _, v in pairs(m) do n = n + v end return n",
    ),
    function(
        "ends",
        ("l list<int>", "list<int>"),
        SKIPPED,
        "if (l.isEmpty()) return l; java.util.List r = new java.util.ArrayList(); r.add(l.get(0)); r.add(l.get(l.size() - 1)); return r;",
        "if #l == 0 then return l end return {l[1], l[#l]}",
    ),
    function(
        "step",
        ("s bigint, v int", "bigint"),
        CALLED,
        "if (v == null) return s; return s + v;",
        "if v == nil then return s end return s + v",
    ),
    function(
        "wrap",
        ("s bigint", "text"),
        CALLED,
        "return \"<\" + s + \">\";",
        "return '<' .. tostring(s) .. '>'",
    ),
    function(
        "longest",
        ("s text, v text", "text"),
        CALLED,
        "if (v == null) return s; if (s == null || v.length() > s.length()) return v; return s;",
        "if v == nil then return s end if s == nil or #v > #s then return v end return s",
    ),
];

const AGGREGATES: [&str; 3] = [
    "CREATE AGGREGATE added (int) SFUNC step STYPE bigint INITCOND 0",
    "CREATE AGGREGATE wrapped (int) SFUNC step STYPE bigint FINALFUNC wrap INITCOND 7",
    "CREATE AGGREGATE longest_of (text) SFUNC longest STYPE text",
];

/// The table and the functions. What Partita is sent differs in language and body alone.
pub fn create() -> Vec<Sent> {
    let table = "CREATE TABLE g (p int, c int, v int, w int, b bigint, d double, s text, m map<text, int>, l list<int>, PRIMARY KEY (p, c))";
    let mut all = vec![Sent::new("CREATE", table.into())];
    for Function { name, arguments, returns, on_null, java, lua } in FUNCTIONS {
        let text = |language: &str, body: &str| {
            format!(
                "CREATE FUNCTION {name} ({arguments}) {on_null} ON NULL INPUT RETURNS {returns} LANGUAGE {language} AS $${body}$$"
            )
        };
        let mut sent = Sent::new("CREATE", text("java", java));
        sent.ours = Some(text("lua", lua));
        all.push(sent);
    }
    all.extend(AGGREGATES.map(|text| Sent::new("CREATE", text.into())));
    all
}

/// An expression of type int.
fn number(random: &mut Seeded, depth: usize) -> String {
    if depth == 0 {
        return random.one_of(&["v", "w", "c"]).to_string();
    }
    match random.below(6) {
        0 | 1 => format!("twice({})", number(random, depth - 1)),
        2 => format!("first({}, {})", number(random, depth - 1), number(random, depth - 1)),
        3 => format!("{} + 1", number(random, depth - 1)),
        _ => number(random, depth - 1),
    }
}

/// One of any type.
fn expression(random: &mut Seeded) -> String {
    match random.below(12) {
        0..3 => number(random, 2),
        3 => "twice(s)".into(),
        4 => format!("seen({})", number(random, 1)),
        5 => format!("mix(b, {})", number(random, 1)),
        6 => "half(d)".into(),
        7 => format!("isbig({})", number(random, 1)),
        8 => "total(m)".into(),
        9 => "ends(l)".into(),
        10 => "twice(twice(s))".into(),
        _ => format!("abs({})", number(random, 1)),
    }
}

fn value(random: &mut Seeded) -> String {
    let constant = random.one_of(&["0", "1", "-3", "2147483647", "null"]).to_string();
    match random.below(3) {
        // A bare null has no type that would choose among functions of one name.
        0 if constant != "null" => format!("twice((int) {constant})"),
        _ => constant,
    }
}

pub fn statement(random: &mut Seeded) -> Sent {
    let p = format!("p = {}", random.below(3));
    let c = format!("c = {}", random.below(4));
    let (kind, text) = match random.below(20) {
        0..5 => ("function INSERT", {
            let (v, w) = (value(random), value(random));
            let (b, d) = (random.one_of(&["5", "-9", "null"]), random.one_of(&["1.5", "-0.25", "null"]));
            let s = random.one_of(&["'a'", "'bc'", "twice('x')", "null", "''"]);
            let m = random.one_of(&["{'x': 1, 'y': 2}", "{}", "null", "{'z': -7}"]);
            let l = random.one_of(&["[1, 2, 3]", "[]", "[9]", "null"]);
            format!(
                "INSERT INTO g (p, c, v, w, b, d, s, m, l) VALUES ({}, {}, {v}, {w}, {b}, {d}, {s}, {m}, {l})",
                random.below(3),
                random.below(4)
            )
        }),
        5 => ("function UPDATE", format!("UPDATE g SET v = {} WHERE {p} AND {c}", value(random))),
        6 => ("function UPDATE", format!("UPDATE g SET v = 4 WHERE {p} AND c = twice((int) 1)")),
        7 => ("function DELETE", format!("DELETE FROM g WHERE {p} AND {c}")),
        8 => (
            "function SELECT",
            format!(
                "SELECT c, {} FROM g WHERE {p} AND c >= twice((int) {})",
                expression(random),
                random.below(2)
            ),
        ),
        9 => ("function SELECT", format!("SELECT JSON c, {} FROM g WHERE {p}", expression(random))),
        10..13 => ("function aggregate", {
            let what = random.one_of(&[
                "added(v)",
                "wrapped(w)",
                "longest_of(s)",
                "added(twice(v))",
                "twice(max(v))",
            ]);
            let grouped = random.one_of(&[" GROUP BY p", "", " GROUP BY p, c"]);
            let place = if random.chance(50) { format!(" WHERE {p}") } else { String::new() };
            let key = if grouped.is_empty() { "" } else { "p, " };
            format!("SELECT {key}{what}, count(*) FROM g{place}{grouped}")
        }),
        13 => ("function refused", {
            random
                .one_of(&[
                    "SELECT twice(m) FROM g",
                    "SELECT twice(v, w) FROM g",
                    "SELECT nosuch(v) FROM g",
                    "SELECT added(s) FROM g",
                    "SELECT added(added(v)) FROM g",
                    "INSERT INTO g (p, c, v) VALUES (1, 1, twice('a'))",
                    "DROP FUNCTION step",
                    "DROP FUNCTION twice",
                    "SELECT seen() FROM g",
                ])
                .to_string()
        }),
        _ => ("function SELECT", {
            let (one, other) = (expression(random), expression(random));
            format!("SELECT c, {one}, {other} FROM g WHERE {p}")
        }),
    };
    Sent::new(kind, text)
}
