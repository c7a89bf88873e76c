//! Operators of the grammar as the comparisons that plans and stores know.

use crate::CqlError;
use cql_syntax::ast::RelationOp;
use model::comparison::Comparison;

/// `None` where an operator is more than a comparison of values.
pub fn comparison(op: RelationOp) -> Option<Comparison> {
    Some(match op {
        RelationOp::Eq => Comparison::Equal,
        RelationOp::Ne => Comparison::NotEqual,
        RelationOp::Lt => Comparison::Less,
        RelationOp::Le => Comparison::LessOrEqual,
        RelationOp::Gt => Comparison::Greater,
        RelationOp::Ge => Comparison::GreaterOrEqual,
        RelationOp::In => Comparison::In,
        RelationOp::Contains => Comparison::Contains,
        RelationOp::ContainsKey => Comparison::ContainsKey,
        RelationOp::NotIn
        | RelationOp::Between
        | RelationOp::NotContains
        | RelationOp::NotContainsKey
        | RelationOp::Like
        | RelationOp::IsNotNull
        | RelationOp::Matches => return None,
    })
}

/// Of two single values: what CHECK and conditions of transactions have. The grammar lets nothing else through.
pub fn of_values(op: RelationOp) -> Result<Comparison, CqlError> {
    let single = |comparison: &Comparison| comparison.is_order() || is_equality(*comparison);
    comparison(op)
        .filter(single)
        .ok_or_else(|| CqlError::invalid(format!("Operator {} does not compare two values", op.symbol())))
}

fn is_equality(comparison: Comparison) -> bool {
    matches!(comparison, Comparison::Equal | Comparison::NotEqual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_of_several_values_is_never_taken_for_equality() {
        assert_eq!(of_values(RelationOp::Eq), Ok(Comparison::Equal));
        assert_eq!(of_values(RelationOp::Ge), Ok(Comparison::GreaterOrEqual));
        for op in [RelationOp::In, RelationOp::Contains, RelationOp::Like, RelationOp::Between] {
            assert!(of_values(op).is_err(), "{op:?}");
        }
    }
}
