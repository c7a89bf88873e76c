package main

import (
	"encoding/hex"
	"fmt"
	"os"
	command "os/exec"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// A bucketed table: statements without buckets, pages over many of them, and a paging state handed to another process.

const (
	bucketDays   = 30
	bucketPerDay = 20
	bucketSelect = "SELECT n FROM bucketed WHERE tenant = 'acme' AND case_id = 7"
	// stateVariable holds the paging state that a child process goes on from.
	stateVariable = "BUCKETS_STATE"
)

var bucketStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func onPartita(w *world) {
	if w.target != "partita" {
		panic(skip("Cassandra has no buckets"))
	}
}

func descending(from, to int) []int {
	var numbers []int
	for n := from; n >= to; n-- {
		numbers = append(numbers, n)
	}
	return numbers
}

func numbers(query *gocql.Query) []int {
	var found []int
	var n int
	iter := query.Iter()
	for iter.Scan(&n) {
		found = append(found, n)
	}
	must(iter.Close())
	return found
}

var bucketChecks = []check{
	{"buckets: 600 rows in 30 days and 4 hash buckets", func(w *world) {
		onPartita(w)
		create := "CREATE TABLE bucketed (tenant text, case_id int, at timestamp, n int, PRIMARY KEY ((tenant, case_id), at, n)) " +
			"WITH CLUSTERING ORDER BY (at DESC, n DESC) AND bucketing = {'by': 'at', 'every': '1d', 'hash': 'n', 'into': 4}"
		must(w.session.Query(create).Exec())
		for n := 0; n < bucketDays*bucketPerDay; n++ {
			at := bucketStart.AddDate(0, 0, n/bucketPerDay).Add(time.Duration(n%bucketPerDay) * time.Minute)
			must(w.session.Query("INSERT INTO bucketed (tenant, case_id, at, n) VALUES (?, ?, ?, ?)", "acme", 7, at, n).Exec())
		}
	}},
	{"buckets: pages of any size, both ways", func(w *world) {
		onPartita(w)
		for _, size := range []int{7, 100, 5000} {
			equal(numbers(w.session.Query(bucketSelect).PageSize(size)), descending(bucketDays*bucketPerDay-1, 0))
		}
		up := numbers(w.session.Query(bucketSelect+" AND at >= ? ORDER BY at ASC LIMIT 50", bucketStart.AddDate(0, 0, 10)).PageSize(11))
		equal(len(up), 50)
		equal([]int{up[0], up[49]}, []int{200, 249})
	}},
	{"buckets: a state goes to another process", func(w *world) {
		onPartita(w)
		iter := w.session.Query(bucketSelect).PageSize(123).PageState(nil).Iter()
		state := iter.PageState()
		var found []int
		rows := iter.Scanner()
		for rows.Next() {
			var n int
			must(rows.Scan(&n))
			found = append(found, n)
		}
		truth(len(state) > 0 && len(state) < 100, "a state of %d bytes", len(state))
		self, err := os.Executable()
		must(err)
		child := command.Command(self)
		child.Env = append(os.Environ(), stateVariable+"="+hex.EncodeToString(state))
		child.Stderr = os.Stderr
		out, err := child.Output()
		must(err)
		for _, text := range strings.Fields(string(out)) {
			var n int
			_, err := fmt.Sscan(text, &n)
			must(err)
			found = append(found, n)
		}
		equal(found, descending(bucketDays*bucketPerDay-1, 0))
	}},
}

// goOn prints the rows behind a paging state of another process.
func goOn(w *world, state string) {
	bytes, err := hex.DecodeString(state)
	must(err)
	session := w.connect(inKeyspace(w.keyspace))
	defer session.Close()
	for len(bytes) > 0 {
		iter := session.Query(bucketSelect).PageSize(50).PageState(bytes).Iter()
		bytes = iter.PageState()
		rows := iter.Scanner()
		for rows.Next() {
			var n int
			must(rows.Scan(&n))
			fmt.Print(n, " ")
		}
		must(rows.Err())
	}
}
