//! Scripts to a catalogue: first what is declared, then what uses it, so that the order of files does not matter.

use super::Catalogue;
use super::access::{Access, BatchUse};
use super::names;
use super::table::{Column, Index, IndexKind, Role, Table, TableKind};
use crate::finding::ReadError;
use crate::numbers::Numbers;
use crate::source::{Place, SourceFile};
use cql_syntax::ast::{
    AlterPattern, AlterTable, Batch, ColumnDef, CreateIndex, CreatePattern, CreateTable, CreateView,
    QualifiedName, Selection, Statement, TableChange,
};
use cql_syntax::{Script, Span};

pub(super) fn build(files: Vec<SourceFile>, scripts: Vec<Script>) -> Catalogue {
    let mut catalogue = Catalogue { files, ..Catalogue::default() };
    for (file, script) in scripts.iter().enumerate() {
        for error in &script.errors {
            let place = Place { file, span: error.span };
            catalogue.errors.push(ReadError { place, message: error.message.clone() });
        }
        catalogue.comments.extend(script.comments.iter().map(|comment| Place { file, span: comment.span }));
        catalogue.statements.extend(script.statements.iter().map(|s| Place { file, span: s.span }));
    }
    for (file, script) in scripts.iter().enumerate() {
        let mut reader = Reader { catalogue: &mut catalogue, file, keyspace: None };
        for parsed in &script.statements {
            reader.declare(&parsed.statement, parsed.span);
        }
    }
    index_names(&mut catalogue);
    for (file, script) in scripts.iter().enumerate() {
        let mut reader = Reader { catalogue: &mut catalogue, file, keyspace: None };
        for parsed in &script.statements {
            reader.use_tables(&parsed.statement, parsed.span);
        }
    }
    link(&mut catalogue);
    names::check(&mut catalogue);
    catalogue
}

/// What an index can do, by the class it names.
fn index_kind(create: &CreateIndex) -> IndexKind {
    let class = create.using.as_ref().map_or("", |using| using.value.as_str()).to_ascii_lowercase();
    match class.rsplit('.').next().unwrap_or("") {
        "" | "legacy_local_table" => IndexKind::Legacy,
        "sai" | "storageattachedindex" => IndexKind::Attached,
        "sasiindex" => IndexKind::Sasi,
        _ => IndexKind::Other,
    }
}

fn index_names(catalogue: &mut Catalogue) {
    catalogue.by_name.clear();
    for (at, table) in catalogue.tables.iter().enumerate() {
        catalogue.by_name.entry(table.name.clone()).or_default().push(at);
    }
}

fn link(catalogue: &mut Catalogue) {
    let mut accesses_of = vec![Vec::new(); catalogue.tables.len()];
    for at in 0..catalogue.accesses.len() {
        let access = &catalogue.accesses[at];
        let table = catalogue.find(access.keyspace.as_deref(), &access.table_name);
        catalogue.accesses[at].table = table;
        if let Some(list) = table.and_then(|table| accesses_of.get_mut(table)) {
            list.push(at);
        }
    }
    let mut indexes_of = vec![Vec::new(); catalogue.tables.len()];
    for (at, index) in catalogue.indexes.iter().enumerate() {
        if let Some(list) = indexes_of.get_mut(index.table) {
            list.push(at);
        }
    }
    catalogue.accesses_of = accesses_of;
    catalogue.indexes_of = indexes_of;
}

struct Reader<'c> {
    catalogue: &'c mut Catalogue,
    file: usize,
    /// The keyspace of the last USE.
    keyspace: Option<String>,
}

impl Reader<'_> {
    fn keyspace_of(&self, name: &QualifiedName) -> Option<String> {
        name.keyspace_str().map(str::to_string).or_else(|| self.keyspace.clone())
    }

    fn position_of(&self, name: &QualifiedName) -> Option<usize> {
        let keyspace = self.keyspace_of(name);
        let tables = self.catalogue.tables.iter();
        let matching = |t: &Table| {
            t.name == name.as_str() && (keyspace.is_none() || t.keyspace.is_none() || t.keyspace == keyspace)
        };
        tables.enumerate().rev().find(|(_, t)| matching(t)).map(|(at, _)| at)
    }

    fn text(&self) -> &str {
        self.catalogue.files.get(self.file).map_or("", |file| file.text.as_str())
    }

    fn error(&mut self, span: Span, message: String) {
        self.catalogue.errors.push(ReadError { place: Place { file: self.file, span }, message });
    }

    fn declare(&mut self, statement: &Statement, span: Span) {
        match statement {
            Statement::Use(keyspace) => self.keyspace = Some(keyspace.name.clone()),
            Statement::CreateTable(create) => {
                match Table::new(create, self.keyspace_of(&create.name), self.file, self.text()) {
                    Ok(table) => self.catalogue.tables.push(table),
                    Err(message) => self.error(create.name.span(), message),
                }
            }
            Statement::CreateView(create) => self.view(create, span),
            Statement::AlterTable(alter) => self.alter(alter),
            Statement::DropTable(drop) => {
                self.catalogue.dropped.insert(drop.name.as_str().to_string());
                if let Some(at) = self.position_of(&drop.name) {
                    self.catalogue.tables.remove(at);
                }
            }
            Statement::DropView(drop) => {
                if let Some(at) =
                    self.position_of(&drop.name).filter(|at| self.catalogue.tables[*at].is_view())
                {
                    self.catalogue.tables.remove(at);
                }
            }
            Statement::Explain(explain) => self.declare(&explain.statement, explain.span),
            _ => {}
        }
    }

    /// A view is a table with the columns it selects and a key of its own.
    fn view(&mut self, create: &CreateView, span: Span) {
        let Some(base) = self.position_of(&create.base).and_then(|at| self.catalogue.tables.get(at)) else {
            return;
        };
        let selected = |column: &ColumnDef| match &create.selection {
            Selection::All(_) => true,
            Selection::Items(items) => {
                items.iter().any(|item| item.expr.as_column().is_some_and(|c| c.name == column.name.name))
                    || create
                        .primary_key
                        .partition
                        .iter()
                        .chain(&create.primary_key.clustering)
                        .any(|c| *c == column.name)
            }
        };
        let definition = CreateTable {
            if_not_exists: create.if_not_exists,
            name: create.name.clone(),
            columns: base.statement.columns.iter().filter(|c| selected(c)).cloned().collect(),
            primary_keys: vec![create.primary_key.clone()],
            options: create.options.clone(),
        };
        let base_name = base.name.clone();
        let keyspace = self.keyspace_of(&create.name).or_else(|| base.keyspace.clone());
        match Table::new(&definition, keyspace, self.file, self.text()) {
            Ok(mut table) => {
                table.kind = TableKind::View { base: base_name };
                // Columns are declared elsewhere; what can be pointed at here is the key.
                for column in &mut table.columns {
                    let key = create.primary_key.partition.iter().chain(&create.primary_key.clustering);
                    column.span = key.clone().find(|c| c.name == column.name).map_or(span, |c| c.span);
                }
                self.catalogue.tables.push(table);
            }
            Err(message) => self.error(create.name.span(), message),
        }
    }

    fn alter(&mut self, alter: &AlterTable) {
        let Some(at) = self.position_of(&alter.name) else { return };
        let added: Vec<Column> = match &alter.change {
            TableChange::Add { columns, .. } => {
                columns.iter().map(|column| Column::new(column, self.text())).collect()
            }
            _ => Vec::new(),
        };
        let Some(table) = self.catalogue.tables.get_mut(at) else { return };
        match &alter.change {
            TableChange::Add { columns, .. } => {
                for mut column in added {
                    if table.place.file != self.file {
                        // The finding is drawn in the file of the table.
                        column.span = table.place.span;
                    }
                    table.columns.push(column);
                }
                table.statement.columns.extend(columns.iter().cloned());
            }
            TableChange::Drop { columns, .. } => {
                for dropped in columns {
                    let position =
                        table.columns.iter().position(|c| c.name == dropped.name && c.role == Role::Regular);
                    // Key columns cannot be dropped; removing the last positions keeps the key's indices right.
                    if let Some(position) = position {
                        table.statement.columns.retain(|c| c.name.name != dropped.name);
                        table.columns.remove(position);
                        for at in &mut table.partition {
                            *at -= usize::from(*at > position);
                        }
                        for item in &mut table.clustering {
                            item.column -= usize::from(item.column > position);
                        }
                    }
                }
            }
            TableChange::With(properties) => {
                for property in properties {
                    table.set(&property.name.name, &property.value);
                }
            }
            _ => {}
        }
    }

    fn use_tables(&mut self, statement: &Statement, span: Span) {
        match statement {
            Statement::Use(keyspace) => self.keyspace = Some(keyspace.name.clone()),
            Statement::CreateIndex(create) => self.index(create),
            Statement::DropIndex(drop) => {
                self.catalogue.indexes.retain(|index| index.name.as_deref() != Some(drop.name.as_str()));
            }
            Statement::CreatePattern(create) => self.pattern(create),
            Statement::AlterPattern(alter) => self.alter_pattern(alter),
            Statement::DropPattern(drop) => {
                // Emptied, not removed: batches know their statements by position.
                for access in &mut self.catalogue.accesses {
                    if access.pattern.as_deref() == Some(drop.name.as_str()) {
                        access.pattern = None;
                        access.table_name.clear();
                    }
                }
            }
            Statement::Batch(batch) => self.batch(batch),
            Statement::Explain(explain) => self.use_tables(&explain.statement, explain.span),
            _ => {
                if let Some(access) = Access::of(statement, Place { file: self.file, span }) {
                    self.access(access);
                }
            }
        }
    }

    fn access(&mut self, mut access: Access) -> usize {
        if access.keyspace.is_none() {
            access.keyspace.clone_from(&self.keyspace);
        }
        self.catalogue.accesses.push(access);
        self.catalogue.accesses.len() - 1
    }

    fn pattern(&mut self, create: &CreatePattern) {
        let place = Place { file: self.file, span: create.statement_span };
        if let Some(mut access) = Access::of(&create.statement, place) {
            access.pattern = Some(create.name.as_str().to_string());
            access.numbers = Numbers::read(&create.properties);
            if access.keyspace.is_none() {
                access.keyspace = create.name.keyspace_str().map(str::to_string);
            }
            self.access(access);
        }
    }

    /// A new statement replaces the old one; numbers that are not named stay.
    fn alter_pattern(&mut self, alter: &AlterPattern) {
        let name = alter.name.as_str();
        let accesses = &mut self.catalogue.accesses;
        let Some(access) = accesses.iter_mut().rev().find(|a| a.pattern.as_deref() == Some(name)) else {
            return;
        };
        if let Some((statement, span)) = &alter.statement
            && let Some(mut new) = Access::of(statement, Place { file: self.file, span: *span })
        {
            new.pattern = access.pattern.take();
            new.numbers = std::mem::take(&mut access.numbers);
            if new.keyspace.is_none() {
                new.keyspace = access.keyspace.take();
            }
            *access = new;
        }
        access.numbers.change(&alter.properties);
    }

    fn batch(&mut self, batch: &Batch) {
        let number = self.catalogue.batches.len();
        let mut accesses = Vec::new();
        for modification in &batch.statements {
            let mut access = Access::of_modification(modification, self.file);
            access.batch = Some(number);
            accesses.push(self.access(access));
        }
        let place = Place { file: self.file, span: batch.span };
        self.catalogue.batches.push(BatchUse { kind: batch.kind, place, accesses });
    }

    fn index(&mut self, create: &CreateIndex) {
        let keyspace = self.keyspace_of(&create.table);
        let Some(table) = self.catalogue.find(keyspace.as_deref(), create.table.as_str()) else { return };
        for target in &create.targets {
            self.catalogue.indexes.push(Index {
                name: create.name.as_ref().map(|name| name.name.clone()),
                table,
                column: target.column.name.clone(),
                target: target.kind,
                kind: index_kind(create),
                place: Place { file: self.file, span: target.span },
            });
        }
    }
}
