//! An answer as HTTP/1.1 bytes, with the headers that SDKs look at.

/// What the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `application/x-amz-json-1.0`
    AmzJson,
    Json,
    Text,
    None,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub content: Content,
    pub body: Vec<u8>,
    /// Whole header lines, with their line ends.
    pub headers: String,
}

impl Reply {
    pub fn new(status: u16, content: Content, body: impl Into<Vec<u8>>) -> Reply {
        Reply { status, content, body: body.into(), headers: String::new() }
    }

    pub fn too_large() -> Reply {
        Reply::new(413, Content::None, "")
    }

    pub fn malformed() -> Reply {
        Reply::new(400, Content::None, "")
    }

    pub fn overloaded() -> Reply {
        let body = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"The memory for requests is taken; try again later"}"#;
        Reply::new(400, Content::AmzJson, body)
    }

    /// Everything before the body.
    pub fn encode_head(&self, keep: bool, id: [u8; 52], out: &mut Vec<u8>) {
        out.reserve(self.headers.len() + 256);
        out.extend_from_slice(b"HTTP/1.1 ");
        put_number(out, u64::from(self.status));
        out.extend_from_slice(match self.status {
            200 => b" OK",
            400 => b" Bad Request",
            404 => b" Not Found",
            413 => b" Payload Too Large",
            _ => b" Internal Server Error",
        });
        out.extend_from_slice(match self.content {
            Content::AmzJson => b"\r\nContent-Type: application/x-amz-json-1.0" as &[u8],
            Content::Json => b"\r\nContent-Type: application/json",
            Content::Text => b"\r\nContent-Type: text/plain",
            Content::None => b"",
        });
        out.extend_from_slice(b"\r\nx-amzn-RequestId: ");
        out.extend_from_slice(&id);
        out.extend_from_slice(b"\r\nx-amz-crc32: ");
        put_number(out, u64::from(crc32fast::hash(&self.body)));
        out.extend_from_slice(b"\r\nContent-Length: ");
        put_number(out, self.body.len() as u64);
        out.extend_from_slice(if keep { b"\r\n" as &[u8] } else { b"\r\nConnection: close\r\n" });
        out.extend_from_slice(self.headers.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_what_sdks_check() {
        let mut out = Vec::new();
        Reply::new(200, Content::AmzJson, "{}").encode_head(true, [b'A'; 52], &mut out);
        let expect = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nx-amzn-RequestId: {}\r\nx-amz-crc32: \
             2745614147\r\nContent-Length: 2\r\n\r\n",
            "A".repeat(52)
        );
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }
}
