//! Random trees: printed and read again they are equal.
//!
//! The generators keep to the documented shape of the nodes: an operand that holds together less tightly than its place
//! asks is in a tuple of one, which is what the parser makes of parentheses.

use cql_syntax::ast::{
    BinaryOp, CellInfo, DataType, Expr, ExprKind, Ident, Literal, NativeType, QualifiedName, Selection,
    Statement, TypeKind,
};
use cql_syntax::parse_statement;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Names that are likely to be misread: keywords, capitals, quotes, blanks.
fn name() -> impl Strategy<Value = Ident> {
    let awkward = [
        "a",
        "key",
        "json",
        "distinct",
        "as",
        "select",
        "token",
        "count",
        "cast",
        "ttl",
        "writetime",
        "null",
        "true",
        "nan",
        "infinity",
        "int",
        "map",
        "list",
        "frozen",
        "expr",
        "per",
        "Mixed",
        "P1D",
        "with space",
        "q\"uote",
        "1a",
        "é",
        "ann",
        "between",
        "contains",
        "exists",
        "values",
        "byte",
    ];
    prop_oneof![select(awkward.to_vec()).prop_map(Ident::new), "[a-z][a-z0-9_]{0,5}".prop_map(Ident::new)]
}

fn qualified() -> impl Strategy<Value = QualifiedName> {
    (option::of(name()), name()).prop_map(|(keyspace, name)| QualifiedName { keyspace, name })
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        any::<String>().prop_map(Literal::String),
        any::<i64>().prop_map(|number| Literal::Integer(number.to_string())),
        select(vec!["1.5", "-2.", "1e10", "-1.5E-3", "NaN", "Infinity", "-Infinity"])
            .prop_map(|text| Literal::Float(text.into())),
        any::<bool>().prop_map(Literal::Boolean),
        select(vec!["1h", "-2d3h", "P1Y", "-PT5S", "P1W", "P0001-02-03T04:05:06", "5µs"])
            .prop_map(|text| Literal::Duration(text.into())),
        Just(Literal::Uuid("123e4567-e89b-12d3-a456-426614174000".into())),
        "0x[0-9a-f]{0,6}".prop_map(Literal::Blob),
    ]
}

fn data_type() -> impl Strategy<Value = DataType> {
    let leaf = prop_oneof![
        select(NativeType::ALL.to_vec()).prop_map(TypeKind::Native),
        qualified().prop_map(TypeKind::User),
        "[a-zA-Z.']{1,10}".prop_map(TypeKind::Custom),
    ]
    .prop_map(DataType::new);
    leaf.prop_recursive(4, 12, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed().prop_map(TypeKind::List),
            boxed().prop_map(TypeKind::Set),
            (boxed(), boxed()).prop_map(|(key, value)| TypeKind::Map(key, value)),
            vec(inner.clone(), 1..4).prop_map(TypeKind::Tuple),
            (boxed(), 0..i32::MAX as u32)
                .prop_map(|(element, dimension)| TypeKind::Vector(element, dimension)),
            boxed()
                .prop_filter("only compound types are frozen", |inner| !matches!(
                    inner.kind,
                    TypeKind::Native(_)
                ))
                .prop_map(TypeKind::Frozen),
        ]
        .prop_map(DataType::new)
    })
}

fn is_primary(expr: &Expr) -> bool {
    use ExprKind::*;
    !matches!(expr.kind, Binary { .. } | Negate(_) | Field { .. } | Element { .. } | Slice { .. })
}

/// The expression, in parentheses unless `fits`.
fn parenthesised(expr: Expr, fits: impl Fn(&Expr) -> bool) -> Box<Expr> {
    Box::new(if fits(&expr) { expr } else { Expr::new(ExprKind::Tuple(vec![expr])) })
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> ExprKind {
    let is_sum =
        |expr: &Expr| matches!(expr.kind, ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Subtract, .. });
    let is_binary = |expr: &Expr| matches!(expr.kind, ExprKind::Binary { .. });
    let sums = matches!(op, BinaryOp::Add | BinaryOp::Subtract);
    let left = parenthesised(left, |left| sums || !is_sum(left));
    let right = parenthesised(right, |right| if sums { !is_sum(right) } else { !is_binary(right) });
    ExprKind::Binary { op, left, right }
}

/// Expressions; `columns` as in a SELECT clause, else as in a value.
fn expr(columns: bool) -> BoxedStrategy<Expr> {
    let value =
        prop_oneof![literal().prop_map(ExprKind::Literal), Just(ExprKind::Null), Just(ExprKind::CountRows),];
    let leaf =
        if columns { prop_oneof![value, name().prop_map(ExprKind::Column)].boxed() } else { value.boxed() };
    leaf.prop_map(Expr::new).prop_recursive(5, 32, 3, move |inner| compound(inner, columns)).boxed()
}

fn compound(inner: BoxedStrategy<Expr>, columns: bool) -> BoxedStrategy<Expr> {
    let op = select(vec![
        BinaryOp::Add,
        BinaryOp::Subtract,
        BinaryOp::Multiply,
        BinaryOp::Divide,
        BinaryOp::Modulo,
    ]);
    let key = inner.clone().prop_map(|key| *parenthesised(key, |key| !is_ambiguous(key)));
    let pairs = vec((key, inner.clone()), 1..3);
    let shared = prop_oneof![
        (qualified(), vec(inner.clone(), 0..3)).prop_map(|(name, args)| ExprKind::Function { name, args }),
        (inner.clone(), select(NativeType::ALL.to_vec()))
            .prop_map(|(expr, to)| ExprKind::Cast { expr: Box::new(expr), to: DataType::native(to) }),
        (inner.clone(), select(NativeType::ALL.to_vec())).prop_map(|(expr, to)| {
            ExprKind::TypeHint { to: DataType::native(to), expr: parenthesised(expr, is_primary) }
        }),
        (op, inner.clone(), inner.clone()).prop_map(|(op, left, right)| binary(op, left, right)),
        inner.clone().prop_map(|operand| {
            ExprKind::Negate(parenthesised(operand, |operand| {
                !matches!(operand.kind, ExprKind::Binary { .. })
            }))
        }),
        vec(inner.clone(), 0..3).prop_map(ExprKind::List),
        vec(inner.clone(), 0..3).prop_map(ExprKind::Set),
        pairs
            .prop_filter("or it is a user type", |pairs| pairs
                .iter()
                .any(|(key, _)| key.as_column().is_none()))
            .prop_map(ExprKind::Map),
        vec((name(), inner.clone()), 1..3).prop_map(ExprKind::UserType),
        vec(inner.clone(), 2..4).prop_map(ExprKind::Tuple),
    ];
    if !columns {
        return shared.prop_map(Expr::new).boxed();
    }
    let info = select(vec![CellInfo::WriteTime, CellInfo::MaxWriteTime, CellInfo::Ttl]);
    let accessed = || inner.clone().prop_map(accessible);
    let bound = || expr(false).prop_map(Box::new);
    prop_oneof![
        4 => shared,
        1 => (accessed(), name()).prop_map(|(of, field)| ExprKind::Field { of, field }),
        1 => (accessed(), bound()).prop_map(|(of, key)| ExprKind::Element { of, key }),
        1 => (accessed(), bound(), option::of(bound()))
            .prop_map(|(of, from, to)| ExprKind::Slice { of, from: Some(from), to }),
        1 => (info, name())
            .prop_map(|(info, column)| ExprKind::CellInfo { info, of: Box::new(Expr::new(ExprKind::Column(column))) }),
    ]
    .prop_map(Expr::new)
    .boxed()
}

/// Whether it is a type hint before one expression in parentheses. If that looks like a type, and a bracket or a colon
/// follows, it is read as one more hint.
fn is_ambiguous(expr: &Expr) -> bool {
    let ExprKind::TypeHint { expr, .. } = &expr.kind else { return false };
    matches!(&expr.kind, ExprKind::Tuple(items) if items.len() == 1) || is_ambiguous(expr)
}

/// What may stand before a dot or bracket.
fn accessible(of: Expr) -> Box<Expr> {
    parenthesised(of, |of| {
        !matches!(of.kind, ExprKind::Binary { .. } | ExprKind::Negate(_)) && !is_ambiguous(of)
    })
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn selected_expressions(expr in expr(true)) {
        let text = format!("SELECT {expr} FROM t");
        let parsed = parse_statement(&text).unwrap_or_else(|error| panic!("{error}\nin {text}"));
        let Statement::Select(select) = parsed.statement else { panic!("no SELECT: {text}") };
        let Selection::Items(items) = &select.selection else { panic!("no items: {text}") };
        assert!(!select.json && !select.distinct && items.len() == 1 && items[0].alias.is_none(), "{text}");
        assert_eq!(items[0].expr, expr, "{text}");
    }

    #[test]
    fn written_values(expr in expr(false)) {
        let text = format!("INSERT INTO t (a) VALUES ({expr})");
        let parsed = parse_statement(&text).unwrap_or_else(|error| panic!("{error}\nin {text}"));
        let Statement::Insert(insert) = parsed.statement else { panic!("no INSERT: {text}") };
        let cql_syntax::ast::InsertSource::Values { values, .. } = insert.source else { panic!("no values: {text}") };
        assert_eq!(values, [expr], "{text}");
    }

    #[test]
    fn types_and_names(name in name(), data_type in data_type()) {
        let text = format!("ALTER TABLE {name}.{name} ADD {name} {data_type}");
        let parsed = parse_statement(&text).unwrap_or_else(|error| panic!("{error}\nin {text}"));
        let Statement::AlterTable(alter) = parsed.statement else { panic!("no ALTER: {text}") };
        assert_eq!(&alter.name, &QualifiedName { keyspace: Some(name.clone()), name: name.clone() });
        let cql_syntax::ast::TableChange::Add { columns, .. } = alter.change else { panic!("no ADD: {text}") };
        assert_eq!(columns[0].name, name, "{text}");
        assert_eq!(columns[0].data_type, data_type, "{text}");
    }
}
