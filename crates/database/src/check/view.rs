//! Views: every row of the table has its row, and every row of the view comes from one.

use super::rows::{self, seen};
use super::sums::{Side, Sums};
use super::{Check, Drift, LOOKS_MAX, stage_of, totals};
use crate::builds::Page;
use crate::view;
use model::comparable;
use model::deletion::Deletion;
use model::key::{KIND_ROW, PartitionKey, composite_part};
use model::row::{KEY_AS_WRITTEN, RowView, RowWriter, written_values};
use query::QueryError;
use schema::{Column, ColumnKind, Table};
use std::sync::Arc;
use store::view::{BaseRow, NOTHING_EXPIRED, ViewConfig, ViewPlace, ViewStamp};
use store::{
    Commit, ConditionalCommit, GroupsConfig, Mutation, PartitionCheck, RowCheck, RowPosition, Slice, Store,
    TableId,
};

/// The table, the view, and what makes one of the other.
struct Pair {
    base: Arc<Table>,
    view: Arc<Table>,
    config: ViewConfig,
    /// Of the rows of a members table, those of this list.
    list: Option<u8>,
}

/// Where a row is.
#[derive(Clone, Debug, PartialEq)]
struct Spot {
    key: PartitionKey,
    clustering: Vec<u8>,
}

pub(super) async fn run<S: Store>(check: &mut Check<'_, S>) -> Result<(), QueryError> {
    let mut sums = Sums::new();
    add_up(check, &mut sums, Side::Definition).await?;
    add_up(check, &mut sums, Side::Copy).await?;
    if sums.any_differs() {
        follow_table(check, &mut sums).await?;
        follow_copy(check, &mut sums).await?;
    }
    match pairs(check)?.groups {
        Some(_) => totals::run(check).await,
        None => Ok(()),
    }
}

/// Reads the table, or the copy, and counts what it makes or has.
async fn add_up<S: Store>(check: &mut Check<'_, S>, sums: &mut Sums, side: Side) -> Result<(), QueryError> {
    let mut after = None;
    loop {
        let pairs = pairs(check)?;
        let Some(view) = pairs.of.first().map(|pair| TableId(pair.view.id)) else { return Ok(()) };
        let table = if side == Side::Definition { TableId(pairs.base.id) } else { view };
        let (page, next) =
            rows::page(check.store, table, after, check.job.rows_max(), check.now_seconds).await?;
        for (spot, row) in rows_of(&page) {
            let Some(row) = RowView::from_payload(row) else { continue };
            if side == Side::Definition {
                check.report.rows += 1;
                let made =
                    pairs.of.iter().filter_map(|pair| expected(pair, &spot, Some(row), check.now_seconds));
                made.for_each(|(place, content)| note(sums, side, &place, &content));
                continue;
            }
            // Of totals the rows are the groups, which are looked at later.
            check.report.copies += u64::from(pairs.groups.is_none());
            if pairs.of_row(&spot).is_some_and(|pair| base_of(pair, &spot, row).is_some()) {
                note(sums, side, &spot, &seen(row, check.now_seconds));
            }
        }
        let stage = if side == Side::Definition { 0 } else { 1 };
        let read = if side == Side::Definition { page.read() } else { (0, page.bytes_read()) };
        check.page_done(read, next.as_ref().map(|next| stage_of(next.key.token().0, stage))).await?;
        if next.is_none() {
            return Ok(());
        }
        after = next;
    }
}

fn note(sums: &mut Sums, side: Side, place: &Spot, content: &Content) {
    let Some(content) = content else { return };
    let columns: Vec<[u8; 4]> = content.iter().map(|(column, ..)| column.to_be_bytes()).collect();
    let cells = content.iter().zip(&columns).flat_map(|((_, path, value), column)| {
        // No path and an empty one are two things.
        let has_path: &[u8] = if path.is_some() { &[1] } else { &[] };
        [&column[..], has_path, path.as_deref().unwrap_or_default(), value]
    });
    sums.note(side, [place.key.bytes(), &place.clustering], cells);
}

/// Looks at the rows of the table whose places in the copy may differ.
async fn follow_table<S: Store>(check: &mut Check<'_, S>, sums: &mut Sums) -> Result<(), QueryError> {
    let mut after = None;
    loop {
        let pairs = pairs(check)?;
        let table = TableId(pairs.base.id);
        let (page, next) =
            rows::page(check.store, table, after, check.job.rows_max(), check.now_seconds).await?;
        for (base, row) in rows_of(&page) {
            let Some(row) = RowView::from_payload(row) else { continue };
            for pair in &pairs.of {
                if let Some((place, expected)) = expected(pair, &base, Some(row), check.now_seconds)
                    && sums.differs([place.key.bytes(), &place.clustering])
                    && actual(check, pair, &place).await? != expected
                {
                    judge(check, pair, base.clone(), place).await?;
                }
            }
        }
        let read = (0, page.bytes_read());
        check.page_done(read, next.as_ref().map(|next| stage_of(next.key.token().0, 2))).await?;
        if next.is_none() {
            return Ok(());
        }
        after = next;
    }
}

/// Looks at the rows of the copy that may differ.
async fn follow_copy<S: Store>(check: &mut Check<'_, S>, sums: &mut Sums) -> Result<(), QueryError> {
    let mut after = None;
    loop {
        let pairs = pairs(check)?;
        let Some(table) = pairs.of.first().map(|pair| TableId(pair.view.id)) else { return Ok(()) };
        let (page, next) =
            rows::page(check.store, table, after, check.job.rows_max(), check.now_seconds).await?;
        for (place, row) in rows_of(&page) {
            if !sums.differs([place.key.bytes(), &place.clustering]) {
                continue;
            }
            let Some(pair) = pairs.of_row(&place) else { continue };
            let Some(row) = RowView::from_payload(row) else { continue };
            let Some(base) = base_of(pair, &place, row) else { continue };
            let source = rows::row(
                check.store,
                TableId(pair.base.id),
                &base.key,
                Some(&base.clustering),
                check.now_seconds,
            )
            .await?;
            let source = source.as_deref().and_then(RowView::from_payload);
            let made = expected(pair, &base, source, check.now_seconds).map(|(place, _)| place);
            if made.as_ref() != Some(&place) {
                judge(check, pair, base, place).await?;
            }
        }
        let read = (0, page.bytes_read());
        check.page_done(read, next.as_ref().map(|next| stage_of(next.key.token().0, 3))).await?;
        if next.is_none() {
            return Ok(());
        }
        after = next;
    }
}

/// What a view is compared with; of a projection with totals one pair per list of members.
struct Pairs {
    base: Arc<Table>,
    of: Vec<Pair>,
    groups: Option<GroupsConfig>,
}

impl Pairs {
    /// The pair that a row of the copy belongs to.
    fn of_row(&self, place: &Spot) -> Option<&Pair> {
        let list = match &self.groups {
            Some(groups) => Some(groups.group_of(&place.clustering)?.1),
            None => None,
        };
        self.of.iter().find(|pair| pair.list == list)
    }
}

fn pairs<S: Store>(check: &Check<'_, S>) -> Result<Pairs, QueryError> {
    let (base, view) = copy(check)?;
    let configs = view::configs_of(&base, &view).map_err(|why| view::unkeepable(&view, why))?;
    let groups = query::view::groups_config(&base, &view);
    let pair = |view: Arc<Table>, config: ViewConfig, list| Pair { base: base.clone(), view, config, list };
    let of = match groups.is_some() {
        false => configs.into_iter().map(|config| pair(view.clone(), config, None)).collect(),
        true => {
            let lists = view.member_lists(&base).into_iter().map(Arc::new);
            let lists = lists.zip(configs).zip(0..);
            lists.map(|((view, config), list)| pair(view, config, Some(list))).collect()
        }
    };
    Ok(Pairs { base, of, groups })
}

/// The table and the copy, as they are now.
pub(super) fn copy<S: Store>(check: &Check<'_, S>) -> Result<(Arc<Table>, Arc<Table>), QueryError> {
    let (_, catalogue) = check.shared.load();
    let base = check.base(&catalogue)?;
    let place = catalogue.keyspace(&check.keyspace).ok_or_else(|| check.gone())?;
    let view = place.views_of(&base).find(|view| view.id == check.id).cloned().ok_or_else(|| check.gone())?;
    Ok((base, view))
}

/// The clustered rows of a page.
fn rows_of(page: &Page) -> Vec<(Spot, &[u8])> {
    let mut rows = Vec::new();
    for partition in &page.rows {
        for entry in partition.entries() {
            if let Some((&KIND_ROW, clustering)) = entry.position.split_first() {
                let spot = Spot { key: partition.key.clone(), clustering: clustering.to_vec() };
                rows.push((spot, entry.payload));
            }
        }
    }
    rows
}

type Content = Option<Vec<(u32, Option<Vec<u8>>, Vec<u8>)>>;

/// Where the view has the row and what a reader sees there; `None`: the view does not have it.
fn expected(pair: &Pair, base: &Spot, row: Option<RowView<'_>>, now_seconds: u32) -> Option<(Spot, Content)> {
    let base = BaseRow { key: &base.key, clustering: &base.clustering, row: row? };
    let place = pair.config.place(base)?;
    let image = image(pair, base, &place, ViewStamp { timestamp: 2, replaces: true, now_seconds });
    let content = seen(image.view(), now_seconds)?;
    Some((Spot { key: place.key, clustering: place.clustering }, Some(content)))
}

fn image(pair: &Pair, base: BaseRow<'_>, place: &ViewPlace, stamp: ViewStamp) -> RowWriter {
    let mut image = RowWriter::new();
    pair.config.image(base, place, stamp, &mut image);
    image
}

async fn actual<S: Store>(check: &Check<'_, S>, pair: &Pair, place: &Spot) -> Result<Content, QueryError> {
    let table = TableId(pair.view.id);
    let row = rows::row(check.store, table, &place.key, Some(&place.clustering), check.now_seconds).await?;
    Ok(row.as_deref().and_then(RowView::from_payload).and_then(|row| seen(row, check.now_seconds)))
}

/// Looks at a row of the table and a place of the view together, until they agree or stay at odds; then mends it if that is wanted.
async fn judge<S: Store>(
    check: &mut Check<'_, S>,
    pair: &Pair,
    base: Spot,
    place: Spot,
) -> Result<(), QueryError> {
    let found = match pair.view.later() {
        None => together(check, pair, &base, &place, Vec::new()).await?.found,
        Some(_) => caught_up(check, pair, &base, &place).await?,
    };
    let Some((drift, wanted)) = found else { return Ok(()) };
    let mut is_mended = false;
    if check.repair && pair.view.later().is_some() && drift != Drift::Extra {
        // As if the row had been written again; where it is in the copy is stored again too.
        let mut touching = Mutation::new(TableId(pair.base.id), base.key.clone());
        touching.touch(Slice::one(&base.clustering));
        check.store.commit(Commit { mutations: vec![touching], now_seconds: check.now_seconds }).await?;
        is_mended = caught_up(check, pair, &base, &place).await?.is_none();
    } else if check.repair {
        let mut wanted = wanted;
        // Others may write the row between the look and the repair: then it is looked at again.
        for _ in 0..LOOKS_MAX {
            let mutation = repair(pair, &place, wanted.take(), check.now_seconds);
            together(check, pair, &base, &place, vec![mutation]).await?;
            match together(check, pair, &base, &place, Vec::new()).await?.found {
                None => {
                    is_mended = true;
                    break;
                }
                Some((_, again)) => wanted = again,
            }
        }
    }
    check.report.note(drift, &base.key, is_mended);
    Ok(())
}

type Found = Option<(Drift, Option<(Spot, Vec<u8>)>)>;

/// What was seen at one moment.
struct Look {
    /// What is wrong, with the row of the table if the place should have it.
    found: Found,
    /// The row of the table.
    source: Option<Vec<u8>>,
}

/// The same for a projection that follows later: what is wrong although it has followed every write to the row. The row is read before and
/// after the look for pending entries. If it is the same and nothing is pending, nothing was pending at the moment of the look either.
async fn caught_up<S: Store>(
    check: &Check<'_, S>,
    pair: &Pair,
    base: &Spot,
    place: &Spot,
) -> Result<Found, QueryError> {
    let Some(later) = pair.view.later() else { return Ok(None) };
    let pending = TableId(later.pending);
    // A row that is written again and again cannot be judged; it is in step each time, by the same rule as all others.
    for _ in 0..LOOKS_MAX {
        check.store.caught_up(pending).await?;
        let table = TableId(pair.base.id);
        let before =
            rows::row(check.store, table, &base.key, Some(&base.clustering), check.now_seconds).await?;
        if rows::any(check.store, pending, &base.key, NOTHING_EXPIRED).await? {
            continue;
        }
        let look = together(check, pair, base, place, Vec::new()).await?;
        if look.source == before {
            return Ok(look.found);
        }
    }
    Ok(None)
}

/// What is wrong at a place of the view, seen at one moment, with the row of the table as it was then if the place should have it.
/// The mutations are committed at the end of that moment, above everything that the view has there.
async fn together<S: Store>(
    check: &Check<'_, S>,
    pair: &Pair,
    base: &Spot,
    place: &Spot,
    mutations: Vec<Mutation>,
) -> Result<Look, QueryError> {
    let row = |clustering: &[u8], table: &Table| RowCheck {
        position: RowPosition::Row(clustering.to_vec()),
        exists: None,
        conditions: Vec::new(),
        columns: table.living_columns(),
    };
    let mut further = vec![PartitionCheck {
        table: TableId(pair.view.id),
        key: place.key.clone(),
        checks: vec![row(&place.clustering, &pair.view)],
    }];
    // Keeps the one that follows later from following while we look.
    further.extend(pair.view.later().map(|later| PartitionCheck {
        table: TableId(later.places),
        key: base.key.clone(),
        checks: Vec::new(),
    }));
    let commit = ConditionalCommit {
        table: TableId(pair.base.id),
        key: base.key.clone(),
        checks: vec![row(&base.clustering, &pair.base)],
        further,
        mutations,
        provisional_timestamp: PROVISIONAL,
        now_seconds: check.now_seconds,
    };
    let outcome = check.store.commit_if(commit).await?;
    let seen_there = outcome.rows.first().and_then(|row| row.row.clone());
    let source = seen_there.as_deref().and_then(RowView::from_payload);
    let copy = outcome.further.first().and_then(|partition| partition.rows.first());
    let copy = copy.and_then(|row| row.row.as_deref()).and_then(RowView::from_payload);
    let copy = copy.and_then(|row| seen(row, check.now_seconds));
    let made = expected(pair, base, source, check.now_seconds).filter(|(at, _)| at == place);
    let wanted = || Some((base.clone(), source?.to_payload()));
    let found = match (made, copy) {
        (None, None) => None,
        (None, Some(_)) => Some((Drift::Extra, None)),
        (Some(_), None) => Some((Drift::Missing, wanted())),
        (Some((_, made)), copy) if made == copy => None,
        (Some(_), Some(_)) => Some((Drift::Stale, wanted())),
    };
    Ok(Look { found, source: seen_there })
}

/// The store moves it to its ballot.
pub(super) const PROVISIONAL: i64 = 1 << 40;

/// Puts what the table makes at a place, or nothing, over whatever is there.
fn repair(pair: &Pair, place: &Spot, wanted: Option<(Spot, Vec<u8>)>, now_seconds: u32) -> Mutation {
    let mut mutation = Mutation::new(TableId(pair.view.id), place.key.clone());
    let mut nothing = RowWriter::new();
    let deletion = Deletion { timestamp: PROVISIONAL, local_seconds: now_seconds };
    nothing.begin(PROVISIONAL, None, deletion);
    let source = wanted.as_ref().and_then(|(base, row)| {
        Some(BaseRow { key: &base.key, clustering: &base.clustering, row: RowView::from_payload(row)? })
    });
    let stamp = ViewStamp { timestamp: PROVISIONAL, replaces: true, now_seconds };
    let made = source.and_then(|base| Some(image(pair, base, &pair.config.place(base)?, stamp)));
    mutation.row(&place.clustering, made.as_ref().unwrap_or(&nothing).view());
    mutation
}

/// The row of the table that a row of the view comes from: the view's key holds all of its key.
fn base_of(pair: &Pair, place: &Spot, row: RowView<'_>) -> Option<Spot> {
    let written = row.cells().find(|cell| cell.column == KEY_AS_WRITTEN).and_then(|cell| cell.live_value(0));
    let value = |column: &Column| -> Option<Vec<u8>> {
        let found = pair.view.primary_key().find(|key| key.id == column.id)?;
        if found.kind == ColumnKind::PartitionKey {
            let bytes = place.key.bytes();
            return match pair.view.partition_key.len() {
                1 => Some(bytes.to_vec()),
                _ => composite_part(bytes, found.position).map(<[u8]>::to_vec),
            };
        }
        if let Some(kept) = written.filter(|_| found.data_type.has_decimal()) {
            return written_values(kept).nth(found.position).map(<[u8]>::to_vec);
        }
        let mut rest = place.clustering.as_slice();
        for column in pair.view.clustering.get(..found.position)? {
            rest = rest.get(comparable::skip(&column.data_type, column.descending, rest).ok()?..)?;
        }
        let mut value = Vec::new();
        comparable::decode(&found.data_type, found.descending, rest, &mut value).ok()?;
        Some(value)
    };
    let values = pair.base.partition_key.iter().map(value).collect::<Option<Vec<_>>>()?;
    let key = match values.as_slice() {
        [one] => PartitionKey::of(one)?,
        several => PartitionKey::composite(several)?,
    };
    let mut clustering = Vec::new();
    for column in &pair.base.clustering {
        comparable::encode(&column.data_type, column.descending, &value(column)?, &mut clustering).ok()?;
    }
    Some(Spot { key, clustering })
}
