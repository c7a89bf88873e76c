//! Accepting connections and giving each to a shard.
//!
//! The first shard accepts for all: on the ordinary port it deals connections out in turn, on the
//! shard-aware port the client's source port says which shard it wants (port mod shards), as
//! ScyllaDB's drivers expect.

use crate::connection::{Connection, Stream};
use crate::shard::{Shard, Shared};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

/// Connections that wait in the kernel to be accepted.
const BACKLOG: i32 = 1024;

/// After a failed accept, so that a shortage of file descriptors does not become a busy loop.
const ACCEPT_PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// A connection on its way to its shard.
pub struct Arrival {
    pub socket: TcpStream,
    pub address: SocketAddr,
    /// Counts the connection until it ends.
    pub place: Place,
}

/// A place among the connections that are allowed.
pub struct Place(Arc<AtomicUsize>);

impl Place {
    pub fn take(count: &Arc<AtomicUsize>, max: usize) -> Option<Place> {
        if count.fetch_add(1, Ordering::Relaxed) >= max {
            count.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Place(count.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

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
pub async fn accept_forever(
    listener: TcpListener,
    spread: Spread,
    shards: Vec<mpsc::UnboundedSender<Arrival>>,
    connections: Arc<AtomicUsize>,
    shared: Arc<Shared>,
) {
    let listener = listener.set_nonblocking(true).and_then(|()| tokio::net::TcpListener::from_std(listener));
    let listener = match listener {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the listener cannot be used"),
    };
    let max = shared.config.limits.connections_max;
    let mut next = 0usize;
    loop {
        let accepted =
            listener.accept().await.and_then(|(socket, address)| Ok((socket.into_std()?, address)));
        let (socket, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, or the client left already: neither ends the server.
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(place) = Place::take(&connections, max) else {
            shared.refused_connections.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(%address, max, "connection refused: too many connections (raise --connections-max)");
            continue;
        };
        let shard = match spread {
            Spread::InTurn => next % shards.len(),
            Spread::BySourcePort => address.port() as usize % shards.len(),
        };
        next = next.wrapping_add(1);
        if shards[shard].send(Arrival { socket, address, place }).is_err() {
            return;
        }
    }
}

/// Serves what arrives on this shard.
pub async fn serve_arrivals(
    shard: Rc<Shard>,
    mut arrivals: mpsc::UnboundedReceiver<Arrival>,
    tls: Option<TlsAcceptor>,
) {
    while let Some(arrival) = arrivals.recv().await {
        let (shard, tls) = (shard.clone(), tls.clone());
        tokio::task::spawn_local(async move {
            let Arrival { socket, address, place } = arrival;
            match open(&shard, socket, tls).await {
                Ok(stream) => Connection::new(shard, stream, address).run().await,
                Err(error) => tracing::debug!(%address, %error, "connection failed to open"),
            }
            drop(place);
        });
    }
}

async fn open(shard: &Shard, socket: TcpStream, tls: Option<TlsAcceptor>) -> io::Result<Stream> {
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)?;
    let socket = tokio::net::TcpStream::from_std(socket)?;
    let Some(tls) = tls else { return Ok(Stream::Plain(socket)) };
    let patience = shard.shared.config.limits.handshake_timeout;
    let stream = tokio::time::timeout(patience, tls.accept(socket)).await??;
    Ok(Stream::Tls(Box::new(stream)))
}
