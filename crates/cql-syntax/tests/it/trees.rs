//! That trees mean what the text says, where the canonical text alone does not show it.

use cql_syntax::ast::{
    AssignmentOp, BinaryOp, Expr, ExprKind, Literal, Operand, RelationOp, RoleOptionKind, Secret, Selection,
    Statement, Subject, Target,
};
use cql_syntax::parse_statement;

/// The only selected expression.
fn selected(expr: &str) -> Expr {
    match parse_statement(&format!("SELECT {expr} FROM t")).unwrap().statement {
        Statement::Select(select) => match select.selection {
            Selection::Items(items) => items.into_iter().next().unwrap().expr,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// The expression with every operation in parentheses.
fn grouped(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Binary { op, left, right } => {
            format!("<{} {} {}>", grouped(left), op.symbol(), grouped(right))
        }
        ExprKind::Negate(operand) => format!("<-{}>", grouped(operand)),
        ExprKind::Tuple(items) if items.len() == 1 => grouped(&items[0]),
        _ => expr.to_string(),
    }
}

#[test]
fn precedence() {
    let cases = [
        ("a + b * c", "<a + <b * c>>"),
        ("a * b + c", "<<a * b> + c>"),
        ("a - b - c", "<<a - b> - c>"),
        ("a / b * c % d", "<<<a / b> * c> % d>"),
        ("-a * b", "<<-a> * b>"),
        ("a - -b", "<a - <-b>>"),
        ("a -3 * 2", "<a - <3 * 2>>"),
        ("a * -3 - 2", "<<a * -3> - 2>"),
        ("(a + b) * c", "<<a + b> * c>"),
        ("-a.f", "<-a.f>"),
        ("-m[1] + 1", "<<-m[1]> + 1>"),
        ("2-1-1", "<<2 - 1> - 1>"),
    ];
    for (text, expected) in cases {
        assert_eq!(grouped(&selected(text)), expected, "{text}");
    }
}

#[test]
fn a_sign_belongs_to_the_number() {
    assert_eq!(selected("-3").kind, ExprKind::Literal(Literal::Integer("-3".into())));
    let ExprKind::Negate(inner) = selected("- 3").kind else { panic!() };
    assert_eq!(inner.kind, ExprKind::Literal(Literal::Integer("3".into())));
    let ExprKind::Binary { op, right, .. } = selected("a -3").kind else { panic!() };
    assert_eq!((op, right.kind), (BinaryOp::Subtract, ExprKind::Literal(Literal::Integer("3".into()))));
}

#[test]
fn parentheses_hints_and_calls() {
    assert!(matches!(selected("(int)1").kind, ExprKind::TypeHint { .. }));
    assert!(matches!(selected("(a)").kind, ExprKind::Tuple(items) if items.len() == 1));
    assert!(matches!(selected("(a)b").kind, ExprKind::TypeHint { .. }));
    assert!(matches!(selected("ks.f(a)").kind, ExprKind::Function { name, .. } if name.keyspace.is_some()));
    assert!(matches!(selected("u.f").kind, ExprKind::Field { .. }));
    assert!(matches!(selected("count(*)").kind, ExprKind::CountRows));
    assert!(matches!(selected("count(1)").kind, ExprKind::Function { .. }));
    assert!(matches!(selected("{}").kind, ExprKind::Set(items) if items.is_empty()));
    assert!(matches!(selected("{a: 1}").kind, ExprKind::UserType(_)));
    assert!(matches!(selected("{'a': 1}").kind, ExprKind::Map(_)));
}

#[test]
fn assignments() {
    let cases = [
        ("a = 1", AssignmentOp::Set, "1"),
        ("a = a + 1", AssignmentOp::Add, "1"),
        ("a += 1", AssignmentOp::Add, "1"),
        ("a = a - 1", AssignmentOp::Subtract, "1"),
        ("a -= 1", AssignmentOp::Subtract, "1"),
        ("a = a -1", AssignmentOp::Add, "-1"),
        ("a = [1] + a", AssignmentOp::Prepend, "[1]"),
        ("a = 1 + 2", AssignmentOp::Set, "1 + 2"),
        ("a = 1 + 2 + a", AssignmentOp::Prepend, "1 + 2"),
        ("a[0] = 1", AssignmentOp::Set, "1"),
        ("a.f = 1", AssignmentOp::Set, "1"),
    ];
    for (text, op, value) in cases {
        let statement = parse_statement(&format!("UPDATE t SET {text} WHERE k = 1")).unwrap().statement;
        let Statement::Update(update) = statement else { panic!() };
        assert_eq!(update.assignments[0].op, op, "{text}");
        assert_eq!(update.assignments[0].value.to_string(), value, "{text}");
        assert_eq!(update.assignments[0].target.column().as_str(), "a");
        assert_eq!(matches!(update.assignments[0].target, Target::Element { .. }), text.contains("[0]"));
    }
}

#[test]
fn relations() {
    let one = |text: &str| match parse_statement(&format!("SELECT * FROM t WHERE {text}")).unwrap().statement
    {
        Statement::Select(select) => select.relations.into_iter().next().unwrap(),
        other => panic!("{other:?}"),
    };
    let relation = one("a IN ?");
    assert!(
        matches!((relation.op, relation.operand), (RelationOp::In, Operand::One(marker)) if marker.as_marker().is_some())
    );
    assert!(matches!(one("a IN ()").operand, Operand::List(values) if values.is_empty()));
    assert!(matches!(one("(a) = (1)").subject, Subject::Columns(columns) if columns.len() == 1));
    assert!(matches!(one("(a = 1)").subject, Subject::Column(_)));
    assert!(matches!(one("a BETWEEN 1 AND 2").operand, Operand::Range(..)));
    assert_eq!(one("a NOT CONTAINS KEY 1").op, RelationOp::NotContainsKey);
    assert_eq!(one("a IS NOT NULL").operand, Operand::None);
    assert!(matches!(one("expr(i, 'x')").subject, Subject::Index(_)));
}

#[test]
fn markers_count_through_the_whole_statement() {
    let text =
        "UPDATE t USING TTL ? AND TIMESTAMP :ts SET a = ?, m[?] = :ts WHERE k = ? IF b IN ? AND c = :\"X\"";
    let parsed = parse_statement(text).unwrap();
    let names: Vec<Option<&str>> =
        parsed.markers.iter().map(|marker| marker.name.as_ref().map(|name| name.as_str())).collect();
    assert_eq!(names, [None, Some("ts"), None, None, Some("ts"), None, None, Some("X")]);
    let Statement::Update(update) = parsed.statement else { panic!() };
    assert_eq!(update.using.timestamp().unwrap().as_marker().unwrap().index, 1);
    assert_eq!(update.using.ttl().unwrap().as_marker().unwrap().index, 0);
}

#[test]
fn passwords_do_not_show_in_debug_output() {
    let parsed = parse_statement("CREATE ROLE r WITH PASSWORD = 'hunter2'").unwrap();
    assert!(!format!("{parsed:?}").contains("hunter2"));
    let Statement::CreateRole(create) = parsed.statement else { panic!() };
    assert_eq!(create.options[0].kind, RoleOptionKind::Password(Secret("hunter2".into())));
}

#[test]
fn user_names_keep_their_case_and_role_names_do_not() {
    let name = |text: &str| match parse_statement(text).unwrap().statement {
        Statement::CreateRole(create) => create.name.name,
        other => panic!("{other:?}"),
    };
    assert_eq!(name("CREATE USER Bob"), "Bob");
    assert_eq!(name("CREATE ROLE Bob"), "bob");
    assert_eq!(name("CREATE ROLE 'Bob'"), "Bob");
}
