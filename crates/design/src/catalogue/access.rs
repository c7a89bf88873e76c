//! Reads and writes: access patterns and plain statements in one shape.

use crate::numbers::Numbers;
use crate::source::Place;
use cql_syntax::Span;
use cql_syntax::ast::{
    BatchKind, Condition, Delete, Expr, ExprKind, Insert, InsertSource, Literal, Modification, Operand,
    Relation, RelationOp, Select, Selection, SortOrder, Statement, Subject, Update, Using,
};

/// One read or write.
#[derive(Debug, Clone)]
pub struct Access {
    /// The name, for an access pattern.
    pub pattern: Option<String>,
    pub verb: Verb,
    pub keyspace: Option<String>,
    pub table_name: String,
    /// Index of the table, when a file declares it.
    pub table: Option<usize>,
    /// The statement; inside CREATE ACCESS PATTERN only its inner one.
    pub place: Place,
    pub restrictions: Vec<Restriction>,
    pub order_by: Vec<(String, SortOrder, Span)>,
    pub limit: Limit,
    pub per_partition_limit: bool,
    /// Where ALLOW FILTERING stands.
    pub filtering: Option<Span>,
    /// Columns that are written, with the constant text when it is one.
    pub assigned: Vec<(String, Option<String>)>,
    /// Columns that grow by `c = c + x`.
    pub appended: Vec<String>,
    pub is_conditional: bool,
    pub has_ttl: bool,
    /// The TTL in days, when it is a number.
    pub ttl_days: Option<f64>,
    /// Columns that the IF clause compares.
    pub conditions: Vec<String>,
    /// The rows of the whole table are grouped.
    pub is_grouped: bool,
    /// Rows are counted or summed, not returned.
    pub is_aggregate: bool,
    /// DELETE of whole rows, not of cells.
    pub deletes_rows: bool,
    /// Index of the batch it stands in.
    pub batch: Option<usize>,
    pub numbers: Numbers,
    pub statement: Statement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Select,
    Insert,
    Update,
    Delete,
}

/// How many rows a read may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    None,
    Rows(u64),
    /// Bound at execution.
    Marker,
}

/// One relation of the WHERE clause.
#[derive(Debug, Clone)]
pub struct Restriction {
    /// More than one for `(a, b) > (?, ?)` and `token(a, b)`.
    pub columns: Vec<String>,
    pub op: RelationOp,
    pub is_token: bool,
    /// Number of values of an IN list; none when one marker stands for the list.
    pub values: Option<usize>,
    /// The value as text, when it is a constant.
    pub constant: Option<String>,
    /// One entry of a map: `m['k'] = ?`.
    pub is_entry: bool,
    /// `expr(index, ...)`: what is named is an index.
    pub is_index: bool,
    pub span: Span,
}

/// A BATCH.
#[derive(Debug, Clone)]
pub struct BatchUse {
    pub kind: BatchKind,
    pub place: Place,
    /// Indices of its statements.
    pub accesses: Vec<usize>,
}

impl Access {
    /// The read or write of a statement; none for other statements.
    pub fn of(statement: &Statement, place: Place) -> Option<Access> {
        match statement {
            Statement::Select(select) => Some(Access::select(select, place)),
            Statement::Insert(insert) => Some(Access::insert(insert, place)),
            Statement::Update(update) => Some(Access::update(update, place)),
            Statement::Delete(delete) => Some(Access::delete(delete, place)),
            _ => None,
        }
    }

    /// A statement of a batch.
    pub fn of_modification(modification: &Modification, file: usize) -> Access {
        let place = Place { file, span: modification.span() };
        match modification {
            Modification::Insert(insert) => Access::insert(insert, place),
            Modification::Update(update) => Access::update(update, place),
            Modification::Delete(delete) => Access::delete(delete, place),
        }
    }

    fn empty(
        verb: Verb,
        table: &cql_syntax::ast::QualifiedName,
        place: Place,
        statement: Statement,
    ) -> Access {
        Access {
            pattern: None,
            verb,
            keyspace: table.keyspace_str().map(str::to_string),
            table_name: table.as_str().to_string(),
            table: None,
            place,
            restrictions: Vec::new(),
            order_by: Vec::new(),
            limit: Limit::None,
            per_partition_limit: false,
            filtering: None,
            assigned: Vec::new(),
            appended: Vec::new(),
            is_conditional: false,
            has_ttl: false,
            ttl_days: None,
            conditions: Vec::new(),
            is_grouped: false,
            is_aggregate: false,
            deletes_rows: false,
            batch: None,
            numbers: Numbers::default(),
            statement,
        }
    }

    fn select(select: &Select, place: Place) -> Access {
        let mut access =
            Access::empty(Verb::Select, &select.table, place, Statement::Select(Box::new(select.clone())));
        access.restrictions = restrictions(&select.relations);
        access.order_by =
            select.order_by.iter().map(|item| (item.column.name.clone(), item.order, item.span)).collect();
        access.limit = limit(select.limit.as_ref());
        access.per_partition_limit = select.per_partition_limit.is_some();
        access.filtering = select.allow_filtering;
        access.is_grouped = !select.group_by.is_empty();
        access.is_aggregate = match &select.selection {
            Selection::Items(items) => items.iter().any(|item| is_aggregate(&item.expr)),
            Selection::All(_) => false,
        };
        access
    }

    fn insert(insert: &Insert, place: Place) -> Access {
        let mut access =
            Access::empty(Verb::Insert, &insert.table, place, Statement::Insert(Box::new(insert.clone())));
        if let InsertSource::Values { columns, values } = &insert.source {
            access.assigned = columns
                .iter()
                .zip(values)
                .map(|(column, value)| (column.name.clone(), constant(value)))
                .collect();
        }
        access.is_conditional = insert.if_not_exists.is_some();
        (access.has_ttl, access.ttl_days) = ttl(&insert.using);
        access
    }

    fn update(update: &Update, place: Place) -> Access {
        use cql_syntax::ast::{AssignmentOp, Target};
        let mut access =
            Access::empty(Verb::Update, &update.table, place, Statement::Update(Box::new(update.clone())));
        access.restrictions = restrictions(&update.relations);
        for assignment in &update.assignments {
            let column = assignment.target.column().name.clone();
            // `c[?] = ?` adds an entry to a map.
            let is_element = matches!(assignment.target, Target::Element { .. });
            if is_element || matches!(assignment.op, AssignmentOp::Add | AssignmentOp::Prepend) {
                access.appended.push(column.clone());
            }
            access.assigned.push((column, constant(&assignment.value)));
        }
        access.is_conditional = update.condition.is_some();
        access.conditions = conditions(update.condition.as_ref());
        (access.has_ttl, access.ttl_days) = ttl(&update.using);
        access
    }

    fn delete(delete: &Delete, place: Place) -> Access {
        let mut access =
            Access::empty(Verb::Delete, &delete.table, place, Statement::Delete(Box::new(delete.clone())));
        access.restrictions = restrictions(&delete.relations);
        access.is_conditional =
            matches!(&delete.condition, Some(Condition::Exists(_) | Condition::Relations(_)));
        access.conditions = conditions(delete.condition.as_ref());
        access.deletes_rows = delete.targets.is_empty();
        access
    }

    pub fn is_read(&self) -> bool {
        self.verb == Verb::Select
    }

    /// The plain columns that a read returns; none for `*` and for anything computed.
    pub fn returned(&self) -> Option<Vec<&str>> {
        let Statement::Select(select) = &self.statement else { return None };
        let Selection::Items(items) = &select.selection else { return None };
        items
            .iter()
            .map(|item| match &item.expr.kind {
                ExprKind::Column(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The relation that gives a column one value or a list of values.
    pub fn point(&self, column: &str) -> Option<&Restriction> {
        self.restrictions.iter().find(|r| {
            !r.is_token
                && matches!(r.op, RelationOp::Eq | RelationOp::In)
                && r.columns.iter().any(|c| c == column)
        })
    }

    /// The relation that gives a column a range.
    pub fn slice(&self, column: &str) -> Option<&Restriction> {
        self.restrictions
            .iter()
            .find(|r| !r.is_token && r.op.is_slice() && r.columns.iter().any(|c| c == column))
    }

    /// The constant that this read or write gives a column.
    pub fn constant_of(&self, column: &str) -> Option<&str> {
        if let Some(restriction) = self.point(column) {
            return restriction.constant.as_deref();
        }
        self.assigned.iter().find(|(name, _)| name == column).and_then(|(_, value)| value.as_deref())
    }

    /// Whether another column than this gets a value at execution.
    pub fn binds_beside(&self, column: &str) -> bool {
        let assigned = self.assigned.iter().any(|(name, value)| name != column && value.is_none());
        let restricted = self.restrictions.iter().any(|r| {
            r.constant.is_none() && r.values.is_none() && r.columns.iter().any(|name| name != column)
        });
        assigned || restricted
    }

    /// What to call it in a sentence.
    pub fn title(&self) -> String {
        match (&self.pattern, self.verb) {
            (Some(name), _) => format!("pattern {name}"),
            (None, Verb::Select) => "this query".into(),
            (None, _) => "this statement".into(),
        }
    }
}

fn restrictions(relations: &[Relation]) -> Vec<Restriction> {
    relations.iter().map(restriction).collect()
}

fn restriction(relation: &Relation) -> Restriction {
    let (columns, is_token) = match &relation.subject {
        Subject::Column(c) | Subject::Element { column: c, .. } | Subject::Field { column: c, .. } => {
            (vec![c.name.clone()], false)
        }
        Subject::Token(columns) => (columns.iter().map(|c| c.name.clone()).collect(), true),
        Subject::Columns(columns) => (columns.iter().map(|c| c.name.clone()).collect(), false),
        Subject::Index(name) => (vec![name.name.clone()], false),
    };
    let (values, constant) = match &relation.operand {
        Operand::One(value) => (None, constant(value)),
        Operand::List(list) => (Some(list.len()), None),
        Operand::None | Operand::Range(..) => (None, None),
    };
    Restriction {
        columns,
        op: relation.op,
        is_token,
        values,
        constant,
        is_entry: matches!(relation.subject, Subject::Element { .. }),
        is_index: matches!(relation.subject, Subject::Index(_)),
        span: relation.span,
    }
}

fn constant(value: &Expr) -> Option<String> {
    match &value.kind {
        ExprKind::Literal(literal) => Some(literal.text().to_string()),
        ExprKind::Negate(inner) => constant(inner).map(|text| format!("-{text}")),
        ExprKind::Cast { expr, .. } | ExprKind::TypeHint { expr, .. } => constant(expr),
        // A function of constants is one, unless it makes a new value each time.
        ExprKind::Function { name, args } if !args.is_empty() => {
            let parts: Option<Vec<String>> = args.iter().map(constant).collect();
            parts.map(|parts| format!("{}({})", name.as_str(), parts.join(", ")))
        }
        _ => None,
    }
}

fn limit(value: Option<&Expr>) -> Limit {
    match value.map(|expr| &expr.kind) {
        None => Limit::None,
        Some(ExprKind::Literal(Literal::Integer(text))) => text.parse().map_or(Limit::Marker, Limit::Rows),
        Some(_) => Limit::Marker,
    }
}

/// Whether rows written so expire, and after how many days when a number says it.
fn ttl(using: &Using) -> (bool, Option<f64>) {
    let Some(value) = using.ttl() else { return (false, None) };
    match value.as_literal().map(|literal| literal.text().parse::<f64>()) {
        Some(Ok(seconds)) => (seconds > 0.0, Some(seconds / 86_400.0).filter(|days| *days > 0.0)),
        _ => (true, None),
    }
}

fn conditions(condition: Option<&Condition>) -> Vec<String> {
    match condition {
        Some(Condition::Relations(relations)) => {
            relations.iter().flat_map(|relation| restriction(relation).columns).collect()
        }
        _ => Vec::new(),
    }
}

fn is_aggregate(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::CountRows => true,
        ExprKind::Function { name, .. } => {
            matches!(name.as_str(), "count" | "sum" | "avg" | "min" | "max")
        }
        ExprKind::Cast { expr, .. } => is_aggregate(expr),
        _ => false,
    }
}
