//! How long work gives way to other work of its shard.
//!
//! A shard's thread runs one task at a time, and looks at sockets and timers only between rounds of up to 61 tasks. Many tasks
//! that each give way after a few milliseconds would still keep a connection waiting for all of them together. So work that may
//! take long is counted, whoever does it: when a turn's worth is done, the rest stands in line, and a pacer lets one of it go
//! on between two looks at the sockets.
//!
//! Work belongs to a party, usually a connection; parties take turns, so that one with hundreds of requests in the line keeps
//! one with a single request waiting for one of them only.
//!
//! Nobody in the line holds anything: one that is not polled, because its connection waits for a slow client, keeps nobody up.

use crate::threads::Moment;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Work of a thread between two looks at sockets and timers, in nanoseconds.
const TURN_NANOS: u64 = 2_000_000;

/// So much work calls the pacer, who begins a new turn. Less is not worth it.
const CALL_NANOS: u64 = TURN_NANOS / 4;

/// For whom work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Party(u64);

impl Party {
    /// One that nobody else is.
    pub fn new() -> Party {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Party(1 + LAST.fetch_add(1, Ordering::Relaxed))
    }

    /// For whom this thread is working now.
    pub fn current() -> Party {
        LINE.with(|line| line.party.get())
    }
}

/// One task in the line.
#[derive(Default)]
struct Waiting {
    may_go: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Waiting {
    /// At the end of the line.
    fn enter() -> Rc<Waiting> {
        let own = Rc::new(Waiting::default());
        LINE.with(|line| {
            line.waiting.borrow_mut().push(line.party.get(), Rc::downgrade(&own));
            line.call();
        });
        own
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.may_go.get() {
            return Poll::Ready(());
        }
        self.waker.replace(Some(context.waker().clone()));
        Poll::Pending
    }
}

/// The line of a thread.
#[derive(Default)]
struct Line {
    waiting: RefCell<Parties>,
    pacer: RefCell<Option<Waker>>,
    is_paced: Cell<bool>,
    /// Work since the pacer began the turn.
    spent_nanos: Cell<u64>,
    party: Cell<Party>,
}

/// Who stands in the line: first come, first served within a party; parties in turn.
#[derive(Default)]
struct Parties {
    /// Tasks that have ended meanwhile are skipped.
    tasks: HashMap<Party, VecDeque<Weak<Waiting>>>,
    /// Each that has tasks, once.
    order: VecDeque<Party>,
}

impl Parties {
    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn push(&mut self, party: Party, task: Weak<Waiting>) {
        let tasks = self.tasks.entry(party).or_default();
        if tasks.is_empty() {
            self.order.push_back(party);
        }
        tasks.push_back(task);
    }

    /// The next task that is still wanted.
    fn pop(&mut self) -> Option<Rc<Waiting>> {
        while let Some(party) = self.order.pop_front() {
            let tasks = self.tasks.get_mut(&party)?;
            let next = std::iter::from_fn(|| tasks.pop_front()).find_map(|task| task.upgrade());
            if tasks.is_empty() {
                self.tasks.remove(&party);
            } else {
                self.order.push_back(party);
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }
}

impl Line {
    fn call(&self) {
        if let Some(pacer) = self.pacer.borrow_mut().take() {
            pacer.wake();
        }
    }

    fn is_idle(&self) -> bool {
        self.waiting.borrow().is_empty() && self.spent_nanos.get() < CALL_NANOS
    }
}

thread_local! {
    static LINE: Line = Line::default();
}

/// Goes on when it is this task's turn again, after the thread has looked at sockets and timers.
pub async fn give_way() {
    if !LINE.with(|line| line.is_paced.get()) {
        return tokio::task::yield_now().await;
    }
    let own = Waiting::enter();
    poll_fn(|context| own.poll(context)).await;
}

/// Counts work that this thread has just done.
pub fn worked(time: Duration) {
    LINE.with(|line| {
        let spent = line.spent_nanos.get().saturating_add(time.as_nanos() as u64);
        line.spent_nanos.set(spent);
        if spent >= CALL_NANOS {
            line.call();
        }
    });
}

/// What this thread has counted in its turn.
pub fn spent() -> Duration {
    LINE.with(|line| Duration::from_nanos(line.spent_nanos.get()))
}

/// Whether the thread has worked for a turn since it last looked at sockets: who can wait should.
pub fn is_over() -> bool {
    LINE.with(|line| line.spent_nanos.get() >= TURN_NANOS && line.is_paced.get())
}

/// The same work, begun and taken up again only while the thread's turn is not over; what it takes is counted.
pub async fn paced<F: Future>(party: Party, work: F) -> F::Output {
    let mut work = pin!(work);
    let mut own: Option<Rc<Waiting>> = None;
    poll_fn(|context| {
        let _working = Working::begin(party);
        if own.is_none() && is_over() {
            own = Some(Waiting::enter());
        }
        // Whoever stood in the line goes on in any case, or busy connections would keep it standing for ever.
        if let Some(waiting) = &own {
            if waiting.poll(context).is_pending() {
                return Poll::Pending;
            }
            own = None;
        }
        let begun = Moment::now();
        let outcome = work.as_mut().poll(context);
        worked(begun.elapsed());
        outcome
    })
    .await
}

/// While it lives, the thread works for a party.
struct Working(Party);

impl Working {
    fn begin(party: Party) -> Working {
        Working(LINE.with(|line| line.party.replace(party)))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        LINE.with(|line| line.party.set(self.0));
    }
}

/// Whether others of this thread are waiting for their turn: then nobody should take a long one.
pub fn is_crowded() -> bool {
    LINE.with(|line| !line.is_idle())
}

/// Lets those in the line go on, one after the other. To be spawned once on each shard's thread; never ends.
pub async fn pace() {
    LINE.with(|line| line.is_paced.set(true));
    loop {
        poll_fn(|context| {
            LINE.with(|line| {
                if !line.is_idle() {
                    return Poll::Ready(());
                }
                line.pacer.replace(Some(context.waker().clone()));
                Poll::Pending
            })
        })
        .await;
        // This is where the thread looks at sockets and timers.
        tokio::task::yield_now().await;
        let next = LINE.with(|line| {
            line.spent_nanos.set(0);
            line.waiting.borrow_mut().pop()
        });
        if let Some(next) = next {
            next.may_go.set(true);
            if let Some(waker) = next.waker.take() {
                waker.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks that give way go on one by one, each a round later than the one before.
    #[test]
    fn one_goes_on_between_two_looks() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let rounds = Rc::new(Cell::new(0u32));
        let seen = Rc::new(RefCell::new(Vec::new()));
        local.block_on(&runtime, async {
            tokio::task::spawn_local(pace());
            tokio::task::yield_now().await;
            let tasks: Vec<_> = (0..20)
                .map(|_| {
                    let (rounds, seen) = (rounds.clone(), seen.clone());
                    tokio::task::spawn_local(async move {
                        give_way().await;
                        seen.borrow_mut().push(rounds.get());
                    })
                })
                .collect();
            let counting = {
                let rounds = rounds.clone();
                tokio::task::spawn_local(async move {
                    loop {
                        rounds.set(rounds.get() + 1);
                        tokio::task::yield_now().await;
                    }
                })
            };
            for task in tasks {
                task.await.unwrap();
            }
            counting.abort();
        });
        let seen = seen.borrow();
        // The count of a round and the first task of it come in either order.
        assert!(seen.windows(3).all(|some| some[0] < some[2]), "{seen:?}");
        assert!(!is_crowded());
    }

    /// Many pieces of work that never wait are not done in one go: sockets are looked at between.
    #[test]
    fn paced_work_is_spread_over_turns() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let turns = Rc::new(Cell::new(0u32));
        let seen = Rc::new(RefCell::new(Vec::new()));
        local.block_on(&runtime, async {
            tokio::task::spawn_local(pace());
            tokio::task::yield_now().await;
            let counting = {
                let turns = turns.clone();
                tokio::task::spawn_local(async move {
                    loop {
                        turns.set(turns.get() + 1);
                        tokio::task::yield_now().await;
                    }
                })
            };
            let pieces: Vec<_> = (0..30)
                .map(|_| {
                    let (turns, seen) = (turns.clone(), seen.clone());
                    // As if each had worked for a turn.
                    tokio::task::spawn_local(paced(Party::default(), async move {
                        worked(Duration::from_nanos(TURN_NANOS));
                        seen.borrow_mut().push(turns.get());
                    }))
                })
                .collect();
            for piece in pieces {
                piece.await.unwrap();
            }
            counting.abort();
        });
        let seen = seen.borrow();
        assert!(seen.windows(3).all(|some| some[0] < some[2]), "{seen:?}");
    }

    /// A party with one task waits for one task of another that has many.
    #[test]
    fn parties_take_turns() {
        let (many, few) = (Party::new(), Party::new());
        assert_ne!(many, few);
        let mut parties = Parties::default();
        let tasks: Vec<Rc<Waiting>> = (0..5).map(|_| Rc::default()).collect();
        let dropped = Rc::new(Waiting::default());
        parties.push(many, Rc::downgrade(&dropped));
        drop(dropped);
        tasks[..4].iter().for_each(|task| parties.push(many, Rc::downgrade(task)));
        parties.push(few, Rc::downgrade(&tasks[4]));
        let order: Vec<usize> = std::iter::from_fn(|| parties.pop())
            .filter_map(|next| tasks.iter().position(|task| Rc::ptr_eq(task, &next)))
            .collect();
        assert_eq!(order, [0, 4, 1, 2, 3]);
        assert!(parties.is_empty() && parties.tasks.is_empty());
    }

    /// A task in the line that nobody polls, and one that is dropped, keep nobody up.
    #[test]
    fn who_is_not_polled_holds_nothing() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            tokio::task::spawn_local(pace());
            tokio::task::yield_now().await;
            let mut context = std::task::Context::from_waker(Waker::noop());
            let mut forgotten = std::pin::pin!(give_way());
            assert!(forgotten.as_mut().poll(&mut context).is_pending());
            let mut dropped = Box::pin(give_way());
            assert!(dropped.as_mut().poll(&mut context).is_pending());
            drop(dropped);
            tokio::task::spawn_local(give_way()).await.unwrap();
            assert!(forgotten.as_mut().poll(&mut context).is_ready());
        });
    }
}
