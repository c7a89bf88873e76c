// Command go-client checks the gocql driver against a CQL server: one line per check, exit 1 when any failed.
//
// A check is a function that panics when something is wrong; `must` and `equal` do that. It passes when it returns.
package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

type check struct {
	name string
	run  func(w *world)
}

type skip string

// world is what to connect to, and the session that most checks share.
type world struct {
	target, host, tlsCA, keyspace string
	port, authPort, tlsPort       int
	session                       *gocql.Session
}

func env(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}

func envPort(name string, fallback int) int {
	n, err := strconv.Atoi(env(name, strconv.Itoa(fallback)))
	if err != nil {
		panic(err)
	}
	return n
}

// config is a cluster on the plain port; the caller changes what it needs.
func (w *world) config(change ...func(c *gocql.ClusterConfig)) *gocql.ClusterConfig {
	c := gocql.NewCluster(w.host)
	c.Port = w.port
	c.Timeout, c.ConnectTimeout = 30*time.Second, 20*time.Second
	c.Consistency = gocql.One
	c.Logger = gocql.NewLogger(gocql.LogLevelError)
	c.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: 100 * time.Millisecond}
	for _, f := range change {
		f(c)
	}
	return c
}

func (w *world) connect(change ...func(c *gocql.ClusterConfig)) *gocql.Session {
	s, err := w.config(change...).CreateSession()
	must(err)
	return s
}

func inKeyspace(name string) func(*gocql.ClusterConfig) {
	return func(c *gocql.ClusterConfig) { c.Keyspace = name }
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func equal(found, wanted any) {
	if !reflect.DeepEqual(found, wanted) {
		panic(fmt.Sprintf("found %v (%T), wanted %v (%T)", found, found, wanted, wanted))
	}
}

func truth(ok bool, what string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(what, args...))
	}
}

// refused checks that the error came from the server with this code; it returns the server's text.
func refused(err error, code int, part string) {
	request, ok := err.(gocql.RequestError)
	truth(ok, "wanted error %#x, found %v (%T)", code, err, err)
	truth(request.Code() == code, "wanted error %#x, found %#x: %v", code, request.Code(), err)
	truth(strings.Contains(request.Message(), part), "%q is not in %q", part, request.Message())
}

func exec(s *gocql.Session, texts ...string) {
	for _, text := range texts {
		if err := s.Query(text).Exec(); err != nil {
			panic(fmt.Sprintf("%s: %v", text, err))
		}
	}
}

// eventually polls for something that another session's event brings about.
func eventually(what string, condition func() bool) {
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if condition() {
			return
		}
	}
	panic(what + " did not become true")
}

func runOne(c check, w *world) (failed bool) {
	begun := time.Now()
	defer func() {
		switch problem := recover().(type) {
		case nil:
			fmt.Printf("ok %s  # %.2f s\n", c.name, time.Since(begun).Seconds())
		case skip:
			fmt.Printf("skip %s: %s\n", c.name, string(problem))
		default:
			failed = true
			fmt.Printf("FAIL %s: %.600s\n", c.name, strings.Join(strings.Fields(fmt.Sprint(problem)), " "))
			fmt.Fprintf(os.Stderr, "%s: %v\n%s\n", c.name, problem, debug.Stack())
		}
	}()
	c.run(w)
	return false
}

func main() {
	w := &world{
		target: env("TARGET", "partita"), host: env("CQL_HOST", "127.0.0.1"), tlsCA: env("CQL_TLS_CA", ""),
		keyspace: env("CQL_KEYSPACE", "drv_go"),
		port:     envPort("CQL_PORT", 9042), authPort: envPort("CQL_AUTH_PORT", 0), tlsPort: envPort("CQL_TLS_PORT", 0),
	}
	if state := os.Getenv(stateVariable); state != "" {
		goOn(w, state)
		return
	}
	failed := false
	for _, list := range [][]check{schemaChecks, typeChecks, statementChecks, pagingChecks, bucketChecks, connectionChecks} {
		for _, c := range list {
			if only := os.Getenv("CHECK"); only != "" && !strings.Contains(c.name, only) &&
				!strings.HasPrefix(c.name, "connect") && !strings.HasPrefix(c.name, "ddl") {
				continue
			}
			failed = runOne(c, w) || failed
		}
	}
	if w.session != nil {
		w.session.Close()
	}
	if failed {
		os.Exit(1)
	}
}
