//! Connecting, DDL, metadata and schema events.

use std::time::Duration;

use cdrs_tokio::frame::Version;
use cdrs_tokio::frame::events::{SchemaChangeOptions, SchemaChangeType, ServerEvent};
use cdrs_tokio::types::ByName;

use crate::world::{Outcome, Problem, SIMPLE, World, connect as open, equal, first, keyspace, truth};

pub async fn connect(version: Version) -> Result<World, Problem> {
    let keyspace = keyspace(if version == Version::V4 { "v4" } else { "v5" });
    let session = open(version, None).await?;
    let row = first(session.query("SELECT release_version FROM system.local").await?)?;
    let release: String = row.r_by_name("release_version")?;
    truth(release.starts_with("5.0"), release)?;
    session.query(format!("DROP KEYSPACE IF EXISTS {keyspace}")).await?;
    session.query(format!("CREATE KEYSPACE {keyspace} {SIMPLE}")).await?;
    let session = open(version, Some(&keyspace)).await?;
    Ok(World { version, keyspace, session })
}

pub async fn ddl(w: &World) -> Outcome {
    w.run(&[
        "CREATE TYPE address (street text, zip int)",
        "CREATE TABLE kv (k text PRIMARY KEY, v text, n int)",
        "CREATE TABLE counts (k text PRIMARY KEY, c counter)",
    ])
    .await
}

pub async fn metadata(w: &World) -> Outcome {
    let metadata = w.session.cluster_metadata();
    equal("nodes", metadata.nodes().len(), 1)?;
    let node = metadata.nodes().values().next().ok_or("no node")?;
    equal("data centre", node.datacenter(), "datacenter1")?;
    truth(!node.tokens().is_empty() && node.host_id().is_some(), "tokens and host id")?;
    truth(metadata.keyspace("system").is_some(), "the system keyspace is not in the metadata")
}

pub async fn events(w: &World) -> Outcome {
    let mut receiver = w.session.create_event_receiver();
    w.run(&["CREATE TABLE seen (k int PRIMARY KEY)", "DROP TABLE seen"]).await?;
    let mut found = Vec::new();
    while found.len() < 2 {
        let event =
            tokio::time::timeout(Duration::from_secs(10), receiver.recv()).await.map_err(|_| format!("only {found:?}"))??;
        if let ServerEvent::SchemaChange(change) = event
            && change.options == SchemaChangeOptions::TableType(w.keyspace.clone(), "seen".into())
        {
            found.push(change.change_type);
        }
    }
    equal("events", found, vec![SchemaChangeType::Created, SchemaChangeType::Dropped])
}
