//! Listeners without sockets: bytes in, answers out. For the fuzz targets (`fuzz/`); not part of the server's API.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Room between both ends: more than any answer.
const PIPE_BYTES: usize = 1 << 20;

/// What the HTTP listener answers a connection that sends these bytes and then no more.
pub fn http(bytes: &[u8]) -> Vec<u8> {
    wait(crate::http::answered(bytes))
}

/// What the control socket answers a connection that sends these bytes and then no more.
pub fn control(bytes: &[u8]) -> Vec<u8> {
    wait(crate::control::answered(bytes))
}

fn wait(answer: impl Future<Output = Vec<u8>>) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map(|runtime| runtime.block_on(answer)).unwrap_or_default()
}

/// Gives `serve` a connection that brings these bytes and ends; gives what came back.
pub(crate) async fn exchange(bytes: &[u8], serve: impl AsyncFnOnce(DuplexStream)) -> Vec<u8> {
    let (ours, mut theirs) = tokio::io::duplex(PIPE_BYTES);
    let mut answer = Vec::new();
    let client = async {
        // The other side may close before it has read everything.
        let _ = theirs.write_all(bytes).await;
        let _ = theirs.shutdown().await;
        let _ = theirs.read_to_end(&mut answer).await;
    };
    tokio::join!(serve(ours), client);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_answer_without_sockets() {
        let page = http(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(page.starts_with(b"HTTP/1.1 200 OK"), "{}", String::from_utf8_lossy(&page));
        assert!(http(b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n").starts_with(b"HTTP/1.1 404"));
        assert!(http(b"\0\0\0").starts_with(b"HTTP/1.1 400"));
        assert!(http(b"").is_empty());
        assert_eq!(control(b"snapshot\n"), b"ok snapshot-1\n");
        assert!(control(b"anything\n").starts_with(b"error "));
        assert!(control(&[0xff; 10]).is_empty());
        assert!(control(&[b'x'; 10_000]).starts_with(b"error "));
    }
}
