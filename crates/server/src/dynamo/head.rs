//! The head of an HTTP/1.1 request, and where its body ends. Pure: bytes in, facts out.
//!
//! Guarantees: whatever the bytes are, the answer is a head, "more", or a fault; nothing is kept beyond the buffer, and every
//! number in it is bounded before it is believed.

use httparse::Status;

/// A head that is longer is refused. Signed requests with session tokens need a few kilobytes.
pub const HEAD_BYTES_MAX: usize = 32 << 10;
const HEADERS_MAX: usize = 64;
/// A chunk's size line, with extensions that nobody sends.
const CHUNK_LINE_BYTES_MAX: usize = 256;

/// How long the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    Length(usize),
    Chunked,
}

/// What a request says before its body; offsets are within the buffer that it was read from.
#[derive(Debug)]
pub struct Head<'b> {
    pub method: &'b str,
    /// Path and query.
    pub target: &'b str,
    pub headers: Vec<(&'b str, &'b [u8])>,
    pub body: Body,
    pub keep_alive: bool,
    pub expects_continue: bool,
    /// Bytes of the head itself.
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl<'b> Head<'b> {
    /// `None`: more bytes are needed.
    pub fn parse(buffer: &'b [u8]) -> Result<Option<Head<'b>>, Malformed> {
        let mut room = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut room);
        let bytes = match request.parse(buffer) {
            Ok(Status::Complete(bytes)) => bytes,
            Ok(Status::Partial) if buffer.len() < HEAD_BYTES_MAX => return Ok(None),
            Ok(Status::Partial) | Err(_) => return Err(Malformed),
        };
        let mut head = Head {
            method: request.method.unwrap_or_default(),
            target: request.path.unwrap_or_default(),
            headers: Vec::with_capacity(request.headers.len()),
            body: Body::Length(0),
            keep_alive: request.version == Some(1),
            expects_continue: false,
            bytes,
        };
        let mut length = None;
        for header in request.headers.iter() {
            head.headers.push((header.name, header.value));
            match header.name.len() {
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    let value = number(header.value).ok_or(Malformed)?;
                    // Two that differ would let a proxy and this server see different requests.
                    if length.replace(value).is_some_and(|earlier| earlier != value) {
                        return Err(Malformed);
                    }
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    if !header.value.eq_ignore_ascii_case(b"chunked") || head.body == Body::Chunked {
                        return Err(Malformed);
                    }
                    head.body = Body::Chunked;
                }
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    if header.value.eq_ignore_ascii_case(b"close") {
                        head.keep_alive = false;
                    } else if header.value.eq_ignore_ascii_case(b"keep-alive") {
                        head.keep_alive = true;
                    }
                }
                6 if header.name.eq_ignore_ascii_case("expect") => {
                    head.expects_continue = header.value.eq_ignore_ascii_case(b"100-continue");
                }
                _ => {}
            }
        }
        match (length, head.body) {
            (Some(_), Body::Chunked) => return Err(Malformed),
            (Some(length), _) => head.body = Body::Length(length),
            (None, _) => {}
        }
        Ok(Some(head))
    }

    /// The first header of this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&'b [u8]> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value)
    }

    pub fn text(&self, name: &str) -> Option<&'b str> {
        self.header(name).and_then(|value| std::str::from_utf8(value).ok()).map(str::trim)
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(digits).ok()?.trim();
    // Longer ones do not fit; a sign is no digit.
    let plain = !text.is_empty() && text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// What a chunked body is so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Chunks {
    /// More bytes are needed.
    More,
    TooLarge,
    /// The body, and how many bytes of the buffer it took.
    Whole(Vec<u8>, usize),
}

/// Puts the chunks at the front of the buffer together. Bodies like this are rare, so they are looked at from the beginning each
/// time bytes arrive.
pub fn chunks(buffer: &[u8], bytes_max: usize) -> Result<Chunks, Malformed> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let rest = buffer.get(at..).unwrap_or_default();
        let Some(end) = rest.windows(2).take(CHUNK_LINE_BYTES_MAX).position(|pair| pair == b"\r\n") else {
            return if rest.len() < CHUNK_LINE_BYTES_MAX { Ok(Chunks::More) } else { Err(Malformed) };
        };
        let line = rest[..end].split(|byte| *byte == b';').next().unwrap_or_default();
        let line = std::str::from_utf8(line).map_err(|_| Malformed)?.trim();
        if line.is_empty() || line.len() > 8 || !line.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Malformed);
        }
        let size = usize::from_str_radix(line, 16).map_err(|_| Malformed)?;
        at += end + 2;
        if size == 0 {
            // Trailers are not for us; there must be none but the empty line.
            return match buffer.get(at..at + 2) {
                None => Ok(Chunks::More),
                Some(b"\r\n") => Ok(Chunks::Whole(body, at + 2)),
                Some(_) => Err(Malformed),
            };
        }
        if body.len() + size > bytes_max {
            return Ok(Chunks::TooLarge);
        }
        let Some(chunk) = buffer.get(at..at + size + 2) else { return Ok(Chunks::More) };
        body.extend_from_slice(&chunk[..size]);
        if !chunk.ends_with(b"\r\n") {
            return Err(Malformed);
        }
        at += size + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_and_wait_for_their_end() {
        let text = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n\r\nrest";
        for cut in 0..text.len() - 4 {
            assert!(Head::parse(&text[..cut]).unwrap().is_none(), "cut at {cut}");
        }
        let head = Head::parse(text).unwrap().unwrap();
        assert_eq!((head.method, head.target, head.body), ("POST", "/", Body::Length(12)));
        assert_eq!(head.text("x-amz-target"), Some("DynamoDB_20120810.GetItem"));
        assert_eq!(head.bytes, text.len() - 4);
        assert!(head.keep_alive);
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for headers in [
            "Content-Length: 1\r\nContent-Length: 2\r\n",
            "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: +1\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
        ] {
            let text = format!("POST / HTTP/1.1\r\n{headers}\r\n");
            assert!(Head::parse(text.as_bytes()).is_err(), "{headers}");
        }
        let long = format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(HEAD_BYTES_MAX));
        assert!(Head::parse(long.as_bytes()).is_err());
    }

    #[test]
    fn chunks_come_together_however_they_are_cut() {
        let text = b"3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\nnext";
        let end = text.len() - 4;
        for cut in 0..end {
            assert_eq!(chunks(&text[..cut], 100), Ok(Chunks::More), "cut at {cut}");
        }
        assert_eq!(chunks(text, 100), Ok(Chunks::Whole(b"abc0123456789abcdef".to_vec(), end)));
        assert_eq!(chunks(text, 18), Ok(Chunks::TooLarge));
        assert_eq!(chunks(b"fffffffff\r\n", 100), Err(Malformed));
        assert_eq!(chunks(b"3\r\nabcd\r\n", 100), Err(Malformed));
        assert_eq!(chunks(b"\r\n", 100), Err(Malformed));
        assert_eq!(chunks(b"0\r\nTrailer: x\r\n\r\n", 100), Err(Malformed));
    }
}
