//! Authentication of a connection: SASL PLAIN against the roles table. Texts and classes are Cassandra's.

use super::Peer;
use super::handle::{Failure, Head};
use crate::auth::{Login, verify};
use crate::cql::outcome;
use crate::seldom::{Seldom, shown};
use crate::shard::Shard;
use cql_wire::{ErrorKind, ErrorMessage, Reply, Response};
use std::rc::Rc;

/// Checks the client's credentials; the connection goes on only if they are right. The client may try again.
pub async fn respond(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    head: Head,
    token: Option<&[u8]>,
) -> Result<(), Failure> {
    // This request is one. More would let one connection fill the line of passwords to be checked.
    if peer.in_flight.get() > 1 {
        let text = "An authentication is under way on this connection; wait for its answer";
        return Err(Failure::Wire(ErrorMessage::new(ErrorKind::Protocol, text)));
    }
    let (user, password) = credentials(token.unwrap_or_default()).map_err(|text| refuse(text.into()))?;
    let outcome = log_in(shard, peer, &user, password).await;
    outcome::login(shard, peer, &user, outcome.as_ref().err());
    outcome?;
    peer.entry.client.logged_in(&user);
    peer.session.borrow_mut().role = Some(user.into());
    peer.authenticated.set(true);
    let reply = Reply::new(head.protocol, head.stream);
    Response::AuthSuccess(None).encode(&reply, &mut peer.outbox.borrow_mut());
    Ok(())
}

fn refuse(text: String) -> Failure {
    Failure::Wire(ErrorMessage::new(ErrorKind::BadCredentials, text))
}

/// Decides; who is let in has a place.
async fn log_in(shard: &Rc<Shard>, peer: &Peer, user: &str, password: Vec<u8>) -> Result<(), Failure> {
    let superuser = match verify(shard, peer.address.ip(), user, password).await {
        Login::Granted { superuser } => superuser,
        Login::Wrong => {
            failed(peer, user, "authentication failed");
            let text = format!("Provided username {} and/or password are incorrect", shown(user));
            return Err(refuse(text));
        }
        Login::NotPermitted => {
            failed(peer, user, "a role without LOGIN tried to log in");
            return Err(refuse(format!("{} is not permitted to log in", shown(user))));
        }
        Login::Busy => return Err(overloaded("Too many clients are logging in; try again later")),
    };
    if peer.place.is_kept() && !superuser {
        return Err(overloaded("Too many connections; the last ones are for superusers. Try again later"));
    }
    if !peer.place.settle() {
        return Err(overloaded("Too many connections; try again later"));
    }
    Ok(())
}

fn overloaded(text: &str) -> Failure {
    Failure::Wire(ErrorMessage::new(ErrorKind::Overloaded, text))
}

/// Anybody can fail as often as he likes: not every time is a line in the log.
fn failed(peer: &Peer, user: &str, what: &str) {
    static FAILED: Seldom = Seldom::new();
    if let Some(left_out) = FAILED.now() {
        tracing::warn!(peer = %peer.address, user = shown(user), left_out, "{what}");
    }
}

/// User and password of `authzid NUL user NUL password`, read from the end as Cassandra does.
fn credentials(token: &[u8]) -> Result<(String, Vec<u8>), &'static str> {
    let mut parts = token.rsplitn(3, |&b| b == 0);
    let (password, user, authorization) = (parts.next(), parts.next(), parts.next());
    let password = password.filter(|p| !p.is_empty() && user.is_some()).ok_or("Password must not be null")?;
    let user = user.filter(|u| !u.is_empty()).ok_or("Authentication ID must not be null")?;
    match authorization {
        None => Err("Authentication ID must not be null"),
        Some(rest) if rest.contains(&0) => {
            Err("Credential format error: username or password is empty or contains NUL(\\0) character")
        }
        Some(_) => Ok((String::from_utf8_lossy(user).into_owned(), password.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::credentials;

    #[test]
    fn tokens_are_read_from_the_end() {
        let good = Ok(("bob".to_string(), b"secret".to_vec()));
        assert_eq!(credentials(b"\0bob\0secret"), good);
        assert_eq!(credentials(b"admin\0bob\0secret"), good);
    }

    /// Tokens and answers as a Cassandra 5.0.6 gave them.
    #[test]
    fn incomplete_tokens_are_refused() {
        let no_password = Err("Password must not be null");
        let no_user = Err("Authentication ID must not be null");
        assert_eq!(credentials(b""), no_password);
        assert_eq!(credentials(b"bob"), no_password);
        assert_eq!(credentials(b"\0bob\0"), no_password);
        assert_eq!(credentials(b"\0\0secret"), no_user);
        assert_eq!(credentials(b"bob\0secret"), no_user);
        assert!(credentials(b"a\0b\0bob\0secret").unwrap_err().starts_with("Credential format error"));
    }
}
