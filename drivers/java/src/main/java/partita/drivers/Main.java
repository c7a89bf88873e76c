package partita.drivers;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

/** Runs every check of the Java driver: one line per check, exit 1 when any failed. */
public final class Main {
  interface Body {
    void run(World world) throws Exception;
  }

  record Check(String name, Body body) {}

  /** Thrown by a check that does not apply; the message is the reason. */
  static final class Skip extends RuntimeException {
    Skip(String reason) {
      super(reason);
    }
  }

  static final List<Check> CHECKS = new ArrayList<>();

  static void check(String name, Body body) {
    CHECKS.add(new Check(name, body));
  }

  public static void main(String[] args) {
    SchemaChecks.register();
    TypeChecks.register();
    StatementChecks.register();
    PagingChecks.register();
    BucketChecks.register();
    MapperChecks.register();
    ConnectionChecks.register();
    World world = new World();
    String only = System.getenv().getOrDefault("CHECK", "");
    boolean failed = false;
    for (Check check : CHECKS) {
      if (!check.name().contains(only) && !check.name().startsWith("connect") && !check.name().startsWith("ddl")) {
        continue;
      }
      long begun = System.nanoTime();
      try {
        check.body().run(world);
        System.out.printf("ok %s  # %.2f s%n", check.name(), (System.nanoTime() - begun) / 1e9);
      } catch (Skip reason) {
        System.out.printf("skip %s: %s%n", check.name(), reason.getMessage());
      } catch (Throwable problem) {
        failed = true;
        String text = problem.toString().replaceAll("\\s+", " ");
        System.out.printf("FAIL %s: %s%n", check.name(), text.substring(0, Math.min(600, text.length())));
        StringWriter trace = new StringWriter();
        problem.printStackTrace(new PrintWriter(trace));
        System.err.println(check.name() + ": " + trace);
      }
    }
    world.close();
    System.exit(failed ? 1 : 0);
  }

  private Main() {}
}
