//! The tenants that one shard has met: found by table and wire value, without a lock and without making a name.

use super::{Paces, Use};
use crate::catalogue::SharedCatalogue;
use query::full::key_text;
use schema::{Catalogue, Table, TenantLimit};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Kept before all are forgotten; each takes about 200 bytes.
const SEATS_MAX: usize = 10_000;

/// A tenant of a table.
#[derive(Debug)]
pub struct Seat {
    pub used: Arc<Use>,
    /// Over all tables of the keyspace.
    pub limit: TenantLimit,
    /// In this table alone, if it has limits.
    pub in_table: Option<(Arc<Paces>, TenantLimit)>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Seats(RefCell<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Of the catalogue that the limits are of.
    version: u64,
    count: usize,
    tables: HashMap<u32, HashMap<Box<[u8]>, Rc<Seat>>>,
}

impl Seats {
    /// The tenant with this value.
    pub fn of(
        &self,
        shared: &SharedCatalogue,
        (version, catalogue): (u64, &Catalogue),
        table: &Table,
        tenant: &[u8],
    ) -> Rc<Seat> {
        let mut kept = self.0.borrow_mut();
        if kept.version != version || kept.count >= SEATS_MAX {
            *kept = Kept { version, ..Kept::default() };
        }
        if let Some(seat) = kept.tables.get(&table.id).and_then(|tenants| tenants.get(tenant)) {
            return seat.clone();
        }
        let seat = Rc::new(seat(shared, catalogue, table, tenant));
        kept.tables.entry(table.id).or_default().insert(tenant.into(), seat.clone());
        kept.count += 1;
        seat
    }
}

fn seat(shared: &SharedCatalogue, catalogue: &Catalogue, table: &Table, tenant: &[u8]) -> Seat {
    let name = name(table, tenant);
    let limit = catalogue.keyspace(&table.keyspace).map(|keyspace| keyspace.tenant_limits().of(&name));
    // A view is part of its table.
    let base = table.view.as_ref().and_then(|view| catalogue.table(&table.keyspace, &view.base));
    let of = base.map_or(table, |base| base);
    let limits = of.tenant_limits();
    let in_table = (!limits.is_empty()).then(|| (shared.tenants.in_table(of.id, &name), limits.of(&name)));
    Seat { used: shared.tenants.of(&table.keyspace, &name), limit: limit.unwrap_or_default(), in_table }
}

/// A tenant's value as text.
pub(super) fn name(table: &Table, tenant: &[u8]) -> String {
    let types: Vec<_> = table.tenant_column().map(|column| &column.data_type).into_iter().collect();
    key_text(&types, tenant)
}
