//! The way to the node: bytes out, bytes back, late, or never.

use super::node::Node;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::task::{Context, Poll};

/// What the way does to messages. Drawn from the seed, so that a run repeats exactly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub seed: u64,
    /// A message waits for up to this many turns of the executor.
    pub delay_turns_max: u64,
    /// One request in this many never arrives; 0: all do.
    pub requests_lost_one_in: u64,
    /// One answer in this many never arrives, after the node has done what was asked; 0: all do.
    pub answers_lost_one_in: u64,
}

/// No answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

pub struct Link {
    node: RefCell<Node>,
    faults: Faults,
    random: Cell<u64>,
    messages: Cell<u64>,
    bytes: Cell<u64>,
}

impl Link {
    pub fn to_an_empty_node(faults: Faults) -> Link {
        Link {
            node: RefCell::default(),
            faults,
            random: Cell::new(faults.seed),
            messages: Cell::new(0),
            bytes: Cell::new(0),
        }
    }

    pub fn traffic(&self) -> (u64, u64) {
        (self.messages.get(), self.bytes.get())
    }

    pub async fn call(&self, request: Vec<u8>) -> Result<Vec<u8>, Lost> {
        self.count(request.len());
        self.delay().await;
        if self.happens(self.faults.requests_lost_one_in) {
            return Err(Lost);
        }
        // The node works on a message at once, and on one at a time.
        let answer = self.node.borrow_mut().serve(&request);
        drop(request);
        self.delay().await;
        if self.happens(self.faults.answers_lost_one_in) {
            return Err(Lost);
        }
        self.count(answer.len());
        Ok(answer)
    }

    fn count(&self, bytes: usize) {
        self.messages.set(self.messages.get() + 1);
        self.bytes.set(self.bytes.get() + bytes as u64);
    }

    async fn delay(&self) {
        if self.faults.delay_turns_max > 0 {
            for _ in 0..self.draw() % (self.faults.delay_turns_max + 1) {
                others_have_their_turn().await;
            }
        }
    }

    fn happens(&self, one_in: u64) -> bool {
        one_in > 0 && self.draw().is_multiple_of(one_in)
    }

    /// SplitMix64.
    fn draw(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Comes back when the executor has looked at the other tasks.
pub async fn others_have_their_turn() {
    struct Turn(bool);
    impl Future for Turn {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            if std::mem::replace(&mut self.0, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }
    Turn(false).await;
}
