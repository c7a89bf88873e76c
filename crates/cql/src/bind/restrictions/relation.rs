//! One relation -> columns, operator and bound values.

use super::StatementKind;
use super::foreign;
use super::text::relation_text;
use crate::CqlError;
use crate::bind::Scope;
use crate::bind::expr::{Binder, RowScope, term_text, undefined};
use crate::bind::markers::Markers;
use cql_syntax::ast::{self, ExprKind, Ident, Operand, Relation, RelationOp, Subject};
use model::types::DataType;
use query::expr::{Expr, Node};
use query::function::foreign::dialect_of;
use query::restrict::{Item, Terms};
use schema::{Column, ColumnKind, Table};
use std::sync::Arc;
use store::Comparison;

/// A relation with its values bound.
pub struct BoundRelation {
    pub subject: BoundSubject,
    pub test: Test,
}

pub enum BoundSubject {
    Token,
    Column(Column),
    /// Consecutive clustering columns.
    Tuple(Vec<Column>),
    /// A map entry or a field, as a filter's expression.
    Part(Column, Expr),
}

pub enum Test {
    /// Equality, or IN with its alternatives.
    Among(Terms),
    /// One end of a range.
    Bound { start: bool, inclusive: bool, item: Item },
    /// Only a filter can express it.
    Other(Comparison, Terms),
}

/// Binds one relation; BETWEEN gives two.
pub fn bind(
    scope: Scope<'_>,
    table: &Arc<Table>,
    relation: &Relation,
    kind: StatementKind,
    row: &mut RowScope,
    markers: &mut Markers,
) -> Result<Vec<BoundRelation>, CqlError> {
    let mut binder = RelationBinder { scope, table, relation, kind, row, markers };
    match &relation.subject {
        Subject::Token(columns) => binder.token(columns),
        Subject::Columns(columns) => binder.tuple(columns),
        Subject::Column(name) => binder.column(name),
        Subject::Element { column, key } => binder.element(column, key),
        Subject::Field { column, field } => binder.field(column, field),
        Subject::Index(name) => Err(CqlError::invalid(format!(
            "Invalid INDEX in expr(): no custom index named {} exists",
            name.as_str()
        ))),
    }
}

struct RelationBinder<'a, 'm> {
    scope: Scope<'a>,
    table: &'m Arc<Table>,
    relation: &'m Relation,
    kind: StatementKind,
    row: &'m mut RowScope,
    markers: &'m mut Markers,
}

/// The values a tuple or column is compared with: their types and names.
struct Receivers<'r> {
    columns: &'r [(String, DataType)],
    /// Written as `(a, b)`, even with one column.
    tuple: bool,
}

impl RelationBinder<'_, '_> {
    fn find(&self, name: &Ident) -> Result<Column, CqlError> {
        let found = self.table.column(name.as_str()).cloned();
        found.ok_or_else(|| match self.table.foreign.is_some() {
            true => foreign::not_a_key(self.table, name.as_str()),
            false => undefined(self.table, name.as_str()),
        })
    }

    fn unsupported(&self) -> CqlError {
        let operator = self.relation.op.symbol();
        let text = relation_text(self.relation);
        CqlError::invalid(format!("Unsupported \"{operator}\" relation: {text}"))
    }

    fn term(&mut self, written: &ast::Expr, expected: &DataType, name: &str) -> Result<Expr, CqlError> {
        let table = Some(self.table);
        Binder::new(self.scope, self.markers, None, table).bind(written, expected, name)
    }

    fn token(&mut self, names: &[Ident]) -> Result<Vec<BoundRelation>, CqlError> {
        let columns: Result<Vec<Column>, _> = names.iter().map(|n| self.find(n)).collect();
        check_token(self.table, &columns?)?;
        if matches!(self.relation.op, RelationOp::In | RelationOp::NotIn) {
            let text = relation_text(self.relation);
            return Err(CqlError::invalid(format!(
                "{} cannot be used with the token function: {text}",
                self.relation.op.symbol()
            )));
        }
        if self.relation.op == RelationOp::Ne {
            return Err(self.unsupported());
        }
        let columns = [("partition key token".to_string(), DataType::BigInt)];
        let tests = self.tests(&Receivers { columns: &columns, tuple: false })?;
        Ok(tests.into_iter().map(|test| BoundRelation { subject: BoundSubject::Token, test }).collect())
    }

    fn column(&mut self, name: &Ident) -> Result<Vec<BoundRelation>, CqlError> {
        let column = self.find(name)?;
        self.check_column(&column)?;
        let receiver = match (&column.data_type, self.relation.op) {
            (DataType::Map { key, .. }, RelationOp::ContainsKey | RelationOp::NotContainsKey) => {
                (format!("key({})", column.name), (**key).clone())
            }
            (
                DataType::List { element: part, .. }
                | DataType::Set { element: part, .. }
                | DataType::Map { value: part, .. },
                RelationOp::Contains | RelationOp::NotContains,
            ) => (format!("value({})", column.name), (**part).clone()),
            _ => (column.name.to_string(), column.data_type.clone()),
        };
        if let Some(stored) = dialect_of(self.table).and_then(|dialect| dialect.stored(self.table, &column)) {
            let written = stored.args.first().cloned().unwrap_or(receiver.1);
            let tests = self.tests(&Receivers { columns: &[(receiver.0, written)], tuple: false })?;
            let bound = |test| {
                let subject = BoundSubject::Column(column.clone());
                Ok(BoundRelation { subject, test: foreign::stored(&stored, test)? })
            };
            return tests.into_iter().map(bound).collect();
        }
        let tests = self.tests(&Receivers { columns: &[receiver], tuple: false })?;
        let bound = |test| BoundRelation { subject: BoundSubject::Column(column.clone()), test };
        Ok(tests.into_iter().map(bound).collect())
    }

    /// Which operators a column's type can bear.
    fn check_column(&self, column: &Column) -> Result<(), CqlError> {
        let (op, name, data_type) = (self.relation.op, &column.name, &column.data_type);
        let refuse = |text: String| Err(CqlError::Invalid(text));
        match op {
            RelationOp::IsNotNull => {
                return refuse(format!("Unsupported restriction: {}", relation_text(self.relation)));
            }

            RelationOp::ContainsKey | RelationOp::NotContainsKey
                if !matches!(data_type, DataType::Map { .. }) =>
            {
                return refuse(format!("Cannot use CONTAINS KEY on non-map column {name}"));
            }
            RelationOp::Contains | RelationOp::NotContains if !data_type.is_collection() => {
                return refuse(format!("Cannot use CONTAINS on non-collection column {name}"));
            }
            _ => {}
        }
        let contains = matches!(
            op,
            RelationOp::Contains
                | RelationOp::ContainsKey
                | RelationOp::NotContains
                | RelationOp::NotContainsKey
        );
        if data_type.is_multi_cell() && op == RelationOp::Ne {
            return Err(self.unsupported());
        }
        if data_type.is_multi_cell() && !contains {
            let symbol = op.symbol();
            return refuse(match data_type.is_collection() {
                true => format!(
                    "Collection column '{name}' ({data_type}) cannot be restricted by a '{symbol}' relation"
                ),
                false => format!(
                    "Non-frozen UDT column '{name}' ({data_type}) cannot be restricted by any relation"
                ),
            });
        }
        if op.is_slice() && data_type.references_duration() {
            return refuse(match data_type {
                DataType::Duration => "Slice restrictions are not supported on duration columns".into(),
                DataType::Tuple(_) => {
                    "Slice restrictions are not supported on tuples containing durations".into()
                }
                DataType::Udt(_) => {
                    "Slice restrictions are not supported on UDTs containing durations".into()
                }
                _ => "Slice restrictions are not supported on collections containing durations".into(),
            });
        }
        Ok(())
    }

    fn tuple(&mut self, names: &[Ident]) -> Result<Vec<BoundRelation>, CqlError> {
        let mut columns: Vec<Column> = Vec::with_capacity(names.len());
        for name in names {
            let column = self.find(name)?;
            let refuse = |text: String| Err(CqlError::Invalid(text));
            if column.kind != ColumnKind::Clustering {
                return refuse(format!(
                    "Multi-column relations can only be applied to clustering columns but was applied to: {}",
                    column.name
                ));
            }
            if columns.iter().any(|c| c.name == column.name) {
                let text = relation_text(self.relation);
                return refuse(format!("Column \"{}\" appeared twice in a relation: {text}", column.name));
            }
            if columns.last().is_some_and(|last| column.position != last.position + 1) {
                return refuse(format!(
                    "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: {}",
                    relation_text(self.relation)
                ));
            }
            columns.push(column);
        }
        let receivers: Vec<_> = columns.iter().map(|c| (c.name.to_string(), c.data_type.clone())).collect();
        let tests = self.tests(&Receivers { columns: &receivers, tuple: true })?;
        let bound = |test| BoundRelation { subject: BoundSubject::Tuple(columns.clone()), test };
        Ok(tests.into_iter().map(bound).collect())
    }

    fn element(&mut self, name: &Ident, key: &ast::Expr) -> Result<Vec<BoundRelation>, CqlError> {
        let column = self.find(name)?;
        let refuse = |text: String| Err(CqlError::Invalid(text));
        let (key_type, value_type) = match &column.data_type {
            DataType::Map { key, value, .. } => ((**key).clone(), (**value).clone()),
            DataType::List { .. } => {
                return refuse(format!(
                    "Indexes on list entries ({}[index] = value) are not currently supported.",
                    column.name
                ));
            }
            _ => return refuse(format!("Column {} cannot be used as a map", column.name)),
        };
        if !column.data_type.is_multi_cell() {
            return refuse(format!(
                "Map-entry equality predicates on frozen map column {} are not supported",
                column.name
            ));
        }
        if self.relation.op == RelationOp::Ne {
            return Err(self.unsupported());
        }
        if self.relation.op != RelationOp::Eq {
            return refuse("Only EQ relations are supported on map entries".into());
        }
        let key = self.term(key, &key_type, &format!("key({})", column.name))?;
        let receiver = (format!("value({})", column.name), value_type.clone());
        let tests = self.tests(&Receivers { columns: &[receiver], tuple: false })?;
        let whole = self.row.value(&column);
        let part = Expr::new(value_type, Node::Element(Box::new(whole), Box::new(key)));
        let bound = |test| BoundRelation { subject: BoundSubject::Part(column.clone(), part.clone()), test };
        Ok(tests.into_iter().map(bound).collect())
    }

    /// `u.f op x`: ours, a filter.
    fn field(&mut self, name: &Ident, field: &Ident) -> Result<Vec<BoundRelation>, CqlError> {
        let column = self.find(name)?;
        let found = match &column.data_type {
            DataType::Udt(udt) => {
                udt.field_index(field.as_str()).map(|i| (i, udt.fields[i].data_type.clone()))
            }
            _ => None,
        };
        let Some((index, data_type)) = found else {
            return Err(CqlError::invalid(format!("{} has no field {}", column.name, field.as_str())));
        };
        let receiver = (format!("{}.{}", column.name, field.as_str()), data_type.clone());
        let tests = self.tests(&Receivers { columns: &[receiver], tuple: false })?;
        let part = Expr::new(data_type, Node::Field(Box::new(self.row.value(&column)), index));
        let bound = |test| BoundRelation { subject: BoundSubject::Part(column.clone(), part.clone()), test };
        Ok(tests.into_iter().map(bound).collect())
    }

    /// The operator and operand as tests.
    fn tests(&mut self, receivers: &Receivers<'_>) -> Result<Vec<Test>, CqlError> {
        let relation = self.relation;
        let one = |this: &mut Self| match &relation.operand {
            Operand::One(value) => this.item(value, receivers),
            _ => Err(this.unsupported()),
        };
        let bound = |start, inclusive, item| Test::Bound { start, inclusive, item };
        let other = |this: &mut Self, op| Ok(vec![Test::Other(op, Terms::One(one(this)?))]);
        match relation.op {
            RelationOp::Eq => Ok(vec![Test::Among(Terms::One(one(self)?))]),
            RelationOp::In => Ok(vec![Test::Among(self.alternatives(receivers)?)]),
            RelationOp::Lt => Ok(vec![bound(false, false, one(self)?)]),
            RelationOp::Le => Ok(vec![bound(false, true, one(self)?)]),
            RelationOp::Gt => Ok(vec![bound(true, false, one(self)?)]),
            RelationOp::Ge => Ok(vec![bound(true, true, one(self)?)]),
            RelationOp::Between => {
                let Operand::Range(from, to) = &relation.operand else { return Err(self.unsupported()) };
                let from = self.item(from, receivers)?;
                Ok(vec![bound(true, true, from), bound(false, true, self.item(to, receivers)?)])
            }
            RelationOp::Contains => other(self, Comparison::Contains),
            RelationOp::ContainsKey => other(self, Comparison::ContainsKey),
            RelationOp::Like if matches!(self.kind, StatementKind::Select | StatementKind::View) => {
                one(self)?;
                Err(CqlError::invalid(format!(
                    "LIKE restriction is only supported on properly indexed columns. {} is not valid.",
                    relation_text(relation)
                )))
            }
            RelationOp::NotIn if self.kind != StatementKind::View => {
                Ok(vec![Test::Other(Comparison::NotIn, self.alternatives(receivers)?)])
            }
            _ if self.kind != StatementKind::Select => Err(self.unsupported()),
            RelationOp::Ne if matches!(&relation.operand, Operand::One(e) if e.kind == ExprKind::Null) => {
                Err(self.unsupported())
            }
            RelationOp::Ne => other(self, Comparison::NotEqual),
            RelationOp::NotContains => other(self, Comparison::NotContains),
            RelationOp::NotContainsKey => other(self, Comparison::NotContainsKey),
            RelationOp::NotIn | RelationOp::Like | RelationOp::IsNotNull | RelationOp::Matches => {
                Err(self.unsupported())
            }
        }
    }

    /// The alternatives of IN.
    fn alternatives(&mut self, receivers: &Receivers<'_>) -> Result<Terms, CqlError> {
        let relation = self.relation;
        match &relation.operand {
            Operand::List(values) => {
                let items: Result<Vec<Item>, _> = values.iter().map(|v| self.item(v, receivers)).collect();
                Ok(Terms::List(items?))
            }
            Operand::One(list) => {
                let (name, element) = match receivers.columns {
                    [(name, data_type)] if !receivers.tuple => (format!("in({name})"), data_type.clone()),
                    columns => (format!("in({})", names(columns)), tuple_type(columns)),
                };
                let list_type = DataType::List { element: Arc::new(element.freeze()), frozen: true };
                Ok(Terms::ListValue { list: self.term(list, &list_type, &name)?, tuples: receivers.tuple })
            }
            _ => Err(self.unsupported()),
        }
    }

    /// One value, or one tuple of values.
    fn item(&mut self, written: &ast::Expr, receivers: &Receivers<'_>) -> Result<Item, CqlError> {
        if !receivers.tuple {
            let [(name, data_type)] = receivers.columns else { return Err(self.unsupported()) };
            return Ok(Item::Parts(vec![self.term(written, data_type, name)?]));
        }
        match &written.kind {
            ExprKind::Tuple(parts) => {
                if parts.len() != receivers.columns.len() {
                    return Err(CqlError::invalid(format!(
                        "Expected {} elements in value tuple, but got {}: {}",
                        receivers.columns.len(),
                        parts.len(),
                        term_text(written)
                    )));
                }
                let columns = parts.iter().zip(receivers.columns);
                let parts: Result<Vec<Expr>, _> =
                    columns.map(|(part, (name, data_type))| self.term(part, data_type, name)).collect();
                Ok(Item::Parts(parts?))
            }
            _ => {
                let name = format!("({})", names(receivers.columns));
                Ok(Item::Tuple(self.term(written, &tuple_type(receivers.columns), &name)?))
            }
        }
    }
}

fn names(columns: &[(String, DataType)]) -> String {
    columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",")
}

fn tuple_type(columns: &[(String, DataType)]) -> DataType {
    DataType::tuple(columns.iter().map(|(_, data_type)| data_type.clone()))
}

/// The arguments of `token()` must be the partition key, whole and in order.
pub fn check_token(table: &Table, columns: &[Column]) -> Result<(), CqlError> {
    let same = |a: &Column, b: &Column| a.name == b.name;
    let key = &table.partition_key;
    if columns.len() == key.len() && columns.iter().zip(key).all(|(a, b)| same(a, b)) {
        return Ok(());
    }
    let text = if !key.iter().all(|k| columns.iter().any(|c| same(c, k))) {
        "The token() function must be applied to all partition key components or none of them".to_string()
    } else if columns.iter().any(|c| c.kind != ColumnKind::PartitionKey) {
        "The token() function must contains only partition key components".to_string()
    } else if columns.len() > key.len() {
        "The token() function contains duplicate partition key components".to_string()
    } else {
        let names: Vec<&str> = key.iter().map(|k| &*k.name).collect();
        format!("The token function arguments must be in the partition key order: {}", names.join(", "))
    };
    Err(CqlError::Invalid(text))
}
