//! How commands reach a running server.

use super::Failure;
use clap::Args;
use client::Client;

#[derive(Args)]
pub struct ServerAt {
    /// The CQL listener of the server
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9042", env = "PARTITA_CQL")]
    from: String,
    /// The role to log in as, where the server asks. The password is PARTITA_PASSWORD
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
