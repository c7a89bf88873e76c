//! The beginning of a client's connection: OPTIONS, STARTUP, login.
//!
//! Without `--auth password` everybody is served with the front end's account. With it, a client's name and password are
//! those of a role of the cluster: each login is tried there, and the client's requests go over connections of that role, so
//! the cluster's grants and audit are the client's own.

use super::peer::Peer;
use super::request::open_error;
use super::{FrontShard, mirror};
use crate::seldom::{Seldom, shown};
use cluster::{LaneKey, Login};
use cql_wire::{Envelope, ErrorKind, ErrorMessage, Negotiated, Request, Version};
use std::rc::Rc;
use std::sync::Arc;

/// What drivers look for when they choose how to log in.
const AUTHENTICATOR: &str = "org.apache.cassandra.auth.PasswordAuthenticator";

/// What STARTUP settled.
pub struct Accepted {
    pub negotiated: Negotiated,
    pub authenticator: Option<&'static str>,
}

/// Answers STARTUP; without logins the client's lane is open when this succeeds.
pub async fn startup(peer: &Rc<Peer>, envelope: &Envelope<'_>) -> Result<Accepted, ErrorMessage> {
    let refuse = |text: String| ErrorMessage::new(ErrorKind::Protocol, text);
    let request = Request::decode(peer.protocol(), envelope).map_err(|e| refuse(e.to_string()))?;
    let Request::Startup(startup) = request else {
        return Err(refuse("Expected a STARTUP message".into()));
    };
    startup.cql_version().map_err(|e| refuse(e.to_string()))?;
    let compression = startup.compression(envelope.version).map_err(|e| refuse(e.to_string()))?;
    let negotiated = Negotiated { compression, metadata_id_extension: false };
    let shared = &peer.shard.shared;
    if shared.wants_login() {
        return Ok(Accepted { negotiated, authenticator: Some(AUTHENTICATOR) });
    }
    enter(peer, LaneKey { version: envelope.version, login: shared.login.clone(), keyspace: None }).await?;
    Ok(Accepted { negotiated, authenticator: None })
}

/// Checks a client's name and password at the cluster; its lane is open when this succeeds.
pub async fn respond(peer: &Rc<Peer>, version: Version, token: &[u8]) -> Result<(), ErrorMessage> {
    let refuse = |text: &str| ErrorMessage::new(ErrorKind::BadCredentials, text);
    let mut parts = token.rsplitn(3, |&byte| byte == 0);
    let (password, user) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if user.is_empty() || password.is_empty() {
        return Err(refuse("A name and a password are needed"));
    }
    let user = String::from_utf8_lossy(user).into_owned();
    let login = Arc::new(Login { user, password: password.to_vec() });
    let key = LaneKey { version, login: Some(login.clone()), keyspace: None };
    let entered = async {
        // Connections that are open already say nothing about today's password. New ones have to log in themselves.
        if peer.shard.door.knows(&key) {
            peer.shard.door.check_login(version, login.clone()).await.map_err(|error| open_error(&error))?;
        }
        enter(peer, key).await
    };
    entered.await.inspect_err(|_| {
        static FAILED: Seldom = Seldom::new();
        if let Some(left_out) = FAILED.now() {
            tracing::warn!(peer = %peer.address, user = shown(&login.user), left_out, "login failed at the cluster");
        }
    })
}

/// Opens the lane that the client's requests go over, and settles its place.
async fn enter(peer: &Rc<Peer>, key: LaneKey) -> Result<(), ErrorMessage> {
    mirror::lanes(peer, key).await.map_err(|error| open_error(&error))?;
    if !peer.place.settle() {
        return Err(ErrorMessage::new(ErrorKind::Overloaded, "Too many connections; try again later"));
    }
    Ok(())
}

/// The answer to OPTIONS: what the cluster says, as far as a front end can keep it.
pub fn offered(topology: &cluster::Topology) -> Vec<(String, Vec<String>)> {
    let spoken = Version::ALL.iter().map(|version| version.description().to_string());
    let both = spoken.filter(|version| topology.protocol_versions.contains(version));
    vec![
        ("CQL_VERSION".into(), vec![topology.cql_version.clone()]),
        ("COMPRESSION".into(), vec!["lz4".into(), "snappy".into()]),
        ("PROTOCOL_VERSIONS".into(), both.collect()),
    ]
}

impl FrontShard {
    pub fn supported(&self) -> &[(String, Vec<String>)] {
        &self.supported
    }
}
