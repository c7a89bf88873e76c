//! The asking side of the control socket. Blocking: it is for commands.

use super::{FOLDER, KEYS, LINE_BYTES_MAX, SNAPSHOT, SocketPath};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// More keys than anybody has.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

/// A snapshot that exists until this value is dropped (or this process ends).
#[derive(Debug)]
pub struct Lease {
    /// A database directory that nobody has open.
    pub dir: PathBuf,
    _connection: UnixStream,
}

#[derive(Debug)]
pub enum ControlError {
    /// The server said no; its words.
    Refused(String),
    Io(io::Error),
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlError::Refused(text) => write!(f, "the server refused: {text}"),
            ControlError::Io(error) => write!(f, "the connection to the server failed: {error}"),
        }
    }
}

impl std::error::Error for ControlError {}

/// Asks the server that runs on `data` about access keys; `None` when no server runs there.
pub fn request_keys(data: &Path, request: &str) -> Result<Option<Vec<String>>, ControlError> {
    let Some(mut stream) = connect(data)? else { return Ok(None) };
    stream.write_all(format!("{KEYS}{request}\n").as_bytes()).map_err(ControlError::Io)?;
    let mut answer = String::new();
    (&stream).take(ANSWER_BYTES_MAX).read_to_string(&mut answer).map_err(ControlError::Io)?;
    let mut lines = answer.lines();
    match lines.next().and_then(|line| line.split_once(' ').or(Some((line, "")))) {
        Some(("ok", _)) => Ok(Some(lines.map(str::to_string).collect())),
        Some(("error", text)) => Err(ControlError::Refused(text.to_owned())),
        _ => Err(ControlError::Refused("it stopped before it answered".to_owned())),
    }
}

/// Asks the front end that runs with this folder (`--mirror-state`) with a line, which it answers with one; `None` when none runs there.
pub fn request_line(folder: &Path, request: &str) -> Result<Option<String>, ControlError> {
    let Some(mut stream) = connect(folder)? else { return Ok(None) };
    stream.write_all(format!("{request}\n").as_bytes()).map_err(ControlError::Io)?;
    let mut answer = String::new();
    BufReader::new((&stream).take(ANSWER_BYTES_MAX)).read_line(&mut answer).map_err(ControlError::Io)?;
    match answer.is_empty() {
        true => Err(ControlError::Refused("it stopped before it answered".to_owned())),
        false => Ok(Some(answer)),
    }
}

/// Asks the server that runs on `data` for a snapshot; `None` when no server runs there.
pub fn request_snapshot(data: &Path) -> Result<Option<Lease>, ControlError> {
    let Some(mut stream) = connect(data)? else { return Ok(None) };
    stream.write_all(SNAPSHOT.as_bytes()).map_err(ControlError::Io)?;
    let mut line = String::new();
    BufReader::new((&stream).take(LINE_BYTES_MAX)).read_line(&mut line).map_err(ControlError::Io)?;
    match line.trim_end().split_once(' ') {
        Some(("ok", name)) => Ok(Some(Lease { dir: data.join(FOLDER).join(name), _connection: stream })),
        Some(("error", text)) => Err(ControlError::Refused(text.to_owned())),
        _ => Err(ControlError::Refused("it stopped before it answered".to_owned())),
    }
}

fn connect(data: &Path) -> Result<Option<UnixStream>, ControlError> {
    let absent = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
    };
    let connected = SocketPath::of(data).and_then(|socket| UnixStream::connect(&socket.path));
    match connected {
        Err(error) if absent(&error) => Ok(None),
        connected => connected.map(Some).map_err(ControlError::Io),
    }
}
