//! `/health` and `/metrics` of a front end.

use super::Shared;
use axum::Router;
use axum::routing::get;
use cluster::Topology;
use std::fmt::Write;
use std::sync::Arc;
use tokio::sync::watch;

/// The pages; `topology` tells of the cluster.
pub fn router(shared: Arc<Shared>, topology: watch::Receiver<Arc<Topology>>) -> Router {
    let metrics = move || {
        let text = metrics(&shared, &topology.borrow());
        async move { ([("content-type", "text/plain; version=0.0.4")], text) }
    };
    Router::new().route("/health", get(|| async { "ok\n" })).route("/metrics", get(metrics))
}

fn metrics(shared: &Shared, topology: &Topology) -> String {
    let sum = |of: fn(&super::ThreadCounters) -> u64| shared.threads.iter().map(of).sum::<u64>();
    let figures = [
        ("connections", "gauge", "Clients that are connected.", sum(|t| t.connections.get())),
        ("forwarded_total", "counter", "Requests sent to the cluster.", sum(|t| t.forwarded.get())),
        ("local_total", "counter", "Requests answered by the front end itself.", sum(|t| t.local.get())),
        (
            "refused_total",
            "counter",
            "Writes while read-only, and what a cluster does not have.",
            sum(|t| t.refused.get()),
        ),
        (
            "errors_total",
            "counter",
            "Answers that were errors, the cluster's and ours.",
            sum(|t| t.errors.get()),
        ),
        (
            "prepared_again_total",
            "counter",
            "Statements that a node did not know.",
            sum(|t| t.link.prepared_again.get()),
        ),
        ("sent_again_total", "counter", "Reads sent to another node.", sum(|t| t.link.sent_again.get())),
        ("lost_total", "counter", "Requests whose answer was lost.", sum(|t| t.link.lost.get())),
        (
            "overloaded_total",
            "counter",
            "Requests for which no node had room.",
            sum(|t| t.link.overloaded.get()),
        ),
        (
            "node_connections_total",
            "counter",
            "Connections opened to nodes.",
            sum(|t| t.link.connections.get()),
        ),
        (
            "node_connections_failed_total",
            "counter",
            "Attempts that failed.",
            sum(|t| t.link.connections_failed.get()),
        ),
        ("nodes", "gauge", "Nodes of the cluster that requests go to.", topology.nodes.len() as u64),
        ("schema_agrees", "gauge", "1 if all nodes have the same schema.", u64::from(topology.agrees())),
        ("statements", "gauge", "Prepared statements that are kept.", shared.statements.len() as u64),
    ];
    let mut text = String::new();
    for (name, kind, help, value) in figures {
        let name = format!("partita_front_{name}");
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
    }
    text
}
