package partita.drivers;

import static partita.drivers.Main.check;
import static partita.drivers.World.equal;
import static partita.drivers.World.truth;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PagingState;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** A bucketed table: statements without buckets, pages over many of them, and a paging state handed to another process. */
final class BucketChecks {
  private static final int DAYS = 30;
  private static final int PER_DAY = 20;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final String SELECT = "SELECT n FROM bucketed WHERE tenant = 'acme' AND case_id = 7";

  private static List<Integer> numbers(Iterable<Row> rows) {
    List<Integer> found = new ArrayList<>();
    rows.forEach(row -> found.add(row.getInt(0)));
    return found;
  }

  private static List<Integer> expected() {
    List<Integer> all = new ArrayList<>();
    for (int n = DAYS * PER_DAY - 1; n >= 0; n--) {
      all.add(n);
    }
    return all;
  }

  private static void onPartita(World w) {
    if (!w.target.equals("partita")) {
      throw new Main.Skip("Cassandra has no buckets");
    }
  }

  static void register() {
    check("buckets: 600 rows in 30 days and 4 hash buckets", w -> {
      onPartita(w);
      w.execute("CREATE TABLE bucketed (tenant text, case_id int, at timestamp, n int, PRIMARY KEY ((tenant, case_id), at, n)) "
          + "WITH CLUSTERING ORDER BY (at DESC, n DESC) AND bucketing = {'by': 'at', 'every': '1d', 'hash': 'n', 'into': 4}");
      PreparedStatement insert = w.session.prepare("INSERT INTO bucketed (tenant, case_id, at, n) VALUES (?, ?, ?, ?)");
      for (int n = 0; n < DAYS * PER_DAY; n++) {
        Instant at = START.plus(Duration.ofDays(n / PER_DAY)).plus(Duration.ofMinutes(n % PER_DAY));
        w.session.execute(insert.bind("acme", 7, at, n));
      }
    });
    check("buckets: pages of any size, both ways", w -> {
      onPartita(w);
      for (int size : new int[] {7, 100, 5000}) {
        equal(numbers(w.session.execute(SimpleStatement.newInstance(SELECT).setPageSize(size))), expected(), "rows");
      }
      PreparedStatement up = w.session.prepare(SELECT + " AND at >= ? ORDER BY at ASC LIMIT 50");
      List<Integer> found = numbers(w.session.execute(up.bind(START.plus(Duration.ofDays(10))).setPageSize(11)));
      equal(List.of(found.size(), found.get(0), found.get(49)), List.of(50, 200, 249), "upwards");
    });
    check("buckets: a state goes to another process", w -> {
      onPartita(w);
      ResultSet first = w.session.execute(SimpleStatement.newInstance(SELECT).setPageSize(123));
      List<Integer> found = new ArrayList<>();
      for (int n = first.getAvailableWithoutFetching(); n > 0; n--) {
        found.add(first.one().getInt(0));
      }
      PagingState state = first.getExecutionInfo().getSafePagingState();
      truth(state != null, "a paging state");
      String java = ProcessHandle.current().info().command().orElse("java");
      ProcessBuilder child = new ProcessBuilder(
          java, "-Xmx256M", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), "partita.drivers.BucketChecks$GoOn", state.toString());
      Process process = child.redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      equal(process.waitFor(), 0, "exit code");
      for (String number : out.trim().split("\\s+")) {
        found.add(Integer.valueOf(number));
      }
      equal(found, expected(), "rows of both processes");
    });
  }

  /** Prints the rows behind a paging state of another process. */
  static final class GoOn {
    public static void main(String[] args) throws Exception {
      World world = new World();
      try (CqlSession session = world.connectToKeyspace()) {
        SimpleStatement statement = SimpleStatement.newInstance(SELECT).setPageSize(50);
        numbers(session.execute(statement.setPagingState(PagingState.fromString(args[0])))).forEach(System.out::println);
      }
    }

    private GoOn() {}
  }

  private BucketChecks() {}
}
