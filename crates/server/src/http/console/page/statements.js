// Statements: run CQL, with its cost beside the answer.

const ANSWER_ROWS_MAX = 1000;

async function run(event) {
  if (event) event.preventDefault();
  const cql = $('statement').value.trim().replace(/;\s*$/, '');
  if (!cql) return;
  $('said').textContent = 'running…';
  $('said').className = '';
  const began = performance.now();
  try {
    const answer = await call('/api/query', { cql });
    const took = (performance.now() - began).toFixed(1);
    const first = answer.rows.slice(0, ANSWER_ROWS_MAX);
    $('said').textContent = `${first.length}${answer.more || first.length < answer.rows.length ? ' and more' : ''} rows in ${took} ms, the way here included. ${answer.warnings.join(' ')}`;
    fill($('answer'), first, answer.columns.map((column, at) => [`${column.name} (${column.type})`, (row) => row[at] ?? 'null', 'mono', (row) => (row[at] === null ? 'unseen' : '')]), 'done; no rows');
  } catch (error) {
    $('said').textContent = error.message;
    $('said').className = 'breached';
    $('answer').replaceChildren();
  }
  try {
    // A read is run once more to be measured; a write is only told.
    const isRead = /^\s*select\b/i.test(cql);
    const explained = /^\s*explain\b/i.test(cql) ? [] : await rows(`EXPLAIN ${isRead ? 'ANALYZE ' : ''}${cql}`);
    fill($('explained'), explained, [['property', (row) => row.property], ['value', (row) => row.value]], 'nothing to explain');
  } catch {
    $('explained').replaceChildren();
  }
}
$('statement-form').addEventListener('submit', run);
$('statement').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run(event);
});
