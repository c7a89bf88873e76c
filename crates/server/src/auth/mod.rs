//! Passwords: hashing, verification against `system_auth.roles`, the default superuser and its warning.
//!
//! Hashes are bcrypt, in the form that Cassandra reads and writes in `salted_hash`. Hashing is slow on purpose, so it
//! runs on threads of its own (see [`pool`]): however many clients log in at once, they wait in line, each with a few
//! hundred bytes, and the shards keep half of the cores. An attempt takes the same time whether the role exists or not.

mod pool;

pub use pool::{Asker, Pool};

use crate::shard::Shard;
use cql::CqlError;
use cql::roles::{GENERATED_LETTERS, Passwords};
use cql::session::{Response, Session};
use query::{Bound, Rows};
use ring::rand::{SecureRandom, SystemRandom};
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;

pub const DEFAULT_SUPERUSER: &str = "cassandra";
const DEFAULT_PASSWORD: &str = "cassandra";

/// bcrypt's work factor: about 50 ms, Cassandra's own default.
const COST: u32 = 10;

/// A hash that a role was given ready-made may ask for more work; beyond this (about a second) it is not tried, because
/// everybody else's logins wait for it.
const COST_MAX: u32 = 14;

/// The hash of 32 random bytes that nobody kept, so that unknown roles cost as much as known ones.
const DECOY_HASH: &str = "$2a$10$prDsLl8rtrZaA6f66DA18O0wQCM7g.ChJOHFwQiySDbYN8oX7CVfa";

/// What came of an attempt to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    Granted {
        superuser: bool,
    },
    /// No such role, no password, or another password: the client is not told which.
    Wrong,
    /// The password is right, but the role may not log in.
    NotPermitted,
    /// Too many others are logging in.
    Busy,
}

/// What the table of roles says about one.
struct Stored {
    hash: String,
    can_login: bool,
    superuser: bool,
}

/// Decides about an attempt to log in from an address.
pub async fn verify(shard: &Rc<Shard>, address: IpAddr, user: &str, password: Vec<u8>) -> Login {
    let stored = lookup(shard, user).await.unwrap_or_else(|error| {
        tracing::error!(%error, "roles could not be read");
        None
    });
    let superuser = stored.as_ref().is_some_and(|stored| stored.superuser);
    let can_login = stored.as_ref().map(|stored| stored.can_login);
    let hash = stored.map_or_else(|| DECOY_HASH.to_string(), |stored| stored.hash);
    let asker = Asker { address, superuser };
    let checked = shard.shared.passwords.run(asker, move || matches(&password, &hash)).await;
    match (can_login, checked) {
        (_, None) => Login::Busy,
        (Some(true), Some(true)) => Login::Granted { superuser },
        (Some(false), Some(true)) => Login::NotPermitted,
        _ => Login::Wrong,
    }
}

/// Whether the password has this hash; compared in constant time.
fn matches(password: &[u8], hash: &str) -> bool {
    let cost_fits = hash.parse::<bcrypt::HashParts>().is_ok_and(|parts| parts.get_cost() <= COST_MAX);
    cost_fits && bcrypt::verify(password, hash).unwrap_or(false)
}

/// Hashes passwords for the dialect.
pub struct Bcrypt(pub Pool);

impl Passwords for Bcrypt {
    fn hash(&self, password: String) -> Pin<Box<dyn Future<Output = Result<String, CqlError>>>> {
        Box::pin(hash(self.0.clone(), password.into_bytes()))
    }

    fn random(&self) -> Result<[u8; GENERATED_LETTERS], CqlError> {
        let mut bytes = [0; GENERATED_LETTERS];
        match SystemRandom::new().fill(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(_) => Err(CqlError::Overloaded("No randomness can be had now; try again later".into())),
        }
    }
}

/// The bcrypt hash of a password, made off the shard's thread.
async fn hash(pool: Pool, password: Vec<u8>) -> Result<String, CqlError> {
    let hashed = pool.run(Asker::KNOWN, move || bcrypt::hash_with_result(password, COST)).await;
    match hashed {
        // Cassandra reads no newer form than 2a; the bits are the same.
        Some(Ok(parts)) => Ok(parts.format_for_version(bcrypt::Version::TwoA)),
        Some(Err(_)) => {
            Err(CqlError::invalid("The password cannot be hashed; choose another without NUL characters"))
        }
        None => Err(CqlError::Overloaded("Too many passwords wait to be checked; try again later".into())),
    }
}

/// A role that has a password.
async fn lookup(shard: &Rc<Shard>, user: &str) -> Result<Option<Stored>, CqlError> {
    let text = "SELECT salted_hash, can_login, is_superuser FROM system_auth.roles WHERE role = ?";
    let Some(rows) = run(shard, text, &[Bound::Value(user.as_bytes())]).await? else { return Ok(None) };
    let first = rows.values().next().and_then(|row| {
        let hash = String::from_utf8(row.first().copied().flatten()?.to_vec()).ok()?;
        let is = |index: usize| row.get(index).copied().flatten() == Some(&[1]);
        Some(Stored { hash, can_login: is(1), superuser: is(2) })
    });
    Ok(first)
}

/// Creates the default superuser if there is no role at all; warns while its password is the one everybody knows.
pub async fn bootstrap(shard: &Rc<Shard>) -> Result<(), CqlError> {
    if !shard.authentication() {
        return Ok(());
    }
    let rows = run(shard, "SELECT role FROM system_auth.roles LIMIT 1", &[]).await?;
    if rows.is_none_or(|rows| rows.count == 0) {
        let hash = hash(shard.shared.passwords.clone(), DEFAULT_PASSWORD.as_bytes().to_vec()).await?;
        // As of the beginning of time, as in Cassandra: whatever anybody wrote about this role is newer.
        let text = "INSERT INTO system_auth.roles (role, can_login, is_superuser, salted_hash) \
                    VALUES (?, true, true, ?) USING TIMESTAMP 0";
        let values = [Bound::Value(DEFAULT_SUPERUSER.as_bytes()), Bound::Value(hash.as_bytes())];
        run(shard, text, &values).await?;
        tracing::info!("created the default superuser \"{DEFAULT_SUPERUSER}\"");
    }
    // The first client need not wait for the check.
    tokio::task::spawn_local(warn_of_default_password(shard.clone()));
    Ok(())
}

async fn warn_of_default_password(shard: Rc<Shard>) {
    let login = verify(&shard, Asker::KNOWN.address, DEFAULT_SUPERUSER, DEFAULT_PASSWORD.into()).await;
    if matches!(login, Login::Granted { .. }) {
        tracing::warn!(
            "SECURITY: the superuser \"cassandra\" still has the password that everybody knows. Anybody who can reach \
             this server owns its data. Change it now: ALTER ROLE cassandra WITH PASSWORD = '...'"
        );
    }
}

/// Runs a statement as the server itself.
pub async fn run(shard: &Rc<Shard>, text: &str, values: &[Bound<'_>]) -> Result<Option<Rows>, CqlError> {
    let session = Session::default();
    let prepared = shard.dialect.prepare(&session, None, text)?;
    let request = query::Request::new(query::Values(values), shard.ids.now_micros());
    let answer = shard.dialect.execute(&session, &prepared, request).await?;
    match answer.response {
        Response::Rows(rows) => Ok(Some(rows)),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn hashes_are_salted_and_in_cassandras_form() {
        let pool = Pool::start().unwrap();
        let one = wait(hash(pool.clone(), b"secret".to_vec())).unwrap();
        let two = wait(Bcrypt(pool).hash("secret".into())).unwrap();
        assert!(one.starts_with("$2a$10$") && one.len() == 60, "{one}");
        assert_ne!(one, two);
        assert!(matches(b"secret", &one) && matches(b"secret", &two));
        assert!(!matches(b"Secret", &one));
        assert!(!matches(b"", &one));
    }

    #[test]
    fn hashes_made_by_cassandra_are_accepted() {
        // From a role of Cassandra 5.0.6 with the password "cassandra".
        let hash = "$2a$10$E9Yan4giZI9FgjGTiBhfxunwloXWNRJg/xaTN6SCyJNox.o8BW9wu";
        assert!(matches(b"cassandra", hash));
        assert!(!matches(b"cassandra ", hash));
    }

    #[test]
    fn the_decoy_costs_as_much_as_a_real_hash() {
        let parts: bcrypt::HashParts = DECOY_HASH.parse().unwrap();
        assert_eq!(parts.get_cost(), COST);
        // An error would be fast; a mismatch is not.
        assert!(!bcrypt::verify(b"anything", DECOY_HASH).unwrap());
    }

    #[test]
    fn damaged_and_excessive_hashes_match_nothing() {
        assert!(!matches(b"x", ""));
        assert!(!matches(b"x", "plain text"));
        // Would take days; would take three seconds, and everybody else would wait.
        for cost in [31, 16, 15] {
            let hash = format!("$2a${cost}$prDsLl8rtrZaA6f66DA18O0wQCM7g.ChJOHFwQiySDbYN8oX7CVfa");
            let begun = std::time::Instant::now();
            assert!(!matches(b"x", &hash));
            assert!(begun.elapsed() < std::time::Duration::from_millis(500), "cost {cost} was tried");
        }
    }

    #[test]
    fn only_the_first_72_bytes_count_as_in_cassandra() {
        let long = wait(hash(Pool::start().unwrap(), vec![b'a'; 100])).unwrap();
        assert!(matches(&[b'a'; 72], &long));
        assert!(matches(&[b'a'; 200], &long));
        assert!(!matches(&[b'a'; 71], &long));
    }
}
