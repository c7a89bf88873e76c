//! What makes a server a front end: the cluster behind it, and the second one of a migration.

use super::{AuthOption, ServeOptions};
use server::config::{Cluster, ClusterTls, Login, Mirror, parse_contacts};
use std::path::PathBuf;

/// A role with the password that a file holds.
fn account(what: &str, user: &Option<String>, file: &Option<PathBuf>) -> Result<Option<Login>, String> {
    match (user, file) {
        (None, None) => Ok(None),
        (Some(user), Some(file)) => {
            let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
            // An editor ends the line.
            let password = text.trim_end_matches(['\r', '\n']).as_bytes().to_vec();
            Ok(Some(Login { user: user.clone(), password }))
        }
        _ => Err(format!("an account on a cluster needs both --{what}-user and --{what}-password-file")),
    }
}

impl ServeOptions {
    /// The cluster that this is to be a front end of.
    pub(super) fn cluster(&self) -> Result<Option<Cluster>, String> {
        let about_clusters = [
            ("cluster-writes", self.cluster_writes),
            ("cluster-user", self.cluster_user.is_some()),
            ("cluster-password-file", self.cluster_password_file.is_some()),
            ("cluster-tls-ca", self.cluster_tls_ca.is_some()),
            ("cluster-tls-cert", self.cluster_tls_cert.is_some()),
            ("cluster-tls-key", self.cluster_tls_key.is_some()),
            ("mirror", self.mirror.is_some()),
            ("mirror-state", self.mirror_state.is_some()),
            ("mirror-user", self.mirror_user.is_some()),
            ("mirror-password-file", self.mirror_password_file.is_some()),
            ("mirror-tls-ca", self.mirror_tls_ca.is_some()),
        ];
        let text = match self.engine.as_deref() {
            None | Some("embedded") => {
                return match about_clusters.iter().find(|(_, given)| *given) {
                    Some((name, _)) => {
                        Err(format!("--{name} is for front ends: say --engine cassandra://host1,host2 too"))
                    }
                    None => Ok(None),
                };
            }
            Some(text) if text.starts_with("cassandra:") => text,
            Some(other) => {
                return Err(format!(
                    "--engine {other}: unknown engine; use embedded or cassandra://host1[:port],host2"
                ));
            }
        };
        let contacts = parse_contacts(text).map_err(|error| format!("--engine {text}: {error}"))?;
        let meaningless = [
            ("data", self.data.is_some()),
            ("durability", self.durability.is_some()),
            ("dynamo", self.dynamo.is_some()),
            ("cql-shard-aware", self.cql_shard_aware.is_some()),
            ("audit", self.audit.is_some()),
            ("alerts-url", self.alerts_url.is_some()),
            ("check-copies-days", self.check_copies_days.is_some()),
            ("partition-limit", self.partition_limit.is_some()),
            ("otlp-endpoint", self.otlp_endpoint.is_some()),
            ("functions", self.functions),
            ("act-as", self.act_as.is_some()),
            ("audit-record", self.audit_record.is_some()),
            ("audit-tables", self.audit_tables.is_some()),
            ("audit-roles", self.audit_roles.is_some()),
        ];
        if let Some((name, _)) = meaningless.iter().find(|(_, given)| *given) {
            return Err(format!(
                "--{name} is for the embedded engine: a front end of a cluster has none (docs/cluster.md says what works there)"
            ));
        }
        let login = account("cluster", &self.cluster_user, &self.cluster_password_file)?;
        let own = match (&self.cluster_tls_cert, &self.cluster_tls_key) {
            (None, None) => None,
            (Some(cert), Some(key)) => Some((cert.clone(), key.clone())),
            _ => {
                return Err(
                    "a certificate for the cluster needs both --cluster-tls-cert and --cluster-tls-key"
                        .into(),
                );
            }
        };
        if own.is_some() && self.cluster_tls_ca.is_none() {
            return Err("--cluster-tls-cert takes TLS to the cluster: add --cluster-tls-ca".into());
        }
        let tls = self.cluster_tls_ca.clone().map(|ca| ClusterTls { ca, own });
        Ok(Some(Cluster {
            contacts,
            login,
            writes: self.cluster_writes,
            data_center: self.datacenter.clone(),
            tls,
            mirror: self.mirror()?,
        }))
    }

    /// The second cluster of a migration.
    fn mirror(&self) -> Result<Option<Mirror>, String> {
        let Some(text) = &self.mirror else {
            let alone = [
                ("mirror-state", self.mirror_state.is_some()),
                ("mirror-user", self.mirror_user.is_some()),
                ("mirror-password-file", self.mirror_password_file.is_some()),
                ("mirror-tls-ca", self.mirror_tls_ca.is_some()),
            ];
            return match alone.iter().find(|(_, given)| *given) {
                Some((name, _)) => Err(format!(
                    "--{name} is about a second cluster: say --mirror cassandra://host1,host2 too"
                )),
                None => Ok(None),
            };
        };
        let contacts = parse_contacts(text).map_err(|error| format!("--mirror {text}: {error}"))?;
        let Some(state) = self.mirror_state.clone() else {
            return Err(
                "--mirror needs --mirror-state: a folder that remembers how far the migration is".into()
            );
        };
        if !self.cluster_writes {
            return Err("--mirror sends writes to two clusters: say --cluster-writes too".into());
        }
        if self.auth == Some(AuthOption::Password) {
            return Err("--mirror goes with the front end's own accounts only, not with --auth password: the roles of one cluster are \
                        not those of the other"
                .into());
        }
        let login = account("mirror", &self.mirror_user, &self.mirror_password_file)?;
        let tls = self.mirror_tls_ca.clone().map(|ca| ClusterTls { ca, own: None });
        Ok(Some(Mirror { contacts, login, tls, state }))
    }
}
