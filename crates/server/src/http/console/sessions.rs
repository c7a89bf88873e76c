//! Who has logged in to the console: each session is a CQL connection of its own.

use crate::config::Auth;
use crate::shard::Shared;
use axum::http::{HeaderMap, header};
use client::{Client, ClientError};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub const COOKIE: &str = "partita_session";

/// Open at once; the one that was used longest ago gives way.
const SESSIONS_MAX: usize = 32;
/// Without a request for so long, a session ends.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// Rows of an answer that the page gets; it is for looking, not for exporting.
const ROWS_MAX: usize = 5000;

pub struct Sessions {
    shared: Arc<Shared>,
    open: Mutex<HashMap<String, Arc<Session>>>,
}

pub struct Session {
    /// Empty where nobody is asked for one.
    pub role: String,
    client: Mutex<Client>,
    used: Mutex<Instant>,
}

/// The session that a request names.
pub fn id_of(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, id)| id)
}

impl Sessions {
    pub fn new(shared: Arc<Shared>) -> Sessions {
        Sessions { shared, open: Mutex::default() }
    }

    pub fn asks_for_password(&self) -> bool {
        self.shared.config.auth == Auth::Password
    }

    /// Logs in; the id of the new session, or why not.
    pub async fn open(&self, role: &str, password: &str) -> Result<String, String> {
        if self.asks_for_password() && role.is_empty() {
            return Err("log in with a role and its password".into());
        }
        let inside = self.shared.inside.get().ok_or("the server is starting; ask again")?;
        let socket = inside.connect().and_then(|socket| {
            socket.set_read_timeout(Some(client::READ_TIMEOUT))?;
            Ok(socket)
        });
        let socket = socket.map_err(|error| error.to_string())?;
        let (role, password) = (role.to_string(), password.to_string());
        let named = role.clone();
        let client = aside(move || Client::over(Box::new(socket), (&named, &password))).await?;
        let id = new_id().ok_or("the system has no random numbers")?;
        let mut open = lock(&self.open);
        open.retain(|_, session| lock(&session.used).elapsed() < IDLE_MAX);
        if open.len() >= SESSIONS_MAX {
            let oldest =
                open.iter().min_by_key(|(_, session)| *lock(&session.used)).map(|(id, _)| id.clone());
            oldest.and_then(|id| open.remove(&id));
        }
        let session = Session { role, client: Mutex::new(client), used: Mutex::new(Instant::now()) };
        open.insert(id.clone(), Arc::new(session));
        Ok(id)
    }

    pub fn find(&self, id: &str) -> Option<Arc<Session>> {
        let session = lock(&self.open).get(id).cloned()?;
        let mut used = lock(&session.used);
        if used.elapsed() > IDLE_MAX {
            return None;
        }
        *used = Instant::now();
        drop(used);
        Some(session)
    }

    pub fn close(&self, id: &str) {
        lock(&self.open).remove(id);
    }
}

impl Session {
    /// Runs a statement; its rows as texts.
    pub async fn ask(self: Arc<Self>, cql: String) -> Result<Value, String> {
        let table = aside(move || lock(&self.client).table(&cql)).await?;
        let more = table.rows.len() > ROWS_MAX;
        let columns: Vec<Value> =
            table.columns.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect();
        let rows: Vec<&Vec<Option<String>>> = table.rows.iter().take(ROWS_MAX).collect();
        Ok(
            json!({ "columns": columns, "rows": rows, "more": more || table.more, "warnings": table.warnings }),
        )
    }
}

/// Connections wait on threads of their own, of which the listener has few.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ClientError> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("the server's console failed; its log says why".into()),
    }
}

fn new_id() -> Option<String> {
    let mut bytes = [0u8; 32];
    let count = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).ok()?;
    (count == bytes.len()).then(|| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
