//! COMPACT STORAGE: tables as they were before there was CQL, with columns that statements cannot name.
//!
//! What is stored is an ordinary table with a few columns more; DROP COMPACT STORAGE only makes them seen.

use crate::change::NewColumn;
use crate::column::{Column, ColumnKind};
use crate::fault::CompactFault;
use crate::table::Table;
use model::types::DataType;

/// How the rows of a compact table lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compact {
    /// Without clustering columns: what the statement declares is static, beside a hidden clustering column and a hidden value.
    Static,
    /// With clustering columns and one value: a row is there while its value is.
    Dense,
    /// With clustering columns and no value: the value is hidden and of the empty type.
    Keys,
}

impl Compact {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compact::Static => "static",
            Compact::Dense => "dense",
            Compact::Keys => "keys",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Compact> {
        [Compact::Static, Compact::Dense, Compact::Keys].into_iter().find(|compact| compact.name() == name)
    }
}

impl Table {
    /// Whether statements cannot name this column.
    pub fn hides(&self, column: &Column) -> bool {
        match self.compact {
            Some(Compact::Static) => matches!(column.kind, ColumnKind::Clustering | ColumnKind::Regular),
            Some(Compact::Keys) => column.kind == ColumnKind::Regular,
            Some(Compact::Dense) | None => false,
        }
    }

    /// Whether a row is there only while it has values: INSERT leaves no marker of its own.
    pub fn has_no_row_markers(&self) -> bool {
        self.compact == Some(Compact::Dense)
    }

    /// The flags that `system_schema.tables` shows, in order.
    pub fn flags(&self) -> Vec<&'static str> {
        let compound = match self.compact {
            None => true,
            Some(Compact::Static) => false,
            Some(Compact::Dense | Compact::Keys) => self.clustering.len() > 1,
        };
        let dense = matches!(self.compact, Some(Compact::Dense | Compact::Keys));
        let all = [("compound", compound), ("counter", self.is_counter()), ("dense", dense)];
        all.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag).collect()
    }
}

/// What COMPACT STORAGE does not take, said before anything else of the columns.
pub(crate) fn check_columns(columns: &[&NewColumn]) -> Result<(), CompactFault> {
    if columns.iter().any(|column| column.data_type.is_multi_cell()) {
        return Err(CompactFault::Collections);
    }
    if columns.iter().any(|column| column.is_static) {
        return Err(CompactFault::Statics);
    }
    Ok(())
}

/// Makes a table that was built as CQL says into a compact one.
pub(crate) fn lay_out(table: &mut Table) -> Result<(), CompactFault> {
    let is_counter = table.is_counter();
    if table.clustering.is_empty() {
        if table.regulars.is_empty() {
            return Err(CompactFault::NoValue);
        }
        table.statics = std::mem::take(&mut table.regulars);
        table.statics.iter_mut().for_each(|column| column.kind = ColumnKind::Static);
        let name = unused(table, (1..).map(|number| format!("column{number}")));
        let clustering = hidden(table, name, DataType::Text, ColumnKind::Clustering);
        table.clustering.push(clustering);
        let value_type = if is_counter { DataType::Counter } else { DataType::Blob };
        let name = unused(table, value_names());
        let value = hidden(table, name, value_type, ColumnKind::Regular);
        table.regulars.push(value);
        table.compact = Some(Compact::Static);
        return Ok(());
    }
    match table.regulars.as_slice() {
        [] => {
            let name = unused(table, value_names());
            let value = hidden(table, name, DataType::Empty, ColumnKind::Regular);
            table.regulars.push(value);
            table.compact = Some(Compact::Keys);
            Ok(())
        }
        [_] => {
            table.compact = Some(Compact::Dense);
            Ok(())
        }
        several => {
            let names = several.iter().map(|column| column.name.to_string()).collect();
            Err(CompactFault::SeveralValues { columns: names })
        }
    }
}

fn value_names() -> impl Iterator<Item = String> {
    std::iter::once("value".to_string()).chain((1..).map(|number| format!("value{number}")))
}

fn unused(table: &Table, mut names: impl Iterator<Item = String>) -> String {
    let taken = |name: &String| table.all_columns().any(|column| *column.name == **name);
    names.find(|name| !taken(name)).unwrap_or_default()
}

fn hidden(table: &mut Table, name: String, data_type: DataType, kind: ColumnKind) -> Column {
    let id = table.next_column_id;
    table.next_column_id += 1;
    Column {
        id,
        name: name.into(),
        data_type,
        kind,
        position: 0,
        descending: false,
        mask: None,
        checks: Vec::new(),
    }
}
