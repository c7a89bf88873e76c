//! The connections of one scenario: the first for most statements, others by protocol version and role.

use client::{Client, ClientError};
use cql_wire::Version;
use std::net::SocketAddr;

/// Which connection a statement uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub version: Version,
    /// Role and password; `None` is the first superuser, or nobody where nobody logs in.
    pub login: Option<(String, String)>,
}

impl Default for Key {
    fn default() -> Key {
        Key { version: Version::V5, login: None }
    }
}

pub struct Connections {
    address: SocketAddr,
    keyspace: String,
    open: Vec<(Key, Client)>,
    /// The id of the last traced statement.
    pub trace: Option<String>,
}

impl Connections {
    /// Begins a scenario in a new keyspace.
    pub fn begin(address: SocketAddr, keyspace: String) -> Result<Connections, ClientError> {
        let client = crate::run::open(address, &keyspace)?;
        Ok(Connections { address, keyspace, open: vec![(Key::default(), client)], trace: None })
    }

    pub fn keyspace(&self) -> &str {
        &self.keyspace
    }

    /// The connection, opened now if it is not yet; a refused login is an answer.
    pub fn get(&mut self, key: &Key) -> Result<Result<&mut Client, Vec<String>>, ClientError> {
        let found = self.open.iter().position(|(open, _)| open == key);
        let at = match found {
            Some(at) => at,
            None => {
                let login = key.login.as_ref().map(|(role, password)| (role.as_str(), password.as_str()));
                let login = login.unwrap_or(client::FIRST_LOGIN);
                match Client::login(self.address, key.version, login, crate::answer::lines)? {
                    Ok(mut client) => {
                        client.must(&format!("USE {}", self.keyspace))?;
                        self.open.push((key.clone(), client));
                        self.open.len() - 1
                    }
                    Err(refusal) => return Ok(Err(refusal)),
                }
            }
        };
        let (_, client) = self.open.get_mut(at).ok_or_else(|| ClientError("no connection".into()))?;
        Ok(Ok(client))
    }

    /// Forgets a connection that broke.
    pub fn lose(&mut self, key: &Key) {
        self.open.retain(|(open, _)| open != key);
    }

    /// Drops the keyspace.
    pub fn end(mut self) {
        let drop = format!("DROP KEYSPACE IF EXISTS {}", self.keyspace);
        // A scenario may have left it unusable; the next run drops it again anyway.
        if let Ok(Ok(client)) = self.get(&Key::default()) {
            let _ = client.must(&drop);
        }
    }
}
