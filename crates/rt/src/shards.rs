//! Shard threads: one thread with a single-threaded tokio runtime and a `LocalSet` each.

use std::future::Future;
use std::io;
use std::thread::{self, JoinHandle};

/// The running threads. Dropping the value does not stop them; `join` waits for them.
pub struct ShardThreads {
    threads: Vec<JoinHandle<()>>,
}

impl ShardThreads {
    /// Starts `shards` threads; each runs the future that `main` makes for its index until it ends.
    /// Tasks the future leaves behind with `spawn_local` are dropped then.
    pub fn start<M, F>(shards: usize, main: M) -> io::Result<ShardThreads>
    where
        M: Fn(usize) -> F + Send + Clone + 'static,
        F: Future<Output = ()> + 'static,
    {
        let mut threads = Vec::with_capacity(shards);
        for index in 0..shards {
            let main = main.clone();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let body = move || {
                let local = tokio::task::LocalSet::new();
                local.block_on(&runtime, async move {
                    tokio::task::spawn_local(crate::turn::pace());
                    main(index).await
                });
            };
            threads.push(thread::Builder::new().name(format!("shard-{index}")).spawn(body)?);
        }
        Ok(ShardThreads { threads })
    }

    /// Waits for every thread to end; `Err` names the shards that panicked.
    pub fn join(self) -> Result<(), Vec<usize>> {
        let results = self.threads.into_iter().enumerate();
        let panicked: Vec<usize> = results.filter_map(|(i, t)| t.join().err().map(|_| i)).collect();
        if panicked.is_empty() { Ok(()) } else { Err(panicked) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn every_shard_runs_local_tasks_and_panics_are_reported() {
        let (sender, receiver) = mpsc::channel();
        let threads = ShardThreads::start(3, move |index| {
            let sender = sender.clone();
            async move {
                let task = tokio::task::spawn_local(async move { index });
                sender.send(task.await.unwrap()).unwrap();
                assert!(index != 1, "shard 1 fails on purpose");
            }
        })
        .unwrap();
        let mut seen: Vec<usize> = receiver.iter().take(3).collect();
        seen.sort();
        assert_eq!(seen, [0, 1, 2]);
        assert_eq!(threads.join(), Err(vec![1]));
    }
}
