//! Sockets to the nodes of a cluster, with TLS if that is wanted.

use crate::config::{ClusterTls, Contact};
use crate::tls;
use cluster::{Dial, Dialed, Halves};
use rustls::pki_types::ServerName;
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Dials nodes; cheap to clone.
#[derive(Clone)]
pub struct Sockets {
    tls: Option<TlsConnector>,
}

impl Sockets {
    pub fn new(tls: Option<&ClusterTls>) -> Result<Sockets, String> {
        let tls = tls.map(tls::towards_cluster).transpose()?;
        Ok(Sockets { tls: tls.map(|config| TlsConnector::from(Arc::new(config))) })
    }
}

impl Dial for Sockets {
    fn dial(&self, to: &Contact) -> Dialed {
        let (to, tls) = (to.clone(), self.tls.clone());
        Box::pin(async move {
            let socket = TcpStream::connect((&*to.host, to.port)).await?;
            socket.set_nodelay(true)?;
            let Some(tls) = tls else {
                let (reader, writer) = socket.into_split();
                return Ok(Halves { reader: Box::new(reader), writer: Box::new(writer) });
            };
            let name = ServerName::try_from(to.host)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
            let stream = tls.connect(name, socket).await?;
            let (reader, writer) = tokio::io::split(stream);
            Ok(Halves { reader: Box::new(reader), writer: Box::new(writer) })
        })
    }
}
