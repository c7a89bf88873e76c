//! What to connect to, the shared session, and how the result of a check is printed.

use std::error::Error;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

pub const SIMPLE: &str = "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

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
        let text = |name: &str, fallback: &str| {
            std::env::var(name).ok().filter(|v| !v.is_empty()).unwrap_or_else(|| fallback.to_owned())
        };
        let port = |name: &str| text(name, "0").parse::<u16>().ok().filter(|p| *p != 0);
        World {
            target: text("TARGET", "partita"),
            host: text("CQL_HOST", "127.0.0.1"),
            port: port("CQL_PORT").unwrap_or(9042),
            auth_port: port("CQL_AUTH_PORT"),
            tls_port: port("CQL_TLS_PORT"),
            tls_ca: text("CQL_TLS_CA", ""),
            metrics: text("CQL_METRICS", ""),
            keyspace: text("CQL_KEYSPACE", "drv_scylla_rust"),
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

    pub async fn connect(&self) -> Result<Session, Box<dyn Error + Send + Sync>> {
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
