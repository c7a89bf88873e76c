package main

import (
	"context"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// Connecting, DDL, metadata and schema events.
var schemaChecks = []check{
	{"connect", func(w *world) {
		w.session = w.connect()
		var version, dc string
		must(w.session.Query("SELECT release_version, data_center FROM system.local WHERE key = 'local'").Scan(&version, &dc))
		truth(version[:3] == "5.0", "release_version %s", version)
		equal(dc, "datacenter1")
		hosts := w.session.GetHosts()
		equal(len(hosts), 1)
		equal(hosts[0].Port(), w.port)
		truth(len(hosts[0].Tokens()) >= 1 && hosts[0].HostID() != "" && hosts[0].IsUp(), "host %v", hosts[0])
	}},
	{"ddl: keyspace, types, tables, schema agreement", func(w *world) {
		exec(w.session, "DROP KEYSPACE IF EXISTS "+w.keyspace,
			"CREATE KEYSPACE "+w.keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		w.session.Close()
		w.session = w.connect(inKeyspace(w.keyspace))
		exec(w.session,
			"CREATE TYPE address (street text, zip int, tags frozen<set<text>>)",
			"CREATE TYPE person (name text, home frozen<address>, phones map<text, text>)",
			"CREATE TABLE kv (k text PRIMARY KEY, v text, n int)",
			"CREATE TABLE counts (k text PRIMARY KEY, c counter)",
			`CREATE TABLE events (tenant uuid, day date, at timestamp, seq int, body text, label text static, PRIMARY KEY ((tenant, day), at, seq))
			 WITH CLUSTERING ORDER BY (at DESC, seq ASC) AND comment = 'events of a day'`)
		must(w.session.AwaitSchemaAgreement(context.Background()))
	}},
	{"metadata: tables, columns, types", func(w *world) {
		eventually("table in metadata", func() bool {
			ks, err := w.session.KeyspaceMetadata(w.keyspace)
			return err == nil && ks.Tables["events"] != nil
		})
		ks, err := w.session.KeyspaceMetadata(w.keyspace)
		must(err)
		equal(ks.StrategyClass, "org.apache.cassandra.locator.SimpleStrategy")
		events := ks.Tables["events"]
		equal([]string{events.PartitionKey[0].Name, events.PartitionKey[1].Name}, []string{"tenant", "day"})
		equal([]string{events.ClusteringColumns[0].Name, events.ClusteringColumns[1].Name}, []string{"at", "seq"})
		equal([]gocql.ColumnOrder{events.ClusteringColumns[0].Order, events.ClusteringColumns[1].Order}, []gocql.ColumnOrder{gocql.DESC, gocql.ASC})
		equal(events.Columns["label"].Kind, gocql.ColumnStatic)
		equal(events.Columns["tenant"].Type.Type(), gocql.TypeUUID)
		equal(ks.UserTypes["person"].FieldNames, []string{"name", "home", "phones"})
		_, err = w.session.KeyspaceMetadata("nowhere")
		truth(err != nil, "metadata of an absent keyspace")
	}},
	{"metadata: statement metadata", func(w *world) {
		meta, err := w.session.StatementMetadata(context.Background(), "SELECT k, n FROM kv WHERE k = ?", w.keyspace)
		must(err)
		equal(len(meta.BindColumns), 1)
		equal(meta.BindColumns[0].Name, "k")
		equal(len(meta.ResultColumns), 2)
		equal(meta.PKBindColumnIndexes, []int{0})
	}},
	{"events: a second session sees schema changes", func(w *world) {
		seen := &listener{seen: map[string]bool{}}
		other := w.connect(func(c *gocql.ClusterConfig) {
			c.Metadata.SchemaListener = gocql.SchemaListenersConfig{KeyspaceChangeListener: seen, TableChangeListener: seen, UserTypeChangeListener: seen}
		})
		defer other.Close()
		name := w.keyspace + "_seen"
		exec(w.session, "CREATE TABLE seen (k int PRIMARY KEY)")
		seen.wait("table created seen")
		exec(w.session, "ALTER TABLE seen ADD b int")
		seen.wait("table updated seen")
		exec(w.session, "DROP TABLE seen", "CREATE TYPE seen_type (a int)")
		seen.wait("table dropped seen")
		seen.wait("type created seen_type")
		exec(w.session, "DROP TYPE seen_type", "CREATE KEYSPACE "+name+" WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}")
		seen.wait("type dropped seen_type")
		seen.wait("keyspace created " + name)
		exec(w.session, "DROP KEYSPACE "+name)
		seen.wait("keyspace dropped " + name)
	}},
}

// listener records the schema events that reach a session.
type listener struct {
	lock sync.Mutex
	seen map[string]bool
}

func (l *listener) note(text string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.seen[text] = true
}

func (l *listener) wait(text string) {
	eventually("event: "+text, func() bool {
		l.lock.Lock()
		defer l.lock.Unlock()
		return l.seen[text]
	})
}

func (l *listener) OnKeyspaceCreated(e gocql.OnKeyspaceCreatedEvent) {
	l.note("keyspace created " + e.Keyspace.Name)
}
func (l *listener) OnKeyspaceUpdated(e gocql.OnKeyspaceUpdatedEvent) {
	l.note("keyspace updated " + e.New.Name)
}
func (l *listener) OnKeyspaceDropped(e gocql.OnKeyspaceDroppedEvent) {
	l.note("keyspace dropped " + e.Keyspace.Name)
}
func (l *listener) OnTableCreated(e gocql.OnTableCreatedEvent) {
	l.note("table created " + e.Table.Name)
}
func (l *listener) OnTableUpdated(e gocql.OnTableUpdatedEvent) { l.note("table updated " + e.New.Name) }
func (l *listener) OnTableDropped(e gocql.OnTableDroppedEvent) {
	l.note("table dropped " + e.Table.Name)
}
func (l *listener) OnUserTypeCreated(e gocql.OnUserTypeCreatedEvent) {
	l.note("type created " + e.UserType.Name)
}
func (l *listener) OnUserTypeUpdated(e gocql.OnUserTypeUpdatedEvent) {
	l.note("type updated " + e.New.Name)
}
func (l *listener) OnUserTypeDropped(e gocql.OnUserTypeDroppedEvent) {
	l.note("type dropped " + e.UserType.Name)
}
