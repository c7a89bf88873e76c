//! The control socket, `<data>/control/socket`: how the commands of this machine talk to a running server.
//!
//! Only those who can reach the data folder can connect: the folder `control` is for its owner only, and neither
//! a browser nor another machine can open a Unix socket. Two requests exist (docs/adr/0008-control-socket.md): `keys ...` makes,
//! lists and deletes access keys of roles, `snapshot` makes a consistent copy by hard links in `<data>/control/`, answers with its name, and keeps it until the
//! connection ends. What a killed server left there goes when the next one starts.

mod client;
mod serve;
#[cfg(test)]
mod tests;

pub use client::{ControlError, Lease, request_keys, request_line, request_snapshot};
pub(crate) use serve::{answered, bind, serve};

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

const FOLDER: &str = "control";
const SOCKET: &str = "socket";
const SNAPSHOT: &str = "snapshot\n";
const KEYS: &str = "keys ";
/// Longest line either side sends.
const LINE_BYTES_MAX: u64 = 4096;

/// The kernel's limit for the path of a socket is 108 bytes.
const SOCKET_PATH_MAX: usize = 100;

/// A path to the socket that is short enough for the kernel, however deep the data folder lies; valid as long as
/// the folder stays open.
struct SocketPath {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketPath {
    fn of(data: &Path) -> io::Result<SocketPath> {
        let path = data.join(FOLDER).join(SOCKET);
        if path.as_os_str().len() <= SOCKET_PATH_MAX {
            return Ok(SocketPath { path, _folder: None });
        }
        let folder = File::open(data.join(FOLDER))?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()));
        Ok(SocketPath { path, _folder: Some(folder) })
    }
}
