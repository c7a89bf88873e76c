//! Connections to others.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};

/// Connects without Nagle's delay.
pub fn connect(address: impl ToSocketAddrs) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
