//! `partita cluster status`: what a cluster is, before a front end is put before it. Only reads.

use super::Failure;
use super::server_at::connect;
use clap::{Args, Subcommand};
use client::Client;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Args)]
pub struct ClusterOptions {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(Subcommand)]
enum ClusterCommand {
    /// Nodes, versions, schema agreement, and roles that may change data
    Status(StatusOptions),
}

#[derive(Args)]
struct StatusOptions {
    /// A node of the cluster
    #[arg(long, value_name = "HOST[:PORT]", default_value = "127.0.0.1:9042")]
    from: String,
    /// The role to log in as, if the cluster asks. The password is PARTITA_PASSWORD
    #[arg(long, value_name = "ROLE", env = "PARTITA_USER", default_value = client::FIRST_LOGIN.0)]
    user: String,
}

type Row = BTreeMap<String, String>;

pub fn run(options: &ClusterOptions) -> Result<(), Failure> {
    let ClusterCommand::Status(options) = &options.command;
    let mut client = connect(&options.from, &options.user)?;
    let failed = |error: client::ClientError| Failure::Failed(error.to_string());
    let mut nodes = client.texts("SELECT * FROM system.local").map_err(failed)?;
    let peers = client.texts("SELECT * FROM system.peers_v2");
    nodes.extend(peers.or_else(|_| client.texts("SELECT * FROM system.peers")).map_err(failed)?);
    let report = Report::of(&nodes, writers(&mut client));
    print!("{}", report.text);
    if report.is_well { Ok(()) } else { Err(Failure::Findings) }
}

/// Roles that may change data: `None` where there are no roles, or they may not be seen.
fn writers(client: &mut Client) -> Option<Vec<Row>> {
    let all = client.texts("SELECT role, resource, permissions FROM system_auth.role_permissions").ok()?;
    let may_write = |row: &Row| {
        let has = |column: &str, word: &str| row.get(column).is_some_and(|text| text.contains(word));
        has("resource", "data") && has("permissions", "MODIFY")
    };
    Some(all.into_iter().filter(may_write).collect())
}

struct Report {
    text: String,
    is_well: bool,
}

impl Report {
    fn of(nodes: &[Row], writers: Option<Vec<Row>>) -> Report {
        let get = |row: &Row, names: &[&str]| {
            names.iter().find_map(|name| row.get(*name)).cloned().unwrap_or_else(|| "?".into())
        };
        let mut text = String::new();
        let name = nodes.first().map(|row| get(row, &["cluster_name"])).unwrap_or_default();
        text.push_str(&format!("cluster {name}, {} nodes\n", nodes.len()));
        for row in nodes {
            text.push_str(&format!(
                "  {:<22} {} {} version {} schema {}\n",
                get(row, &["native_address", "rpc_address", "peer"]),
                get(row, &["data_center"]),
                get(row, &["rack"]),
                get(row, &["release_version"]),
                get(row, &["schema_version"]),
            ));
        }
        let different =
            |column: &str| -> BTreeSet<String> { nodes.iter().map(|row| get(row, &[column])).collect() };
        let (schemas, versions) = (different("schema_version"), different("release_version"));
        let partitioner = nodes.first().map(|row| get(row, &["partitioner"])).unwrap_or_default();
        let mut findings = Vec::new();
        if schemas.len() > 1 {
            findings.push(format!(
                "the nodes have {} different schemas: wait, or look for a node that is down (nodetool describecluster) before you change anything",
                schemas.len()
            ));
        }
        if versions.len() > 1 {
            findings.push(format!(
                "the nodes run different versions ({}): finish the upgrade before schema changes",
                versions.into_iter().collect::<Vec<_>>().join(", ")
            ));
        }
        if !partitioner.ends_with("Murmur3Partitioner") {
            findings.push(format!(
                "the partitioner is {partitioner}: a front end cannot tell which node owns a key"
            ));
        }
        match writers {
            None => {
                text.push_str("roles that may change data: unknown (no roles, or they may not be read)\n")
            }
            Some(rows) if rows.is_empty() => {
                text.push_str("roles that may change data: superusers only, or everybody if nobody logs in\n")
            }
            Some(rows) => {
                text.push_str("roles that may change data:\n");
                for row in rows {
                    text.push_str(&format!("  {} on {}\n", get(&row, &["role"]), get(&row, &["resource"])));
                }
            }
        }
        for finding in &findings {
            text.push_str(&format!("WRONG: {finding}\n"));
        }
        Report { text, is_well: findings.is_empty() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(address: &str, version: &str, schema: &str) -> Row {
        let pairs = [
            ("cluster_name", "c"),
            ("rpc_address", address),
            ("data_center", "dc1"),
            ("rack", "r1"),
            ("release_version", version),
            ("schema_version", schema),
            ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"),
        ];
        pairs.map(|(name, value)| (name.to_string(), value.to_string())).into()
    }

    #[test]
    fn what_is_wrong_is_told_and_nothing_else() {
        let well = Report::of(&[node("10.0.0.1", "5.0.6", "a"), node("10.0.0.2", "5.0.6", "a")], None);
        assert!(
            well.is_well && well.text.contains("10.0.0.2") && !well.text.contains("WRONG"),
            "{}",
            well.text
        );
        let role = [("role", "app"), ("resource", "data/shop"), ("permissions", "{'MODIFY'}")];
        let role: Row = role.map(|(name, value)| (name.to_string(), value.to_string())).into();
        let ill =
            Report::of(&[node("10.0.0.1", "5.0.6", "a"), node("10.0.0.2", "4.1.9", "b")], Some(vec![role]));
        assert!(!ill.is_well);
        for told in ["2 different schemas", "4.1.9, 5.0.6", "app on data/shop"] {
            assert!(ill.text.contains(told), "{told} in {}", ill.text);
        }
    }
}
