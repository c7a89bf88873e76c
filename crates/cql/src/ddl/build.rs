//! From a plan and the current catalogue to a change.

use super::DdlPlan;
use super::constraint::constraints;
use super::function;
use super::mask::mask_text;
use super::properties::properties;
use super::table::{columns, new_table};
use super::view::{self, new_view};
use crate::CqlError;
use crate::bind::{Scope, types};
use cql_syntax::ast::{
    self, IndexTargetKind, NoteObject, Rename, Statement, TableChange, TypeChange, TypeKind,
};
use model::types::DataType;
use schema::{
    Catalogue, Change, IndexPart, NewIndex, NewNote, NewPattern, NoteKind, NoteTarget, Table,
    TableAlteration, TableLike, TypeAlteration, is_system_name,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is wrong with the statement whatever the catalogue holds; so PREPARE can tell already.
pub(super) fn check_text(plan: &DdlPlan) -> Result<(), CqlError> {
    let nothing = Catalogue::empty();
    let scope = Scope { catalogue: &nothing, keyspace: None };
    match &plan.statement {
        Statement::CreateTable(create) => new_table(scope, &plan.keyspace, create, false).map(|_| ()),
        Statement::CreateView(create) => view::check_text(create),
        Statement::CreateKeyspace(create) => properties(&create.properties).map(|_| ()),
        Statement::AlterKeyspace(alter) => properties(&alter.properties).map(|_| ()),
        _ => Ok(()),
    }
}

pub(super) fn change(plan: &DdlPlan, catalogue: &Catalogue) -> Result<Change, CqlError> {
    let keyspace = plan.keyspace.clone();
    let scope = Scope { catalogue, keyspace: Some(&plan.keyspace) };
    Ok(match &plan.statement {
        Statement::CreateKeyspace(s) => Change::CreateKeyspace {
            name: keyspace,
            if_not_exists: s.if_not_exists,
            properties: properties(&s.properties)?,
        },
        Statement::AlterKeyspace(s) => Change::AlterKeyspace {
            name: keyspace,
            if_exists: s.if_exists,
            properties: properties(&s.properties)?,
        },
        Statement::DropKeyspace(s) => Change::DropKeyspace { name: keyspace, if_exists: s.if_exists },
        Statement::CreateTable(s) => {
            let place = catalogue.keyspace(&keyspace).filter(|_| !is_system_name(&keyspace));
            let resolve_types = place.is_some_and(|place| place.table(s.name.as_str()).is_none());
            Change::CreateTable(Box::new(new_table(scope, &keyspace, s, resolve_types)?))
        }
        Statement::AlterTable(s) => match &s.change {
            TableChange::Replace { old, new } => Change::ReplaceView {
                base: s.name.as_str().into(),
                old: old.as_str().into(),
                new: new.as_str().into(),
                keyspace,
            },
            _ => Change::AlterTable {
                name: s.name.as_str().into(),
                if_exists: s.if_exists,
                alteration: table_alteration(scope, &keyspace, s)?,
                keyspace,
            },
        },
        Statement::CopyTable(s) => Change::CopyTable(Box::new(TableLike {
            name: s.name.as_str().into(),
            if_not_exists: s.if_not_exists,
            source_keyspace: s.source.keyspace_str().map_or_else(|| keyspace.clone(), str::to_string),
            source: s.source.as_str().into(),
            with_indexes: s.with_indexes,
            properties: properties(&s.properties)?,
            keyspace,
        })),
        Statement::SetNote(s) => Change::SetNote(Box::new(note(keyspace, s))),
        Statement::DropTable(s) => {
            Change::DropTable { keyspace, name: s.name.as_str().into(), if_exists: s.if_exists }
        }
        Statement::Truncate(name) => Change::Truncate { keyspace, name: name.as_str().into() },
        Statement::CreateType(s) => create_type(scope, keyspace, s)?,
        Statement::AlterType(s) => Change::AlterType {
            name: s.name.as_str().into(),
            if_exists: s.if_exists,
            alteration: type_alteration(scope, &keyspace, s)?,
            keyspace,
        },
        Statement::DropType(s) => {
            Change::DropType { keyspace, name: s.name.as_str().into(), if_exists: s.if_exists }
        }
        Statement::CreateIndex(s) => Change::CreateIndex(Box::new(new_index(keyspace, s)?)),
        Statement::DropIndex(s) => {
            Change::DropIndex { keyspace, name: s.name.as_str().into(), if_exists: s.if_exists }
        }
        Statement::CreateView(s) => Change::CreateView(Box::new(new_view(catalogue, &keyspace, s)?)),
        Statement::AlterView(s) => Change::AlterView {
            keyspace,
            name: s.name.as_str().into(),
            if_exists: s.if_exists,
            properties: properties(&s.properties)?,
        },
        Statement::DropView(s) => {
            Change::DropView { keyspace, name: s.name.as_str().into(), if_exists: s.if_exists }
        }
        Statement::CreatePattern(s) => Change::CreatePattern(Box::new(NewPattern {
            keyspace,
            name: s.name.as_str().into(),
            if_not_exists: s.if_not_exists,
            statement: s.statement.to_string(),
            settings: settings(&s.properties),
        })),
        Statement::AlterPattern(s) => Change::AlterPattern {
            keyspace,
            name: s.name.as_str().into(),
            if_exists: s.if_exists,
            statement: s.statement.as_ref().map(|(statement, _)| statement.to_string()),
            settings: settings(&s.properties),
        },
        Statement::DropPattern(s) => {
            Change::DropPattern { keyspace, name: s.name.as_str().into(), if_exists: s.if_exists }
        }
        Statement::CreateFunction(s) => {
            Change::CreateFunction(Box::new(function::new_function(scope, &keyspace, s)?))
        }
        Statement::CreateAggregate(s) => {
            Change::CreateAggregate(Box::new(function::new_aggregate(scope, &keyspace, s)?))
        }
        Statement::DropFunction(s) => {
            Change::DropFunction(Box::new(function::dropped(scope, &keyspace, s, false)?))
        }
        Statement::DropAggregate(s) => {
            Change::DropFunction(Box::new(function::dropped(scope, &keyspace, s, true)?))
        }
        _ => return Err(CqlError::invalid("This is not a schema statement")),
    })
}

fn note(keyspace: String, note: &ast::SetNote) -> NewNote {
    let text = |name: &str| name.to_string();
    let target = match &note.object {
        NoteObject::Keyspace(_) => NoteTarget::Keyspace,
        NoteObject::Table(name) => NoteTarget::Table(text(name.as_str())),
        NoteObject::Column(of, column) => NoteTarget::Column(text(of.as_str()), text(column.as_str())),
        NoteObject::Type(name) => NoteTarget::Type(text(name.as_str())),
        NoteObject::Field(of, field) => NoteTarget::Field(text(of.as_str()), text(field.as_str())),
    };
    NewNote {
        keyspace,
        target,
        kind: if note.is_label { NoteKind::SecurityLabel } else { NoteKind::Comment },
        provider: note.provider.as_ref().map(|provider| text(provider.as_str())),
        text: note.text.as_ref().map(|text| text.value.to_string()),
    }
}

fn new_index(keyspace: String, create: &ast::CreateIndex) -> Result<NewIndex, CqlError> {
    let target = |target: &ast::IndexTarget| {
        let part = match target.kind {
            IndexTargetKind::Simple => IndexPart::Whole,
            IndexTargetKind::Values => IndexPart::Values,
            IndexTargetKind::Keys => IndexPart::Keys,
            IndexTargetKind::Entries => IndexPart::Entries,
            IndexTargetKind::Full => IndexPart::Full,
        };
        (part, target.column.as_str().to_string())
    };
    Ok(NewIndex {
        keyspace,
        table: create.table.as_str().into(),
        name: create.name.as_ref().map(|name| name.as_str().to_string()),
        if_not_exists: create.if_not_exists,
        targets: create.targets.iter().map(target).collect(),
        is_custom: create.custom,
        class: create.using.as_ref().map(|class| class.value.to_string()),
        properties: properties(&create.properties)?,
    })
}

/// The numbers of a pattern, as CQL.
fn settings(properties: &[ast::Property]) -> BTreeMap<String, String> {
    properties.iter().map(|p| (p.name.as_str().to_string(), p.value.to_string())).collect()
}

fn pairs(renames: &[Rename]) -> Vec<(String, String)> {
    renames.iter().map(|r| (r.from.as_str().to_string(), r.to.as_str().to_string())).collect()
}

fn table_alteration(
    scope: Scope<'_>,
    keyspace: &str,
    alter: &ast::AlterTable,
) -> Result<TableAlteration, CqlError> {
    // What belongs to the server, is a view or does not exist is refused later, before types would matter.
    let alterable = |table: &&Arc<Table>| !is_system_name(keyspace) && table.view.is_none();
    let table = scope.catalogue.table(keyspace, alter.name.as_str()).filter(alterable);
    let refuse = |text: &str| match table {
        Some(_) => Err(CqlError::invalid(text)),
        None => Ok(TableAlteration::Rename { renames: Vec::new() }),
    };
    match &alter.change {
        TableChange::ColumnType { .. } => refuse("Altering column types is no longer supported"),
        TableChange::DropCompactStorage => Ok(TableAlteration::DropCompactStorage),
        TableChange::RowTtl(column) => {
            Ok(TableAlteration::RowTtl(column.as_ref().map(|column| column.as_str().to_string())))
        }
        TableChange::Replace { .. } => Err(CqlError::invalid("This is no change of columns")),
        TableChange::Mask { if_exists, column, mask } => {
            let name = column.as_str();
            let found = table.and_then(|table| table.column(name));
            let mask = match (mask, found) {
                (Some(mask), Some(column)) => Some(mask_text(name, &column.data_type, mask)?),
                _ => None,
            };
            Ok(TableAlteration::Mask { if_exists: *if_exists, column: name.into(), mask })
        }
        TableChange::Check { if_exists, column, checks } => {
            let name = column.as_str();
            let checks = match table.and_then(|table| table.column(name)) {
                Some(column) => constraints(name, &column.data_type, checks)?,
                None => Vec::new(),
            };
            Ok(TableAlteration::Check { if_exists: *if_exists, column: name.into(), checks })
        }
        TableChange::Add { if_not_exists, columns: written } => Ok(TableAlteration::Add {
            if_not_exists: *if_not_exists,
            columns: columns(scope, keyspace, written, table.is_some())?,
        }),
        TableChange::Drop { if_exists, columns, timestamp } => Ok(TableAlteration::Drop {
            if_exists: *if_exists,
            columns: columns.iter().map(|column| column.as_str().to_string()).collect(),
            timestamp: *timestamp,
        }),
        // Cassandra reads IF EXISTS here and fails all the same.
        TableChange::Rename { renames, .. } => Ok(TableAlteration::Rename { renames: pairs(renames) }),
        TableChange::With(written) => Ok(TableAlteration::With(properties(written)?)),
    }
}

fn create_type(scope: Scope<'_>, keyspace: String, create: &ast::CreateType) -> Result<Change, CqlError> {
    let place = scope.catalogue.keyspace(&keyspace).filter(|_| !is_system_name(&keyspace));
    let resolve_types = place.is_some_and(|place| !place.types.contains_key(create.name.as_str()));
    let field = |field: &ast::FieldDef| {
        let data_type = match resolve_types {
            true => field_type(scope, &keyspace, &field.data_type)?,
            false => DataType::Blob,
        };
        Ok((field.name.as_str().to_string(), data_type))
    };
    let fields: Result<Vec<_>, CqlError> = create.fields.iter().map(field).collect();
    Ok(Change::CreateType {
        name: create.name.as_str().into(),
        if_not_exists: create.if_not_exists,
        fields: fields?,
        keyspace,
    })
}

/// The type of a field. That a bare user-defined type is wrong here is said before it is looked up.
fn field_type(scope: Scope<'_>, keyspace: &str, written: &ast::DataType) -> Result<DataType, CqlError> {
    if let TypeKind::User(_) = written.kind {
        return Err(CqlError::invalid("A user type cannot contain non-frozen UDTs"));
    }
    types::resolve(scope, keyspace, written)
}

fn type_alteration(
    scope: Scope<'_>,
    keyspace: &str,
    alter: &ast::AlterType,
) -> Result<TypeAlteration, CqlError> {
    let place = scope.catalogue.keyspace(keyspace).filter(|_| !is_system_name(keyspace));
    let exists = place.is_some_and(|place| place.types.contains_key(alter.name.as_str()));
    match &alter.change {
        TypeChange::FieldType { .. } if exists => {
            Err(CqlError::invalid("Altering field types is no longer supported"))
        }
        TypeChange::FieldType { .. } => Ok(TypeAlteration::Rename { if_exists: true, renames: Vec::new() }),
        TypeChange::Add { if_not_exists, field } => {
            let data_type = match exists {
                true => field_type(scope, keyspace, &field.data_type)?,
                false => DataType::Blob,
            };
            let if_not_exists = *if_not_exists;
            Ok(TypeAlteration::Add { if_not_exists, field: field.name.as_str().into(), data_type })
        }
        TypeChange::Rename { if_exists, renames } => {
            Ok(TypeAlteration::Rename { if_exists: *if_exists, renames: pairs(renames) })
        }
    }
}
