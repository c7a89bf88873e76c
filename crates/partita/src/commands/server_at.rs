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
        let password = std::env::var("PARTITA_PASSWORD").unwrap_or_else(|_| client::FIRST_LOGIN.1.into());
        Client::connect_as(&*self.from, (&self.user, &password)).map_err(|error| {
            let (from, user) = (&self.from, &self.user);
            Failure::Failed(format!(
                "{from}: {error}. Is the server running there (--from), and may {user} log in (--user, PARTITA_PASSWORD)?"
            ))
        })
    }

    pub fn name(&self) -> &str {
        &self.from
    }
}
