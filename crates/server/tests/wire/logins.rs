//! Logins that cost the server more than the client.

use crate::bench::{Answer, Bench, Client};
use cql_wire::Request;
use server::config::Auth;
use std::time::{Duration, Instant};

const RIGHT: &[u8] = b"\0cassandra\0cassandra";

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn clients_that_log_in_and_leave_occupy_few_threads_and_hold_nobody_up() {
    let bench = Bench::start(|config| config.auth = Auth::Password);
    let mut known = Client::connect(&bench);
    assert_eq!(known.ask(&Request::AuthResponse(Some(RIGHT))).answer, Answer::Other);
    let before = threads();
    let mut most = before;
    for _ in 0..300 {
        let mut client = Client::connect(&bench);
        client.send(&Request::AuthResponse(Some(b"\0cassandra\0wrong")));
        drop(client);
        most = most.max(threads());
    }
    // Other tests start and stop servers meanwhile; each login used to be a thread.
    assert!(most < before + 120, "{before} threads became {most}");
    let begun = Instant::now();
    assert_eq!(known.query("SELECT key FROM system.local"), Answer::Rows(1));
    let mut late = Client::connect(&bench);
    assert_eq!(late.ask(&Request::AuthResponse(Some(RIGHT))).answer, Answer::Other);
    // What the 300 left behind is not worked off first.
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[test]
fn a_role_cannot_make_its_logins_costly_nor_its_name_endless() {
    let bench = Bench::start(|config| config.auth = Auth::Password);
    let mut admin = Client::connect(&bench);
    assert_eq!(admin.ask(&Request::AuthResponse(Some(RIGHT))).answer, Answer::Other);
    let hash = |cost: u32| format!("$2a${cost}$prDsLl8rtrZaA6f66DA18O0wQCM7g.ChJOHFwQiySDbYN8oX7CVfa");
    let create = |name: &str, cost: u32| {
        format!("CREATE ROLE {name} WITH HASHED PASSWORD = '{}' AND LOGIN = true", hash(cost))
    };
    assert!(matches!(admin.query(&create("heavy", 15)), Answer::Error(0x2200 | 0x2000, _)));
    admin.run(&create("light", 10));
    let endless = "r".repeat(60_000);
    assert!(matches!(admin.query(&create(&endless, 10)), Answer::Error(0x2200 | 0x2000, _)));
    assert_eq!(admin.query("SELECT role FROM system_auth.roles"), Answer::Rows(2));
}
