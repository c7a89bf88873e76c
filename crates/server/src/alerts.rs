//! `--alerts-url`: findings as a POST of JSON, tried again when nobody takes them.
//!
//! Plain HTTP only: the binary has no TLS client, so a receiver beyond this machine wants a relay beside the server. A finding is sent
//! once, when it begins. A receiver that does not answer 2xx is asked again a few times, ever later; then the log says what was lost. The
//! queue is bounded. Passwords in the address are refused, because the address is logged.

use cql::system::{Finding, Standing};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// Findings that wait to be sent.
const QUEUE_MAX: usize = 256;
const TRIES: u32 = 6;
/// Before the second try; doubled for each further one.
const PAUSE: Duration = Duration::from_millis(500);
/// For one try.
const PATIENCE: Duration = Duration::from_secs(10);
/// Of an answer that is looked at.
const ANSWER_BYTES_MAX: usize = 4096;

/// A finding that has begun.
pub type Alert = Standing;

/// Where findings are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Host and port.
    authority: Arc<str>,
    path: Arc<str>,
}

impl Target {
    /// Reads `http://host[:port][/path]`; says what is wrong with anything else.
    pub fn parse(url: &str) -> Result<Target, String> {
        let Some(rest) = url.strip_prefix("http://") else {
            return Err("--alerts-url must begin with http://; this server has no TLS client, so send to a relay on this machine".into());
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        if authority.contains('@') {
            return Err("--alerts-url must hold no user name or password: it is logged".into());
        }
        if authority.is_empty() || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err("--alerts-url is not of the form http://host:port/path".into());
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_string() } else { format!("{authority}:80") };
        Ok(Target { authority: authority.into(), path: path.into() })
    }
}

impl Target {
    /// Host and port.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// A place below this one.
    pub fn below(&self, path: &str) -> Target {
        let whole = format!("{}{path}", self.path.trim_end_matches('/'));
        Target { authority: self.authority.clone(), path: whole.into() }
    }

    /// Sends a body; whoever does not answer 2xx has not taken it.
    pub async fn post(&self, kind: &str, body: &[u8]) -> Result<(), String> {
        let said = |error: std::io::Error| error.to_string();
        let mut stream = TcpStream::connect(&*self.authority).await.map_err(said)?;
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.path,
            self.authority,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).await.map_err(said)?;
        let mut answer = Vec::new();
        let mut limited = (&mut stream).take(ANSWER_BYTES_MAX as u64);
        limited.read_to_end(&mut answer).await.map_err(said)?;
        let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let status = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        match status {
            [b'2', _, _] => Ok(()),
            _ => Err(format!("answered {}", String::from_utf8_lossy(line))),
        }
    }
}

/// Takes findings; a task sends them.
pub struct Alerts {
    target: Target,
    queue: mpsc::Sender<Alert>,
    /// Until somebody delivers.
    waiting: Mutex<Option<mpsc::Receiver<Alert>>>,
}

impl Alerts {
    pub fn to(target: Target) -> Alerts {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        Alerts { target, queue, waiting: Mutex::new(Some(waiting)) }
    }

    /// Sends what comes, one after the other, for as long as there are senders. Once only.
    pub async fn deliver(&self) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waiting) = waiting {
            deliver(self.target.clone(), waiting).await;
        }
    }

    pub fn send(&self, alert: Alert) {
        if self.queue.try_send(alert).is_err() {
            tracing::warn!("too many findings wait for --alerts-url; one was not sent");
        }
    }
}

async fn deliver(target: Target, mut waiting: mpsc::Receiver<Alert>) {
    while let Some(alert) = waiting.recv().await {
        let body = body(&alert);
        let mut pause = PAUSE;
        for left in (0..TRIES).rev() {
            let outcome = match tokio::time::timeout(
                PATIENCE,
                target.post("application/json", body.as_bytes()),
            )
            .await
            {
                Ok(outcome) => outcome,
                Err(_) => Err("no answer in time".into()),
            };
            match outcome {
                Ok(()) => break,
                Err(error) if left == 0 => {
                    tracing::warn!(to = %target.authority, error, rule = alert.finding.rule, "a finding could not be sent to --alerts-url");
                }
                Err(_) => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
            }
        }
    }
}

fn body(Standing { finding, since_millis }: &Alert) -> String {
    let Finding { rule, severity, keyspace, table, subject, message, fix, confidence } = finding;
    let value = json!({
        "source": "partita", "rule": rule, "severity": severity.name(), "keyspace": keyspace, "table": table, "subject": subject,
        "finding": message, "fix": fix, "confidence": confidence, "since_ms": since_millis,
    });
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn addresses_are_checked() {
        let target = |url| Target::parse(url).map(|t| (t.authority.to_string(), t.path.to_string()));
        assert_eq!(target("http://127.0.0.1:9/a/b?c"), Ok(("127.0.0.1:9".into(), "/a/b?c".into())));
        assert_eq!(target("http://relay"), Ok(("relay:80".into(), "/".into())));
        for (url, part) in [
            ("https://relay/", "no TLS client"),
            ("http://u:p@relay/", "no user name"),
            ("http:///x", "form"),
            ("http://a b/", "form"),
        ] {
            assert!(target(url).is_err_and(|error| error.contains(part)), "{url}");
        }
    }

    #[tokio::test]
    async fn a_finding_is_sent_again_until_somebody_takes_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::parse(&format!("http://{}/hook", listener.local_addr().unwrap())).unwrap();
        let alerts = Alerts::to(target.clone());
        let finding = Finding {
            rule: "hot-partition",
            severity: design::Severity::Error,
            keyspace: "shop".into(),
            table: "orders".into(),
            subject: "acme".into(),
            message: "said \"so\"".into(),
            fix: "bucket".into(),
            confidence: "counted".into(),
        };
        alerts.send(Standing { finding, since_millis: 7 });
        let waiting = alerts.waiting.lock().unwrap().take().unwrap();
        drop(alerts);
        let sending = tokio::spawn(deliver(target, waiting));
        // The first is refused, the second closed, the third taken.
        for answer in ["HTTP/1.1 500 no\r\n\r\n", "", "HTTP/1.1 204 taken\r\n\r\n"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut got = Vec::new();
            while !got.ends_with(b"}") {
                let mut some = [0; 1024];
                let count = stream.read(&mut some).await.unwrap();
                got.extend_from_slice(&some[..count]);
            }
            let text = String::from_utf8(got).unwrap();
            assert!(text.starts_with("POST /hook HTTP/1.1\r\n"), "{text}");
            let body: serde_json::Value =
                serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap()).unwrap();
            assert_eq!((&body["subject"], &body["since_ms"]), (&json!("acme"), &json!(7)));
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        sending.await.unwrap();
    }
}
