//! What a write makes of an item: the check of its condition, the new item, and every row that changes with it.
//!
//! Pure: runs as the decision of a transaction, on whichever shard owns the rows. Entries of indexes and records of the stream are
//! part of the same commit.

use super::layout::{self, Place, STORE_COLUMN, internal};
use super::record;
use super::table::OpenTable;
use crate::capacity::{self, IndexChange};
use crate::document;
use crate::error::ApiError;
use crate::expression::{Condition, Update};
use crate::messages::Rule;
use crate::size;
use crate::table::{PrimaryKey, TableDefinition};
use crate::value::Item;
use model::row::{RowView, RowWriter};
use std::sync::Arc;
use store::{Decide, Moment, Mutation, StoreError, WantedRow};

/// What is to be done to one item.
#[derive(Clone, Debug)]
pub enum Change {
    Put(Item),
    Update {
        key: Item,
        update: Update,
    },
    Delete(Item),
    /// Only the condition is checked.
    Check(Item),
}

impl Change {
    /// The key of the item.
    pub fn key(&self, definition: &TableDefinition) -> Item {
        match self {
            Change::Put(item) => definition.key_attributes(item),
            Change::Update { key, .. } | Change::Delete(key) | Change::Check(key) => key.clone(),
        }
    }
}

/// A write of one item, with what it needs to know.
#[derive(Clone, Debug)]
pub struct Write {
    pub table: Arc<OpenTable>,
    pub place: Place,
    pub change: Change,
    pub condition: Option<Condition>,
    /// The caller wants the old item whatever happens.
    pub wants_old: bool,
    /// The old item is wanted when the condition fails.
    pub item_on_failure: bool,
    /// The server itself does it, because the item has expired.
    pub by_expiry: bool,
}

/// What a write found and did.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Present if the write needed it.
    pub old: Option<Item>,
    pub new: Option<Item>,
    pub updated_old: Item,
    pub updated_new: Item,
    pub old_size: Option<usize>,
    pub new_size: Option<usize>,
    /// Units of each index that changed, by its place in the definition.
    pub index_units: Vec<(usize, f64)>,
}

impl Written {
    pub fn table_units(&self) -> f64 {
        capacity::write(self.old_size.unwrap_or(0), self.new_size.unwrap_or(0))
    }

    pub fn count(&self, table: &OpenTable) {
        let items = i64::from(self.new_size.is_some()) - i64::from(self.old_size.is_some());
        let bytes = self.new_size.unwrap_or(0) as i64 - self.old_size.unwrap_or(0) as i64;
        table.counts.count(items, bytes);
    }
}

/// Why a write was not done.
#[derive(Clone, Debug)]
pub enum Refused {
    /// With the old item if it was asked for and there is one.
    Condition {
        old: Option<Item>,
    },
    Invalid(ApiError),
    /// The table has changed meanwhile: look it up again, and try this again.
    Stale(Change),
}

impl Write {
    pub fn new(
        table: &Arc<OpenTable>,
        change: Change,
        condition: Option<Condition>,
    ) -> Result<Write, ApiError> {
        let place = match &change {
            Change::Put(item) => layout::item_place(&table.definition.key_of_item(item)?)?,
            Change::Update { key, .. } | Change::Delete(key) | Change::Check(key) => {
                layout::item_place(&table.definition.key_of_request(key)?)?
            }
        };
        match &change {
            Change::Put(item) => table.definition.check_index_keys(item, false)?,
            Change::Update { update, .. } => table.definition.check_update(update)?,
            Change::Delete(_) | Change::Check(_) => {}
        }
        if let Some(condition) = &condition {
            table.definition.check_condition(condition)?;
        }
        let table = table.clone();
        let (wants_old, item_on_failure, by_expiry) = (false, false, false);
        Ok(Write { table, place, change, condition, wants_old, item_on_failure, by_expiry })
    }

    pub fn wanted(&self) -> WantedRow {
        WantedRow {
            table: self.table.id,
            key: self.place.key.clone(),
            clustering: self.place.clustering.clone(),
        }
    }

    /// A put that nothing looks at needs to know no more of the old item than its size.
    fn needs_old(&self) -> bool {
        self.wants_old
            || self.condition.is_some()
            || self.table.stream.is_some()
            || !self.table.indexes.is_empty()
            || matches!(self.change, Change::Update { .. })
    }

    /// Judges the write against the row as it is, and adds what it changes to the mutations. `nth` of the transaction's writes.
    pub fn decide(
        self,
        row: Option<RowView<'_>>,
        moment: Moment,
        nth: u16,
        mutations: &mut Vec<Mutation>,
    ) -> Result<Written, Refused> {
        if self.table.is_stale() || self.table.counts.copying.is_beginning() {
            return Err(Refused::Stale(self.change));
        }
        let invalid = Refused::Invalid;
        let stored = row.and_then(|row| layout::document_bytes(&row, self.table.column, moment.now_seconds));
        let stored = stored.map(document::Document::new).transpose().map_err(|e| invalid(internal(e)))?;
        let old_size = stored.as_ref().map(|stored| stored.size());
        let mut old = None;
        if self.needs_old() {
            old = stored.map(|stored| stored.decode()).transpose().map_err(|e| invalid(internal(e)))?;
        }
        if self.condition.as_ref().is_some_and(|condition| !condition.holds(old.as_ref())) {
            let old = old.filter(|_| self.item_on_failure);
            return Err(Refused::Condition { old });
        }
        let mut written = Written { old_size, ..Written::default() };
        let definition = &self.table.definition;
        match self.change {
            Change::Check(_) => {
                written.new_size = old_size;
                written.old = old;
                return Ok(written);
            }
            Change::Put(item) => written.new = Some(item),
            Change::Delete(_) => {}
            Change::Update { key, update } => {
                let updated = update.apply(old.as_ref(), &key).map_err(invalid)?;
                definition.check_index_keys(&updated.item, true).map_err(invalid)?;
                written.updated_old = updated.updated_old;
                written.updated_new = updated.updated_new;
                written.new = Some(updated.item);
            }
        }
        let encoded = written.new.as_ref().map(document::encode);
        written.new_size =
            encoded.as_deref().and_then(|bytes| document::Document::new(bytes).ok()).map(|d| d.size());
        debug_assert_eq!(written.new_size, written.new.as_ref().map(size::item));
        if written.new_size.is_some_and(|size| size > size::ITEM_MAX) {
            return Err(invalid(Rule::ItemSizeToUpdate.refuse(&[])));
        }
        written.old = old;
        // What changes nothing needs no commit, and makes no record.
        let unchanged = match (&encoded, row) {
            (None, None) => true,
            (Some(new), Some(row)) => {
                layout::document_bytes(&row, self.table.column, moment.now_seconds) == Some(new)
            }
            _ => false,
        };
        if unchanged {
            return Ok(written);
        }
        if let (Some(row), Some(document)) =
            (&row, row.and_then(|row| layout::document_bytes(&row, self.table.column, moment.now_seconds)))
        {
            mutations.extend(self.table.counts.copying.copy(&self.place, row, document));
        }
        let effects = Effects { table: &self.table, moment, nth, by_expiry: self.by_expiry };
        effects.add(&self.place, encoded, &mut written, mutations).map_err(invalid)?;
        Ok(written)
    }
}

struct Effects<'t> {
    table: &'t OpenTable,
    moment: Moment,
    nth: u16,
    by_expiry: bool,
}

impl Effects<'_> {
    fn add(
        &self,
        place: &Place,
        encoded: Option<Vec<u8>>,
        written: &mut Written,
        mutations: &mut Vec<Mutation>,
    ) -> Result<(), ApiError> {
        let Moment { ballot, now_seconds, .. } = self.moment;
        let mut writer = RowWriter::with_capacity(encoded.as_ref().map_or(0, Vec::len) + 32);
        match &encoded {
            Some(document) => layout::document_row(&mut writer, ballot, self.table.column, document),
            None => layout::deleted_row(&mut writer, ballot, now_seconds),
        }
        let mut mutation = Mutation::new(self.table.id, place.key.clone());
        mutation.row(&place.clustering, writer.view());
        mutations.push(mutation);
        let definition = &self.table.definition;
        for (nth, (index, store)) in definition.indexes.iter().zip(&self.table.indexes).enumerate() {
            let entry = |item: Option<&Item>| -> Result<Option<Entry>, ApiError> {
                let Some(item) = item else { return Ok(None) };
                let Some(key) = definition.stored_key(item) else { return Ok(None) };
                definition.index_entry(index, item).map(|entry| Entry::of(entry, &key)).transpose()
            };
            let (old, new) = (entry(written.old.as_ref())?, entry(written.new.as_ref())?);
            if old == new {
                continue;
            }
            let sizes = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.size);
            let moved = matches!((&old, &new), (Some(old), Some(new)) if old.place != new.place);
            let change = if moved { IndexChange::Moved } else { IndexChange::Changed };
            written.index_units.push((nth, capacity::index_write(sizes(&old), sizes(&new), change)));
            if let Some(old) = old.filter(|old| new.as_ref().is_none_or(|new| new.place != old.place)) {
                layout::deleted_row(&mut writer, ballot, now_seconds);
                let mut mutation = Mutation::new(*store, old.place.key);
                mutation.row(&old.place.clustering, writer.view());
                mutations.push(mutation);
            }
            if let Some(new) = new {
                layout::document_row(&mut writer, ballot, STORE_COLUMN, &new.document);
                let mut mutation = Mutation::new(*store, new.place.key);
                mutation.row(&new.place.clustering, writer.view());
                mutations.push(mutation);
            }
        }
        if let (Some(stream), Some(store)) = (definition.enabled_stream(), self.table.stream) {
            let images = record::Images { old: written.old.as_ref(), new: written.new.as_ref() };
            let mutation = record::mutation(
                store,
                definition,
                stream.view,
                images,
                self.moment,
                self.nth,
                self.by_expiry,
            );
            mutations.push(mutation);
        }
        Ok(())
    }
}

/// An entry of an index as it is stored.
#[derive(PartialEq)]
pub struct Entry {
    pub place: Place,
    pub document: Vec<u8>,
    pub size: usize,
}

impl Entry {
    pub fn of(entry: crate::table::IndexEntry, key: &PrimaryKey<'_>) -> Result<Entry, ApiError> {
        let place = layout::entry_place(&entry.hash, &entry.sort, key)?;
        Ok(Entry { place, document: document::encode(&entry.item), size: size::item(&entry.item) })
    }
}

/// One item by itself.
pub struct WriteOne(pub Write);

impl Decide for WriteOne {
    type Outcome = Result<Written, Refused>;

    fn decide(
        self,
        rows: &[Option<RowView<'_>>],
        moment: Moment,
    ) -> Result<(Self::Outcome, Vec<Mutation>), StoreError> {
        let mut mutations = Vec::new();
        let row = rows.first().copied().flatten();
        let outcome = self.0.decide(row, moment, 0, &mut mutations);
        if outcome.is_err() {
            mutations.clear();
        }
        Ok((outcome, mutations))
    }
}

/// Several items, all or nothing; the first row is that of the client's token if there is one.
pub struct WriteAll {
    pub token: Option<super::token::Token>,
    pub writes: Vec<Write>,
    /// Another action was refused already: these are only judged, for their reasons.
    pub judge_only: bool,
}

/// What became of a transaction.
pub enum Decided {
    Done(Vec<Written>),
    /// Each write's own outcome.
    Cancelled(Vec<Result<Written, Refused>>),
    /// The token was used for the same actions before: nothing is done again. With the sizes of the items as they are.
    Replayed(Vec<usize>),
    /// The token was used for other actions.
    Mismatch,
    Stale,
}

impl Decide for WriteAll {
    type Outcome = Decided;

    fn decide(
        self,
        rows: &[Option<RowView<'_>>],
        moment: Moment,
    ) -> Result<(Decided, Vec<Mutation>), StoreError> {
        let mut rows = rows.iter().copied();
        let mut mutations = Vec::new();
        if let Some(token) = self.token {
            let seen = rows.next().flatten();
            match seen.and_then(|row| token.digest_of(&row, moment.now_seconds)) {
                Some(digest) if digest == token.digest => {
                    let size = |(write, row): (&Write, Option<RowView<'_>>)| {
                        let row = row?;
                        let bytes = layout::document_bytes(&row, write.table.column, moment.now_seconds)?;
                        document::Document::new(bytes).ok().map(|document| document.size())
                    };
                    let sizes = self.writes.iter().zip(rows).map(|pair| size(pair).unwrap_or(0)).collect();
                    return Ok((Decided::Replayed(sizes), Vec::new()));
                }
                Some(_) => return Ok((Decided::Mismatch, Vec::new())),
                None => mutations.push(token.mutation(moment)),
            }
        }
        let mut outcomes = Vec::with_capacity(self.writes.len());
        for (nth, (write, row)) in self.writes.into_iter().zip(rows).enumerate() {
            outcomes.push(write.decide(row, moment, nth as u16, &mut mutations));
        }
        if outcomes.iter().any(|outcome| matches!(outcome, Err(Refused::Stale(_)))) {
            return Ok((Decided::Stale, Vec::new()));
        }
        if self.judge_only || outcomes.iter().any(Result::is_err) {
            return Ok((Decided::Cancelled(outcomes), Vec::new()));
        }
        let done = outcomes.into_iter().filter_map(Result::ok).collect();
        Ok((Decided::Done(done), mutations))
    }
}
