//! The control socket against a real engine in a folder of its own.

use super::*;
use engine::EngineOptions;
use rt::{RealDisk, SystemClock};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use store::{Store, TableConfig, TableId};
use tokio::sync::oneshot;

struct Running {
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

/// An engine with one shard and its control socket, until dropped.
fn start(data: &Path) -> Running {
    let (engine, _) =
        engine::Engine::open(Arc::new(RealDisk), Arc::new(SystemClock), EngineOptions::new(data)).unwrap();
    let socket = bind(data).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let (ready, started) = std::sync::mpsc::channel();
    let (end, ended) = oneshot::channel::<()>();
    let shard = {
        let engine = engine.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            tokio::task::LocalSet::new().block_on(&runtime, async move {
                let store = engine.store(0).unwrap();
                store.alter(vec![1], vec![TableConfig::new(TableId(1))]).await.unwrap();
                ready.send(()).unwrap();
                ended.await.unwrap();
                engine.close().await;
            });
        })
    };
    started.recv().unwrap();
    let data = data.to_owned();
    let control = std::thread::spawn(move || {
        serve(socket, data, engine, tokio::sync::mpsc::unbounded_channel().0, async {
            let _ = stopped.await;
        });
        end.send(()).unwrap();
    });
    Running { stop: Some(stop), threads: vec![control, shard] }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn a_snapshot_lives_as_long_as_its_connection() {
    let dir = tempfile::tempdir().unwrap();
    // Deeper than the kernel's limit for socket paths.
    let data = dir.path().join("d".repeat(120));
    assert!(request_snapshot(&data).unwrap().is_none(), "nobody is there");
    {
        let _running = start(&data);
        let mode = std::fs::metadata(data.join(FOLDER)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "nobody else may connect");
        let lease = request_snapshot(&data).unwrap().unwrap();
        let report = engine::verify(&RealDisk, &lease.dir, &mut |_| {}).unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        let (first, second) = (lease.dir.clone(), request_snapshot(&data).unwrap().unwrap());
        assert_ne!(first, second.dir);
        drop(lease);
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while first.exists() {
            assert!(std::time::Instant::now() < patience, "{} stays", first.display());
            std::thread::yield_now();
        }
        assert!(second.dir.exists());
    }
    assert!(!data.join(FOLDER).exists(), "nothing stays behind");
}

#[test]
fn unknown_requests_are_refused_and_remains_are_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    std::fs::create_dir_all(data.join(FOLDER).join("snapshot-1/tables")).unwrap();
    let _running = start(data);
    assert!(!data.join(FOLDER).join("snapshot-1").exists());
    for request in ["delete everything\n", "GET / HTTP/1.1\r\n\r\n", ""] {
        let mut stream = UnixStream::connect(data.join(FOLDER).join(SOCKET)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("error "), "{request:?}: {answer:?}");
    }
}

#[test]
fn silent_connections_keep_no_backup_waiting_and_held_snapshots_are_few() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let _running = start(data);
    let silent: Vec<UnixStream> =
        (0..20).map(|_| UnixStream::connect(data.join(FOLDER).join(SOCKET)).unwrap()).collect();
    let held: Vec<Lease> = (0..4).map(|_| request_snapshot(data).unwrap().unwrap()).collect();
    match request_snapshot(data) {
        Err(ControlError::Refused(text)) => assert!(text.contains("wait for a backup to end"), "{text}"),
        other => panic!("{other:?}"),
    }
    drop((silent, held));
}
