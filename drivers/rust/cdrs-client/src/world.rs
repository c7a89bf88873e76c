//! What to connect to and the shared session.

use cdrs_tokio::cluster::session::{Session, SessionBuilder, TcpSessionBuilder};
use cdrs_tokio::cluster::{NodeTcpConfigBuilder, TcpConnectionManager};
use cdrs_tokio::frame::{Envelope, Version};
use cdrs_tokio::load_balancing::RoundRobinLoadBalancingStrategy;
use cdrs_tokio::transport::TransportTcp;
use cdrs_tokio::types::rows::Row;
pub use checks::*;

pub type TcpSession =
    Session<TransportTcp, TcpConnectionManager, RoundRobinLoadBalancingStrategy<TransportTcp, TcpConnectionManager>>;

pub fn host() -> String {
    variable("CQL_HOST", "127.0.0.1")
}

pub fn keyspace(suffix: &str) -> String {
    format!("{}_{suffix}", variable("CQL_KEYSPACE", "drv_cdrs"))
}

pub async fn config(port: &str, version: Version) -> Result<cdrs_tokio::cluster::NodeTcpConfig, Problem> {
    let point = format!("{}:{port}", host());
    Ok(NodeTcpConfigBuilder::new().with_contact_point(point.into()).with_version(version).build().await?)
}

pub async fn connect(version: Version, keyspace: Option<&str>) -> Result<TcpSession, Problem> {
    let config = config(&variable("CQL_PORT", "9042"), version).await?;
    let mut builder = TcpSessionBuilder::new(RoundRobinLoadBalancingStrategy::new(), config);
    if let Some(name) = keyspace {
        builder = builder.with_keyspace(name.to_owned());
    }
    Ok(builder.build().await?)
}

pub struct World {
    pub version: Version,
    pub keyspace: String,
    pub session: TcpSession,
}

impl World {
    pub async fn run(&self, texts: &[&str]) -> Outcome {
        for text in texts {
            self.session.query(*text).await.map_err(|e| format!("{text}: {e}"))?;
        }
        Ok(())
    }

    pub async fn one(&self, text: &str) -> Result<Row, Problem> {
        first(self.session.query(text).await?)
    }
}

pub fn rows(envelope: Envelope) -> Result<Vec<Row>, Problem> {
    envelope.response_body()?.into_rows().ok_or_else(|| "the answer has no rows".into())
}

pub fn first(envelope: Envelope) -> Result<Row, Problem> {
    rows(envelope)?.into_iter().next().ok_or_else(|| "the answer is empty".into())
}
