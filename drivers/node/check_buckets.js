'use strict';
// A bucketed table: statements without buckets, pages over many of them, and a paging state handed to another process.

const assert = require('assert');
const { execFileSync } = require('child_process');
const path = require('path');
const { check, Skip, world } = require('./scenario');

const DAYS = 30;
const PER_DAY = 20;
const START = Date.UTC(2026, 0, 1);
const SELECT = "SELECT n FROM bucketed WHERE tenant = 'acme' AND case_id = 7";
const descending = (count) => Array.from({ length: count }, (_, n) => count - 1 - n);
const onPartita = () => { if (world.target !== 'partita') throw new Skip('Cassandra has no buckets'); };

check('buckets: 600 rows in 30 days and 4 hash buckets', async (w) => {
  onPartita();
  await w.client.execute('CREATE TABLE bucketed (tenant text, case_id int, at timestamp, n int, PRIMARY KEY ((tenant, case_id), at, n)) '
    + "WITH CLUSTERING ORDER BY (at DESC, n DESC) AND bucketing = {'by': 'at', 'every': '1d', 'hash': 'n', 'into': 4}");
  for (let n = 0; n < DAYS * PER_DAY; n += 1) {
    const at = new Date(START + Math.floor(n / PER_DAY) * 86400000 + (n % PER_DAY) * 60000);
    await w.client.execute('INSERT INTO bucketed (tenant, case_id, at, n) VALUES (?, ?, ?, ?)', ['acme', 7, at, n], { prepare: true });
  }
});

check('buckets: pages of any size, both ways', async (w) => {
  onPartita();
  for (const fetchSize of [7, 100, 5000]) {
    const found = [];
    for await (const row of w.client.stream(SELECT, [], { fetchSize, autoPage: true, prepare: true })) found.push(row.n);
    assert.deepStrictEqual(found, descending(DAYS * PER_DAY));
  }
  const up = [];
  const query = `${SELECT} AND at >= ? ORDER BY at ASC LIMIT 50`;
  for await (const row of w.client.stream(query, [new Date(START + 10 * 86400000)], { fetchSize: 11, autoPage: true, prepare: true })) up.push(row.n);
  assert.deepStrictEqual(up, Array.from({ length: 50 }, (_, n) => 200 + n));
});

check('buckets: a state goes to another process', async (w) => {
  onPartita();
  const first = await w.client.execute(SELECT, [], { fetchSize: 123, prepare: true });
  assert.ok(first.pageState && first.pageState.length < 200, first.pageState);
  const out = execFileSync(process.execPath, [path.join(__dirname, 'go_on.js'), first.pageState, SELECT], { timeout: 60000 }).toString();
  const rest = out.trim().split(/\s+/).map(Number);
  assert.deepStrictEqual(first.rows.map((r) => r.n).concat(rest), descending(DAYS * PER_DAY));
});
