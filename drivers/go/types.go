package main

import (
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"gopkg.in/inf.v0"
)

type scalar struct {
	name, kind, literal string
	value               any
}

func uuidOf(text string) gocql.UUID {
	u, err := gocql.ParseUUID(text)
	must(err)
	return u
}

func decimalOf(text string) *inf.Dec {
	d, ok := new(inf.Dec).SetString(text)
	truth(ok, "decimal %s", text)
	return d
}

func varintOf(text string) *big.Int {
	i, ok := new(big.Int).SetString(text, 10)
	truth(ok, "varint %s", text)
	return i
}

var scalars = []scalar{
	{"c_ascii", "ascii", "'ascii'", "ascii"},
	{"c_bigint", "bigint", "-9223372036854775808", int64(-1 << 63)},
	{"c_blob", "blob", "0x00ff10", []byte{0, 255, 16}},
	{"c_boolean", "boolean", "true", true},
	{"c_date", "date", "'1969-12-31'", time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)},
	{"c_decimal", "decimal", "-123456789.000000000987", decimalOf("-123456789.000000000987")},
	{"c_double", "double", "1.5E-300", 1.5e-300},
	{"c_duration", "duration", "1y2mo3d4h5m6s7ms8us9ns", gocql.Duration{Months: 14, Days: 3, Nanoseconds: 14706007008009}},
	{"c_float", "float", "3.25", float32(3.25)},
	{"c_inet", "inet", "'192.0.2.7'", net.ParseIP("192.0.2.7")},
	{"c_inet6", "inet", "'2001:db8::1'", net.ParseIP("2001:db8::1")},
	{"c_int", "int", "-2147483648", -2147483648},
	{"c_smallint", "smallint", "-32768", int16(-32768)},
	{"c_text", "text", "'Grüße, 世界 🎼, it''s'", "Grüße, 世界 🎼, it's"},
	{"c_time", "time", "'23:59:59.999999999'", 24*time.Hour - 1},
	{"c_timestamp", "timestamp", "'1960-02-29T12:34:56.789Z'", time.Date(1960, 2, 29, 12, 34, 56, 789000000, time.UTC)},
	{"c_timeuuid", "timeuuid", "50554d6e-29bb-11e5-b345-feff819cdc9f", uuidOf("50554d6e-29bb-11e5-b345-feff819cdc9f")},
	{"c_tinyint", "tinyint", "-128", int8(-128)},
	{"c_uuid", "uuid", "123e4567-e89b-12d3-a456-426614174000", uuidOf("123e4567-e89b-12d3-a456-426614174000")},
	{"c_varint", "varint", "123456789012345678901234567890", varintOf("123456789012345678901234567890")},
}

type address struct {
	Street string   `cql:"street"`
	Zip    int      `cql:"zip"`
	Tags   []string `cql:"tags"`
}

type person struct {
	Name   string            `cql:"name"`
	Home   address           `cql:"home"`
	Phones map[string]string `cql:"phones"`
}

// Every CQL type travels both ways: written as CQL text and as bound values.
// point is kept as text, in a form of its own.
type point struct{ x, y int }

func (p point) MarshalCQL(gocql.TypeInfo) ([]byte, error) {
	return []byte(fmt.Sprintf("%d/%d", p.x, p.y)), nil
}

func (p *point) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	_, err := fmt.Sscanf(string(data), "%d/%d", &p.x, &p.y)
	return err
}

var typeChecks = []check{
	{"types: scalars as CQL text and bound", func(w *world) {
		var columns, names, literals, marks []string
		values := []any{2}
		nulls := []any{3}
		for _, s := range scalars {
			columns = append(columns, s.name+" "+s.kind)
			names = append(names, s.name)
			literals = append(literals, s.literal)
			marks = append(marks, "?")
			values = append(values, s.value)
			nulls = append(nulls, nil)
		}
		exec(w.session, "CREATE TABLE scalars (id int PRIMARY KEY, "+strings.Join(columns, ", ")+")",
			"INSERT INTO scalars (id, "+strings.Join(names, ", ")+") VALUES (1, "+strings.Join(literals, ", ")+")")
		insert := "INSERT INTO scalars (id, " + strings.Join(names, ", ") + ") VALUES (?, " + strings.Join(marks, ", ") + ")"
		must(w.session.Query(insert, values...).Exec())
		must(w.session.Query(insert, nulls...).Exec())
		for id := 1; id <= 2; id++ {
			row := map[string]any{}
			must(w.session.Query("SELECT * FROM scalars WHERE id = ?", id).MapScan(row))
			for _, s := range scalars {
				found := fmt.Sprint(row[s.name])
				truth(found == fmt.Sprint(s.value), "row %d, %s: found %s (%T), wanted %v", id, s.name, found, row[s.name], s.value)
			}
		}
		var text *string
		var number *int64
		var when *time.Time
		must(w.session.Query("SELECT c_text, c_bigint, c_timestamp FROM scalars WHERE id = 3").Scan(&text, &number, &when))
		truth(text == nil && number == nil && when == nil, "nulls came back as %v %v %v", text, number, when)
		must(w.session.Query("INSERT INTO scalars (id, c_text, c_blob) VALUES (?, ?, ?)", 4, "", []byte{}).Exec())
		var blob *[]byte
		must(w.session.Query("SELECT c_text, c_blob FROM scalars WHERE id = 4").Scan(&text, &blob))
		truth(text != nil && *text == "" && blob != nil && len(*blob) == 0, "empty came back as %v %v", text, blob)
	}},
	{"types: collections, tuples, nesting", func(w *world) {
		exec(w.session, `CREATE TABLE collections (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>,
			nested map<uuid, frozen<list<frozen<set<int>>>>>, t tuple<int, text, double>)`,
			`INSERT INTO collections (id, l, s, m, nested, t) VALUES (1, [3, 1, 2], {'b', 'a'}, {'z': 1, 'a': 2},
			{123e4567-e89b-12d3-a456-426614174000: [{2, 1}, {}]}, (1, 'one', 2.5))`)
		key := uuidOf("123e4567-e89b-12d3-a456-426614174000")
		must(w.session.Query("INSERT INTO collections (id, l, s, m, nested, t) VALUES (?, ?, ?, ?, ?, (?, ?, ?))", 2, []int{3, 1, 2}, []string{"b", "a"},
			map[string]int64{"z": 1, "a": 2}, map[gocql.UUID][][]int{key: {{2, 1}, {}}}, 1, "one", 2.5).Exec())
		for id := 1; id <= 2; id++ {
			var l []int
			var s []string
			var m map[string]int64
			var nested map[gocql.UUID][][]int
			var t1 int
			var t2 string
			var t3 float64
			must(w.session.Query("SELECT l, s, m, nested, t FROM collections WHERE id = ?", id).Scan(&l, &s, &m, &nested, &t1, &t2, &t3))
			equal(l, []int{3, 1, 2})
			equal(s, []string{"a", "b"})
			equal(m, map[string]int64{"z": 1, "a": 2})
			equal(nested[key][0], []int{1, 2})
			equal(len(nested[key][1]), 0)
			equal([]any{t1, t2, t3}, []any{1, "one", 2.5})
		}
		must(w.session.Query("UPDATE collections SET l = l + ?, s = s - ?, m[?] = ? WHERE id = 1", []int{9}, []string{"a"}, "n", 5).Exec())
		var l []int
		var s []string
		var m map[string]int64
		must(w.session.Query("SELECT l, s, m FROM collections WHERE id = 1").Scan(&l, &s, &m))
		equal(l, []int{3, 1, 2, 9})
		equal(s, []string{"b"})
		equal(m["n"], int64(5))
	}},
	{"types: user-defined types as structs", func(w *world) {
		exec(w.session, "CREATE TABLE people (id int PRIMARY KEY, p frozen<person>, homes list<frozen<address>>, a address)",
			`INSERT INTO people (id, p, homes, a) VALUES (1, {name: 'Ann', home: {street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}, phones: {'mobile': '1'}},
			[{street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}], {street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}})`)
		home := address{"Rue 1", 75001, []string{"blue", "red"}}
		ann := person{"Ann", home, map[string]string{"mobile": "1"}}
		must(w.session.Query("INSERT INTO people (id, p, homes, a) VALUES (?, ?, ?, ?)", 2, &ann, []address{home}, &home).Exec())
		for id := 1; id <= 2; id++ {
			var p person
			var homes []address
			var a address
			must(w.session.Query("SELECT p, homes, a FROM people WHERE id = ?", id).Scan(&p, &homes, &a))
			equal(p, ann)
			equal(homes, []address{home})
			equal(a, home)
		}
	}},
	{"types: vectors of collections", func(w *world) {
		exec(w.session, "CREATE TABLE vector_sets (id int PRIMARY KEY, v vector<set<text>, 2>, m vector<map<text, int>, 2>)")
		sets, maps := [][]string{{"a", "b"}, {"c"}}, []map[string]int{{"x": 1}, {"y": 2, "z": 3}}
		must(w.session.Query("INSERT INTO vector_sets (id, v, m) VALUES (?, ?, ?)", 1, sets, maps).Exec())
		var v [][]string
		var m []map[string]int
		must(w.session.Query("SELECT v, m FROM vector_sets WHERE id = 1").Scan(&v, &m))
		equal(v, sets)
		equal(m, maps)
	}},
	{"types: a type that marshals itself", func(w *world) {
		exec(w.session, "CREATE TABLE marshalled (id int PRIMARY KEY, p text)")
		must(w.session.Query("INSERT INTO marshalled (id, p) VALUES (?, ?)", 1, point{3, -4}).Exec())
		var text string
		must(w.session.Query("SELECT p FROM marshalled WHERE id = 1").Scan(&text))
		equal(text, "3/-4")
		var p point
		must(w.session.Query("SELECT p FROM marshalled WHERE id = ?", 1).Scan(&p))
		equal(p, point{3, -4})
	}},
	{"types: vectors", func(w *world) {
		exec(w.session, "CREATE TABLE vectors (id int PRIMARY KEY, v vector<float, 3>, t vector<text, 2>)",
			"INSERT INTO vectors (id, v, t) VALUES (1, [1.5, -2, 0.25], ['a', 'bc'])")
		must(w.session.Query("INSERT INTO vectors (id, v, t) VALUES (?, ?, ?)", 2, []float32{1.5, -2, 0.25}, []string{"a", "bc"}).Exec())
		for id := 1; id <= 2; id++ {
			var v []float32
			var t []string
			must(w.session.Query("SELECT v, t FROM vectors WHERE id = ?", id).Scan(&v, &t))
			equal(v, []float32{1.5, -2, 0.25})
			equal(t, []string{"a", "bc"})
		}
	}},
}
