//! GetItem, Query and Scan of a table of CQL.

use super::super::answer::Consumed;
use super::super::table::OpenTable;
use super::super::{Caller, Dynamo, query_error};
use super::{Row, item_of, key_bytes};
use crate::capacity::{self, Consistency};
use crate::error::ApiError;
use crate::expression::{KeyRange, KeyTest};
use crate::json::{self, Writer};
use crate::messages::Rule;
use crate::request::{GetItem, Query, ReadOptions, ReturnCapacity, Scan, Segment, Select};
use crate::size;
use crate::value::{Item, Value};
use model::types::DataType;
use query::ColumnSpec;
use query::expr::Expr;
use query::restrict::{
    ClusteringRestriction, Item as Bound, PartitionRestriction, RangeBound, Restrictions, Step, Terms,
    TokenRange, TupleRange,
};
use query::select::{CellPlace, Input, Output, PagingState, SelectParts, SelectPlan, SequenceState, Source};
use schema::{Column, ColumnKind, Table};
use std::sync::Arc;
use store::{Position, Store};

/// What one page looks at, at most.
const PAGE_BYTES: usize = 1 << 20;
/// Rows of one page when there is no Limit.
const PAGE_ROWS: u32 = 10_000;

/// A page of a Query or Scan as it is put together.
#[derive(Default)]
struct Page {
    items: Vec<u8>,
    count: usize,
    scanned: usize,
    bytes: usize,
    last: Option<Item>,
}

impl<S: Store> Dynamo<S> {
    pub(super) async fn cql_get(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        get: &GetItem,
    ) -> Result<Vec<u8>, ApiError> {
        let item = self.cql_item(caller, open, &get.key).await?;
        caller.items.set(u64::from(item.is_some()));
        let bytes = item.as_ref().map_or(0, size::item);
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        if let Some(item) = &item {
            match &get.projection {
                Some(projection) => object.item("Item", &projection.apply(item)),
                None => object.item("Item", item),
            }
        }
        let consistency = if get.consistent { Consistency::Strong } else { Consistency::Eventual };
        if get.return_capacity != ReturnCapacity::None {
            let consumed = Consumed::table(open, capacity::read(bytes, consistency));
            consumed.write(&mut object, get.return_capacity);
        }
        object.end();
        Ok(out)
    }

    /// The row with this key, as an item.
    pub(in super::super) async fn cql_item(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        key: &Item,
    ) -> Result<Option<Item>, ApiError> {
        open.definition.key_of_request(key)?;
        let row = self.cql_row(caller, open, key).await?;
        Ok(row.map(|row| item_of(&open.table, &row)))
    }

    /// The row with this key.
    pub(super) async fn cql_row(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        key: &Item,
    ) -> Result<Option<Row>, ApiError> {
        let plan = select(row_restrictions(&open.table, key)?, false);
        let context = self.context(self.plain_request(caller));
        let rows = query::select::execute(&plan, &context).await.map_err(query_error)?;
        Ok(rows.values().next().map(owned))
    }

    pub(super) async fn cql_query(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        query: &Query,
    ) -> Result<Vec<u8>, ApiError> {
        check(open, &query.read)?;
        let range = query.key_condition.bind(&open.definition.key, None)?;
        let table = &open.table;
        let descending = table.clustering.first().is_some_and(|column| column.descending);
        let restrictions = query_restrictions(table, &range)?;
        let plan = select(restrictions, query.forward == descending);
        self.cql_page(caller, open, &plan, &query.read).await
    }

    pub(super) async fn cql_scan(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        scan: &Scan,
    ) -> Result<Vec<u8>, ApiError> {
        check(open, &scan.read)?;
        let partitions = PartitionRestriction::Range(segment_of(scan.segment));
        let clustering = ClusteringRestriction::default();
        let restrictions = Restrictions { table: open.table.clone(), partitions, clustering };
        self.cql_page(caller, open, &select(restrictions, false), &scan.read).await
    }

    async fn cql_page(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        plan: &SelectPlan,
        read: &ReadOptions,
    ) -> Result<Vec<u8>, ApiError> {
        let mut after = match &read.start_key {
            None => None,
            Some(start) => Some(paging_state(open, start)?),
        };
        let mut page = Page::default();
        loop {
            let mut request = self.plain_request(caller);
            let left = read.limit.map_or(PAGE_ROWS, |limit| limit - page.scanned as u32);
            request.page_size = Some(left);
            request.result_bytes_max = Some(PAGE_BYTES);
            request.paging_state = after.as_deref();
            let context = self.context(request);
            let rows = query::select::execute(plan, &context).await.map_err(query_error)?;
            for row in rows.values() {
                page.take(open, read, &owned(row));
                if page.bytes >= PAGE_BYTES {
                    break;
                }
            }
            let full =
                page.bytes >= PAGE_BYTES || read.limit.is_some_and(|limit| page.scanned >= limit as usize);
            after = rows.paging_state.filter(|_| !full);
            if after.is_none() {
                page.last = page.last.filter(|_| full);
                break;
            }
        }
        caller.items.set(page.count as u64);
        Ok(answer(open, read, &page))
    }
}

/// What no page of such a table can be.
fn check(open: &OpenTable, read: &ReadOptions) -> Result<(), ApiError> {
    if let Some(index) = &read.index {
        return Err(Rule::NoSuchIndex.refuse(&[index]));
    }
    if let Some(start) = &read.start_key
        && !open.definition.is_start_key(None, start)
    {
        return Err(Rule::StartKeyInvalid.refuse(&[]));
    }
    if let Some(filter) = &read.filter {
        open.definition.check_condition(filter)?;
    }
    read.projection.as_ref().map_or(Ok(()), |projection| open.definition.check_projection(projection))
}

impl Page {
    fn take(&mut self, open: &OpenTable, read: &ReadOptions, row: &Row) {
        let item = item_of(&open.table, row);
        self.scanned += 1;
        self.bytes += size::item(&item);
        self.last = Some(open.definition.key_attributes(&item));
        if read.filter.as_ref().is_some_and(|filter| !filter.holds(Some(&item))) {
            return;
        }
        self.count += 1;
        if read.select == Select::Count {
            return;
        }
        if !self.items.is_empty() {
            self.items.push(b',');
        }
        match &read.projection {
            Some(projection) => json::write_item(&projection.apply(&item), &mut self.items),
            None => json::write_item(&item, &mut self.items),
        }
    }
}

fn answer(open: &OpenTable, read: &ReadOptions, page: &Page) -> Vec<u8> {
    let mut out = Vec::with_capacity(page.items.len() + 128);
    let mut object = Writer::object(&mut out);
    if read.select != Select::Count {
        let list = object.key("Items");
        list.push(b'[');
        list.extend_from_slice(&page.items);
        list.push(b']');
    }
    object.integer("Count", page.count as i64);
    object.integer("ScannedCount", page.scanned as i64);
    if let Some(last) = &page.last {
        object.item("LastEvaluatedKey", last);
    }
    let consistency = if read.consistent { Consistency::Strong } else { Consistency::Eventual };
    let consumed = Consumed::table(open, capacity::read(page.bytes, consistency));
    consumed.write(&mut object, read.return_capacity);
    object.end();
    out
}

fn owned(row: Vec<Option<&[u8]>>) -> Row {
    row.into_iter().map(|value| value.map(<[u8]>::to_vec)).collect()
}

/// All columns of the rows that are wanted.
fn select(restrictions: Restrictions, reverse: bool) -> SelectPlan {
    let table = restrictions.table.clone();
    let source = |column: &Column| match column.kind {
        ColumnKind::PartitionKey => Source::PartitionKey(column.position),
        ColumnKind::Clustering => Source::Clustering(column.position),
        ColumnKind::Static | ColumnKind::Regular => Source::Cell(CellPlace {
            column: column.id,
            is_static: column.kind == ColumnKind::Static,
            data_type: column.data_type.clone(),
        }),
    };
    let input = |column: &Column| Input { source: source(column), data_type: column.data_type.clone() };
    let spec = |column: &Column| ColumnSpec {
        keyspace: table.keyspace.clone(),
        table: table.name.clone(),
        name: column.name.clone(),
        data_type: column.data_type.clone(),
    };
    let mut plan = SelectPlan::new(SelectParts {
        columns: table.columns().map(spec).collect(),
        restrictions,
        filters: Vec::new(),
        inputs: table.columns().map(input).collect(),
        output: Output::Slots((0..table.columns().count()).collect()),
    });
    plan.static_rows = false;
    plan.reverse = reverse;
    plan
}

fn constant(column: &Column, bytes: Vec<u8>) -> Expr {
    Expr::constant(column.data_type.clone(), bytes)
}

/// The one row with a key.
pub(super) fn row_restrictions(table: &Arc<Table>, key: &Item) -> Result<Restrictions, ApiError> {
    let term =
        |column: &Column| Ok::<_, ApiError>(Terms::one(constant(column, key_bytes(table, column, key)?)));
    let columns = table.partition_key.iter().map(term).collect::<Result<_, _>>()?;
    let step = |column: &Column| Ok::<_, ApiError>(Step { columns: 1, terms: term(column)? });
    let steps = table.clustering.iter().map(step).collect::<Result<_, _>>()?;
    Ok(Restrictions {
        table: table.clone(),
        partitions: PartitionRestriction::Keys { columns, tokens: TokenRange::default() },
        clustering: ClusteringRestriction { steps, range: None },
    })
}

/// The rows that key conditions name.
fn query_restrictions(table: &Arc<Table>, range: &KeyRange) -> Result<Restrictions, ApiError> {
    let expr = |column: &Column, value: &Value| {
        let mut key = Item::new();
        key.insert(&*column.name, value.clone());
        Ok::<_, ApiError>(constant(column, key_bytes(table, column, &key)?))
    };
    let mut columns = Vec::new();
    for (column, value) in table.partition_key.iter().zip(&range.hash) {
        columns.push(Terms::one(expr(column, value)?));
    }
    let mut clustering = ClusteringRestriction::default();
    for (column, value) in table.clustering.iter().zip(&range.sort_equal) {
        clustering.steps.push(Step { columns: 1, terms: Terms::one(expr(column, value)?) });
    }
    if let (Some(test), Some(column)) = (&range.sort_test, table.clustering.first()) {
        let bound = |value: &Value, inclusive: bool| {
            let item = Bound::Parts(vec![expr(column, value)?]);
            Ok::<_, ApiError>(Some(RangeBound { columns: 1, item, inclusive, null_is_least: false }))
        };
        let (start, end) = match test {
            KeyTest::Equal(value) => (bound(value, true)?, bound(value, true)?),
            KeyTest::Less(value) => (None, bound(value, false)?),
            KeyTest::LessOrEqual(value) => (None, bound(value, true)?),
            KeyTest::Greater(value) => (bound(value, false)?, None),
            KeyTest::GreaterOrEqual(value) => (bound(value, true)?, None),
            KeyTest::Between(low, high) => (bound(low, true)?, bound(high, true)?),
            KeyTest::BeginsWith(prefix) => {
                let end = behind_prefix(column, prefix)?;
                let end = end.map(|end| bound(&end, false)).transpose()?.flatten();
                (bound(prefix, true)?, end)
            }
        };
        clustering.range = Some(TupleRange { start, end, except: Vec::new() });
    }
    let partitions = PartitionRestriction::Keys { columns, tokens: TokenRange::default() };
    Ok(Restrictions { table: table.clone(), partitions, clustering })
}

/// The least value above all that begin with a prefix; `None`: there is none.
fn behind_prefix(column: &Column, prefix: &Value) -> Result<Option<Value>, ApiError> {
    match (&column.data_type, prefix) {
        (DataType::Text | DataType::Ascii, Value::S(text)) => {
            let mut chars: Vec<char> = text.chars().collect();
            let last = if column.data_type == DataType::Ascii { '\u{7f}' } else { char::MAX };
            while let Some(end) = chars.pop() {
                if end < last {
                    let next = (end as u32 + 1..=last as u32).find_map(char::from_u32);
                    chars.extend(next);
                    return Ok(Some(Value::S(chars.into_iter().collect())));
                }
            }
            Ok(None)
        }
        (DataType::Blob, Value::B(bytes)) => {
            let mut bytes = bytes.clone();
            while let Some(end) = bytes.pop() {
                if end < 0xff {
                    bytes.push(end + 1);
                    return Ok(Some(Value::B(bytes)));
                }
            }
            Ok(None)
        }
        _ => Err(ApiError::validation(format!(
            "begins_with needs text or bytes, and the column {} of the CQL table has the type {}",
            column.name, column.data_type
        ))),
    }
}

/// An even part of the ring.
fn segment_of(segment: Option<Segment>) -> TokenRange {
    let Some(Segment { number, total }) = segment else { return TokenRange::default() };
    let bound = |number: u32, inclusive: bool| {
        let place = (u128::from(number) << 64) / u128::from(total.max(1));
        let token = (place as i128 + i128::from(i64::MIN)) as i64;
        (Expr::constant(DataType::BigInt, token.to_be_bytes().to_vec()), inclusive)
    };
    TokenRange {
        start: (number > 0).then(|| bound(number, true)),
        end: (number + 1 < total).then(|| bound(number + 1, false)),
    }
}

/// Behind the row with this key.
fn paging_state(open: &OpenTable, start: &Item) -> Result<Vec<u8>, ApiError> {
    let table = &open.table;
    let bytes = |column: &Column| key_bytes(table, column, start);
    let partition = table.partition_key.iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
    let clustering = table.clustering.iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
    let key = query::key::partition_key(table, &partition).map_err(query_error)?;
    let clustering = query::key::clustering_key(table, &clustering).map_err(query_error)?;
    let state = SequenceState {
        position: Position { key, clustering: Some(clustering) },
        rows_met: true,
        limit_left: None,
        partition_left: None,
    };
    Ok(PagingState::Sequence(state).encode(table.id))
}
