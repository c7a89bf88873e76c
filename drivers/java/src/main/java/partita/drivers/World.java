package partita.drivers;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.cql.Row;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** What to connect to, the session that most checks share, and the comparisons that fail a check. */
final class World {
  static final String SIMPLE = " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

  final String target = variable("TARGET", "partita");
  final String host = variable("CQL_HOST", "127.0.0.1");
  final int port = Integer.parseInt(variable("CQL_PORT", "9042"));
  final int authPort = Integer.parseInt(variable("CQL_AUTH_PORT", "0"));
  final int tlsPort = Integer.parseInt(variable("CQL_TLS_PORT", "0"));
  final String tlsCa = variable("CQL_TLS_CA", "");
  final String keyspace = variable("CQL_KEYSPACE", "drv_java");
  CqlSession session;
  private final List<CqlSession> open = new ArrayList<>();

  private static String variable(String name, String fallback) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? fallback : value;
  }

  /** Options that every session has: patience for a busy machine. */
  static ProgrammaticDriverConfigLoaderBuilder options() {
    return DriverConfigLoader.programmaticBuilder()
        .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30))
        .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, Duration.ofMillis(1))
        .withDuration(DefaultDriverOption.CONNECTION_SET_KEYSPACE_TIMEOUT, Duration.ofSeconds(20))
        // Without these two, closing a session waits four seconds for its thread pools.
        .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
        .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0);
  }

  CqlSession connect(int port, ProgrammaticDriverConfigLoaderBuilder options, Consumer<CqlSessionBuilder> change) {
    CqlSessionBuilder builder = CqlSession.builder()
        .addContactPoint(new InetSocketAddress(host, port))
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(options.build());
    change.accept(builder);
    CqlSession made = builder.build();
    open.add(made);
    return made;
  }

  CqlSession connect(Consumer<CqlSessionBuilder> change) {
    return connect(port, options(), change);
  }

  CqlSession connectToKeyspace() {
    return connect(b -> b.withKeyspace(keyspace));
  }

  void execute(String... texts) {
    for (String text : texts) {
      session.execute(text);
    }
  }

  Row one(String text, Object... values) {
    return session.execute(session.prepare(text).bind(values)).one();
  }

  void close() {
    open.forEach(CqlSession::close);
  }

  static void equal(Object found, Object wanted, String what) {
    if (!Objects.deepEquals(found, wanted)) {
      throw new AssertionError(what + ": found " + found + ", wanted " + wanted);
    }
  }

  static void truth(boolean ok, Object what) {
    if (!ok) {
      throw new AssertionError(String.valueOf(what));
    }
  }

  interface Action {
    void run() throws Exception;
  }

  /** Runs the action, which must throw this kind of exception with this text in its message. */
  static <E extends Throwable> E refused(Class<E> kind, String part, Action action) {
    try {
      action.run();
    } catch (Throwable problem) {
      if (!kind.isInstance(problem)) {
        throw new AssertionError("wanted " + kind.getSimpleName() + ", found " + problem, problem);
      }
      truth(String.valueOf(problem.getMessage()).contains(part), part + " is not in: " + problem.getMessage());
      return kind.cast(problem);
    }
    throw new AssertionError("no " + kind.getSimpleName() + " was thrown");
  }

  /** Polls for something that another session's event brings about. */
  static void eventually(String what, BooleanSupplier condition) throws InterruptedException {
    for (long end = System.nanoTime() + 15_000_000_000L; System.nanoTime() < end; Thread.sleep(20)) {
      if (condition.getAsBoolean()) {
        return;
      }
    }
    throw new AssertionError(what + " did not become true");
  }
}
