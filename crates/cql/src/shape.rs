//! The shapes of CQL statements: what they do to which table, without their values.

use crate::CqlError;
use crate::bind::Scope;
use crate::explain::select_class;
use crate::prepared::Plan;
use cql_syntax::ast::{self, ExprKind, Literal, Modification, Relation, RelationOp, Statement, Subject};
use database::shape::{Class, How, Limit, Order, Shape, Verb};
use model::types::quote_identifier;
use query::function::foreign::dialect_of;
use query::select::SelectPlan;
use query::write::{Keys, Returned, TransactionPlan, WritePlan};
use schema::Table;

/// A statement, or one of a batch, as traffic and patterns know it.
#[derive(Clone, Debug)]
pub struct Shaped {
    pub shape: Shape,
    pub class: Class,
    /// With markers in the place of values: what a pattern would declare.
    pub statement: String,
}

/// Statements of a batch beyond this many are not told apart: a batch repeats a few.
const SHAPES_MAX: usize = 16;

/// The shapes of a statement; none of one that neither reads nor writes rows.
pub fn shapes(statement: &Statement, plan: &Plan) -> Vec<Shaped> {
    match (statement, plan) {
        (Statement::Select(tree), Plan::Select(select)) => {
            let table = &select.table;
            let order = match (&select.ann, select.reverse) {
                (Some(_), _) => Order::Similarity,
                (None, true) => Order::Reversed,
                (None, false) => Order::Stored,
            };
            let restricted = restricted(&tree.relations);
            let grouped = select.grouping.is_some() || select.distinct;
            let limit = limit(tree.limit.as_ref());
            let shape = shape(table, Verb::Select, restricted, order, limit, false);
            vec![Shaped {
                shape: Shape { grouped, ..shape },
                class: select_class(select),
                statement: select_text(tree, table, select.grouping.is_some()),
            }]
        }
        (Statement::Insert(tree), Plan::Write(plan)) => vec![modification(plan, Tree::Insert(tree))],
        (Statement::Update(tree), Plan::Write(plan)) => vec![modification(plan, Tree::Update(tree))],
        (Statement::Delete(tree), Plan::Write(plan)) => vec![modification(plan, Tree::Delete(tree))],
        (Statement::Batch(batch), Plan::Batch(plan)) => {
            let mut found: Vec<Shaped> = Vec::new();
            for (tree, write) in batch.statements.iter().zip(&plan.statements) {
                let shaped = modification(
                    write,
                    match tree {
                        Modification::Insert(insert) => Tree::Insert(insert),
                        Modification::Update(update) => Tree::Update(update),
                        Modification::Delete(delete) => Tree::Delete(delete),
                    },
                );
                if found.len() < SHAPES_MAX && found.iter().all(|known| known.shape != shaped.shape) {
                    found.push(shaped);
                }
            }
            found
        }
        (Statement::Transaction(transaction), Plan::Transaction(plan)) => transacted(transaction, plan),
        _ => Vec::new(),
    }
}

/// The shape that a pattern on a table of another dialect declares, from the statement alone: CQL neither writes such tables nor reads
/// their indexes, and the other dialect does both. `None`: the table is one of CQL.
pub fn foreign_shape(scope: Scope<'_>, statement: &Statement) -> Option<Result<Shape, CqlError>> {
    let (name, verb, relations, conditional) = match statement {
        Statement::Select(select) => (&select.table, Verb::Select, &select.relations[..], false),
        Statement::Insert(insert) => (&insert.table, Verb::Insert, &[][..], insert.if_not_exists.is_some()),
        Statement::Update(update) => {
            (&update.table, Verb::Update, &update.relations[..], update.condition.is_some())
        }
        Statement::Delete(delete) => {
            (&delete.table, Verb::Delete, &delete.relations[..], delete.condition.is_some())
        }
        _ => return None,
    };
    let table = scope.table(name).ok()?;
    let keys: Vec<Vec<String>> = dialect_of(table)?
        .keys(table)
        .into_iter()
        .map(|key| key.iter().map(|name| quote_identifier(name)).collect())
        .collect();
    let restricted = restricted(relations);
    let names: Vec<&str> = restricted.iter().map(|(name, _)| name.as_str()).collect();
    let wanted: &[Vec<String>] = if verb == Verb::Select { &keys } else { &keys[..keys.len().min(1)] };
    let served = |key: &&Vec<String>| names.iter().all(|name| key.iter().any(|known| known == name));
    let whole = |key: &&Vec<String>| verb == Verb::Select || verb == Verb::Insert || key.len() == names.len();
    if !wanted.iter().any(|key| served(&key) && whole(&key)) {
        return Some(Err(CqlError::Invalid(format!(
            "{}.{} is a table of the DynamoDB API: a pattern restricts its key, all of it to write, or that of one of its indexes",
            table.keyspace, table.name
        ))));
    }
    let (order, rows) = match statement {
        Statement::Select(select) => {
            let descends = select.order_by.iter().any(|by| by.order == ast::SortOrder::Desc);
            let order = if descends { Order::Reversed } else { Order::Stored };
            (order, limit(select.limit.as_ref()))
        }
        _ => (Order::Stored, Limit::None),
    };
    Some(Ok(shape(table, verb, restricted, order, rows, conditional)))
}

/// What the statements of a transaction do, each for itself.
fn transacted(transaction: &ast::Transaction, plan: &TransactionPlan) -> Vec<Shaped> {
    let mut found: Vec<Shaped> = Vec::new();
    let mut add = |all: Vec<Shaped>| {
        for shaped in all {
            if found.len() < SHAPES_MAX && found.iter().all(|known| known.shape != shaped.shape) {
                found.push(shaped);
            }
        }
    };
    let read = |tree: &ast::Select, plan: &SelectPlan| {
        shapes(&Statement::Select(Box::new(tree.clone())), &Plan::Select(Box::new(plan.clone())))
    };
    for (tree, plan) in transaction.lets.iter().zip(&plan.lets) {
        add(read(&tree.select, plan));
    }
    if let (Some(ast::Returning::Select(tree)), Returned::Rows(plan)) =
        (&transaction.returning, &plan.returning)
    {
        add(read(tree, plan));
    }
    for (tree, write) in transaction.writes.iter().zip(&plan.writes) {
        let tree = match tree {
            Modification::Insert(insert) => Tree::Insert(insert),
            Modification::Update(update) => Tree::Update(update),
            Modification::Delete(delete) => Tree::Delete(delete),
        };
        add(vec![modification(write, tree)]);
    }
    found
}

fn shape(
    table: &Table,
    verb: Verb,
    restricted: Vec<(String, How)>,
    order: Order,
    limit: Limit,
    conditional: bool,
) -> Shape {
    let (keyspace, table) = (table.keyspace.clone(), table.name.clone());
    Shape { keyspace, table, verb, restricted, order, limit, conditional, grouped: false }
}

/// A statement that writes.
enum Tree<'t> {
    Insert(&'t ast::Insert),
    Update(&'t ast::Update),
    Delete(&'t ast::Delete),
}

fn modification(plan: &WritePlan, statement: Tree<'_>) -> Shaped {
    let table = &plan.table;
    let place = place(table);
    let (verb, relations, text) = match statement {
        Tree::Insert(insert) => {
            let columns: Vec<String> = match &insert.source {
                ast::InsertSource::Values { columns, .. } => columns.iter().map(|c| c.name.clone()).collect(),
                // A document may hold any of them.
                ast::InsertSource::Json { .. } => {
                    table.columns().map(|column| column.name.to_string()).collect()
                }
            };
            (Verb::Insert, &[][..], insert_text(&place, &columns))
        }
        Tree::Update(update) => {
            let columns: Vec<String> =
                update.assignments.iter().map(|a| a.target.column().name.clone()).collect();
            (Verb::Update, &update.relations[..], update_text(&place, columns, plan, &update.relations))
        }
        Tree::Delete(delete) => {
            let columns: Vec<String> =
                delete.targets.iter().map(|target| quote_identifier(&target.column().name)).collect();
            let columns =
                if columns.is_empty() { String::new() } else { format!("{} ", unique(columns).join(", ")) };
            let text = format!("DELETE {columns}FROM {place}{}", where_text(&delete.relations));
            (Verb::Delete, &delete.relations[..], text)
        }
    };
    let class = match &plan.keys {
        Keys::Where(restrictions) if !restrictions.partitions.is_single() => Class::Bounded,
        _ => Class::Single,
    };
    let condition = match (plan.is_conditional(), verb) {
        (false, _) => "",
        (true, Verb::Insert) => " IF NOT EXISTS",
        (true, _) => " IF EXISTS",
    };
    let shape = shape(table, verb, restricted(relations), Order::Stored, Limit::None, plan.is_conditional());
    Shaped { shape, class, statement: text + condition }
}

fn insert_text(place: &str, columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().map(|name| quote_identifier(name)).collect();
    format!("INSERT INTO {place} ({}) VALUES ({})", names.join(", "), vec!["?"; names.len()].join(", "))
}

fn update_text(place: &str, columns: Vec<String>, plan: &WritePlan, relations: &[Relation]) -> String {
    let set = |name: &String| {
        let column = quote_identifier(name);
        if plan.is_counter() { format!("{column} = {column} + ?") } else { format!("{column} = ?") }
    };
    let set: Vec<String> = unique(columns).iter().map(set).collect();
    format!("UPDATE {place} SET {}{}", set.join(", "), where_text(relations))
}

fn unique(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

/// A pattern that the statement is an instance of. Which columns it selects does not matter, but whether it gives rows or groups of them does.
fn select_text(tree: &ast::Select, table: &Table, grouped: bool) -> String {
    let selected = match (tree.distinct, grouped) {
        (true, _) => {
            let columns: Vec<String> =
                table.partition_key.iter().map(|c| quote_identifier(&c.name)).collect();
            format!("DISTINCT {}", columns.join(", "))
        }
        (false, true) => "count(*)".to_string(),
        (false, false) => "*".to_string(),
    };
    let mut text = format!("SELECT {selected} FROM {}{}", place(table), where_text(&tree.relations));
    if !tree.group_by.is_empty() {
        let parts: Vec<String> = tree.group_by.iter().map(|part| part.to_string()).collect();
        text += &format!(" GROUP BY {}", parts.join(", "));
    }
    let orders: Vec<String> = tree
        .order_by
        .iter()
        .map(|ordering| {
            let column = quote_identifier(&ordering.column.name);
            match (&ordering.ann_of, ordering.order) {
                (Some(_), _) => format!("{column} ANN OF ?"),
                (None, ast::SortOrder::Desc) => format!("{column} DESC"),
                (None, ast::SortOrder::Asc) => column,
            }
        })
        .collect();
    if !orders.is_empty() {
        text += &format!(" ORDER BY {}", orders.join(", "));
    }
    match limit(tree.limit.as_ref()) {
        Limit::Rows(rows) => text += &format!(" LIMIT {rows}"),
        Limit::Bound => text += " LIMIT ?",
        Limit::None => {}
    }
    if tree.allow_filtering.is_some() {
        text += " ALLOW FILTERING";
    }
    text
}

fn place(table: &Table) -> String {
    format!("{}.{}", quote_identifier(&table.keyspace), quote_identifier(&table.name))
}

fn where_text(relations: &[Relation]) -> String {
    let parts: Vec<String> = relations.iter().map(relation_text).collect();
    if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
}

fn relation_text(relation: &Relation) -> String {
    let subject = subject_text(&relation.subject);
    let symbol = relation.op.symbol();
    match relation.op {
        RelationOp::Between => format!("{subject} BETWEEN ? AND ?"),
        RelationOp::IsNotNull => format!("{subject} {symbol}"),
        RelationOp::In | RelationOp::NotIn => format!("{subject} {symbol} ?"),
        RelationOp::Matches => format!("expr({subject}, ?)"),
        _ => match &relation.subject {
            Subject::Columns(columns) => {
                format!("{subject} {symbol} ({})", vec!["?"; columns.len()].join(", "))
            }
            _ => format!("{subject} {symbol} ?"),
        },
    }
}

fn subject_text(subject: &Subject) -> String {
    let list = |columns: &[ast::Ident]| {
        let names: Vec<String> = columns.iter().map(|column| quote_identifier(&column.name)).collect();
        names.join(", ")
    };
    match subject {
        Subject::Column(column) | Subject::Index(column) => quote_identifier(&column.name),
        Subject::Element { column, .. } => format!("{}[?]", quote_identifier(&column.name)),
        Subject::Field { column, field } => {
            format!("{}.{}", quote_identifier(&column.name), quote_identifier(&field.name))
        }
        Subject::Token(columns) => format!("token({})", list(columns)),
        Subject::Columns(columns) => format!("({})", list(columns)),
    }
}

/// By column, each once.
fn restricted(relations: &[Relation]) -> Vec<(String, How)> {
    let how = |op: RelationOp| match op {
        RelationOp::Eq => How::Equal,
        RelationOp::In => How::In,
        RelationOp::Lt | RelationOp::Le | RelationOp::Gt | RelationOp::Ge | RelationOp::Between => How::Range,
        RelationOp::Contains | RelationOp::ContainsKey | RelationOp::Like | RelationOp::Matches => {
            How::Inside
        }
        RelationOp::Ne
        | RelationOp::NotIn
        | RelationOp::NotContains
        | RelationOp::NotContainsKey
        | RelationOp::IsNotNull => How::Not,
    };
    let mut found: Vec<(String, How)> =
        relations.iter().map(|relation| (subject_text(&relation.subject), how(relation.op))).collect();
    found.sort();
    found.dedup();
    found
}

fn limit(limit: Option<&ast::Expr>) -> Limit {
    match limit.map(|limit| &limit.kind) {
        None => Limit::None,
        Some(ExprKind::Literal(Literal::Integer(text))) => text.parse().map_or(Limit::Bound, Limit::Rows),
        Some(_) => Limit::Bound,
    }
}

/// The text of a statement with `?` in the place of every value that is written in it: an example that shows no data.
pub fn without_literals(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (shown, length) = match first {
            '\'' => ("?", quoted_length(rest, '\'')),
            '"' => (&rest[..quoted_length(rest, '"')], quoted_length(rest, '"')),
            '$' if rest.starts_with("$$") => ("?", rest[2..].find("$$").map_or(rest.len(), |at| at + 4)),
            c if c.is_alphanumeric() => {
                let word = |c: char| c.is_alphanumeric() || c == '_';
                let plain = rest.find(|c| !word(c)).unwrap_or(rest.len());
                let with_signs =
                    rest.find(|c| !word(c) && !matches!(c, '-' | '.' | ':')).unwrap_or(rest.len());
                let is_uuid = rest.is_char_boundary(36)
                    && with_signs >= 36
                    && rest[..36].bytes().filter(|b| *b == b'-').count() == 4
                    && rest[..36].bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
                match (is_uuid, c.is_ascii_digit()) {
                    (true, _) => ("?", 36),
                    (false, true) => ("?", with_signs),
                    (false, false) => (&rest[..plain], plain),
                }
            }
            c => (&rest[..c.len_utf8()], c.len_utf8()),
        };
        out.push_str(shown);
        rest = &rest[length..];
    }
    out
}

/// How long a quoted piece at the beginning of the text is, quotes included; all of it where it does not end.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut from = 1;
    while let Some(at) = text[from..].find(quote) {
        let end = from + at + 1;
        if !text[end..].starts_with(quote) {
            return end;
        }
        from = end + 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::without_literals;

    #[test]
    fn examples_hold_no_values() {
        for (text, shown) in [
            (
                "SELECT a1, \"B 2\" FROM k.t WHERE a = 'it''s' AND b=-1.5e3 LIMIT 10",
                "SELECT a1, \"B 2\" FROM k.t WHERE a = ? AND b=-? LIMIT ?",
            ),
            (
                "INSERT INTO t (a) VALUES (abcdef01-0000-4000-8000-000000000000)",
                "INSERT INTO t (a) VALUES (?)",
            ),
            ("UPDATE t SET v = 0xCAFE, w = $$secret$$ WHERE k = ?", "UPDATE t SET v = ?, w = ? WHERE k = ?"),
            ("SELECT 'open", "SELECT ?"),
            ("SELECT ü FROM t WHERE d = 2026-11-18", "SELECT ü FROM t WHERE d = ?"),
        ] {
            assert_eq!(without_literals(text), shown);
        }
    }
}
