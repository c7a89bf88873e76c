//! Query and Scan: one page of a table or an index.
//!
//! Items are filtered and written as JSON while the store delivers them, straight from the stored bytes where nothing has to be
//! computed. A page ends with the item that brings what was looked at to 1 MiB, or after Limit items.

use super::answer::Consumed;
use super::counting::ENTRIES_PER_TURN;
use super::item::{one_row, write_projected};
use super::layout::{self, Place, STORE_COLUMN, internal};
use super::table::OpenTable;
use super::{Caller, Dynamo, store_error};
use crate::capacity::{self, Consistency};
use crate::document::Document;
use crate::error::ApiError;
use crate::expression::{Condition, KeyRange, Projection};
use crate::json::{self, Writer};
use crate::messages::Rule;
use crate::messages::java_order;
use crate::partiql::Columns;
use crate::request::{Query, ReadOptions, Scan, Segment, Select};
use crate::table::{Index, IndexKind, IndexProjection, IndexStatus};
use crate::value::Item;
use database::grants::Permission;
use model::key::PartitionKey;
use model::row::RowView;
use store::{Flow, Partitions, Position, Read, ReadEnd, Sink, Slice, Store, TableId};

/// What one page looks at, at most.
const PAGE_BYTES: usize = 1 << 20;

/// What the answer to a Query or Scan begins with: items are written behind it, so that a page is not copied to become an answer.
pub(super) const BEGINNING: &[u8] = b"{\"Items\":[";

/// Where a page is read from.
pub(super) struct Source<'t> {
    table: &'t OpenTable,
    index: Option<&'t Index>,
    store: TableId,
    column: u32,
    /// Attributes are wanted that a local index does not hold: items come from the table.
    fetches: bool,
    /// Of what was fetched only for the filter, just the index's attributes are shown.
    shows_projected: bool,
}

/// What a page is to be.
pub(super) struct Plan<'p> {
    pub source: &'p Source<'p>,
    pub partitions: Partitions,
    pub slice: Slice,
    pub reverse: bool,
    pub after: Option<Place>,
    pub filter: Option<&'p Condition>,
    pub projection: Option<&'p Projection>,
    /// What a statement shows of an item, instead of the projection.
    pub columns: Option<&'p Columns>,
    pub limit: Option<u32>,
    pub count_only: bool,
}

/// A page that was read.
#[derive(Default)]
pub(super) struct Page {
    /// The answer as far as it is written: [`BEGINNING`], then items as JSON with commas between them. Empty where only a count is wanted.
    pub items: Vec<u8>,
    pub count: usize,
    pub scanned: usize,
    pub bytes: usize,
    /// After which item the next page begins, if there may be one.
    pub last: Option<Item>,
    /// Sizes of items that had to be fetched from the table.
    pub fetched: Vec<usize>,
}

impl<S: Store> Dynamo<S> {
    pub(super) async fn query(&self, caller: &Caller<'_>, query: &Query) -> Result<Vec<u8>, ApiError> {
        let table = self.open_for_keys(caller, Permission::Select, &query.read.table)?;
        let page = self.query_page(caller, &table, query, None).await?;
        Ok(self.page_answer(caller, &table, &query.read, page))
    }

    pub(super) async fn query_page(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        query: &Query,
        columns: Option<&Columns>,
    ) -> Result<Page, ApiError> {
        let source = self.source(table, &query.read, Rule::VectorIndexQuery)?;
        let schema = source.index.map_or(&table.definition.key, |index| &index.key);
        if let Some(start) = &query.read.start_key
            && !table.definition.is_start_key(source.index, start)
        {
            return Err(Rule::StartKeyInvalid.refuse(&[]));
        }
        let range = query.key_condition.bind(schema, query.read.index.as_deref())?;
        let (partitions, slice) = range_of(&range)?;
        self.admit_read(caller, table, source.index, &partitions)?;
        let after = match &query.read.start_key {
            None => None,
            Some(start) => Some(start_of_query(&source, &range, &partitions, &slice, start)?),
        };
        check_paths(table, &query.read)?;
        if let Some(filter) = query.read.filter.as_ref().filter(|_| !query.of_statement) {
            table.definition.check_filter(source.index, filter, query.read.legacy_filter)?;
        }
        check_projected(&source, &query.read, !query.of_statement)?;
        self.throttle_read(caller, table)?;
        let one_row = source.index.is_none() && range.sort_equal.len() == schema.sort.len();
        let plan = Plan {
            source: &source,
            partitions,
            slice,
            reverse: !query.forward,
            after,
            filter: query.read.filter.as_ref(),
            projection: query.read.projection.as_ref(),
            columns,
            limit: query.read.limit,
            count_only: query.read.select == Select::Count,
        };
        let mut page = self.read_page(caller, &plan).await?;
        if one_row {
            // Nothing can follow, and the service would refuse to go on from here.
            page.last = None;
        }
        Ok(page)
    }

    pub(super) async fn scan(&self, caller: &Caller<'_>, scan: &Scan) -> Result<Vec<u8>, ApiError> {
        let table = self.open_for(caller, Permission::Select, &scan.read.table)?;
        let page = self.scan_page(caller, &table, scan, None).await?;
        Ok(self.page_answer(caller, &table, &scan.read, page))
    }

    pub(super) async fn scan_page(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        scan: &Scan,
        columns: Option<&Columns>,
    ) -> Result<Page, ApiError> {
        let source = self.source(table, &scan.read, Rule::VectorIndexScan)?;
        self.admit_read(caller, table, source.index, &Partitions::all())?;
        check_paths(table, &scan.read)?;
        let partitions = segment_of(scan.segment);
        let after = match &scan.read.start_key {
            None => None,
            Some(start) => Some(start_of_scan(&source, &partitions, scan.segment, start)?),
        };
        check_projected(&source, &scan.read, false)?;
        self.throttle_read(caller, table)?;
        let plan = Plan {
            source: &source,
            partitions,
            slice: Slice::all(),
            reverse: false,
            after,
            filter: scan.read.filter.as_ref(),
            projection: scan.read.projection.as_ref(),
            columns,
            limit: scan.read.limit,
            count_only: scan.read.select == Select::Count,
        };
        self.read_page(caller, &plan).await
    }

    /// What is read, if it may be read so.
    fn source<'t>(
        &self,
        table: &'t OpenTable,
        read: &ReadOptions,
        vector: Rule,
    ) -> Result<Source<'t>, ApiError> {
        let whole = Source {
            table,
            index: None,
            store: table.id,
            column: table.column,
            fetches: false,
            shows_projected: false,
        };
        let Some(name) = &read.index else { return Ok(whole) };
        if table.definition.vector_index(name).is_some() {
            return Err(vector.refuse(&[]));
        }
        let (index, store) = table.index(name).ok_or_else(|| Rule::NoSuchIndex.refuse(&[name]))?;
        let source = Source { index: Some(index), store, column: STORE_COLUMN, ..whole };
        let projected = |name: &str| table.definition.projects(index, name);
        let unprojected: Vec<&str> = read
            .projection
            .iter()
            .flat_map(|projection| &projection.paths)
            .map(|path| path.name.as_str())
            .filter(|name| !projected(name))
            .collect();
        let mut filtered = Vec::new();
        if let Some(filter) = &read.filter {
            filter.paths(&mut |path| filtered.push(path.name.as_str()));
        }
        filtered.retain(|name| !projected(name));
        if index.kind == IndexKind::Global {
            if read.consistent && !self.shared.settings.extensions {
                return Err(Rule::ConsistentGlobal.refuse(&[]));
            }
            if index.status == IndexStatus::Creating {
                return Err(Rule::BackfillingIndex.refuse(&[name]));
            }
        }
        if index.kind == IndexKind::Local {
            let all = read.select == Select::AllAttributes && index.projection != IndexProjection::All;
            let fetches = all || !unprojected.is_empty() || !filtered.is_empty();
            let shows_projected = fetches && !all && read.projection.is_none();
            return Ok(Source { fetches, shows_projected, ..source });
        }
        Ok(source)
    }

    pub(super) async fn read_page(&self, caller: &Caller<'_>, plan: &Plan<'_>) -> Result<Page, ApiError> {
        let now_seconds = caller.now_seconds();
        let after = plan.after.clone();
        let mut read = Read {
            reverse: plan.reverse,
            after: after.map(|place| Position { key: place.key, clustering: Some(place.clustering) }),
            scan_limit: ENTRIES_PER_TURN,
            ..Read::of(plan.source.store, plan.partitions.clone(), vec![plan.slice.clone()], now_seconds)
        };
        let mut page = Page::default();
        if !plan.count_only {
            page.items = self.spare.take();
            page.items.extend_from_slice(BEGINNING);
        }
        if plan.slice.is_empty() {
            return Ok(page);
        }
        let mut reader = Reader { plan, now_seconds, page, kept: Vec::new(), fault: None };
        loop {
            match self.runtime.store.read(&read, &mut reader).await.map_err(store_error)?.end {
                ReadEnd::Paused(position) => read.after = Some(position),
                ReadEnd::Complete | ReadEnd::Stopped => break,
            }
            tokio::task::yield_now().await;
        }
        if let Some(fault) = reader.fault {
            return Err(fault);
        }
        let (mut page, kept) = (reader.page, reader.kept);
        for entry in kept {
            self.fetch(caller, plan, &entry, &mut page).await?;
        }
        Ok(page)
    }

    /// Takes the item of an entry from the table.
    async fn fetch(
        &self,
        caller: &Caller<'_>,
        plan: &Plan<'_>,
        entry: &[u8],
        page: &mut Page,
    ) -> Result<(), ApiError> {
        let table = plan.source.table;
        let entry = crate::document::decode(entry).map_err(internal)?;
        let Some(key) = table.definition.stored_key(&entry) else { return Ok(()) };
        let read = one_row(table.id, &layout::item_place(&key)?, caller.now_seconds());
        let mut whole =
            WholeDocument { column: table.column, now_seconds: caller.now_seconds(), found: None };
        self.runtime.store.read(&read, &mut whole).await.map_err(store_error)?;
        // Deleted since the entry was read.
        let Some(found) = whole.found else { return Ok(()) };
        let document = Document::new(&found).map_err(internal)?;
        page.fetched.push(document.size());
        page.take(plan, &document)
    }

    fn page_answer(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        read: &ReadOptions,
        mut page: Page,
    ) -> Vec<u8> {
        caller.items.set(page.count as u64);
        let mut out = std::mem::take(&mut page.items);
        let mut object = match read.select {
            Select::Count => Writer::object(&mut out),
            _ => {
                debug_assert!(out.starts_with(BEGINNING));
                out.push(b']');
                Writer::within(&mut out)
            }
        };
        object.integer("Count", page.count as i64);
        object.integer("ScannedCount", page.scanned as i64);
        if let Some(last) = &page.last {
            object.item("LastEvaluatedKey", last);
        }
        self.page_consumed(table, read, &page).write(&mut object, read.return_capacity);
        object.end();
        out
    }

    /// What a page cost; it is charged here.
    pub(super) fn page_consumed(&self, table: &OpenTable, read: &ReadOptions, page: &Page) -> Consumed {
        let consistency = if read.consistent { Consistency::Strong } else { Consistency::Eventual };
        let units = capacity::read(page.bytes, consistency);
        self.charge_read(table, units);
        let mut consumed = match &read.index {
            None => Consumed::table(table, units),
            Some(index) => Consumed::index(table, index, units),
        };
        consumed.units += page.fetched.iter().map(|size| capacity::read(*size, consistency)).sum::<f64>();
        consumed
    }
}

/// What is asked of an index must be in it; the last check of a read. A Query refuses a filter that the index cannot answer;
/// a Scan of a local index looks into the table.
fn check_projected(source: &Source<'_>, read: &ReadOptions, is_query: bool) -> Result<(), ApiError> {
    let Some(index) = source.index else { return Ok(()) };
    let lacks = |name: &&str| !source.table.definition.projects(index, name);
    if let Some(filter) = read.filter.as_ref().filter(|_| is_query) {
        let mut filtered: Vec<&str> = Vec::new();
        filter.paths(&mut |path| filtered.push(path.name.as_str()));
        filtered.retain(|name| lacks(name));
        filtered.sort_unstable();
        filtered.dedup();
        if !filtered.is_empty() {
            return Err(Rule::FilterNotProjected.refuse(&[&index.name, &filtered.join(", ")]));
        }
    }
    if index.kind == IndexKind::Local {
        return Ok(());
    }
    if read.select == Select::AllAttributes && index.projection != IndexProjection::All {
        return Err(Rule::SelectAllNotProjected.refuse(&[&index.name]));
    }
    let paths = read.projection.iter().flat_map(|projection| &projection.paths).rev();
    let unprojected: Vec<&str> = paths.map(|path| path.name.as_str()).filter(lacks).collect();
    if !unprojected.is_empty() {
        return Err(Rule::IndexDoesNotProject.refuse(&[&index.name, &java_order(&unprojected).join(", ")]));
    }
    Ok(())
}

/// The partition and rows that key conditions name.
pub(super) fn range_of(range: &KeyRange) -> Result<(Partitions, Slice), ApiError> {
    let hash: Vec<&[u8]> = range.hash.iter().map(|value| value.key_bytes().unwrap_or_default()).collect();
    let slice = layout::slice(&range.sort_equal, range.sort_test.as_ref());
    Ok((Partitions::One(layout::partition(&hash)?), slice))
}

/// An even part of the ring.
fn segment_of(segment: Option<Segment>) -> Partitions {
    let Some(Segment { number, total }) = segment else { return Partitions::all() };
    let bound = |number: u32| {
        let place = (u128::from(number) << 64) / u128::from(total.max(1));
        (place as u64).to_be_bytes().to_vec()
    };
    let end = if number + 1 >= total { Vec::new() } else { bound(number + 1) };
    let start = if number == 0 { Vec::new() } else { bound(number) };
    Partitions::Range { start, end }
}

/// Where an item that a start key names lies, or lay.
fn place_of(source: &Source<'_>, start: &Item) -> Result<Place, ApiError> {
    let definition = &source.table.definition;
    let invalid = || Rule::StartKeyInvalid.refuse(&[]);
    let key = definition.stored_key(start).ok_or_else(invalid)?;
    match source.index {
        None => layout::item_place(&key),
        Some(index) => {
            let entry = definition.index_entry(index, start).ok_or_else(invalid)?;
            layout::entry_place(&entry.hash, &entry.sort, &key)
        }
    }
}

fn start_of_query(
    source: &Source<'_>,
    range: &KeyRange,
    partitions: &Partitions,
    slice: &Slice,
    start: &Item,
) -> Result<Place, ApiError> {
    let place = place_of(source, start)?;
    if source.index.is_none() {
        if source.table.definition.key.sort.is_empty() {
            return Err(Rule::StartKeyHashOnly.refuse(&[]));
        }
        if !range.sort_equal.is_empty() {
            return Err(Rule::StartKeyOneRow.refuse(&[]));
        }
    }
    if *partitions != Partitions::One(place.key.clone()) {
        return Err(Rule::StartKeyOutside.refuse(&[]));
    }
    if !slice.contains(&place.clustering) {
        return Err(Rule::StartKeyPredicate.refuse(&[]));
    }
    Ok(place)
}

fn start_of_scan(
    source: &Source<'_>,
    partitions: &Partitions,
    segment: Option<Segment>,
    start: &Item,
) -> Result<Place, ApiError> {
    if !source.table.definition.is_start_key(source.index, start) {
        return Err(Rule::StartKeyInvalidSchema.refuse(&[]));
    }
    let place = place_of(source, start)?;
    if let (Partitions::Range { start, end }, Some(segment)) = (partitions, segment) {
        let prefix = place.key.prefix();
        if prefix < start.as_slice() || !(end.is_empty() || prefix < end.as_slice()) {
            return Err(ApiError::validation(format!(
                "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct \
                 Segment. TotalSegments: {} Segment: {}",
                segment.total, segment.number
            )));
        }
    }
    Ok(place)
}

/// Keys are scalars: no path leads into one.
fn check_paths(table: &OpenTable, read: &ReadOptions) -> Result<(), ApiError> {
    if let Some(filter) = &read.filter {
        table.definition.check_condition(filter)?;
    }
    read.projection.as_ref().map_or(Ok(()), |projection| table.definition.check_projection(projection))
}

impl Page {
    /// Adds an item if it passes the filter.
    fn take(&mut self, plan: &Plan<'_>, document: &Document<'_>) -> Result<(), ApiError> {
        let mut decoded = None;
        if let Some(filter) = plan.filter {
            let item = document.decode().map_err(internal)?;
            if !filter.holds(Some(&item)) {
                return Ok(());
            }
            decoded = Some(item);
        }
        self.count += 1;
        if plan.count_only {
            return Ok(());
        }
        if self.count > 1 {
            self.items.push(b',');
        }
        if let Some(columns) = plan.columns {
            let item = decoded.map_or_else(|| document.decode().map_err(internal), Ok)?;
            json::write_item(&columns.apply(&item), &mut self.items);
            return Ok(());
        }
        if plan.source.shows_projected
            && let Some(index) = plan.source.index
        {
            let item = decoded.map_or_else(|| document.decode().map_err(internal), Ok)?;
            json::write_item(&plan.source.table.definition.projected(index, &item), &mut self.items);
            return Ok(());
        }
        match (decoded, plan.projection) {
            (Some(item), Some(projection)) => json::write_item(&projection.apply(&item), &mut self.items),
            (Some(item), None) => json::write_item(&item, &mut self.items),
            (None, projection) => write_projected(document, projection, &mut self.items)?,
        }
        Ok(())
    }
}

struct Reader<'p> {
    plan: &'p Plan<'p>,
    now_seconds: u32,
    page: Page,
    /// Entries whose items are still to be fetched.
    kept: Vec<Vec<u8>>,
    fault: Option<ApiError>,
}

impl Reader<'_> {
    fn look(&mut self, row: &RowView<'_>) -> Result<Flow, ApiError> {
        let source = self.plan.source;
        let bytes = layout::document_bytes(row, source.column, self.now_seconds).unwrap_or_default();
        let document = Document::new(bytes).map_err(internal)?;
        self.page.scanned += 1;
        self.page.bytes += document.size();
        match source.fetches {
            true => self.kept.push(bytes.to_vec()),
            false => self.page.take(self.plan, &document)?,
        }
        let full = self.page.bytes >= PAGE_BYTES
            || self.plan.limit.is_some_and(|limit| self.page.scanned >= limit as usize);
        if !full {
            return Ok(Flow::Continue);
        }
        let item = document.decode().map_err(internal)?;
        self.page.last = Some(source.table.definition.last_evaluated_key(source.index, &item));
        Ok(Flow::Stop)
    }
}

impl Sink for Reader<'_> {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        self.look(&row).unwrap_or_else(|fault| {
            self.fault = Some(fault);
            Flow::Stop
        })
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// The stored bytes of one item.
pub(super) struct WholeDocument {
    pub column: u32,
    pub now_seconds: u32,
    pub found: Option<Vec<u8>>,
}

impl Sink for WholeDocument {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        self.found = layout::document_bytes(&row, self.column, self.now_seconds).map(<[u8]>::to_vec);
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
