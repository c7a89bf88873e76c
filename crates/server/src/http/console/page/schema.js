// Schema: tables as Chebotko diagrams, with what is wrong with each.

const DIAGRAMS_MAX = 60;
let tables = new Map();
let wrongWith = new Map();

async function schema() {
  const keyspaces = (await rows('SELECT keyspace_name FROM system_schema.keyspaces')).map((row) => row.keyspace_name).filter((name) => !name.startsWith('system'));
  tables = new Map();
  for (const keyspace of keyspaces) {
    const found = await rows(`SELECT keyspace_name, table_name, column_name, kind, position, type, clustering_order FROM system_schema.columns WHERE keyspace_name = '${keyspace}'`);
    for (const column of found) {
      const name = `${column.keyspace_name}.${column.table_name}`;
      if (!tables.has(name)) tables.set(name, []);
      tables.get(name).push(column);
    }
  }
  wrongWith = new Map();
  for (const row of await shown('SELECT keyspace_name, table_name, rule, finding, severity FROM system_views.findings')) {
    const name = `${row.keyspace_name}.${row.table_name}`;
    wrongWith.set(name, [...(wrongWith.get(name) || []), row]);
  }
  drawSchema();
}

function drawSchema() {
  const kinds = ['partition_key', 'clustering', 'static', 'regular'];
  const wanted = $('filter').value.trim().toLowerCase();
  const found = [...tables].filter(([name]) => name.toLowerCase().includes(wanted)).sort(([a], [b]) => (a < b ? -1 : 1));
  const made = found.slice(0, DIAGRAMS_MAX).map(([name, columns]) => {
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
$('filter').addEventListener('input', drawSchema);
