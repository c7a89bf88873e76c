// The common scenario through the AWS SDK for JavaScript v3: client and document client. Prints `ok NAME`, `FAIL NAME: why`.
'use strict';

const assert = require('node:assert/strict');
const sdk = require('@aws-sdk/client-dynamodb');
const doc = require('@aws-sdk/lib-dynamodb');
const streams = require('@aws-sdk/client-dynamodb-streams');

const access = {
  region: 'us-east-1',
  endpoint: process.env.DYNAMO_ENDPOINT,
  credentials: { accessKeyId: process.env.DYNAMO_KEY || 'local', secretAccessKey: process.env.DYNAMO_SECRET || 'local' },
  maxAttempts: 1,
};
const client = new sdk.DynamoDBClient(access);
const document = doc.DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
const reader = new streams.DynamoDBStreamsClient(access);
const TABLE = `${process.env.DYNAMO_PREFIX || 'js'}_table`;

async function refused(name, command) {
  try {
    await document.send(command);
  } catch (error) {
    assert.equal(error.name, name, error.message);
    return error;
  }
  throw new Error(`not refused with ${name}`);
}

const checks = {
  async a_table_is_created() {
    await client.send(new sdk.CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
      AttributeDefinitions: [['pk', 'S'], ['sk', 'N'], ['gpk', 'S']].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
      GlobalSecondaryIndexes: [{ IndexName: 'by_g', KeySchema: [{ AttributeName: 'gpk', KeyType: 'HASH' }], Projection: { ProjectionType: 'KEYS_ONLY' } }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
    }));
    const waited = await sdk.waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName: TABLE });
    assert.equal(waited.state, 'SUCCESS');
  },

  async documents_come_back() {
    const item = { pk: 'a', sk: 1, text: 'é', no: false, none: null, list: [1, 'x', { y: [] }], set: new Set(['p', 'q']), bytes: new Uint8Array([0, 255]), gpk: 'G' };
    await document.send(new doc.PutCommand({ TableName: TABLE, Item: item }));
    const { Item } = await document.send(new doc.GetCommand({ TableName: TABLE, Key: { pk: 'a', sk: 1 }, ConsistentRead: true }));
    assert.deepEqual(Item, item);
    const error = await refused('ConditionalCheckFailedException', new doc.PutCommand({
      TableName: TABLE, Item: { pk: 'a', sk: 1 }, ConditionExpression: 'attribute_not_exists(pk)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }));
    assert.deepEqual(error.Item.pk, { S: 'a' });
  },

  async updates_count_and_append() {
    const update = { TableName: TABLE, Key: { pk: 'u', sk: 1 }, UpdateExpression: 'SET #l = list_append(if_not_exists(#l, :none), :x) ADD n :one',
      ExpressionAttributeNames: { '#l': 'list' }, ExpressionAttributeValues: { ':none': [], ':x': ['x'], ':one': 1 }, ReturnValues: 'ALL_NEW' };
    await document.send(new doc.UpdateCommand(update));
    const { Attributes } = await document.send(new doc.UpdateCommand(update));
    assert.deepEqual(Attributes, { pk: 'u', sk: 1, list: ['x', 'x'], n: 2 });
  },

  async queries_and_scans_page() {
    const puts = Array.from({ length: 25 }, (_, n) => ({ PutRequest: { Item: { pk: 'q', sk: n, v: n % 2 } } }));
    const { UnprocessedItems } = await document.send(new doc.BatchWriteCommand({ RequestItems: { [TABLE]: puts } }));
    assert.deepEqual(UnprocessedItems, {});
    const seen = [];
    const pages = doc.paginateQuery({ client: document, pageSize: 10 }, {
      TableName: TABLE, KeyConditionExpression: 'pk = :p AND sk BETWEEN :a AND :b', ExpressionAttributeValues: { ':p': 'q', ':a': 3, ':b': 24 }, ScanIndexForward: false });
    for await (const page of pages) seen.push(...page.Items.map((item) => item.sk));
    assert.deepEqual(seen, Array.from({ length: 22 }, (_, n) => 24 - n));
    let count = 0;
    for await (const page of doc.paginateScan({ client: document, pageSize: 6 }, { TableName: TABLE, FilterExpression: 'v = :v', ExpressionAttributeValues: { ':v': 1 } })) count += page.Count;
    assert.equal(count, 12);
    const index = await document.send(new doc.QueryCommand({ TableName: TABLE, IndexName: 'by_g', KeyConditionExpression: 'gpk = :g', ExpressionAttributeValues: { ':g': 'G' } }));
    assert.deepEqual(index.Items, [{ pk: 'a', sk: 1, gpk: 'G' }]);
  },

  async transactions_tell_their_reasons() {
    const put = (sk, condition) => ({ Put: { TableName: TABLE, Item: { pk: 't', sk }, ConditionExpression: condition } });
    await document.send(new doc.TransactWriteCommand({ TransactItems: [put(1), put(2, 'attribute_not_exists(pk)')] }));
    const error = await refused('TransactionCanceledException', new doc.TransactWriteCommand({
      TransactItems: [put(3), { ConditionCheck: { TableName: TABLE, Key: { pk: 't', sk: 9 }, ConditionExpression: 'attribute_exists(pk)' } }, put(1, 'attribute_not_exists(pk)')] }));
    assert.deepEqual(error.CancellationReasons.map((reason) => reason.Code), ['None', 'ConditionalCheckFailed', 'ConditionalCheckFailed']);
    const { Responses } = await document.send(new doc.TransactGetCommand({ TransactItems: [1, 3].map((sk) => ({ Get: { TableName: TABLE, Key: { pk: 't', sk } } })) }));
    assert.deepEqual(Responses.map((response) => response.Item), [{ pk: 't', sk: 1 }, undefined]);
  },

  async partiql_answers() {
    const { Items } = await document.send(new doc.ExecuteStatementCommand({ Statement: `SELECT sk FROM "${TABLE}" WHERE pk = ? AND sk < ?`, Parameters: ['q', 3] }));
    assert.deepEqual(Items, [{ sk: 0 }, { sk: 1 }, { sk: 2 }]);
  },

  async the_stream_has_keys() {
    const { Table } = await client.send(new sdk.DescribeTableCommand({ TableName: TABLE }));
    const { StreamDescription } = await reader.send(new streams.DescribeStreamCommand({ StreamArn: Table.LatestStreamArn }));
    const keys = [];
    for (const shard of StreamDescription.Shards) {
      let { ShardIterator } = await reader.send(new streams.GetShardIteratorCommand({ StreamArn: Table.LatestStreamArn, ShardId: shard.ShardId, ShardIteratorType: 'TRIM_HORIZON' }));
      for (let empty = 0; ShardIterator && empty < 2;) {
        const { Records, NextShardIterator } = await reader.send(new streams.GetRecordsCommand({ ShardIterator }));
        empty = Records.length ? 0 : empty + 1;
        for (const record of Records) {
          assert.equal(record.dynamodb.NewImage, undefined);
          keys.push(record.dynamodb.Keys.pk.S);
        }
        ShardIterator = NextShardIterator;
      }
    }
    assert.deepEqual(keys.filter((key) => key === 'u').length, 2);
    assert.equal(keys.filter((key) => key === 'q').length, 25);
  },

  async wrong_input_is_refused_in_words() {
    const error = await refused('ValidationException', new doc.GetCommand({ TableName: TABLE, Key: { pk: 'a' } }));
    assert.match(error.message, /The provided key element does not match the schema/);
    await refused('ResourceNotFoundException', new doc.GetCommand({ TableName: 'nowhere', Key: { pk: 'a' } }));
  },

  async the_table_is_deleted() {
    await client.send(new sdk.DeleteTableCommand({ TableName: TABLE }));
    await sdk.waitUntilTableNotExists({ client, maxWaitTime: 60 }, { TableName: TABLE });
  },
};

(async () => {
  let failed = 0;
  for (const [name, run] of Object.entries(checks)) {
    if (!name.includes(process.env.CHECK || '')) continue;
    try {
      await run();
      console.log(`ok ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}: ${String(error.message || error).split('\n').slice(0, 12).join(' ')}`);
      console.error(error);
    }
  }
  process.exit(failed ? 1 : 0);
})();
