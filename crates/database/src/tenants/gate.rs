//! One request at the gate: may its role touch this tenant, has the tenant used too much, and what did it use?

use super::seats::Seat;
use crate::Runtime;
use crate::grants::{Grants, Permission};
use query::QueryError;
use query::fault::AccessFault;
use query::tenant::{Access, Gate};
use schema::{Catalogue, Table};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use store::{Store, Work};

/// See the module. Made for one request; at its end it gets what was done.
pub struct Admission<'a, S: Store> {
    runtime: &'a Runtime<S>,
    catalogue: (u64, Arc<Catalogue>),
    /// `None`: the server has no logins.
    grants: Option<Held<'a>>,
    now_micros: i64,
    touched: RefCell<Vec<Touched>>,
    is_finished: Cell<bool>,
}

/// What a role may do, kept by this request or by its caller.
enum Held<'a> {
    Own(Rc<Grants>),
    Borrowed(&'a Grants),
}

impl std::ops::Deref for Held<'_> {
    type Target = Grants;

    fn deref(&self) -> &Grants {
        match self {
            Held::Own(grants) => grants,
            Held::Borrowed(grants) => grants,
        }
    }
}

/// A tenant of this request, and what was written for it.
struct Touched {
    seat: Rc<Seat>,
    wrote: usize,
}

/// The error for a role that is bound to other tenants. It is the same whatever is stored.
pub struct Refusal;

impl Refusal {
    pub fn of(grants: &Grants, table: &Table) -> QueryError {
        AccessFault::OtherTenants {
            role: grants.role.to_string(),
            keyspace: table.keyspace.to_string(),
            table: table.view.as_ref().map_or(&*table.name, |view| &*view.base).to_string(),
            column: table.options.tenant.to_string(),
        }
        .into()
    }
}

impl<S: Store> Debug for Admission<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Admission of {:?}", self.grants.as_ref().map(|grants| &grants.role))
    }
}

impl<'a, S: Store> Admission<'a, S> {
    pub fn new(runtime: &'a Runtime<S>, grants: Option<Rc<Grants>>, now_micros: i64) -> Admission<'a, S> {
        Admission::held(runtime, grants.map(Held::Own), now_micros)
    }

    /// The same for a caller whose grants are kept elsewhere.
    pub fn borrowed(
        runtime: &'a Runtime<S>,
        grants: Option<&'a Grants>,
        now_micros: i64,
    ) -> Admission<'a, S> {
        Admission::held(runtime, grants.map(Held::Borrowed), now_micros)
    }

    fn held(runtime: &'a Runtime<S>, grants: Option<Held<'a>>, now_micros: i64) -> Admission<'a, S> {
        let catalogue = runtime.catalogue();
        Admission {
            runtime,
            catalogue,
            grants,
            now_micros,
            touched: RefCell::default(),
            is_finished: Cell::new(false),
        }
    }

    /// The role, if it is bound to tenants somewhere.
    pub fn bound(&self) -> Option<&Grants> {
        self.grants.as_deref().filter(|grants| grants.is_bound())
    }

    /// The request wrote so much for all of its tenants.
    pub fn wrote_together(&self, bytes: usize) {
        let mut touched = self.touched.borrow_mut();
        let part = bytes / touched.len().max(1);
        touched.iter_mut().for_each(|one| one.wrote += part);
    }

    /// The request is done.
    pub fn finish(&self, read: &Work) {
        self.is_finished.set(true);
        let touched = self.touched.borrow();
        let part = |amount: u64| amount / touched.len().max(1) as u64;
        for Touched { seat, wrote } in touched.iter() {
            let used = &seat.used;
            used.rows_read.fetch_add(part(read.rows), Relaxed);
            used.bytes_read.fetch_add(part(read.bytes), Relaxed);
            used.bytes_written.fetch_add(*wrote as u64, Relaxed);
            used.nanos.fetch_add(part(read.nanos), Relaxed);
            let bytes = (part(read.bytes) + *wrote as u64) as f64;
            if let Some(rate) = seat.limit.bytes_per_second {
                used.paces.bytes.charge(bytes, rate, self.now_nanos());
            }
            if let Some((paces, limit)) = &seat.in_table
                && let Some(rate) = limit.bytes_per_second
            {
                paces.bytes.charge(bytes, rate, self.now_nanos());
            }
        }
    }

    fn now_nanos(&self) -> i64 {
        self.now_micros.saturating_mul(1000)
    }

    fn seat(&self, table: &Table, tenant: &[u8]) -> Rc<Seat> {
        let (version, catalogue) = &self.catalogue;
        self.runtime.tenants.of(&self.runtime.shared, (*version, catalogue), table, tenant)
    }

    /// Refuses a request that is over a limit.
    fn within_limits(&self, table: &Table, seat: &Seat) -> Result<(), QueryError> {
        let now = self.now_nanos();
        let own = (&seat.used.paces, &seat.limit, None);
        let in_table = seat.in_table.as_ref().map(|(paces, limit)| (&**paces, limit, Some(&*table.name)));
        for (paces, limit, name) in std::iter::once(own).chain(in_table) {
            let over = |number: f64, what: &'static str| {
                seat.used.throttled.fetch_add(1, Relaxed);
                let place =
                    name.map_or(table.keyspace.to_string(), |name| format!("{}.{name}", table.keyspace));
                Err(AccessFault::TenantLimit { tenant: seat.used.tenant.to_string(), number, what, place }
                    .into())
            };
            match (limit.bytes_per_second, limit.requests_per_second) {
                (Some(rate), _) if paces.bytes.is_ahead(now) => return over(rate, "bytes"),
                (_, Some(rate)) if !paces.requests.take(1.0, rate, now) => return over(rate, "requests"),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A request that was given up is tried again in another way, and must not count twice.
impl<S: Store> Drop for Admission<'_, S> {
    fn drop(&mut self) {
        if self.is_finished.get() {
            return;
        }
        for Touched { seat, .. } in self.touched.borrow().iter() {
            seat.used.requests.fetch_sub(1, Relaxed);
            let in_table = seat.in_table.as_ref().map(|(paces, limit)| (&**paces, limit));
            for (paces, limit) in std::iter::once((&seat.used.paces, &seat.limit)).chain(in_table) {
                if let Some(rate) = limit.requests_per_second {
                    paces.requests.charge(-1.0, rate, self.now_nanos());
                }
            }
        }
    }
}

impl<S: Store> Gate for Admission<'_, S> {
    fn tenant(&self, table: &Table, access: Access, tenant: &[u8]) -> Result<(), QueryError> {
        if let Some(grants) = &self.grants
            && let Some(bound) = grants.tenants(table)
        {
            let permission = match access {
                Access::Read => Permission::Select,
                Access::Write => Permission::Modify,
            };
            if !bound.may(permission, tenant) {
                // A value that nobody has yet gets no counters: they would be a way to fill the memory.
                return Err(Refusal::of(grants, table));
            }
        }
        let seat = self.seat(table, tenant);
        let mut touched = self.touched.borrow_mut();
        if touched.iter().any(|one| Rc::ptr_eq(&one.seat, &seat)) {
            return Ok(());
        }
        seat.used.requests.fetch_add(1, Relaxed);
        self.within_limits(table, &seat)?;
        touched.push(Touched { seat, wrote: 0 });
        Ok(())
    }

    fn all(&self, table: &Table, _: Access) -> Result<(), QueryError> {
        match self.grants.as_ref().filter(|grants| grants.tenants(table).is_some()) {
            Some(grants) => Err(Refusal::of(grants, table)),
            None => Ok(()),
        }
    }

    fn wrote(&self, table: &Table, tenant: &[u8], bytes: usize) {
        let seat = self.seat(table, tenant);
        let mut touched = self.touched.borrow_mut();
        if let Some(one) = touched.iter_mut().find(|one| Rc::ptr_eq(&one.seat, &seat)) {
            one.wrote += bytes;
        }
    }

    fn is_bound(&self) -> bool {
        self.bound().is_some()
    }

    fn shows(&self, table: &Table, key: &[u8]) -> bool {
        let Some(grants) = self.bound() else { return true };
        let Some(bound) = grants.tenants(table) else {
            return grants.may_on_table(Permission::Select, table);
        };
        let at_front =
            table.partition_key.first().is_some_and(|column| *column.name == *table.options.tenant);
        let tenant = query::tenant::first_value(table.partition_key.len() > 1, key);
        at_front && bound.may(Permission::Select, tenant)
    }

    fn shows_tenant(&self, keyspace: &str, tenant: &str) -> bool {
        self.bound().is_none_or(|grants| grants.has_tenant(keyspace, tenant))
    }
}
