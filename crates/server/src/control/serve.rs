//! The answering side: accepts connections one by one on a thread of its own.

use super::{FOLDER, KEYS, LINE_BYTES_MAX, SNAPSHOT, SocketPath};
use crate::dynamo::KeysDesk;
use engine::Engine;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Connections that have not said what they want; more wait in the socket.
const SILENT_MAX: usize = 32;
/// By then a connection must have said what it wants.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Snapshots that may be held at once: each keeps files from being deleted.
const SNAPSHOTS_MAX: usize = 4;
/// After a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Makes the folder and the socket. The caller holds the lock of the data folder, so whatever lies there was
/// left by a server that is gone.
pub fn bind(data: &Path) -> io::Result<UnixListener> {
    let folder = data.join(FOLDER);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let socket = UnixListener::bind(&SocketPath::of(data)?.path)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Serves until `stopping` is done, then removes the folder.
pub fn serve(
    listener: UnixListener,
    data: PathBuf,
    engine: Engine,
    keys: KeysDesk,
    stopping: impl Future<Output = ()> + Send + 'static,
) {
    let folder = data.join(FOLDER);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.and_then(|runtime| {
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            let listener = tokio::net::UnixListener::from_std(listener)?;
            tokio::select! {
                error = accept_forever(listener, &folder, &engine, &keys) => Err(error),
                () = stopping => Ok(()),
            }
        })
    });
    if let Err(error) = served {
        tracing::error!(%error, "the control socket failed; backups of the running server are not possible");
    }
    if let Err(error) = fs::remove_dir_all(&folder) {
        tracing::warn!(folder = %folder.display(), %error, "the control folder stays behind");
    }
}

async fn accept_forever(
    listener: tokio::net::UnixListener,
    folder: &Path,
    engine: &Engine,
    keys: &KeysDesk,
) -> io::Error {
    let silent = Arc::new(Semaphore::new(SILENT_MAX));
    let snapshots = Arc::new(Semaphore::new(SNAPSHOTS_MAX));
    for number in 1u64.. {
        let Ok(place) = silent.clone().acquire_owned().await else { break };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                crate::accept::accept_failed(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (snapshots, keys) = (snapshots.clone(), keys.clone());
        let (engine, snapshot) = (engine.clone(), folder.join(format!("snapshot-{number}")));
        tokio::task::spawn_local(async move {
            let snapshot = Leased(snapshot);
            let take = async || take_snapshot(&engine, &snapshot).await;
            let manage = async |request: String| ask_desk(&keys, request).await;
            if let Err(error) = converse(stream, take, manage, &snapshots, place).await {
                tracing::debug!(%error, "a control connection ended early");
            }
        });
    }
    io::Error::other("no more numbers for snapshots")
}

/// The directory of a snapshot; goes with its connection.
struct Leased(PathBuf);

impl Drop for Leased {
    fn drop(&mut self) {
        match fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(snapshot = %self.0.display(), %error, "a snapshot stays behind until the next start");
            }
            _ => {}
        }
    }
}

/// One connection from its request to its end; `take` makes the snapshot and says its name, or why there is none.
async fn converse<S: AsyncRead + AsyncWrite>(
    stream: S,
    take: impl AsyncFnOnce() -> Result<String, String>,
    manage: impl AsyncFnOnce(String) -> Result<Vec<String>, String>,
    snapshots: &Semaphore,
    place: OwnedSemaphorePermit,
) -> io::Result<()> {
    let (reading, mut writing) = tokio::io::split(stream);
    let mut reading = BufReader::new(reading.take(LINE_BYTES_MAX));
    let mut line = String::new();
    tokio::time::timeout(REQUEST_TIMEOUT, reading.read_line(&mut line)).await??;
    drop(place);
    if let Some(request) = line.strip_prefix(KEYS) {
        let answer = match manage(request.trim().to_string()).await {
            Ok(lines) => format!("ok\n{}\n", lines.join("\n")),
            Err(why) => format!("error {}\n", why.replace('\n', " ")),
        };
        return writing.write_all(answer.as_bytes()).await;
    }
    if line != SNAPSHOT {
        return writing.write_all(b"error the server does not know this request\n").await;
    }
    let Ok(_held) = snapshots.try_acquire() else {
        let text = format!("error {SNAPSHOTS_MAX} snapshots are held already; wait for a backup to end\n");
        return writing.write_all(text.as_bytes()).await;
    };
    let answer = match take().await {
        Ok(name) => format!("ok {name}\n"),
        Err(why) => format!("error {}\n", why.replace('\n', " ")),
    };
    writing.write_all(answer.as_bytes()).await?;
    // The other side reads the files and then goes; that is all it has to say.
    reading.read_line(&mut line).await?;
    Ok(())
}

/// Asks the shard that looks after access keys.
async fn ask_desk(keys: &KeysDesk, request: String) -> Result<Vec<String>, String> {
    let (sender, answer) = oneshot::channel();
    let gone = "the server is stopping";
    keys.send((request, sender)).map_err(|_| gone)?;
    answer.await.map_err(|_| gone)?
}

async fn take_snapshot(engine: &Engine, snapshot: &Leased) -> Result<String, String> {
    let began = std::time::Instant::now();
    match engine.snapshot(&snapshot.0).await {
        Ok(taken) => {
            let ms = began.elapsed().as_millis() as u64;
            tracing::info!(files = taken.files, bytes = taken.bytes, ms, "a snapshot was made for a backup");
            Ok(snapshot.0.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string())
        }
        Err(error) => {
            tracing::warn!(%error, "a snapshot for a backup failed");
            Err(error.to_string())
        }
    }
}

/// What a connection that sends these bytes is answered, with snapshots that are only said to be made; for fuzzing.
pub async fn answered(bytes: &[u8]) -> Vec<u8> {
    let (silent, snapshots) = (Arc::new(Semaphore::new(1)), Semaphore::new(1));
    let Ok(place) = silent.acquire_owned().await else { return Vec::new() };
    crate::drive::exchange(bytes, async |stream| {
        // A connection that ends early is an answer too.
        let _ = converse(
            stream,
            async || Ok("snapshot-1".to_string()),
            async |_| Ok(Vec::new()),
            &snapshots,
            place,
        )
        .await;
    })
    .await
}
