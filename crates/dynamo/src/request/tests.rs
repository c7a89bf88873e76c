//! Requests: what they become, and which refusal wins.

use super::*;
use crate::error::ErrorName;
use crate::expression::{Comparison, Condition, Operand, Path};
use crate::value::Value;

fn parsed(operation: Operation, body: &str) -> Request {
    parse(operation, body.as_bytes(), Layers::Older).unwrap_or_else(|error| panic!("{body}: {error}"))
}

fn refusal_in(layers: Layers, operation: Operation, body: &str) -> String {
    match parse(operation, body.as_bytes(), layers) {
        Ok(request) => panic!("{body}: {request:?}"),
        Err(error) => match error.name() {
            ErrorName::Validation => error.message().to_string(),
            name => format!("{}: {}", name.name(), error.message()),
        },
    }
}

fn refusal(operation: Operation, body: &str) -> String {
    refusal_in(Layers::Older, operation, body)
}

/// What a request becomes, or how it is refused.
fn outcome(operation: Operation, body: &serde_json::Value) -> String {
    match parse(operation, body.to_string().as_bytes(), Layers::Older) {
        Ok(request) => format!("{request:?}"),
        Err(error) => {
            assert!(!error.message().is_empty(), "{operation:?} {body}: refused without a word");
            format!("{}: {}", error.name().name(), error.message())
        }
    }
}

/// The walk over every member of every operation: each makes a difference to what a request becomes, or is refused in words. What a
/// typed request holds is used: `dynamo` reads every field.
#[test]
fn no_member_is_ignored() {
    let mut walked: Vec<(String, String)> = Vec::new();
    let (mut operation, mut base, mut refused) = (Operation::GetItem, serde_json::Value::Null, false);
    let lines = include_str!("walk.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap();
        if matches!(word, "op" | "refused") {
            let (name, body) = rest.split_once(' ').unwrap();
            operation = *Operation::ALL.iter().find(|operation| operation.name() == name).unwrap();
            (base, refused) = (serde_json::from_str(body).unwrap(), word == "refused");
            let told = outcome(operation, &base);
            assert_eq!(told.starts_with("UnknownOperationException: "), refused, "{name}: {told}");
            continue;
        }
        if word == "same" {
            let (member, reason) = rest.split_once(' ').unwrap();
            assert!(!reason.is_empty());
            walked.push((operation.name().into(), member.into()));
            continue;
        }
        let (value, companions) = rest.split_once(" with ").unwrap_or((rest, "{}"));
        let mut without = base.clone();
        let companions: serde_json::Value = serde_json::from_str(companions).unwrap();
        companions.as_object().unwrap().iter().for_each(|(name, value)| without[name] = value.clone());
        let mut with = without.clone();
        with[word] = serde_json::from_str(value).unwrap();
        assert_ne!(with, without, "{line}");
        if !refused {
            assert_ne!(
                outcome(operation, &with),
                outcome(operation, &without),
                "{}.{word}",
                operation.name()
            );
        }
        walked.push((operation.name().into(), word.into()));
    }
    let mut listed: Vec<(String, String)> = Vec::new();
    for line in include_str!("members.tsv").lines().skip(1) {
        let mut cells = line.split('\t').skip(1).map(str::to_string);
        let (name, member) = (cells.next().unwrap(), cells.next().unwrap());
        let operation = Operation::ALL.iter().find(|operation| operation.name() == name).unwrap();
        assert!(shape::has_member(*operation, &member), "{name}.{member} is not in the model");
        listed.push((name, member));
    }
    assert_eq!(listed.len(), 285);
    walked.sort();
    listed.sort();
    assert_eq!(walked, listed, "every member is walked once");
}

#[test]
fn a_put_with_a_condition() {
    let request = parsed(
        Operation::PutItem,
        r##"{"TableName":"arn:aws:dynamodb:x:1:table/tab","Item":{"p":{"S":"x"}},"ConditionExpression":"#a <> :v",
            "ExpressionAttributeNames":{"#a":"name"},"ExpressionAttributeValues":{":v":{"N":"1"}},
            "ReturnValues":"ALL_OLD","ReturnConsumedCapacity":"TOTAL"}"##,
    );
    let Request::PutItem(put) = request else { panic!() };
    assert_eq!(put.table, "tab");
    let value = Operand::Value(Value::N(crate::number::Number::from_i64(1)));
    let path = Operand::Path(Path::of_name("name"));
    assert_eq!(put.options.condition, Some(Condition::Compare(Comparison::NotEqual, path, value)));
    assert_eq!(
        (put.options.return_values, put.options.return_capacity),
        (ReturnValues::AllOld, ReturnCapacity::Total)
    );
}

#[test]
fn types_of_json() {
    let cases = [
        (r#"{"TableName":1}"#, "NUMBER_VALUE cannot be converted to String"),
        (r#"{"TableName":1.5}"#, "DECIMAL_VALUE cannot be converted to String"),
        (r#"{"TableName":true}"#, "TRUE_VALUE cannot be converted to String"),
        (r#"{"TableName":[]}"#, "Unrecognized collection type class java.lang.String"),
        (r#"{"TableName":{}}"#, "Start of structure or map found where not expected"),
        (r#"{"Item":"x"}"#, "Unexpected field type"),
        (
            r#"{"Item":[]}"#,
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        (r#"{"Item":{"a":"x"}}"#, "Unexpected value type in payload"),
        (
            r#"{"Item":{"a":[]}}"#,
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
        ),
        (r#"{"Item":{"a":{"S":1}}}"#, "NUMBER_VALUE cannot be converted to String"),
        (r#"{"Item":{"a":{"B":1}}}"#, "only base-64-encoded strings are convertible to bytes"),
        (
            r#"{"Item":{"a":{"B":"abc"}}}"#,
            "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
        ),
        (r#"{"Item":{"a":{"B":"Zh=="}}}"#, "Invalid last non-pad Base64 character dectected"),
        (r#"{"Item":{"a":{"SS":"x"}}}"#, "Unexpected field type"),
        (r#"{"Item":{"a":{"BOOL":"maybe"}}}"#, "Unexpected token received from parser"),
        (r#"{"Expected":{"a":1}}"#, "Unexpected value type in payload"),
    ];
    for (body, expected) in cases {
        assert_eq!(
            refusal(Operation::PutItem, body),
            format!("SerializationException: {expected}"),
            "{body}"
        );
    }
    assert_eq!(
        refusal(Operation::Scan, r#"{"Limit":"5"}"#),
        "SerializationException: STRING_VALUE cannot be converted to Integer"
    );
    for body in ["", "{", "[]x", r#"{"TableName":1,}"#] {
        assert_eq!(refusal(Operation::PutItem, body), "SerializationException: ", "{body}");
    }
}

#[test]
fn members_are_collected() {
    let missing =
        |path: &str| format!("Value null at '{path}' failed to satisfy constraint: Member must not be null");
    assert_eq!(
        refusal(Operation::PutItem, "{}"),
        format!("2 validation errors detected: {}; {}", missing("tableName"), missing("item"))
    );
    assert_eq!(
        refusal(Operation::GetItem, r#"{"TableName":"a b","ReturnConsumedCapacity":"x"}"#),
        format!(
            "3 validation errors detected: {}; Value 'a b' at 'tableName' failed to satisfy constraint: Member must \
             satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'x' at 'returnConsumedCapacity' failed to \
             satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
            missing("key")
        )
    );
    assert_eq!(
        refusal_in(Layers::Current, Operation::Query, r#"{"TableName":"tab","Limit":0}"#),
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater \
         than or equal to 1"
    );
    assert_eq!(
        refusal(Operation::Query, r#"{"TableName":"tab","Limit":0}"#),
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater \
         than or equal to 1"
    );
}

#[test]
fn values_are_refused_in_the_layer_s_words() {
    let put = |value: &str| format!(r#"{{"TableName":"tab","Item":{{"a":{value}}}}}"#);
    let invalid = "One or more parameter values were invalid: ";
    let cases = [
        ("{}", "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes".to_string()),
        (
            r#"{"S":"a","N":"1"}"#,
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
                .to_string(),
        ),
        (r#"{"NULL":false}"#, format!("{invalid}Null attribute value types must have the value of true")),
        (r#"{"SS":[]}"#, format!("{invalid}An string set  may not be empty")),
        (r#"{"SS":["a","a"]}"#, format!("{invalid}Input collection [a, a] contains duplicates.")),
        (r#"{"NS":["1","1.0"]}"#, "Input collection contains duplicates".to_string()),
        (r#"{"N":"x"}"#, "The parameter cannot be converted to a numeric value: x".to_string()),
        (r#"{"L":[{"M":{"":{"S":"x"}}}]}"#, "Empty attribute name".to_string()),
    ];
    for (value, expected) in cases {
        assert_eq!(refusal(Operation::PutItem, &put(value)), expected, "{value}");
    }
    assert_eq!(
        refusal_in(Layers::Current, Operation::PutItem, &put(r#"{"SS":["a","a"]}"#)),
        format!("1 validation error detected: {invalid}Input collection [\"a\", \"a\"] contains duplicates.")
    );
    let deep = |n: usize| put(&format!("{}{{\"S\":\"x\"}}{}", "{\"L\":[".repeat(n), "]}".repeat(n)));
    parsed(Operation::PutItem, &deep(31));
    assert!(refusal(Operation::PutItem, &deep(32)).starts_with("Nesting Levels have exceeded"));
    assert!(refusal(Operation::PutItem, &deep(150)).starts_with("Nesting Levels have exceeded"));
}

#[test]
fn tables_are_checked_in_order() {
    let create = |rest: &str| format!(r#"{{"TableName":"tab",{rest}}}"#);
    let key = r#""KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]"#;
    let attributes = r#""AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}]"#;
    let invalid = "One or more parameter values were invalid: ";
    let on_demand = r#""BillingMode":"PAY_PER_REQUEST""#;
    let cases = [
        (
            format!("{key},{attributes}"),
            format!(
                "{invalid}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
            ),
        ),
        (
            format!(r#"{key},"AttributeDefinitions":[],{on_demand}"#),
            "Invalid KeySchema: Some index key attribute have no definition".to_string(),
        ),
        (
            format!(
                r#"{key},"AttributeDefinitions":[{{"AttributeName":"q","AttributeType":"S"}}],{on_demand}"#
            ),
            format!(
                "{invalid}Some index key attributes are not defined in AttributeDefinitions. Keys: [p], \
                 AttributeDefinitions: [q]"
            ),
        ),
        (
            format!("{key},{attributes},{on_demand},\"GlobalSecondaryIndexes\":[]"),
            format!("{invalid}List of GlobalSecondaryIndexes is empty"),
        ),
    ];
    for (rest, expected) in cases {
        assert_eq!(refusal(Operation::CreateTable, &create(&rest)), expected, "{rest}");
    }
    assert_eq!(
        refusal(Operation::CreateTable, "{}"),
        "The parameter 'TableName' is required but was not present in the request"
    );
    let Request::CreateTable(table) =
        parsed(Operation::CreateTable, &create(&format!("{key},{attributes},{on_demand}")))
    else {
        panic!()
    };
    assert_eq!(table.key.hash[0].name, "p");
}

#[test]
fn every_operation_answers_an_empty_object() {
    for operation in Operation::ALL {
        // Whatever comes, it comes without a panic and says something.
        if let Err(error) = parse(*operation, b"{}", Layers::Older) {
            assert!(!error.message().is_empty(), "{operation:?}");
        }
    }
}
