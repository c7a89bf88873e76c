//! How `partita migrate` talks to this front end: one line of JSON each way, on the control socket of its folder.

use super::marks::texts;
use super::state::{Phase, Side, TableEntry};
use super::{Mirror, lock, now_millis};
use crate::control::bind;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// Tables of a migration are named in one line.
const LINE_BYTES_MAX: u64 = 16 << 20;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Writes under way must end in this time when they are held.
const HOLD_PATIENCE: Duration = Duration::from_secs(20);
/// Writes are held for so long at most.
const HELD_MAX: Duration = Duration::from_secs(120);
const BEAT: Duration = Duration::from_secs(5);
/// Marks that are given away at once.
const TAKE_MAX: usize = 512;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Order {
    Status,
    Dual {
        tables: Vec<TableEntry>,
    },
    Hold {
        millis: u64,
    },
    Release,
    Switch {
        to: Side,
        #[serde(default)]
        force: bool,
    },
    Marks {
        worker: String,
    },
    Mended {
        numbers: Vec<u64>,
    },
    Again {
        numbers: Vec<u64>,
        millis: i64,
    },
    Verifying,
    Verified {
        began: i64,
    },
    Shadow {
        share: u32,
    },
    Finish,
}

/// Starts the thread of the control socket.
pub fn start(mirror: Arc<Mirror>, mut stopped: watch::Receiver<bool>) -> io::Result<JoinHandle<()>> {
    let socket = bind(mirror.folder())?;
    std::thread::Builder::new().name("migration".into()).spawn(move || {
        let served = tokio::runtime::Builder::new_current_thread().enable_all().build().and_then(|runtime| {
            tokio::task::LocalSet::new().block_on(&runtime, async {
                let listener = UnixListener::from_std(socket)?;
                tokio::select! {
                    () = accept_forever(&listener, &mirror) => {}
                    () = beat_forever(&mirror) => {}
                    _ = stopped.wait_for(|stopped| *stopped) => {}
                }
                Ok(())
            })
        });
        if let Err(error) = served {
            tracing::error!(%error, "the control socket of the migration failed; restart the front end to go on");
        }
    })
}

async fn beat_forever(mirror: &Mirror) {
    loop {
        tokio::time::sleep(BEAT).await;
        mirror.beat();
    }
}

async fn accept_forever(listener: &UnixListener, mirror: &Arc<Mirror>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let mirror = mirror.clone();
                tokio::task::spawn_local(async move {
                    if let Err(error) = converse(stream, &mirror).await {
                        tracing::debug!(%error, "a control connection ended early");
                    }
                });
            }
            Err(error) => {
                crate::accept::accept_failed(&error);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

async fn converse(mut stream: UnixStream, mirror: &Arc<Mirror>) -> io::Result<()> {
    let (reading, mut writing) = stream.split();
    let mut line = String::new();
    let mut reading = BufReader::new(reading.take(LINE_BYTES_MAX));
    tokio::time::timeout(REQUEST_TIMEOUT, reading.read_line(&mut line)).await??;
    let answer = match serde_json::from_str(&line) {
        Ok(order) => obey(order, mirror).await.unwrap_or_else(|error| json!({ "error": error })),
        Err(error) => json!({ "error": format!("this front end does not understand: {error}") }),
    };
    writing.write_all(format!("{answer}\n").as_bytes()).await
}

async fn obey(order: Order, mirror: &Arc<Mirror>) -> Result<Value, String> {
    let done = || Ok(json!({}));
    match order {
        Order::Status => Ok(status(mirror)),
        Order::Dual { tables } => {
            held(mirror).await?;
            let begun = mirror.begin_dual(tables);
            mirror.release();
            begun?;
            done()
        }
        Order::Hold { millis } => {
            held(mirror).await?;
            let mirror = mirror.clone();
            let until = Duration::from_millis(millis).min(HELD_MAX);
            let times = mirror.released.borrow().to_owned();
            // Whoever asked may die; nobody's writes wait for ever.
            tokio::task::spawn_local(async move {
                tokio::time::sleep(until).await;
                if *mirror.released.borrow() == times {
                    tracing::warn!("writes were held for too long and go on");
                    mirror.release();
                }
            });
            done()
        }
        Order::Release => {
            mirror.release();
            done()
        }
        Order::Switch { to, force } => {
            mirror.switch(to, force)?;
            tracing::info!(side = to.name(), "this side answers from now on");
            done()
        }
        Order::Marks { worker } => {
            let taken = mirror.marks.take(&worker, TAKE_MAX, now_millis());
            let told = taken.iter().map(|taken| {
                let (partition, clustering) = texts(&taken.place.key);
                json!({ "number": taken.number, "table": &*taken.place.table, "partition": partition, "clustering": clustering })
            });
            Ok(json!({ "marks": told.collect::<Vec<_>>(), "waiting": mirror.marks.len() }))
        }
        Order::Mended { numbers } => {
            mirror.marks.done(&numbers);
            done()
        }
        Order::Again { numbers, millis } => {
            mirror.marks.again(&numbers, now_millis() + millis);
            done()
        }
        Order::Verifying => {
            let began = now_millis();
            mirror.comparing_since.store(began, Ordering::SeqCst);
            Ok(json!({ "began": began }))
        }
        Order::Verified { began } => {
            mirror.change(|state| state.verified_at(began))?;
            done()
        }
        Order::Shadow { share } => {
            mirror.change(|state| state.shadow = share.min(10_000))?;
            done()
        }
        Order::Finish => {
            held(mirror).await?;
            let ended = mirror.end();
            mirror.release();
            ended?;
            done()
        }
    }
}

async fn held(mirror: &Mirror) -> Result<(), String> {
    if mirror.is_held() {
        return Err("writes are held already; somebody else is changing something".into());
    }
    match mirror.hold(HOLD_PATIENCE).await {
        true => Ok(()),
        false => Err("writes that are under way do not end; one of the clusters is slow. Try again".into()),
    }
}

fn status(mirror: &Mirror) -> Value {
    let state = lock(&mirror.state).clone();
    let counters = &mirror.counters;
    let micros = counters.micros.snapshot();
    json!({
        "phase": state.phase,
        "answers": state.answers,
        "dual": state.phase == Phase::Dual,
        "tables": state.tables.iter().map(|table| format!("{}.{}", table.keyspace, table.name)).collect::<Vec<_>>(),
        "marks": mirror.marks.len(),
        "held": mirror.is_held(),
        "interruptions": state.interruptions,
        "unverified": state.unverified,
        "verified": state.verified,
        "shadow": state.shadow,
        "shadowed": counters.shadowed.get(),
        "different": counters.different.get(),
        "differing": *lock(&mirror.differences),
        "both": counters.both.get(),
        "marked": counters.marked.get(),
        "refused": counters.refused.get(),
        "micros": micros.buckets().collect::<Vec<_>>(),
        "now": now_millis(),
    })
}
