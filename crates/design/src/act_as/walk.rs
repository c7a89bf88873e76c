//! What of a statement rules look at: expressions, types, relations, properties, wherever they stand.

use cql_syntax::ast::{
    ColumnDef, Condition, DataType, Expr, ExprKind, InsertSource, Modification, Operand, Property, Relation,
    Returning, Select, Selection, Statement, TableChange, TableOption, Target, TypeChange, TypeKind, Using,
};

/// A part of a statement.
pub enum Part<'s> {
    Expr(&'s Expr),
    Type(&'s DataType),
    /// Of a WHERE clause.
    Relation(&'s Relation),
    Property(&'s Property),
    Column(&'s ColumnDef),
    Select(&'s Select),
    Using(&'s Using),
}

/// Visits every part until one answers.
pub fn find<T>(statement: &Statement, look: impl FnMut(Part<'_>) -> Option<T>) -> Option<T> {
    let mut walk = Walk { look, found: None };
    walk.statement(statement);
    walk.found
}

struct Walk<T, F> {
    look: F,
    found: Option<T>,
}

impl<T, F: FnMut(Part<'_>) -> Option<T>> Walk<T, F> {
    fn see(&mut self, part: Part<'_>) {
        if self.found.is_none() {
            self.found = (self.look)(part);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Select(select) => self.select(select),
            Statement::Insert(insert) => self.modification(&Modification::Insert(insert.clone())),
            Statement::Update(update) => self.modification(&Modification::Update(update.clone())),
            Statement::Delete(delete) => self.modification(&Modification::Delete(delete.clone())),
            Statement::Batch(batch) => {
                self.using(&batch.using);
                batch.statements.iter().for_each(|inner| self.modification(inner));
            }
            Statement::Transaction(transaction) => {
                transaction.lets.iter().for_each(|found| self.select(&found.select));
                if let Some(Returning::Select(select)) = &transaction.returning {
                    self.select(select);
                }
                transaction.writes.iter().for_each(|inner| self.modification(inner));
            }
            Statement::CreateKeyspace(create) => self.properties(&create.properties),
            Statement::AlterKeyspace(alter) => self.properties(&alter.properties),
            Statement::CreateTable(create) => {
                create.columns.iter().for_each(|column| self.column(column));
                self.options(&create.options);
            }
            Statement::CopyTable(copy) => self.properties(&copy.properties),
            Statement::AlterTable(alter) => self.change(&alter.change),
            Statement::CreateType(create) => {
                create.fields.iter().for_each(|field| self.data_type(&field.data_type));
            }
            Statement::AlterType(alter) => match &alter.change {
                TypeChange::Add { field, .. } => self.data_type(&field.data_type),
                TypeChange::FieldType { data_type, .. } => self.data_type(data_type),
                TypeChange::Rename { .. } => {}
            },
            Statement::CreateIndex(create) => self.properties(&create.properties),
            Statement::CreateView(create) => {
                self.selection(&create.selection);
                self.relations(&create.relations);
                self.options(&create.options);
            }
            Statement::AlterView(alter) => self.properties(&alter.properties),
            Statement::CreateFunction(create) => {
                create.args.iter().for_each(|argument| self.data_type(&argument.data_type));
                self.data_type(&create.returns);
            }
            Statement::Explain(explain) => self.statement(&explain.statement),
            _ => {}
        }
    }

    fn change(&mut self, change: &TableChange) {
        match change {
            TableChange::Add { columns, .. } => columns.iter().for_each(|column| self.column(column)),
            TableChange::ColumnType { data_type, .. } => self.data_type(data_type),
            TableChange::With(properties) => self.properties(properties),
            _ => {}
        }
    }

    fn column(&mut self, column: &ColumnDef) {
        self.see(Part::Column(column));
        self.data_type(&column.data_type);
    }

    fn options(&mut self, options: &[TableOption]) {
        for option in options {
            if let TableOption::Property(property) = option {
                self.see(Part::Property(property));
            }
        }
    }

    fn properties(&mut self, properties: &[Property]) {
        properties.iter().for_each(|property| self.see(Part::Property(property)));
    }

    fn data_type(&mut self, data_type: &DataType) {
        self.see(Part::Type(data_type));
        match &data_type.kind {
            TypeKind::List(inner)
            | TypeKind::Set(inner)
            | TypeKind::Vector(inner, _)
            | TypeKind::Frozen(inner) => self.data_type(inner),
            TypeKind::Map(key, value) => {
                self.data_type(key);
                self.data_type(value);
            }
            TypeKind::Tuple(parts) => parts.iter().for_each(|part| self.data_type(part)),
            TypeKind::Native(_) | TypeKind::User(_) | TypeKind::Custom(_) => {}
        }
    }

    fn select(&mut self, select: &Select) {
        self.see(Part::Select(select));
        self.selection(&select.selection);
        self.relations(&select.relations);
        select.group_by.iter().for_each(|expr| self.expr(expr));
        select.order_by.iter().filter_map(|order| order.ann_of.as_ref()).for_each(|expr| self.expr(expr));
    }

    fn selection(&mut self, selection: &Selection) {
        if let Selection::Items(items) = selection {
            items.iter().for_each(|item| self.expr(&item.expr));
        }
    }

    fn relations(&mut self, relations: &[Relation]) {
        for relation in relations {
            self.see(Part::Relation(relation));
            self.operand(&relation.operand);
        }
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::None => {}
            Operand::One(expr) => self.expr(expr),
            Operand::List(exprs) => exprs.iter().for_each(|expr| self.expr(expr)),
            Operand::Range(from, to) => {
                self.expr(from);
                self.expr(to);
            }
        }
    }

    fn using(&mut self, using: &Using) {
        self.see(Part::Using(using));
        using.items.iter().for_each(|item| self.expr(&item.value));
    }

    fn condition(&mut self, condition: &Option<Condition>) {
        if let Some(Condition::Relations(relations)) = condition {
            relations.iter().for_each(|relation| self.operand(&relation.operand));
        }
    }

    fn modification(&mut self, statement: &Modification) {
        match statement {
            Modification::Insert(insert) => {
                self.using(&insert.using);
                match &insert.source {
                    InsertSource::Values { values, .. } => values.iter().for_each(|value| self.expr(value)),
                    InsertSource::Json { value, .. } => self.expr(value),
                }
            }
            Modification::Update(update) => {
                self.using(&update.using);
                for assignment in &update.assignments {
                    if let Target::Element { key, .. } = &assignment.target {
                        self.expr(key);
                    }
                    self.expr(&assignment.value);
                }
                self.relations(&update.relations);
                self.condition(&update.condition);
            }
            Modification::Delete(delete) => {
                self.using(&delete.using);
                self.relations(&delete.relations);
                self.condition(&delete.condition);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.see(Part::Expr(expr));
        match &expr.kind {
            ExprKind::Function { args, .. } => args.iter().for_each(|arg| self.expr(arg)),
            ExprKind::Cast { expr, .. } => self.expr(expr),
            ExprKind::TypeHint { to, expr } => {
                self.data_type(to);
                self.expr(expr);
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Negate(of) | ExprKind::Field { of, .. } | ExprKind::CellInfo { of, .. } => {
                self.expr(of)
            }
            ExprKind::Element { of, key } => {
                self.expr(of);
                self.expr(key);
            }
            ExprKind::Slice { of, .. } => self.expr(of),
            ExprKind::List(parts) | ExprKind::Set(parts) | ExprKind::Tuple(parts) => {
                parts.iter().for_each(|part| self.expr(part));
            }
            ExprKind::Map(entries) => entries.iter().for_each(|(key, value)| {
                self.expr(key);
                self.expr(value);
            }),
            ExprKind::UserType(fields) => fields.iter().for_each(|(_, value)| self.expr(value)),
            ExprKind::Literal(_)
            | ExprKind::Null
            | ExprKind::Marker(_)
            | ExprKind::Column(_)
            | ExprKind::CountRows => {}
        }
    }
}
