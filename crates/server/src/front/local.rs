//! What a front end answers itself: `system.local` and `system.peers`, in which drivers look for the nodes.
//!
//! They are answered by the CQL dialect on an empty naive store, so that any projection, filter or function works on them. A
//! driver sees one node, this front end, with the cluster's name, version and data center; it never learns of the real
//! nodes, so it cannot go past the front end.

use crate::cql::errors::{Attempt, error_message};
use crate::cql::wire_type::column_specs;
use cluster::Topology;
use cql::CqlError;
use cql::prepared::Prepared;
use cql::session::{Dialect, Response as Outcome, Session};
use cql::system::{NodeInfo, SystemTables};
use cql_wire::{
    ErrorKind, ErrorMessage, Prepared as WirePrepared, QueryParams, Reply, Response, RowsMetadata,
    RowsWriter, Value,
};
use database::ids::ShardIds;
use model::token::murmur3;
use query::{Bound, Values};
use rt::{Clock, SystemClock};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use store::naive::NaiveStore;

pub struct Local {
    dialect: Dialect<NaiveStore>,
    ids: Rc<ShardIds>,
}

/// The keyspace of the tables that are answered here.
const KEYSPACE: &str = "system";

impl Local {
    /// `address` is what clients are told to connect to.
    pub fn new(topology: &Topology, address: SocketAddr, index: usize, seed: u64) -> Result<Local, String> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let catalogue =
            Arc::new(cql::open_catalogue(None, clock.micros()).map_err(|error| error.to_string())?);
        let own = topology.nodes.first();
        let node = NodeInfo {
            cluster_name: topology.cluster_name.clone(),
            data_center: topology.data_center.clone(),
            rack: own.map(|node| node.rack.clone()).unwrap_or_default(),
            host_id: host_id(address),
            address: address.ip(),
            port: address.port(),
            release_version: topology.release_version().to_owned(),
            cql_version: topology.cql_version.clone(),
            partitioner: topology.partitioner.clone(),
            ..NodeInfo::default()
        };
        let system = Arc::new(SystemTables::new(node, catalogue.clone()));
        let ids = Rc::new(ShardIds::new(clock, index, seed));
        let passwords = Box::new(cql::roles::NoPasswords);
        let limits = query::context::Limits::default();
        let dialect =
            Dialect::new(NaiveStore::new(), catalogue, system, Box::new(ids.clone()), limits, passwords);
        Ok(Local { dialect, ids })
    }

    fn prepared(&self, text: &str) -> Result<Prepared, CqlError> {
        let session = Session { keyspace: Some(KEYSPACE.into()), role: None };
        self.dialect.prepare(&session, None, text)
    }

    /// Appends the answer to PREPARE; gives the id.
    pub fn prepare(
        &self,
        text: &str,
        reply: &Reply<'_>,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], ErrorMessage> {
        let prepared = self.prepared(text).map_err(worded)?;
        let bind = column_specs(&prepared.markers);
        let result = column_specs(&prepared.columns);
        let answer = WirePrepared {
            id: prepared.id.as_slice().into(),
            result_metadata_id: prepared.result_id.as_slice().into(),
            bind: bind.into(),
            partition_key: prepared.partition_markers.as_slice().into(),
            lwt_mark: false,
            result: result.into(),
        };
        Response::Prepared(answer).encode(reply, out);
        Ok(prepared.id)
    }

    /// Appends the answer to a SELECT.
    pub async fn select(
        &self,
        text: &str,
        params: &QueryParams<'_>,
        reply: &Reply<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorMessage> {
        let prepared = self.prepared(text).map_err(worded)?;
        let values = bind(&prepared, params).map_err(worded)?;
        let session = Session { keyspace: Some(KEYSPACE.into()), role: None };
        let mut request = query::Request::new(Values(&values), self.ids.now_micros());
        request.page_size = params.page_size;
        request.paging_state = params.paging_state;
        let answer = self.dialect.execute(&session, &prepared, request).await.map_err(worded)?;
        let Outcome::Rows(rows) = &answer.response else {
            return Err(ErrorMessage::new(ErrorKind::Server, "A SELECT without rows"));
        };
        let columns = column_specs(&rows.columns);
        let mut writer = RowsWriter::begin(out, reply, RowsMetadata::full(&columns));
        writer.buffer().extend_from_slice(&rows.body);
        writer.finish(rows.count, rows.paging_state.as_deref());
        Ok(())
    }
}

fn worded(error: CqlError) -> ErrorMessage {
    error_message(&error, Attempt::read(cql_wire::Consistency::One))
}

/// Values in the order of the markers, by name where they have names.
fn bind<'a>(prepared: &Prepared, params: &QueryParams<'a>) -> Result<Vec<Bound<'a>>, CqlError> {
    let bound = |value: Value<'a>| match value {
        Value::Null => Bound::Null,
        Value::Unset => Bound::Unset,
        Value::Bytes(bytes) => Bound::Value(bytes),
    };
    let values: Option<Vec<Bound<'a>>> = if params.values.is_named() {
        let by_name = |name: &str| params.values.iter_named().find(|(known, _)| *known == name);
        prepared.markers.iter().map(|marker| by_name(&marker.name).map(|(_, value)| bound(value))).collect()
    } else {
        Some(params.values.iter().map(bound).collect())
    };
    values
        .filter(|values| values.len() == prepared.markers.len())
        .ok_or_else(|| CqlError::invalid("Invalid amount of bind variables"))
}

/// The same for every start of a front end at this address, and another for every other.
fn host_id(address: SocketAddr) -> [u8; 16] {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let mut seed = b"partita front end ".to_vec();
    seed.extend_from_slice(&ip);
    seed.extend_from_slice(&address.port().to_be_bytes());
    let high = murmur3(&seed).0;
    seed.push(1);
    let low = murmur3(&seed).0;
    let mut id = [0; 16];
    id[..8].copy_from_slice(&high.to_be_bytes());
    id[8..].copy_from_slice(&low.to_be_bytes());
    // A random uuid, as those of nodes are.
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    id
}
