'use strict';
// Every CQL type travels both ways: written as CQL text and as bound values.

const assert = require('assert');
const { types } = require('cassandra-driver');
const { check } = require('./scenario');

const { BigDecimal, Duration, InetAddress, Integer, LocalDate, LocalTime, Long, TimeUuid, Tuple, Uuid, Vector } = types;

const SCALARS = [
  ['c_ascii', 'ascii', "'ascii'", 'ascii'],
  ['c_bigint', 'bigint', '-9223372036854775808', Long.fromString('-9223372036854775808')],
  ['c_blob', 'blob', '0x00ff10', Buffer.from([0, 255, 16])],
  ['c_boolean', 'boolean', 'true', true],
  ['c_date', 'date', "'1969-12-31'", LocalDate.fromString('1969-12-31')],
  ['c_decimal', 'decimal', '-123456789.000000000987', BigDecimal.fromString('-123456789.000000000987')],
  ['c_double', 'double', '1.5E-300', 1.5e-300],
  ['c_duration', 'duration', '1y2mo3d4h5m6s7ms8us9ns', new Duration(14, 3, Long.fromString('14706007008009'))],
  ['c_float', 'float', '3.25', 3.25],
  ['c_inet', 'inet', "'192.0.2.7'", InetAddress.fromString('192.0.2.7')],
  ['c_inet6', 'inet', "'2001:db8::1'", InetAddress.fromString('2001:db8::1')],
  ['c_int', 'int', '-2147483648', -2147483648],
  ['c_smallint', 'smallint', '-32768', -32768],
  ['c_text', 'text', "'Grüße, 世界 🎼, it''s'", "Grüße, 世界 🎼, it's"],
  ['c_time', 'time', "'23:59:59.999999999'", LocalTime.fromString('23:59:59.999999999')],
  ['c_timestamp', 'timestamp', "'1960-02-29T12:34:56.789Z'", new Date('1960-02-29T12:34:56.789Z')],
  ['c_timeuuid', 'timeuuid', '50554d6e-29bb-11e5-b345-feff819cdc9f', TimeUuid.fromString('50554d6e-29bb-11e5-b345-feff819cdc9f')],
  ['c_tinyint', 'tinyint', '-128', -128],
  ['c_uuid', 'uuid', '123e4567-e89b-12d3-a456-426614174000', Uuid.fromString('123e4567-e89b-12d3-a456-426614174000')],
  ['c_varint', 'varint', '123456789012345678901234567890', Integer.fromString('123456789012345678901234567890')],
];
const names = SCALARS.map((s) => s[0]);
const same = (a, b) => a === b || (a instanceof Date ? a.getTime() === b.getTime() : Buffer.isBuffer(a) ? a.equals(b) : a && a.equals && a.equals(b));
const prepare = { prepare: true };
const row = async (w, table, id) => (await w.client.execute(`SELECT * FROM ${table} WHERE id = ${id}`)).first();

check('types: scalars as CQL text and bound', async (w) => {
  await w.client.execute(`CREATE TABLE scalars (id int PRIMARY KEY, ${SCALARS.map((s) => `${s[0]} ${s[1]}`).join(', ')})`);
  await w.client.execute(`INSERT INTO scalars (id, ${names}) VALUES (1, ${SCALARS.map((s) => s[2])})`);
  const insert = `INSERT INTO scalars (id, ${names}) VALUES (${Array(names.length + 1).fill('?')})`;
  await w.client.execute(insert, [2, ...SCALARS.map((s) => s[3])], prepare);
  for (const id of [1, 2]) {
    const found = await row(w, 'scalars', id);
    for (const [name, , , value] of SCALARS) assert.ok(same(found[name], value), `row ${id}, ${name}: ${found[name]} is not ${value}`);
  }
  await w.client.execute(insert, [3, ...names.map(() => null)], prepare);
  const empty = await row(w, 'scalars', 3);
  for (const name of names) assert.strictEqual(empty[name], null, name);
  await w.client.execute('INSERT INTO scalars (id, c_text, c_blob) VALUES (?, ?, ?)', [4, '', Buffer.alloc(0)], prepare);
  const blank = await row(w, 'scalars', 4);
  assert.strictEqual(blank.c_text, '');
  assert.strictEqual(blank.c_blob.length, 0);
});

check('types: collections and nesting', async (w) => {
  await w.client.execute(`CREATE TABLE collections (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>,
    nested map<uuid, frozen<list<frozen<set<timestamp>>>>>, t tuple<int, text, double>)`);
  const key = '123e4567-e89b-12d3-a456-426614174000';
  await w.client.execute(`INSERT INTO collections (id, l, s, m, nested, t) VALUES (1, [3, 1, 2], {'b', 'a'}, {'z': 1, 'a': 2},
    {${key}: [{'2020-01-01T00:00Z'}]}, (1, null, 2.5))`);
  await w.client.execute('INSERT INTO collections (id, l, s, m, nested, t) VALUES (?, ?, ?, ?, ?, ?)',
    [2, [3, 1, 2], ['b', 'a'], { z: Long.fromNumber(1), a: Long.fromNumber(2) }, { [key]: [[new Date('2020-01-01T00:00Z')]] }, new Tuple(1, null, 2.5)], prepare);
  for (const id of [1, 2]) {
    const found = await row(w, 'collections', id);
    assert.deepStrictEqual(found.l, [3, 1, 2]);
    assert.deepStrictEqual(found.s, ['a', 'b']);
    assert.deepStrictEqual(Object.keys(found.m), ['a', 'z']);
    assert.deepStrictEqual(found.nested[key], [[new Date('2020-01-01T00:00Z')]]);
    assert.deepStrictEqual(found.t.values(), [1, null, 2.5]);
  }
  await w.client.execute("UPDATE collections SET l = l + [9], s = s - {'a'}, m['n'] = 5 WHERE id = 1");
  const changed = await row(w, 'collections', 1);
  assert.deepStrictEqual([changed.l, changed.s, Object.keys(changed.m)], [[3, 1, 2, 9], ['b'], ['a', 'n', 'z']]);
  await w.client.execute('UPDATE collections SET l = [] WHERE id = 1');
  assert.strictEqual((await row(w, 'collections', 1)).l, null);
});

check('types: collections as Map and Set', async (w) => {
  const other = await w.connect({ keyspace: w.keyspace, encoding: { map: Map, set: Set } });
  await other.execute('INSERT INTO collections (id, s, m) VALUES (?, ?, ?)', [3, new Set(['x']), new Map([['k', Long.fromNumber(7)]])], prepare);
  const found = (await other.execute('SELECT s, m FROM collections WHERE id = 3')).first();
  assert.ok(found.s instanceof Set && found.s.has('x'));
  assert.ok(found.m instanceof Map && found.m.get('k').equals(7));
  await other.shutdown();
});

check('types: user-defined types', async (w) => {
  await w.client.execute('CREATE TABLE people (id int PRIMARY KEY, p frozen<person>, homes list<frozen<address>>, a address)');
  const home = { street: 'Rue 1', zip: 75001, tags: ['blue', 'red'] };
  const ann = { name: 'Ann', home, phones: { mobile: '1' } };
  await w.client.execute('INSERT INTO people (id, p, homes, a) VALUES (?, ?, ?, ?)', [1, ann, [home], home], prepare);
  await w.client.execute(`INSERT INTO people (id, p, homes, a) VALUES (2, {name: 'Ann', home: {street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}},
    phones: {'mobile': '1'}}, [{street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}], {street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}})`);
  for (const id of [1, 2]) {
    const found = await row(w, 'people', id);
    assert.deepEqual(found.p, ann);
    assert.deepEqual(found.homes, [home]);
    assert.deepEqual(found.a, home);
  }
  await w.client.execute('UPDATE people SET a.zip = 2 WHERE id = 1');
  assert.strictEqual((await row(w, 'people', 1)).a.zip, 2);
});

check('types: vectors', async (w) => {
  await w.client.execute('CREATE TABLE vectors (id int PRIMARY KEY, v vector<float, 3>, t vector<text, 2>)');
  await w.client.execute("INSERT INTO vectors (id, v, t) VALUES (1, [1.5, -2, 0.25], ['a', 'bc'])");
  await w.client.execute('INSERT INTO vectors (id, v, t) VALUES (?, ?, ?)', [2, new Vector([1.5, -2, 0.25], 'float'), new Vector(['a', 'bc'], 'text')], prepare);
  for (const id of [1, 2]) {
    const found = await row(w, 'vectors', id);
    assert.deepStrictEqual([...found.v], [1.5, -2, 0.25]);
    assert.deepStrictEqual([...found.t], ['a', 'bc']);
  }
});
