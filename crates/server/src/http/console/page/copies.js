// Copies and jobs: what is kept in step with its table, how far builds are, and the buttons that hold them up.

const DONE = ['done', 'cancelled'];

async function copies() {
  // The tables are drawn anew: who stands on a button stays on it.
  const focused = document.activeElement && document.activeElement.getAttribute('aria-label');
  const found = await shown('SELECT * FROM system_views.projections');
  fill($('projections'), found, [
    ['copy', (row) => element('b', {}, `${row.keyspace_name}.${row.name}`)], ['kind', (row) => row.kind], ['of table', (row) => row.base_table], ['owner', (row) => row.owner],
    ['state', (row) => row.state, '', (row) => ({ ready: 'within', building: 'near', paused: 'near' })[row.state] || 'breached'],
    ['freshness', (row) => row.freshness], ['behind', (row) => (row.lag_ms === null ? '' : `${short(number(row.lag_ms))} ms`), 'number'], ['rows', rate('rows'), 'number'], ['bytes', (row) => bytes(number(row.bytes)), 'number'],
    ['written', (row) => (row.writes === null ? '' : `${short(number(row.writes))}, ${bytes(number(row.written_bytes))}`), 'number'], ['reads', (row) => (row.reads === null ? '' : short(number(row.reads))), 'number'],
    ['last read', (row) => (row.last_read ? moment(row.last_read) : 'not yet')], ['largest partition', (row) => (row.largest_partition_bytes === null ? '' : bytes(number(row.largest_partition_bytes))), 'number'],
    ['last check', (row) => (row.last_check ? moment(row.last_check) : 'never')], ['drift', (row) => row.drift ?? '', 'number', (row) => (number(row.drift) > 0 ? 'breached' : '')],
    ['', (row) => act('Check', `Check ${row.name}`, `CHECK PROJECTION ${name(row.keyspace_name)}.${name(row.name)}`)],
  ], 'no index, view or projection');
  const jobs = (await shown('SELECT * FROM system_views.jobs')).sort((a, b) => number(b.id) - number(a.id));
  fill($('jobs'), jobs, [
    ['job', (row) => row.id, 'number'], ['what', (row) => row.kind], ['of', (row) => `${row.keyspace_name}.${row.target || row.table_name}`], ['state', (row) => row.state, '', (row) => (row.state === 'failed' ? 'breached' : '')],
    ['progress', (row) => element('progress', { max: 1, value: number(row.progress), 'aria-label': `Job ${row.id}: ${percent(row.progress)}` })], ['rows', rate('rows'), 'number'], ['rows/s', rate('rate'), 'number'],
    ['allowed/s', (row) => row.rows_per_second ?? 'as fast as it goes', 'number'], ['ends about', (row) => moment(row.ends_at)], ['error', (row) => row.error],
    ['', (row) => (DONE.includes(row.state) ? '' : element('span', {}, row.state === 'paused' ? act('Resume', `Resume job ${row.id}`, `RESUME JOB ${row.id}`) : act('Pause', `Pause job ${row.id}`, `PAUSE JOB ${row.id}`), ' ', act('Cancel', `Cancel job ${row.id}`, `CANCEL JOB ${row.id}`)))],
  ], 'no job');
  const again = focused && [...document.querySelectorAll('#copies button')].find((button) => button.getAttribute('aria-label') === focused);
  if (again) again.focus();
}

// A name as CQL takes it.
const name = (text) => `"${text.replaceAll('"', '""')}"`;

// A button that runs a statement and says what came of it.
function act(label, about, cql) {
  const button = element('button', { type: 'button', 'aria-label': about }, label);
  button.addEventListener('click', async () => {
    button.disabled = true;
    $('acted').textContent = `${about}…`;
    try {
      const [answer] = await rows(cql);
      const told = answer && Object.entries(answer).filter(([, value]) => value !== null).map(([column, value]) => `${column} ${value}`).join(', ');
      $('acted').textContent = `${about}: ${told || 'done'}`;
    } catch (error) {
      $('acted').textContent = `${about}: ${error.message}`;
    }
    look();
  });
  return button;
}
