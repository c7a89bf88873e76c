//! Passwords: verification against `system_auth.roles`, the default superuser, its warning.
//!
//! Hashes are bcrypt, as Cassandra's tools expect them in `salted_hash`. Verification runs on a
//! blocking thread (it is slow on purpose) and takes the same time whether the role exists or not.

use crate::shard::Shard;
use cql::session::{Response, Session};
use query::{QueryError, Rows};
use std::rc::Rc;

pub const DEFAULT_SUPERUSER: &str = "cassandra";
const DEFAULT_PASSWORD: &str = "cassandra";
/// bcrypt's work factor: about 50 ms, Cassandra's own default.
const BCRYPT_COST: u32 = 10;
/// A hash of nothing anybody types, so that unknown users cost as much as known ones.
const DECOY_HASH: &str = "$2b$10$7EqJtq98hPqEX7fNZaFWoOhi5BWX4Z1Zk8l6d0T1hC7V1g8yJm3eO";

/// Whether the role may log in with this password.
pub async fn verify(shard: &Rc<Shard>, user: &str, password: Vec<u8>) -> bool {
    let stored = match lookup(shard, user).await {
        Ok(stored) => stored,
        Err(error) => {
            tracing::error!(%error, "roles could not be read");
            None
        }
    };
    let (hash, can_login) = stored.unwrap_or((DECOY_HASH.to_string(), false));
    let check = tokio::task::spawn_blocking(move || bcrypt::verify(&password, &hash).unwrap_or(false));
    check.await.unwrap_or(false) && can_login
}

/// (salted hash, can log in) of a role.
async fn lookup(shard: &Rc<Shard>, user: &str) -> Result<Option<(String, bool)>, QueryError> {
    let text = "SELECT salted_hash, can_login FROM system_auth.roles WHERE role = ?";
    let rows = run(shard, text, &[query::Bound::Value(user.as_bytes())]).await?;
    let Some(rows) = rows else { return Ok(None) };
    let first = rows.values().next().and_then(|row| {
        let hash = String::from_utf8(row.first().copied().flatten()?.to_vec()).ok()?;
        let can_login = row.get(1).copied().flatten() == Some(&[1]);
        Some((hash, can_login))
    });
    Ok(first)
}

/// Creates the default superuser if there is no role at all, and warns while its password is the
/// one everybody knows.
pub async fn bootstrap(shard: &Rc<Shard>) -> Result<(), QueryError> {
    if !shard.authentication() {
        return Ok(());
    }
    let rows = run(shard, "SELECT role FROM system_auth.roles LIMIT 1", &[]).await?;
    if rows.is_none_or(|rows| rows.count == 0) {
        let hash = hash(DEFAULT_PASSWORD.as_bytes().to_vec()).await?;
        let text = "INSERT INTO system_auth.roles (role, can_login, is_superuser, member_of, salted_hash) \
                    VALUES (?, true, true, null, ?)";
        let values =
            [query::Bound::Value(DEFAULT_SUPERUSER.as_bytes()), query::Bound::Value(hash.as_bytes())];
        run(shard, text, &values).await?;
    }
    if verify(shard, DEFAULT_SUPERUSER, DEFAULT_PASSWORD.into()).await {
        tracing::warn!(
            "the superuser \"cassandra\" still has its default password: change it with ALTER ROLE cassandra WITH PASSWORD = '...'"
        );
    }
    Ok(())
}

/// The bcrypt hash of a password, made off the shard's thread.
pub async fn hash(password: Vec<u8>) -> Result<String, QueryError> {
    let hashed = tokio::task::spawn_blocking(move || bcrypt::hash(password, BCRYPT_COST)).await;
    match hashed {
        Ok(Ok(hash)) => Ok(hash),
        _ => Err(QueryError::invalid("The password cannot be hashed: bcrypt takes at most 72 bytes")),
    }
}

/// Runs a statement as the server itself.
async fn run(shard: &Rc<Shard>, text: &str, values: &[query::Bound<'_>]) -> Result<Option<Rows>, QueryError> {
    let session = Session::default();
    let prepared = shard.dialect.prepare(&session, None, text)?;
    let request = query::Request::new(query::Values(values), shard.ids.now_micros());
    let answer = shard.dialect.execute(&session, &prepared, request).await?;
    match answer.response {
        Response::Rows(rows) => Ok(Some(rows)),
        _ => Ok(None),
    }
}
