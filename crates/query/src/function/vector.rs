//! Similarity of vectors.

use super::{Args, Argument, CallContext, CallResult, Function, known, wrong_count};
use crate::error::QueryError;
use crate::fault::FunctionFault;
use model::types::DataType;
use model::vector::{cosine, dot_product, euclidean, floats};

pub fn find(name: &str, args: &[Argument]) -> Option<Result<Vec<Function>, QueryError>> {
    let body: super::Body = match name {
        "similarity_cosine" => |f, a, _: &CallContext<'_>| compute(f, a, cosine),
        "similarity_euclidean" => |f, a, _: &CallContext<'_>| compute(f, a, euclidean),
        "similarity_dot_product" => |f, a, _: &CallContext<'_>| compute(f, a, dot_product),
        _ => return None,
    };
    Some(make(name, args, body).map(|f| vec![f]))
}

fn make(name: &str, args: &[Argument], body: super::Body) -> Result<Function, QueryError> {
    if args.len() != 2 {
        return Err(wrong_count(name, "2", args.len()));
    }
    // One of the two may be a literal or a marker: it has the type of the other.
    let is_vector = |t: &DataType| matches!(t, DataType::Vector { .. });
    let vector = args.iter().filter_map(|a| a.data_type.as_ref()).find(|t| is_vector(t)).cloned();
    let vector = match vector {
        Some(vector) => vector,
        None => known(name, args, 0)?,
    };
    match &vector {
        DataType::Vector { element, .. } if **element == DataType::Float => {}
        other => {
            return Err(FunctionFault::ArgumentOfKind {
                function: name.to_string(),
                wanted: "float vector",
                argument: args[0].text.clone(),
                found: other.to_string(),
            }
            .into());
        }
    }
    for arg in args.iter().filter_map(|a| a.data_type.as_ref()) {
        if let (DataType::Vector { dimensions: a, .. }, DataType::Vector { dimensions: b, .. }) =
            (arg, &vector)
            && a != b
        {
            return Err(FunctionFault::Dimensions.into());
        }
    }
    Ok(Function::new(name, vec![vector.clone(), vector], DataType::Float, body))
}

fn compute(function: &Function, args: &Args<'_>, measure: fn(&[f32], &[f32]) -> f32) -> CallResult {
    let [Some(left), Some(right)] = args else { return Ok(None) };
    let (left, right) = (floats(left), floats(right));
    let zero = |v: &[f32]| v.iter().all(|x| *x == 0.0);
    if &*function.name == "system.similarity_cosine" && (zero(&left) || zero(&right)) {
        return Err(FunctionFault::ZeroVector.into());
    }
    Ok(Some(measure(&left, &right).to_be_bytes().to_vec()))
}
