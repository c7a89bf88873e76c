package partita.dynamo;

import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Expression;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.enhanced.dynamodb.model.WriteBatch;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.Shard;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/** The common scenario through the AWS SDK for Java v2: enhanced client, low-level client, streams. Prints `ok NAME`, `FAIL NAME: why`. */
public final class Main {
    private static final String TABLE = environment("DYNAMO_PREFIX", "java") + "_readings";
    private static final URI ENDPOINT = URI.create(System.getenv("DYNAMO_ENDPOINT"));
    private static final StaticCredentialsProvider LOGIN = StaticCredentialsProvider.create(
        AwsBasicCredentials.create(environment("DYNAMO_KEY", "local"), environment("DYNAMO_SECRET", "local")));
    private static final DynamoDbClient CLIENT = DynamoDbClient.builder().endpointOverride(ENDPOINT).region(Region.US_EAST_1)
        .credentialsProvider(LOGIN).build();
    private static final DynamoDbStreamsClient STREAMS = DynamoDbStreamsClient.builder().endpointOverride(ENDPOINT).region(Region.US_EAST_1)
        .credentialsProvider(LOGIN).build();
    private static final DynamoDbTable<Reading> READINGS =
        DynamoDbEnhancedClient.builder().dynamoDbClient(CLIENT).build().table(TABLE, TableSchema.fromBean(Reading.class));

    private interface Check {
        void run() throws Exception;
    }

    public static void main(String[] arguments) {
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("the_enhanced_client_creates_its_table", Main::create);
        checks.put("beans_come_back", Main::beans);
        checks.put("versions_guard_against_lost_updates", Main::versions);
        checks.put("queries_and_indexes_page", Main::queries);
        checks.put("low_level_values_come_back", Main::lowLevel);
        checks.put("transactions_tell_their_reasons", Main::transactions);
        checks.put("the_stream_is_read_to_the_end", Main::stream);
        checks.put("the_table_is_deleted", Main::delete);
        boolean failed = false;
        for (Map.Entry<String, Check> check : checks.entrySet()) {
            if (!check.getKey().contains(environment("CHECK", ""))) {
                continue;
            }
            try {
                check.getValue().run();
                System.out.println("ok " + check.getKey());
            } catch (Exception | AssertionError error) {
                failed = true;
                System.out.println("FAIL " + check.getKey() + ": " + error);
                error.printStackTrace();
            }
        }
        System.exit(failed ? 1 : 0);
    }

    private static String environment(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private static void equal(Object found, Object expected) {
        if (!found.equals(expected)) {
            throw new AssertionError(found + " is not " + expected);
        }
    }

    private static void create() {
        READINGS.createTable(table -> table
            .globalSecondaryIndices(index -> index.indexName("by_place").projection(p -> p.projectionType("ALL")))
            .streamSpecification(stream -> stream.streamEnabled(true).streamViewType(StreamViewType.NEW_IMAGE)));
        CLIENT.waiter().waitUntilTableExists(request -> request.tableName(TABLE));
        equal(READINGS.describeTable().table().tableStatusAsString(), "ACTIVE");
    }

    private static Reading reading(String sensor, int at, String place) {
        Reading reading = new Reading();
        reading.setSensor(sensor);
        reading.setAt(at);
        reading.setPlace(place);
        reading.setValues(List.of(1.5, -2.25));
        return reading;
    }

    private static void beans() {
        READINGS.putItem(reading("s1", 1, "attic"));
        Reading found = READINGS.getItem(request -> request.key(key("s1", 1)).consistentRead(true));
        equal(found.getValues(), List.of(1.5, -2.25));
        equal(found.getPlace(), "attic");
        if (READINGS.getItem(key("s1", 2)) != null) {
            throw new AssertionError("an item that nobody wrote");
        }
    }

    private static Key key(String sensor, int at) {
        return Key.builder().partitionValue(sensor).sortValue(at).build();
    }

    private static void versions() {
        Reading first = READINGS.getItem(key("s1", 1));
        Reading second = READINGS.getItem(key("s1", 1));
        first.setPlace("cellar");
        equal(READINGS.updateItem(first).getVersion(), 2L);
        try {
            READINGS.updateItem(second);
            throw new AssertionError("a lost update");
        } catch (ConditionalCheckFailedException expected) {
            equal(expected.statusCode(), 400);
        }
        READINGS.deleteItem(request -> request.key(key("s1", 9)).conditionExpression(
            Expression.builder().expression("attribute_not_exists(sensor)").build()));
    }

    private static void queries() {
        // Batches take no conditions, which versions would add.
        DynamoDbEnhancedClient enhanced = DynamoDbEnhancedClient.builder().dynamoDbClient(CLIENT).extensions(List.of()).build();
        DynamoDbTable<Reading> plain = enhanced.table(TABLE, TableSchema.fromBean(Reading.class));
        WriteBatch.Builder<Reading> batch = WriteBatch.builder(Reading.class).mappedTableResource(plain);
        for (int at = 0; at < 25; at++) {
            batch.addPutItem(reading("s2", at, at % 2 == 0 ? "roof" : null));
        }
        equal(enhanced.batchWriteItem(request -> request.writeBatches(batch.build())).unprocessedPutItemsForTable(plain).size(), 0);
        List<Integer> seen = new ArrayList<>();
        READINGS.query(request -> request.queryConditional(QueryConditional.sortBetween(key("s2", 5), key("s2", 14))).scanIndexForward(false).limit(4))
            .items().forEach(item -> seen.add(item.getAt()));
        equal(seen, List.of(14, 13, 12, 11, 10, 9, 8, 7, 6, 5));
        long roof = READINGS.index("by_place").query(QueryConditional.keyEqualTo(k -> k.partitionValue("roof"))).stream()
            .mapToLong(page -> page.items().size()).sum();
        equal(roof, 13L);
        equal(READINGS.scan().items().stream().count(), 26L);
    }

    private static void lowLevel() {
        Map<String, AttributeValue> item = Map.of(
            "sensor", AttributeValue.fromS("raw"), "at", AttributeValue.fromN("1"), "b", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[] {0, -1})),
            "ns", AttributeValue.fromNs(List.of("1", "2.5")), "l", AttributeValue.fromL(List.of(AttributeValue.fromNul(true), AttributeValue.fromBool(false))),
            "m", AttributeValue.fromM(Map.of("x", AttributeValue.fromS(""))));
        CLIENT.putItem(request -> request.tableName(TABLE).item(item));
        equal(CLIENT.getItem(request -> request.tableName(TABLE).key(Map.of("sensor", item.get("sensor"), "at", item.get("at")))).item(), item);
        try {
            CLIENT.describeTable(request -> request.tableName("nowhere"));
            throw new AssertionError("a table that nobody made");
        } catch (ResourceNotFoundException expected) {
            equal(expected.statusCode(), 400);
        }
    }

    private static TransactWriteItem put(int at, String condition) {
        Map<String, AttributeValue> item = Map.of("sensor", AttributeValue.fromS("t"), "at", AttributeValue.fromN(Integer.toString(at)));
        return TransactWriteItem.builder().put(Put.builder().tableName(TABLE).item(item).conditionExpression(condition).build()).build();
    }

    private static void transactions() {
        CLIENT.transactWriteItems(request -> request.transactItems(put(1, null), put(2, null)));
        try {
            CLIENT.transactWriteItems(request -> request.transactItems(put(3, null), put(1, "attribute_not_exists(sensor)")));
            throw new AssertionError("a transaction that should have been cancelled");
        } catch (TransactionCanceledException cancelled) {
            equal(cancelled.cancellationReasons().stream().map(CancellationReason::code).toList(), List.of("None", "ConditionalCheckFailed"));
        }
    }

    private static void stream() {
        String arn = READINGS.describeTable().table().latestStreamArn();
        List<Record> records = new ArrayList<>();
        for (Shard shard : STREAMS.describeStream(request -> request.streamArn(arn)).streamDescription().shards()) {
            String iterator = STREAMS.getShardIterator(request -> request.streamArn(arn).shardId(shard.shardId())
                .shardIteratorType(ShardIteratorType.TRIM_HORIZON)).shardIterator();
            for (int empty = 0; iterator != null && empty < 2;) {
                String from = iterator;
                var answer = STREAMS.getRecords(request -> request.shardIterator(from));
                empty = answer.hasRecords() && !answer.records().isEmpty() ? 0 : empty + 1;
                records.addAll(answer.records());
                iterator = answer.nextShardIterator();
            }
        }
        // One bean put and updated, 25 in a batch, one raw, two in a transaction.
        equal(records.size(), 30);
        equal(records.stream().filter(record -> record.eventNameAsString().equals("MODIFY")).count(), 1L);
    }

    private static void delete() {
        READINGS.deleteTable();
        CLIENT.waiter().waitUntilTableNotExists(request -> request.tableName(TABLE));
    }
}
