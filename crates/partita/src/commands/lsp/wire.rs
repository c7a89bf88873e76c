//! Messages of the language server protocol: headers, an empty line, JSON.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// A document of this size is no schema.
const BODY_BYTES_MAX: usize = 64 << 20;
const HEADER_BYTES_MAX: u64 = 8 << 10;

pub enum Trouble {
    /// The body is no JSON; the next message can be read.
    Json(String),
    /// The stream cannot be understood any more.
    Stream(String),
}

/// The next message; none at the end of the stream.
pub fn read(input: &mut impl BufRead) -> Result<Option<Value>, Trouble> {
    let mut length: Option<usize> = None;
    let mut header_bytes = 0;
    loop {
        let mut line = String::new();
        let read = input.by_ref().take(HEADER_BYTES_MAX).read_line(&mut line);
        let read = read.map_err(|error| Trouble::Stream(error.to_string()))?;
        header_bytes += read as u64;
        if read == 0 && header_bytes == 0 {
            return Ok(None);
        }
        if read == 0 || header_bytes > HEADER_BYTES_MAX {
            return Err(Trouble::Stream("the headers of a message do not end".into()));
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let length = length.ok_or_else(|| Trouble::Stream("a message has no Content-Length".into()))?;
    if length > BODY_BYTES_MAX {
        return Err(Trouble::Stream(format!("a message of {length} bytes is larger than 64 MiB")));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).map_err(|error| Trouble::Stream(error.to_string()))?;
    serde_json::from_slice(&body).map(Some).map_err(|error| Trouble::Json(error.to_string()))
}

/// Writes one message, at once.
pub fn write(out: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, &json!({"a": "é"})).expect("written");
        write(&mut bytes, &json!(2)).expect("written");
        let mut input = bytes.as_slice();
        assert_eq!(read(&mut input).ok().flatten(), Some(json!({"a": "é"})));
        assert_eq!(read(&mut input).ok().flatten(), Some(json!(2)));
        assert!(matches!(read(&mut input), Ok(None)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (bytes, recovers) in [
            ("Content-Length: 1\r\n\r\n{", true),
            ("Content-Length: 99\r\n\r\n{}", false),
            ("Content-Length: 99999999999\r\n\r\n", false),
            ("Content-Length: -1\r\n\r\n", false),
            ("X: y\r\n\r\n{}", false),
            ("Content-Length: 2", false),
        ] {
            match read(&mut bytes.as_bytes()) {
                Err(Trouble::Json(_)) => assert!(recovers, "{bytes}"),
                Err(Trouble::Stream(_)) => assert!(!recovers, "{bytes}"),
                Ok(_) => panic!("{bytes} was read"),
            }
        }
        let endless = format!("X: {}", "y".repeat(100_000));
        assert!(matches!(read(&mut endless.as_bytes()), Err(Trouble::Stream(_))));
    }
}
