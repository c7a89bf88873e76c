'use strict';
// The frame of the Node.js checks: what to connect to, how a check is registered, run and printed.

const fs = require('fs');
const cassandra = require('cassandra-driver');

const env = process.env;
const world = {
  target: env.TARGET || 'partita',
  host: env.CQL_HOST || '127.0.0.1',
  port: Number(env.CQL_PORT || 9042),
  authPort: Number(env.CQL_AUTH_PORT || 0),
  tlsPort: Number(env.CQL_TLS_PORT || 0),
  tlsCa: env.CQL_TLS_CA || '',
  keyspace: env.CQL_KEYSPACE || 'drv_node',
  client: null,
  open: [],
};

class Skip extends Error {}

const checks = [];
const check = (name, run) => checks.push({ name, run });

// Makes a client on the plain port unless told otherwise; all of them are closed at the end.
world.make = (options = {}) => {
  const { port = world.port, tls = false, ...rest } = options;
  if (tls) rest.sslOptions = { ca: [fs.readFileSync(world.tlsCa)], rejectUnauthorized: true, host: 'localhost', servername: 'localhost' };
  const client = new cassandra.Client({
    contactPoints: [`${world.host}:${port}`],
    localDataCenter: 'datacenter1',
    socketOptions: { readTimeout: 30000, connectTimeout: 20000 },
    pooling: { warmup: true },
    ...rest,
  });
  world.open.push(client);
  return client;
};

world.connect = async (options) => {
  const client = world.make(options);
  await client.connect();
  return client;
};

// Polls for something that another connection's event brings about.
async function eventually(what, condition, seconds = 10) {
  const deadline = Date.now() + seconds * 1000;
  while (Date.now() < deadline) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${what} did not become true in ${seconds} s`);
}

// Runs the promise, which must be refused with the given server error code (or any error when there is none).
async function refused(promise, code, part = '') {
  let error;
  try {
    await promise;
  } catch (e) {
    error = e;
  }
  if (!error) throw new Error('no error was raised');
  if (code !== undefined && error.code !== code) throw new Error(`error code ${error.code}, wanted ${code}: ${error}`);
  if (!String(error.message).includes(part)) throw new Error(`${JSON.stringify(part)} is not in: ${error.message}`);
  return error;
}

async function run() {
  let failed = 0;
  const only = env.CHECK || '';
  for (const { name, run: body } of checks) {
    if (only && !name.includes(only) && !/^(connect|ddl)/.test(name)) continue;
    const begun = Date.now();
    try {
      await body(world);
      console.log(`ok ${name}  # ${((Date.now() - begun) / 1000).toFixed(2)} s`);
    } catch (error) {
      if (error instanceof Skip) {
        console.log(`skip ${name}: ${error.message}`);
        continue;
      }
      failed += 1;
      console.log(`FAIL ${name}: ${`${error.name}: ${error.message}`.replace(/\s+/g, ' ').slice(0, 600)}`);
      console.error(name, error);
    }
  }
  await Promise.all(world.open.map((client) => client.shutdown().catch(() => {})));
  process.exit(failed ? 1 : 0);
}

module.exports = { check, checks, eventually, refused, run, Skip, world };
