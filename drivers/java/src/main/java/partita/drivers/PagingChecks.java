package partita.drivers;

import static partita.drivers.Main.check;
import static partita.drivers.World.equal;
import static partita.drivers.World.truth;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PagingState;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;

/** Many requests in flight, and paging over 10,000 rows. */
final class PagingChecks {
  static void register() {
    check("async: 10,000 inserts", w -> {
      w.execute("CREATE TABLE paged (p int, c int, v text, PRIMARY KEY (p, c))");
      PreparedStatement insert = w.session.prepare("INSERT INTO paged (p, c, v) VALUES (?, ?, ?)");
      Semaphore room = new Semaphore(200);
      List<CompletionStage<AsyncResultSet>> sent = new ArrayList<>();
      for (int i = 0; i < 10_000; i++) {
        room.acquire();
        sent.add(w.session.executeAsync(insert.bind(i % 10, i / 10, "value " + i)).whenComplete((r, e) -> room.release()));
      }
      for (CompletionStage<AsyncResultSet> one : sent) {
        one.toCompletableFuture().get();
      }
    });
    check("async: answers reach their askers", w -> {
      PreparedStatement select = w.session.prepare("SELECT v FROM paged WHERE p = ? AND c = ?");
      List<CompletionStage<String>> asked = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        asked.add(w.session.executeAsync(select.bind(i % 10, i / 10)).thenApply(r -> r.one().getString(0)));
      }
      for (int i = 0; i < 1000; i++) {
        equal(asked.get(i).toCompletableFuture().get(), "value " + i, "answer");
      }
    });
    check("paging: 10,000 rows, 100 a page", w -> {
      Set<Long> seen = new HashSet<>();
      ResultSet result = w.session.execute(SimpleStatement.newInstance("SELECT p, c FROM paged").setPageSize(100));
      truth(result.getAvailableWithoutFetching() == 100 && !result.isFullyFetched(), result.getAvailableWithoutFetching());
      result.forEach(r -> seen.add(r.getInt(0) * 100_000L + r.getInt(1)));
      equal(seen.size(), 10_000, "rows");
      truth(result.getExecutionInfos().size() >= 100, result.getExecutionInfos().size());
      int next = 0;
      for (Row row : w.session.execute(w.session.prepare("SELECT c FROM paged WHERE p = ?").bind(3).setPageSize(90))) {
        equal(row.getInt(0), next++, "order");
      }
      equal(next, 1000, "rows of one partition");
    });
    check("paging: state handed to another session", w -> {
      SimpleStatement statement = SimpleStatement.newInstance("SELECT p, c FROM paged").setPageSize(777);
      Set<Long> seen = new HashSet<>();
      CqlSession[] sessions = {w.session, w.connectToKeyspace()};
      PagingState state = null;
      for (int page = 0; page == 0 || state != null; page++) {
        ResultSet result = sessions[page % 2].execute(state == null ? statement : statement.setPagingState(PagingState.fromString(state.toString())));
        for (int n = result.getAvailableWithoutFetching(); n > 0; n--) {
          Row row = result.one();
          seen.add(row.getInt(0) * 100_000L + row.getInt(1));
        }
        state = result.getExecutionInfo().getSafePagingState();
      }
      equal(seen.size(), 10_000, "rows");
      sessions[1].close();
    });
    check("paging: reactive", w -> {
      var count = new java.util.concurrent.CompletableFuture<Integer>();
      w.session.executeReactive(SimpleStatement.newInstance("SELECT c FROM paged WHERE p = 4").setPageSize(100)).subscribe(new Counter(count));
      equal(count.get(), 1000, "rows");
    });
  }

  /** Counts the rows of a reactive result. */
  private record Counter(java.util.concurrent.CompletableFuture<Integer> done, int[] count)
      implements org.reactivestreams.Subscriber<com.datastax.dse.driver.api.core.cql.reactive.ReactiveRow> {
    Counter(java.util.concurrent.CompletableFuture<Integer> done) {
      this(done, new int[1]);
    }

    @Override public void onSubscribe(org.reactivestreams.Subscription s) { s.request(Long.MAX_VALUE); }
    @Override public void onNext(com.datastax.dse.driver.api.core.cql.reactive.ReactiveRow row) { count[0]++; }
    @Override public void onError(Throwable t) { done.completeExceptionally(t); }
    @Override public void onComplete() { done.complete(count[0]); }
  }

  private PagingChecks() {}
}
