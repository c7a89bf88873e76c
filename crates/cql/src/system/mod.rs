//! The system keyspaces: their tables as Cassandra 5.0 defines them, and the rows of those that are made up on reading.
//!
//! Stored here are only roles and permissions (`system_auth`) and traces (`system_traces`); every other system table
//! is computed from the catalogue and from [`NodeInfo`] when somebody selects from it.

mod cells;
mod definitions;
mod findings;
mod heat;
mod judge;
mod local;
mod node;
mod patterns;
mod projections;
mod rows;
mod schema_rows;
mod sizes;
mod tenants;
#[cfg(test)]
mod tests;
mod views;

pub use definitions::with_system_keyspaces;
pub use findings::{Finding, Seen as SeenForFindings, Standing, findings};
pub use heat::key_text;
pub use judge::{Evidence, Judged, Number, Status, judge};
pub use node::{AuditInfo, ClientInfo, Live, NodeInfo, PARTITION_BYTES, PreparedInfo};
pub use schema::size_in_bytes;

use database::catalogue::SharedCatalogue;
use query::tenant::Gate;
use query::{QueryError, VirtualTables};
use rows::Filler;
use schema::{Catalogue, Table};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, PoisonError, RwLock};
use store::naive::NaiveStore;

/// Who looks, if it is somebody who may not see every key.
#[derive(Clone, Copy)]
pub(super) struct Viewer<'v>(Option<&'v dyn Gate>);

impl Viewer<'_> {
    /// Whether a partition key of the table, view or index with this id may be shown.
    fn sees(&self, catalogue: &Catalogue, id: u32, key: &[u8]) -> bool {
        self.0.is_none_or(|gate| catalogue.table_by_id(id).is_some_and(|table| gate.shows(table, key)))
    }
}

/// Makes up the rows of virtual tables. One for all shards.
pub struct SystemTables {
    pub node: NodeInfo,
    shared: Arc<SharedCatalogue>,
    live: RwLock<Option<Arc<dyn Live>>>,
}

impl SystemTables {
    pub fn new(mut node: NodeInfo, shared: Arc<SharedCatalogue>) -> SystemTables {
        // Drivers connect to what `rpc_address` says; the unspecified address would send them nowhere.
        if node.address.is_unspecified() {
            node.address = match node.address {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            };
        }
        SystemTables { node, shared, live: RwLock::new(None) }
    }

    /// Where connected clients and prepared statements are asked for; without it their tables are empty.
    pub fn set_live(&self, live: Arc<dyn Live>) {
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = Some(live);
    }

    fn live(&self) -> Option<Arc<dyn Live>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl VirtualTables for SystemTables {
    fn rows(&self, table: &Table, viewer: Option<&dyn Gate>) -> Result<NaiveStore, QueryError> {
        let viewer = Viewer(viewer.filter(|viewer| viewer.is_bound()));
        let (_, catalogue) = self.shared.load();
        let mut filler = Filler::new(table);
        match (&*table.keyspace, &*table.name) {
            ("system", "built_views") => schema_rows::built_views(&mut filler, &catalogue),
            ("system", "IndexInfo") => schema_rows::built_indexes(&mut filler, &catalogue),
            ("system", "local") => local::local(&mut filler, &self.node, &catalogue),
            ("system", "prepared_statements") => views::prepared(&mut filler, self.live()),
            ("system", "size_estimates") => {
                local::size_estimates(&mut filler, &self.node, &catalogue, self.live());
            }
            ("system_schema", name) => schema_rows::fill(&mut filler, name, &catalogue),
            ("system_virtual_schema", name) => schema_rows::fill_virtual(&mut filler, name, &catalogue),
            ("system_views", "access_patterns") => {
                patterns::access_patterns(&mut filler, &catalogue, self.live())
            }
            ("system_views", "audit") => views::audit(&mut filler, self.live()),
            ("system_views", "clients") => views::clients(&mut filler, self.live()),
            ("system_views", "jobs") => {
                views::jobs(&mut filler, self.shared.jobs());
                views::followed(&mut filler, &catalogue, self.live());
            }
            ("system_views", "heat_map") => heat::heat_map(&mut filler, &catalogue, self.live(), viewer),
            ("system_views", "hot_history") => {
                heat::hot_history(&mut filler, &catalogue, self.live(), viewer)
            }
            ("system_views", "access_pattern_numbers") => {
                patterns::pattern_numbers(&mut filler, &catalogue, self.live());
            }
            ("system_views", "findings") => findings::rows(&mut filler, self.live()),
            ("system_views", "largest_partitions") => {
                sizes::largest_partitions(&mut filler, &catalogue, self.live(), viewer);
            }
            ("system_views", "partition_sizes") => {
                sizes::partition_sizes(&mut filler, &catalogue, self.live(), viewer);
            }
            ("system_views", "table_sizes") => sizes::table_sizes(&mut filler, &catalogue, self.live()),
            ("system_views", "hot_partitions") => {
                heat::hot_partitions(&mut filler, &catalogue, self.live(), viewer)
            }
            ("system_views", "table_load") => heat::table_load(&mut filler, &catalogue, self.live(), viewer),
            ("system_views", "unmatched_statements") => {
                patterns::unmatched(&mut filler, &catalogue, self.live());
            }
            ("system_views", "projections") => {
                projections::projections(&mut filler, &catalogue, &self.shared, self.live());
            }
            ("system_views", "tenants") => tenants::tenants(&mut filler, &catalogue, &self.shared, viewer),
            ("system_views", "settings") => views::settings(&mut filler, &self.node),
            ("system_distributed", "view_build_status") => {
                schema_rows::view_builds(&mut filler, &catalogue, &self.shared.host_id());
            }
            // One node without peers, hints or streams: the others have nothing to show.
            _ => {}
        }
        filler.finish()
    }
}
