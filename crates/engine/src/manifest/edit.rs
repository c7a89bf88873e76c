//! Edits of the manifest and the state they add up to (layout: docs/format/manifest.md).

use crate::log::NO_BALLOT;
use model::token::Token;
use model::vint;
use std::collections::BTreeMap;
use store::TableId;

/// Names a file of a table for ever; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u64);

/// What the manifest knows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    pub id: FileId,
    pub table: TableId,
    pub incarnation: u32,
    /// Tokens of its first and last partition: they decide which shard owns it.
    pub first_token: Token,
    pub last_token: Token,
    pub bytes: u64,
    /// Nothing in the file came from a later log segment.
    pub log_max: u64,
    /// For the compaction strategy; opaque here.
    pub details: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Add(FileRecord),
    Remove(FileId),
    /// Segments before this one are not needed any more.
    LogBegins(u64),
    /// No ballot above this one was given to a commit that is no longer in the log.
    Ballot(i64),
    /// No file has this number or a larger one.
    NextFile(u64),
    /// Whether everything is in files, so that no log is needed, not even an empty one.
    Closed(bool),
    /// One of these is in force, as [`fingerprint`](crate::database::catalogue::fingerprint) tells catalogues apart. Several while one is being replaced.
    Catalogues(Vec<u64>),
}

const ADD: u8 = 1;
const REMOVE: u8 = 2;
const LOG_BEGINS: u8 = 3;
const BALLOT: u8 = 4;
const NEXT_FILE: u8 = 5;
const CLOSED: u8 = 6;
const CATALOGUES: u8 = 7;

/// Files and segments are counted from 1, and nobody lives long enough to see this many.
pub const COUNT_MAX: u64 = 1 << 62;

impl Edit {
    /// The number that later ones are counted on from.
    fn counts_to(&self) -> u64 {
        match self {
            Edit::Add(file) => file.id.0.max(file.log_max),
            Edit::Remove(id) => id.0,
            Edit::LogBegins(number) | Edit::NextFile(number) => *number,
            Edit::Ballot(_) | Edit::Closed(_) | Edit::Catalogues(_) => 0,
        }
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Edit::Add(file) => {
                out.push(ADD);
                vint::put(out, file.id.0);
                vint::put(out, u64::from(file.table.0));
                vint::put(out, u64::from(file.incarnation));
                out.extend_from_slice(&file.first_token.to_ordered_bytes());
                out.extend_from_slice(&file.last_token.to_ordered_bytes());
                vint::put(out, file.bytes);
                vint::put(out, file.log_max);
                vint::put_slice(out, &file.details);
            }
            Edit::Remove(id) => {
                out.push(REMOVE);
                vint::put(out, id.0);
            }
            Edit::LogBegins(segment) => {
                out.push(LOG_BEGINS);
                vint::put(out, *segment);
            }
            Edit::Ballot(ballot) => {
                out.push(BALLOT);
                vint::put_signed(out, *ballot);
            }
            Edit::NextFile(id) => {
                out.push(NEXT_FILE);
                vint::put(out, *id);
            }
            Edit::Closed(closed) => out.extend_from_slice(&[CLOSED, u8::from(*closed)]),
            Edit::Catalogues(known) => {
                out.push(CATALOGUES);
                vint::put(out, known.len() as u64);
                known.iter().for_each(|one| out.extend_from_slice(&one.to_le_bytes()));
            }
        }
    }

    pub fn take(rest: &mut &[u8]) -> Option<Edit> {
        let (&tag, tail) = rest.split_first()?;
        *rest = tail;
        Some(match tag {
            ADD => Edit::Add(FileRecord {
                id: FileId(vint::take(rest)?),
                table: TableId(vint::take_u32(rest)?),
                incarnation: vint::take_u32(rest)?,
                first_token: take_token(rest)?,
                last_token: take_token(rest)?,
                bytes: vint::take(rest)?,
                log_max: vint::take(rest)?,
                details: vint::take_slice(rest)?.to_vec(),
            }),
            REMOVE => Edit::Remove(FileId(vint::take(rest)?)),
            LOG_BEGINS => Edit::LogBegins(vint::take(rest)?),
            BALLOT => Edit::Ballot(vint::take_signed(rest)?),
            NEXT_FILE => Edit::NextFile(vint::take(rest)?),
            CLOSED => Edit::Closed(vint::take(rest)? == 1),
            CATALOGUES => {
                let count = vint::take(rest)?;
                Edit::Catalogues((0..count).map(|_| take_word(rest)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}

fn take_token(rest: &mut &[u8]) -> Option<Token> {
    let (bytes, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(Token::from_ordered_bytes(*bytes))
}

fn take_word(rest: &mut &[u8]) -> Option<u64> {
    let (bytes, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(u64::from_le_bytes(*bytes))
}

/// The sum of all edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestState {
    pub files: BTreeMap<FileId, FileRecord>,
    pub log_begins: u64,
    pub ballot: i64,
    pub next_file: u64,
    pub closed: bool,
    /// Fingerprints of catalogues, one of which is in force; empty in a database that never recorded any.
    pub catalogues: Vec<u64>,
}

impl Default for ManifestState {
    fn default() -> ManifestState {
        ManifestState {
            files: BTreeMap::new(),
            log_begins: 1,
            ballot: NO_BALLOT,
            next_file: 1,
            closed: false,
            catalogues: Vec::new(),
        }
    }
}

impl ManifestState {
    /// `Err` names the rule an edit breaks; a manifest with such an edit is damaged.
    pub fn apply(&mut self, edit: &Edit) -> Result<(), &'static str> {
        if edit.counts_to() > COUNT_MAX {
            return Err("a number is larger than any that was ever given");
        }
        match edit {
            Edit::Add(file) => {
                if file.first_token > file.last_token {
                    return Err("a file's tokens are out of order");
                }
                self.next_file = self.next_file.max(file.id.0 + 1);
                if self.files.insert(file.id, file.clone()).is_some() {
                    return Err("a file is added twice");
                }
            }
            Edit::Remove(id) => {
                if self.files.remove(id).is_none() {
                    return Err("a file is removed that is not there");
                }
            }
            Edit::LogBegins(segment) => self.log_begins = self.log_begins.max(*segment),
            Edit::Ballot(ballot) => self.ballot = self.ballot.max(*ballot),
            Edit::NextFile(id) => self.next_file = self.next_file.max(*id),
            Edit::Closed(closed) => self.closed = *closed,
            Edit::Catalogues(known) => self.catalogues.clone_from(known),
        }
        Ok(())
    }

    /// Edits that make this state from nothing.
    pub fn edits(&self) -> Vec<Edit> {
        assert!(self.files.iter().all(|(id, file)| *id == file.id && id.0 < self.next_file));
        let scalars = [
            Edit::LogBegins(self.log_begins),
            Edit::Ballot(self.ballot),
            Edit::NextFile(self.next_file),
            Edit::Closed(self.closed),
        ];
        let catalogues = (!self.catalogues.is_empty()).then(|| Edit::Catalogues(self.catalogues.clone()));
        let scalars = scalars.into_iter().chain(catalogues);
        scalars.chain(self.files.values().cloned().map(Edit::Add)).collect()
    }
}
