//! What tenants use, as a table.

use super::Viewer;
use super::cells::*;
use super::rows::Filler;
use database::catalogue::SharedCatalogue;
use schema::Catalogue;

/// One row for each tenant that was seen since the start.
pub(super) fn tenants(
    filler: &mut Filler<'_>,
    catalogue: &Catalogue,
    shared: &SharedCatalogue,
    viewer: Viewer<'_>,
) {
    let number = |value: u64| bigint(i64::try_from(value).unwrap_or(i64::MAX));
    for used in shared.tenants.all() {
        if viewer.0.is_some_and(|gate| !gate.shows_tenant(&used.keyspace, &used.tenant)) {
            continue;
        }
        let keyspace = catalogue.keyspace(&used.keyspace);
        let limit = keyspace.map(|keyspace| keyspace.tenant_limits().of(&used.tenant)).unwrap_or_default();
        let stored = |value: u64| used.stored_at_millis.and_then(|_| number(value));
        filler.row(&[
            ("keyspace_name", text(&used.keyspace)),
            ("tenant", text(&used.tenant)),
            ("bytes_per_second_limit", limit.bytes_per_second.and_then(double)),
            ("bytes_read", number(used.bytes_read)),
            ("bytes_written", number(used.bytes_written)),
            ("requests", number(used.requests)),
            ("requests_per_second_limit", limit.requests_per_second.and_then(double)),
            ("rows_read", number(used.rows_read)),
            ("shard_ms", double(used.nanos as f64 / 1e6)),
            ("stored_at", used.stored_at_millis.and_then(timestamp)),
            ("stored_bytes", stored(used.stored_bytes)),
            ("stored_rows", stored(used.stored_rows)),
            ("throttled", number(used.throttled)),
        ]);
    }
}
