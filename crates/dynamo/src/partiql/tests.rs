//! PartiQL: what statements become, and the sentences for those that are wrong.

use super::*;
use crate::expression::{Condition, KeyTest};
use crate::messages::Layers;
use crate::number::Number;
use crate::operation::Operation;
use crate::request::{self, Request};
use crate::table::TableDefinition;
use crate::value::Value;

fn statement(text: &str, parameters: &[Value]) -> Result<Parsed, String> {
    let parameters = parameters.to_vec();
    let statement = Statement { text: text.into(), parameters, consistent: false, item_on_failure: false };
    parse(&statement).map_err(|error| error.message().to_string())
}

fn table() -> TableDefinition {
    let body = r#"{"TableName":"tbr","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"p","KeyType":"HASH"},
        {"AttributeName":"r","KeyType":"RANGE"}],"AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},
        {"AttributeName":"r","AttributeType":"N"}]}"#;
    let Request::CreateTable(create) =
        request::parse(Operation::CreateTable, body.as_bytes(), Layers::Older).unwrap()
    else {
        panic!()
    };
    TableDefinition::create(&create, String::new(), 0)
}

fn planned(text: &str) -> Result<Plan, String> {
    let options = Options::default();
    statement(text, &[])?.plan(&table(), options).map_err(|error| error.message().to_string())
}

#[test]
fn refusals() {
    let malformed = |text: &str| format!("Statement wasn't well formed, can't be processed: {text}");
    for text in [
        "SELEC * FROM tbr",
        "SELECT FROM tbr",
        "SELECT * FROM tbr WHERE p = 'x",
        "UPDATE tbr WHERE p='x'",
        "",
    ] {
        assert_eq!(statement(text, &[]), Err(malformed(text)), "{text}");
    }
    let cases = [
        ("SELECT COUNT(*) FROM tbr", "Unexpected path component at 1:8:5"),
        ("SELECT 1 FROM tbr", "Unexpected path component at 1:8:1"),
        ("SELECT t AS x FROM tbr", "Aliasing is not supported"),
        ("SELECT * FROM tbr x", "Aliasing is not supported"),
        ("SELECT * FROM tbr LIMIT 1", "Unsupported clause: LIMIT at 1:25:1"),
        (
            "SELECT * FROM tbr ORDER BY r",
            "Must have WHERE clause in the statement when using ORDER BY clause.",
        ),
        ("SELECT * FROM tbr WHERE t", "WHERE clause must contain an expression that resolves to a boolean"),
        ("SELECT * FROM tbr WHERE p = ?", "Number of parameters in request and statement don't match."),
        ("SELECT * FROM tbr WHERE foo(t)", "Unrecognized function: foo"),
        ("SELECT * FROM tbr WHERE p = 1 + 1", "Unsupported operator in Condition Expression. Operator: +"),
        ("DROP TABLE tbr", "Unsupported operation: DropTable"),
        (
            "UPDATE tbr SET t=1 WHERE p='x'",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        ("DELETE FROM tbr", "Where clause does not contain a mandatory equality on all key attributes"),
        (
            "SELECT * FROM tbr WHERE p=1",
            "Key attribute's data type should match its data type in table's schema: Key p",
        ),
        ("INSERT INTO tbr VALUE {'p':'y'}", "Key attribute should be present in the item: Key r"),
        (
            "SELECT * FROM tbr WHERE p='x' ORDER BY t",
            "Variable reference t in ORDER BY clause must be part of the primary key",
        ),
        (
            "SELECT * FROM tbr WHERE t = 1 ORDER BY r",
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
        ),
        (
            "SELECT * FROM tbr WHERE p = 'x' OR t = 1 ORDER BY r",
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
        ),
        ("SELECT * FROM \"tbr\".\"idx\"", "The table does not have the specified index: idx"),
    ];
    for (text, expected) in cases {
        assert_eq!(planned(text).unwrap_err(), expected, "{text}");
    }
    let deep = format!("SELECT * FROM t WHERE {}a=1", "NOT ".repeat(2000));
    assert!(statement(&deep, &[]).is_err());
    let deep = format!("INSERT INTO t VALUE {{'a':{}", "[".repeat(4000));
    assert!(statement(&deep, &[]).is_err());
}

#[test]
fn a_select_by_key_is_a_query() {
    let Ok(Plan::Query(query)) =
        planned("SELECT m.a, m.b[1] FROM tbr WHERE p='x' AND r>1 AND t <> 'y' ORDER BY r DESC")
    else {
        panic!()
    };
    assert_eq!(query.key_condition.tests[0].1, KeyTest::Equal(Value::S("x".into())));
    assert_eq!(query.key_condition.tests[1].1, KeyTest::Greater(Value::N(Number::from_i64(1))));
    assert!(matches!(query.read.filter, Some(Condition::Compare(..))));
    assert!(!query.forward);
    assert!(matches!(planned("SELECT * FROM tbr WHERE p='x' OR p='y'"), Ok(Plan::Scan(_))));
    assert!(matches!(
        planned("SELECT * FROM tbr WHERE t=1 AND (p='x' OR p IN ['y']) ORDER BY r"),
        Ok(Plan::Scan(_))
    ));
    let Ok(Parsed::Select(select)) = statement("SELECT m.a, m.b[1] FROM tbr", &[]) else { panic!() };
    let names: Vec<&str> = select.columns.as_ref().unwrap().0.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b[1]"]);
}

#[test]
fn writes() {
    let text = "INSERT INTO tbr VALUE {'p':'it''s','r':-2.5e1,'l':[1,'a',TRUE,NULL,?],'ss':<<'b','a'>>,'m':{'k':{}}};";
    let Ok(Parsed::Insert { item, .. }) = statement(text, &[Value::B(vec![1])]) else { panic!() };
    assert_eq!(item.get("p"), Some(&Value::S("it's".into())));
    assert_eq!(item.get("r"), Some(&Value::N(Number::from_i64(-25))));
    assert_eq!(item.get("ss"), Some(&Value::Ss(vec!["a".into(), "b".into()])));
    let text = "UPDATE tbr SET c = c + 1, s = set_add(s, <<'z'>>) REMOVE t, m.\"x y\" WHERE p='x' AND r=1 AND c = 2 \
                RETURNING ALL NEW * -- end";
    let Ok(Plan::Update(update)) = planned(text) else { panic!("{:?}", planned(text)) };
    assert_eq!(update.update.actions.len(), 4);
    assert_eq!(update.options.return_values, crate::request::ReturnValues::AllNew);
    assert!(matches!(update.options.condition, Some(Condition::And(all)) if all.len() == 2));
    assert!(
        matches!(planned("DELETE FROM tbr WHERE p='x' AND r=1"), Ok(Plan::Delete(d)) if d.options.condition.is_none())
    );
    let text = "EXISTS(SELECT * FROM tbr WHERE p='x' AND r=1 AND t IS MISSING)";
    assert!(
        matches!(planned(text), Ok(Plan::Check { condition: Condition::And(parts), .. }) if matches!(parts[..], [Condition::Exists(_), Condition::NotExists(_)]))
    );
}

#[test]
fn keywords_name_nothing_unless_they_are_quoted() {
    let plain = ["date", "Count", "VALUE", "size", "user", "select", "first"];
    let forms = [
        "SELECT {} FROM tbr WHERE p='x'",
        "SELECT a.{} FROM tbr WHERE p='x'",
        "SELECT a FROM {}",
        "SELECT a FROM tbr.{}",
        "SELECT a FROM tbr WHERE p='x' AND a.b.{} = 1",
        "UPDATE tbr SET {} = 1 WHERE p='x' AND r=1",
        "UPDATE tbr REMOVE {} WHERE p='x' AND r=1",
        "DELETE FROM {} WHERE p='x' AND r=1",
    ];
    for form in forms {
        for word in plain {
            let text = form.replace("{}", word);
            let refused = statement(&text, &[]).err().unwrap_or_else(|| panic!("{text}"));
            assert!(refused.starts_with("Statement wasn't well formed"), "{text}: {refused:?}");
            let quoted = form.replace("{}", &format!("\"{word}\""));
            assert!(statement(&quoted, &[]).is_ok(), "{quoted}");
        }
        for word in ["year", "name", "data", "status", "contains", "type"] {
            let text = form.replace("{}", word);
            assert!(statement(&text, &[]).is_ok(), "{text}");
        }
    }
    let text = "SELECT a FROM tbr WHERE p='x' AND size(a) > 1 AND attribute_type(a, 'S')";
    assert!(statement(text, &[]).is_ok());
    let refused = statement("DELETE FROM tbr WHERE p='x' AND r=1 RETURNING ALL OLD x", &[]).err().unwrap();
    assert!(refused.starts_with("Expected '*' after"), "{refused:?}");
}
