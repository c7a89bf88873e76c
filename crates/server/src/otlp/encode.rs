//! Protobuf, as much of it as OTLP needs: fields of bytes, numbers and messages, in the order of their numbers.

use super::Span;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

/// What a span is of: a server answered a request.
const KIND_SERVER: u64 = 2;
const STATUS_ERROR: u64 = 2;

/// A message under construction.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u64, kind: u64) {
        self.varint(field << 3 | kind);
    }

    pub fn number(&mut self, field: u64, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    pub fn fixed(&mut self, field: u64, value: u64) {
        self.tag(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn double(&mut self, field: u64, value: f64) {
        self.fixed(field, value.to_bits());
    }

    pub fn bytes(&mut self, field: u64, value: &[u8]) {
        self.tag(field, BYTES);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// A list of numbers of eight bytes.
    pub fn packed(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes);
    }

    pub fn message(&mut self, field: u64, fill: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        fill(&mut inner);
        self.bytes(field, &inner.0);
    }

    /// A name with a text.
    pub fn attribute(&mut self, field: u64, name: &str, value: &str) {
        self.message(field, |pair| {
            pair.bytes(1, name.as_bytes());
            pair.message(2, |any| any.bytes(1, value.as_bytes()));
        });
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// The resource and scope that everything is of; `items` is what is in the scope.
pub fn envelope(items: impl FnOnce(&mut Message)) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |of_resource| {
        of_resource.message(1, |resource| {
            resource.attribute(1, "service.name", "partita");
            resource.attribute(1, "service.version", env!("CARGO_PKG_VERSION"));
        });
        of_resource.message(2, |of_scope| {
            of_scope.message(1, |scope| scope.bytes(1, b"partita"));
            items(of_scope);
        });
    });
    request.finish()
}

/// A request to `/v1/traces`.
pub fn spans(spans: &[Span]) -> Vec<u8> {
    envelope(|scope| spans.iter().for_each(|span| scope.message(2, |message| one(message, span))))
}

fn one(message: &mut Message, span: &Span) {
    message.bytes(1, &span.trace_id);
    // A span of one's own, whose number follows from its trace.
    let mut id = [0; 8];
    id.copy_from_slice(&span.trace_id[8..]);
    id[0] |= 1;
    message.bytes(2, &id);
    message.bytes(5, span.name.as_bytes());
    message.number(6, KIND_SERVER);
    message.fixed(7, span.start_nanos);
    message.fixed(8, span.end_nanos);
    for (name, value) in &span.attributes {
        message.attribute(9, name, value);
    }
    if span.failed {
        message.message(15, |status| status.number(3, STATUS_ERROR));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_written_as_protobuf_writes_them() {
        let mut message = Message::default();
        message.number(1, 300);
        message.bytes(2, b"ab");
        message.fixed(3, 1);
        assert_eq!(message.finish(), [8, 0xac, 2, 18, 2, b'a', b'b', 25, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
