//! SearchVectors: the items whose vectors are nearest, found exactly, by looking at every item.
//!
//! A vector index is no store of its own: it says which attribute holds the vector and what a search may filter by. An item without
//! a vector of the right length is not in the index. Memory is bounded by TopK; a long search gives way to others between turns.

use super::counting::ENTRIES_PER_TURN;
use super::layout::{self, internal};
use super::{Caller, Dynamo, store_error};
use crate::document::Document;
use crate::error::ApiError;
use crate::expression::{Comparison, Condition, Operand, Projection};
use crate::json::{self, Writer};
use crate::messages::Rule;
use crate::request::{ReturnCapacity, SearchVectors};
use crate::table::{DistanceFunction, IndexProjection, TableDefinition, VectorIndex};
use crate::value::{Item, Value};
use database::grants::Permission;
use model::key::PartitionKey;
use model::row::RowView;
use store::{Flow, Partitions, Read, ReadEnd, Sink, Slice, Store};

/// A vector's elements are 32 bits each: what a search is charged by.
const ELEMENT_BYTES: usize = 4;

impl<S: Store> Dynamo<S> {
    pub(super) async fn search(
        &self,
        caller: &Caller<'_>,
        search: &SearchVectors,
    ) -> Result<Vec<u8>, ApiError> {
        let table = self.open_for(caller, Permission::Select, &search.table)?;
        let definition = &table.definition;
        let index = match definition.vector_index(&search.index) {
            Some(index) => index,
            None if definition.index(&search.index).is_some() => {
                return Err(Rule::SearchIndexKind.refuse(&[]));
            }
            None => return Err(Rule::NoSuchIndex.refuse(&[&search.index])),
        };
        if search.vector.len() != index.dimensions as usize {
            let facts = [search.vector.len().to_string(), index.dimensions.to_string()];
            return Err(Rule::SearchDimensions.refuse(&[&facts[0], &index.name, &facts[1]]));
        }
        check_condition(index, search.condition.as_ref())?;
        check_projection(definition, index, search.projection.as_ref())?;
        self.throttle_read(caller, &table)?;
        let mut read = Read {
            scan_limit: ENTRIES_PER_TURN,
            ..Read::of(table.id, Partitions::all(), vec![Slice::all()], caller.now_seconds())
        };
        let mut nearest = Nearest {
            search,
            index,
            column: table.column,
            now_seconds: caller.now_seconds(),
            found: Vec::with_capacity(search.top + 1),
            compared: 0,
            fault: None,
        };
        loop {
            match self.runtime.store.read(&read, &mut nearest).await.map_err(store_error)?.end {
                ReadEnd::Paused(position) => read.after = Some(position),
                ReadEnd::Complete | ReadEnd::Stopped => break,
            }
            tokio::task::yield_now().await;
        }
        match nearest.fault {
            Some(fault) => Err(fault),
            None => Ok(answer(definition, &nearest)),
        }
    }
}

fn answer(definition: &TableDefinition, nearest: &Nearest<'_>) -> Vec<u8> {
    let Nearest { search, index, found, compared, .. } = nearest;
    let mut out = Vec::new();
    let mut object = Writer::object(&mut out);
    object.list("SearchResults", found, |(score, item), out| {
        let mut result = Writer::object(out);
        let held = held(definition, index, item);
        let item = search.projection.as_ref().map_or(held.clone(), |projection| projection.apply(&held));
        json::write_item(&item, result.key("Item"));
        result.double("Score", *score);
        result.end();
    });
    if search.return_capacity != ReturnCapacity::None {
        let bytes = compared * index.dimensions as usize * ELEMENT_BYTES;
        let mut consumed = object.nested("ConsumedCapacity");
        consumed.double("VectorSearchRequestBytes", bytes as f64);
        consumed.end();
    }
    object.end();
    out
}

/// What the index holds of an item.
fn held(definition: &TableDefinition, index: &VectorIndex, item: &Item) -> Item {
    let kept = item.iter().filter(|(name, _)| holds(definition, index, name));
    kept.map(|(name, value)| (name.to_string(), value.clone())).collect()
}

fn holds(definition: &TableDefinition, index: &VectorIndex, name: &str) -> bool {
    definition.key.contains(name)
        || index.search_hash.iter().chain(&index.search_filters).any(|known| known == name)
        || match &index.projection {
            IndexProjection::All => true,
            IndexProjection::KeysOnly => false,
            IndexProjection::Include(names) => names.iter().any(|known| known == name),
        }
}

fn check_projection(
    definition: &TableDefinition,
    index: &VectorIndex,
    projection: Option<&Projection>,
) -> Result<(), ApiError> {
    let paths = projection.iter().flat_map(|projection| &projection.paths);
    let lacking: Vec<&str> =
        paths.map(|path| path.name.as_str()).filter(|name| !holds(definition, index, name)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    Err(Rule::VectorDoesNotProject.refuse(&[&index.name, &lacking.join(", ")]))
}

/// Equalities on attributes of the search schema, joined with AND; all of those that are HASH.
fn check_condition(index: &VectorIndex, condition: Option<&Condition>) -> Result<(), ApiError> {
    let mut named = Vec::new();
    if let Some(condition) = condition {
        collect(condition, &mut named)?;
    }
    let known =
        |name: &&str| index.search_hash.iter().chain(&index.search_filters).any(|known| known == name);
    if let Some(name) = named.iter().find(|name| !known(name)) {
        return Err(Rule::SearchAttribute.refuse(&[name, &index.name]));
    }
    match index.search_hash.iter().find(|name| !named.contains(&name.as_str())) {
        Some(name) => Err(Rule::SearchHashMissing.refuse(&[name])),
        None => Ok(()),
    }
}

fn collect<'c>(condition: &'c Condition, named: &mut Vec<&'c str>) -> Result<(), ApiError> {
    match condition {
        Condition::And(all) => all.iter().try_for_each(|part| collect(part, named)),
        Condition::Compare(Comparison::Equal, Operand::Path(path), Operand::Value(_))
        | Condition::Compare(Comparison::Equal, Operand::Value(_), Operand::Path(path))
            if path.steps.is_empty() =>
        {
            named.push(&path.name);
            Ok(())
        }
        _ => Err(Rule::SearchOperator.refuse(&[])),
    }
}

/// The vector of an item, if it has one of this many elements.
fn vector_of(value: &Value, dimensions: usize) -> Option<Vec<f64>> {
    let Value::L(list) = value else { return None };
    if list.len() != dimensions {
        return None;
    }
    let element = |value: &Value| if let Value::N(number) = value { Some(number.to_f64()) } else { None };
    list.iter().map(element).collect()
}

/// Smaller is nearer, except for products.
fn score(distance: DistanceFunction, a: &[f64], b: &[f64]) -> f64 {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    match distance {
        DistanceFunction::DotProduct => product(a, b),
        DistanceFunction::Euclidean => a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
        DistanceFunction::Cosine => {
            let lengths = (product(a, a) * product(b, b)).sqrt();
            // A vector without a direction is as far from one as from the other.
            if lengths == 0.0 { 1.0 } else { (1.0 - product(a, b) / lengths).clamp(0.0, 2.0) }
        }
    }
}

struct Nearest<'s> {
    search: &'s SearchVectors,
    index: &'s VectorIndex,
    column: u32,
    now_seconds: u32,
    /// The nearest so far, nearest first.
    found: Vec<(f64, Item)>,
    compared: usize,
    fault: Option<ApiError>,
}

impl Nearest<'_> {
    fn look(&mut self, row: &RowView<'_>) -> Result<(), ApiError> {
        let Some(bytes) = layout::document_bytes(row, self.column, self.now_seconds) else { return Ok(()) };
        let item = Document::new(bytes).and_then(|document| document.decode()).map_err(internal)?;
        let vector = item.get(&self.index.attribute);
        let Some(vector) = vector.and_then(|value| vector_of(value, self.search.vector.len())) else {
            return Ok(());
        };
        if self.search.condition.as_ref().is_some_and(|condition| !condition.holds(Some(&item))) {
            return Ok(());
        }
        self.compared += 1;
        let score = score(self.index.distance, &self.search.vector, &vector);
        let farther = self.index.distance == DistanceFunction::DotProduct;
        let at =
            self.found.partition_point(|(known, _)| if farther { *known >= score } else { *known <= score });
        if at < self.search.top {
            self.found.insert(at, (score, item));
            self.found.truncate(self.search.top);
        }
        Ok(())
    }
}

impl Sink for Nearest<'_> {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        match self.look(&row) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores() {
        let of = |distance| score(distance, &[3.0, 4.0], &[4.0, 3.0]);
        assert_eq!(of(DistanceFunction::DotProduct), 24.0);
        assert!((of(DistanceFunction::Euclidean) - 2f64.sqrt()).abs() < 1e-12);
        assert!((of(DistanceFunction::Cosine) - 0.04).abs() < 1e-12);
        assert_eq!(score(DistanceFunction::Cosine, &[0.0], &[1.0]), 1.0);
        assert_eq!(score(DistanceFunction::Cosine, &[1.0], &[-1.0]), 2.0);
    }
}
