//! How commands reach a running server.

use super::Failure;
use clap::Args;
use client::Client;
use server::config::ClusterTls;

#[derive(Args)]
pub struct ServerAt {
    /// The CQL listener of the server
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9042", env = "PARTITA_CQL")]
    from: String,
    /// The role to log in as, if the server asks. The password is PARTITA_PASSWORD
    #[arg(long, value_name = "ROLE", env = "PARTITA_USER", default_value = client::FIRST_LOGIN.0)]
    user: String,
}

impl ServerAt {
    pub fn connect(&self) -> Result<Client, Failure> {
        connect(&self.from, &self.user)
    }

    pub fn name(&self) -> &str {
        &self.from
    }
}

/// Connects as a role, if the server asks; without a port to CQL's usual one.
pub fn connect(from: &str, user: &str) -> Result<Client, Failure> {
    let password = std::env::var("PARTITA_PASSWORD").unwrap_or_else(|_| client::FIRST_LOGIN.1.into());
    connect_with(from, user, &password)
}

/// The same over TLS, with this password if there is one.
pub fn connect_tls(
    from: &str,
    user: &str,
    password: Option<&str>,
    tls: &ClusterTls,
) -> Result<Client, Failure> {
    let password = match password {
        Some(password) => password.to_string(),
        None => std::env::var("PARTITA_PASSWORD").unwrap_or_else(|_| client::FIRST_LOGIN.1.into()),
    };
    let contact = server::config::parse_contacts(&format!("cassandra://{from}"));
    let contact = contact.ok().and_then(|contacts| contacts.into_iter().next());
    let contact = contact.ok_or_else(|| Failure::Usage(format!("{from}: say HOST or HOST:PORT")))?;
    let opened = server::dial_tls(&contact.host, contact.port, tls, client::READ_TIMEOUT);
    let connected = opened.and_then(|stream| {
        Client::over(Box::new(stream), (user, &password)).map_err(|error| error.to_string())
    });
    connected.map_err(|error| {
        Failure::Failed(format!(
            "{from}: {error}. Does the server speak TLS there, and do the authorities of --tls-ca sign a certificate that names this host?"
        ))
    })
}

/// The same with this password.
pub fn connect_with(from: &str, user: &str, password: &str) -> Result<Client, Failure> {
    let has_port = from.rsplit_once(':').is_some_and(|(host, _)| !host.contains(':') || host.ends_with(']'));
    let at = if has_port { from.to_string() } else { format!("{from}:9042") };
    Client::connect_as(&*at, (user, password)).map_err(|error| {
        Failure::Failed(format!(
            "{from}: {error}. Is the server running there (--from), and may {user} log in (--user, PARTITA_PASSWORD)?"
        ))
    })
}
