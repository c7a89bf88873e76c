//! Any bytes as the body of any request of the DynamoDB API: an error with a text, or a request whose items come back from their stored
//! form and from JSON, and whose conditions, updates and projections can be applied to them.

#![no_main]

use dynamo::document;
use dynamo::messages::Layers;
use dynamo::request::{self, Request, WriteOptions};
use dynamo::value::Item;
use dynamo::{Operation, json, size};
use libfuzzer_sys::fuzz_target;

/// The stored form and the JSON form are the same item.
fn item(item: &Item) {
    let bytes = document::encode(item);
    let stored = document::Document::new(&bytes).expect("what was encoded");
    assert_eq!(stored.decode().expect("what was encoded"), *item);
    assert_eq!(stored.size(), size::item(item));
    let (mut direct, mut by_way) = (Vec::new(), Vec::new());
    stored.write_json(&mut direct).expect("what was encoded");
    json::write_item(item, &mut by_way);
    assert_eq!(direct, by_way);
    let body = [&b"{\"TableName\":\"abc\",\"Item\":"[..], &direct, b"}"].concat();
    // An item that an update or a legacy form made may be larger or deeper than one that comes in.
    if let Ok(Request::PutItem(put)) = request::parse(Operation::PutItem, &body, Layers::Older) {
        assert_eq!(put.item, *item);
    }
}

fn condition(options: &WriteOptions, on: &Item) {
    if let Some(condition) = &options.condition {
        condition.holds(Some(on));
        condition.holds(None);
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (operation, body) = input;
    let operation = Operation::ALL[operation as usize % Operation::ALL.len()];
    for layers in [Layers::Older, Layers::Current] {
        match request::parse(operation, body, layers) {
            Err(error) => assert!(json::well_formed(&error.body()), "{error}"),
            Ok(Request::PutItem(put)) => {
                item(&put.item);
                condition(&put.options, &put.item);
            }
            Ok(Request::UpdateItem(update)) => {
                condition(&update.options, &update.key);
                if let Ok(updated) = update.update.apply(None, &update.key) {
                    item(&updated.item);
                    // Again, on what it made.
                    let _ = update.update.apply(Some(&updated.item), &update.key);
                }
            }
            Ok(Request::GetItem(get)) => {
                item(&get.key);
                if let Some(projection) = &get.projection {
                    item(&projection.apply(&get.key));
                }
            }
            Ok(Request::Query(query)) => {
                if let (Some(filter), Some(start)) = (&query.read.filter, &query.read.start_key) {
                    filter.holds(Some(start));
                }
            }
            Ok(_) => {}
        }
    }
});
