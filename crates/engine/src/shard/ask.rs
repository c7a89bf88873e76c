//! What one shard asks another: a question and its answer, both by mail.

use super::{Errand, Shard};
use rt::turn::Party;
use std::rc::Rc;
use store::StoreError;
use tokio::sync::oneshot;

impl Shard {
    /// Asks something that the other shard can answer when it looks at its mail.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        owner: usize,
        question: impl FnOnce(&Shard) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        // The asking task may be gone.
        self.send(owner, Box::new(move |owner| drop(sender.send(question(owner)))))?;
        receiver.await.map_err(|_| StoreError::Closed)
    }

    /// Has the other shard do something that may wait, as work of whoever asks.
    pub(crate) async fn ask_for<T: Send + 'static>(
        &self,
        owner: usize,
        task: impl AsyncFnOnce(Rc<Shard>) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let party = Party::current();
        let errand: Errand = Box::new(move |owner| {
            let owner = owner.clone();
            tokio::task::spawn_local(rt::turn::paced(party, async move {
                // The asking task may be gone.
                let _ = sender.send(task(owner).await);
            }));
        });
        self.send(owner, errand)?;
        receiver.await.map_err(|_| StoreError::Closed)
    }
}
