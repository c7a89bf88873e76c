'use strict';
// Connecting, DDL, metadata, tokens and schema events.

const assert = require('assert');
const { check, eventually } = require('./scenario');

check('connect', async (w) => {
  w.client = await w.connect();
  const row = (await w.client.execute("SELECT release_version, data_center, partitioner FROM system.local WHERE key = 'local'")).first();
  assert.ok(row.release_version.startsWith('5.0'), row.release_version);
  assert.strictEqual(row.data_center, 'datacenter1');
  assert.strictEqual(w.client.controlConnection.protocolVersion, 4);
  assert.strictEqual(w.client.hosts.length, 1);
  const state = w.client.getState();
  assert.ok(state.getOpenConnections(w.client.hosts.values()[0]) >= 1);
});

check('ddl: keyspace, types, tables', async (w) => {
  const c = w.client;
  await c.execute(`DROP KEYSPACE IF EXISTS ${w.keyspace}`);
  const made = await c.execute(`CREATE KEYSPACE ${w.keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`);
  assert.strictEqual(made.info.isSchemaInAgreement, true);
  w.client = await w.connect({ keyspace: w.keyspace });
  for (const text of [
    'CREATE TYPE address (street text, zip int, tags frozen<set<text>>)',
    'CREATE TYPE person (name text, home frozen<address>, phones map<text, text>)',
    'CREATE TABLE kv (k text PRIMARY KEY, v text, n int)',
    'CREATE TABLE counts (k text PRIMARY KEY, c counter)',
    `CREATE TABLE events (tenant uuid, day date, at timestamp, seq int, body text, label text static, PRIMARY KEY ((tenant, day), at, seq))
       WITH CLUSTERING ORDER BY (at DESC, seq ASC) AND comment = 'events of a day' AND default_time_to_live = 864000`,
  ]) await w.client.execute(text);
});

check('metadata: tables, columns, types', async (w) => {
  const meta = w.client.metadata;
  const events = await meta.getTable(w.keyspace, 'events');
  assert.deepStrictEqual(events.partitionKeys.map((c) => c.name), ['tenant', 'day']);
  assert.deepStrictEqual(events.clusteringKeys.map((c) => c.name), ['at', 'seq']);
  assert.deepStrictEqual(events.clusteringOrder, ['DESC', 'ASC']);
  assert.deepStrictEqual(events.columns.map((c) => c.name).sort(), ['at', 'body', 'day', 'label', 'seq', 'tenant']);
  assert.strictEqual(events.columnsByName.label.isStatic, true);
  assert.strictEqual(events.comment, 'events of a day');
  assert.strictEqual(events.defaultTtl, 864000);
  assert.strictEqual(events.isCompact, false);
  const person = await meta.getUdt(w.keyspace, 'person');
  assert.deepStrictEqual(person.fields.map((f) => f.name), ['name', 'home', 'phones']);
  assert.strictEqual(await meta.getTable(w.keyspace, 'absent'), null);
  assert.ok(meta.keyspaces[w.keyspace].strategy.endsWith('SimpleStrategy'));
  assert.deepStrictEqual(await meta.checkSchemaAgreement(), true);
});

check('metadata: token map and replicas', async (w) => {
  const host = w.client.hosts.values()[0];
  const replicas = w.client.metadata.getReplicas(w.keyspace, Buffer.from('a key'));
  assert.deepStrictEqual(replicas.map((h) => h.address), [host.address]);
  assert.ok(w.client.metadata.getTokenRanges().size >= 1);
  await w.client.execute("INSERT INTO kv (k) VALUES ('a key')");
  const token = (await w.client.execute("SELECT token(k) AS t FROM kv WHERE k = 'a key'")).first().t;
  assert.strictEqual(w.client.metadata.newToken([Buffer.from('a key')]).toString(), token.toString());
});

check('events: a second client sees schema changes', async (w) => {
  const other = await w.connect();
  const table = () => other.metadata.getTable(w.keyspace, 'seen');
  await w.client.execute('CREATE TABLE seen (k int PRIMARY KEY, a int)');
  await eventually('created table', async () => (await table()) !== null);
  await w.client.execute('ALTER TABLE seen ADD b text');
  await eventually('added column', async () => 'b' in (await table()).columnsByName);
  await w.client.execute('DROP TABLE seen');
  await eventually('dropped table', async () => (await table()) === null);
  const name = `${w.keyspace}_seen`;
  await w.client.execute(`CREATE KEYSPACE ${name} WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}`);
  await eventually('created keyspace', () => name in other.metadata.keyspaces);
  await w.client.execute(`DROP KEYSPACE ${name}`);
  await eventually('dropped keyspace', () => !(name in other.metadata.keyspaces));
  await other.shutdown();
});
