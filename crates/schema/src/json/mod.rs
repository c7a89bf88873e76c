//! The catalogue as JSON: readable, with a format number; what a store keeps and gives back on open.
//!
//! Only what users own is written: user keyspaces whole, and of the replicated system keyspaces their settings,
//! table options and incarnations (their columns are fixed in code). A text that cannot be read gives an error that
//! says where.

mod document;
mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::catalogue::Catalogue;
use document::Document;
use std::fmt;

/// The newest format that is read. Raised when a text that an older server would misread becomes possible.
pub(crate) const FORMAT: u32 = 9;

/// What is written when there are projections that follow later, sorted indexes or tombstones that are held, and neither rows that expire
/// as a whole nor lists of vectors.
pub(crate) const FORMAT_WITH_COPIES: u32 = 8;

/// What is written when there are totals or buckets that spill, no projections that follow later, and no tombstones are held.
pub(crate) const FORMAT_WITH_TOTALS: u32 = 7;

/// What is written when there are constraints, buckets, limits, tenants or functions, and neither totals nor buckets that spill.
pub(crate) const FORMAT_WITH_RULES: u32 = 6;

/// What is written when there are tables of other dialects or projections, and nothing newer.
pub(crate) const FORMAT_WITH_DIALECTS: u32 = 5;

/// What is written when nothing in the catalogue needs more, so that an older server can be gone back to.
pub(crate) const PLAIN_FORMAT: u32 = 1;

/// What is written when there are views and no tables of other dialects.
pub(crate) const FORMAT_WITH_VIEWS: u32 = 4;

/// What is written when there are indexes and no views.
pub(crate) const FORMAT_WITH_INDEXES: u32 = 2;

/// Why a stored catalogue cannot be opened. An operator reads it when a server starts; no statement is answered with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage(String);

impl Damage {
    pub fn new(what: impl Into<String>) -> Damage {
        Damage(what.into())
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Damage {}

impl Catalogue {
    /// The text that [`Catalogue::from_json`] reads back.
    pub fn to_json(&self) -> Vec<u8> {
        self.to_json_of_node(None)
    }

    /// The same with the node's identity beside the schema: what a server stores.
    pub fn to_json_of_node(&self, host_id: Option<[u8; 16]>) -> Vec<u8> {
        let mut document = write::document(self);
        document.host_id = host_id.map(|id| model::timeuuid::format(&id));
        // Serialising plain structs with string keys cannot fail.
        serde_json::to_vec_pretty(&document).unwrap_or_default()
    }

    /// The text without what is not schema to a driver: incarnations, and whether indexes and views are built.
    pub(crate) fn to_json_for_version(&self) -> Vec<u8> {
        let mut document = write::document(self);
        document.forget_progress();
        serde_json::to_vec(&document).unwrap_or_default()
    }

    /// Reads a catalogue that was written by [`Catalogue::to_json`]. System keyspaces come back with whatever was
    /// written of them: the dialect merges them with its own definitions.
    pub fn from_json(text: &[u8]) -> Result<Catalogue, Damage> {
        Ok(Catalogue::from_json_of_node(text)?.0)
    }

    /// Reads what [`Catalogue::to_json_of_node`] wrote.
    pub fn from_json_of_node(text: &[u8]) -> Result<(Catalogue, Option<[u8; 16]>), Damage> {
        let damaged = |fault: String| Damage(format!("the stored catalogue is damaged: {fault}"));
        let head: document::Head = serde_json::from_slice(text).map_err(|e| damaged(e.to_string()))?;
        if head.format > FORMAT {
            return Err(Damage(format!(
                "the stored catalogue has format {}, this server reads up to {FORMAT}: it was written by a newer \
                 server",
                head.format
            )));
        }
        let document: Document = serde_json::from_slice(text).map_err(|e| damaged(e.to_string()))?;
        let host_id = document.host_id.as_deref().map(|text| {
            model::timeuuid::parse(text).ok_or_else(|| damaged(format!("host_id: {text} is not a uuid")))
        });
        let host_id = host_id.transpose()?;
        let catalogue = read::catalogue(document).map_err(damaged)?;
        catalogue.check().map_err(damaged)?;
        Ok((catalogue, host_id))
    }
}
