// Access patterns: declared against observed, and statements that nobody has declared.

async function patterns() {
  const declared = await shown('SELECT * FROM system_views.access_patterns');
  const numbers = await shown('SELECT * FROM system_views.access_pattern_numbers');
  const of = (row) => numbers.filter((one) => one.keyspace_name === row.keyspace_name && one.pattern_name === row.pattern_name);
  const told = (one) => element('li', { class: one.status }, `${one.number.replaceAll('_', ' ')}: ${one.observed === null ? 'not seen yet' : short(number(one.observed))} of ${short(number(one.declared))} ${one.unit}, ${one.status}${one.breached_since ? ' since ' + moment(one.breached_since) : ''}`);
  const against = (row) => (row.problem ? row.problem : element('ul', { class: 'plain' }, ...of(row).map(told)));
  fill($('declared'), declared, [
    ['pattern', (row) => element('div', {}, element('b', {}, `${row.keyspace_name}.${row.pattern_name}`), element('code', { class: 'below' }, row.statement))], ['status', (row) => (row.problem ? 'not served' : row.status), '', (row) => (row.problem ? 'breached' : row.status)],
    ['declared against observed', against], ['rate/s', (row) => element('span', {}, short(number(row.rate)), sparkline(`${row.keyspace_name}.${row.pattern_name}`, number(row.rate), `Rate of ${row.pattern_name}`)), 'number'],
    ['peak/s', rate('peak_rate_observed'), 'number'], ['calls', rate('calls'), 'number'], ['p50 ms', (row) => millis(row.p50_ms_observed), 'number'], ['p99 ms', (row) => millis(row.p99_ms_observed), 'number'],
    ['rows/call', rate('rows_per_call'), 'number'], ['partitions/call', rate('partitions_per_call'), 'number'], ['errors', rate('errors'), 'number'],
  ], 'no pattern is declared: CREATE ACCESS PATTERN declares one');
  const others = (await shown('SELECT calls, class, declare, p99_ms, rate, statement FROM system_views.unmatched_statements LIMIT 500')).sort((a, b) => number(b.calls) - number(a.calls));
  fill($('unmatched'), others.slice(0, window.innerWidth < 560 ? 20 : 200), [
    ['statement', (row) => row.statement, 'mono'], ['class', (row) => row.class, '', (row) => (row.class === 'unbounded' ? 'breached' : '')], ['calls', rate('calls'), 'number'],
    ['rate/s', rate('rate'), 'number'], ['p99 ms', (row) => millis(row.p99_ms), 'number'], ['to declare it', (row) => row.declare, 'mono'],
  ], 'every statement is an instance of a declared pattern');
}
