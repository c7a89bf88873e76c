//! `--alerts-url`: findings as a POST of JSON, tried again when nobody takes them.
//!
//! A finding is sent once, when it begins. A receiver that does not answer 2xx is asked again a few times, ever later; then the log says
//! what was lost. The queue is bounded.

use crate::post::Target;
use cql::system::{Finding, Standing};
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// Findings that wait to be sent.
const QUEUE_MAX: usize = 256;
const TRIES: u32 = 6;
/// Before the second try; doubled for each further one.
const PAUSE: Duration = Duration::from_millis(500);
/// For one try.
const PATIENCE: Duration = Duration::from_secs(10);

/// A finding that has begun.
pub type Alert = Standing;

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
                    tracing::warn!(
                        to = target.authority(),
                        error,
                        rule = alert.finding.rule,
                        "a finding could not be sent to --alerts-url"
                    );
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_finding_is_sent_again_until_somebody_takes_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target =
            Target::parse("--alerts-url", &format!("http://{}/hook", listener.local_addr().unwrap()));
        let target = target.unwrap();
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
