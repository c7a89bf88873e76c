//! TLS from PEM files, which can be read again while the server runs.

use crate::config::{ClusterTls, Tls};
use rustls::ClientConfig;
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use std::io;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_rustls::TlsAcceptor;

/// What new connections are greeted with; all clones change together.
#[derive(Clone)]
pub struct Certificates {
    files: Tls,
    current: Arc<Mutex<TlsAcceptor>>,
}

impl Certificates {
    pub fn open(files: &Tls) -> Result<Certificates, String> {
        let current = Arc::new(Mutex::new(acceptor(files)?));
        Ok(Certificates { files: files.clone(), current })
    }

    pub fn acceptor(&self) -> TlsAcceptor {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files again. If one of them is of no use, what was read before stays.
    pub fn reload(&self) -> Result<(), String> {
        let renewed = acceptor(&self.files)?;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(())
    }
}

/// Reads certificate chain, key and authorities; the error says which file and what is wrong with it.
fn acceptor(tls: &Tls) -> Result<TlsAcceptor, String> {
    let chain = certificates(&tls.cert)?;
    let key = private_key(&tls.key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = match &tls.client_ca {
        Some(path) => signed_by(path, &provider)?,
        None => WebPkiClientVerifier::no_client_auth(),
    };
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key)
        .map_err(|e| format!("certificate and key do not fit: {e}"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// How a front end greets the nodes of its cluster: their certificates must be signed by one of the authorities and name the
/// host that was dialled.
pub fn towards_cluster(tls: &ClusterTls) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let authorities = authorities(&tls.ca)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_root_certificates(authorities);
    let Some((cert, key)) = &tls.own else { return Ok(builder.with_no_client_auth()) };
    builder
        .with_client_auth_cert(certificates(cert)?, private_key(key)?)
        .map_err(|e| format!("certificate and key do not fit: {e}"))
}

/// Where systems keep the authorities that they trust; `SSL_CERT_FILE` names another file.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How the server greets others that it was told to send something to: their certificates must be signed by an authority that this
/// machine trusts, and name the host.
pub fn towards_others() -> Result<ClientConfig, String> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let mut known = SYSTEM_AUTHORITIES.iter().map(PathBuf::from);
    let file = named.or_else(|| known.find(|file| file.exists())).ok_or(
        "this machine has no file of authorities (install ca-certificates, or name one with SSL_CERT_FILE)",
    )?;
    let mut authorities = RootCertStore::empty();
    // Such files may hold authorities of kinds that are no use here; the others are.
    let (taken, _) = authorities.add_parsable_certificates(certificates(&file)?);
    if taken == 0 {
        return Err(format!("{}: holds no authority that can be used", file.display()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    Ok(builder.with_root_certificates(authorities).with_no_client_auth())
}

/// A blocking connection over TLS, for commands: the server's certificate must be signed by one of the authorities and name the host.
pub fn dial(
    host: &str,
    port: u16,
    tls: &ClusterTls,
    patience: Duration,
) -> Result<impl io::Read + io::Write + Send + use<>, String> {
    let config = Arc::new(towards_cluster(tls)?);
    let name = ServerName::try_from(host.to_string()).map_err(|error| format!("{host}: {error}"))?;
    let told = |error: &dyn std::fmt::Display| format!("{host}:{port}: {error}");
    let socket = TcpStream::connect((host, port)).map_err(|error| told(&error))?;
    let ready = socket.set_nodelay(true).and_then(|()| socket.set_read_timeout(Some(patience)));
    ready.map_err(|error| told(&error))?;
    let connection = rustls::ClientConnection::new(config, name).map_err(|error| told(&error))?;
    Ok(rustls::StreamOwned::new(connection, socket))
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let key = match PrivateKeyDer::from_pem_slice(&read(path)?) {
        Ok(key) => key,
        Err(pem::Error::NoItemsFound) => return Err(format!("{}: holds no private key", path.display())),
        Err(error) => return Err(format!("{}: not a PEM key: {error}", path.display())),
    };
    warn_if_others_may_read(path);
    Ok(key)
}

/// Accepts clients whose certificate an authority in this file signed.
fn signed_by(path: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let authorities = authorities(path)?;
    WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider.clone())
        .build()
        .map_err(|e| format!("{}: {e}", path.display()))
}

fn authorities(path: &Path) -> Result<RootCertStore, String> {
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(path)? {
        authorities
            .add(certificate)
            .map_err(|e| format!("{}: not the certificate of an authority: {e}", path.display()))?;
    }
    Ok(authorities)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(&read(path)?)
        .collect::<Result<_, _>>()
        .map_err(|e| format!("{}: not a PEM certificate: {e}", path.display()))?;
    if found.is_empty() {
        return Err(format!("{}: holds no certificate", path.display()));
    }
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Anybody who reads the key can pretend to be this server.
fn warn_if_others_may_read(key: &Path) {
    let mode = std::fs::metadata(key).map_or(0, |found| found.permissions().mode());
    if mode & 0o077 != 0 {
        let file = key.display();
        tracing::warn!(
            "SECURITY: other users of this machine may read the TLS key {file}. Close it: chmod 600 {file}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(tls: &Tls, name: &str) {
        let made = rcgen::generate_simple_self_signed(vec![name.to_string()]).unwrap();
        std::fs::write(&tls.cert, made.cert.pem()).unwrap();
        std::fs::write(&tls.key, made.signing_key.serialize_pem()).unwrap();
    }

    #[test]
    fn certificates_are_renewed_while_the_server_runs_and_broken_ones_are_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let tls = Tls { cert: dir.path().join("c.pem"), key: dir.path().join("k.pem"), client_ca: None };
        assert!(Certificates::open(&tls).err().unwrap().contains("c.pem"));
        write(&tls, "one");
        let shared = Certificates::open(&tls).unwrap();
        let of_a_shard = shared.clone();
        let one = of_a_shard.acceptor();
        write(&tls, "two");
        assert!(Arc::ptr_eq(one.config(), of_a_shard.acceptor().config()), "not before it is told");
        shared.reload().unwrap();
        let two = of_a_shard.acceptor();
        assert!(!Arc::ptr_eq(one.config(), two.config()));
        for broken in ["", "no PEM at all", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
        {
            std::fs::write(&tls.key, broken).unwrap();
            assert!(shared.reload().unwrap_err().contains("k.pem") || broken.contains("BEGIN"));
            assert!(Arc::ptr_eq(two.config(), of_a_shard.acceptor().config()));
        }
    }
}
