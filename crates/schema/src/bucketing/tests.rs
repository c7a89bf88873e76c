//! Where buckets start, and what a plan refuses.

use super::Every;

fn start(every: &str, text: &str) -> String {
    let every = Every::parse(every).unwrap();
    let start = every.start(millis(text)).unwrap();
    assert!(start <= millis(text) && millis(text) < every.next(start), "{every} {text}");
    assert_eq!(every.start(start), Some(start));
    assert_eq!(every.start(every.next(start)), Some(every.next(start)));
    assert_eq!(every.start(every.next(start) - 1), Some(start));
    model::literal::format_literal(&model::types::DataType::Timestamp, Some(&start.to_be_bytes()))
}

fn millis(text: &str) -> i64 {
    let wire = model::literal::text_to_wire(&model::types::DataType::Timestamp, text, 0).unwrap();
    i64::from_be_bytes(wire.try_into().unwrap())
}

#[test]
fn buckets_start_where_people_expect() {
    for (every, moment, expected) in [
        ("1d", "2026-11-18 13:14:15+0000", "'2026-11-18T00:00:00.000Z'"),
        ("day", "1969-12-31 23:59:59+0000", "'1969-12-31T00:00:00.000Z'"),
        ("6h", "2026-11-18 13:14:15+0000", "'2026-11-18T12:00:00.000Z'"),
        ("15m", "2026-11-18 13:14:15+0000", "'2026-11-18T13:00:00.000Z'"),
        // A Wednesday: its week began on Monday.
        ("week", "2026-11-18 13:14:15+0000", "'2026-11-16T00:00:00.000Z'"),
        ("month", "2024-02-29 23:00:00+0000", "'2024-02-01T00:00:00.000Z'"),
        ("3mo", "2024-06-30 23:00:00+0000", "'2024-04-01T00:00:00.000Z'"),
        ("year", "1999-12-31 23:59:59+0000", "'1999-01-01T00:00:00.000Z'"),
    ] {
        assert_eq!(start(every, moment), expected, "{every} {moment}");
    }
}

#[test]
fn months_follow_each_other_for_a_thousand_years() {
    let every = Every::Months(1);
    let (mut at, mut months) = (every.start(millis("1500-01-15 00:00:00+0000")).unwrap(), 0);
    while at < millis("2500-01-01 00:00:00+0000") {
        let next = every.next(at);
        let days = (next - at) / super::every::DAY;
        assert!((28..=31).contains(&days), "{days}");
        at = next;
        months += 1;
    }
    assert_eq!(months, 12_000);
}

#[test]
fn lengths_are_read_and_written_alike() {
    for (text, shown) in
        [("1d", "1d"), ("24h", "1d"), ("7d", "1w"), ("90m", "90m"), ("month", "1mo"), ("24 months", "2y")]
    {
        assert_eq!(Every::parse(text).unwrap().to_string(), shown);
        assert_eq!(Every::parse(shown), Every::parse(text));
    }
    for text in ["", "0d", "d1", "1s", "1 fortnight", "11y", "99999999999999999999d", "-1d"] {
        assert_eq!(Every::parse(text), None, "{text}");
    }
    assert_eq!(Every::Span(super::every::DAY).start(i64::MAX), None);
}
