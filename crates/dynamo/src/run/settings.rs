//! What all shards share: what the server was told about this API, and what is counted.

use super::table::Counts;
use super::token::HeldTokens;
use super::transfer::Buckets;
use crate::messages::Layers;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Exports and imports that are remembered.
const TRANSFERS_MAX: usize = 1_000;

/// The account that owns all tables, in their names.
pub const ACCOUNT: &str = "000000000000";

#[derive(Clone)]
pub struct Settings {
    /// In the names of tables.
    pub region: String,
    pub throttle: bool,
    pub extensions: bool,
    /// Whose sentences: those that clients know, or those of 2026.
    pub layers: Layers,
    pub buckets: Option<Arc<dyn Buckets>>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            region: "us-east-1".into(),
            throttle: false,
            extensions: false,
            layers: Layers::Older,
            buckets: None,
        }
    }
}

pub struct AllShards {
    pub settings: Settings,
    /// Some index waits to be filled.
    pub builds_due: Notify,
    /// A backup has its moment, or has ended: writers that wait for it go on.
    pub backup_begun: Notify,
    /// Of transactions on tables of CQL.
    pub tokens: HeldTokens,
    counts: Mutex<HashMap<u32, Arc<Counts>>>,
    transfers: Mutex<VecDeque<Transfer>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransferKind {
    Export,
    Import,
}

/// An export or import that was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Transfer {
    pub kind: TransferKind,
    pub arn: String,
    pub table: String,
    pub table_arn: String,
    pub table_id: String,
    pub token: Option<String>,
    pub started_ms: i64,
    pub items: i64,
    pub imported: i64,
    pub errors: i64,
    pub bytes: i64,
    pub manifest: String,
    pub echo: Vec<u8>,
}

impl AllShards {
    pub fn new(settings: Settings) -> AllShards {
        AllShards {
            settings,
            builds_due: Notify::new(),
            backup_begun: Notify::new(),
            tokens: HeldTokens::default(),
            counts: Mutex::default(),
            transfers: Mutex::default(),
        }
    }

    /// What is counted about the table with this id.
    pub fn counts(&self, table: u32) -> Arc<Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(table).or_default().clone()
    }

    /// The table is gone.
    pub fn forget(&self, table: u32) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).remove(&table);
    }

    pub fn remember(&self, transfer: Transfer) {
        let mut transfers = self.transfers.lock().unwrap_or_else(PoisonError::into_inner);
        if transfers.len() >= TRANSFERS_MAX {
            transfers.pop_front();
        }
        transfers.push_back(transfer);
    }

    pub fn transfers(&self) -> Vec<Transfer> {
        self.transfers.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// `arn:aws:dynamodb:region:account:table/name`
    pub fn table_arn(&self, name: &str) -> String {
        format!("arn:aws:dynamodb:{}:{ACCOUNT}:table/{name}", self.settings.region)
    }

    pub fn stream_arn(&self, table: &str, label: &str) -> String {
        format!("{}/stream/{label}", self.table_arn(table))
    }
}
