//! The columns a selector may name: each use becomes an input of the row, shared by equal uses.

use super::{Binder, assign, term_text};
use crate::CqlError;
use cql_syntax::ast::{self, CellInfo, ExprKind};
use model::row::ColumnId;
use model::types::{DataType, quote_identifier};
use query::expr::{Expr, Node};
use query::function::Function;
use query::function::foreign::dialect_of;
use query::select::{Aggregate, CellPart, CellPlace, Input, Source};
use schema::{Column, ColumnKind, Table};
use std::collections::HashMap;
use std::sync::Arc;

/// What selectors and filters of one statement see.
pub struct RowScope {
    pub table: Arc<Table>,
    pub inputs: Vec<Input>,
    /// The slots of columns by their ids: a statement may name one very often.
    slots: HashMap<ColumnId, usize>,
    pub aggregates: Vec<Aggregate>,
    /// The argument of an aggregate is being bound.
    pub in_aggregate: bool,
    /// Columns that have a mask show it instead of their values.
    pub masked: bool,
}

impl RowScope {
    pub fn new(table: Arc<Table>) -> RowScope {
        RowScope {
            table,
            inputs: Vec::new(),
            slots: HashMap::new(),
            aggregates: Vec::new(),
            in_aggregate: false,
            masked: false,
        }
    }

    pub fn column(&self, name: &str) -> Result<Column, CqlError> {
        self.table.column(name).cloned().ok_or_else(|| undefined(&self.table, name))
    }

    /// The value of a column as an expression.
    pub fn value(&mut self, column: &Column) -> Expr {
        let slot = self.slots.get(&column.id).copied().unwrap_or_else(|| {
            let source = match column.kind {
                ColumnKind::PartitionKey => Source::PartitionKey(column.position),
                ColumnKind::Clustering => Source::Clustering(column.position),
                ColumnKind::Static | ColumnKind::Regular => Source::Cell(place(column)),
            };
            let slot = self.add(source, column.data_type.clone());
            self.slots.insert(column.id, slot);
            slot
        });
        Expr::new(column.data_type.clone(), Node::Input(slot))
    }

    /// What another dialect's table has under a name that is no column.
    fn attribute(&mut self, name: &str) -> Option<Expr> {
        if self.table.column(name).is_some() {
            return None;
        }
        let (column, function) = dialect_of(&self.table)?.attribute(&self.table)?;
        let name = Expr::constant(DataType::Text, name.as_bytes());
        let holder = self.value(&column);
        Some(call(function, vec![holder, name]))
    }

    /// The type of what a name stands for.
    pub fn type_of_name(&self, name: &str) -> Option<DataType> {
        let column = self.table.column(name);
        let Some(dialect) = dialect_of(&self.table) else {
            return column.map(|column| column.data_type.clone());
        };
        match column {
            Some(column) => {
                let shown = dialect.shown(&self.table, column).map(|function| function.returns);
                Some(shown.unwrap_or_else(|| column.data_type.clone()))
            }
            None => dialect.attribute(&self.table).map(|(_, function)| function.returns),
        }
    }

    /// Adds an input and gives its slot.
    pub fn add(&mut self, source: Source, data_type: DataType) -> usize {
        self.inputs.push(Input { source, data_type });
        self.inputs.len() - 1
    }
}

fn call(function: Function, arguments: Vec<Expr>) -> Expr {
    Expr::new(function.returns.clone(), Node::Call(Arc::new(function), arguments))
}

/// Where a stored column's cells are.
pub fn place(column: &Column) -> CellPlace {
    CellPlace {
        column: column.id,
        is_static: column.kind == ColumnKind::Static,
        data_type: column.data_type.clone(),
    }
}

pub fn undefined(table: &Table, name: &str) -> CqlError {
    let name = quote_identifier(name);
    CqlError::invalid(format!("Undefined column name {name} in table {}.{}", table.keyspace, table.name))
}

impl Binder<'_, '_> {
    /// Binds a column, or a part or property of one, for a place of a known type.
    pub(super) fn input_for(
        &mut self,
        written: &ast::Expr,
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, CqlError> {
        let bound = self.input(written)?;
        if assign::of_types(expected, &bound.data_type) == assign::Assignable::No {
            return Err(CqlError::invalid(format!(
                "Type error: {} cannot be used for {receiver} of type {expected}",
                term_text(written)
            )));
        }
        Ok(bound)
    }

    /// The value of a column as the reader sees it: clear, or through the column's mask.
    pub fn shown(&mut self, column: &Column) -> Result<Expr, CqlError> {
        let Some(row) = &mut self.row else { return Err(undefined_row()) };
        let clear = row.value(column);
        if let Some(dialect) = dialect_of(&row.table) {
            return Ok(match dialect.shown(&row.table, column) {
                Some(function) => call(function, vec![clear]),
                None => clear,
            });
        }
        let Some(mask) = column.mask.as_deref().filter(|_| row.masked) else { return Ok(clear) };
        let broken =
            || CqlError::invalid(format!("The mask of column {} cannot be read: {mask}", column.name));
        let (name, rest) = mask_call(mask).ok_or_else(broken)?;
        let mut args = vec![ast::Expr::new(ExprKind::Column(ast::Ident::new(&*column.name)))];
        args.extend(rest);
        // The column inside its own mask is clear.
        row.masked = false;
        let call = ast::Expr::new(ExprKind::Function { name, args });
        let bound = self.briefly(|binder| binder.selector(&call));
        if let Some(row) = &mut self.row {
            row.masked = true;
        }
        bound
    }

    fn row_scope(&mut self, written: &ast::Expr) -> Result<&mut RowScope, CqlError> {
        match &mut self.row {
            Some(row) => Ok(row),
            None => Err(CqlError::invalid(format!("Invalid reference to {} in a term", term_text(written)))),
        }
    }

    pub(super) fn input(&mut self, written: &ast::Expr) -> Result<Expr, CqlError> {
        match &written.kind {
            ExprKind::Column(name) => {
                let row = self.row_scope(written)?;
                if let Some(attribute) = row.attribute(name.as_str()) {
                    return Ok(attribute);
                }
                let column = row.column(name.as_str())?;
                self.shown(&column)
            }
            ExprKind::Field { of, field } => {
                let of = self.selector(of)?;
                let DataType::Udt(udt) = &of.data_type else {
                    return Err(CqlError::invalid(format!(
                        "Invalid field selection: {} of type {} is not a user type",
                        part_text(written),
                        of.data_type
                    )));
                };
                let index = udt.field_index(field.as_str()).ok_or_else(|| {
                    CqlError::invalid(format!(
                        "{} of type {} has no field {}",
                        part_text(written),
                        of.data_type,
                        field.as_str()
                    ))
                })?;
                let field_type = udt.fields.get(index).map_or(DataType::Empty, |f| f.data_type.clone());
                Ok(Expr::new(field_type, Node::Field(Box::new(of), index)))
            }
            ExprKind::Element { of, key } => {
                let bound = self.selector(of)?;
                if let DataType::List { .. } = bound.data_type {
                    return Err(only_sets_and_maps("Element", of));
                }
                let (key_type, element_type) = element_types(&bound.data_type).ok_or_else(|| {
                    let text = format!(
                        "Invalid element selection: {} is of type {} is not a collection",
                        term_text(of),
                        bound.data_type
                    );
                    CqlError::invalid(text)
                })?;
                let key = self.bind(key, &key_type, &key_name(of, &bound.data_type))?;
                Ok(Expr::new(element_type, Node::Element(Box::new(bound), Box::new(key))))
            }
            ExprKind::Slice { of, from, to } => {
                let bound = self.selector(of)?;
                let key_type = match &bound.data_type {
                    DataType::Set { element, .. } => element.clone(),
                    DataType::Map { key, .. } => key.clone(),
                    DataType::List { .. } => return Err(only_sets_and_maps("Slice", of)),
                    other => {
                        return Err(CqlError::invalid(format!(
                            "Invalid slice selection: {} of type {other} is not a collection",
                            term_text(of)
                        )));
                    }
                };
                let mut end = |end: &Option<Box<ast::Expr>>| match end {
                    Some(end) => {
                        Ok(Some(Box::new(self.bind(end, &key_type, &key_name(of, &bound.data_type))?)))
                    }
                    None => Ok::<_, CqlError>(None),
                };
                let (from, to) = (end(from)?, end(to)?);
                // A slice of a column is a value of its own: frozen.
                Ok(Expr::new(bound.data_type.freeze(), Node::Slice { of: Box::new(bound), from, to }))
            }
            ExprKind::CellInfo { info, of } => self.cell_info(*info, of),
            _ => Err(CqlError::invalid(format!("Invalid selection {}", term_text(written)))),
        }
    }

    /// `writetime(c)`, `ttl(c)` and their kin.
    fn cell_info(&mut self, info: CellInfo, of: &ast::Expr) -> Result<Expr, CqlError> {
        let (name, part) = match &of.kind {
            ExprKind::Column(name) => (name, None),
            ExprKind::Element { of: inner, .. }
            | ExprKind::Slice { of: inner, .. }
            | ExprKind::Field { of: inner, .. } => match &inner.kind {
                ExprKind::Column(name) => (name, Some(of)),
                _ => return Err(cannot_use(info, &term_text(of))),
            },
            _ => return Err(cannot_use(info, &term_text(of))),
        };
        let column = self.row_scope(of)?.column(name.as_str())?;
        if column.kind.is_primary_key() {
            return Err(CqlError::invalid(format!(
                "Cannot use selection function {} on PRIMARY KEY part {}",
                info.name(),
                column.name
            )));
        }

        let (cell_part, many) = match part {
            None => (CellPart::Whole, column.data_type.is_multi_cell()),
            Some(part) => self.cell_part(info, &column, part)?,
        };
        let one = if info == CellInfo::Ttl { DataType::Int } else { DataType::BigInt };
        let data_type = match many && info != CellInfo::MaxWriteTime {
            true => DataType::List { element: Arc::new(one), frozen: false },
            false => one,
        };
        let place = place(&column);
        let source = match info {
            CellInfo::WriteTime => Source::WriteTime(place, cell_part),
            CellInfo::MaxWriteTime => Source::MaxWriteTime(place, cell_part),
            CellInfo::Ttl => Source::Ttl(place, cell_part),
        };
        let slot = self.row_scope(of)?.add(source, data_type.clone());
        Ok(Expr::new(data_type, Node::Input(slot)))
    }

    /// The cells of a part of a column, and whether they may be several.
    fn cell_part(
        &mut self,
        info: CellInfo,
        column: &Column,
        part: &ast::Expr,
    ) -> Result<(CellPart, bool), CqlError> {
        // Parts of a frozen value live and die with it: they have its one cell.
        let one_cell = !column.data_type.is_multi_cell();
        match (&part.kind, &column.data_type) {
            (ExprKind::Element { key, .. }, DataType::Set { element: key_type, .. })
            | (ExprKind::Element { key, .. }, DataType::Map { key: key_type, .. }) => {
                let key = self.bind(key, key_type, &format!("key({})", column.name))?;
                Ok((if one_cell { CellPart::Whole } else { CellPart::Element(key) }, false))
            }
            (ExprKind::Slice { from, to, .. }, DataType::Set { element: key_type, .. })
            | (ExprKind::Slice { from, to, .. }, DataType::Map { key: key_type, .. }) => {
                let name = format!("key({})", column.name);
                let mut end = |end: &Option<Box<ast::Expr>>| match end {
                    Some(end) => Ok(Some(self.bind(end, key_type, &name)?)),
                    None => Ok::<_, CqlError>(None),
                };
                let (from, to) = (end(from)?, end(to)?);
                Ok((if one_cell { CellPart::Whole } else { CellPart::Slice(from, to) }, !one_cell))
            }
            (ExprKind::Field { field, .. }, DataType::Udt(udt)) => {
                let index = udt.field_index(field.as_str()).ok_or_else(|| {
                    let text = format!(
                        "{} of type {} has no field {}",
                        column.name,
                        column.data_type,
                        field.as_str()
                    );
                    CqlError::invalid(text)
                })?;
                Ok((if one_cell { CellPart::Whole } else { CellPart::Field(index) }, false))
            }
            _ => Err(cannot_use(info, &term_text(part))),
        }
    }
}

fn cannot_use(info: CellInfo, what: &str) -> CqlError {
    CqlError::invalid(format!("Cannot use selection function {} on {what}", info.name()))
}

/// What an element is selected by, and the element's type.
pub fn element_types(data_type: &DataType) -> Option<(DataType, DataType)> {
    match data_type {
        DataType::Map { key, value, .. } => Some(((**key).clone(), (**value).clone())),
        DataType::Set { element, .. } => Some(((**element).clone(), (**element).clone())),

        _ => None,
    }
}

fn only_sets_and_maps(what: &str, of: &ast::Expr) -> CqlError {
    let of = term_text(of);
    CqlError::invalid(format!("{what} selection is only allowed on sets and maps, but {of} is a list"))
}

fn key_name(of: &ast::Expr, data_type: &DataType) -> String {
    let kind = if matches!(data_type, DataType::Set { .. }) { "value" } else { "key" };
    format!("{kind}({})", term_text(of))
}

/// The value a field is selected from, for messages.
fn part_text(written: &ast::Expr) -> String {
    match &written.kind {
        ExprKind::Field { of, .. } => term_text(of),
        _ => term_text(written),
    }
}

fn undefined_row() -> CqlError {
    CqlError::invalid("Columns can be named in a SELECT clause only")
}

/// The function and the further arguments of a mask, from its text in the catalogue.
fn mask_call(mask: &str) -> Option<(ast::QualifiedName, Vec<ast::Expr>)> {
    let parsed = cql_syntax::parse_statement(&format!("SELECT {mask} FROM t")).ok()?;
    let ast::Statement::Select(select) = parsed.statement else { return None };
    let ast::Selection::Items(items) = select.selection else { return None };
    match items.into_iter().next()?.expr.kind {
        ExprKind::Function { name, args } => Some((name, args)),
        _ => None,
    }
}
