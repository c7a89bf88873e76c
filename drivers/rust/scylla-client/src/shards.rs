//! Shard awareness: one connection per shard, and requests arrive on the shard that owns the key.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use scylla::client::PoolSize;
use scylla::client::session::Session;
use scylla::statement::prepared::PreparedStatement;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{Outcome, Skip, World, equal, truth};

const REQUESTS: i32 = 400;

/// The sum of one counter over all its label sets, read from the server's /metrics.
async fn counter(w: &World, name: &str) -> Result<f64, Box<dyn std::error::Error + Send + Sync>> {
    let mut stream = TcpStream::connect(&w.metrics).await?;
    stream.write_all(format!("GET /metrics HTTP/1.0\r\nHost: {}\r\nConnection: close\r\n\r\n", w.metrics).as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let values: Vec<f64> = text
        .lines()
        .filter(|line| line.split(['{', ' ']).next() == Some(name))
        .filter_map(|line| line.rsplit(' ').next()?.parse().ok())
        .collect();
    truth(!values.is_empty(), format!("{name} is not in /metrics"))?;
    Ok(values.iter().sum())
}

/// Sends the requests; returns the shards that answered, checking each against the token's owner.
async fn send(
    w: &World,
    s: &Session,
    insert: &PreparedStatement,
    strict: bool,
) -> Result<BTreeSet<u32>, Box<dyn std::error::Error + Send + Sync>> {
    let sharder = s.get_cluster_state().get_nodes_info()[0].sharder().ok_or("the server sent no sharding information")?;
    let mut used = BTreeSet::new();
    for i in 0..REQUESTS {
        let key = format!("shard {i}");
        let result = s.execute_unpaged(insert, (&key, i)).await?;
        let shard = result.request_coordinator().shard().ok_or("a connection without a shard")?;
        if strict {
            let token = s.get_cluster_state().compute_token(&w.keyspace, "kv", &(&key,))?;
            equal("shard of the connection", shard, sharder.shard_of(token))?;
        }
        used.insert(shard);
    }
    Ok(used)
}

pub async fn owning(w: &World) -> Outcome {
    if w.target == "cassandra" {
        return Err(Skip("Cassandra has no shards").into());
    }
    let one_each = PoolSize::PerShard(std::num::NonZeroUsize::MIN);
    let session = w.builder(w.port).pool_size(one_each).use_keyspace(&w.keyspace, false).build().await?;
    let sharder = session.get_cluster_state().get_nodes_info()[0].sharder().ok_or("the server sent no sharding information")?;
    let shards: BTreeSet<u32> = (0..u32::from(sharder.nr_shards.get())).collect();
    let insert = session.prepare("INSERT INTO kv (k, n) VALUES (?, ?)").await?;
    // The pool fills in the background; it is complete when every shard has answered.
    let begun = Instant::now();
    while send(w, &session, &insert, false).await? != shards {
        truth(begun.elapsed() < Duration::from_secs(15), "some shard never got a connection")?;
    }
    if w.metrics.is_empty() {
        return Err(Skip("no metrics address was given").into());
    }
    let (local, remote) = ("partita_requests_local_shard_total", "partita_requests_remote_shard_total");
    let before = (counter(w, local).await?, counter(w, remote).await?);
    equal("shards that answered", send(w, &session, &insert, true).await?, shards)?;
    let after = (counter(w, local).await? - before.0, counter(w, remote).await? - before.1);
    truth(after.0 >= f64::from(REQUESTS), format!("{} requests were local, wanted {REQUESTS}", after.0))?;
    equal("requests that had to change shards", after.1, 0.0)
}
