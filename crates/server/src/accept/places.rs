//! Places among the connections: how many there may be, and who gets one when there are nearly none left.
//!
//! One ledger for all listeners of one kind. A connection takes a place when it arrives and gives it back when it ends;
//! until its client is known it is a stranger. Guarantees, in this order:
//! - There are never more than `max` connections, and never more than `per_address` from one address.
//! - When there is no place left, a new arrival gets that of a stranger: the one that has waited longest, of the address
//!   that has the most of them. So silent connections keep nobody out, and one address does not push out another's.
//! - The last few places are kept. Who arrives from this machine may have them; who comes from elsewhere may too, but must
//!   turn out to be a superuser ([`Place::is_kept`]).
//!
//! The lock is taken when connections come and go and when clients become known, never by requests.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Places that are kept for this machine and for superusers, at most.
const KEPT_MAX: usize = 8;
/// Of so many places, one is kept.
const KEPT_SHARE: usize = 32;
/// Connections that were told to leave and have not left yet still hold a descriptor: one for each of so many places.
const LEAVING_SHARE: usize = 8;
const LEAVING_MIN: usize = 4;
/// Arrivals wait so long for them to be gone: a second in all.
const LET_OUT_PAUSE: Duration = Duration::from_millis(1);
const LET_OUT_ROUNDS: usize = 1000;

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub struct PlacesMax {
    pub all: usize,
    /// From one address; `None`: half of all, and as many as there are places from this machine.
    pub per_address: Option<usize>,
}

/// The ledger; cheap to clone.
#[derive(Clone)]
pub struct Places {
    max: PlacesMax,
    kept: usize,
    ledger: Arc<Mutex<Ledger>>,
}

#[derive(Default)]
struct Ledger {
    taken: usize,
    /// Told to leave, not gone yet; their places are somebody else's already.
    leaving: usize,
    next: u64,
    by_address: HashMap<IpAddr, FromOne>,
}

/// The connections of one address.
#[derive(Default)]
struct FromOne {
    taken: usize,
    /// By arrival, those whose client is not known yet.
    strangers: BTreeMap<u64, oneshot::Sender<()>>,
}

/// Why a connection got no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    All,
    Address,
}

/// A connection's place; dropping it gives it back.
pub struct Place {
    ledger: Arc<Mutex<Ledger>>,
    address: IpAddr,
    number: u64,
    kept: bool,
    settled: Cell<bool>,
    leave: Option<oneshot::Receiver<()>>,
}

impl Places {
    pub fn new(max: PlacesMax) -> Places {
        let kept = (max.all / KEPT_SHARE).min(KEPT_MAX);
        Places { max, kept, ledger: Arc::default() }
    }

    pub fn max(&self) -> usize {
        self.max.all
    }

    /// Waits until those that were told to leave have left, all but a few; a newcomer would find no place before. Not for
    /// ever: a shard may be busy.
    pub async fn let_out(&self) {
        for _ in 0..LET_OUT_ROUNDS {
            if lock(&self.ledger).leaving < self.leaving_max() {
                return;
            }
            tokio::time::sleep(LET_OUT_PAUSE).await;
        }
    }

    fn leaving_max(&self) -> usize {
        (self.max.all / LEAVING_SHARE).max(LEAVING_MIN)
    }

    /// A place for a connection that has just arrived, if need be that of a stranger.
    pub fn take(&self, address: IpAddr) -> Result<Place, Full> {
        let local = address.to_canonical().is_loopback();
        let address = one_client(address);
        let mut guard = lock(&self.ledger);
        let ledger = &mut *guard;
        let of_address = match self.max.per_address {
            Some(max) => max,
            None if local => self.max.all,
            None => (self.max.all / 2).max(1),
        };
        let leaving_max = self.leaving_max();
        let from_one = ledger.by_address.get(&address).map_or(0, |one| one.taken);
        if from_one >= of_address && !ledger.push_out(Some(address), leaving_max) {
            return Err(Full::Address);
        }
        if ledger.taken >= self.max.all && !ledger.push_out(None, leaving_max) {
            return Err(Full::All);
        }
        let kept = ledger.taken >= self.max.all - self.kept;
        let number = ledger.next;
        ledger.next += 1;
        ledger.taken += 1;
        let (stay, leave) = oneshot::channel();
        let one = ledger.by_address.entry(address).or_default();
        one.taken += 1;
        one.strangers.insert(number, stay);
        let kept = kept && !local;
        let settled = Cell::new(false);
        Ok(Place { ledger: self.ledger.clone(), address, number, kept, settled, leave: Some(leave) })
    }
}

impl Ledger {
    /// Tells the stranger that has waited longest to leave and takes its place away; of `address`, or of the address with
    /// the most strangers. `false` if there is none to be had.
    fn push_out(&mut self, address: Option<IpAddr>, leaving_max: usize) -> bool {
        if self.leaving >= leaving_max {
            return false;
        }
        let most = || {
            let waiting = self.by_address.iter().filter(|(_, one)| !one.strangers.is_empty());
            waiting.max_by_key(|(_, one)| one.strangers.len()).map(|(address, _)| *address)
        };
        let Some(one) = address.or_else(most).and_then(|address| self.by_address.get_mut(&address)) else {
            return false;
        };
        // Dropping the sender tells the connection.
        if one.strangers.pop_first().is_none() {
            return false;
        }
        one.taken -= 1;
        self.taken -= 1;
        self.leaving += 1;
        true
    }

    fn forget_if_empty(&mut self, address: IpAddr) {
        if self.by_address.get(&address).is_some_and(|one| one.taken == 0) {
            self.by_address.remove(&address);
        }
    }
}

impl Place {
    /// Done when the place was given to somebody else: the connection must end. Never done once the client is known.
    pub fn lost(&mut self) -> impl Future<Output = ()> + use<> {
        let leave = self.leave.take();
        async move {
            if let Some(leave) = leave
                && leave.await.is_ok()
            {
                // Somebody said that the client is known.
                std::future::pending::<()>().await;
            }
        }
    }

    /// The client is known now; it keeps its place. `false`: too late, it was given away.
    pub fn settle(&self) -> bool {
        let mut ledger = lock(&self.ledger);
        let one = ledger.by_address.get_mut(&self.address);
        if let Some(stay) = one.and_then(|one| one.strangers.remove(&self.number)) {
            self.settled.set(true);
            // A connection that is ending has stopped listening; its place comes back with it.
            let _ = stay.send(());
        }
        self.settled.get()
    }

    /// Whether it is one of the last places, which are for superusers.
    pub fn is_kept(&self) -> bool {
        self.kept
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut guard = lock(&self.ledger);
        let ledger = &mut *guard;
        let Some(one) = ledger.by_address.get_mut(&self.address) else {
            ledger.leaving -= 1;
            return;
        };
        if one.strangers.remove(&self.number).is_some() || self.settled.get() {
            one.taken -= 1;
            ledger.taken -= 1;
            ledger.forget_if_empty(self.address);
        } else {
            ledger.leaving -= 1;
        }
    }
}

/// What counts as one client: an IPv6 host may have a whole /64 to itself.
fn one_client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & (u128::MAX << 64)).into()),
        v4 => v4,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Poll, Waker};

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn places(all: usize, per_address: Option<usize>) -> Places {
        Places::new(PlacesMax { all, per_address })
    }

    fn is_lost(place: &mut Place) -> bool {
        let mut lost = std::pin::pin!(place.lost());
        lost.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    fn settled(place: Result<Place, Full>) -> Place {
        let mut place = place.unwrap();
        // A connection listens all the time.
        place.leave = None;
        assert!(place.settle());
        place
    }

    #[test]
    fn there_are_so_many_places_and_they_come_back() {
        let places = places(3, None);
        let mut held: Vec<Place> = (1..4).map(|n| settled(places.take(address(n)))).collect();
        assert_eq!(places.take(address(9)).err(), Some(Full::All));
        held.pop();
        assert!(places.take(address(9)).is_ok());
        drop(held);
        let ledger = lock(&places.ledger);
        assert_eq!((ledger.taken, ledger.leaving, ledger.by_address.len()), (0, 0, 0));
    }

    #[test]
    fn silent_connections_keep_nobody_out() {
        let places = places(4, Some(4));
        let known = settled(places.take(address(1)));
        let mut silent: Vec<Place> = (0..3).map(|_| places.take(address(2)).unwrap()).collect();
        // Of two addresses with strangers, the one with most loses its oldest.
        let mut newcomer = places.take(address(3)).unwrap();
        assert!(is_lost(&mut silent[0]) && !is_lost(&mut newcomer));
        assert!(!silent[0].settle(), "too late");
        assert!(newcomer.settle());
        let _two_more = [settled(places.take(address(3))), settled(places.take(address(3)))];
        assert_eq!(places.take(address(4)).err(), Some(Full::All), "everybody is known");
        drop((known, silent));
        assert_eq!(lock(&places.ledger).leaving, 0);
        assert!(places.take(address(4)).is_ok());
    }

    #[test]
    fn connections_that_were_told_to_leave_are_few_until_they_have_left() {
        let places = places(100, Some(100));
        let mut silent: Vec<Place> = (0..100).map(|_| places.take(address(1)).unwrap()).collect();
        let more: Vec<Place> = std::iter::from_fn(|| places.take(address(2)).ok()).collect();
        assert_eq!(more.len(), 100 / LEAVING_SHARE);
        silent.truncate(10);
        assert!(places.take(address(2)).is_ok());
    }

    #[test]
    fn one_address_does_not_take_all_and_an_ipv6_host_is_one_address() {
        let places = places(10, None);
        let _held: Vec<Place> = (0..5).map(|_| settled(places.take(address(1)))).collect();
        assert_eq!(places.take(address(1)).err(), Some(Full::Address));
        assert_eq!(places.take("::ffff:192.0.2.1".parse().unwrap()).err(), Some(Full::Address));
        let host = |n: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, n]);
        let _others: Vec<Place> = (0..5).map(|n| settled(places.take(host(n)))).collect();
        assert!(places.take(host(9)).is_err());
    }

    #[test]
    fn the_last_places_are_for_this_machine_and_for_superusers() {
        let places = places(64, Some(64));
        let held: Vec<Place> = (0..62).map(|_| settled(places.take(address(1)))).collect();
        assert!(held.iter().all(|place| !place.is_kept()));
        assert!(settled(places.take(address(1))).is_kept());
        let local = settled(places.take([127, 0, 0, 1].into()));
        assert!(!local.is_kept());
        assert!(settled(places.take(address(2))).is_kept());
    }
}
