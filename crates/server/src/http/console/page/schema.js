// Schema: tables as Chebotko diagrams, with what is wrong with each.

const DIAGRAMS_MAX = 60;
// Keyspace and name of each table, by both together; the columns of those that were drawn.
let tables = new Map();
let columnsOf = new Map();
let wrongWith = new Map();

async function schema() {
  tables = new Map();
  columnsOf = new Map();
  for (const place of ['tables', 'views']) {
    const name = place === 'tables' ? 'table_name' : 'view_name';
    for (const row of await rows(`SELECT keyspace_name, ${name} FROM system_schema.${place}`)) {
      if (!row.keyspace_name.startsWith('system')) tables.set(`${row.keyspace_name}.${row[name]}`, [row.keyspace_name, row[name]]);
    }
  }
  wrongWith = new Map();
  for (const row of await shown('SELECT keyspace_name, table_name, rule, finding, severity FROM system_views.findings')) {
    const name = `${row.keyspace_name}.${row.table_name}`;
    wrongWith.set(name, [...(wrongWith.get(name) || []), row]);
  }
  await drawSchema();
}

// Asks for the columns of these tables, as far as they are not known.
async function learn(names) {
  const unknown = new Map();
  for (const whole of names.filter((one) => !columnsOf.has(one))) {
    const [keyspace, name] = tables.get(whole);
    unknown.set(keyspace, [...(unknown.get(keyspace) || []), name]);
    columnsOf.set(whole, []);
  }
  const text = (name) => `'${name.replaceAll("'", "''")}'`;
  for (const [keyspace, wanted] of unknown) {
    const found = await rows(`SELECT table_name, column_name, kind, position, type, clustering_order FROM system_schema.columns WHERE keyspace_name = ${text(keyspace)} AND table_name IN (${wanted.map(text).join(', ')})`);
    for (const column of found) columnsOf.get(`${keyspace}.${column.table_name}`).push(column);
  }
}

let drawing = 0;
async function drawSchema() {
  const mine = (drawing += 1);
  const kinds = ['partition_key', 'clustering', 'static', 'regular'];
  const wanted = $('filter').value.trim().toLowerCase();
  const found = [...tables].filter(([name]) => name.toLowerCase().includes(wanted)).sort(([a], [b]) => (a < b ? -1 : 1));
  const drawnOnes = found.slice(0, DIAGRAMS_MAX).map(([name]) => name);
  await learn(drawnOnes);
  // Somebody has typed on meanwhile.
  if (mine !== drawing) return;
  const made = drawnOnes.map((name) => {
    const columns = columnsOf.get(name) || [];
    columns.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || number(a.position) - number(b.position) || (a.column_name < b.column_name ? -1 : 1));
    const mark = (column) => ({ partition_key: 'K', clustering: column.clustering_order === 'desc' ? 'C↓' : 'C↑', static: 'S' }[column.kind] || '');
    const line = (column) => element('p', { class: column.kind }, element('b', {}, mark(column)), element('i', {}, column.column_name), element('span', {}, column.type));
    const wrong = (wrongWith.get(name) || []).map((row) => element('p', { class: `said ${row.severity}` }, row.finding));
    return element('div', { class: 'diagram' }, element('h3', {}, name), ...columns.map(line), ...wrong);
  });
  const more = found.length - made.length;
  const note = tables.size ? `${found.length} of ${tables.size} tables${more > 0 ? `, the first ${DIAGRAMS_MAX} are drawn: type a part of a name to narrow it down` : ''}.` : 'No tables yet.';
  $('schema-note').textContent = note;
  $('diagrams').replaceChildren(...made);
}
$('filter').addEventListener('input', () => drawSchema().catch((error) => trouble(error.message)));
