'use strict';
// Many requests in flight, profiles, speculative execution, protocol versions, authentication and TLS.

const assert = require('assert');
const cassandra = require('cassandra-driver');
const { check, refused, Skip } = require('./scenario');

const prepare = { prepare: true };
const simple = "{'class': 'SimpleStrategy', 'replication_factor': 1}";

async function shortScenario(client, keyspace) {
  await client.execute(`CREATE TABLE IF NOT EXISTS ${keyspace}.short (k text PRIMARY KEY, v text)`);
  const text = 'x'.repeat(300000);
  await client.execute(`INSERT INTO ${keyspace}.short (k, v) VALUES (?, ?)`, ['a', text], prepare);
  assert.strictEqual((await client.execute(`SELECT v FROM ${keyspace}.short WHERE k = 'a'`)).first().v, text);
  await refused(client.execute('SELEC'), cassandra.types.responseErrorCodes.syntaxError);
}

check('async: 1,000 requests in flight', async (w) => {
  await Promise.all(Array.from({ length: 1000 }, (_, i) => w.client.execute('INSERT INTO kv (k, n) VALUES (?, ?)', [`async ${i}`, i], prepare)));
  const rows = await Promise.all(Array.from({ length: 1000 }, (_, i) => w.client.execute('SELECT n FROM kv WHERE k = ?', [`async ${i}`], prepare)));
  rows.forEach((r, i) => assert.strictEqual(r.first().n, i));
});

check('callbacks', async (w) => {
  const row = await new Promise((resolve, reject) => w.client.execute("SELECT n FROM kv WHERE k = 'async 7'", (error, result) => (error ? reject(error) : resolve(result.first()))));
  assert.strictEqual(row.n, 7);
});

check('profiles and speculative execution', async (w) => {
  const other = await w.connect({
    keyspace: w.keyspace,
    profiles: [new cassandra.ExecutionProfile('quorum', { consistency: cassandra.types.consistencies.quorum, readTimeout: 10000 })],
    policies: { speculativeExecution: new cassandra.policies.speculativeExecution.ConstantSpeculativeExecutionPolicy(1, 2) },
  });
  for (let i = 0; i < 20; i += 1) {
    const row = (await other.execute('SELECT n FROM kv WHERE k = ?', ['async 9'], { ...prepare, executionProfile: 'quorum', isIdempotent: true })).first();
    assert.strictEqual(row.n, 9);
  }
  await other.shutdown();
});

check('consistency levels', async (w) => {
  for (const name of ['one', 'quorum', 'all', 'localQuorum', 'localOne']) {
    await w.client.execute("SELECT n FROM kv WHERE k = 'async 1'", [], { consistency: cassandra.types.consistencies[name] });
  }
  await w.client.execute("SELECT n FROM kv WHERE k = 'async 1'", [], { consistency: cassandra.types.consistencies.serial });
});

for (const version of [3, 4]) {
  check(`protocol: v${version}`, async (w) => {
    const client = await w.connect({ keyspace: w.keyspace, protocolOptions: { maxVersion: version } });
    assert.strictEqual(client.controlConnection.protocolVersion, version);
    await shortScenario(client, w.keyspace);
    await client.shutdown();
  });
}

check('auth: login, wrong password, permissions', async (w) => {
  if (!w.authPort) throw new Skip('no server with authentication was given');
  const login = (user, password) => ({ port: w.authPort, authProvider: new cassandra.auth.PlainTextAuthProvider(user, password) });
  const admin = await w.connect(login('cassandra', 'cassandra'));
  const role = `${w.keyspace}_user`;
  await admin.execute(`DROP ROLE IF EXISTS ${role}`);
  await admin.execute(`CREATE ROLE ${role} WITH PASSWORD = 'secret' AND LOGIN = true`);
  await admin.execute(`CREATE KEYSPACE IF NOT EXISTS ${w.keyspace} WITH replication = ${simple}`);
  await shortScenario(admin, w.keyspace);
  const wrong = await refused(w.connect(login('cassandra', 'wrong')));
  assert.ok(Object.values(wrong.innerErrors).every((e) => e instanceof cassandra.errors.AuthenticationError), String(wrong));
  const none = await refused(w.connect({ port: w.authPort }));
  assert.ok(Object.values(none.innerErrors).every((e) => e instanceof cassandra.errors.AuthenticationError), String(none));
  const user = await w.connect(login(role, 'secret'));
  await refused(user.execute(`SELECT * FROM ${w.keyspace}.short`), cassandra.types.responseErrorCodes.unauthorized);
  await admin.execute(`GRANT SELECT ON ${w.keyspace}.short TO ${role}`);
  await user.execute(`SELECT * FROM ${w.keyspace}.short`);
  await user.shutdown();
  await admin.execute(`DROP ROLE ${role}`);
  await admin.execute(`DROP KEYSPACE ${w.keyspace}`);
  await admin.shutdown();
});

check('tls', async (w) => {
  if (!w.tlsPort) throw new Skip('no server with TLS was given');
  const client = await w.connect({ port: w.tlsPort, tls: true });
  const keyspace = `${w.keyspace}_tls`;
  await client.execute(`CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = ${simple}`);
  await shortScenario(client, keyspace);
  await client.execute(`DROP KEYSPACE ${keyspace}`);
  await client.shutdown();
});
