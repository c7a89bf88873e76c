//! Sending something to a service that the operator named: a POST, over TLS where the address says `https`.
//!
//! Passwords in the address are refused, because the address is logged. Authorities are read once, at the first use of TLS.

use crate::tls;
use rustls::pki_types::ServerName;
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Of an answer that is looked at.
const ANSWER_BYTES_MAX: usize = 4096;

/// Where something is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Host and port.
    authority: Arc<str>,
    path: Arc<str>,
    has_tls: bool,
}

impl Target {
    /// Reads `http://host[:port][/path]`, or `https`; says of which option it is and what is wrong with anything else.
    pub fn parse(option: &str, url: &str) -> Result<Target, String> {
        let (rest, has_tls) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (rest, false),
            (_, Some(rest)) => (rest, true),
            _ => return Err(format!("{option} must begin with http:// or https://")),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        if authority.contains('@') {
            return Err(format!("{option} must hold no user name or password: it is logged"));
        }
        if authority.is_empty() || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(format!("{option} is not of the form https://host:port/path"));
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let usual = if has_tls { 443 } else { 80 };
        let authority = if has_port { authority.to_string() } else { format!("{authority}:{usual}") };
        let target = Target { authority: authority.into(), path: path.into(), has_tls };
        if has_tls {
            // What would keep every try from working is told at the start.
            greeting().map_err(|error| format!("{option}: {error}"))?;
            target.name().map_err(|error| format!("{option}: {error}"))?;
        }
        Ok(target)
    }

    /// Host and port.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// A place below this one.
    pub fn below(&self, path: &str) -> Target {
        let whole = format!("{}{path}", self.path.trim_end_matches('/'));
        Target { path: whole.into(), ..self.clone() }
    }

    /// Sends a body; whoever does not answer 2xx has not taken it.
    pub async fn post(&self, kind: &str, body: &[u8]) -> Result<(), String> {
        let said = |error: std::io::Error| error.to_string();
        let socket = TcpStream::connect(&*self.authority).await.map_err(said)?;
        if !self.has_tls {
            return self.converse(socket, kind, body).await;
        }
        let stream = greeting()?.connect(self.name()?, socket).await.map_err(said)?;
        self.converse(stream, kind, body).await
    }

    /// What its certificate must name.
    fn name(&self) -> Result<ServerName<'static>, String> {
        let host = self.authority.rsplit_once(':').map_or(&*self.authority, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        ServerName::try_from(host.to_string()).map_err(|error| format!("{host}: {error}"))
    }

    async fn converse(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        kind: &str,
        body: &[u8],
    ) -> Result<(), String> {
        let said = |error: std::io::Error| error.to_string();
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.path,
            self.authority,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).await.map_err(said)?;
        stream.flush().await.map_err(said)?;
        let mut answer = Vec::new();
        let read = (&mut stream).take(ANSWER_BYTES_MAX as u64).read_to_end(&mut answer).await;
        let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let status = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        match (status, read) {
            // Whoever leaves without a goodbye of TLS has answered all the same.
            ([b'2', _, _], _) => Ok(()),
            ([], Err(error)) => Err(said(error)),
            _ => Err(format!("answered {}", String::from_utf8_lossy(line))),
        }
    }
}

fn greeting() -> Result<&'static TlsConnector, String> {
    static GREETING: OnceLock<Result<TlsConnector, String>> = OnceLock::new();
    let greeting =
        GREETING.get_or_init(|| tls::towards_others().map(|config| TlsConnector::from(Arc::new(config))));
    greeting.as_ref().map_err(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        let target = |url| Target::parse("--to", url).map(|t| (t.authority.to_string(), t.path.to_string()));
        assert_eq!(target("http://127.0.0.1:9/a/b?c"), Ok(("127.0.0.1:9".into(), "/a/b?c".into())));
        assert_eq!(target("http://relay"), Ok(("relay:80".into(), "/".into())));
        for (url, part) in [
            ("ftp://relay/", "begin with http"),
            ("http://u:p@relay/", "no user name"),
            ("http:///x", "form"),
            ("http://a b/", "form"),
        ] {
            assert!(target(url).is_err_and(|error| error.contains(part) && error.contains("--to")), "{url}");
        }
    }
}
