//! What to connect to and the shared session.

use std::time::Duration;

pub use checks::*;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

pub struct World {
    pub target: String,
    pub host: String,
    pub port: u16,
    pub auth_port: Option<u16>,
    pub tls_port: Option<u16>,
    pub tls_ca: String,
    pub metrics: String,
    pub keyspace: String,
    pub session: Option<Session>,
}

impl World {
    pub fn from_environment() -> World {
        let port = |name: &str| variable(name, "0").parse::<u16>().ok().filter(|p| *p != 0);
        World {
            target: variable("TARGET", "partita"),
            host: variable("CQL_HOST", "127.0.0.1"),
            port: port("CQL_PORT").unwrap_or(9042),
            auth_port: port("CQL_AUTH_PORT"),
            tls_port: port("CQL_TLS_PORT"),
            tls_ca: variable("CQL_TLS_CA", ""),
            metrics: variable("CQL_METRICS", ""),
            keyspace: variable("CQL_KEYSPACE", "drv_scylla_rust"),
            session: None,
        }
    }

    /// A builder for the given port with patience for a busy machine.
    pub fn builder(&self, port: u16) -> SessionBuilder {
        SessionBuilder::new()
            .known_node(format!("{}:{port}", self.host))
            .connection_timeout(Duration::from_secs(20))
            .schema_agreement_interval(Duration::from_millis(20))
            .tracing_info_fetch_interval(Duration::from_millis(100))
            .tracing_info_fetch_attempts(std::num::NonZeroU32::new(50).expect("not zero"))
    }

    pub async fn connect(&self) -> Result<Session, Problem> {
        Ok(self.builder(self.port).use_keyspace(&self.keyspace, false).build().await?)
    }

    pub fn session(&self) -> &Session {
        self.session.as_ref().expect("checks run only after connecting")
    }

    pub async fn run(&self, texts: &[&str]) -> Outcome {
        for text in texts {
            self.session().query_unpaged(*text, ()).await.map_err(|e| format!("{text}: {e}"))?;
        }
        Ok(())
    }
}
