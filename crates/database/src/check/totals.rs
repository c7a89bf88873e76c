//! Totals: every group's row is what its members add up to. The members have been compared with their table before.
//!
//! Members are added up page by page while others write, so a difference is a suspicion. Then the group is added up again under the
//! lock of its members, which every commit that changes them takes; that second sum counts.

use super::rows::{self, seen};
use super::view::{PROVISIONAL, copy};
use super::{Check, Drift};
use model::key::{KIND_ROW, PartitionKey};
use model::row::RowView;
use query::QueryError;
use query::fault::JobFault;
use store::groups::{ALL_MEMBERS, Change, list_slice};
use store::view::NOTHING_EXPIRED;
use store::{FirstRow, Flow, GroupsConfig, Mutation, Sink, Slice, Stamped, Store, StoreError, TableId};

/// A group, by the partition and the clustering key of its row.
#[derive(Clone, PartialEq)]
struct Group {
    key: PartitionKey,
    clustering: Vec<u8>,
}

/// The tables of a projection with totals.
struct Tables {
    members: TableId,
    groups: GroupsConfig,
}

pub(super) async fn run<S: Store>(check: &mut Check<'_, S>) -> Result<(), QueryError> {
    groups_of_members(check).await?;
    rows_without_members(check).await
}

fn tables<S: Store>(check: &Check<'_, S>) -> Result<Tables, QueryError> {
    let (base, projection) = copy(check)?;
    let members = projection.totals().map(|totals| TableId(totals.members)).ok_or_else(|| check.gone())?;
    let groups = query::view::groups_config(&base, &projection).ok_or_else(|| check.gone())?;
    Ok(Tables { members, groups })
}

/// Adds members up, group after group: they lie in the order of groups.
async fn groups_of_members<S: Store>(check: &mut Check<'_, S>) -> Result<(), QueryError> {
    let mut after = None;
    let mut open: Option<(Group, Change)> = None;
    loop {
        let tables = tables(check)?;
        let rows_max = check.job.rows_max();
        let (page, next) = rows::page(check.store, tables.members, after, rows_max, NOTHING_EXPIRED).await?;
        for partition in &page.rows {
            for entry in partition.entries() {
                let Some((&KIND_ROW, clustering)) = entry.position.split_first() else { continue };
                let Some((group, list)) = tables.groups.group_of(clustering) else { continue };
                let Some(row) = RowView::from_payload(entry.payload).filter(|_| list == ALL_MEMBERS) else {
                    continue;
                };
                let is_same =
                    |open: &(Group, Change)| open.0.key == partition.key && open.0.clustering == group;
                if !open.as_ref().is_some_and(is_same) {
                    if let Some((group, change)) = open.take() {
                        compare(check, &tables, group, change).await?;
                    }
                    let begun = Group { key: partition.key.clone(), clustering: group.to_vec() };
                    open = Some((begun, tables.groups.no_change(group)));
                }
                if let Some((group, change)) = &mut open {
                    tables.groups.count(change, &group.key, clustering, row)?;
                }
            }
        }
        check.page_done(page.read(), None).await?;
        if next.is_none() {
            return match open {
                Some((group, change)) => compare(check, &tables, group, change).await,
                None => Ok(()),
            };
        }
        after = next;
    }
}

async fn compare<S: Store>(
    check: &mut Check<'_, S>,
    tables: &Tables,
    group: Group,
    change: Change,
) -> Result<(), QueryError> {
    check.report.copies += 1;
    let (wanted, there) = both(check.store, tables, &group, &change).await?;
    if shown(&wanted) == there { Ok(()) } else { judge(check, tables, group).await }
}

/// Rows of the projection that no member stands behind.
async fn rows_without_members<S: Store>(check: &mut Check<'_, S>) -> Result<(), QueryError> {
    let mut after = None;
    loop {
        let tables = tables(check)?;
        let rows_max = check.job.rows_max();
        let (page, next) =
            rows::page(check.store, tables.groups.table, after, rows_max, NOTHING_EXPIRED).await?;
        for partition in &page.rows {
            for entry in partition.entries() {
                let Some((&KIND_ROW, clustering)) = entry.position.split_first() else { continue };
                let Some(slice) = list_slice(clustering, ALL_MEMBERS) else { continue };
                if end_of(check.store, tables.members, &partition.key, slice, false).await?.is_none() {
                    check.report.copies += 1;
                    judge(
                        check,
                        &tables,
                        Group { key: partition.key.clone(), clustering: clustering.to_vec() },
                    )
                    .await?;
                }
            }
        }
        check.page_done((0, page.bytes_read()), None).await?;
        if next.is_none() {
            return Ok(());
        }
        after = next;
    }
}

/// Adds the group up while nobody can change it, and repairs its row if that is wanted.
async fn judge<S: Store>(check: &mut Check<'_, S>, tables: &Tables, group: Group) -> Result<(), QueryError> {
    let (store, repair) = (check.store, check.repair);
    let partitions = vec![(tables.members, group.key.clone()), (tables.groups.table, group.key.clone())];
    let stamped = Stamped { provisional_timestamp: PROVISIONAL, now_seconds: check.now_seconds };
    let look = async || {
        let change = added_up(store, tables, &group).await?;
        let (wanted, there) = both(store, tables, &group, &change).await?;
        let made = shown(&wanted);
        let drift = match (&made, &there) {
            _ if made == there => return Ok((None, Vec::new())),
            (None, _) => Drift::Extra,
            (_, None) => Drift::Missing,
            _ => Drift::Stale,
        };
        Ok::<_, QueryError>((Some(drift), if repair { vec![wanted] } else { Vec::new() }))
    };
    if let Some(drift) = store.exclusively(partitions, stamped, look).await? {
        check.report.note(drift, &group.key, repair);
    }
    Ok(())
}

async fn added_up<S: Store>(store: &S, tables: &Tables, group: &Group) -> Result<Change, QueryError> {
    let mut sum = Sum {
        groups: &tables.groups,
        group,
        change: tables.groups.no_change(&group.clustering),
        fault: None,
    };
    let slice = list_slice(&group.clustering, ALL_MEMBERS).ok_or(JobFault::Unfinished)?;
    rows::of_slice(tables.members, &group.key, slice, false).to_end(store, &mut sum).await?;
    match sum.fault {
        Some(fault) => Err(QueryError::Store(fault)),
        None => Ok(sum.change),
    }
}

/// The row that the members make, and what a report shows of the stored one.
async fn both<S: Store>(
    store: &S,
    tables: &Tables,
    group: &Group,
    change: &Change,
) -> Result<(Mutation, Shown), QueryError> {
    let mut ends = Vec::new();
    for end in tables.groups.ends(&group.clustering) {
        ends.push(match end {
            Some((slice, reverse)) => end_of(store, tables.members, &group.key, slice, reverse).await?,
            None => None,
        });
    }
    let wanted = tables.groups.follow(&group.key, change, None, &ends, (PROVISIONAL, 1))?;
    let there =
        rows::row(store, tables.groups.table, &group.key, Some(&group.clustering), NOTHING_EXPIRED).await?;
    let there = there.as_deref().and_then(RowView::from_payload).and_then(|row| seen(row, NOTHING_EXPIRED));
    Ok((wanted, there))
}

type Shown = Option<Vec<(u32, Option<Vec<u8>>, Vec<u8>)>>;

/// What a reader would see of the only row in a mutation.
fn shown(mutation: &Mutation) -> Shown {
    let row = mutation.entries().next().and_then(|entry| RowView::from_payload(entry.payload));
    row.and_then(|row| seen(row, NOTHING_EXPIRED))
}

/// The first row of a slice in one direction: clustering key and payload.
async fn end_of<S: Store>(
    store: &S,
    table: TableId,
    key: &PartitionKey,
    slice: Slice,
    reverse: bool,
) -> Result<Option<(Vec<u8>, Vec<u8>)>, QueryError> {
    let mut first = FirstRow::default();
    rows::of_slice(table, key, slice, reverse).to_end(store, &mut first).await?;
    Ok(first.row)
}

/// Adds up what it is given.
struct Sum<'g> {
    groups: &'g GroupsConfig,
    group: &'g Group,
    change: Change,
    fault: Option<StoreError>,
}

impl Sink for Sum<'_> {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        match self.groups.count(&mut self.change, &self.group.key, clustering, row) {
            Ok(()) => Flow::Continue,
            Err(fault) => {
                self.fault = Some(fault);
                Flow::Stop
            }
        }
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
