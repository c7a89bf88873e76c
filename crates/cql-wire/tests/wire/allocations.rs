//! The hot paths allocate nothing per value or cell.

use crate::golden::parse;
use crate::samples;
use cql_wire::{
    Consistency, Direction, Framing, Protocol, QueryParams, Reply, Request, RowsMetadata, RowsWriter,
    ServerCodec, Value, ValueList, Version, WireType, put_bytes,
};

fn execute_bytes(version: Version) -> Vec<u8> {
    let values: ValueList = (0..6).map(|_| Value::Bytes(b"some bytes of a value")).collect();
    let params = QueryParams {
        values: values.as_values(),
        timestamp: Some(1),
        page_size: Some(5000),
        ..QueryParams::new(Consistency::LocalQuorum)
    };
    let request = Request::Execute { id: &[7; 16], result_metadata_id: Some(&[8; 16]), params };
    let mut bytes = Vec::new();
    request.encode(Protocol::new(version), 1, 0, &mut bytes);
    bytes
}

#[test]
fn decoding_an_execute_with_six_values_allocates_nothing() {
    for version in Version::ALL {
        let bytes = execute_bytes(version);
        let envelope = parse(&bytes, Direction::Request);
        let mut total = 0;
        let info = allocation_counter::measure(|| {
            let Ok(Request::Execute { params, .. }) = Request::decode(version.into(), &envelope) else {
                return;
            };
            let mut slots = [Value::Null; 16];
            let count = params.values.read_into(&mut slots);
            total = slots[..count].iter().filter(|value| matches!(value, Value::Bytes(_))).count();
        });
        assert_eq!((info.count_total, total), (0, 6));
    }
}

/// From the receive buffer to bound values, once the buffer has grown to its working size.
#[test]
fn receiving_an_execute_in_a_segment_allocates_nothing() {
    for version in Version::ALL {
        let mut codec: ServerCodec = crate::connection::ready_server(version, None);
        let mut bytes = Vec::new();
        codec.framing().frame(&execute_bytes(version), &mut bytes);
        codec.receive_buffer().reserve(4096);
        let mut decoded = 0;
        let info = allocation_counter::measure(|| {
            for _ in 0..100 {
                codec.receive_buffer().extend_from_slice(&bytes);
                while let Ok(Some(envelope)) = codec.next_envelope() {
                    decoded += usize::from(Request::decode(version.into(), &envelope).is_ok());
                }
            }
        });
        assert_eq!((info.count_total, decoded), (0, 100));
    }
}

#[test]
fn encoding_rows_allocates_nothing_per_cell() {
    let columns: Vec<_> = (0..5)
        .map(|i| samples::column("t", &format!("c{i}"), WireType::List(Box::new(WireType::Text))))
        .collect();
    for version in Version::ALL {
        let mut out = Vec::with_capacity(1 << 20);
        let mut framed = Vec::with_capacity(1 << 20);
        let info = allocation_counter::measure(|| {
            let reply = Reply::new(version, 1);
            let mut rows = RowsWriter::begin(&mut out, &reply, RowsMetadata::full(&columns));
            for _ in 0..5 * 1000 {
                put_bytes(rows.buffer(), Some(b"some bytes of a cell"));
            }
            rows.finish(1000, Some(b"state"));
            Framing::negotiated(version, None).frame(&out, &mut framed);
        });
        // The paging state is moved into place through one small buffer.
        assert!(info.count_total <= 1, "{}", info.count_total);
        assert!(framed.len() > 100_000);
    }
}
