package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

func (w *world) kv(k string) (v *string, n *int) {
	must(w.session.Query("SELECT v, n FROM kv WHERE k = ?", k).Scan(&v, &n))
	return v, n
}

// Statements with values, prepared statements, batches, LWT, counters, TTL, errors, warnings, tracing.
var statementChecks = []check{
	{"prepared: values, names, unset", func(w *world) {
		must(w.session.Query("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)", "a", "it's", 1).Exec())
		must(w.session.Query("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)", "a", gocql.UnsetValue, 2).Exec())
		v, n := w.kv("a")
		equal(*v, "it's")
		equal(*n, 2)
		must(w.session.Query("INSERT INTO kv (k, v, n) VALUES (:key, :text, :num)", gocql.NamedValue("key", "b"), gocql.NamedValue("text", "named"),
			gocql.NamedValue("num", 3)).Exec())
		v, n = w.kv("b")
		equal(*v, "named")
		equal(*n, 3)
		var keys []string
		scanner := w.session.Query("SELECT k FROM kv WHERE k IN ?", []string{"a", "b", "zz"}).Iter().Scanner()
		for scanner.Next() {
			var k string
			must(scanner.Scan(&k))
			keys = append(keys, k)
		}
		must(scanner.Err())
		equal(keys, []string{"a", "b"})
		equal(w.session.Query("SELECT v FROM kv WHERE k = 'absent'").Scan(&v), gocql.ErrNotFound)
	}},
	{"prepared: again after ALTER, v4 and v5", func(w *world) {
		for _, version := range []int{4, 5} {
			s := w.connect(inKeyspace(w.keyspace), func(c *gocql.ClusterConfig) { c.ProtoVersion = version })
			exec(w.session, "DROP TABLE IF EXISTS altered", "CREATE TABLE altered (k int PRIMARY KEY, a int)")
			must(s.Query("INSERT INTO altered (k, a) VALUES (?, ?)", 1, 10).Exec())
			read := func() map[string]any {
				row := map[string]any{}
				must(s.Query("SELECT * FROM altered WHERE k = ?", 1).MapScan(row))
				return row
			}
			equal(read(), map[string]any{"k": 1, "a": 10})
			exec(w.session, "ALTER TABLE altered ADD b text", "UPDATE altered SET b = 'new' WHERE k = 1")
			must(s.Query("INSERT INTO altered (k, a) VALUES (?, ?)", 1, 11).Exec())
			equal(read(), map[string]any{"k": 1, "a": 11, "b": "new"})
			s.Close()
		}
	}},
	{"batch: logged, unlogged, counter", func(w *world) {
		b := w.session.Batch(gocql.LoggedBatch).Query("INSERT INTO kv (k, v) VALUES (?, ?)", "b1", "one").
			Query("UPDATE kv SET n = ? WHERE k = ?", 7, "b2").Query("INSERT INTO kv (k, v) VALUES ('b3', 'three')")
		must(b.Exec())
		v, _ := w.kv("b1")
		equal(*v, "one")
		_, n := w.kv("b2")
		equal(*n, 7)
		must(w.session.Batch(gocql.UnloggedBatch).Query("INSERT INTO kv (k, v) VALUES (?, ?)", "b4", "unlogged").WithTimestamp(4321).Exec())
		var written int64
		must(w.session.Query("SELECT writetime(v) FROM kv WHERE k = 'b4'").Scan(&written))
		equal(written, int64(4321))
		counters := w.session.Batch(gocql.CounterBatch)
		for i := 0; i < 10; i++ {
			counters.Query("UPDATE counts SET c = c + ? WHERE k = ?", int64(i), "n")
		}
		must(counters.Exec())
		var c int64
		must(w.session.Query("SELECT c FROM counts WHERE k = 'n'").Scan(&c))
		equal(c, int64(45))
	}},
	{"lwt: applied and not applied", func(w *world) {
		var k, v string
		var n *int
		cas := func(text string, values ...any) bool {
			row := map[string]any{}
			applied, err := w.session.Query(text, values...).SerialConsistency(gocql.LocalSerial).MapScanCAS(row)
			must(err)
			return applied
		}
		insert := "INSERT INTO kv (k, v) VALUES (?, ?) IF NOT EXISTS"
		equal(cas(insert, "lwt", "first"), true)
		applied, err := w.session.Query(insert, "lwt", "second").ScanCAS(&k, &n, &v)
		must(err)
		equal([]any{applied, k, v}, []any{false, "lwt", "first"})
		equal(cas("UPDATE kv SET v = ? WHERE k = ? IF v = ?", "x", "lwt", "first"), true)
		equal(cas("DELETE FROM kv WHERE k = ? IF v = ?", "lwt", "first"), false)
		equal(cas("UPDATE kv SET n = 1 WHERE k = 'absent' IF EXISTS"), false)
		batch := w.session.Batch(gocql.LoggedBatch).Query(insert, "lwt", "again")
		applied, iter, err := batch.MapExecCAS(map[string]any{})
		must(err)
		must(iter.Close())
		equal(applied, false)
	}},
	{"ttl, write time, timestamps", func(w *world) {
		must(w.session.Query("INSERT INTO kv (k, v) VALUES (?, ?) USING TTL ?", "ttl", "x", 1000).Exec())
		var ttl int
		var written int64
		must(w.session.Query("SELECT ttl(v), writetime(v) FROM kv WHERE k = 'ttl'").Scan(&ttl, &written))
		truth(ttl > 990 && ttl <= 1000, "ttl %d", ttl)
		truth(time.Since(time.UnixMicro(written)).Abs() < 30*time.Second, "write time %d", written)
		must(w.session.Query("INSERT INTO kv (k, v) VALUES ('stamp', 'x')").WithTimestamp(1234567).Exec())
		must(w.session.Query("SELECT writetime(v) FROM kv WHERE k = 'stamp'").Scan(&written))
		equal(written, int64(1234567))
	}},
	{"now in seconds given with the request (v5)", func(w *world) {
		now := int(time.Now().Unix())
		must(w.session.Query("INSERT INTO kv (k, v) VALUES ('now', 'x') USING TTL 100").WithNowInSeconds(now).Exec())
		var v *string
		must(w.session.Query("SELECT v FROM kv WHERE k = 'now'").WithNowInSeconds(now + 50).Scan(&v))
		truth(v != nil, "the cell is gone too early")
		err := w.session.Query("SELECT v FROM kv WHERE k = 'now'").WithNowInSeconds(now + 101).Scan(&v)
		truth(errors.Is(err, gocql.ErrNotFound), "the row is still there: %v", err)
	}},
	{"keyspace given with the request (v5)", func(w *world) {
		s := w.connect(func(c *gocql.ClusterConfig) { c.ProtoVersion = 5 })
		defer s.Close()
		var n int
		must(s.Query("SELECT n FROM kv WHERE k = ?", "a").SetKeyspace(w.keyspace).Scan(&n))
		equal(n, 2)
	}},
	{"errors: by class", func(w *world) {
		run := func(text string, values ...any) error { return w.session.Query(text, values...).Exec() }
		refused(run("SELEC * FROM kv"), gocql.ErrCodeSyntax, "no viable alternative")
		refused(run("SELECT * FROM absent"), gocql.ErrCodeInvalid, "does not exist")
		refused(run("SELECT nope FROM kv"), gocql.ErrCodeInvalid, "Undefined column name nope")
		refused(run("SELECT * FROM kv WHERE v = ?", "x"), gocql.ErrCodeInvalid, "ALLOW FILTERING")
		refused(run("CREATE KEYSPACE never WITH replication = {'class': 'NoSuchStrategy', 'replication_factor': 1}"), gocql.ErrCodeConfig, "")
		err := run("CREATE TABLE kv (k int PRIMARY KEY)")
		refused(err, gocql.ErrCodeAlreadyExists, "")
		var exists *gocql.RequestErrAlreadyExists
		truth(errors.As(err, &exists), "error type %T", err)
		equal([]string{exists.Keyspace, exists.Table}, []string{w.keyspace, "kv"})
	}},
	{"warnings", func(w *world) {
		iter := w.session.Query("SELECT count(*) FROM kv").Iter()
		warnings := iter.Warnings()
		must(iter.Close())
		truth(strings.Contains(fmt.Sprint(warnings), "Aggregation query used without partition key"), "warnings %v", warnings)
	}},
	{"tracing", func(w *world) {
		var out bytes.Buffer
		var k string
		must(w.session.Query("SELECT k FROM kv WHERE k = 'a'").Trace(gocql.NewTraceWriter(w.session, &out)).Scan(&k))
		truth(strings.Contains(out.String(), "Tracing session") && strings.Contains(out.String(), "coordinator"), "trace %q", out.String())
	}},
	{"context: a cancelled request does not spoil the session", func(w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err := w.session.Query("SELECT k FROM kv").ExecContext(ctx)
		truth(errors.Is(err, context.Canceled), "error %v", err)
		var k string
		must(w.session.Query("SELECT k FROM kv WHERE k = 'a'").Scan(&k))
	}},
}
