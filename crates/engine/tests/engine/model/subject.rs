//! The store that a history runs on: one enum, one match per call.

use crate::harness::{commit_either_way, commit_if_either_way};
use engine::EmbeddedStore;
use store::remote::RemoteStore;
use store::{
    CasOutcome, Commit, ConditionalCommit, NoPrompt, Read, ReadOutcome, Sink, Store, StoreError, TableConfig,
};

/// What a store without files never does.
pub const ONLY_OF_ENGINES: &[&str] = &[
    "compaction",
    "flush",
    "flush between pages",
    "restart between pages",
    "restart clean",
    "restart killed",
];

pub enum Subject {
    Engine(EmbeddedStore),
    Remote(RemoteStore),
}

impl Subject {
    /// The prompt way where the store has one and says yes, else the general one.
    pub async fn commit_either_way(&self, commit: Commit) -> Result<(), StoreError> {
        match self {
            Subject::Engine(store) => commit_either_way(store, commit).await,
            Subject::Remote(store) => store.commit(commit).await,
        }
    }

    pub async fn commit_if_either_way(&self, commit: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        match self {
            Subject::Engine(store) => commit_if_either_way(store, commit).await,
            Subject::Remote(store) => store.commit_if(commit).await,
        }
    }
}

impl Store for Subject {
    type Prompt = NoPrompt;

    async fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        match self {
            Subject::Engine(store) => store.read(read, sink).await,
            Subject::Remote(store) => store.read(read, sink).await,
        }
    }

    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        self.commit_either_way(commit).await
    }

    async fn commit_if(&self, commit: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        self.commit_if_either_way(commit).await
    }

    async fn alter(&self, catalogue: Vec<u8>, tables: Vec<TableConfig>) -> Result<(), StoreError> {
        match self {
            Subject::Engine(store) => store.alter(catalogue, tables).await,
            Subject::Remote(store) => store.alter(catalogue, tables).await,
        }
    }
}
