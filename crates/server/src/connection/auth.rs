//! Authentication of a connection: SASL PLAIN against the roles table.

use super::Peer;
use super::handle::{Failure, Head};
use crate::shard::Shard;
use cql_wire::{ErrorKind, ErrorMessage, Reply, Response};
use std::rc::Rc;

/// Checks the client's credentials; the connection goes on only if they are right.
pub async fn respond(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    head: Head,
    token: Option<&[u8]>,
) -> Result<(), Failure> {
    let (user, password) = credentials(token.unwrap_or_default()).ok_or_else(|| {
        let text = "The authentication token is not authzid NUL user NUL password";
        Failure::Wire(ErrorMessage::new(ErrorKind::Protocol, text))
    })?;
    let good = crate::auth::verify(shard, &user, password).await;
    if !good {
        tracing::warn!(peer = %peer.address, user, "authentication failed");
        let text = format!("Provided username {user} and/or password are incorrect");
        return Err(Failure::Wire(ErrorMessage::new(ErrorKind::BadCredentials, text)));
    }
    peer.session.borrow_mut().role = Some(user.into());
    peer.authenticated.set(true);
    let reply = Reply::new(head.protocol, head.stream);
    Response::AuthSuccess(None).encode(&reply, &mut peer.outbox.borrow_mut());
    Ok(())
}

/// `authzid NUL user NUL password`, read from the end as Cassandra does.
fn credentials(token: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut parts = token.rsplitn(3, |&b| b == 0);
    let password = parts.next()?.to_vec();
    let user = String::from_utf8(parts.next()?.to_vec()).ok()?;
    Some((user, password)).filter(|(user, _)| !user.is_empty())
}

#[cfg(test)]
mod tests {
    use super::credentials;

    #[test]
    fn tokens_are_read_from_the_end() {
        assert_eq!(credentials(b"\0bob\0secret"), Some(("bob".into(), b"secret".to_vec())));
        assert_eq!(credentials(b"admin\0bob\0secret"), Some(("bob".into(), b"secret".to_vec())));
        assert_eq!(credentials(b"bob\0secret"), Some(("bob".into(), b"secret".to_vec())));
        assert_eq!(credentials(b"bob"), None);
        assert_eq!(credentials(b"\0\0secret"), None);
    }
}
