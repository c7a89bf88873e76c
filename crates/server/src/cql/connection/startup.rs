//! OPTIONS and STARTUP: what we offer, what the client chose.

use super::Peer;
use super::handle::Head;
use crate::shard::Shard;
use cql_wire::{Envelope, ErrorKind, ErrorMessage, Negotiated, Reply, Request, Response, Startup};

/// The only authenticator we have, under the name every driver knows.
const AUTHENTICATOR: &str = "org.apache.cassandra.auth.PasswordAuthenticator";

pub struct Accepted {
    pub negotiated: Negotiated,
    pub authenticator: Option<&'static str>,
}

/// Answers OPTIONS.
pub fn supported(shard: &Shard, peer: &Peer, head: Head) {
    let mut options = shard.shared.cql.supported.clone();
    if shard.shared.config.shard_aware.is_some() {
        options.push(("SCYLLA_SHARD".into(), vec![shard.index.to_string()]));
    }
    let reply = Reply::new(head.protocol, head.stream);
    Response::Supported(options.into()).encode(&reply, &mut peer.outbox.borrow_mut());
}

pub fn negotiate(
    shard: &Shard,
    peer: &Peer,
    head: Head,
    envelope: &Envelope<'_>,
) -> Result<Accepted, ErrorMessage> {
    let refuse = |text: String| ErrorMessage::new(ErrorKind::Protocol, text);
    let request = Request::decode(head.protocol, envelope).map_err(|e| refuse(e.to_string()))?;
    let Request::Startup(startup) = request else {
        return Err(refuse("Expected a STARTUP message".into()));
    };
    startup.cql_version().map_err(|e| refuse(e.to_string()))?;
    let compression = startup.compression(head.protocol.version).map_err(|e| refuse(e.to_string()))?;
    remember_driver(peer, &startup);
    let negotiated =
        Negotiated { compression, metadata_id_extension: startup.get("SCYLLA_USE_METADATA_ID").is_some() };
    let authenticator = shard.authentication().then_some(AUTHENTICATOR);
    // Nobody asks who it is, so this is all we shall know of the client.
    if authenticator.is_none() && (peer.place.is_kept() || !peer.place.settle()) {
        return Err(ErrorMessage::new(ErrorKind::Overloaded, "Too many connections; try again later"));
    }
    Ok(Accepted { negotiated, authenticator })
}

fn remember_driver(peer: &Peer, startup: &Startup<'_>) {
    peer.throw_on_overload.set(startup.get("THROW_ON_OVERLOAD").is_some_and(|v| v == "1"));
    peer.lwt_mark.set(startup.get("SCYLLA_LWT_ADD_METADATA_MARK").is_some());
    peer.entry.client.set_options(startup.iter());
}

/// What SUPPORTED says, apart from the shard a connection is on.
pub fn offered(shards: usize, shard_aware_port: Option<u16>, tls: bool) -> Vec<(String, Vec<String>)> {
    let one = |key: &str, value: String| (key.to_string(), vec![value]);
    let mut options = vec![
        one("CQL_VERSION", "3.4.7".into()),
        ("COMPRESSION".into(), vec!["lz4".into(), "snappy".into()]),
        (
            "PROTOCOL_VERSIONS".into(),
            cql_wire::Version::ALL.iter().map(|v| v.description().to_string()).collect(),
        ),
    ];
    if let Some(port) = shard_aware_port {
        let port_key = if tls { "SCYLLA_SHARD_AWARE_PORT_SSL" } else { "SCYLLA_SHARD_AWARE_PORT" };
        options.extend([
            one("SCYLLA_NR_SHARDS", shards.to_string()),
            one("SCYLLA_SHARDING_IGNORE_MSB", "0".into()),
            one("SCYLLA_SHARDING_ALGORITHM", "biased-token-round-robin".into()),
            one("SCYLLA_PARTITIONER", "org.apache.cassandra.dht.Murmur3Partitioner".into()),
            one("SCYLLA_LWT_ADD_METADATA_MARK", "LWT_OPTIMIZATION_META_BIT_MASK=2147483648".into()),
            one(port_key, port.to_string()),
        ]);
    }
    options
}
