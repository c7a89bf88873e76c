//! The console: a page that shows what the server does, and a narrow door for the statements behind it.
//!
//! The page asks CQL, through a connection of its own session, as the role that has logged in: permissions, masks, limits and
//! the audit log hold as for any other client. Nothing is answered to pages of other sites: the Host must be this server's
//! (DNS rebinding), requests carry a header that other origins cannot send (CSRF), cookies are not sent across sites, and the page
//! may not be framed.

mod guard;
mod sessions;

use super::way::{self, Way};
use crate::shard::Shared;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde_json::{Value, json};
use sessions::Sessions;
use std::sync::Arc;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// One behind the other: what all need first, what starts it last.
const SCRIPT: &str = concat!(
    include_str!("page/core.js"),
    include_str!("page/overview.js"),
    include_str!("page/keys.js"),
    include_str!("page/patterns.js"),
    include_str!("page/copies.js"),
    include_str!("page/tenants.js"),
    include_str!("page/schema.js"),
    include_str!("page/statements.js"),
    include_str!("page/start.js"),
);

/// A statement that somebody types.
const BODY_BYTES_MAX: usize = 64 << 10;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The pages that take no body.
pub fn pages(shared: &Arc<Shared>) -> Router {
    let page = |kind: &'static str, text: &'static str| get(move || async move { file(kind, text) });
    Router::new()
        .route("/", page("text/html; charset=utf-8", PAGE))
        .route("/console.js", page("text/javascript; charset=utf-8", SCRIPT))
        .route("/console.css", page("text/css; charset=utf-8", STYLE))
        .route_layer(axum::middleware::from_fn(way::safe))
        .route_layer(axum::middleware::from_fn_with_state(shared.clone(), guard::host))
}

/// What the page asks.
pub fn door(shared: &Arc<Shared>) -> Router {
    let sessions = Arc::new(Sessions::new(shared.clone()));
    Router::new()
        .route("/api/session", post(session))
        .route("/api/login", post(login))
        .route("/api/logout", post(logout))
        .route("/api/query", post(query))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .route_layer(axum::middleware::from_fn(guard::own_page))
        .route_layer(axum::middleware::from_fn(way::safe))
        .route_layer(axum::middleware::from_fn_with_state(shared.clone(), guard::host))
        .with_state(sessions)
}

fn file(kind: &'static str, text: &'static str) -> impl IntoResponse + use<> {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text)
}

fn answer(status: StatusCode, value: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, value.to_string()).into_response()
}

fn refusal(status: StatusCode, error: impl Into<String>) -> Response {
    answer(status, &json!({ "error": error.into() }))
}

fn text<'v>(body: &'v Value, name: &str) -> &'v str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn read(body: &str) -> Result<Value, Box<Response>> {
    serde_json::from_str(body)
        .map_err(|e| Box::new(refusal(StatusCode::BAD_REQUEST, format!("no JSON: {e}"))))
}

async fn login(
    State(sessions): State<Arc<Sessions>>,
    Extension(way): Extension<Way>,
    body: String,
) -> Response {
    let body = match read(&body) {
        Ok(body) => body,
        Err(refused) => return *refused,
    };
    match sessions.open(text(&body, "role"), text(&body, "password")).await {
        Ok(id) => opened(&id, text(&body, "role"), way),
        Err(error) => refusal(StatusCode::UNAUTHORIZED, error),
    }
}

fn opened(id: &str, role: &str, way: Way) -> Response {
    let secure = if way == Way::Tls { "; Secure" } else { "" };
    let cookie = format!("{}={id}; HttpOnly; SameSite=Strict; Path=/api{secure}", sessions::COOKIE);
    let mut response = answer(StatusCode::OK, &json!({ "role": role }));
    if let Ok(cookie) = cookie.parse() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Who the page is logged in as. Where nobody is asked for a password, it is logged in by asking.
async fn session(
    State(sessions): State<Arc<Sessions>>,
    Extension(way): Extension<Way>,
    headers: HeaderMap,
) -> Response {
    if let Some(session) = sessions::id_of(&headers).and_then(|id| sessions.find(id)) {
        return answer(StatusCode::OK, &json!({ "role": session.role }));
    }
    if sessions.asks_for_password() {
        return refusal(StatusCode::UNAUTHORIZED, "log in first");
    }
    match sessions.open("", "").await {
        Ok(id) => opened(&id, "", way),
        Err(error) => refusal(StatusCode::UNAUTHORIZED, error),
    }
}

async fn logout(State(sessions): State<Arc<Sessions>>, headers: HeaderMap) -> Response {
    if let Some(id) = sessions::id_of(&headers) {
        sessions.close(id);
    }
    answer(StatusCode::OK, &json!({}))
}

async fn query(State(sessions): State<Arc<Sessions>>, headers: HeaderMap, body: String) -> Response {
    let body = match read(&body) {
        Ok(body) => body,
        Err(refused) => return *refused,
    };
    let Some(session) = sessions::id_of(&headers).and_then(|id| sessions.find(id)) else {
        return refusal(StatusCode::UNAUTHORIZED, "log in first");
    };
    match session.ask(text(&body, "cql").to_string()).await {
        Ok(rows) => answer(StatusCode::OK, &rows),
        Err(error) => refusal(StatusCode::OK, error),
    }
}

#[cfg(test)]
mod tests;
