//! Threads for work on passwords, which is slow on purpose: few, fixed, and shared fairly.
//!
//! Guarantees: no more work runs at once than there are threads, whatever clients do; a thread is busy until its work is
//! done, even if the client has left meanwhile, and work whose client left while it waited is not begun. Addresses take
//! turns, so a client that sends a thousand logins delays only itself. One thread is kept for clients on this machine and
//! for superusers.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Work that may wait; beyond, clients are told to come back. A connection has one login under way at most.
const WAITING_MAX: usize = 8192;

/// The threads; cheap to clone. They end when the pool is closed.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    queues: Mutex<Queues>,
    arrived: Condvar,
}

#[derive(Default)]
struct Queues {
    ordinary: Turns,
    kept: Turns,
    closed: bool,
}

/// Work by address; the addresses take turns.
#[derive(Default)]
struct Turns {
    order: VecDeque<IpAddr>,
    waiting: HashMap<IpAddr, VecDeque<Job>>,
    count: usize,
}

struct Job {
    /// Tells whether anybody still waits for the outcome; then does the work.
    is_wanted: Box<dyn Fn() -> bool + Send>,
    work: Box<dyn FnOnce() + Send>,
}

/// Who asks, which decides whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    pub address: IpAddr,
    /// For a superuser; who comes from this machine is treated alike.
    pub superuser: bool,
}

impl Asker {
    /// The server itself, or somebody who has logged in already.
    pub const KNOWN: Asker = Asker { address: IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), superuser: false };
}

impl Turns {
    fn push(&mut self, address: IpAddr, job: Job) {
        let jobs = self.waiting.entry(address).or_default();
        if jobs.is_empty() {
            self.order.push_back(address);
        }
        jobs.push_back(job);
        self.count += 1;
    }

    fn pop(&mut self) -> Option<Job> {
        let address = self.order.pop_front()?;
        let jobs = self.waiting.get_mut(&address)?;
        let job = jobs.pop_front();
        if jobs.is_empty() {
            self.waiting.remove(&address);
        } else {
            self.order.push_back(address);
        }
        self.count -= 1;
        job
    }
}

impl Pool {
    /// Half of the cores for everybody (the shards need the rest), and one thread that is kept.
    pub fn start() -> std::io::Result<Pool> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Pool::with_threads((cores / 2).max(1))
    }

    fn with_threads(ordinary: usize) -> std::io::Result<Pool> {
        let pool = Pool { inner: Arc::new(Inner { queues: Mutex::default(), arrived: Condvar::new() }) };
        for index in 0..=ordinary {
            let inner = pool.inner.clone();
            let thread = std::thread::Builder::new().name(format!("password-{index}"));
            let spawned = thread.spawn(move || inner.run(index == 0));
            if let Err(error) = spawned {
                pool.close();
                return Err(error);
            }
        }
        Ok(pool)
    }

    /// Does the work when it is its turn; `None`: too much is waiting, or the server stops.
    pub async fn run<T: Send + 'static>(
        &self,
        asker: Asker,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, outcome) = oneshot::channel();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let is_wanted = {
            let sender = sender.clone();
            move || lock(&sender).as_ref().is_some_and(|sender| !sender.is_closed())
        };
        let work = move || {
            let done = work();
            // Nobody may be there to hear it.
            let _ = lock(&sender).take().map(|sender| sender.send(done));
        };
        let job = Job { is_wanted: Box::new(is_wanted), work: Box::new(work) };
        {
            let mut queues = lock(&self.inner.queues);
            if queues.closed || queues.ordinary.count + queues.kept.count >= WAITING_MAX {
                return None;
            }
            let kept = asker.superuser || asker.address.to_canonical().is_loopback();
            let turns = if kept { &mut queues.kept } else { &mut queues.ordinary };
            turns.push(asker.address.to_canonical(), job);
        }
        self.inner.arrived.notify_all();
        outcome.await.ok()
    }

    /// The threads end with what they are doing; what waits is dropped.
    pub fn close(&self) {
        let mut queues = lock(&self.inner.queues);
        *queues = Queues { closed: true, ..Queues::default() };
        drop(queues);
        self.inner.arrived.notify_all();
    }
}

impl Inner {
    /// One thread; a kept one leaves ordinary work to the others.
    fn run(&self, kept_only: bool) {
        while let Some(job) = self.next(kept_only) {
            if (job.is_wanted)() {
                let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job.work));
                if worked.is_err() {
                    tracing::error!("work on a password panicked");
                }
            }
        }
    }

    fn next(&self, kept_only: bool) -> Option<Job> {
        let mut queues = lock(&self.queues);
        loop {
            if queues.closed {
                return None;
            }
            let ordinary = if kept_only { None } else { queues.ordinary.pop() };
            if let Some(job) = ordinary.or_else(|| queues.kept.pop()) {
                return Some(job);
            }
            queues = self.arrived.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::mpsc;
    use std::task::{Context, Poll, Waker};

    fn stranger(last: u8) -> Asker {
        Asker { address: [192, 0, 2, last].into(), superuser: false }
    }

    fn wait<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    /// Begins without waiting for the outcome; dropping the future is the client's leaving.
    fn begin<F: Future>(future: F) -> std::pin::Pin<Box<F>> {
        let mut future = Box::pin(future);
        assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
        future
    }

    /// Holds the only ordinary thread until told.
    fn hold(pool: &Pool) -> (mpsc::Sender<()>, impl Future<Output = Option<()>>) {
        let ((go, gone), (started, running)) = (mpsc::channel::<()>(), mpsc::channel());
        let held = begin(pool.run(stranger(99), move || {
            started.send(()).unwrap();
            let _ = gone.recv();
        }));
        running.recv().unwrap();
        (go, held)
    }

    #[test]
    fn clients_that_leave_do_not_free_the_thread_and_their_waiting_work_is_not_done() {
        let pool = Pool::with_threads(1).unwrap();
        let (go, held) = hold(&pool);
        // The client leaves while its work runs; a thousand more come and leave.
        drop(held);
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..1000 {
            let done = done.clone();
            drop(begin(pool.run(stranger(1), move || done.fetch_add(1, SeqCst))));
        }
        let last = begin(pool.run(stranger(1), || 7));
        assert_eq!(done.load(SeqCst), 0, "the thread is still busy");
        go.send(()).unwrap();
        assert_eq!(wait(last), Some(7));
        assert_eq!(done.load(SeqCst), 0, "nobody wanted it any more");
        pool.close();
    }

    #[test]
    fn addresses_take_turns() {
        let pool = Pool::with_threads(1).unwrap();
        let (go, held) = hold(&pool);
        let order = Arc::new(Mutex::new(Vec::new()));
        let work = |name: &'static str| {
            let order = order.clone();
            move || lock(&order).push(name)
        };
        let many: Vec<_> = (0..50).map(|_| begin(pool.run(stranger(1), work("flood")))).collect();
        let one = begin(pool.run(stranger(2), work("victim")));
        go.send(()).unwrap();
        wait(async {
            held.await;
            for flood in many {
                flood.await;
            }
            one.await;
        });
        let place = lock(&order).iter().position(|name| *name == "victim").unwrap();
        assert!(place <= 1, "the victim came {place}th");
        pool.close();
    }

    #[test]
    fn this_machine_and_superusers_do_not_wait_for_strangers() {
        let pool = Pool::with_threads(1).unwrap();
        let (go, held) = hold(&pool);
        let local = Asker { address: [127, 0, 0, 1].into(), superuser: false };
        let superuser = Asker { superuser: true, ..stranger(99) };
        assert_eq!(wait(pool.run(local, || 1)), Some(1));
        assert_eq!(wait(pool.run(superuser, || 2)), Some(2));
        go.send(()).unwrap();
        wait(held);
        pool.close();
        assert_eq!(wait(pool.run(local, || 3)), None);
    }

    #[test]
    fn what_waits_is_bounded() {
        let pool = Pool::with_threads(1).unwrap();
        let (go, held) = hold(&pool);
        let waiting: Vec<_> = (0..WAITING_MAX).map(|_| begin(pool.run(stranger(1), || ()))).collect();
        assert_eq!(wait(pool.run(stranger(2), || ())), None);
        drop(waiting);
        go.send(()).unwrap();
        wait(held);
        pool.close();
    }
}
