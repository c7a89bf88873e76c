//! Execution profiles, compression, authentication and TLS.

use std::sync::Arc;
use std::time::Duration;

use scylla::client::Compression;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::policies::speculative_execution::SimpleSpeculativeExecutionPolicy;
use scylla::statement::{Consistency, Statement};

use crate::world::{Outcome, SIMPLE, Skip, World, equal, refused, truth};

/// What every connection must do, whatever its wrapping.
async fn short_scenario(s: &Session, keyspace: &str) -> Outcome {
    s.query_unpaged(format!("CREATE TABLE IF NOT EXISTS {keyspace}.short (k text PRIMARY KEY, v text)"), ()).await?;
    let text: String = (0..30_000_u32).map(|i| format!("line {} ", i * 7919)).collect();
    s.query_unpaged(format!("INSERT INTO {keyspace}.short (k, v) VALUES (?, ?)"), ("a", &text)).await?;
    let found = s.query_unpaged(format!("SELECT v FROM {keyspace}.short WHERE k = 'a'"), ()).await?.into_rows_result()?;
    truth(found.single_row::<(String,)>()?.0 == text, "the large value came back changed")?;
    refused(s.query_unpaged("SELEC", ()).await, "SyntaxError")
}

pub async fn profiles(w: &World) -> Outcome {
    let profile = ExecutionProfile::builder()
        .consistency(Consistency::Quorum)
        .request_timeout(Some(Duration::from_secs(10)))
        .speculative_execution_policy(Some(Arc::new(SimpleSpeculativeExecutionPolicy {
            max_retry_count: 2,
            retry_interval: Duration::from_millis(1),
        })))
        .build();
    let mut statement = Statement::new("SELECT v FROM paged WHERE p = 1 AND c = ?");
    statement.set_execution_profile_handle(Some(profile.into_handle()));
    statement.set_is_idempotent(true);
    for i in 0..20 {
        let found = w.session().query_unpaged(statement.clone(), (i,)).await?.into_rows_result()?;
        equal("value", found.single_row::<(String,)>()?.0, format!("value {}", i * 10 + 1))?;
    }
    Ok(())
}

pub async fn compression(w: &World, compression: Option<Compression>) -> Outcome {
    let session = w.builder(w.port).compression(compression).use_keyspace(&w.keyspace, false).build().await?;
    short_scenario(&session, &w.keyspace).await
}

pub async fn auth(w: &World) -> Outcome {
    let port = w.auth_port.ok_or(Skip("no server with authentication was given"))?;
    let admin = w.builder(port).user("cassandra", "cassandra").build().await?;
    let (k, role) = (&w.keyspace, format!("{}_user", w.keyspace));
    for text in [
        format!("DROP ROLE IF EXISTS {role}"),
        format!("CREATE ROLE {role} WITH PASSWORD = 'secret' AND LOGIN = true"),
        format!("CREATE KEYSPACE IF NOT EXISTS {k} {SIMPLE}"),
    ] {
        admin.query_unpaged(text, ()).await?;
    }
    short_scenario(&admin, k).await?;
    refused(w.builder(port).user("cassandra", "wrong").build().await, "and/or password are incorrect")?;
    refused(w.builder(port).build().await, "Authentication")?;
    let user = w.builder(port).user(&role, "secret").build().await?;
    let select = format!("SELECT * FROM {k}.short");
    refused(user.query_unpaged(select.as_str(), ()).await, "DbError(Unauthorized")?;
    admin.query_unpaged(format!("GRANT SELECT ON {k}.short TO {role}"), ()).await?;
    user.query_unpaged(select.as_str(), ()).await?;
    admin.query_unpaged(format!("DROP ROLE {role}"), ()).await?;
    admin.query_unpaged(format!("DROP KEYSPACE {k}"), ()).await?;
    Ok(())
}

pub async fn tls(w: &World) -> Outcome {
    let port = w.tls_port.ok_or(Skip("no server with TLS was given"))?;
    let mut roots = rustls::RootCertStore::empty();
    for certificate in rustls_pemfile::certs(&mut std::fs::read(&w.tls_ca)?.as_slice()) {
        roots.add(certificate?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let session = w.builder(port).tls_context(Some(Arc::new(config))).build().await?;
    let keyspace = format!("{}_tls", w.keyspace);
    session.query_unpaged(format!("CREATE KEYSPACE IF NOT EXISTS {keyspace} {SIMPLE}"), ()).await?;
    short_scenario(&session, &keyspace).await?;
    session.query_unpaged(format!("DROP KEYSPACE {keyspace}"), ()).await?;
    Ok(())
}
