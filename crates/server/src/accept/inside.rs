//! Connections of the server to itself: the console's sessions are clients like any other, but neither a port nor TLS is between.

use super::{Arrival, Places, Serve, Socket};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// Connects to the shards without a listener.
pub struct Inside<S> {
    shards: Vec<mpsc::UnboundedSender<Arrival<S>>>,
    places: Places,
    serve: Serve<S>,
    next: AtomicUsize,
}

impl<S> Inside<S> {
    pub fn new(shards: Vec<mpsc::UnboundedSender<Arrival<S>>>, places: Places, serve: Serve<S>) -> Inside<S> {
        assert!(!shards.is_empty());
        Inside { shards, places, serve, next: AtomicUsize::new(0) }
    }

    /// The client's end. It takes a place as a connection from this machine does.
    pub fn connect(&self) -> io::Result<UnixStream> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let place = self.places.take(address.ip()).map_err(|_| {
            io::Error::other("the server has no place for another connection (raise --connections-max)")
        })?;
        let (client, socket) = UnixStream::pair()?;
        let shard = self.next.fetch_add(1, Ordering::Relaxed) % self.shards.len();
        let arrival = Arrival { socket: Socket::Inside(socket), address, place, serve: self.serve };
        self.shards[shard].send(arrival).map_err(|_| io::Error::other("the server is stopping"))?;
        Ok(client)
    }
}
