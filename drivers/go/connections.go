package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
)

const simple = " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

// shortScenario is what every connection must do, whatever its version and wrapping.
func shortScenario(s *gocql.Session, keyspace string) {
	exec(s, "CREATE TABLE IF NOT EXISTS "+keyspace+".short (k text PRIMARY KEY, v text)")
	var lines []string
	for i := 0; i < 30000; i++ {
		lines = append(lines, fmt.Sprint("line ", i*7919))
	}
	text := strings.Join(lines, " ")
	must(s.Query("INSERT INTO "+keyspace+".short (k, v) VALUES (?, ?)", "a", text).Exec())
	var v string
	must(s.Query("SELECT v FROM "+keyspace+".short WHERE k = ?", "a").Scan(&v))
	truth(v == text, "the value of %d bytes came back with %d", len(text), len(v))
	refused(s.Query("SELEC").Exec(), gocql.ErrCodeSyntax, "")
}

func versionCheck(version int, name string, compressor gocql.Compressor) check {
	return check{fmt.Sprintf("protocol: v%d, compression %s", version, name), func(w *world) {
		s := w.connect(inKeyspace(w.keyspace), func(c *gocql.ClusterConfig) { c.ProtoVersion, c.Compressor = version, compressor })
		defer s.Close()
		shortScenario(s, w.keyspace)
	}}
}

func login(w *world, user, password string) *gocql.ClusterConfig {
	return w.config(func(c *gocql.ClusterConfig) {
		c.Port = w.authPort
		c.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: password}
	})
}

// Protocol versions, compression, authentication and TLS.
var connectionChecks = []check{
	versionCheck(3, "none", nil),
	versionCheck(4, "none", nil),
	versionCheck(4, "lz4", &lz4.LZ4Compressor{}),
	versionCheck(4, "snappy", &snappy.SnappyCompressor{}),
	versionCheck(5, "none", nil),
	versionCheck(5, "lz4", &lz4.LZ4Compressor{}),
	{"auth: login, wrong password, permissions", func(w *world) {
		if w.authPort == 0 {
			panic(skip("no server with authentication was given"))
		}
		admin, err := login(w, "cassandra", "cassandra").CreateSession()
		must(err)
		defer admin.Close()
		role := w.keyspace + "_user"
		exec(admin, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role+" WITH PASSWORD = 'secret' AND LOGIN = true",
			"CREATE KEYSPACE IF NOT EXISTS "+w.keyspace+simple)
		shortScenario(admin, w.keyspace)
		_, err = login(w, "cassandra", "wrong").CreateSession()
		truth(err != nil && strings.Contains(err.Error(), "and/or password are incorrect"), "wrong password: %v", err)
		_, err = w.config(func(c *gocql.ClusterConfig) { c.Port = w.authPort }).CreateSession()
		truth(err != nil && strings.Contains(err.Error(), "authentication required"), "no credentials: %v", err)
		user, err := login(w, role, "secret").CreateSession()
		must(err)
		defer user.Close()
		refused(user.Query("SELECT * FROM "+w.keyspace+".short").Exec(), gocql.ErrCodeUnauthorized, role)
		exec(admin, "GRANT SELECT ON "+w.keyspace+".short TO "+role)
		exec(user, "SELECT * FROM "+w.keyspace+".short")
		exec(admin, "DROP ROLE "+role, "DROP KEYSPACE "+w.keyspace)
	}},
	{"tls: verified certificate", func(w *world) {
		if w.tlsPort == 0 {
			panic(skip("no server with TLS was given"))
		}
		pem, err := os.ReadFile(w.tlsCA)
		must(err)
		pool := x509.NewCertPool()
		truth(pool.AppendCertsFromPEM(pem), "certificate of %s", w.tlsCA)
		for _, version := range []int{4, 5} {
			s := w.connect(func(c *gocql.ClusterConfig) {
				c.Port, c.ProtoVersion = w.tlsPort, version
				c.SslOpts = &gocql.SslOptions{Config: &tls.Config{RootCAs: pool, ServerName: "localhost"}, EnableHostVerification: true}
			})
			exec(s, "CREATE KEYSPACE IF NOT EXISTS "+w.keyspace+"_tls"+simple)
			shortScenario(s, w.keyspace+"_tls")
			exec(s, "DROP KEYSPACE "+w.keyspace+"_tls")
			s.Close()
		}
	}},
}
