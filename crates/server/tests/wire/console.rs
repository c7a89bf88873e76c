//! The console's door: no data without a login, nothing for other sites.

use crate::bench::{Bench, PATIENCE};
use server::config::{Auth, ClusterTls, Tls};
use std::io::{Read, Write};
use std::net::TcpStream;

/// A request of the console's own page, but for what the test changes.
#[derive(Clone, Copy)]
struct Asked<'a> {
    method: &'a str,
    path: &'a str,
    host: Option<&'a str>,
    headers: &'a [(&'a str, &'a str)],
    body: &'a str,
}

const OWN: (&str, &str) = ("X-Partita-Console", "1");

fn post<'a>(path: &'a str, headers: &'a [(&'a str, &'a str)], body: &'a str) -> Asked<'a> {
    Asked { method: "POST", path, host: Some("127.0.0.1"), headers, body }
}

fn send(bench: &Bench, asked: &Asked<'_>) -> (u16, String) {
    let stream = TcpStream::connect(bench.http).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    send_over(stream, asked)
}

fn send_over(mut stream: impl Read + Write, asked: &Asked<'_>) -> (u16, String) {
    let Asked { method, path, host, headers, body } = asked;
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if let Some(host) = host {
        text += &format!("Host: {host}\r\n");
    }
    for (name, value) in *headers {
        text += &format!("{name}: {value}\r\n");
    }
    write!(stream, "{text}\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, answer)
}

fn cookie(answer: &str) -> String {
    let line = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/api"] {
        assert!(line.contains(part), "{line}");
    }
    line.split(';').next().unwrap().to_string()
}

const QUERY: &str = r#"{"cql": "SELECT role FROM system_auth.roles"}"#;

#[test]
fn there_is_no_data_without_a_login() {
    let bench = Bench::start(|config| config.auth = Auth::Password);
    for path in ["/api/query", "/api/session"] {
        let (status, answer) = send(&bench, &post(path, &[OWN], QUERY));
        assert_eq!(status, 401, "{answer}");
        assert!(!answer.contains("cassandra"), "{answer}");
    }
    for body in
        [r#"{"role": "cassandra", "password": "wrong"}"#, r#"{"role": "", "password": ""}"#, "{}", "no json"]
    {
        let (status, answer) = send(&bench, &post("/api/login", &[OWN], body));
        assert!(status == 401 || status == 400, "{body}: {answer}");
        assert!(!answer.contains("set-cookie"), "{answer}");
    }
    for id in ["partita_session=", "partita_session=0", "partita_session=../../x"] {
        assert_eq!(send(&bench, &post("/api/query", &[OWN, ("Cookie", id)], QUERY)).0, 401, "{id}");
    }
    let login = r#"{"role": "cassandra", "password": "cassandra"}"#;
    let (status, answer) = send(&bench, &post("/api/login", &[OWN], login));
    assert_eq!(status, 200, "{answer}");
    let cookie = cookie(&answer);
    let (status, answer) = send(&bench, &post("/api/query", &[OWN, ("Cookie", &cookie)], QUERY));
    assert!(status == 200 && answer.contains("\"cassandra\""), "{answer}");
    assert!(answer.contains("no-store"), "answers are not kept: {answer}");
    let (_, who) = send(&bench, &post("/api/session", &[OWN, ("Cookie", &cookie)], "{}"));
    assert!(who.contains(r#""role":"cassandra""#), "{who}");
    assert_eq!(send(&bench, &post("/api/logout", &[OWN, ("Cookie", &cookie)], "{}")).0, 200);
    assert_eq!(send(&bench, &post("/api/query", &[OWN, ("Cookie", &cookie)], QUERY)).0, 401);
}

#[test]
fn a_role_may_do_in_the_console_what_it_may_elsewhere() {
    let bench = Bench::start(|config| config.auth = Auth::Password);
    let login = |role: &str| {
        let body = format!(r#"{{"role": "{role}", "password": "{role}"}}"#);
        cookie(&send(&bench, &post("/api/login", &[OWN], &body)).1)
    };
    let ask = |cookie: &str, cql: &str| {
        let body = format!(r#"{{"cql": "{cql}"}}"#);
        send(&bench, &post("/api/query", &[OWN, ("Cookie", cookie)], &body)).1
    };
    let admin = login("cassandra");
    for cql in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.t (a int PRIMARY KEY)",
        "CREATE ROLE reader WITH PASSWORD = 'reader' AND LOGIN = true",
        "GRANT SELECT ON KEYSPACE k TO reader",
    ] {
        let answer = ask(&admin, cql);
        assert!(!answer.contains("\"error\""), "{cql}: {answer}");
    }
    let reader = login("reader");
    assert!(!ask(&reader, "SELECT * FROM k.t").contains("\"error\""));
    for cql in
        ["INSERT INTO k.t (a) VALUES (1)", "DROP TABLE k.t", "EXPLAIN ANALYZE INSERT INTO k.t (a) VALUES (1)"]
    {
        let answer = ask(&reader, cql);
        assert!(answer.contains("has no"), "{cql}: {answer}");
    }
}

#[test]
fn other_sites_are_refused() {
    let bench = Bench::start(|_| {});
    let (_, answer) = send(&bench, &post("/api/session", &[OWN], "{}"));
    let cookie = cookie(&answer);
    let mine = ("Cookie", cookie.as_str());
    let ask = |host: Option<&str>, headers: &[(&str, &str)]| {
        send(&bench, &Asked { method: "POST", path: "/api/query", host, headers, body: QUERY }).0
    };
    let local = Some("127.0.0.1");
    let own_origin = format!("http://{}", bench.http);
    let own_host = bench.http.to_string();
    assert_eq!(ask(local, &[OWN, mine]), 200);
    assert_eq!(ask(Some(&own_host), &[OWN, mine, ("Origin", &own_origin)]), 200);
    assert_eq!(ask(local, &[mine]), 403, "a form of another site cannot send the header");
    assert_eq!(ask(local, &[OWN, mine, ("Origin", "http://evil.example")]), 403);
    assert_eq!(ask(local, &[OWN, mine, ("Origin", "null")]), 403);
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:9180", "10.1.2.3", ""] {
        let status = ask(Some(host), &[OWN, mine]);
        assert_eq!(status, 421, "a name that leads here today: {host}");
        let page = Asked { method: "GET", path: "/", host: Some(host), headers: &[], body: "" };
        assert_eq!(send(&bench, &page).0, 421, "{host}");
    }
    assert!([400, 421].contains(&ask(None, &[OWN, mine])));
    // A preflight of another origin is told no.
    let headers =
        [("Origin", "http://evil.example"), ("Access-Control-Request-Headers", "x-partita-console")];
    let preflight = Asked { method: "OPTIONS", path: "/api/query", host: local, headers: &headers, body: "" };
    let (status, answer) = send(&bench, &preflight);
    assert!(status >= 400 && !answer.to_lowercase().contains("access-control-allow"), "{answer}");
    // Nor can a link or an image ask.
    let get = Asked { method: "GET", path: "/api/query", host: local, headers: &[mine], body: "" };
    assert!(send(&bench, &get).0 >= 400);
}

#[test]
fn pages_may_not_be_framed_and_load_nothing_from_elsewhere() {
    let bench = Bench::start(|_| {});
    for path in ["/", "/console.js", "/console.css"] {
        let page = Asked { method: "GET", path, host: Some("localhost"), headers: &[], body: "" };
        let (status, answer) = send(&bench, &page);
        assert_eq!(status, 200, "{path}");
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        for wanted in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "script-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "x-frame-options: deny",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ] {
            assert!(head.contains(wanted), "{path} {wanted}: {head}");
        }
        assert!(!head.contains("unsafe"), "{head}");
    }
    let long = format!(r#"{{"cql": "{}"}}"#, "x".repeat(1 << 20));
    assert_eq!(send(&bench, &post("/api/query", &[OWN], &long)).0, 413);
}

#[test]
fn a_server_with_a_certificate_has_its_console_on_https() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["localhost", "127.0.0.1", "db.example"].map(String::from);
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let bench = Bench::start(|config| {
        config.auth = Auth::Password;
        config.tls = Some(Tls { cert: cert.clone(), key, client_ca: None });
    });
    let trusted = ClusterTls { ca: cert, own: None };
    let over_tls = |asked: &Asked<'_>| {
        send_over(server::dial_tls("127.0.0.1", bench.http.port(), &trusted, PATIENCE).unwrap(), asked)
    };
    let page = Asked { method: "GET", path: "/", host: Some("127.0.0.1"), headers: &[], body: "" };
    // Plain HTTP serves what asks for no password, and sends everything else to HTTPS.
    let health = Asked { path: "/health", ..page };
    assert_eq!((send(&bench, &health).0, over_tls(&health).0), (200, 200));
    let (status, answer) = send(&bench, &page);
    assert!(status == 307 && answer.contains("location: https://127.0.0.1/"), "{answer}");
    let login = post("/api/login", &[OWN], r#"{"role": "cassandra", "password": "cassandra"}"#);
    let (status, answer) = send(&bench, &login);
    assert!(status == 307 && !answer.contains("set-cookie"), "{answer}");
    assert_eq!(send(&bench, &Asked { host: Some("evil.example"), ..page }).0, 421);
    // A certificate names the server, so it may be asked by that name.
    let named = Asked { host: Some("db.example"), ..page };
    let (status, answer) = over_tls(&named);
    assert!(status == 200 && answer.contains("<title>"), "{answer}");
    let (status, answer) = over_tls(&login);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("; Secure"), "{answer}");
    let cookie = cookie(&answer);
    let (status, answer) = over_tls(&post("/api/query", &[OWN, ("Cookie", &cookie)], QUERY));
    assert!(status == 200 && answer.contains("\"cassandra\""), "{answer}");
    // What is neither TLS nor HTTP hurts nobody.
    let mut stream = TcpStream::connect(bench.http).unwrap();
    stream.write_all(&[22, 3, 1, 0, 5, 1, 2, 3, 4, 5]).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.read(&mut [0; 64]);
    assert_eq!(over_tls(&health).0, 200);
}
