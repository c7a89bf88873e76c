//! Connecting, DDL, metadata, the token map and schema events.

use scylla::cluster::metadata::ColumnKind;

use crate::world::{Outcome, SIMPLE, World, equal, truth};

pub async fn connect(w: &mut World) -> Outcome {
    let session = w.builder(w.port).build().await?;
    let rows = session
        .query_unpaged("SELECT release_version, data_center FROM system.local WHERE key = 'local'", ())
        .await?
        .into_rows_result()?;
    let (version, dc): (&str, &str) = rows.single_row()?;
    truth(version.starts_with("5.0"), version)?;
    equal("data centre", dc, "datacenter1")?;
    equal("nodes", session.get_cluster_state().get_nodes_info().len(), 1)?;
    w.session = Some(session);
    Ok(())
}

pub async fn ddl(w: &World) -> Outcome {
    let k = &w.keyspace;
    w.run(&[&format!("DROP KEYSPACE IF EXISTS {k}"), &format!("CREATE KEYSPACE {k} {SIMPLE}")]).await?;
    w.session().use_keyspace(k, false).await?;
    w.run(&[
        "CREATE TYPE address (street text, zip int, tags frozen<set<text>>)",
        "CREATE TYPE person (name text, home frozen<address>, phones map<text, text>)",
        "CREATE TABLE kv (k text PRIMARY KEY, v text, n int)",
        "CREATE TABLE counts (k text PRIMARY KEY, c counter)",
        "CREATE TABLE events (tenant uuid, day date, at timestamp, seq int, body text, label text static, \
         PRIMARY KEY ((tenant, day), at, seq)) WITH CLUSTERING ORDER BY (at DESC, seq ASC)",
    ])
    .await?;
    w.session().await_schema_agreement().await?;
    Ok(())
}

pub async fn metadata(w: &World) -> Outcome {
    w.session().refresh_metadata().await?;
    let state = w.session().get_cluster_state();
    let keyspace = state.get_keyspace(&w.keyspace).ok_or("the keyspace is not in the metadata")?;
    let events = keyspace.tables.get("events").ok_or("the table is not in the metadata")?;
    equal("partition key", events.partition_key.clone(), vec!["tenant".to_owned(), "day".to_owned()])?;
    equal("clustering key", events.clustering_key.clone(), vec!["at".to_owned(), "seq".to_owned()])?;
    truth(matches!(events.columns["label"].kind, ColumnKind::Static), "the static column")?;
    equal("columns", events.columns.len(), 6)?;
    let person = keyspace.user_defined_types.get("person").ok_or("the type is not in the metadata")?;
    let fields: Vec<_> = person.field_types.iter().map(|(name, _)| name.to_string()).collect();
    equal("fields", fields, vec!["name".to_owned(), "home".to_owned(), "phones".to_owned()])
}

pub async fn tokens(w: &World) -> Outcome {
    w.run(&["INSERT INTO kv (k) VALUES ('a key')"]).await?;
    let rows = w.session().query_unpaged("SELECT token(k) FROM kv WHERE k = 'a key'", ()).await?.into_rows_result()?;
    let (token,): (i64,) = rows.single_row()?;
    let state = w.session().get_cluster_state();
    equal("token", state.compute_token(&w.keyspace, "kv", &("a key",))?.value(), token)?;
    equal("replicas", state.get_endpoints(&w.keyspace, "kv", &("a key",))?.len(), 1)
}

/// This driver registers for schema events but does not act on them; an application asks for a refresh.
pub async fn refresh(w: &World) -> Outcome {
    let other = w.connect().await?;
    let known = || other.get_cluster_state().get_keyspace(&w.keyspace).is_some_and(|k| k.tables.contains_key("seen"));
    truth(!known(), "the table is known before it exists")?;
    w.run(&["CREATE TABLE seen (k int PRIMARY KEY)"]).await?;
    other.refresh_metadata().await?;
    truth(known(), "the table is not known after a refresh")?;
    w.run(&["DROP TABLE seen"]).await?;
    other.refresh_metadata().await?;
    truth(!known(), "the table is known after it was dropped")
}
