//! What people say about parts of a schema: comments and security labels. The comment of a table is its option `comment`.

use crate::keyspace::Keyspace;

/// What a note is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteTarget {
    Keyspace,
    Table(String),
    Column(String, String),
    Type(String),
    Field(String, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    Comment,
    SecurityLabel,
}

/// One note; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub target: NoteTarget,
    pub kind: NoteKind,
    pub text: String,
}

impl NoteTarget {
    /// Whether the keyspace has such a thing.
    pub fn is_in(&self, keyspace: &Keyspace) -> bool {
        match self {
            NoteTarget::Keyspace => true,
            NoteTarget::Table(table) => keyspace.table(table).is_some(),
            NoteTarget::Column(table, column) => {
                keyspace.table(table).is_some_and(|t| t.column(column).is_some())
            }
            NoteTarget::Type(name) => keyspace.types.contains_key(name.as_str()),
            NoteTarget::Field(name, field) => {
                keyspace.types.get(name.as_str()).is_some_and(|udt| udt.field_index(field).is_some())
            }
        }
    }
}

impl Keyspace {
    /// Sets, replaces or (without a text) removes a note.
    pub(crate) fn set_note(&mut self, target: &NoteTarget, kind: NoteKind, text: Option<&str>) {
        let place = self.notes.iter().position(|note| note.target == *target && note.kind == kind);
        match (place, text) {
            (Some(place), Some(text)) => self.notes[place].text = text.to_string(),
            (Some(place), None) => {
                self.notes.remove(place);
            }
            (None, Some(text)) => {
                self.notes.push(Note { target: target.clone(), kind, text: text.to_string() })
            }
            (None, None) => {}
        }
    }

    /// The same keyspace, with notes on columns of a table that have other names now.
    pub(crate) fn with_renamed_columns(&self, table: &str, renames: &[(String, String)]) -> Keyspace {
        let mut keyspace = self.clone();
        for note in &mut keyspace.notes {
            if let NoteTarget::Column(of, column) = &mut note.target
                && of == table
                && let Some((_, to)) = renames.iter().find(|(from, _)| from == column)
            {
                *column = to.clone();
            }
        }
        keyspace
    }

    /// Forgets notes about what is no longer there.
    pub(crate) fn without_stale_notes(mut self) -> Keyspace {
        if !self.notes.is_empty() {
            let mut notes = std::mem::take(&mut self.notes);
            notes.retain(|note| note.target.is_in(&self));
            self.notes = notes;
        }
        self
    }
}
