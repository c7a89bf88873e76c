//! Work that takes too long for a shard's thread and needs nothing of it: done on another thread, a few at a time.

use std::panic;
use std::sync::{Arc, LazyLock};
use tokio::sync::Semaphore;

/// Works that are under way at once in the process. They compete with shards for processors, so they are few; others wait.
const AT_ONCE_MAX: usize = 2;

static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(AT_ONCE_MAX)));

/// The result of `work`, done beside the shard. Its place is taken until it is done, even if nobody waits any more.
/// Where there is no runtime (the embedding library, simulations) it is done here and now.
pub async fn aside<T, W>(work: W) -> T
where
    T: Send + 'static,
    W: FnOnce() -> T + Send + 'static,
{
    if tokio::runtime::Handle::try_current().is_err() {
        return work();
    }
    // A task of its own: whoever asks may be kept from going on by a slow client, and must not keep a place meanwhile.
    let done = tokio::spawn(async move {
        // Never closed.
        let place = PLACES.clone().acquire_owned().await;
        let working = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        working.await
    });
    let done = done.await.and_then(|done| done);
    match done {
        Ok(result) => result,
        Err(error) if error.is_panic() => panic::resume_unwind(error.into_panic()),
        // The runtime ends, and this task with it.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_with_and_without_a_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let here = std::thread::current().id();
        let there = runtime.block_on(aside(|| std::thread::current().id()));
        assert_ne!(here, there);
        let mut inline = std::pin::pin!(aside(|| std::thread::current().id()));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert_eq!(inline.as_mut().poll(&mut context), std::task::Poll::Ready(here));
    }
}
