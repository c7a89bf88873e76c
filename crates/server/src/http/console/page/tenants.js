// Tenants: what each uses, and against which limits.

async function tenants() {
  const used = await shown('SELECT * FROM system_views.tenants LIMIT 2000');
  used.sort((a, b) => number(b.requests) - number(a.requests));
  const limit = (text, shownAs) => (text === null || text === undefined ? 'none' : `${shownAs(number(text))}/s`);
  const name = (row) => `${row.keyspace_name}.${row.tenant}`;
  fill($('tenant-use'), used.slice(0, window.innerWidth < 560 ? 20 : 200), [
    ['tenant', (row) => element('div', {}, element('b', {}, row.tenant), element('span', { class: 'below' }, row.keyspace_name || 'all keyspaces'))],
    ['requests', (row) => element('span', {}, short(number(row.requests)), sparkline(name(row), change(name(row), number(row.requests)), `Requests of ${row.tenant} since the last look`)), 'number'],
    ['throttled', rate('throttled'), 'number', (row) => (number(row.throttled) ? 'near' : '')], ['rows read', rate('rows_read'), 'number'],
    ['read', (row) => bytes(number(row.bytes_read)), 'number'], ['written', (row) => bytes(number(row.bytes_written)), 'number'],
    ['stored', (row) => (row.stored_at ? bytes(number(row.stored_bytes)) : 'not counted yet'), 'number'], ['on shards', (row) => `${(number(row.shard_ms) / 1000).toFixed(2)} s`, 'number'],
    ['requests limit', (row) => limit(row.requests_per_second_limit, short), 'number'], ['bytes limit', (row) => limit(row.bytes_per_second_limit, bytes), 'number'],
  ], 'no table has tenants: CREATE TABLE … WITH tenant = \'<first partition key column>\' says whose rows are');
}

// How much a count has grown since the last look.
const counts = new Map();
function change(name, count) {
  const before = counts.has(name) ? counts.get(name) : count;
  counts.set(name, count);
  return Math.max(0, count - before);
}
