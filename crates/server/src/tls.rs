//! TLS from PEM files.

use crate::config::Tls;
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Reads certificate chain, key and authorities; the error says which file and what is wrong with it.
pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, String> {
    let chain = certificates(&tls.cert)?;
    let key = rustls_pemfile::private_key(&mut open(&tls.key)?)
        .map_err(|e| format!("{}: not a PEM key: {e}", tls.key.display()))?
        .ok_or_else(|| format!("{}: holds no private key", tls.key.display()))?;
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

/// Accepts clients whose certificate an authority in this file signed.
fn signed_by(path: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(path)? {
        authorities
            .add(certificate)
            .map_err(|e| format!("{}: not the certificate of an authority: {e}", path.display()))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider.clone())
        .build()
        .map_err(|e| format!("{}: {e}", path.display()))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Vec<_> = rustls_pemfile::certs(&mut open(path)?)
        .collect::<Result<_, _>>()
        .map_err(|e| format!("{}: not a PEM certificate: {e}", path.display()))?;
    if found.is_empty() {
        return Err(format!("{}: holds no certificate", path.display()));
    }
    Ok(found)
}

fn open(path: &Path) -> Result<BufReader<File>, String> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(BufReader::new(file))
}
