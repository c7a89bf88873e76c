//! Accepting connections and giving each to a shard; the same for every listener that shards serve.
//!
//! The first shard accepts for all: on the ordinary port it deals connections out in turn, on the
//! shard-aware port the client's source port says which shard it wants (port mod shards), as
//! ScyllaDB's drivers expect.

mod inside;
mod places;

pub use inside::Inside;
pub use places::{Full, Place, Places, PlacesMax};

use crate::seldom::Seldom;
use crate::stream::Stream;
use crate::tls::Certificates;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

/// Connections that wait in the kernel to be accepted.
const BACKLOG: i32 = 1024;

/// After a failed accept, so that a shortage of file descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A connection on its way to its shard.
pub struct Arrival<S> {
    pub socket: Socket,
    pub address: SocketAddr,
    /// Counts the connection until it ends.
    pub place: Place,
    pub serve: Serve<S>,
}

/// What a connection came over.
pub enum Socket {
    Client(TcpStream),
    /// From this process itself ([`Inside`]).
    Inside(UnixStream),
}

/// A socket that clients connect to, and what is spoken there.
pub struct Listener<S> {
    pub socket: TcpListener,
    pub spread: Spread,
    pub serve: Serve<S>,
}

/// Serves one client on its shard until it leaves, in the protocol of its listener. `S` is what a thread serves with: a shard
/// of the database, or a front end's.
pub type Serve<S> = fn(Rc<S>, Stream, SocketAddr, Place) -> Served;

pub type Served = Pin<Box<dyn Future<Output = ()>>>;

/// Binds a listening socket.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// How arrivals are spread over shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    InTurn,
    BySourcePort,
}

/// Accepts until the shards are gone; runs on one shard for all.
pub async fn accept_forever<S>(
    listener: Listener<S>,
    shards: Vec<mpsc::UnboundedSender<Arrival<S>>>,
    places: Places,
    refusals: impl AsRef<AtomicU64>,
) {
    let Listener { socket, spread, serve } = listener;
    let listener = socket.set_nonblocking(true).and_then(|()| tokio::net::TcpListener::from_std(socket));
    let listener = match listener {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the listener cannot be used"),
    };
    let mut next = 0usize;
    loop {
        let accepted =
            listener.accept().await.and_then(|(socket, address)| Ok((socket.into_std()?, address)));
        let (socket, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, or the client left already: neither ends the server.
                accept_failed(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        places.let_out().await;
        let place = match places.take(address.ip()) {
            Ok(place) => place,
            Err(full) => {
                refusals.as_ref().fetch_add(1, Ordering::Relaxed);
                refused(address, full, places.max());
                continue;
            }
        };
        let shard = match spread {
            Spread::InTurn => next % shards.len(),
            Spread::BySourcePort => address.port() as usize % shards.len(),
        };
        next = next.wrapping_add(1);
        let socket = Socket::Client(socket);
        if shards[shard].send(Arrival { socket, address, place, serve }).is_err() {
            return;
        }
    }
}

/// Serves what arrives on this shard.
pub async fn serve_arrivals<S: 'static>(
    shard: Rc<S>,
    mut arrivals: mpsc::UnboundedReceiver<Arrival<S>>,
    tls: Option<Certificates>,
    handshake_timeout: Duration,
) {
    while let Some(arrival) = arrivals.recv().await {
        let (shard, tls) = (shard.clone(), tls.clone());
        tokio::task::spawn_local(async move {
            let Arrival { socket, address, mut place, serve } = arrival;
            let lost = place.lost();
            let served = async {
                match open(handshake_timeout, socket, tls).await {
                    Ok(stream) => serve(shard, stream, address, place).await,
                    Err(error) => tracing::debug!(%address, %error, "connection failed to open"),
                }
            };
            tokio::select! {
                biased;
                () = served => {}
                () = lost => tracing::debug!(%address, "a connection gave its place to another before its client was known"),
            }
        });
    }
}

/// Anybody can cause these, so they are told seldom.
pub fn accept_failed(error: &io::Error) {
    static FAILED: Seldom = Seldom::new();
    if let Some(left_out) = FAILED.now() {
        tracing::warn!(%error, left_out, "accept failed");
    }
}

pub fn refused(address: SocketAddr, full: Full, max: usize) {
    static REFUSED: Seldom = Seldom::new();
    let Some(left_out) = REFUSED.now() else { return };
    match full {
        Full::All => {
            tracing::warn!(%address, max, left_out, "connection refused: too many connections (raise --connections-max)");
        }
        Full::Address => {
            tracing::warn!(%address, left_out, "connection refused: too many from one address (raise --connections-per-address-max)");
        }
    }
}

async fn open(patience: Duration, socket: Socket, tls: Option<Certificates>) -> io::Result<Stream> {
    let socket = match socket {
        Socket::Client(socket) => socket,
        Socket::Inside(socket) => {
            socket.set_nonblocking(true)?;
            return Ok(Stream::Inside(tokio::net::UnixStream::from_std(socket)?));
        }
    };
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)?;
    let socket = tokio::net::TcpStream::from_std(socket)?;
    let Some(tls) = tls else { return Ok(Stream::Plain(socket)) };
    let stream = tokio::time::timeout(patience, tls.acceptor().accept(socket)).await??;
    Ok(Stream::Tls(Box::new(stream)))
}
