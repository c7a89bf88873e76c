//! Paging states of earlier generations of a table: the place in an entity is the same, its partition is another.
//!
//! If a read names its entities, its state holds a clustering position, whichever plan it was made under. That becomes the place in a
//! merge over the present partitions, or a position in the partition that has the row now. A scan in the order of tokens
//! cannot continue, because the tokens have changed.

use super::merge::set_of;
use super::paging::{MergeState, PagingState, SequenceState, malformed};
use super::plan::SelectPlan;
use crate::buckets::{entity_of_plan, partition_of};
use crate::error::QueryError;
use crate::fault::BucketFault;
use crate::restrict::PartitionSet;
use model::key::{PartitionKey, composite_part};
use schema::Former;
use store::Position;

/// A place that was brought over from an earlier generation.
pub struct Earlier {
    entities: Vec<PartitionKey>,
}

/// The state as a place in a merge of what is read now; `Ok(None)`: it is of no generation of this table.
pub fn translate(
    bytes: &[u8],
    plan: &SelectPlan,
    partitions: &PartitionSet,
) -> Result<Option<(MergeState, Earlier)>, QueryError> {
    let table = &plan.table;
    let known = table.options.former.iter();
    let mut known = known.filter_map(|former| Some((former, PagingState::decode(bytes, former.id).ok()?)));
    let Some((former, state)) = known.next() else { return Ok(None) };
    let whole = plan.grouping.is_some() || plan.distinct || plan.ann.is_some() || plan.index.is_some();
    let columns = table.entity_key().len();
    let entities = match partitions {
        PartitionSet::Entities(entities) if !whole => entities.clone(),
        PartitionSet::Keys(keys) if !whole && table.bucketing().is_none() => {
            let entity = |key| entity_of_plan(None, columns, key);
            keys.iter().map(entity).collect::<Option<Vec<_>>>().ok_or_else(malformed)?
        }
        _ => return Err(begin_anew()),
    };
    if plan.per_partition_limit.is_some() {
        return Err(begin_anew());
    }
    let place = match state {
        PagingState::Sequence(state) => sequence_place(state, former, columns, &entities)?,
        PagingState::Merge(state) => {
            let merged = if entities.len() > 1 { plan.merge_columns.unwrap_or(0) } else { 0 };
            let old = |entity: &PartitionKey| match (&former.plan, columns) {
                (None, 1) => PartitionKey::of(composite_part(entity.bytes(), 0)?),
                _ => Some(entity.clone()),
            };
            let old = entities.iter().map(old).collect::<Option<Vec<_>>>().ok_or_else(malformed)?;
            if state.set != set_of(old.iter().map(PartitionKey::prefix), merged, plan.reverse) {
                return Err(malformed());
            }
            state
        }
    };
    Ok(Some((place, Earlier { entities })))
}

fn sequence_place(
    state: SequenceState,
    former: &Former,
    columns: usize,
    entities: &[PartitionKey],
) -> Result<MergeState, QueryError> {
    let entity = entity_of_plan(former.plan.as_ref(), columns, &state.position.key).ok_or_else(malformed)?;
    let group = entities.iter().position(|known| *known == entity).ok_or_else(malformed)?;
    // Between two partitions there is no row to go on behind.
    let clustering = state.position.clustering.ok_or_else(begin_anew)?;
    Ok(MergeState { set: 0, limit_left: state.limit_left, group, clustering, taken: Vec::new() })
}

impl Earlier {
    /// The place as a position in the partition that has the row now.
    pub fn sequence(self, plan: &SelectPlan, place: MergeState) -> Result<SequenceState, QueryError> {
        let entity = self.entities.get(place.group).ok_or_else(malformed)?;
        let key = partition_of(&plan.table, entity, &place.clustering).ok_or_else(malformed)?;
        Ok(SequenceState {
            position: Position { key, clustering: Some(place.clustering) },
            rows_met: true,
            limit_left: place.limit_left,
            partition_left: None,
        })
    }
}

fn begin_anew() -> QueryError {
    BucketFault::Changed.into()
}
