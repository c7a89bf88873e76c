// The Kinesis Client Library with the DynamoDB Streams adapter reads a stream to its end: it makes its lease table with an index, elects a
// leader, takes the shard's lease, checkpoints, and ends with the shard when the table is deleted. Prints `ok NAME`, `FAIL NAME: why`.
package partita.kcl;

import com.amazonaws.services.dynamodbv2.streamsadapter.AmazonDynamoDBStreamsAdapterClient;
import com.amazonaws.services.dynamodbv2.streamsadapter.StreamsSchedulerFactory;
import com.amazonaws.services.dynamodbv2.streamsadapter.adapter.DynamoDBStreamsClientRecord;
import com.amazonaws.services.dynamodbv2.streamsadapter.model.DynamoDBStreamsProcessRecordsInput;
import com.amazonaws.services.dynamodbv2.streamsadapter.polling.DynamoDBStreamsPollingConfig;
import com.amazonaws.services.dynamodbv2.streamsadapter.processor.DynamoDBStreamsShardRecordProcessor;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.auth.credentials.*;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.*;
import software.amazon.awssdk.services.dynamodb.model.*;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import software.amazon.kinesis.common.*;
import software.amazon.kinesis.coordinator.Scheduler;
import software.amazon.kinesis.lifecycle.events.*;
import software.amazon.kinesis.metrics.*;
import software.amazon.kinesis.processor.*;

public class Main {
    static final List<String> seen = Collections.synchronizedList(new ArrayList<>());
    // It looks for new leases in pauses of up to half a minute.
    static final long WAIT_MILLIS = 180_000;
    static final CountDownLatch ended = new CountDownLatch(1);

    static class Processor implements DynamoDBStreamsShardRecordProcessor {
        public void initialize(InitializationInput input) {}
        public void processRecords(DynamoDBStreamsProcessRecordsInput input) {
            for (DynamoDBStreamsClientRecord record : input.records()) {
                seen.add(record.getRecord().eventName() + " " + record.getRecord().dynamodb().keys().get("pk").s());
            }
            try { input.checkpointer().checkpoint(); } catch (Exception e) { throw new RuntimeException(e); }
        }
        public void leaseLost(LeaseLostInput input) {}
        public void shardEnded(ShardEndedInput input) {
            try { input.checkpointer().checkpoint(); } catch (Exception e) { throw new RuntimeException(e); }
            ended.countDown();
        }
        public void shutdownRequested(ShutdownRequestedInput input) {}
    }

    static int told(String name, boolean right, String otherwise) {
        System.out.println(right ? "ok " + name : "FAIL " + name + ": " + otherwise);
        return right ? 0 : 1;
    }

    public static void main(String[] words) throws Exception {
        URI endpoint = URI.create(System.getenv("DYNAMO_ENDPOINT"));
        Region region = Region.US_EAST_1;
        AwsCredentialsProvider keys = StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "any"));
        DynamoDbClient db = DynamoDbClient.builder().endpointOverride(endpoint).region(region).credentialsProvider(keys).build();
        String table = System.getenv("DYNAMO_PREFIX") + "_kcl";
        db.createTable(b -> b.tableName(table).billingMode(BillingMode.PAY_PER_REQUEST)
            .keySchema(KeySchemaElement.builder().attributeName("pk").keyType(KeyType.HASH).build())
            .attributeDefinitions(AttributeDefinition.builder().attributeName("pk").attributeType(ScalarAttributeType.S).build())
            .streamSpecification(s -> s.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)));
        String arn = db.describeTable(b -> b.tableName(table)).table().latestStreamArn();
        int count = 50;
        for (int n = 0; n < count; n++) { int k = n; db.putItem(b -> b.tableName(table).item(Map.of("pk", AttributeValue.fromS("k" + k)))); }
        DynamoDbStreamsClient streams = DynamoDbStreamsClient.builder().endpointOverride(endpoint).region(region).credentialsProvider(keys).build();
        DynamoDbAsyncClient async = DynamoDbAsyncClient.builder().endpointOverride(endpoint).region(region).credentialsProvider(keys).build();
        CloudWatchAsyncClient watch = CloudWatchAsyncClient.builder().region(region).credentialsProvider(keys).build();
        AmazonDynamoDBStreamsAdapterClient adapter = new AmazonDynamoDBStreamsAdapterClient(streams, region);
        StreamTracker tracker = StreamsSchedulerFactory.createSingleStreamTracker(arn, InitialPositionInStreamExtended.newInitialPosition(InitialPositionInStream.TRIM_HORIZON));
        ConfigsBuilder config = new ConfigsBuilder(tracker, table + "-leases", adapter, async, watch, "worker", () -> new Processor());
        DynamoDBStreamsPollingConfig polling = new DynamoDBStreamsPollingConfig(adapter);
        polling.idleTimeBetweenReadsInMillis(200);
        var coordinator = config.coordinatorConfig();
        // The way of 2.x elects its first leader after a minute, whatever one says; that of 3.x takes a lock in a table.
        coordinator.clientVersionConfig(software.amazon.kinesis.coordinator.CoordinatorConfig.ClientVersionConfig.CLIENT_VERSION_CONFIG_3X);
        coordinator.skipShardSyncAtWorkerInitializationIfLeasesExist(false);
        var leases = config.leaseManagementConfig();
        leases.failoverTimeMillis(2_000).leaseAssignmentIntervalMillis(1_000L).shardSyncIntervalMillis(1_000);
        leases.workerUtilizationAwareAssignmentConfig().workerMetricsReporterFreqInMillis(1_000).inMemoryWorkerMetricsCaptureFrequencyMillis(500);
        Scheduler scheduler = StreamsSchedulerFactory.createScheduler(config.checkpointConfig(), coordinator, leases, config.lifecycleConfig(),
            config.metricsConfig().metricsFactory(new NullMetricsFactory()), config.processorConfig(), config.retrievalConfig().retrievalSpecificConfig(polling), adapter);
        Thread thread = new Thread(scheduler); thread.setDaemon(true); thread.start();
        long begun = System.currentTimeMillis();
        while (seen.size() < count && System.currentTimeMillis() - begun < WAIT_MILLIS) {
            Thread.sleep(100);
        }
        int failed = told("the_kcl_reads_every_record_once", seen.size() == count && new HashSet<>(seen).size() == count, seen.size() + " records");
        // The table goes and the stream stays readable: the reader comes to its end.
        db.deleteTable(b -> b.tableName(table));
        failed += told("the_kcl_comes_to_the_end_of_a_closed_shard", ended.await(WAIT_MILLIS, TimeUnit.MILLISECONDS), "no end");
        scheduler.startGracefulShutdown().get(30, TimeUnit.SECONDS);
        System.exit(failed);
    }
}
