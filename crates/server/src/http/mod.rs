//! The HTTP listener: `/health`, `/metrics` and the console, on a thread of its own so that they can be read while shards are busy.
//!
//! Anybody who reaches it may ask, so nothing may wait: a request's head must arrive in time, bodies are refused (but for the console's, which are small), a connection
//! lives for a bounded time, and the number of connections is limited. A new one gets the place of the oldest.
//! Stopping is bounded too. A server with a certificate speaks HTTPS here as well, on the same port: see [`way`].

mod console;
mod pages;
mod shape;
mod way;

pub use pages::render as metrics_text;

use crate::accept::{self, Place, Places, PlacesMax};
use crate::config::Limits;
use crate::shard::{Refusals, Shared};
use crate::tls::Certificates;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONNECTION;
use axum::response::{IntoResponse, Response};
use hyper::body::{Body, Incoming};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use way::Way;

/// The head of a request: more is refused.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Threads for what the console asks.
const ASIDE_MAX: usize = 4;
/// After a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);
/// What is being answered when the server stops has so long to be sent.
const STOP_PATIENCE: Duration = Duration::from_secs(1);

/// Serves until `stopping` is done.
pub fn serve(
    listener: std::net::TcpListener,
    shared: Arc<Shared>,
    certificates: Option<Certificates>,
    stopping: impl Future<Output = ()> + Send + 'static,
) {
    let pages = pages::router(shared.clone()).merge(console::pages(&shared));
    let router = pages.layer(axum::middleware::from_fn(without_body)).merge(console::door(&shared));
    let limits = shared.config.limits.clone();
    serve_router(listener, Pages { router, certificates }, limits, Refusals(shared), stopping);
}

/// The same for pages of another kind of server.
pub fn serve_pages(
    listener: std::net::TcpListener,
    pages: Router,
    certificates: Option<Certificates>,
    limits: Limits,
    stopping: impl Future<Output = ()> + Send + 'static,
) {
    let router = pages.layer(axum::middleware::from_fn(without_body));
    serve_router(listener, Pages { router, certificates }, limits, Arc::new(AtomicU64::new(0)), stopping);
}

/// What is served, and with which certificate.
#[derive(Clone)]
struct Pages {
    router: Router,
    certificates: Option<Certificates>,
}

fn serve_router(
    listener: std::net::TcpListener,
    pages: Pages,
    limits: Limits,
    refusals: impl AsRef<AtomicU64>,
    stopping: impl Future<Output = ()> + Send + 'static,
) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(ASIDE_MAX).build();
    let served = runtime.and_then(|runtime| {
        runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = TcpListener::from_std(listener)?;
            let (stop, stopped) = watch::channel(());
            tokio::select! {
                () = accept_forever(listener, pages, &limits, refusals, stopped) => {}
                () = stopping => {}
            }
            // Connections hold the other ends until they have ended.
            stop.send_replace(());
            let _ = tokio::time::timeout(STOP_PATIENCE, stop.closed()).await;
            Ok(())
        })
    });
    if let Err(error) = served {
        let error: std::io::Error = error;
        tracing::error!(%error, "the http listener failed");
    }
}

async fn accept_forever(
    listener: TcpListener,
    pages: Pages,
    limits: &Limits,
    refusals: impl AsRef<AtomicU64>,
    stopped: watch::Receiver<()>,
) {
    let places = Places::new(PlacesMax { all: limits.http_connections_max, per_address: None });
    loop {
        let (socket, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                accept::accept_failed(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        places.let_out().await;
        match places.take(address.ip()) {
            Ok(place) => {
                let limits = Patience { head: limits.http_head_timeout, all: limits.http_connection_timeout };
                tokio::spawn(greet(socket, place, pages.clone(), limits, stopped.clone()));
            }
            Err(full) => {
                refusals.as_ref().fetch_add(1, Ordering::Relaxed);
                accept::refused(address, full, places.max());
            }
        }
    }
}

/// How long things may take.
struct Patience {
    /// From when a request is awaited until its head is there.
    head: Duration,
    /// A whole connection, however many requests it brings.
    all: Duration,
}

/// Finds out which way a client has come, then serves it. A handshake takes no longer than a head may.
async fn greet(
    socket: TcpStream,
    mut place: Place,
    pages: Pages,
    patience: Patience,
    stopped: watch::Receiver<()>,
) {
    let Pages { router, certificates } = pages;
    let mut lost = Box::pin(place.lost());
    let opening = async {
        let Some(certificates) = certificates else { return Some(way::Opened::Only(socket)) };
        let opening = way::open(socket, &certificates);
        tokio::time::timeout(patience.head, opening).await.ok()?.ok()
    };
    let opened = tokio::select! {
        opened = opening => opened,
        () = &mut lost => None,
    };
    let Some(opened) = opened else { return };
    let way = opened.way();
    match opened {
        way::Opened::Only(socket) | way::Opened::Plain(socket) => {
            converse(socket, lost, router, way, patience, stopped).await;
        }
        way::Opened::Tls(stream) => converse(stream, lost, router, way, patience, stopped).await,
    }
    // It was this connection's until here.
    drop(place);
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    socket: S,
    lost: impl Future<Output = ()>,
    router: Router,
    way: Way,
    patience: Patience,
    mut stopped: watch::Receiver<()>,
) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(way);
        router.call(request)
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    // A client that has said all it wants is answered all the same.
    builder
        .half_close(true)
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .max_buf_size(HEAD_BYTES_MAX);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(socket), service));
    let mut end = std::pin::pin!(async move {
        tokio::select! {
            () = lost => {}
            () = tokio::time::sleep(patience.all) => {}
        }
    });
    let mut stopping = false;
    loop {
        tokio::select! {
            // What ends a connection is the client's business, or said above.
            _ = &mut connection => return,
            () = &mut end => return,
            _ = stopped.changed(), if !stopping => {
                connection.as_mut().graceful_shutdown();
                stopping = true;
            }
        }
    }
}

/// What a connection that sends these bytes is answered, with pages that say nothing; for fuzzing.
pub async fn answered(bytes: &[u8]) -> Vec<u8> {
    let page = || async { "ok\n" };
    let router =
        Router::new().route("/health", axum::routing::get(page)).route("/metrics", axum::routing::get(page));
    let router = router.layer(axum::middleware::from_fn(without_body));
    let lost = std::future::pending();
    let patience = Patience { head: Duration::from_secs(1), all: Duration::from_secs(1) };
    let (_running, stopped) = watch::channel(());
    crate::drive::exchange(bytes, async |stream| {
        converse(stream, lost, router, Way::Only, patience, stopped).await
    })
    .await
}

/// No page takes a body: it is neither read nor kept.
async fn without_body(request: axum::extract::Request, next: axum::middleware::Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    (StatusCode::PAYLOAD_TOO_LARGE, [(CONNECTION, "close")], "this page takes no body\n").into_response()
}
