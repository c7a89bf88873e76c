//! Operations of the DynamoDB API as traffic: counted beside statements of CQL, and judged by the patterns that are declared in CQL.

use crate::shard::Shared;
use cql::declared::judge_operation;
use dynamo::run::{Caller, Shaped, Undeclared, Watched, Watcher};
use schema::Catalogue;
use std::fmt::Write;
use std::sync::Arc;

/// One shard's.
pub struct Traffic {
    pub shared: Arc<Shared>,
    pub shard: usize,
}

impl Watcher for Traffic {
    fn watch(&self, catalogue: &Catalogue, shaped: Shaped) -> Watched {
        let texts = || (shaped.statement.clone(), shaped.example.clone());
        let observed = self.shared.traffic.of(self.shard, &shaped.shape, shaped.class, texts);
        let of_cql = cql::shape::Shaped {
            shape: shaped.shape.clone(),
            class: shaped.class,
            statement: shaped.statement.clone(),
        };
        let undeclared = judge_operation(catalogue, of_cql).map(|found| Undeclared {
            refused: found.refused,
            text: found.text,
            allowed: found.allowed,
        });
        Watched { shaped, observed, undeclared }
    }
}

/// Counts a request under everything that it turned out to be.
pub fn count(caller: &Caller<'_>, failed: Option<bool>, bytes: usize, micros: u64) {
    for watched in caller.seen.borrow().iter() {
        let Some(observed) = &watched.observed else { continue };
        match failed {
            None => observed.answered(caller.items.get(), bytes as u64),
            Some(refused) => observed.failed(refused),
        }
        observed.micros.record(micros);
    }
}

/// What `X-Partita-Explain` asks for, as header lines: how each operation of the request finds its items, and which pattern it lacks.
pub fn explain(caller: &Caller<'_>, headers: &mut String) {
    let mut list = Vec::new();
    for watched in caller.seen.borrow().iter() {
        let shaped = &watched.shaped;
        let single = shaped.class.bound() == "single";
        let mut told = serde_json::json!({
            "class": shaped.class.word(),
            "partitions": if single { serde_json::json!(1) } else { serde_json::json!("all") },
            "path": shaped.path,
            "statement": shaped.statement,
        });
        if let Some(undeclared) = &watched.undeclared {
            told["undeclared"] = undeclared.text.as_str().into();
        }
        list.push(told);
    }
    let text: String = serde_json::Value::from(list)
        .to_string()
        .chars()
        .flat_map(
            |c| if c.is_ascii() && !c.is_ascii_control() { vec![c] } else { c.escape_unicode().collect() },
        )
        .collect();
    // Writing to a string does not fail.
    let _ = write!(headers, "X-Partita-Explain: {text}\r\n");
}

/// Where patterns are only wanted, not enforced: a header that says what is not declared.
pub fn warn(caller: &Caller<'_>, headers: &mut String) {
    for watched in caller.seen.borrow().iter() {
        let Some(undeclared) = watched.undeclared.as_ref().filter(|undeclared| !undeclared.refused) else {
            continue;
        };
        if undeclared.text.chars().all(|c| c.is_ascii() && !c.is_ascii_control()) {
            let _ = write!(headers, "X-Partita-Warning: {}\r\n", undeclared.text);
        }
    }
}
