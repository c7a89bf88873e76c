//! Expressions: which refusal wins, and what the trees compute. The sentences were compared with a real service's.

use super::*;
use crate::messages::Layer;
use crate::number::Number;
use crate::value::{Item, Value};

fn n(text: &str) -> Value {
    Value::N(Number::parse(text).unwrap())
}

fn s(text: &str) -> Value {
    Value::S(text.into())
}

fn item(attributes: &[(&str, Value)]) -> Item {
    attributes.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}

fn placeholders() -> Placeholders {
    let values = [
        (":v", s("a")),
        (":n", n("1")),
        (":b", Value::Bool(true)),
        (":l", Value::L(vec![])),
        (":w", s("S")),
        (":ss", Value::Ss(vec!["x".into()])),
        (":e", s("")),
    ];
    let names = [("#p", "p"), ("#q", "a.b"), ("#a", "a")];
    Placeholders::new(
        names.map(|(k, v)| (k.to_string(), v.to_string())).to_vec(),
        values.map(|(k, v)| (k.to_string(), v)).to_vec(),
    )
}

fn refusal<T: std::fmt::Debug>(kind: &str, result: Result<T, crate::error::ApiError>) -> String {
    match result {
        Ok(_) => "ok".to_string(),
        Err(error) => error.message().replace(&format!("Invalid {kind}: "), ""),
    }
}

fn check_condition(text: &str, expected: &str) {
    let result = condition(ExpressionKind::Condition, text, &placeholders(), Layer::Older);
    assert_eq!(refusal("ConditionExpression", result), expected, "{text}");
}

fn check_update(text: &str, expected: &str) {
    assert_eq!(refusal("UpdateExpression", update(text, &placeholders(), Layer::Older)), expected, "{text}");
}

#[test]
fn conditions_are_refused_in_order() {
    let cases = include_str!("conditions.txt");
    for line in cases.lines().filter(|line| !line.is_empty()) {
        let (text, expected) = line.split_once(" | ").unwrap();
        check_condition(text, expected);
    }
}

#[test]
fn updates_are_refused_in_order() {
    for line in include_str!("updates.txt").lines().filter(|line| !line.is_empty()) {
        let (text, expected) = line.split_once(" | ").unwrap();
        check_update(text, expected);
    }
}

#[test]
fn sizes_and_counts_are_bounded() {
    check_condition("", "The expression can not be empty;");
    check_condition("  ", "Syntax error; token: \"<EOF>\", near: \"  \"");
    let long = format!("a = :v{}", " ".repeat(4091));
    check_condition(&long, "Expression size has exceeded the maximum allowed size; expression size: 4097");
    let many = vec!["a=:v"; 151].join(" OR ");
    check_condition(&many, "The expression contains too many operators; operator count: 301");
    let fine = vec!["a=:v"; 150].join(" OR ");
    check_condition(&fine, "ok");
    let list = vec![":v"; 101].join(",");
    check_condition(
        &format!("a IN ({list})"),
        "The IN operator is provided with too many operands; number of operands: 101",
    );
    let deep = format!("{}a=:v{}", "(".repeat(1500), ")".repeat(1500));
    assert!(condition(ExpressionKind::Condition, &deep, &placeholders(), Layer::Older).is_err());
    let nots = format!("{}a=:v", "NOT ".repeat(1000));
    assert!(condition(ExpressionKind::Condition, &nots, &placeholders(), Layer::Older).is_err());
}

#[test]
fn unused_placeholders_are_named() {
    let given =
        Placeholders::new(vec![("#x".into(), "x".into())], vec![(":y".into(), s("")), (":z".into(), s(""))]);
    condition(ExpressionKind::Condition, "a = :z", &given, Layer::Older).unwrap();
    let error = given.check_used().unwrap_err();
    assert_eq!(
        error.message(),
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"
    );
    condition(ExpressionKind::Condition, "#x = :z", &given, Layer::Older).unwrap();
    let error = given.check_used().unwrap_err();
    assert_eq!(
        error.message(),
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}"
    );
}

#[test]
fn conditions_hold_or_not() {
    let map = Value::M(item(&[("x", n("1")), ("l", Value::L(vec![s("a"), n("2")]))]));
    let of = item(&[
        ("a", s("abc")),
        ("nn", n("10")),
        ("m", map),
        ("st", Value::Ss(vec!["x".into(), "y".into()])),
    ]);
    let cases = [
        ("a = :v", false),
        ("a <> :v", true),
        ("absent <> :v", true),
        ("absent = :v", false),
        ("NOT absent = :v", true),
        ("begins_with(a, :v)", true),
        ("begins_with(a, :e)", true),
        ("contains(a, :v)", true),
        ("contains(m.l, :v)", true),
        ("m.x = :n AND m.l[1] > :n", true),
        ("size(a) > :n", true),
        ("size(m) > :n", true),
        ("size(nn) = :n", false),
        ("nn > :v", false),
        ("nn BETWEEN :n AND :n", false),
        ("a IN (:v, m.l[0], a2)", false),
        ("attribute_type(a, :w)", true),
        ("attribute_exists(m.l[1]) AND attribute_not_exists(m.l[2])", true),
        ("contains(#a, :v) OR absent = :v", true),
    ];
    for (text, expected) in cases {
        let tree = condition(ExpressionKind::Condition, text, &placeholders(), Layer::Older).unwrap();
        assert_eq!(tree.holds(Some(&of)), expected, "{text}");
    }
    let tree = condition(ExpressionKind::Condition, "attribute_not_exists(a)", &placeholders(), Layer::Older)
        .unwrap();
    assert!(tree.holds(None));
}

fn updated(text: &str, old: &Item) -> Result<Updated, String> {
    let tree = update(text, &placeholders(), Layer::Older).map_err(|error| error.message().to_string())?;
    tree.apply(Some(old), &item(&[("p", s("k"))])).map_err(|error| error.message().to_string())
}

#[test]
fn updates_see_the_item_before() {
    let list = Value::L(vec![n("0"), n("1"), n("2")]);
    let old = item(&[
        ("p", s("k")),
        ("x", n("5")),
        ("y", n("7")),
        ("l", list),
        ("m", Value::M(item(&[("a", n("1"))]))),
    ]);
    let swapped = updated("SET x = y, y = x", &old).unwrap();
    assert_eq!((swapped.item.get("x"), swapped.item.get("y")), (Some(&n("7")), Some(&n("5"))));
    assert_eq!(swapped.updated_old, item(&[("x", n("5")), ("y", n("7"))]));
    let nested = updated("SET m.a = m.a + :n, m.b = :v", &old).unwrap();
    assert_eq!(nested.updated_old, item(&[("m", Value::M(item(&[("a", n("1"))])))]));
    assert_eq!(nested.updated_new, item(&[("m", Value::M(item(&[("a", n("2")), ("b", s("a"))])))]));
    let lists = updated("SET l[9] = :v, l[7] = :n, l[1] = :v REMOVE l[0]", &old).unwrap();
    assert_eq!(lists.item.get("l"), Some(&Value::L(vec![s("a"), n("2"), n("1"), s("a")])));
    assert_eq!(lists.updated_new.get("l"), Some(&Value::L(vec![s("a"), n("1"), s("a")])));
    let created = update("SET a = :v", &placeholders(), Layer::Older)
        .unwrap()
        .apply(None, &item(&[("p", s("k"))]))
        .unwrap();
    assert_eq!(created.item, item(&[("a", s("a")), ("p", s("k"))]));
    assert!(created.updated_old.is_empty());
    let removed = updated("REMOVE x, nothing, l[0], l[2]", &old).unwrap();
    assert_eq!(removed.item.get("l"), Some(&Value::L(vec![n("1")])));
    assert!(removed.updated_new.is_empty());
}

#[test]
fn updates_fail_at_run_time() {
    let old = item(&[
        ("p", s("k")),
        ("t", s("text")),
        ("l", Value::L(vec![])),
        ("st", Value::Ss(vec!["x".into()])),
    ]);
    let path = "The document path provided in the update expression is invalid for update";
    let kind = "An operand in the update expression has an incorrect data type";
    let missing = "The provided expression refers to an attribute that does not exist in the item";
    let cases = [
        ("SET a.b = :v", path),
        ("REMOVE a.b", path),
        ("SET t[0] = :v", path),
        ("SET l.x = :v", path),
        ("SET x = nothing", missing),
        ("SET x = t + :n", kind),
        ("SET x = list_append(t, :l)", kind),
        ("ADD t :n", kind),
        ("ADD st :n", kind),
        ("DELETE t :ss", kind),
    ];
    for (text, expected) in cases {
        assert_eq!(updated(text, &old), Err(expected.to_string()), "{text}");
    }
    assert_eq!(updated("DELETE st :ss", &old).unwrap().item.get("st"), None);
    assert_eq!(updated("ADD fresh :n", &old).unwrap().item.get("fresh"), Some(&n("1")));
}

#[test]
fn projections_keep_the_shape() {
    let of = item(&[
        ("a", s("x")),
        ("m", Value::M(item(&[("k", n("1")), ("l", Value::L(vec![n("0"), n("1"), n("2")]))]))),
    ]);
    let project = |text: &str| projection(text, &placeholders(), Layer::Older).unwrap().apply(&of);
    assert_eq!(
        project("m.l[2], m.l[0], nothing"),
        item(&[("m", Value::M(item(&[("l", Value::L(vec![n("0"), n("2")]))])))])
    );
    assert_eq!(project("a.b, m.x, m.l[9]"), Item::new());
    let two = projection("a, m.k, a.b", &placeholders(), Layer::Older);
    assert_eq!(
        refusal("ProjectionExpression", two),
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]"
    );
}
