//! Which way a client came to the HTTP listener: a server with a certificate speaks HTTPS and plain HTTP on one port.
//!
//! The first byte tells them apart: a TLS handshake begins with 22, a request with a letter. Plain HTTP stays for `/health` and
//! `/metrics`, which ask for no password; the console is sent to HTTPS, because a password and a session would cross the
//! network in clear.

use crate::tls::Certificates;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::io;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// The record type of a TLS handshake.
const HANDSHAKE: u8 = 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Plain HTTP, and the server has no certificate.
    Only,
    /// Plain HTTP, although the server has one.
    Plain,
    Tls,
}

pub enum Opened {
    Only(TcpStream),
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Opened {
    pub fn way(&self) -> Way {
        match self {
            Opened::Only(_) => Way::Only,
            Opened::Plain(_) => Way::Plain,
            Opened::Tls(_) => Way::Tls,
        }
    }
}

/// Looks at the first byte, and shakes hands if it asks for that.
pub async fn open(socket: TcpStream, certificates: &Certificates) -> io::Result<Opened> {
    let mut first = [0];
    if socket.peek(&mut first).await? == 0 || first[0] != HANDSHAKE {
        return Ok(Opened::Plain(socket));
    }
    Ok(Opened::Tls(Box::new(certificates.acceptor().accept(socket).await?)))
}

/// How a request came; one that nobody marked came the only way there is.
pub fn of(request: &Request) -> Way {
    request.extensions().get().copied().unwrap_or(Way::Only)
}

/// Sends the console's readers to HTTPS where there is HTTPS.
pub async fn safe(request: Request, next: Next) -> Response {
    if of(&request) != Way::Plain {
        return next.run(request).await;
    }
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let there = format!("https://{host}{}", request.uri().path());
    let said = format!("the console of this server is at {there}\n");
    (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, there)], said).into_response()
}
