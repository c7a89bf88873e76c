//! Evaluation: what borrows, what is checked, what null and unset do inside values.

use super::{Env, Evaluated, Expr, Node};
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::fault::{Fault, NullIn, UnsetIn, ValueFault};
use crate::values::{Bound, Values};
use model::types::DataType;
use model::value::ValueError;
use std::borrow::Cow;

struct NoIds;

impl Ids for NoIds {
    fn timeuuid(&self) -> [u8; 16] {
        [1; 16]
    }
    fn uuid(&self) -> [u8; 16] {
        [2; 16]
    }
}

fn marker(data_type: DataType, index: u32) -> Expr {
    Expr::new(data_type, Node::Marker(index))
}

fn int(value: i32) -> Expr {
    Expr::constant(DataType::Int, value.to_be_bytes().to_vec())
}

#[track_caller]
fn evaluate(expr: &Expr, values: &[Bound<'_>]) -> Result<Option<Vec<u8>>, ValueFault> {
    let request = Request::new(Values(values), 0);
    match expr.evaluate(&request, &NoIds) {
        Ok(value) => Ok(value.into_bytes().map(Cow::into_owned)),
        Err(QueryError::Fault(fault)) => match *fault {
            Fault::Value(fault) => Err(fault),
            other => panic!("{other:?}"),
        },
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn markers_constants_and_inputs_borrow() {
    let bytes = 7i32.to_be_bytes();
    let values = [Bound::Value(&bytes[..]), Bound::Null, Bound::Unset];
    let request = Request::new(Values(&values), 0);
    let first = marker(DataType::Int, 0);
    let value = first.evaluate(&request, &NoIds).unwrap();
    assert!(matches!(value, Evaluated::Value(Cow::Borrowed(found)) if std::ptr::eq(found, &bytes[..])));
    assert_eq!(marker(DataType::Int, 1).evaluate(&request, &NoIds), Ok(Evaluated::Null));
    assert_eq!(marker(DataType::Int, 2).evaluate(&request, &NoIds), Ok(Evaluated::Unset));
    let inputs = [None, Some(Cow::Borrowed(&bytes[..]))];
    let env = Env { inputs: &inputs, ..Env::of_request(&request, &NoIds) };
    let input = Expr::new(DataType::Int, Node::Input(1));
    assert!(matches!(input.evaluate_in(&env), Ok(Evaluated::Value(Cow::Borrowed(_)))));
    assert_eq!(Expr::new(DataType::Int, Node::Input(0)).evaluate_in(&env), Ok(Evaluated::Null));
}

#[test]
fn bound_values_are_checked_and_made_canonical() {
    let wrong = evaluate(&marker(DataType::Int, 0), &[Bound::Value(b"abc")]);
    assert_eq!(wrong, Err(ValueFault::Wrong(ValueError::new("Expected 4 or 0 byte int (3)"))));
    let set = DataType::set(DataType::Int);
    let unsorted =
        model::value::encode_elements([2i32.to_be_bytes(), 1i32.to_be_bytes(), 2i32.to_be_bytes()]);
    let sorted = model::value::encode_elements([1i32.to_be_bytes(), 2i32.to_be_bytes()]);
    assert_eq!(evaluate(&marker(set.clone(), 0), &[Bound::Value(&unsorted)]), Ok(Some(sorted.clone())));
    assert_eq!(evaluate(&Expr::new(set, Node::Set(vec![int(2), int(1), int(2)])), &[]), Ok(Some(sorted)));
}

#[test]
fn null_and_unset_inside_values() {
    let list = |parts| Expr::new(DataType::list(DataType::Int), Node::List(parts));
    let with_marker = || list(vec![int(1), marker(DataType::Int, 0)]);
    assert_eq!(evaluate(&with_marker(), &[Bound::Null]), Err(NullIn::Collection.into()));
    assert_eq!(evaluate(&with_marker(), &[Bound::Unset]), Ok(None), "an unset part makes the whole unset");
    let pair = DataType::tuple([DataType::Int, DataType::Int]);
    let tuple = Expr::new(pair, Node::Tuple(vec![int(1), marker(DataType::Int, 0)]));
    assert_eq!(evaluate(&tuple, &[Bound::Unset]), Err(UnsetIn::TupleField { at: 1 }.into()));
    let short = model::value::encode_fields([Some(1i32.to_be_bytes()), None]);
    assert_eq!(evaluate(&tuple, &[Bound::Null]), Ok(Some(short)));
}
