// The console: asks CQL through /api/query as the role that has logged in, and draws what comes back. No libraries, nothing from elsewhere.
'use strict';

const $ = (id) => document.getElementById(id);
const EVERY_MS = 2000;
let tab = 'overview';
let timer = null;
const history = [];

async function call(path, body) {
  const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Partita-Console': '1' }, body: JSON.stringify(body) });
  const answer = await response.json();
  if (response.status === 401 && path !== '/api/login') showLogin();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

// Rows as objects by column name.
async function rows(cql) {
  const answer = await call('/api/query', { cql });
  return answer.rows.map((row) => Object.fromEntries(answer.columns.map((column, at) => [column.name, row[at]])));
}

function trouble(text) {
  $('trouble').hidden = !text;
  $('trouble').textContent = text || '';
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Columns: [title, value of a row, class, class of a row].
function fill(table, found, columns, empty) {
  const head = element('tr', {}, ...columns.map(([title, , kind]) => element('th', { scope: 'col', class: kind || '' }, title)));
  const body = found.map((row) => element('tr', {}, ...columns.map(([, value, kind, of]) => element('td', { class: [kind, of && of(row)].filter(Boolean).join(' ') }, value(row) ?? ''))));
  if (!body.length) body.push(element('tr', {}, element('td', { colspan: columns.length, class: 'unseen' }, empty || 'nothing yet')));
  table.replaceChildren(element('thead', {}, head), element('tbody', {}, ...body));
}

const number = (text) => Number(text || 0);
function short(n) {
  if (n >= 1e9) return (n / 1e9).toFixed(1) + ' G';
  if (n >= 1e6) return (n / 1e6).toFixed(1) + ' M';
  if (n >= 1e4) return (n / 1e3).toFixed(1) + ' k';
  if (n >= 10) return n.toFixed(0);
  return n > 0 ? n.toFixed(1) : '0';
}
const percent = (text) => (number(text) * 100).toFixed(1) + ' %';
const rate = (column) => (row) => short(number(row[column]));

// ---- overview

const READS = 'partita_request_seconds_count{operation="read"}';

async function metrics() {
  const text = await (await fetch('/metrics')).text();
  const found = new Map();
  for (const line of text.split('\n')) {
    const match = /^(\w+)(\{[^}]*\})? (\S+)$/.exec(line);
    if (match) found.set(match[1] + (match[2] || ''), (found.get(match[1] + (match[2] || '')) || 0) + Number(match[3]));
  }
  return found;
}

// A quantile of the requests between two looks at a histogram.
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
  const now = { at: performance.now(), values: await metrics() };
  history.push(now);
  if (history.length > 150) history.shift();
  const before = history[Math.max(0, history.length - 6)];
  const value = (name) => now.values.get(name) || 0;
  const sum = (start) => [...now.values].filter(([name]) => name.startsWith(start)).reduce((all, [, one]) => all + one, 0);
  const seconds = Math.max(0.5, (now.at - before.at) / 1000);
  const per = (name) => (value(name) - (before.values.get(name) || 0)) / seconds;
  const millis = (operation) => {
    const found = history.length > 1 ? quantile(now.values, before.values, operation, 0.99) : null;
    return found === null ? '–' : found === Infinity ? '> 8 s' : found.toFixed(1) + ' ms';
  };
  const tiles = [
    ['reads per second', short(per(READS))],
    ['commits per second', short(per('partita_commits_total'))],
    ['p99 of reads', millis('read')],
    ['p99 of writes', millis('write')],
    ['connections', short(sum('partita_connections{'))],
    ['memory', short(value('partita_resident_bytes') || value('process_resident_memory_bytes')) + 'B'],
    ['in memtables', short(value('partita_memtable_bytes')) + 'B'],
    ['background jobs', short(value('partita_background_jobs'))],
    ['refused for load', short(value('partita_requests_overloaded_total'))],
  ];
  $('tiles').replaceChildren(...tiles.map(([name, shown]) => element('div', { class: 'tile' }, element('b', {}, shown), element('span', {}, name))));
  drawRates();
  const load = (await rows("SELECT * FROM system_views.table_load")).filter((row) => row.window === 'minute');
  load.sort((a, b) => number(b.reads_per_s) + number(b.writes_per_s) - number(a.reads_per_s) - number(a.writes_per_s));
  fill($('tables'), load.slice(0, 200), [
    ['table', (row) => `${row.keyspace_name}.${row.table_name}`], ['reads/s', rate('reads_per_s'), 'number'], ['writes/s', rate('writes_per_s'), 'number'],
    ['bytes/s', rate('bytes_per_s'), 'number'], ['tombstones/s', rate('tombstones_per_s'), 'number'], ['hottest key', (row) => percent(row.top_1), 'number'],
    ['top 10', (row) => percent(row.top_10), 'number'], ['finding', (row) => row.finding, 'finding'],
  ], 'nothing was read or written in the last minute');
}

function drawRates() {
  const series = (name) => history.slice(1).map((now, at) => ((now.values.get(name) || 0) - (history[at].values.get(name) || 0)) / Math.max(0.1, (now.at - history[at].at) / 1000));
  const [reads, writes] = [series(READS), series('partita_commits_total')];
  const top = Math.max(1, ...reads, ...writes);
  const line = (values, kind) => {
    const points = values.map((value, at) => `${(600 * (at + 150 - values.length)) / 149},${115 - (110 * value) / top}`);
    const made = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
    made.setAttribute('class', kind);
    made.setAttribute('points', points.join(' '));
    return made;
  };
  $('rates').replaceChildren(line(reads, 'reads'), line(writes, 'writes'));
}

// ---- hot keys

let heat = { minutes: [], top: 1 };
let hottest = [];

async function keys() {
  const map = await rows("SELECT minutes_ago, weights FROM system_views.heat_map WHERE map = 'tokens'");
  const minutes = map.map((row) => ({ ago: number(row.minutes_ago), weights: (row.weights || '[]').replace(/[[\]]/g, '').split(',').filter((w) => w.trim()).map(Number) }));
  minutes.sort((a, b) => b.ago - a.ago);
  columns = Math.max(15, minutes.length);
  heat = { minutes, top: Math.max(1, ...minutes.flatMap((minute) => minute.weights)) };
  drawHeat();
  hottest = await rows(`SELECT * FROM system_views.hot_partitions WHERE window = '${$('window').value}'`);
  const by = $('by').value;
  if (by) hottest.sort((a, b) => number(b[by]) - number(a[by]));
  fill($('hottest'), hottest.slice(0, 50), [
    ['table', (row) => `${row.keyspace_name}.${row.table_name}`], ['partition', (row) => row.partition_key, 'mono'], ['reads/s', rate('reads_per_s'), 'number'],
    ['writes/s', rate('writes_per_s'), 'number'], ['bytes/s', rate('bytes_per_s'), 'number'], ['rows/s', rate('rows_per_s'), 'number'],
    ['refused/s', rate('refused_per_s'), 'number'], ['share of table', (row) => percent(row.share), 'number'], ['± per s', rate('error'), 'number'],
  ]);
}

const RANGES = 128;
// Minutes that are drawn: those there are, and some room to see them grow.
let columns = 15;

// From nearly black over red and yellow to white, so that it can be read in grey as well.
function brightness(fraction) {
  const f = Math.min(1, fraction);
  const part = (from, to) => Math.round(255 * Math.min(1, Math.max(0, (f - from) / (to - from))));
  return [part(0.02, 0.6), part(0.4, 0.9), part(0.8, 1)];
}

function drawHeat() {
  const canvas = $('heat');
  canvas.width = columns;
  canvas.height = RANGES;
  const context = canvas.getContext('2d');
  const image = context.createImageData(columns, RANGES);
  for (let i = 3; i < image.data.length; i += 4) image.data[i] = 255;
  heat.minutes.forEach((minute) => {
    const x = columns - 1 - minute.ago;
    minute.weights.forEach((weight, y) => {
      const [r, g, b] = brightness(Math.log1p(weight) / Math.log1p(heat.top));
      image.data.set([r, g, b, 255], 4 * (y * columns + x));
    });
  });
  context.putImageData(image, 0, 0);
}

let pointed = { x: 0, y: 0 };

function tell() {
  const ago = columns - 1 - pointed.x;
  const minute = heat.minutes.find((one) => one.ago === ago);
  const weight = (minute && minute.weights[pointed.y]) || 0;
  const width = 2n ** 64n / BigInt(RANGES);
  const low = -(2n ** 63n) + BigInt(pointed.y) * width;
  const there = hottest.filter((row) => { const token = BigInt(row.partition_token || 0); return token >= low && token < low + width; });
  const names = there.slice(0, 3).map((row) => `${row.keyspace_name}.${row.table_name} ${row.partition_key} (${short(number(row.reads_per_s) + number(row.writes_per_s))}/s)`);
  const when = ago === 0 ? 'now' : `${ago} min ago`;
  $('cell').textContent = `${when}, tokens from ${low}: ${short(weight)} operations. ${names.length ? 'Hot there: ' + names.join('; ') : ''}`;
}

$('heat').addEventListener('mousemove', (event) => {
  const box = event.target.getBoundingClientRect();
  pointed = { x: Math.min(columns - 1, Math.floor(((event.clientX - box.left) / box.width) * columns)), y: Math.min(RANGES - 1, Math.floor(((event.clientY - box.top) / box.height) * RANGES)) };
  tell();
});
$('heat').addEventListener('keydown', (event) => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  pointed = { x: Math.min(columns - 1, Math.max(0, pointed.x + step[0])), y: Math.min(RANGES - 1, Math.max(0, pointed.y + step[1])) };
  tell();
});

// ---- patterns

async function patterns() {
  const declared = await rows('SELECT * FROM system_views.access_patterns');
  fill($('declared'), declared, [
    ['pattern', (row) => `${row.keyspace_name}.${row.pattern_name}`], ['status', (row) => (row.problem ? 'not served' : row.status), '', (row) => (row.problem ? 'breached' : row.status)],
    ['calls', (row) => short(number(row.calls)), 'number'], ['rate/s', rate('rate'), 'number'], ['peak/s', rate('peak_rate_observed'), 'number'],
    ['p99 ms', (row) => number(row.p99_ms_observed).toFixed(1), 'number'], ['rows per call', rate('rows_per_call'), 'number'], ['declared against observed', (row) => row.problem || row.detail],
    ['since', (row) => row.breached_since], ['statement', (row) => row.statement, 'mono'],
  ], 'no pattern is declared: CREATE ACCESS PATTERN declares one');
  const others = (await rows('SELECT * FROM system_views.unmatched_statements')).sort((a, b) => number(b.calls) - number(a.calls));
  fill($('unmatched'), others.slice(0, 200), [
    ['statement', (row) => row.statement, 'mono'], ['class', (row) => row.class, '', (row) => (row.class === 'unbounded' ? 'breached' : '')], ['calls', (row) => short(number(row.calls)), 'number'],
    ['rate/s', rate('rate'), 'number'], ['p99 ms', (row) => number(row.p99_ms).toFixed(1), 'number'], ['to declare it', (row) => row.declare, 'mono'],
  ], 'every statement is an instance of a declared pattern');
}

// ---- schema

async function schema() {
  const columns = (await rows('SELECT keyspace_name, table_name, column_name, kind, position, type, clustering_order FROM system_schema.columns')).filter((row) => !row.keyspace_name.startsWith('system'));
  const tables = new Map();
  for (const column of columns) {
    const name = `${column.keyspace_name}.${column.table_name}`;
    if (!tables.has(name)) tables.set(name, []);
    tables.get(name).push(column);
  }
  const kinds = ['partition_key', 'clustering', 'static', 'regular'];
  const made = [...tables].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, found]) => {
    found.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || number(a.position) - number(b.position) || (a.column_name < b.column_name ? -1 : 1));
    const mark = (column) => ({ partition_key: 'K', clustering: column.clustering_order === 'desc' ? 'C↓' : 'C↑', static: 'S' }[column.kind] || '');
    return element('div', { class: 'diagram' }, element('h3', {}, name), ...found.map((column) => element('p', {}, element('b', {}, mark(column)), column.column_name, element('span', {}, column.type))));
  });
  $('diagrams').replaceChildren(...(made.length ? made : [element('p', { class: 'note' }, 'no tables yet')]));
}

// ---- statements

async function run(event) {
  if (event) event.preventDefault();
  const cql = $('statement').value.trim().replace(/;\s*$/, '');
  $('said').textContent = 'running…';
  const began = performance.now();
  try {
    const answer = await call('/api/query', { cql });
    const took = (performance.now() - began).toFixed(1);
    $('said').textContent = `${answer.rows.length}${answer.more ? ' and more' : ''} rows in ${took} ms, the way here included. ${answer.warnings.join(' ')}`;
    fill($('answer'), answer.rows, answer.columns.map((column, at) => [`${column.name} ${column.type}`, (row) => row[at], 'mono']), 'done; no rows');
  } catch (error) {
    $('said').textContent = error.message;
    $('answer').replaceChildren();
  }
  try {
    const explained = /^\s*explain/i.test(cql) ? [] : await rows(`EXPLAIN ${cql}`);
    fill($('explained'), explained, [['property', (row) => row.property], ['value', (row) => row.value]], 'nothing to explain');
  } catch {
    $('explained').replaceChildren();
  }
}
$('statement-form').addEventListener('submit', run);
$('statement').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run(event);
});

// ---- tabs, login

const refresh = { overview, keys, patterns, schema, statements: async () => {} };

async function look() {
  clearTimeout(timer);
  try {
    await refresh[tab]();
    trouble('');
  } catch (error) {
    trouble(error.message);
  }
  if ($('login').hidden && tab !== 'schema') timer = setTimeout(look, EVERY_MS);
}

function show(name) {
  tab = name;
  for (const section of document.querySelectorAll('#console > section')) section.hidden = section.id !== name;
  for (const button of document.querySelectorAll('nav button')) button.setAttribute('aria-current', String(button.dataset.tab === name));
  location.hash = name;
  look();
}

function showLogin() {
  clearTimeout(timer);
  $('console').hidden = true;
  $('login').hidden = false;
  $('logout').hidden = true;
  $('who').textContent = '';
  $('role').focus();
}

async function login(role, password) {
  await call('/api/login', { role, password });
  $('login').hidden = true;
  $('console').hidden = false;
  $('who').textContent = role ? `as ${role}` : 'no login needed';
  $('logout').hidden = !role;
  const wanted = location.hash.slice(1);
  show(refresh[wanted] ? wanted : 'overview');
}

$('login-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    await login($('role').value, $('password').value);
    trouble('');
  } catch (error) {
    trouble(error.message);
  }
  $('password').value = '';
});
$('logout').addEventListener('click', async () => {
  await call('/api/logout', {}).catch(() => {});
  showLogin();
});
for (const button of document.querySelectorAll('nav button')) button.addEventListener('click', () => show(button.dataset.tab));
for (const id of ['window', 'by']) $(id).addEventListener('change', look);

// Where the server asks for no password, nobody is asked for one.
login('', '').catch(showLogin);
