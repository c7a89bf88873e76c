// The same small shop through three mappers: dynamoose, ElectroDB, dynamodb-toolbox. Prints `ok NAME`, `FAIL NAME: why`.
'use strict';

const assert = require('node:assert/strict');
const sdk = require('@aws-sdk/client-dynamodb');
const { DynamoDBDocumentClient } = require('@aws-sdk/lib-dynamodb');
const dynamoose = require('dynamoose');
const electrodb = require('electrodb');
const toolbox = require('dynamodb-toolbox');

const access = {
  region: 'us-east-1',
  endpoint: process.env.DYNAMO_ENDPOINT,
  credentials: { accessKeyId: process.env.DYNAMO_KEY || 'local', secretAccessKey: process.env.DYNAMO_SECRET || 'local' },
};
const client = new sdk.DynamoDBClient(access);
const PREFIX = process.env.DYNAMO_PREFIX || 'orm';
const SINGLE = `${PREFIX}_single`;

async function refused(name, promise) {
  try {
    await promise;
  } catch (error) {
    const cause = error.cause || error;
    assert.ok([error.name, cause.name].includes(name) || `${error.message}`.includes('conditional request failed'), `${error.name}: ${error.message}`);
    return error;
  }
  throw new Error(`not refused with ${name}`);
}

async function single_table() {
  await client.send(new sdk.CreateTableCommand({
    TableName: SINGLE,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
    AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [{
      IndexName: 'gsi1', Projection: { ProjectionType: 'ALL' },
      KeySchema: [{ AttributeName: 'gsi1pk', KeyType: 'HASH' }, { AttributeName: 'gsi1sk', KeyType: 'RANGE' }] }],
  }));
  await sdk.waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName: SINGLE });
}

const checks = {
  async dynamoose_makes_its_table_and_keeps_it_up_to_date() {
    dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB(access));
    const define = (more) => dynamoose.model(`${PREFIX}_Cat`, new dynamoose.Schema({
      id: { type: String, hashKey: true },
      age: { type: Number, rangeKey: true },
      colour: { type: String, index: { name: 'byColour', type: 'global' } },
      born: Date, tags: { type: Set, schema: [String] }, home: { type: Object, schema: { street: String } }, ...more,
    }, { timestamps: true }), { throughput: 'ON_DEMAND', waitForActive: { enabled: true, check: { frequency: 100 } }, expires: { ttl: 86400, attribute: 'ttl' } });
    const Cat = define({});
    await new Cat({ id: 'a', age: 1, colour: 'red', born: new Date(5000), tags: new Set(['x']), home: { street: 's' } }).save();
    await Cat.batchPut([2, 3, 4].map((age) => ({ id: 'a', age, colour: 'blue' })));
    const found = await Cat.get({ id: 'a', age: 1 });
    assert.equal(found.born.getTime(), 5000);
    assert.deepEqual([...found.tags], ['x']);
    assert.equal((await Cat.query('colour').eq('blue').using('byColour').exec()).length, 3);
    assert.equal((await Cat.scan('age').gt(2).exec()).length, 2);
    await Cat.update({ id: 'a', age: 1 }, { $SET: { colour: 'green' }, $ADD: { tags: ['y'] }, $REMOVE: ['home'] });
    assert.equal((await Cat.get({ id: 'a', age: 1 })).colour, 'green');
    await refused('ConditionalCheckFailedException', Cat.create({ id: 'a', age: 1 }));
    await dynamoose.transaction([Cat.transaction.delete({ id: 'a', age: 4 }), Cat.transaction.create({ id: 'b', age: 9 })]);
    assert.equal((await Cat.query('id').eq('a').count().exec()).count, 3);
  },

  single_table,

  async electrodb_keeps_several_entities_in_one_table() {
    const model = (entity, attributes, pk, sk, gsi) => new electrodb.Entity({
      model: { entity, version: '1', service: 'shop' }, attributes,
      indexes: {
        primary: { pk: { field: 'pk', composite: pk }, sk: { field: 'sk', composite: sk } },
        ...(gsi && { by: { index: 'gsi1', collection: 'account', pk: { field: 'gsi1pk', composite: gsi }, sk: { field: 'gsi1sk', composite: sk } } }),
      },
    }, { client, table: SINGLE });
    const customer = model('customer', { id: { type: 'string' }, name: { type: 'string', required: true }, visits: { type: 'number', default: 0 } }, ['id'], [], ['id']);
    const order = model('order', { order: { type: 'string' }, id: { type: 'string' }, lines: { type: 'list', items: { type: 'string' } }, total: { type: 'number' } }, ['order'], [], ['id']);
    await customer.create({ id: 'c1', name: 'Ann' }).go();
    await refused('ConditionalCheckFailedException', customer.create({ id: 'c1', name: 'Bob' }).go());
    await order.put([1, 2, 3].map((n) => ({ order: `o${n}`, id: 'c1', lines: ['l'], total: n }))).go();
    const changed = await customer.patch({ id: 'c1' }).add({ visits: 2 }).where((a, o) => o.eq(a.name, 'Ann')).go({ response: 'all_new' });
    assert.equal(changed.data.visits, 2);
    await order.update({ order: 'o1' }).append({ lines: ['m'] }).go();
    assert.deepEqual((await order.get({ order: 'o1' }).go()).data.lines, ['l', 'm']);
    const shop = new electrodb.Service({ customer, order });
    const { data } = await shop.collections.account({ id: 'c1' }).go();
    assert.deepEqual([data.customer.length, data.order.length], [1, 3]);
    const page = await order.query.by({ id: 'c1' }).go({ limit: 2 });
    const rest = await order.query.by({ id: 'c1' }).go({ cursor: page.cursor });
    assert.equal(page.data.length + rest.data.length, 3);
    await shop.transaction.write(({ order: o, customer: c }) => [o.delete({ order: 'o3' }).commit(), c.check({ id: 'c1' }).where((a, op) => op.exists(a.name)).commit()]).go();
    assert.equal((await order.get({ order: 'o3' }).go()).data, null);
  },

  async toolbox_validates_and_transforms() {
    const { Table, Entity, item, string, number, list, PutItemCommand, GetItemCommand, UpdateItemCommand, QueryCommand, DeleteItemCommand, $add, $append } = toolbox;
    const table = new Table({
      name: SINGLE, partitionKey: { name: 'pk', type: 'string' }, sortKey: { name: 'sk', type: 'string' },
      documentClient: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }) });
    const pokemon = new Entity({
      name: 'Pokemon', table, schema: item({
        trainer: string().key().savedAs('pk'), name: string().key().savedAs('sk'), level: number(), moves: list(string()).default([]) }) });
    for (const [name, level] of [['pikachu', 3], ['mew', 9]]) {
      await pokemon.build(PutItemCommand).item({ trainer: 'ash', name, level }).options({ condition: { attr: 'name', exists: false } }).send();
    }
    await pokemon.build(UpdateItemCommand).item({ trainer: 'ash', name: 'mew', level: $add(1), moves: $append(['psychic']) })
      .options({ condition: { attr: 'level', lt: 10 } }).send();
    const { Item } = await pokemon.build(GetItemCommand).key({ trainer: 'ash', name: 'mew' }).send();
    assert.deepEqual([Item.level, Item.moves], [10, ['psychic']]);
    const { Items } = await table.build(QueryCommand).entities(pokemon).query({ partition: 'ash' }).options({ filters: { Pokemon: { attr: 'level', gt: 5 } } }).send();
    assert.deepEqual(Items.map((found) => found.name), ['mew']);
    await refused('ConditionalCheckFailedException', pokemon.build(DeleteItemCommand).key({ trainer: 'ash', name: 'mew' })
      .options({ condition: { attr: 'level', lt: 5 } }).send());
  },
};

(async () => {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log(`ok ${name}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`FAIL ${name}: ${error.name}: ${error.message}`.replace(/\s+/g, ' '));
    }
  }
})();
