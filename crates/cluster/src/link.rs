//! The one door to a cluster: a front end knows nothing of nodes and connections but this.

use crate::job::Job;

/// Sends requests to a cluster. [`crate::Lane`] is the real one; tests have others.
pub trait Link {
    /// Sends a request to the node that suits it best. Its asker is answered exactly once: with what the node says, or with
    /// what became of the request.
    fn send(&self, job: Job);
}
