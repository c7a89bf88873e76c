//! The DynamoDB listener: connections that speak HTTP/1.1 with JSON bodies, and what they are answered.
//!
//! Everything that only this API needs among the listeners is in this folder; what operations do is `dynamo`'s business.

mod background;
mod buckets;
mod connection;
mod head;
mod keys;
mod reply;
mod service;
mod signature;
mod watch;

pub use background::{keep_indexes, keep_swept, tidy};
pub use keys::{KeysDesk, KeysRequests, Known, keep_keys, keys_desk};
pub use signature::sign as sign_request;
pub use watch::Traffic;

use crate::accept::{Place, Served};
use crate::config::Config;
use crate::shard::Shard;
use crate::stream::Stream;
use connection::Connection;
use dynamo::messages::Layers;
use dynamo::run::{AllShards, Settings};
use query::Ids;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

/// Serves a client of the DynamoDB API until it leaves.
pub fn serve(shard: Rc<Shard>, stream: Stream, address: SocketAddr, place: Place) -> Served {
    Box::pin(Connection::new(shard, stream, address, place).run())
}

/// What the shards share of this API.
pub fn all_shards(config: &Config) -> AllShards {
    let settings = config.dynamo.as_ref().map(|dynamo| Settings {
        region: dynamo.region.clone(),
        throttle: dynamo.throttle,
        extensions: dynamo.extensions,
        layers: if dynamo.newer_texts { Layers::Current } else { Layers::Older },
        buckets: Some(Arc::new(buckets::Folders(dynamo.buckets.clone()))),
    });
    AllShards::new(settings.unwrap_or_default())
}

/// A fresh id of 52 digits and letters, as the service's are.
fn request_id(shard: &Shard) -> [u8; 52] {
    const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
    let mut random = u128::from_be_bytes(shard.ids.uuid());
    let mut id = [b'0'; 52];
    for (place, letter) in id.iter_mut().enumerate() {
        if place == 25 {
            random = u128::from_be_bytes(shard.ids.uuid());
        }
        *letter = LETTERS[(random & 31) as usize];
        random >>= 5;
    }
    id
}
