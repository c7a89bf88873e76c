package partita.drivers;

import static partita.drivers.Main.check;
import static partita.drivers.World.equal;
import static partita.drivers.World.eventually;
import static partita.drivers.World.truth;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.metadata.TokenMap;
import com.datastax.oss.driver.api.core.metadata.schema.ClusteringOrder;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.SchemaChangeListenerBase;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.type.DataTypes;
import com.datastax.oss.driver.api.core.type.codec.TypeCodecs;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Connecting, DDL, metadata, the token map and schema events. */
final class SchemaChecks {
  static void register() {
    check("connect", w -> {
      w.session = w.connect(b -> {});
      Row row = w.session.execute("SELECT release_version, data_center FROM system.local WHERE key = 'local'").one();
      truth(row.getString(0).startsWith("5.0"), row.getString(0));
      equal(w.session.getContext().getProtocolVersion().getCode(), 5, "protocol version");
      equal(w.session.getMetadata().getNodes().size(), 1, "nodes");
      Node node = w.session.getMetadata().getNodes().values().iterator().next();
      equal(node.getDatacenter(), "datacenter1", "data centre");
      equal(node.getState(), NodeState.UP, "state");
      truth(node.getHostId() != null && node.getSchemaVersion() != null && node.getCassandraVersion().getMajor() == 5, node);
    });
    check("ddl: keyspace, types, tables, schema agreement", w -> {
      w.execute("DROP KEYSPACE IF EXISTS " + w.keyspace);
      ResultSet made = w.session.execute("CREATE KEYSPACE " + w.keyspace + World.SIMPLE);
      truth(made.getExecutionInfo().isSchemaInAgreement(), "schema agreement");
      w.session = w.connectToKeyspace();
      w.execute(
          "CREATE TYPE address (street text, zip int, tags frozen<set<text>>)",
          "CREATE TYPE person (name text, home frozen<address>, phones map<text, text>)",
          "CREATE TABLE kv (k text PRIMARY KEY, v text, n int)",
          "CREATE TABLE counts (k text PRIMARY KEY, c counter)",
          "CREATE TABLE events (tenant uuid, day date, at timestamp, seq int, body text, label text static, "
              + "PRIMARY KEY ((tenant, day), at, seq)) WITH CLUSTERING ORDER BY (at DESC, seq ASC) AND comment = 'events of a day' "
              + "AND default_time_to_live = 864000");
      truth(w.session.checkSchemaAgreement(), "agreement");
    });
    check("metadata: tables, columns, types", SchemaChecks::metadata);
    check("metadata: token map", w -> {
      TokenMap map = w.session.getMetadata().getTokenMap().orElseThrow();
      equal(map.getPartitionerName(), "org.apache.cassandra.dht.Murmur3Partitioner", "partitioner");
      truth(map.getTokenRanges().size() >= 1, map.getTokenRanges());
      var key = TypeCodecs.TEXT.encode("a key", w.session.getContext().getProtocolVersion());
      equal(map.getReplicas(w.keyspace, key).size(), 1, "replicas");
      w.execute("INSERT INTO kv (k) VALUES ('a key')");
      long token = w.session.execute("SELECT token(k) FROM kv WHERE k = 'a key'").one().getLong(0);
      equal(map.format(map.newToken(key)), Long.toString(token), "token");
    });
    check("metadata: system keyspaces", w -> {
      CqlSession all = w.connect(w.port, World.options().withStringList(
          DefaultDriverOption.METADATA_SCHEMA_REFRESHED_KEYSPACES, List.of("/.*/")), b -> {});
      truth(all.getMetadata().getKeyspace("system").orElseThrow().getTable("local").isPresent(), "system.local");
      truth(all.getMetadata().getKeyspace("system_virtual_schema").orElseThrow().isVirtual(), "system_virtual_schema");
      all.close();
    });
    check("events: a second session sees schema changes", SchemaChecks::events);
  }

  private static void metadata(World w) {
    KeyspaceMetadata ks = w.session.getMetadata().getKeyspace(w.keyspace).orElseThrow();
    equal(ks.getReplication().get("class"), "org.apache.cassandra.locator.SimpleStrategy", "replication");
    TableMetadata events = ks.getTable("events").orElseThrow();
    equal(events.getPartitionKey().stream().map(c -> c.getName().asInternal()).toList(), List.of("tenant", "day"), "partition key");
    equal(List.copyOf(events.getClusteringColumns().values()), List.of(ClusteringOrder.DESC, ClusteringOrder.ASC), "clustering order");
    equal(events.getColumn("at").orElseThrow().getType(), DataTypes.TIMESTAMP, "type");
    truth(events.getColumn("label").orElseThrow().isStatic(), "static column");
    truth(events.describe(true).contains("CLUSTERING ORDER BY"), events.describe(true));
    truth(!events.isCompactStorage(), "compact storage");
    var person = ks.getUserDefinedType("person").orElseThrow();
    equal(person.getFieldNames().stream().map(n -> n.asInternal()).toList(), List.of("name", "home", "phones"), "fields");
  }

  private static void events(World w) throws InterruptedException {
    Set<String> seen = ConcurrentHashMap.newKeySet();
    CqlSession other = w.connect(b -> b.addSchemaChangeListener(new SchemaChangeListenerBase() {
      @Override public void onKeyspaceCreated(KeyspaceMetadata k) { seen.add("created " + k.getName()); }
      @Override public void onKeyspaceDropped(KeyspaceMetadata k) { seen.add("dropped " + k.getName()); }
      @Override public void onTableCreated(TableMetadata t) { seen.add("created " + t.getName()); }
      @Override public void onTableUpdated(TableMetadata now, TableMetadata before) { seen.add("updated " + now.getName()); }
      @Override public void onTableDropped(TableMetadata t) { seen.add("dropped " + t.getName()); }
    }));
    String name = w.keyspace + "_seen";
    String[][] steps = {
      {"CREATE TABLE seen (k int PRIMARY KEY, a int)", "created seen"},
      {"ALTER TABLE seen ADD b text", "updated seen"},
      {"DROP TABLE seen", "dropped seen"},
      {"CREATE KEYSPACE " + name + " WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}", "created " + name},
      {"DROP KEYSPACE " + name, "dropped " + name},
    };
    for (String[] step : steps) {
      w.execute(step[0]);
      eventually(step[1], () -> seen.contains(step[1]));
    }
    other.close();
  }

  private SchemaChecks() {}
}
