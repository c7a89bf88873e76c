// Hot keys: a heat map over time (keys, or parts of the token ring), the hottest partitions and the largest ones.

const RANGES = 128;
const MINUTES_MIN = 6;
// Rows of the map of keys, and of the tables below; a telephone shows fewer.
const KEYS_MAX = 30;
const few = () => (window.innerWidth < 560 ? 12 : 50);
// What is drawn: rows with a label and a value for each minute ago.
let heat = { rows: [], minutes: MINUTES_MIN, top: 1 };
let pointed = { x: 0, y: 0 };
// The rows that are shown, when zoomed in.
let zoomed = null;

async function keys() {
  const of = $('of').value;
  const grid = $('rows-are').value === 'keys' ? await heatOfKeys(of) : await heatOfRing(of);
  const minutes = Math.max(MINUTES_MIN, ...grid.map((row) => row.values.length));
  heat = { rows: grid, minutes, top: Math.max(1, ...grid.flatMap((row) => row.values)) };
  drawHeat();
  const hottest = await shown(`SELECT * FROM system_views.hot_partitions WHERE window = '${$('window').value}'`);
  const by = $('by').value;
  if (by) hottest.sort((a, b) => number(b[by]) - number(a[by]));
  fill($('hottest'), hottest.slice(0, few()), [
    ['table', (row) => `${row.keyspace_name}.${row.table_name}`], ['partition', (row) => row.partition_key, 'mono'], ['reads/s', rate('reads_per_s'), 'number'],
    ['writes/s', rate('writes_per_s'), 'number'], ['bytes/s', rate('bytes_per_s'), 'number'], ['rows/s', rate('rows_per_s'), 'number'], ['dead/s', rate('tombstones_per_s'), 'number'],
    ['refused/s', rate('refused_per_s'), 'number'], ['share of table', (row) => percent(row.share), 'number'], ['± per s', rate('error'), 'number'],
  ], 'nothing was read or written by key');
  const largest = (await largestPartitions()).sort((a, b) => number(b.bytes) - number(a.bytes));
  fill($('largest'), largest.slice(0, Math.min(20, few())), [
    ['table', (row) => `${row.keyspace_name}.${row.table_name}`], ['partition', (row) => row.partition_key, 'mono'], ['bytes', (row) => bytes(number(row.bytes)), 'number'], ['at most', (row) => bytes(number(row.bytes_max)), 'number'],
    ['rows', rate('rows'), 'number'], ['of its limit', (row) => (row.limit_bytes === null ? '' : percent(number(row.bytes) / number(row.limit_bytes))), 'number'], ['grows by a day', (row) => (row.growth_bytes_per_day === null ? '' : bytes(number(row.growth_bytes_per_day))), 'number'],
    ['too large on', (row) => row.breach_day ?? 'not in sight'], ['status', (row) => row.status, '', (row) => row.status],
  ]);
}

// Of many tables the largest partition of each, of few tables more of them: nobody wants to fetch thousands every two seconds.
async function largestPartitions() {
  const columns = 'keyspace_name, table_name, breach_day, bytes, bytes_max, growth_bytes_per_day, limit_bytes, partition_key, rows, status';
  const first = await shown(`SELECT ${columns} FROM system_views.partition_sizes WHERE rank = 1 LIMIT 1000 ALLOW FILTERING`);
  return first.length > 20 ? first : shown(`SELECT ${columns} FROM system_views.partition_sizes LIMIT 1000`);
}

async function heatOfKeys(of) {
  const found = await shown('SELECT * FROM system_views.hot_history');
  const made = found.map((row) => {
    const [reads, writes, volume] = ['reads_per_s', 'writes_per_s', 'bytes_per_s'].map((column) => list(row[column]));
    const values = { reads, writes, bytes: volume, load: reads.map((n, at) => n + writes[at]) }[of];
    const name = `${row.keyspace_name}.${row.table_name} ${row.partition_key}`;
    return { label: row.partition_key, values, names: values.map(() => name), unit: of === 'bytes' ? 'bytes/s' : 'per second' };
  });
  return made.filter((row) => row.values.some((value) => value > 0)).slice(0, KEYS_MAX);
}

async function heatOfRing(of) {
  const found = (await shown("SELECT * FROM system_views.heat_map WHERE map = 'tokens'")).sort((a, b) => number(a.minutes_ago) - number(b.minutes_ago));
  const column = { load: 'weights', reads: 'reads', writes: 'writes', bytes: 'bytes' }[of];
  const minutes = found.map((row) => ({ values: list(row[column]), hottest: hottestByRange(row.hottest) }));
  const width = 2n ** 64n / BigInt(RANGES);
  return Array.from({ length: RANGES }, (_, range) => ({
    label: `from ${-(2n ** 63n) + BigInt(range) * width}`,
    values: minutes.map((minute) => minute.values[range] || 0),
    names: minutes.map((minute) => minute.hottest.get(range)),
    unit: of === 'bytes' ? 'bytes' : 'operations',
  }));
}

// {12: 'shop.orders acme', 40: '…'} as CQL writes it; a quote inside is doubled.
function hottestByRange(text) {
  const found = new Map();
  for (const match of (text || '').matchAll(/(\d+): '((?:[^']|'')*)'/g)) found.set(Number(match[1]), match[2].replaceAll("''", "'"));
  return found;
}

// From dark blue over red and yellow to white: brightness alone tells it, so it can be read in grey as well.
function colour(fraction) {
  if (fraction <= 0) return '#10131a';
  const f = Math.min(1, 0.12 + 0.88 * fraction);
  const part = (from, to) => Math.round(255 * Math.min(1, Math.max(0, (f - from) / (to - from))));
  return `rgb(${part(0, 0.55)}, ${part(0.4, 0.88)}, ${Math.round(50 * (1 - f)) + part(0.8, 1)})`;
}

const shownRows = () => (zoomed ? heat.rows.slice(zoomed.from, zoomed.to) : heat.rows);
const labelWidth = (width) => ($('rows-are').value === 'keys' ? Math.min(220, Math.round(width * 0.4)) : 0);

function drawHeat() {
  const canvas = $('heat');
  const found = shownRows();
  const isKeys = $('rows-are').value === 'keys';
  canvas.style.height = isKeys ? `${Math.max(120, 18 * Math.max(1, found.length))}px` : '';
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  context.fillStyle = '#10131a';
  context.fillRect(0, 0, width, height);
  const left = labelWidth(width);
  const [w, h] = [(width - left) / heat.minutes, height / Math.max(1, found.length)];
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  found.forEach((row, y) => {
    row.values.forEach((value, ago) => {
      context.fillStyle = colour(Math.sqrt(value / heat.top));
      const x = left + (heat.minutes - 1 - ago) * w;
      context.fillRect(Math.floor(x), Math.floor(y * h), Math.ceil(w), Math.ceil(h));
    });
    if (isKeys) {
      context.fillStyle = '#e6e7e9';
      context.fillText(fitted(context, row.label, left - 12), 6, y * h + h / 2);
    }
  });
  $('scale').textContent = `brightest: ${short(heat.top)}${found[0] ? ' ' + found[0].unit : ''}`;
}

function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(text.slice(0, end) + '…').width > width) end -= 1;
  return text.slice(0, end) + '…';
}

function tell() {
  const found = shownRows();
  pointed.y = Math.min(Math.max(0, pointed.y), Math.max(0, found.length - 1));
  const row = found[pointed.y];
  if (!row) return;
  const ago = heat.minutes - 1 - pointed.x;
  const when = ago === 0 ? 'this minute' : `${ago} min ago`;
  const value = row.values[ago] || 0;
  const name = row.names[ago] || row.names.find(Boolean);
  $('cell').textContent = `${when}: ${short(value)} ${row.unit}${name ? `, ${row.names[ago] ? 'hottest' : 'hottest at other times'}: ${name}` : ', no key stands out'}${$('rows-are').value === 'ring' ? ` (tokens ${row.label})` : ''}`;
}

function point(event) {
  // Inside the border, as it is drawn.
  const [width, height] = [$('heat').clientWidth, $('heat').clientHeight];
  const left = labelWidth(width);
  const x = Math.floor(((event.offsetX - left) / (width - left)) * heat.minutes);
  const y = Math.floor((event.offsetY / height) * shownRows().length);
  pointed = { x: Math.min(heat.minutes - 1, Math.max(0, x)), y };
  tell();
}

function zoom(closer) {
  const all = heat.rows.length;
  const from = zoomed ? zoomed.from : 0;
  const count = zoomed ? zoomed.to - zoomed.from : all;
  const next = closer ? Math.max(4, Math.floor(count / 2)) : Math.min(all, count * 2);
  const middle = from + pointed.y;
  const begin = Math.max(0, Math.min(all - next, middle - Math.floor(next / 2)));
  zoomed = next >= all ? null : { from: begin, to: begin + next };
  pointed.y = middle - begin;
  drawHeat();
  tell();
}

$('heat').addEventListener('mousemove', point);
$('heat').addEventListener('click', point);
$('heat').addEventListener('keydown', (event) => {
  if (event.key === '+' || event.key === '-') return zoom(event.key === '+');
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  pointed = { x: Math.min(heat.minutes - 1, Math.max(0, pointed.x + step[0])), y: Math.min(Math.max(0, pointed.y + step[1]), shownRows().length - 1) };
  tell();
});
$('closer').addEventListener('click', () => zoom(true));
$('wider').addEventListener('click', () => zoom(false));
