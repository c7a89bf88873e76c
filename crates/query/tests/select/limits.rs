//! Pages by bytes, unpaged results that grow too large, and tombstones met on the way.

use crate::fixture::{context, table};
use crate::pausing::{data, plan, run};
use model::deletion::Deletion;
use model::key::PartitionKey;
use model::types::DataType;
use query::fault::ReadFault;
use query::{QueryError, Values};
use store::{Mutation, StoreError, TableId};

#[test]
fn a_page_ends_when_its_bytes_are_enough() {
    let plan = plan(&table(2..3, DataType::Int, true));
    let store = data(0);
    let whole = run(&plan, &context(&store, Values::NONE)).unwrap();
    assert_eq!(whole.count, 16);
    let mut state: Option<Vec<u8>> = None;
    let (mut body, mut pages) = (Vec::new(), 0);
    loop {
        let mut context = context(&store, Values::NONE);
        context.limits.page_bytes_max = 60;
        context.request.page_size = Some(1000);
        context.request.paging_state = state.as_deref();
        let page = run(&plan, &context).unwrap();
        // A row has at most 32 bytes, so a page stops with its second or third.
        assert!(page.body.len() < 60 + 32 && page.count >= 1);
        body.extend_from_slice(&page.body);
        pages += 1;
        match page.paging_state {
            Some(next) => state = Some(next),
            None => break,
        }
    }
    assert_eq!(body, whole.body);
    assert!(pages > 4, "{pages} pages");
}

#[test]
fn an_unpaged_result_has_a_bound() {
    let plan = plan(&table(2..3, DataType::Int, true));
    let store = data(0);
    let mut context = context(&store, Values::NONE);
    context.limits.page_bytes_max = 2;
    let refused = run(&plan, &context).unwrap_err();
    assert_eq!(refused, ReadFault::ResultTooLarge { bytes_max: 64 }.into());
}

#[test]
fn tombstones_warn_and_damage_nothing() {
    let plan = plan(&table(2..3, DataType::Int, true));
    let store = data(0);
    let mut mutation = Mutation::new(TableId(1000), PartitionKey::of(&5i32.to_be_bytes()).unwrap());
    mutation.delete_range(&[], &[0xff], Deletion { timestamp: 2, local_seconds: 1 });
    store.store.apply(&mutation, 1).unwrap();
    let mut quiet = context(&store, Values::NONE);
    quiet.limits.tombstones_warn = 5;
    assert_eq!(run(&plan, &quiet).unwrap().count, 11);
    assert!(quiet.warnings.borrow().is_empty());
    let mut strict = context(&store, Values::NONE);
    strict.limits.tombstones_warn = 4;
    run(&plan, &strict).unwrap();
    let warning =
        "Read 11 live rows and 5 tombstone cells for query on table ks.t (see tombstone_warn_threshold)";
    assert_eq!(*strict.warnings.borrow(), [warning]);
}

#[test]
fn errors_of_the_store_come_through() {
    let mut plan = plan(&table(2..3, DataType::Int, true));
    let mut missing = (*plan.table).clone();
    missing.id = 4711;
    plan.table = missing.into();
    let store = data(0);
    let error = run(&plan, &context(&store, Values::NONE)).unwrap_err();
    assert_eq!(error, QueryError::Store(StoreError::UnknownTable(TableId(4711))));
}
