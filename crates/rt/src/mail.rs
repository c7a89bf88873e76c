//! Mail between shards: one unbounded queue per shard, with its depth readable from any thread.
//!
//! The queue itself has no limit; whoever sends keeps its own limit on requests in flight, because
//! a refused reply could not be handled anywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// The sending side: reaches every shard. Cheap to clone.
pub struct Mail<M> {
    boxes: Arc<[Outlet<M>]>,
}

struct Outlet<M> {
    sender: mpsc::UnboundedSender<M>,
    depth: Arc<AtomicUsize>,
}

/// The receiving side of one shard.
pub struct Inbox<M> {
    receiver: mpsc::UnboundedReceiver<M>,
    depth: Arc<AtomicUsize>,
}

/// Queues for `shards` shards.
pub fn mail<M: Send>(shards: usize) -> (Mail<M>, Vec<Inbox<M>>) {
    let (boxes, inboxes): (Vec<_>, Vec<_>) = (0..shards)
        .map(|_| {
            let (sender, receiver) = mpsc::unbounded_channel();
            let depth = Arc::new(AtomicUsize::new(0));
            (Outlet { sender, depth: depth.clone() }, Inbox { receiver, depth })
        })
        .unzip();
    (Mail { boxes: boxes.into() }, inboxes)
}

impl<M> Clone for Mail<M> {
    fn clone(&self) -> Mail<M> {
        Mail { boxes: self.boxes.clone() }
    }
}

impl<M> Mail<M> {
    pub fn shards(&self) -> usize {
        self.boxes.len()
    }

    /// Puts a message into the shard's queue; gives it back when the shard is gone.
    pub fn send(&self, shard: usize, message: M) -> Result<(), M> {
        let Some(outlet) = self.boxes.get(shard) else { return Err(message) };
        outlet.depth.fetch_add(1, Ordering::Relaxed);
        outlet.sender.send(message).map_err(|error| {
            outlet.depth.fetch_sub(1, Ordering::Relaxed);
            error.0
        })
    }

    /// Messages waiting for the shard.
    pub fn depth(&self, shard: usize) -> usize {
        self.boxes.get(shard).map_or(0, |outlet| outlet.depth.load(Ordering::Relaxed))
    }
}

impl<M> Inbox<M> {
    /// The next message; `None` when every sender is gone.
    pub async fn receive(&mut self) -> Option<M> {
        let message = self.receiver.recv().await;
        if message.is_some() {
            self.depth.fetch_sub(1, Ordering::Relaxed);
        }
        message
    }

    /// The next message if one is waiting.
    pub fn try_receive(&mut self) -> Option<M> {
        let message = self.receiver.try_recv().ok();
        if message.is_some() {
            self.depth.fetch_sub(1, Ordering::Relaxed);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_in_order_and_depth_counts_them() {
        let (mail, mut inboxes) = mail(2);
        for n in 0..3 {
            mail.send(1, n).unwrap();
        }
        assert_eq!((mail.depth(0), mail.depth(1)), (0, 3));
        assert_eq!(inboxes[1].try_receive(), Some(0));
        assert_eq!(mail.depth(1), 2);
        inboxes.remove(1);
        assert_eq!(mail.send(1, 9), Err(9));
        assert_eq!(mail.send(7, 9), Err(9));
    }
}
