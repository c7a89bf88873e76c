//! Partition locks: shard-local, first come first served, released when the guard is dropped.
//!
//! Only operations that read before they write take them; plain commits do not. A caller that needs several locks takes
//! them in ascending order of (shard, table, key), so nobody waits in a circle.

use model::key::PartitionKey;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use store::TableId;
use tokio::sync::oneshot;

pub(crate) type LockKey = (TableId, PartitionKey);

type Queue = VecDeque<oneshot::Sender<()>>;

#[derive(Clone, Default)]
pub(crate) struct Locks {
    /// Present: held; the queue holds who waits.
    held: Rc<RefCell<HashMap<LockKey, Queue, BuildHasherDefault<Fold>>>>,
}

/// Hashes of lock keys. Partition keys begin with their token, which is a hash already: folding words is enough, and takes a
/// tenth of the standard hasher's instructions. Only locks that are held are in the map, so nobody can fill a bucket.
#[derive(Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// Holds the lock of one partition.
pub(crate) struct Guard {
    key: LockKey,
    locks: Locks,
}

/// Waits for a lock. If the waiting task goes away just after the lock was handed to it, passes it on.
struct Grant {
    receiver: Option<oneshot::Receiver<()>>,
    key: LockKey,
    locks: Locks,
}

impl Locks {
    pub async fn acquire(&self, key: LockKey) -> Guard {
        let waiting = match self.held.borrow_mut().get_mut(&key) {
            None => None,
            Some(queue) => {
                let (sender, receiver) = oneshot::channel();
                queue.push_back(sender);
                Some(receiver)
            }
        };
        let Some(receiver) = waiting else {
            self.held.borrow_mut().insert(key.clone(), VecDeque::new());
            return Guard { key, locks: self.clone() };
        };
        let mut grant = Grant { receiver: Some(receiver), key, locks: self.clone() };
        if let Some(receiver) = &mut grant.receiver {
            // The sender is dropped unsent only together with the lock table itself.
            let _ = receiver.await;
        }
        grant.receiver = None;
        Guard { key: grant.key.clone(), locks: self.clone() }
    }

    /// The lock, if nobody holds it.
    pub fn try_acquire(&self, key: LockKey) -> Option<Guard> {
        let mut held = self.held.borrow_mut();
        if held.contains_key(&key) {
            return None;
        }
        held.insert(key.clone(), VecDeque::new());
        Some(Guard { key, locks: self.clone() })
    }

    /// Gives the lock to the next who still waits, or frees it.
    fn release(&self, key: &LockKey) {
        let mut held = self.held.borrow_mut();
        let Some(queue) = held.get_mut(key) else { return };
        while let Some(next) = queue.pop_front() {
            if next.send(()).is_ok() {
                return;
            }
        }
        held.remove(key);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.locks.release(&self.key);
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if self.receiver.take().is_some_and(|mut receiver| receiver.try_recv().is_ok()) {
            self.locks.release(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_holder_at_a_time_in_order_and_nobody_is_forgotten() {
        let locks = Locks::default();
        let key = (TableId(1), PartitionKey::of(b"k").unwrap());
        let first = poll(pin!(locks.acquire(key.clone()))).unwrap();
        let mut second = pin!(locks.acquire(key.clone()));
        let mut third = Box::pin(locks.acquire(key.clone()));
        let mut fourth = pin!(locks.acquire(key.clone()));
        assert!(poll(second.as_mut()).is_none());
        assert!(poll(third.as_mut()).is_none() && poll(fourth.as_mut()).is_none());
        drop(first);
        let held = poll(second.as_mut()).unwrap();
        assert!(poll(third.as_mut()).is_none());
        drop(held);
        // The third was given the lock but goes away without taking it.
        drop(third);
        drop(poll(fourth.as_mut()).unwrap());
        assert!(locks.held.borrow().is_empty());
    }
}
