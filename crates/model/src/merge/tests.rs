//! Merging commutes, associates and repeats safely; the rules themselves by example.

use super::*;
use crate::row::tests::{OwnedRow, row};
use proptest::prelude::*;

fn merge(rows: &[&[u8]]) -> Vec<u8> {
    let views: Vec<_> = rows.iter().map(|r| RowView::from_payload(r).unwrap()).collect();
    let mut merger = RowMerger::new();
    merger.merge(&views, Deletion::NONE, None);
    merger.row().to_payload()
}

/// The logical content, independent of the base a writer happened to choose.
fn content(payload: &[u8]) -> String {
    let view = RowView::from_payload(payload).unwrap();
    format!("{:?} {:?} {:?}", view.marker(), view.deletion(), view.cells().collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn merging_commutes_associates_and_repeats(a in row(), b in row(), c in row()) {
        let (a, b, c) = (a.payload(), b.payload(), c.payload());
        let all = content(&merge(&[&a, &b, &c]));
        prop_assert_eq!(&content(&merge(&[&c, &a, &b])), &all);
        prop_assert_eq!(&content(&merge(&[&merge(&[&a, &b]), &c])), &all);
        prop_assert_eq!(&content(&merge(&[&a, &merge(&[&b, &c])])), &all);
        prop_assert_eq!(&content(&merge(&[&a, &b, &c, &a, &b, &c])), &all);
    }

    #[test]
    fn a_covering_deletion_can_come_early_or_late(a in row(), b in row(), at in 0i64..6) {
        let covering = Deletion { timestamp: at, local_seconds: 1 };
        let (a, b) = (a.payload(), b.payload());
        let (va, vb) = (RowView::from_payload(&a).unwrap(), RowView::from_payload(&b).unwrap());
        let mut merger = RowMerger::new();
        merger.merge(&[va, vb], covering, None);
        let at_once = merger.row().to_payload();
        merger.merge(&[va], covering, None);
        let early = merger.row().to_payload();
        merger.merge(&[RowView::from_payload(&early).unwrap(), vb], covering, None);
        prop_assert_eq!(content(&merger.row().to_payload()), content(&at_once));
    }

    #[test]
    fn purging_with_nothing_beneath_changes_nothing_visible(a in row(), b in row(), now in 0u32..12) {
        let (a, b) = (a.payload(), b.payload());
        let views = [RowView::from_payload(&a).unwrap(), RowView::from_payload(&b).unwrap()];
        let visible = |view: RowView<'_>| {
            let cells: Vec<_> = view.cells().filter(|c| c.live_value(now).is_some()).collect();
            format!("{} {cells:?}", view.is_live(now))
        };
        let mut merger = RowMerger::new();
        merger.merge(&views, Deletion::NONE, None);
        let plain = visible(merger.row());
        let purge = Purge { before_seconds: u32::MAX, now_seconds: now, below_timestamp: i64::MAX };
        merger.merge(&views, Deletion::NONE, Some(purge));
        prop_assert_eq!(visible(merger.row()), plain);
        let dead = merger.row().cells().filter(|c| c.live_value(now).is_none()).count();
        prop_assert_eq!(dead, 0);
    }
}

fn one(timestamp: i64, state: CellState<'_>) -> Cell<'_> {
    Cell { column: 1, path: None, timestamp, state }
}

#[test]
fn reconcile_follows_the_rules_in_order() {
    let live = |t, v| one(t, CellState::Live(v));
    let dead = |t, s| one(t, CellState::Tombstone { local_seconds: s });
    let expiring = |t, e| one(t, CellState::Expiring { value: b"x", ttl: 5, expiry: e });
    let winners: [(&str, Cell<'_>, Cell<'_>); 6] = [
        ("higher timestamp", live(2, b"a"), dead(1, 9)),
        ("tombstone beats live", dead(1, 0), live(1, b"zzz")),
        ("expiring beats live", expiring(1, 3), live(1, b"zzz")),
        ("tombstone beats expiring", dead(1, 0), expiring(1, 9)),
        ("later expiry", expiring(1, 9), expiring(1, 8)),
        ("larger value", live(1, b"b"), live(1, b"abc")),
    ];
    for (rule, winner, loser) in winners {
        assert_eq!(reconcile(&winner, &loser), Ordering::Greater, "{rule}");
        assert_eq!(reconcile(&loser, &winner), Ordering::Less, "{rule}, swapped");
    }
}

#[test]
fn a_row_deletion_hides_what_is_not_newer() {
    let old = OwnedRow { base: 3, marker: Some(Marker::new(3)), deletion: Deletion::NONE, cells: vec![] };
    let gone = Deletion { timestamp: 3, local_seconds: 7 };
    let deleted = OwnedRow { base: 3, marker: None, deletion: gone, cells: vec![] };
    let merged = merge(&[&old.payload(), &deleted.payload()]);
    let view = RowView::from_payload(&merged).unwrap();
    assert!(!view.is_live(0));
    assert_eq!(view.deletion(), gone);
}
