'use strict';
// The driver's own object mapper.

const assert = require('assert');
const cassandra = require('cassandra-driver');
const { check } = require('./scenario');

const { Mapper, UnderscoreCqlToCamelCaseMappings, q } = cassandra.mapping;

check('mapper: insert, get, find, update, remove', async (w) => {
  await w.client.execute('CREATE TABLE videos (user_id int, video_id int, video_name text, tags set<text>, PRIMARY KEY (user_id, video_id))');
  const mapper = new Mapper(w.client, { models: { Video: { tables: ['videos'], mappings: new UnderscoreCqlToCamelCaseMappings() } } });
  const videos = mapper.forModel('Video');
  for (let i = 0; i < 5; i += 1) await videos.insert({ userId: 1, videoId: i, videoName: `video ${i}`, tags: ['t'] });
  assert.strictEqual((await videos.get({ userId: 1, videoId: 3 })).videoName, 'video 3');
  const found = await videos.find({ userId: 1, videoId: q.gt(2) }, { fields: ['videoId', 'videoName'] });
  assert.deepStrictEqual(found.toArray().map((v) => v.videoId), [3, 4]);
  await videos.update({ userId: 1, videoId: 3, videoName: 'changed', tags: q.append(['u']) });
  assert.deepStrictEqual((await videos.get({ userId: 1, videoId: 3 })).tags, ['t', 'u']);
  assert.strictEqual((await videos.insert({ userId: 1, videoId: 3, videoName: 'again' }, { ifNotExists: true })).wasApplied(), false);
  assert.strictEqual((await videos.update({ userId: 1, videoId: 3, videoName: 'next' }, { when: { videoName: 'changed' } })).wasApplied(), true);
  await mapper.batch([
    videos.batching.insert({ userId: 2, videoId: 1, videoName: 'b' }, { ttl: 1000 }),
    videos.batching.remove({ userId: 1, videoId: 4 }),
  ]);
  assert.strictEqual(await videos.get({ userId: 1, videoId: 4 }), null);
  await videos.remove({ userId: 2, videoId: 1 });
  assert.strictEqual((await videos.findAll({ limit: 100 })).toArray().length, 4);
});
