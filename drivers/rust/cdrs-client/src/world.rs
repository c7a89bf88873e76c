//! What to connect to, the shared session, and how the result of a check is printed.

use std::error::Error;
use std::fmt::Debug;
use std::time::Instant;

use cdrs_tokio::cluster::session::{Session, SessionBuilder, TcpSessionBuilder};
use cdrs_tokio::cluster::{NodeTcpConfigBuilder, TcpConnectionManager};
use cdrs_tokio::frame::{Envelope, Version};
use cdrs_tokio::load_balancing::RoundRobinLoadBalancingStrategy;
use cdrs_tokio::transport::TransportTcp;
use cdrs_tokio::types::rows::Row;

pub type Problem = Box<dyn Error + Send + Sync>;
pub type Outcome = Result<(), Problem>;
pub type TcpSession =
    Session<TransportTcp, TcpConnectionManager, RoundRobinLoadBalancingStrategy<TransportTcp, TcpConnectionManager>>;

pub const SIMPLE: &str = "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

pub fn variable(name: &str, fallback: &str) -> String {
    std::env::var(name).ok().filter(|v| !v.is_empty()).unwrap_or_else(|| fallback.to_owned())
}

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

/// A check that does not apply; the text is the reason.
#[derive(Debug)]
pub struct Skip(pub &'static str);

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Skip {}

pub fn equal<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> Outcome {
    if found == wanted { Ok(()) } else { Err(format!("{what}: found {found:?}, wanted {wanted:?}").into()) }
}

pub fn truth(ok: bool, what: impl Debug) -> Outcome {
    if ok { Ok(()) } else { Err(format!("{what:?}").into()) }
}

/// The error of a result that must have failed; `part` must be in its debug text (which names the class).
pub fn refused<T, E: Debug>(result: Result<T, E>, part: &str) -> Outcome {
    match result {
        Ok(_) => Err(format!("no error, wanted {part}").into()),
        Err(error) => {
            let text = format!("{error:?}");
            if text.contains(part) { Ok(()) } else { Err(format!("{part} is not in {text}").into()) }
        }
    }
}

#[derive(Default)]
pub struct Report {
    failed: usize,
    last: Option<Instant>,
}

impl Report {
    pub fn check(&mut self, name: &str, outcome: Outcome) {
        let seconds = self.last.map_or(0.0, |t| t.elapsed().as_secs_f64());
        self.last = Some(Instant::now());
        match outcome {
            Ok(()) => println!("ok {name}  # {seconds:.2} s"),
            Err(error) if error.is::<Skip>() => println!("skip {name}: {error}"),
            Err(error) => {
                self.failed += 1;
                let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
                println!("FAIL {name}: {}", text.chars().take(600).collect::<String>());
            }
        }
    }

    pub fn exit_code(&self) -> i32 {
        i32::from(self.failed > 0)
    }
}
