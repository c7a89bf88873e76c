//! Compression, speculative execution, authentication and TLS.

use std::sync::Arc;
use std::time::Duration;

use cdrs_tokio::authenticators::StaticPasswordAuthenticatorProvider;
use cdrs_tokio::cluster::session::{RustlsSessionBuilder, SessionBuilder, TcpSessionBuilder};
use cdrs_tokio::cluster::{NodeRustlsConfigBuilder, NodeTcpConfigBuilder};
use cdrs_tokio::compression::Compression;
use cdrs_tokio::frame::Version;
use cdrs_tokio::load_balancing::RoundRobinLoadBalancingStrategy;
use cdrs_tokio::query_values;
use cdrs_tokio::retry::NeverReconnectionPolicy;
use cdrs_tokio::speculative_execution::ConstantSpeculativeExecutionPolicy;
use cdrs_tokio::statement::StatementParamsBuilder;
use cdrs_tokio::types::ByIndex;

use crate::world::{
    Outcome, Problem, Report, SIMPLE, Skip, TcpSession, config, connect, first, host, keyspace, refused, truth, variable,
};

/// What every connection must do, whatever its wrapping; a macro because each transport has its own session type.
macro_rules! short_scenario {
    ($session:expr, $keyspace:expr) => {{
        let (s, k) = (&$session, &$keyspace);
        s.query(format!("CREATE KEYSPACE IF NOT EXISTS {k} {SIMPLE}")).await?;
        s.query(format!("CREATE TABLE IF NOT EXISTS {k}.short (k text PRIMARY KEY, v text)")).await?;
        let text: String = (0..30_000_u32).map(|i| format!("line {} ", i * 7919)).collect();
        let insert = s.prepare(format!("INSERT INTO {k}.short (k, v) VALUES (?, ?)")).await?;
        s.exec_with_values(&insert, query_values!("a", text.as_str())).await?;
        let row = first(s.query(format!("SELECT v FROM {k}.short WHERE k = 'a'")).await?)?;
        truth(row.r_by_index::<String>(0)? == text, "the large value came back changed")?;
        refused(s.query("SELEC").await, "Syntax")?;
    }};
}

pub async fn run(r: &mut Report) {
    for (version, kind) in [
        (Version::V3, Compression::None),
        (Version::V4, Compression::None),
        (Version::V4, Compression::Lz4),
        (Version::V4, Compression::Snappy),
        (Version::V5, Compression::None),
        (Version::V5, Compression::Lz4),
    ] {
        r.check(&format!("protocol: {version:?}, compression {kind:?}"), compression(version, kind).await);
    }
    r.check("speculative execution", speculative().await);
    for version in [Version::V4, Version::V5] {
        r.check(&format!("auth: login, wrong password, permissions ({version:?})"), auth(version).await);
        r.check(&format!("tls: verified certificate ({version:?})"), tls(version).await);
    }
}

async fn compression(version: Version, kind: Compression) -> Outcome {
    let config = config(&variable("CQL_PORT", "9042"), version).await?;
    let session: TcpSession =
        TcpSessionBuilder::new(RoundRobinLoadBalancingStrategy::new(), config).with_compression(kind).build().await?;
    short_scenario!(session, keyspace("short"));
    Ok(())
}

async fn speculative() -> Outcome {
    let session = connect(Version::V4, None).await?;
    let policy = ConstantSpeculativeExecutionPolicy::new(2, Duration::from_millis(1));
    for _ in 0..20 {
        let params = StatementParamsBuilder::new().idempotent(true).with_speculative_execution_policy(Arc::new(policy)).build();
        let row = first(session.query_with_params("SELECT release_version FROM system.local", params).await?)?;
        truth(row.r_by_index::<String>(0)?.starts_with("5.0"), "release version")?;
    }
    Ok(())
}

async fn login(port: &str, version: Version, user: &str, password: &str) -> Result<TcpSession, Problem> {
    let provider = StaticPasswordAuthenticatorProvider::new(user, password);
    let config = NodeTcpConfigBuilder::new()
        .with_contact_point(format!("{}:{port}", host()).into())
        .with_version(version)
        .with_authenticator_provider(Arc::new(provider))
        .build()
        .await?;
    Ok(TcpSessionBuilder::new(RoundRobinLoadBalancingStrategy::new(), config)
        .with_reconnection_policy(Arc::new(NeverReconnectionPolicy))
        .build()
        .await?)
}

async fn auth(version: Version) -> Outcome {
    let port = variable("CQL_AUTH_PORT", "");
    if port.is_empty() || port == "0" {
        return Err(Skip("no server with authentication was given").into());
    }
    let admin = login(&port, version, "cassandra", "cassandra").await?;
    let (k, role) = (keyspace("auth"), keyspace("user"));
    admin.query(format!("DROP ROLE IF EXISTS {role}")).await?;
    admin.query(format!("CREATE ROLE {role} WITH PASSWORD = 'secret' AND LOGIN = true")).await?;
    short_scenario!(admin, k);
    // This driver never gives up building a session: a refused login shows as one that does not come about.
    let wrong = tokio::time::timeout(Duration::from_secs(2), login(&port, version, "cassandra", "wrong")).await;
    refused(wrong.map(|_| ()), "Elapsed")?;
    let user = login(&port, version, &role, "secret").await?;
    let select = format!("SELECT * FROM {k}.short");
    refused(user.query(&select).await, "ty: Unauthorized")?;
    admin.query(format!("GRANT SELECT ON {k}.short TO {role}")).await?;
    user.query(&select).await?;
    admin.query(format!("DROP ROLE {role}")).await?;
    admin.query(format!("DROP KEYSPACE {k}")).await?;
    Ok(())
}

async fn tls(version: Version) -> Outcome {
    let port = variable("CQL_TLS_PORT", "");
    if port.is_empty() || port == "0" {
        return Err(Skip("no server with TLS was given").into());
    }
    let mut roots = rustls::RootCertStore::empty();
    for certificate in rustls_pemfile::certs(&mut std::fs::read(variable("CQL_TLS_CA", ""))?.as_slice()) {
        roots.add(certificate?)?;
    }
    let client = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = NodeRustlsConfigBuilder::new("localhost".try_into()?, Arc::new(client))
        .with_contact_point(format!("{}:{port}", host()).into())
        .with_version(version)
        .build()
        .await?;
    let session = RustlsSessionBuilder::new(RoundRobinLoadBalancingStrategy::new(), config).build().await?;
    let k = keyspace("tls");
    short_scenario!(session, k);
    session.query(format!("DROP KEYSPACE {k}")).await?;
    Ok(())
}
