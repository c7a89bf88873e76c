'use strict';
// Prints the rows behind a paging state of another process: `node go_on.js STATE SELECT`.

const { world } = require('./scenario');

(async () => {
  const [pageState, select] = process.argv.slice(2);
  const client = await world.connect({ keyspace: world.keyspace });
  let state = pageState;
  while (state) {
    const page = await client.execute(select, [], { fetchSize: 50, pageState: state, prepare: true });
    console.log(page.rows.map((row) => row.n).join(' '));
    state = page.pageState;
  }
  await client.shutdown();
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
