//! A POST to the collector.

use crate::post;
use std::fmt;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

/// Where the collector listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target(post::Target);

impl Target {
    /// Reads `http://host[:port][/path]`, or `https`; says what is wrong with anything else.
    pub fn parse(url: &str) -> Result<Target, String> {
        post::Target::parse("--otlp-endpoint", url).map(Target)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.authority())
    }
}

pub async fn post(target: &Target, path: &str, body: &[u8]) -> Result<(), String> {
    let place = target.0.below(path);
    let sending = place.post("application/x-protobuf", body);
    match tokio::time::timeout(PATIENCE, Box::pin(sending)).await {
        Ok(outcome) => outcome,
        Err(_) => Err("no answer in time".into()),
    }
}
