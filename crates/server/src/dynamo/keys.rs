//! Access keys: who signs requests. A key belongs to a role; its secret is kept in `system_auth.access_keys`, because a signature can
//! only be checked by somebody who knows the secret. A role that may read that table may sign as anybody in it.

use super::head::Head;
use super::signature;
use crate::shard::Shard;
use cql::CqlError;
use dynamo::run::store_error;
use dynamo::{ApiError, ErrorName};
use query::Bound;
use ring::rand::{SecureRandom, SystemRandom};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Keys that a shard remembers before it forgets all.
const KEYS_MAX: usize = 10_000;
/// A key that was deleted by writing to the table directly is refused after this time.
const VALIDITY_MICROS: i64 = 2_000_000;

/// Keys that this shard has met lately.
#[derive(Default)]
pub struct Known {
    keys: RefCell<HashMap<String, Key>>,
}

#[derive(Clone)]
struct Key {
    role: Arc<str>,
    secret: Rc<str>,
    generation: u64,
    read_micros: i64,
}

/// The role that has signed the request.
pub async fn authenticate(
    shard: &Rc<Shard>,
    head: &Head<'_>,
    body: &[u8],
    now_micros: i64,
) -> Result<Arc<str>, ApiError> {
    let claim = signature::claim(head, now_micros / 1_000_000)?;
    let Some(key) = find(shard, claim.key_id, now_micros).await? else {
        let text = "The security token included in the request is invalid.";
        return Err(ApiError::new(ErrorName::UnrecognizedClient, text));
    };
    signature::verify(&claim, head, body, &key.secret)?;
    Ok(key.role)
}

async fn find(shard: &Rc<Shard>, id: &str, now_micros: i64) -> Result<Option<Key>, ApiError> {
    let generation = shard.shared.catalogue.grants.current();
    let known = shard.dynamo_keys.keys.borrow().get(id).cloned();
    let fresh = |key: &Key| {
        key.generation == generation && (0..VALIDITY_MICROS).contains(&(now_micros - key.read_micros))
    };
    if let Some(key) = known.filter(fresh) {
        return Ok(Some(key));
    }
    let text = "SELECT role, secret FROM system_auth.access_keys WHERE access_key = ?";
    let answer = crate::auth::run(shard, text, &[Bound::Value(id.as_bytes())]).await;
    let rows = answer.map_err(unreadable)?;
    let mut found = rows.as_ref().and_then(|rows| {
        let row = rows.values().next()?;
        let text = |nth: usize| String::from_utf8(row.get(nth).copied().flatten()?.to_vec()).ok();
        Some((text(0)?, text(1)?))
    });
    if let Some((role, _)) = &found {
        let text = "SELECT can_login FROM system_auth.roles WHERE role = ?";
        let rows = crate::auth::run(shard, text, &[Bound::Value(role.as_bytes())]).await;
        let rows = rows.map_err(unreadable)?;
        let can_login = rows
            .as_ref()
            .and_then(|rows| rows.values().next()?.first().copied().flatten().map(<[u8]>::to_vec));
        if can_login.as_deref() != Some(&[1]) {
            found = None;
        }
    }
    let mut keys = shard.dynamo_keys.keys.borrow_mut();
    let Some((role, secret)) = found else {
        keys.remove(id);
        return Ok(None);
    };
    if keys.len() >= KEYS_MAX {
        keys.clear();
    }
    let key = Key { role: role.into(), secret: secret.into(), generation, read_micros: now_micros };
    keys.insert(id.to_string(), key.clone());
    Ok(Some(key))
}

/// A request (`create ROLE`, `list`, `list ROLE`, `delete KEY`) and who waits for its lines.
pub type KeysRequest = (String, oneshot::Sender<Result<Vec<String>, String>>);
pub type KeysDesk = mpsc::UnboundedSender<KeysRequest>;
pub type KeysRequests = Mutex<Option<mpsc::UnboundedReceiver<KeysRequest>>>;

pub fn keys_desk() -> (KeysDesk, KeysRequests) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, Mutex::new(Some(receiver)))
}

/// Answers what commands on this machine ask about access keys.
pub async fn keep_keys(shard: Rc<Shard>) {
    let requests = shard.shared.keys_desk.1.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(mut requests) = requests else { return };
    while let Some((request, answer)) = requests.recv().await {
        // Who asked may have gone.
        let _ = answer.send(manage(&shard, &request).await);
    }
}

async fn manage(shard: &Rc<Shard>, request: &str) -> Result<Vec<String>, String> {
    let (verb, name) = request.split_once(' ').unwrap_or((request, ""));
    match (verb, name.trim()) {
        ("create", role) if !role.is_empty() => create(shard, role).await,
        ("list", role) => list(shard, role).await,
        ("delete", id) if !id.is_empty() => delete(shard, id).await,
        _ => Err("unknown request; try create ROLE, list [ROLE] or delete KEY".into()),
    }
}

async fn rows(shard: &Rc<Shard>, text: &str, values: &[&str]) -> Result<Vec<Vec<String>>, String> {
    let bound: Vec<Bound<'_>> = values.iter().map(|value| Bound::Value(value.as_bytes())).collect();
    let answer = crate::auth::run(shard, text, &bound).await.map_err(|error| error.to_string())?;
    let cell = |cell: &Option<&[u8]>| String::from_utf8_lossy(cell.unwrap_or_default()).into_owned();
    Ok(answer.map_or_else(Vec::new, |rows| rows.values().map(|row| row.iter().map(cell).collect()).collect()))
}

async fn create(shard: &Rc<Shard>, role: &str) -> Result<Vec<String>, String> {
    if rows(shard, "SELECT role FROM system_auth.roles WHERE role = ?", &[role]).await?.is_empty() {
        return Err(format!("there is no role {role}; CREATE ROLE makes one"));
    }
    let id = format!("AKIA{}", random_text(16, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")?);
    let secret = random_text(40, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")?;
    let text = "INSERT INTO system_auth.access_keys (access_key, role, secret, created) VALUES (?, ?, ?, \
                toTimestamp(now()))";
    rows(shard, text, &[&id, role, &secret]).await?;
    shard.shared.catalogue.grants.advance();
    Ok(vec![format!("aws_access_key_id = {id}"), format!("aws_secret_access_key = {secret}")])
}

async fn list(shard: &Rc<Shard>, role: &str) -> Result<Vec<String>, String> {
    let found = rows(shard, "SELECT access_key, role FROM system_auth.access_keys", &[]).await?;
    let mut lines: Vec<String> = found
        .iter()
        .filter(|row| role.is_empty() || row.get(1).is_some_and(|of| of == role))
        .map(|row| row.join(" "))
        .collect();
    lines.sort();
    Ok(lines)
}

async fn delete(shard: &Rc<Shard>, id: &str) -> Result<Vec<String>, String> {
    if rows(shard, "SELECT role FROM system_auth.access_keys WHERE access_key = ?", &[id]).await?.is_empty() {
        return Err(format!("there is no access key {id}"));
    }
    rows(shard, "DELETE FROM system_auth.access_keys WHERE access_key = ?", &[id]).await?;
    shard.shared.catalogue.grants.advance();
    Ok(vec![format!("deleted {id}")])
}

/// Letters that nobody can foresee. The number of letters is a power of two, so each is as likely.
fn random_text(length: usize, letters: &[u8]) -> Result<String, String> {
    let mut bytes = vec![0u8; length];
    SystemRandom::new().fill(&mut bytes).map_err(|_| "no randomness can be had")?;
    Ok(bytes.iter().map(|byte| char::from(letters[usize::from(*byte) % letters.len()])).collect())
}

/// Roles and their keys are in tables of CQL; what reading them meets is told in the words of this API.
pub fn unreadable(error: CqlError) -> ApiError {
    match error {
        CqlError::Store(error) => store_error(error),
        CqlError::Overloaded(text) => ApiError::new(ErrorName::Throttling, text),
        CqlError::Unauthorized(text) => ApiError::new(ErrorName::AccessDenied, text),
        CqlError::Syntax(text)
        | CqlError::Invalid(text)
        | CqlError::Config(text)
        | CqlError::Protocol(text)
        | CqlError::AlreadyExists { message: text, .. }
        | CqlError::FunctionFailure { message: text, .. } => ApiError::new(ErrorName::InternalServer, text),
    }
}
