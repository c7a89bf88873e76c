//! TLS from PEM files.

use crate::config::Tls;
use rustls::ServerConfig;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Reads certificate chain and key; the error says which file and what is wrong with it.
pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, String> {
    let certs: Vec<_> = rustls_pemfile::certs(&mut open(&tls.cert)?)
        .collect::<Result<_, _>>()
        .map_err(|e| format!("{}: not a PEM certificate: {e}", tls.cert.display()))?;
    if certs.is_empty() {
        return Err(format!("{}: holds no certificate", tls.cert.display()));
    }
    let key = rustls_pemfile::private_key(&mut open(&tls.key)?)
        .map_err(|e| format!("{}: not a PEM key: {e}", tls.key.display()))?
        .ok_or_else(|| format!("{}: holds no private key", tls.key.display()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_no_client_auth()
        .with_single_cert(certs, key)
        .map_err(|e| format!("certificate and key do not fit: {e}"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn open(path: &Path) -> Result<BufReader<File>, String> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(BufReader::new(file))
}
