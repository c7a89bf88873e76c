'use strict';
// Statements with values, prepared statements, batches, LWT, counters, TTL, errors, warnings, tracing, paging.

const assert = require('assert');
const { types } = require('cassandra-driver');
const { check, refused } = require('./scenario');

const codes = types.responseErrorCodes;
const prepare = { prepare: true };
const kv = async (w, k) => (await w.client.execute('SELECT v, n FROM kv WHERE k = ?', [k])).first();

check('simple: positional and named values', async (w) => {
  await w.client.execute('INSERT INTO kv (k, v, n) VALUES (?, ?, ?)', ['a', "it's", 1], { hints: ['text', 'text', 'int'] });
  await w.client.execute('INSERT INTO kv (k, v, n) VALUES (:k, :v, :n)', { k: 'b', v: 'two', n: null }, { hints: { n: 'int' } });
  assert.deepEqual({ ...(await kv(w, 'a')) }, { v: "it's", n: 1 });
  assert.deepEqual({ ...(await kv(w, 'b')) }, { v: 'two', n: null });
});

check('prepared: positional, named, unset', async (w) => {
  await w.client.execute('INSERT INTO kv (k, v, n) VALUES (?, ?, ?)', ['p', 'before', 5], prepare);
  await w.client.execute('INSERT INTO kv (k, v, n) VALUES (:key, :text, :num)', { key: 'p', text: types.unset, num: 6 }, prepare);
  assert.deepEqual({ ...(await kv(w, 'p')) }, { v: 'before', n: 6 });
  const many = await w.client.execute('SELECT k FROM kv WHERE k IN ?', [['a', 'p', 'zz']], prepare);
  assert.deepStrictEqual(many.rows.map((r) => r.k), ['a', 'p']);
});

check('prepared: again after ALTER', async (w) => {
  await w.client.execute('CREATE TABLE altered (k int PRIMARY KEY, a int)');
  await w.client.execute('INSERT INTO altered (k, a) VALUES (?, ?)', [1, 10], prepare);
  const select = () => w.client.execute('SELECT * FROM altered WHERE k = ?', [1], prepare);
  assert.deepEqual({ ...(await select()).first() }, { k: 1, a: 10 });
  const other = await w.connect({ keyspace: w.keyspace });
  await other.execute('ALTER TABLE altered ADD b text');
  await other.execute("UPDATE altered SET b = 'new' WHERE k = 1");
  const after = (await select()).first();
  assert.strictEqual(after.a, 10);
  assert.strictEqual(after.b, 'new');
  await other.execute('DROP TABLE altered');
  await other.execute('CREATE TABLE altered (k int PRIMARY KEY, a int)');
  await w.client.execute('INSERT INTO altered (k, a) VALUES (?, ?)', [1, 30], prepare);
  assert.strictEqual((await select()).first().a, 30);
  await other.shutdown();
});

check('batch: logged, unlogged, counter', async (w) => {
  await w.client.batch([
    { query: 'INSERT INTO kv (k, v) VALUES (?, ?)', params: ['b1', 'one'] },
    { query: 'UPDATE kv SET n = ? WHERE k = ?', params: [7, 'b2'] },
    'INSERT INTO kv (k) VALUES (\'b3\')',
  ], { ...prepare, consistency: types.consistencies.quorum });
  assert.strictEqual((await kv(w, 'b1')).v, 'one');
  assert.strictEqual((await kv(w, 'b2')).n, 7);
  assert.ok(await kv(w, 'b3'));
  await w.client.batch([{ query: 'INSERT INTO kv (k, v) VALUES (?, ?)', params: ['b4', 'unlogged'] }], { logged: false });
  assert.strictEqual((await kv(w, 'b4')).v, 'unlogged');
  await w.client.batch(Array(5).fill({ query: 'UPDATE counts SET c = c + ? WHERE k = ?', params: [types.Long.fromNumber(3), 'n'] }), { ...prepare, counter: true });
  assert.strictEqual((await w.client.execute("SELECT c FROM counts WHERE k = 'n'")).first().c.toNumber(), 15);
});

check('lwt: applied and not applied', async (w) => {
  const insert = (v) => w.client.execute('INSERT INTO kv (k, v) VALUES (?, ?) IF NOT EXISTS', ['lwt', v], { ...prepare, serialConsistency: types.consistencies.localSerial });
  assert.strictEqual((await insert('first')).wasApplied(), true);
  const second = await insert('second');
  assert.strictEqual(second.wasApplied(), false);
  assert.strictEqual(second.first().v, 'first');
  assert.strictEqual((await w.client.execute("UPDATE kv SET v = 'x' WHERE k = 'lwt' IF v = 'first'")).wasApplied(), true);
  assert.strictEqual((await w.client.execute("DELETE FROM kv WHERE k = 'lwt' IF v = 'first'")).wasApplied(), false);
  const batch = await w.client.batch([{ query: 'INSERT INTO kv (k, v) VALUES (?, ?) IF NOT EXISTS', params: ['lwt', 'z'] }], prepare);
  assert.strictEqual(batch.wasApplied(), false);
});

check('ttl, write time and client timestamps', async (w) => {
  await w.client.execute('INSERT INTO kv (k, v) VALUES (?, ?) USING TTL ?', ['ttl', 'x', 1000], prepare);
  const row = (await w.client.execute("SELECT ttl(v) AS t, writetime(v) AS w FROM kv WHERE k = 'ttl'")).first();
  assert.ok(row.t > 990 && row.t <= 1000, `ttl ${row.t}`);
  assert.ok(Math.abs(row.w.toNumber() / 1000 - Date.now()) < 30000);
  await w.client.execute("INSERT INTO kv (k, v) VALUES ('stamp', 'x')", [], { timestamp: 1234567 });
  assert.strictEqual((await w.client.execute("SELECT writetime(v) AS w FROM kv WHERE k = 'stamp'")).first().w.toNumber(), 1234567);
});

check('errors: by class', async (w) => {
  const c = w.client;
  await refused(c.execute('SELEC * FROM kv'), codes.syntaxError, 'no viable alternative');
  await refused(c.execute('SELECT * FROM absent'), codes.invalid, 'does not exist');
  await refused(c.execute('SELECT nope FROM kv'), codes.invalid, 'Undefined column name nope');
  await refused(c.execute("SELECT * FROM kv WHERE v = 'x'"), codes.invalid, 'ALLOW FILTERING');
  await refused(c.execute('SELECT * FROM absent WHERE k = ?', ['a'], prepare), codes.invalid);
  const exists = await refused(c.execute('CREATE TABLE kv (k int PRIMARY KEY)'), codes.alreadyExists, 'kv');
  assert.deepStrictEqual([exists.keyspace, exists.table], [w.keyspace, 'kv']);
  await refused(c.execute("CREATE KEYSPACE never WITH replication = {'class': 'NoSuchStrategy', 'replication_factor': 1}"), codes.configError);
  await refused(c.execute('INSERT INTO kv (k) VALUES (?)', [null], prepare), codes.invalid);
});

check('warnings', async (w) => {
  const result = await w.client.execute('SELECT count(*) FROM kv');
  assert.ok((result.info.warnings || []).some((t) => t.includes('Aggregation query used without partition key')), String(result.info.warnings));
});

check('tracing', async (w) => {
  const result = await w.client.execute("SELECT * FROM kv WHERE k = 'a'", [], { traceQuery: true });
  assert.ok(result.info.traceId);
  const trace = await w.client.metadata.getTrace(result.info.traceId);
  assert.ok(trace.duration >= 0 && trace.duration !== null && trace.startedAt && trace.events.length >= 1);
  assert.strictEqual(trace.requestType, 'Execute CQL3 query');
});

check('concurrent: 10,000 inserts', async (w) => {
  const { executeConcurrent } = require('cassandra-driver').concurrent;
  await w.client.execute('CREATE TABLE paged (p int, c int, v text, PRIMARY KEY (p, c))');
  const values = Array.from({ length: 10000 }, (_, i) => [i % 10, Math.floor(i / 10), `value ${i}`]);
  const result = await executeConcurrent(w.client, 'INSERT INTO paged (p, c, v) VALUES (?, ?, ?)', values, { concurrencyLevel: 100 });
  assert.strictEqual(result.totalExecuted, 10000);
});

check('paging: eachRow, stream and async iteration', async (w) => {
  const seen = new Set();
  await new Promise((resolve, reject) => w.client.eachRow('SELECT p, c FROM paged', [], { ...prepare, fetchSize: 100, autoPage: true },
    (_, row) => seen.add(`${row.p} ${row.c}`), (error) => (error ? reject(error) : resolve())));
  assert.strictEqual(seen.size, 10000);
  let count = 0;
  for await (const row of await w.client.execute('SELECT c FROM paged WHERE p = ?', [3], { ...prepare, fetchSize: 90 })) {
    assert.strictEqual(row.c, count);
    count += 1;
  }
  assert.strictEqual(count, 1000);
  let streamed = 0;
  await new Promise((resolve, reject) => w.client.stream('SELECT c FROM paged WHERE p = 4', [], { fetchSize: 100 })
    .on('readable', function read() { while (this.read()) streamed += 1; }).on('end', resolve).on('error', reject));
  assert.strictEqual(streamed, 1000);
});

check('paging: state handed to another client', async (w) => {
  const query = 'SELECT p, c FROM paged';
  let result = await w.client.execute(query, [], { ...prepare, fetchSize: 123 });
  const seen = new Set(result.rows.map((r) => `${r.p} ${r.c}`));
  assert.strictEqual(typeof result.pageState, 'string');
  const other = await w.connect({ keyspace: w.keyspace });
  while (result.pageState) {
    result = await other.execute(query, [], { ...prepare, fetchSize: 1000, pageState: result.pageState });
    for (const r of result.rows) seen.add(`${r.p} ${r.c}`);
  }
  assert.strictEqual(seen.size, 10000);
  await other.shutdown();
});
