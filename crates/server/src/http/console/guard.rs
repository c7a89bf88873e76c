//! Who may ask: requests to this server's own name, from its own page.

use super::refusal;
use crate::http::way::{self, Way};
use crate::shard::Shared;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use std::net::IpAddr;
use std::sync::Arc;

/// The page sends it; a page of another origin would have to ask first, and is told no.
const OWN_HEADER: &str = "x-partita-console";

/// Refuses requests that were sent to another name: such a name may lead here today and elsewhere tomorrow. Over TLS the certificate says
/// what this server is called, and the browser has compared it.
pub async fn host(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let listener = shared.config.http.map(|address| address.ip());
    if way::of(&request) == Way::Tls {
        return next.run(request).await;
    }
    match host_of(request.headers()) {
        Some(host) if is_ours(host, listener) => next.run(request).await,
        _ => {
            refusal(StatusCode::MISDIRECTED_REQUEST, "this server is not known by that name; use its address")
        }
    }
}

/// Refuses what another site's page could make a browser send.
pub async fn own_page(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let own_origin = match (headers.get(header::ORIGIN), headers.get(header::HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => {
            let (origin, host) = (origin.as_bytes(), host.as_bytes());
            origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://")) == Some(host)
        }
        (Some(_), None) => false,
    };
    if !own_origin || !headers.contains_key(OWN_HEADER) {
        return refusal(StatusCode::FORBIDDEN, "only the console's own page may ask");
    }
    next.run(request).await
}

/// The name that a request was sent to, without the port.
fn host_of(headers: &HeaderMap) -> Option<&str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next(),
        None => host.split(':').next(),
    }
}

/// An address cannot be rebound; of names only the one that every machine gives itself.
fn is_ours(host: &str, listener: Option<IpAddr>) -> bool {
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let Ok(address) = host.parse::<IpAddr>() else { return false };
    listener.is_some_and(|own| {
        own == address || own.is_unspecified() || (own.is_loopback() && address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be_rebound_are_refused() {
        let loopback = Some(IpAddr::from([127, 0, 0, 1]));
        for (host, ours) in [
            ("localhost", true),
            ("LOCALHOST", true),
            ("127.0.0.1", true),
            ("::1", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_ours(host, loopback), ours, "{host}");
        }
        assert!(is_ours("10.0.0.1", Some(IpAddr::from([0, 0, 0, 0]))));
        let mut headers = HeaderMap::new();
        assert_eq!(host_of(&headers), None);
        for (sent, host) in
            [("127.0.0.1:9180", "127.0.0.1"), ("[::1]:9180", "::1"), ("localhost", "localhost")]
        {
            headers.insert(header::HOST, sent.parse().unwrap());
            assert_eq!(host_of(&headers), Some(host));
        }
    }
}
