//! Checks of the Rust `scylla` driver against a CQL server: one line per check, exit 1 when any failed.
//!
//! Each check is an async function over the shared `World`; it passes when it returns `Ok`.

mod buckets;
mod connections;
mod paging;
mod schema;
mod shards;
mod statements;
mod types;
mod world;

use world::{Report, World};

#[tokio::main]
async fn main() {
    let mut report = Report::default();
    let mut world = World::from_environment();
    if let Ok(state) = std::env::var(buckets::STATE) {
        let outcome = buckets::go_on(&world, &state).await;
        outcome.unwrap_or_else(|problem| panic!("{problem}"));
        return;
    }
    report.check("connect", schema::connect(&mut world).await);
    if world.session.is_some() {
        run(&world, &mut report).await;
    }
    std::process::exit(report.exit_code());
}

async fn run(w: &World, r: &mut Report) {
    r.check("ddl: keyspace, types, tables, schema agreement", schema::ddl(w).await);
    r.check("metadata: tables, columns, types", schema::metadata(w).await);
    r.check("metadata: token map", schema::tokens(w).await);
    r.check("metadata: a second session sees schema changes after a refresh", schema::refresh(w).await);
    r.check("types: scalars as CQL text and bound", types::scalars(w).await);
    r.check("types: collections, tuples, nesting", types::collections(w).await);
    r.check("types: user-defined types as structs", types::user_types(w).await);
    r.check("types: vectors", types::vectors(w).await);
    r.check("simple: values by position and by name", statements::simple(w).await);
    r.check("prepared: unset values", statements::unset(w).await);
    r.check("prepared: again after ALTER", statements::reprepare(w).await);
    r.check("batch: logged, unlogged, counter", statements::batches(w).await);
    r.check("lwt: applied and not applied", statements::lwt(w).await);
    r.check("ttl, write time, client timestamps", statements::times(w).await);
    r.check("errors: by class", statements::errors(w).await);
    r.check("warnings", statements::warnings(w).await);
    r.check("tracing", statements::tracing(w).await);
    r.check("caching session", statements::caching(w).await);
    r.check("concurrent: 10,000 inserts", paging::fill(w).await);
    r.check("paging: 10,000 rows, 100 a page", paging::stream(w).await);
    r.check("paging: state handed to another session", paging::handed_over(w).await);
    if w.target == "partita" {
        r.check("buckets: 600 rows in 30 days and 4 hash buckets", buckets::fill(w).await);
        r.check("buckets: pages of any size, both ways", buckets::pages(w).await);
        r.check("buckets: the paging state goes on in another process", buckets::another_process(w).await);
    }
    r.check("profiles and speculative execution", connections::profiles(w).await);
    r.check("compression: none", connections::compression(w, None).await);
    r.check("compression: lz4", connections::compression(w, Some(scylla::client::Compression::Lz4)).await);
    r.check("compression: snappy", connections::compression(w, Some(scylla::client::Compression::Snappy)).await);
    r.check("auth: login, wrong password, permissions", connections::auth(w).await);
    r.check("tls: verified certificate", connections::tls(w).await);
    r.check("shards: one connection per shard, requests arrive on the owning shard", shards::owning(w).await);
}
