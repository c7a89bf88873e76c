//! Tenants at run time: what each uses, what it may use, and the gate that every request on their tables passes.
//!
//! One [`Tenants`] for all shards. A tenant is known by its keyspace and its value as text; its counters are shared and atomic, because
//! a limit is for all shards together. A shard keeps what it has found in [`Seats`], so a request finds its tenant without a lock.
//! The number of tenants by name is bounded; those beyond share counters and limits with others, and are shown as one.

mod gate;
mod pace;
mod seats;

pub use gate::{Admission, Refusal};
pub use pace::Pace;
pub use seats::Seats;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tenants with counters of their own; each takes some 300 bytes, so all of them take 20 MB.
pub const NAMED_MAX: usize = 65_536;
/// Places that tenants beyond those share.
const SHARED: usize = 256;
/// The name of all tenants that have no place of their own.
pub const OTHERS: &str = "(others)";
/// Traces whose owner is known; a trace is looked at right after it was made.
const TRACES_MAX: usize = 4096;

/// What one tenant has used since the server started.
#[derive(Debug, Default)]
pub struct Use {
    /// In the order in which tenants came.
    pub number: u64,
    pub keyspace: String,
    pub tenant: String,
    pub requests: AtomicU64,
    /// Requests that were over a limit.
    pub throttled: AtomicU64,
    pub rows_read: AtomicU64,
    pub bytes_read: AtomicU64,
    pub bytes_written: AtomicU64,
    /// Time on shards.
    pub nanos: AtomicU64,
    /// What its rows took when they were last counted, and when that was; 0: never.
    pub stored_bytes: AtomicU64,
    pub stored_rows: AtomicU64,
    pub stored_at_millis: AtomicI64,
    pub paces: Paces,
}

/// How fast a tenant goes.
#[derive(Debug, Default)]
pub struct Paces {
    pub requests: Pace,
    pub bytes: Pace,
}

/// A tenant as tables and metrics show it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    pub number: u64,
    pub keyspace: String,
    pub tenant: String,
    pub requests: u64,
    pub throttled: u64,
    pub rows_read: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub nanos: u64,
    pub stored_bytes: u64,
    pub stored_rows: u64,
    pub stored_at_millis: Option<i64>,
}

impl Use {
    fn seen(&self) -> Used {
        Used {
            number: self.number,
            keyspace: self.keyspace.clone(),
            tenant: self.tenant.clone(),
            requests: self.requests.load(Relaxed),
            throttled: self.throttled.load(Relaxed),
            rows_read: self.rows_read.load(Relaxed),
            bytes_read: self.bytes_read.load(Relaxed),
            bytes_written: self.bytes_written.load(Relaxed),
            nanos: self.nanos.load(Relaxed),
            stored_bytes: self.stored_bytes.load(Relaxed),
            stored_rows: self.stored_rows.load(Relaxed),
            stored_at_millis: Some(self.stored_at_millis.load(Relaxed)).filter(|at| *at > 0),
        }
    }
}

impl Used {
    /// Both together, under the name of this one.
    pub fn add(&mut self, other: &Used) {
        self.requests += other.requests;
        self.throttled += other.throttled;
        self.rows_read += other.rows_read;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
        self.nanos += other.nanos;
        self.stored_bytes += other.stored_bytes;
        self.stored_rows += other.stored_rows;
        self.stored_at_millis = self.stored_at_millis.max(other.stored_at_millis);
    }
}

type Names<K, V> = Mutex<HashMap<K, HashMap<String, Arc<V>>>>;

/// See the module.
#[derive(Debug)]
pub struct Tenants {
    /// By keyspace, then by tenant.
    uses: Names<String, Use>,
    /// Of tables with limits of their own: by table, then by tenant.
    of_tables: Names<u32, Paces>,
    named: AtomicU64,
    others: Vec<Arc<Use>>,
    /// Which role a trace is of.
    traces: Mutex<HashMap<[u8; 16], Arc<str>>>,
}

impl Default for Tenants {
    fn default() -> Tenants {
        let shared = || Use { tenant: OTHERS.into(), ..Use::default() };
        Tenants {
            uses: Mutex::default(),
            of_tables: Mutex::default(),
            named: AtomicU64::new(0),
            others: (0..SHARED).map(|_| Arc::new(shared())).collect(),
            traces: Mutex::default(),
        }
    }
}

impl Tenants {
    /// The counters of a tenant.
    pub fn of(&self, keyspace: &str, tenant: &str) -> Arc<Use> {
        let mut uses = lock(&self.uses);
        if let Some(known) = uses.get(keyspace).and_then(|tenants| tenants.get(tenant)) {
            return known.clone();
        }
        if self.named.load(Relaxed) >= NAMED_MAX as u64 {
            return self.others[place(keyspace, tenant)].clone();
        }
        let number = self.named.fetch_add(1, Relaxed);
        let new =
            Arc::new(Use { number, keyspace: keyspace.into(), tenant: tenant.into(), ..Use::default() });
        uses.entry(keyspace.into()).or_default().insert(tenant.into(), new.clone());
        new
    }

    /// How fast a tenant goes in one table; shared where there are too many.
    fn in_table(&self, table: u32, tenant: &str) -> Arc<Paces> {
        let mut tables = lock(&self.of_tables);
        let known: usize = tables.values().map(HashMap::len).sum();
        let name = match known < NAMED_MAX {
            true => tenant.to_string(),
            false => format!("{OTHERS} {}", place("", tenant)),
        };
        tables.entry(table).or_default().entry(name).or_default().clone()
    }

    /// Every tenant that was seen, by keyspace and name; those without a place of their own as one.
    pub fn all(&self) -> Vec<Used> {
        let mut all: Vec<Used> =
            lock(&self.uses).values().flat_map(|tenants| tenants.values().map(|one| one.seen())).collect();
        all.sort_by(|a, b| (&a.keyspace, &a.tenant).cmp(&(&b.keyspace, &b.tenant)));
        let mut rest = Used { tenant: OTHERS.into(), ..Used::default() };
        self.others.iter().for_each(|one| rest.add(&one.seen()));
        all.extend((rest.requests > 0).then_some(rest));
        all
    }

    /// A keyspace is gone, and so is what its tenants used.
    pub fn forget(&self, keyspace: &str) {
        if let Some(gone) = lock(&self.uses).remove(keyspace) {
            self.named.fetch_sub(gone.len() as u64, Relaxed);
        }
    }

    /// A role has asked for a trace.
    pub fn traced(&self, id: [u8; 16], role: &Arc<str>) {
        let mut traces = lock(&self.traces);
        if traces.len() >= TRACES_MAX {
            traces.clear();
        }
        traces.insert(id, role.clone());
    }

    /// Whether a trace is of this role.
    pub fn is_trace_of(&self, id: &[u8], role: &str) -> bool {
        let id = <[u8; 16]>::try_from(id).ok();
        id.is_some_and(|id| lock(&self.traces).get(&id).is_some_and(|owner| **owner == *role))
    }
}

/// Which of the shared places a tenant has.
fn place(keyspace: &str, tenant: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    (keyspace, tenant).hash(&mut hasher);
    hasher.finish() as usize % SHARED
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_beyond_those_with_names_are_one() {
        let tenants = Tenants::default();
        for n in 0..NAMED_MAX + 100 {
            tenants.of("ks", &format!("t{n}")).requests.fetch_add(1, Relaxed);
        }
        let all = tenants.all();
        assert_eq!(all.len(), NAMED_MAX + 1);
        let rest = all.last().unwrap();
        assert_eq!((rest.tenant.as_str(), rest.requests), (OTHERS, 100));
        tenants.forget("ks");
        assert!(
            !Arc::ptr_eq(&tenants.of("ks", "t1"), &tenants.others[place("ks", "t1")]),
            "there is room again"
        );
    }

    #[test]
    fn a_trace_belongs_to_who_asked_for_it() {
        let tenants = Tenants::default();
        tenants.traced([7; 16], &"app".into());
        assert!(tenants.is_trace_of(&[7; 16], "app"));
        assert!(!tenants.is_trace_of(&[7; 16], "other"));
        assert!(!tenants.is_trace_of(&[8; 16], "app"));
        assert!(!tenants.is_trace_of(b"short", "app"));
    }
}
