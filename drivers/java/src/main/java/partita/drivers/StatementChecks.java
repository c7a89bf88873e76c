package partita.drivers;

import static com.datastax.oss.driver.api.querybuilder.QueryBuilder.bindMarker;
import static com.datastax.oss.driver.api.querybuilder.QueryBuilder.insertInto;
import static com.datastax.oss.driver.api.querybuilder.QueryBuilder.literal;
import static com.datastax.oss.driver.api.querybuilder.QueryBuilder.selectFrom;
import static partita.drivers.Main.check;
import static partita.drivers.World.equal;
import static partita.drivers.World.refused;
import static partita.drivers.World.truth;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.QueryTrace;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.AlreadyExistsException;
import com.datastax.oss.driver.api.core.servererrors.InvalidConfigurationInQueryException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/** Statements with values, prepared statements, batches, LWT, counters, TTL, errors, warnings, tracing. */
final class StatementChecks {
  static void register() {
    check("simple: positional and named values", StatementChecks::simple);
    check("prepared: names, unset values, partition key", StatementChecks::prepared);
    check("prepared: again after ALTER", StatementChecks::reprepare);
    check("query builder", StatementChecks::builder);
    check("batch: logged, unlogged, counter", StatementChecks::batches);
    check("lwt: applied and not applied", StatementChecks::lwt);
    check("ttl, write time, timestamps, now in seconds", StatementChecks::times);
    check("consistency levels", w -> {
      for (ConsistencyLevel level : List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL, ConsistencyLevel.LOCAL_QUORUM,
          ConsistencyLevel.LOCAL_ONE, ConsistencyLevel.SERIAL, ConsistencyLevel.LOCAL_SERIAL)) {
        w.session.execute(SimpleStatement.newInstance("SELECT * FROM kv WHERE k = 'a'").setConsistencyLevel(level));
      }
    });
    check("errors: by class", StatementChecks::errors);
    check("warnings", w -> {
      List<String> warnings = w.session.execute("SELECT count(*) FROM kv").getExecutionInfo().getWarnings();
      truth(warnings.toString().contains("Aggregation query used without partition key"), warnings);
    });
    check("tracing", w -> {
      ResultSet result = w.session.execute(SimpleStatement.newInstance("SELECT * FROM kv WHERE k = 'a'").setTracing(true));
      truth(result.getExecutionInfo().getTracingId() != null, "tracing id");
      QueryTrace trace = result.getExecutionInfo().getQueryTrace();
      truth(trace.getDurationMicros() >= 0 && trace.getStartedAt() > 0 && !trace.getEvents().isEmpty(), trace.getEvents());
      equal(trace.getRequestType(), "Execute CQL3 query", "request type");
      truth(trace.getCoordinatorAddress() != null, "coordinator");
    });
    check("custom payload is accepted", w -> w.session.execute(SimpleStatement.newInstance("SELECT * FROM kv WHERE k = 'a'")
        .setCustomPayload(Map.of("key", ByteBuffer.wrap(new byte[] {1})))));
  }

  private static void simple(World w) {
    w.session.execute(SimpleStatement.newInstance("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)", "a", "it's", 1));
    w.session.execute(SimpleStatement.newInstance("INSERT INTO kv (k, v, n) VALUES (:k, :v, :n)", Map.of("n", 2, "k", "b", "v", "named")));
    Row row = w.session.execute("SELECT v, n FROM kv WHERE k = 'b'").one();
    equal(List.of(row.getString(0), row.getInt(1)), List.of("named", 2), "row");
    equal(w.session.execute(SimpleStatement.newInstance("SELECT k FROM kv WHERE k IN ?", List.of("a", "b", "zz"))).all().size(), 2, "rows");
    CqlSession other = w.connect(b -> {});
    row = other.execute(SimpleStatement.newInstance("SELECT v FROM kv WHERE k = 'a'").setKeyspace(w.keyspace)).one();
    equal(row.getString(0), "it's", "keyspace given with the request");
    other.close();
  }

  private static void prepared(World w) {
    PreparedStatement insert = w.session.prepare("INSERT INTO kv (k, v, n) VALUES (:key, :text, :num)");
    equal(insert.getPartitionKeyIndices(), List.of(0), "partition key");
    w.session.execute(insert.boundStatementBuilder().setString("text", "before").setString("key", "p").setInt("num", 5).build());
    w.session.execute(insert.boundStatementBuilder().setString("key", "p").setInt("num", 6).build());
    Row row = w.one("SELECT v, n FROM kv WHERE k = ?", "p");
    equal(List.of(row.getString(0), row.getInt(1)), List.of("before", 6), "unset left the column alone");
    w.session.execute(insert.boundStatementBuilder().setString("key", "p").setToNull("text").build());
    truth(w.one("SELECT v FROM kv WHERE k = ?", "p").isNull(0), "null");
    equal(w.session.prepare("SELECT v FROM " + w.keyspace + ".kv WHERE k = ?").getId(),
        w.session.prepare("SELECT v FROM " + w.keyspace + ".kv WHERE k = ?").getId(), "id");
  }

  private static void reprepare(World w) {
    w.execute("CREATE TABLE altered (k int PRIMARY KEY, a int)", "INSERT INTO altered (k, a) VALUES (1, 10)");
    PreparedStatement select = w.session.prepare("SELECT * FROM altered WHERE k = ?");
    PreparedStatement insert = w.session.prepare("INSERT INTO altered (k, a) VALUES (?, ?)");
    equal(w.session.execute(select.bind(1)).getColumnDefinitions().size(), 2, "columns");
    CqlSession other = w.connectToKeyspace();
    other.execute("ALTER TABLE altered ADD b text");
    other.execute("UPDATE altered SET b = 'new' WHERE k = 1");
    w.session.execute(insert.bind(1, 11));
    Row row = w.session.execute(select.bind(1)).one();
    equal(List.of(row.getInt("a"), row.getString("b")), List.of(11, "new"), "row");
    equal(select.getResultSetDefinitions().size(), 3, "the driver learnt the new columns");
    other.execute("DROP TABLE altered");
    other.execute("CREATE TABLE altered (k int PRIMARY KEY, a int)");
    w.session.execute(insert.bind(1, 12));
    equal(w.session.execute(select.bind(1)).one().getInt("a"), 12, "a");
    other.close();
  }

  private static void builder(World w) {
    w.session.execute(w.session.prepare(insertInto("kv").value("k", bindMarker()).value("v", literal("built")).usingTtl(1000).build()).bind("qb"));
    Row row = w.session.execute(selectFrom(CqlIdentifier.fromCql("kv")).column("v").ttl("v").as("t").whereColumn("k").isEqualTo(literal("qb")).build()).one();
    equal(row.getString("v"), "built", "v");
    truth(row.getInt("t") > 900, row.getInt("t"));
  }

  private static void batches(World w) {
    PreparedStatement insert = w.session.prepare("INSERT INTO kv (k, v) VALUES (?, ?)");
    w.session.execute(BatchStatement.newInstance(DefaultBatchType.LOGGED, insert.bind("b1", "one"),
        SimpleStatement.newInstance("UPDATE kv SET n = ? WHERE k = ?", 7, "b2"), SimpleStatement.newInstance("INSERT INTO kv (k) VALUES ('b3')")));
    equal(w.one("SELECT v FROM kv WHERE k = ?", "b1").getString(0), "one", "b1");
    equal(w.one("SELECT n FROM kv WHERE k = ?", "b2").getInt(0), 7, "b2");
    truth(w.one("SELECT k FROM kv WHERE k = ?", "b3") != null, "b3");
    BatchType unlogged = BatchType.UNLOGGED;
    w.session.execute(BatchStatement.newInstance(unlogged, insert.bind("b4", "x")).setQueryTimestamp(4321));
    equal(w.one("SELECT writetime(v) FROM kv WHERE k = ?", "b4").getLong(0), 4321L, "write time");
    PreparedStatement add = w.session.prepare("UPDATE counts SET c = c + ? WHERE k = ?");
    BatchStatementBuilder counters = BatchStatement.builder(BatchType.COUNTER);
    for (long i = 0; i < 10; i++) {
      counters.addStatement(add.bind(i, "n"));
    }
    w.session.execute(counters.build());
    equal(w.one("SELECT c FROM counts WHERE k = ?", "n").getLong(0), 45L, "counter");
  }

  private static void lwt(World w) {
    PreparedStatement insert = w.session.prepare("INSERT INTO kv (k, v) VALUES (?, ?) IF NOT EXISTS");
    truth(w.session.execute(insert.bind("lwt", "first").setSerialConsistencyLevel(ConsistencyLevel.LOCAL_SERIAL)).wasApplied(), "first insert");
    ResultSet second = w.session.execute(insert.bind("lwt", "second"));
    truth(!second.wasApplied(), "second insert");
    equal(second.one().getString("v"), "first", "the row that is there");
    PreparedStatement update = w.session.prepare("UPDATE kv SET v = ? WHERE k = ? IF v = ?");
    truth(w.session.execute(update.bind("x", "lwt", "first")).wasApplied(), "update");
    truth(!w.session.execute(update.bind("y", "lwt", "first")).wasApplied(), "update again");
    truth(!w.session.execute("DELETE FROM kv WHERE k = 'lwt' IF v = 'first'").wasApplied(), "delete");
    ResultSet batch = w.session.execute(BatchStatement.newInstance(BatchType.LOGGED, insert.bind("lwt", "z")));
    truth(!batch.wasApplied(), "batch");
  }

  private static void times(World w) {
    w.session.execute(SimpleStatement.newInstance("INSERT INTO kv (k, v) VALUES ('ttl', 'x') USING TTL 1000"));
    Row row = w.session.execute("SELECT ttl(v), writetime(v) FROM kv WHERE k = 'ttl'").one();
    truth(row.getInt(0) > 990 && row.getInt(0) <= 1000, row.getInt(0));
    truth(Math.abs(row.getLong(1) / 1000 - System.currentTimeMillis()) < 30_000, row.getLong(1));
    int now = (int) (System.currentTimeMillis() / 1000);
    w.session.execute(SimpleStatement.newInstance("INSERT INTO kv (k, v) VALUES ('now', 'x') USING TTL 100").setNowInSeconds(now));
    SimpleStatement select = SimpleStatement.newInstance("SELECT v FROM kv WHERE k = 'now'");
    truth(w.session.execute(select.setNowInSeconds(now + 50)).one() != null, "gone too early");
    truth(w.session.execute(select.setNowInSeconds(now + 101)).one() == null, "still there");
  }

  private static void errors(World w) {
    refused(SyntaxError.class, "no viable alternative", () -> w.execute("SELEC * FROM kv"));
    refused(InvalidQueryException.class, "does not exist", () -> w.execute("SELECT * FROM absent"));
    refused(InvalidQueryException.class, "Undefined column name nope", () -> w.execute("SELECT nope FROM kv"));
    refused(InvalidQueryException.class, "ALLOW FILTERING", () -> w.execute("SELECT * FROM kv WHERE v = 'x'"));
    refused(InvalidQueryException.class, "", () -> w.session.prepare("SELECT * FROM absent WHERE k = ?"));
    refused(InvalidQueryException.class, "", () -> w.session.execute(w.session.prepare("INSERT INTO kv (k, n) VALUES (?, 1)").bind((Object) null)));
    refused(AlreadyExistsException.class, w.keyspace + ".kv already exists", () -> w.execute("CREATE TABLE kv (k int PRIMARY KEY)"));
    refused(AlreadyExistsException.class, "already exists", () -> w.execute("CREATE KEYSPACE " + w.keyspace + World.SIMPLE));
    refused(InvalidConfigurationInQueryException.class, "", () -> w.execute("CREATE KEYSPACE never WITH replication = {'class': 'NoSuchStrategy'}"));
  }

  private StatementChecks() {}
}
