package partita.drivers;

import static partita.drivers.Main.check;
import static partita.drivers.World.equal;
import static partita.drivers.World.refused;
import static partita.drivers.World.truth;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.auth.AuthenticationException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import com.datastax.oss.driver.internal.core.specex.ConstantSpeculativeExecutionPolicy;
import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Protocol versions, compression, profiles, speculative execution, authentication and TLS. */
final class ConnectionChecks {
  /** What every connection must do, whatever its version and wrapping. */
  private static void shortScenario(CqlSession s, String keyspace) {
    s.execute("CREATE TABLE IF NOT EXISTS " + keyspace + ".short (k text PRIMARY KEY, v text)");
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 30_000; i++) {
      text.append("line ").append(i * 7919).append(' ');
    }
    PreparedStatement insert = s.prepare("INSERT INTO " + keyspace + ".short (k, v) VALUES (?, ?)");
    s.execute(insert.bind("a", text.toString()));
    equal(s.execute("SELECT v FROM " + keyspace + ".short WHERE k = 'a'").one().getString(0), text.toString(), "large value");
    refused(SyntaxError.class, "", () -> s.execute("SELEC"));
  }

  static void register() {
    for (String version : new String[] {"V3", "V4", "V5"}) {
      for (String compression : new String[] {"none", "lz4", "snappy"}) {
        if (version.equals("V5") && compression.equals("snappy")) {
          continue; // v5 has no snappy
        }
        check("protocol: " + version.toLowerCase() + ", compression " + compression, w -> {
          CqlSession s = w.connect(w.port, World.options().withString(DefaultDriverOption.PROTOCOL_VERSION, version)
              .withString(DefaultDriverOption.PROTOCOL_COMPRESSION, compression), b -> b.withKeyspace(w.keyspace));
          equal(s.getContext().getProtocolVersion().name(), version, "version");
          shortScenario(s, w.keyspace);
          s.close();
        });
      }
    }
    check("profiles and speculative execution", ConnectionChecks::profiles);
    check("auth: login, wrong password, permissions", ConnectionChecks::auth);
    check("tls: verified certificate", ConnectionChecks::tls);
  }

  private static void profiles(World w) {
    CqlSession s = w.connect(w.port, World.options()
        .startProfile("speculative")
        .withString(DefaultDriverOption.REQUEST_CONSISTENCY, "QUORUM")
        .withClass(DefaultDriverOption.SPECULATIVE_EXECUTION_POLICY_CLASS, ConstantSpeculativeExecutionPolicy.class)
        .withInt(DefaultDriverOption.SPECULATIVE_EXECUTION_MAX, 3)
        .withDuration(DefaultDriverOption.SPECULATIVE_EXECUTION_DELAY, Duration.ofMillis(1))
        .endProfile(), b -> b.withKeyspace(w.keyspace));
    for (int i = 0; i < 20; i++) {
      SimpleStatement statement = SimpleStatement.newInstance("SELECT v FROM paged WHERE p = 1 AND c = ?", i)
          .setExecutionProfileName("speculative").setIdempotent(true);
      equal(s.execute(statement).one().getString(0), "value " + (i * 10 + 1), "value");
    }
    s.close();
  }

  private static void auth(World w) {
    if (w.authPort == 0) {
      throw new Main.Skip("no server with authentication was given");
    }
    CqlSession admin = w.connect(w.authPort, World.options(), b -> b.withAuthCredentials("cassandra", "cassandra"));
    String role = w.keyspace + "_user";
    admin.execute("DROP ROLE IF EXISTS " + role);
    admin.execute("CREATE ROLE " + role + " WITH PASSWORD = 'secret' AND LOGIN = true");
    admin.execute("CREATE KEYSPACE IF NOT EXISTS " + w.keyspace + World.SIMPLE);
    shortScenario(admin, w.keyspace);
    for (String[] login : new String[][] {{"cassandra", "wrong"}, {"nobody", "x"}, null}) {
      AllNodesFailedException failed = refused(AllNodesFailedException.class, "",
          () -> w.connect(w.authPort, World.options(), b -> {
            if (login != null) {
              b.withAuthCredentials(login[0], login[1]);
            }
          }));
      truth(failed.getAllErrors().values().stream().flatMap(l -> l.stream()).allMatch(e -> e instanceof AuthenticationException), failed.getAllErrors());
    }
    CqlSession user = w.connect(w.authPort, World.options(), b -> b.withAuthCredentials(role, "secret"));
    refused(UnauthorizedException.class, role, () -> user.execute("SELECT * FROM " + w.keyspace + ".short"));
    admin.execute("GRANT SELECT ON " + w.keyspace + ".short TO " + role);
    user.execute("SELECT * FROM " + w.keyspace + ".short");
    user.close();
    admin.execute("DROP ROLE " + role);
    admin.execute("DROP KEYSPACE " + w.keyspace);
    admin.close();
  }

  private static void tls(World w) throws Exception {
    if (w.tlsPort == 0) {
      throw new Main.Skip("no server with TLS was given");
    }
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null);
    try (InputStream in = new FileInputStream(w.tlsCa)) {
      trusted.setCertificateEntry("server", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    CqlSession s = w.connect(w.tlsPort, World.options(), b -> b.withSslContext(context));
    s.execute("CREATE KEYSPACE IF NOT EXISTS " + w.keyspace + "_tls" + World.SIMPLE);
    shortScenario(s, w.keyspace + "_tls");
    s.execute("DROP KEYSPACE " + w.keyspace + "_tls");
    s.close();
  }

  private ConnectionChecks() {}
}
