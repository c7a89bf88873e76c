//! The answering side: accepts connections one by one on a thread of its own.

use super::{FOLDER, LINE_BYTES_MAX, SNAPSHOT, SocketPath};
use engine::Engine;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

/// Connections served at once; more wait.
const CONNECTIONS_MAX: usize = 4;

/// Makes the folder and the socket. Whoever calls it holds the lock of the data folder, so whatever lies there was
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
    stopping: impl Future<Output = ()> + Send + 'static,
) {
    let folder = data.join(FOLDER);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let served = runtime.and_then(|runtime| {
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            let listener = tokio::net::UnixListener::from_std(listener)?;
            tokio::select! {
                error = accept_forever(listener, &folder, &engine) => Err(error),
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

async fn accept_forever(listener: tokio::net::UnixListener, folder: &Path, engine: &Engine) -> io::Error {
    let places = std::sync::Arc::new(tokio::sync::Semaphore::new(CONNECTIONS_MAX));
    for number in 1u64.. {
        let Ok(place) = places.clone().acquire_owned().await else { break };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => return error,
        };
        let (engine, snapshot) = (engine.clone(), folder.join(format!("snapshot-{number}")));
        tokio::task::spawn_local(async move {
            if let Err(error) = converse(stream, &engine, Leased(snapshot)).await {
                tracing::debug!(%error, "a control connection ended early");
            }
            drop(place);
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

async fn converse(mut stream: UnixStream, engine: &Engine, snapshot: Leased) -> io::Result<()> {
    let (reading, mut writing) = stream.split();
    let mut reading = BufReader::new(reading.take(LINE_BYTES_MAX));
    let mut line = String::new();
    reading.read_line(&mut line).await?;
    if line != SNAPSHOT {
        return writing.write_all(b"error the server does not know this request\n").await;
    }
    let began = std::time::Instant::now();
    let answer = match engine.snapshot(&snapshot.0).await {
        Ok(taken) => {
            let ms = began.elapsed().as_millis() as u64;
            tracing::info!(files = taken.files, bytes = taken.bytes, ms, "a snapshot was made for a backup");
            let name = snapshot.0.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            format!("ok {name}\n")
        }
        Err(error) => {
            tracing::warn!(%error, "a snapshot for a backup failed");
            format!("error {}\n", error.to_string().replace('\n', " "))
        }
    };
    writing.write_all(answer.as_bytes()).await?;
    // The other side reads the files and then goes; that is all it has to say.
    reading.read_line(&mut line).await?;
    Ok(())
}
