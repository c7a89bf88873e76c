package main

import (
	"fmt"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// Many requests in flight, and paging over 10,000 rows.
var pagingChecks = []check{
	{"concurrent: 10,000 inserts from 50 goroutines", func(w *world) {
		exec(w.session, "CREATE TABLE paged (p int, c int, v text, PRIMARY KEY (p, c))")
		var group sync.WaitGroup
		problems := make(chan error, 50)
		for g := 0; g < 50; g++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := g; i < 10000; i += 50 {
					if err := w.session.Query("INSERT INTO paged (p, c, v) VALUES (?, ?, ?)", i%10, i/10, fmt.Sprint("value ", i)).Exec(); err != nil {
						problems <- err
						return
					}
				}
			}()
		}
		group.Wait()
		close(problems)
		must(<-problems)
	}},
	{"paging: 10,000 rows, 100 a page, with prefetch", func(w *world) {
		seen := map[[2]int]bool{}
		iter := w.session.Query("SELECT p, c FROM paged").PageSize(100).Prefetch(0.25).Iter()
		var p, c int
		for iter.Scan(&p, &c) {
			seen[[2]int{p, c}] = true
		}
		must(iter.Close())
		equal(len(seen), 10000)
		next := 0
		iter = w.session.Query("SELECT c FROM paged WHERE p = ?", 3).PageSize(90).Iter()
		for iter.Scan(&c) {
			equal(c, next)
			next++
		}
		must(iter.Close())
		equal(next, 1000)
	}},
	{"paging: state handed to another session", func(w *world) {
		sessions := []*gocql.Session{w.session, w.connect(inKeyspace(w.keyspace))}
		defer sessions[1].Close()
		seen := map[[2]int]bool{}
		var state []byte
		for page := 0; ; page++ {
			iter := sessions[page%2].Query("SELECT p, c FROM paged").PageSize(777).PageState(state).Iter()
			state = iter.PageState()
			rows := iter.Scanner()
			for rows.Next() {
				var p, c int
				must(rows.Scan(&p, &c))
				seen[[2]int{p, c}] = true
			}
			must(rows.Err())
			if len(state) == 0 {
				break
			}
		}
		equal(len(seen), 10000)
	}},
}
