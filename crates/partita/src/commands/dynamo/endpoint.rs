//! A small client of the DynamoDB API: one connection, HTTP/1.1, retries where the API asks for them.

use super::Failure;
use serde_json::Value;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const TIMEOUT: Duration = Duration::from_secs(60);
const ATTEMPTS_MAX: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest answer that is read: a page of 1 MiB has less as JSON.
const ANSWER_BYTES_MAX: usize = 64 << 20;

pub struct Endpoint {
    /// As in the Host header.
    host: String,
    region: String,
    keys: Option<(String, String)>,
    stream: Option<BufReader<TcpStream>>,
}

/// Why a call failed.
#[derive(Debug)]
pub enum CallError {
    /// The API's name of the error, and its message.
    Refused(String, String),
    Lost(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Refused(name, message) => write!(f, "{name}: {message}"),
            CallError::Lost(text) => f.write_str(text),
        }
    }
}

impl Endpoint {
    pub fn new(url: &str, region: &str, keys: Option<(String, String)>) -> Result<Endpoint, Failure> {
        let Some(host) = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/')) else {
            return Err(Failure::Usage(format!(
                "--endpoint {url}: must begin with http:// (this client has no TLS; run it on the server's machine)"
            )));
        };
        if host.is_empty() || host.contains(['/', '\r', '\n']) {
            return Err(Failure::Usage(format!("--endpoint {url}: http://HOST:PORT is expected")));
        }
        let host = if host.contains(':') { host.to_string() } else { format!("{host}:80") };
        Ok(Endpoint { host, region: region.to_string(), keys, stream: None })
    }

    /// Another connection to the same place.
    pub fn again(&self) -> Endpoint {
        Endpoint {
            host: self.host.clone(),
            region: self.region.clone(),
            keys: self.keys.clone(),
            stream: None,
        }
    }

    pub fn call(&mut self, operation: &str, body: &Value) -> Result<Value, CallError> {
        let body = body.to_string();
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let failed = match self.once(operation, &body) {
                Ok((200, answer)) => {
                    return serde_json::from_slice(&answer).map_err(|error| {
                        CallError::Lost(format!("{}: the answer is no JSON: {error}", self.host))
                    });
                }
                Ok((status, answer)) => {
                    let error = refused(&answer);
                    if !is_worth_a_retry(status, &error) {
                        return Err(error);
                    }
                    error
                }
                Err(error) => {
                    self.stream = None;
                    CallError::Lost(format!(
                        "{}: {error}. Is a server running there (--endpoint)?",
                        self.host
                    ))
                }
            };
            // A connection that was closed while it was idle is opened again at once.
            if attempt >= ATTEMPTS_MAX || (matches!(failed, CallError::Lost(_)) && attempt > 1) {
                return Err(failed);
            }
            sleep(pause);
            pause *= 2;
        }
        Err(CallError::Lost("no attempt was made".into()))
    }

    fn once(&mut self, operation: &str, body: &str) -> io::Result<(u16, Vec<u8>)> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.host)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(TIMEOUT))?;
            stream.set_write_timeout(Some(TIMEOUT))?;
            self.stream = Some(BufReader::new(stream));
        }
        let target = format!("DynamoDB_20120810.{operation}");
        let mut headers = vec![
            ("content-type", "application/x-amz-json-1.0".to_string()),
            ("host", self.host.clone()),
            ("x-amz-target", target),
        ];
        // A server without authentication takes any keys, but wants some.
        let (id, secret) = self.keys.as_ref().map_or(("any", "any"), |(id, secret)| (id, secret));
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_secs());
        let signed = (id, secret);
        server::sign_dynamo_request(&mut headers, body.as_bytes(), signed, &self.region, seconds as i64);
        let mut request = String::from("POST / HTTP/1.1\r\n");
        for (name, value) in &headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        let Some(stream) = &mut self.stream else { return Err(io::ErrorKind::NotConnected.into()) };
        stream.get_mut().write_all(request.as_bytes())?;
        let (status, answer, keep) = answer(stream)?;
        if !keep {
            self.stream = None;
        }
        Ok((status, answer))
    }
}

/// Status, body, and whether the connection stays.
fn answer(stream: &mut BufReader<TcpStream>) -> io::Result<(u16, Vec<u8>, bool)> {
    let malformed = || io::Error::other("the answer is not HTTP/1.1");
    let mut line = String::new();
    stream.take(8 << 10).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(malformed)?;
    let (mut length, mut keep) = (0usize, true);
    loop {
        line.clear();
        stream.take(8 << 10).read_line(&mut line)?;
        let trimmed = line.trim_end();
        if trimmed.is_empty() {
            break;
        }
        let (name, value) = trimmed.split_once(':').ok_or_else(malformed)?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(|_| malformed())?,
            "connection" => keep = !value.trim().eq_ignore_ascii_case("close"),
            "transfer-encoding" => return Err(io::Error::other("chunked answers are not read here")),
            _ => {}
        }
    }
    if length > ANSWER_BYTES_MAX {
        return Err(io::Error::other("the answer is longer than any should be"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((status, body, keep))
}

fn refused(answer: &[u8]) -> CallError {
    let body: Value = serde_json::from_slice(answer).unwrap_or_default();
    let name = body["__type"].as_str().unwrap_or("UnknownError");
    let name = name.rsplit('#').next().unwrap_or(name).to_string();
    let message = body["message"].as_str().or(body["Message"].as_str()).unwrap_or_default();
    CallError::Refused(name, message.to_string())
}

fn is_worth_a_retry(status: u16, error: &CallError) -> bool {
    let CallError::Refused(name, _) = error else { return true };
    status >= 500
        || matches!(
            name.as_str(),
            "ThrottlingException" | "ProvisionedThroughputExceededException" | "RequestLimitExceeded"
        )
}
