//! Checks of the Rust `cdrs-tokio` driver against a CQL server: one line per check, exit 1 when any failed.
//!
//! The same list runs on protocol v4 and v5; connection checks (compression, login, TLS) run once after them.

mod connections;
mod paging;
mod schema;
mod statements;
mod types;
mod world;

use cdrs_tokio::frame::Version;
use world::{Report, World};

#[tokio::main]
async fn main() {
    let mut report = Report::default();
    for version in [Version::V4, Version::V5] {
        match schema::connect(version).await {
            Err(error) => report.check(&format!("{version:?}: connect"), Err(error)),
            Ok(world) => {
                report.check(&format!("{version:?}: connect"), Ok(()));
                run(&world, &mut report).await;
            }
        }
    }
    connections::run(&mut report).await;
    std::process::exit(report.exit_code());
}

async fn run(w: &World, r: &mut Report) {
    let mut check = |name: &str, outcome| r.check(&format!("{:?}: {name}", w.version), outcome);
    check("ddl: keyspace, type, tables", schema::ddl(w).await);
    check("metadata: nodes and tokens", schema::metadata(w).await);
    check("events: schema changes are received", schema::events(w).await);
    check("types: scalars as CQL text and bound", types::scalars(w).await);
    check("types: collections and tuples", types::collections(w).await);
    check("types: user-defined types as structs", types::user_types(w).await);
    check("simple: values by position and by name", statements::simple(w).await);
    check("prepared: values, unset, null", statements::prepared(w).await);
    check("prepared: again after ALTER", statements::reprepare(w).await);
    check("batch: logged, unlogged, counter", statements::batches(w).await);
    check("lwt: applied and not applied", statements::lwt(w).await);
    check("ttl and write time", statements::times(w).await);
    check("errors: by class", statements::errors(w).await);
    check("warnings", statements::warnings(w).await);
    check("tracing", statements::tracing(w).await);
    check("concurrent: 10,000 inserts", paging::fill(w).await);
    check("paging: 10,000 rows, 100 a page", paging::pages(w).await);
    check("paging: state handed to another session", paging::handed_over(w).await);
}
