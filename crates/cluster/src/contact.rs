//! `cassandra://h1[:port],h2,[::1]:9042`: where a cluster is first looked for.

use std::fmt;

/// The port of the native protocol where none is named.
pub const DEFAULT_PORT: u16 = 9042;

const SCHEME: &str = "cassandra://";

/// A node to ask first. Hosts are names or addresses; names are looked up each time they are dialled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contact {
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// A text that names no cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContactError {
    Scheme,
    Empty,
    Port {
        text: String,
    },
    /// A user or a path: secrets do not belong into a command line, and keyspaces are chosen by clients.
    Extra {
        text: String,
    },
}

impl fmt::Display for ContactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContactError::Scheme => write!(f, "write it as {SCHEME}host1[:port],host2"),
            ContactError::Empty => write!(f, "names no host; write it as {SCHEME}host1[:port],host2"),
            ContactError::Port { text } => write!(f, "{text}: the port is no number from 1 to 65535"),
            ContactError::Extra { text } => write!(
                f,
                "{text}: only hosts and ports go here; the account is --cluster-user with --cluster-password-file, and clients choose their keyspaces"
            ),
        }
    }
}

impl std::error::Error for ContactError {}

/// Reads the value of `--engine`.
pub fn parse_contacts(text: &str) -> Result<Vec<Contact>, ContactError> {
    let hosts = text.strip_prefix(SCHEME).ok_or(ContactError::Scheme)?;
    if hosts.contains(['@', '/', '?']) {
        return Err(ContactError::Extra { text: hosts.to_owned() });
    }
    let mut contacts = Vec::new();
    for one in hosts.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        contacts.push(parse_one(one)?);
    }
    if contacts.is_empty() { Err(ContactError::Empty) } else { Ok(contacts) }
}

fn parse_one(text: &str) -> Result<Contact, ContactError> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        // More than one colon without brackets is an address of IPv6 without a port.
        None if text.matches(':').count() > 1 => (text, None),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => port
            .parse()
            .ok()
            .filter(|port| *port != 0)
            .ok_or_else(|| ContactError::Port { text: text.to_owned() })?,
    };
    if host.is_empty() {
        return Err(ContactError::Empty);
    }
    Ok(Contact { host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<Vec<String>, ContactError> {
        parse_contacts(text).map(|contacts| contacts.iter().map(Contact::to_string).collect())
    }

    #[test]
    fn hosts_ports_and_brackets() {
        assert_eq!(shown("cassandra://a").unwrap(), ["a:9042"]);
        assert_eq!(shown("cassandra://a,b:19042, 10.0.0.3").unwrap(), ["a:9042", "b:19042", "10.0.0.3:9042"]);
        assert_eq!(shown("cassandra://[::1]:99,fe80::1").unwrap(), ["[::1]:99", "[fe80::1]:9042"]);
    }

    #[test]
    fn what_names_no_cluster_says_why() {
        assert_eq!(shown("a,b"), Err(ContactError::Scheme));
        assert_eq!(shown("cassandra://"), Err(ContactError::Empty));
        assert_eq!(shown("cassandra://:1"), Err(ContactError::Empty));
        assert!(matches!(shown("cassandra://a:0"), Err(ContactError::Port { .. })));
        assert!(matches!(shown("cassandra://a:x"), Err(ContactError::Port { .. })));
        assert!(shown("cassandra://me:secret@a").unwrap_err().to_string().contains("--cluster-user"));
    }
}
