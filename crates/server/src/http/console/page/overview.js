// Overview: health, rates, latency, memory, disk, background work, what is wrong, and the tables.

const READS = 'partita_request_seconds_count{operation="read"}';
const HISTORY_MAX = 150;
// Tables that are asked for, and of these the busiest that are shown.
const TABLES_MAX = 1000;
const TABLES_SHOWN = 100;
const history = [];

async function metrics() {
  const text = await (await fetch('/metrics/server')).text();
  const found = new Map();
  for (const line of text.split('\n')) {
    const match = /^(\w+)(\{[^}]*\})? (\S+)/.exec(line);
    if (match) found.set(match[1] + (match[2] || ''), (found.get(match[1] + (match[2] || '')) || 0) + Number(match[3]));
  }
  return found;
}

// A quantile of the requests between two looks at a histogram, in milliseconds.
function quantile(now, before, operation, fraction) {
  const bounds = [];
  for (const [name, value] of now) {
    if (name.startsWith('partita_request_seconds_bucket{') && name.includes(`operation="${operation}"`)) {
      const le = name.match(/le="([^"]+)"/)[1];
      bounds.push([le === '+Inf' ? Infinity : Number(le), value - (before.get(name) || 0)]);
    }
  }
  bounds.sort((a, b) => a[0] - b[0]);
  const all = bounds.length ? bounds[bounds.length - 1][1] : 0;
  if (!all) return null;
  return (bounds.find(([, count]) => count >= all * fraction) || [Infinity])[0] * 1000;
}

async function overview() {
  const health = (await (await fetch('/health')).text()).trim();
  const now = { at: performance.now(), values: await metrics() };
  history.push(now);
  if (history.length > HISTORY_MAX) history.shift();
  const before = history[Math.max(0, history.length - 6)];
  const value = (name) => now.values.get(name) || 0;
  const sum = (start) => [...now.values].filter(([name]) => name.startsWith(start)).reduce((all, [, one]) => all + one, 0);
  const seconds = Math.max(0.5, (now.at - before.at) / 1000);
  const per = (name) => (value(name) - (before.values.get(name) || 0)) / seconds;
  const p99 = (operation) => {
    const found = history.length > 1 ? quantile(now.values, before.values, operation, 0.99) : null;
    return found === null ? '–' : found === Infinity ? '> 8 s' : found.toFixed(1) + ' ms';
  };
  const cache = value('partita_cache_hits_total') + value('partita_cache_misses_total');
  const wrong = await shown('SELECT keyspace_name, table_name, rule, severity, since, finding, fix, confidence FROM system_views.findings LIMIT 200');
  const tiles = [
    ['health', health === 'ok' ? 'ok' : 'read-only', health === 'ok' ? 'within' : 'breached'],
    ['findings', String(wrong.length), wrong.length ? 'breached' : 'within'],
    ['reads per second', short(per(READS))],
    ['commits per second', short(per('partita_commits_total'))],
    ['p99 of reads', p99('read')],
    ['p99 of writes', p99('write')],
    ['connections', short(sum('partita_connections{'))],
    ['memory', bytes(value('process_resident_memory_bytes'))],
    ['on disk', bytes(value('partita_disk_bytes'))],
    ['found in cache', cache ? percent(value('partita_cache_hits_total') / cache) : '–'],
    ['background jobs', short(value('partita_background_jobs'))],
    ['throttled', short(sum('partita_throttled_requests_total'))],
  ];
  $('tiles').replaceChildren(...tiles.map(([name, shown, kind]) => element('div', { class: 'tile' }, element('b', { class: kind || '' }, shown), element('span', {}, name))));
  drawRates();
  showFindings(wrong);
  const load = await shown(`SELECT keyspace_name, table_name, bytes_per_s, reads_per_s, refused_per_s, tombstones_per_s, top_1, top_10, writes_per_s FROM system_views.table_load WHERE window = 'minute' LIMIT ${TABLES_MAX} ALLOW FILTERING`);
  load.sort((a, b) => number(b.reads_per_s) + number(b.writes_per_s) - number(a.reads_per_s) - number(a.writes_per_s));
  const sizes = new Map((await shown(`SELECT keyspace_name, table_name, partition_bytes_max, partitions, rows FROM system_views.table_sizes LIMIT ${TABLES_MAX}`)).map((row) => [`${row.keyspace_name}.${row.table_name}`, row]));
  const size = (column) => (row) => { const found = sizes.get(`${row.keyspace_name}.${row.table_name}`); return found ? short(number(found[column])) : ''; };
  fill($('tables'), load.slice(0, TABLES_SHOWN), [
    ['table', (row) => `${row.keyspace_name}.${row.table_name}`], ['reads/s', rate('reads_per_s'), 'number'], ['writes/s', rate('writes_per_s'), 'number'],
    ['bytes/s', rate('bytes_per_s'), 'number'], ['dead/s', rate('tombstones_per_s'), 'number'], ['refused/s', rate('refused_per_s'), 'number'], ['top key', (row) => percent(row.top_1), 'number'],
    ['top 10', (row) => percent(row.top_10), 'number'], ['partitions', size('partitions'), 'number'], ['rows', size('rows'), 'number'],
    ['largest', (row) => { const found = sizes.get(`${row.keyspace_name}.${row.table_name}`); return found ? bytes(number(found.partition_bytes_max)) : ''; }, 'number'],
  ], 'nothing was read or written in the last minute');
}

function showFindings(wrong) {
  const made = wrong.slice(0, 50).map((row) => element('article', { class: `finding ${row.severity}` },
    element('p', {}, element('b', {}, `${row.severity}: `), row.finding), element('p', {}, element('b', {}, 'What to do: '), row.fix),
    element('p', { class: 'note' }, `${row.rule}, since ${moment(row.since)}; ${row.confidence}`)));
  $('findings').replaceChildren(...(made.length ? made : [element('p', { class: 'note' }, 'Nothing is wrong that the server can see.')]));
}

function drawRates() {
  const series = (name) => history.slice(1).map((now, at) => ((now.values.get(name) || 0) - (history[at].values.get(name) || 0)) / Math.max(0.1, (now.at - history[at].at) / 1000));
  const [reads, writes] = [series(READS), series('partita_commits_total')];
  const top = Math.max(1, ...reads, ...writes);
  // At least two minutes, so that the first points are not a wall.
  const count = Math.max(60, reads.length);
  const line = (values, kind) => drawn('polyline', { class: kind, points: values.map((value, at) => `${((600 * (at + count - values.length)) / (count - 1)).toFixed(1)},${(115 - (110 * value) / top).toFixed(1)}`).join(' ') });
  $('rates').replaceChildren(line(reads, 'reads'), line(writes, 'writes'));
  $('rates').setAttribute('aria-label', `Reads and writes per second over the last minutes, at most ${short(top)}`);
  $('rates-top').textContent = `top: ${short(top)}/s`;
}
