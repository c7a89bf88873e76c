//! Refusals of SELECT, word for word: tools match these sentences.

use crate::harness::{Bench, check};
use cql::CqlError;

const FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may have \
    unpredictable performance. If you want to execute this query despite the performance unpredictability, use \
    ALLOW FILTERING";

fn refuse(bench: &mut Bench, cases: &[(&str, &str)]) {
    for (statement, expected) in cases {
        match bench.run(statement) {
            Err(CqlError::Invalid(text)) => assert_eq!(&text, expected, "{statement}"),
            other => panic!("{statement}: {other:?}"),
        }
    }
}

#[test]
fn restrictions() {
    let mut bench = Bench::new(
        "CREATE TABLE t (a int, b int, c int, d int, e int, v int, te text, l list<int>, m map<text, int>, \
         fm frozen<map<text, int>>, du duration, PRIMARY KEY ((a, b), c, d, e))",
    );
    refuse(
        &mut bench,
        &[
            ("SELECT * FROM t WHERE a = 1", FILTERING),
            ("SELECT * FROM t WHERE a > 1 AND b = 1", FILTERING),
            ("SELECT * FROM t WHERE v = 1", FILTERING),
            ("SELECT * FROM t WHERE c = 1", FILTERING),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND v = 1", FILTERING),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND d = 1",
                "PRIMARY KEY column \"d\" cannot be restricted as preceding column \"c\" is not restricted",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND c > 1 AND d = 1",
                "Clustering column \"d\" cannot be restricted (preceding column \"c\" is restricted by a non-EQ relation)",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND d = 1 AND c > 1",
                "PRIMARY KEY column \"d\" cannot be restricted (preceding column \"c\" is restricted by a non-EQ relation)",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND c > 1 AND c > 2",
                "More than one restriction was found for the start bound on c",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND c < 1 AND c <= 2",
                "More than one restriction was found for the end bound on c",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND a = 2 AND b = 1",
                "a cannot be restricted by more than one relation if it includes an Equal",
            ),
            (
                "SELECT * FROM t WHERE a IN (1, 2) AND a = 2 AND b = 1",
                "a cannot be restricted by more than one relation if it includes a IN",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND c > 1 AND c = 2",
                "Column \"c\" cannot be restricted by both an equality and an inequality relation",
            ),
            (
                "SELECT * FROM t WHERE token(a) > 1",
                "The token() function must be applied to all partition key components or none of them",
            ),
            (
                "SELECT * FROM t WHERE token(b, a) > 1",
                "The token function arguments must be in the partition key order: a, b",
            ),
            (
                "SELECT * FROM t WHERE token(a, b) = 1 AND token(a, b) > 2",
                "a, b cannot be restricted by more than one relation if it includes an Equal",
            ),
            (
                "SELECT * FROM t WHERE token(a, b) > 1 AND token(a, b) > 2",
                "More than one restriction was found for the start bound on a, b",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND (d, c) = (1, 2)",
                "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: (d, c) = (1, 2)",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND (c, v) = (1, 2)",
                "Multi-column relations can only be applied to clustering columns but was applied to: v",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND (c, c) = (1, 2)",
                "Column \"c\" appeared twice in a relation: (c, c) = (1, 2)",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND (c, d) = (1, 2, 3)",
                "Expected 2 elements in value tuple, but got 3: (1, 2, 3)",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND (c, d) = (1, null)",
                "Invalid null value for column d",
            ),
            ("SELECT * FROM t WHERE v = null ALLOW FILTERING", "Unsupported null value for column v"),
            (
                "SELECT * FROM t WHERE m['a'] = null ALLOW FILTERING",
                "Unsupported null map value for column m",
            ),
            ("SELECT * FROM t WHERE token(a, b) > token(1, null)", "Invalid null token value"),
            ("SELECT l[0] FROM t", "Element selection is only allowed on sets and maps, but l is a list"),
            (
                "SELECT collection_count(v) FROM t",
                "Function system.collection_count requires a collection argument, but found argument v of type int",
            ),
            ("SELECT * FROM t WHERE a = 1 AND b = null", "Invalid null value in condition for column b"),
            (
                "SELECT * FROM t WHERE l = [1]",
                "Collection column 'l' (list<int>) cannot be restricted by a '=' relation",
            ),
            (
                "SELECT * FROM t WHERE l > [1]",
                "Collection column 'l' (list<int>) cannot be restricted by a '>' relation",
            ),
            ("SELECT * FROM t WHERE v CONTAINS 1", "Cannot use CONTAINS on non-collection column v"),
            ("SELECT * FROM t WHERE l CONTAINS KEY 1", "Cannot use CONTAINS KEY on non-map column l"),
            ("SELECT * FROM t WHERE v['a'] = 1", "Column v cannot be used as a map"),
            (
                "SELECT * FROM t WHERE fm['a'] = 1",
                "Map-entry equality predicates on frozen map column fm are not supported",
            ),
            ("SELECT * FROM t WHERE m['a'] > 1", "Only EQ relations are supported on map entries"),
            (
                "SELECT * FROM t WHERE du > 1h ALLOW FILTERING",
                "Slice restrictions are not supported on duration columns",
            ),
            (
                "SELECT * FROM t WHERE te LIKE 'a%'",
                "LIKE restriction is only supported on properly indexed columns. te LIKE 'a%' is not valid.",
            ),
            ("SELECT * FROM t WHERE x = 1", "Undefined column name x in table ks.t"),
            ("SELECT x FROM t", "Undefined column name x in table ks.t"),
            ("SELECT * FROM t WHERE a = 'x' AND b = 1", "Invalid STRING constant (x) for \"a\" of type int"),
            ("SELECT * FROM missing", "table missing does not exist"),
            ("SELECT * FROM nowhere.t", "keyspace nowhere does not exist"),
        ],
    );
}

#[test]
fn order_limit_distinct_and_group() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int, c int, d int, s int static, v int, PRIMARY KEY (k, c, d))");
    refuse(
        &mut bench,
        &[
            (
                "SELECT * FROM t ORDER BY c",
                "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
            ),
            (
                "SELECT * FROM t WHERE k = 1 ORDER BY v",
                "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got v",
            ),
            (
                "SELECT * FROM t WHERE k = 1 ORDER BY d",
                "Order by currently only supports the ordering of columns following their declared order in the \
                 PRIMARY KEY",
            ),
            ("SELECT * FROM t WHERE k = 1 ORDER BY c ASC, d DESC", "Unsupported order by relation"),
            ("SELECT * FROM t WHERE k = 1 ORDER BY x", "Undefined column name x in table ks.t"),
            ("SELECT * FROM t LIMIT 0", "LIMIT must be strictly positive"),
            ("SELECT * FROM t LIMIT -1", "LIMIT must be strictly positive"),
            ("SELECT * FROM t PER PARTITION LIMIT 0", "LIMIT must be strictly positive"),
            (
                "SELECT count(*) FROM t PER PARTITION LIMIT 1",
                "PER PARTITION LIMIT is not allowed with aggregate queries.",
            ),
            (
                "SELECT DISTINCT k, v FROM t",
                "SELECT DISTINCT queries must only request partition key columns and/or static columns (not v)",
            ),
            (
                "SELECT DISTINCT k FROM t WHERE k IN (1, 2) ORDER BY c",
                "SELECT DISTINCT queries must only request partition key columns and/or static columns (not c)",
            ),
            (
                "SELECT DISTINCT * FROM t",
                "SELECT DISTINCT queries must only request partition key columns and/or static columns (not c)",
            ),
            (
                "SELECT DISTINCT s FROM t",
                "SELECT DISTINCT queries must request all the partition key columns (missing k)",
            ),
            (
                "SELECT DISTINCT k FROM t WHERE k = 1 AND c = 1",
                "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.",
            ),
            (
                "SELECT DISTINCT k FROM t PER PARTITION LIMIT 1",
                "PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries",
            ),
            (
                "SELECT k, sum(v) FROM t GROUP BY v",
                "Group by is currently only supported on the columns of the PRIMARY KEY, got v",
            ),
            (
                "SELECT k, sum(v) FROM t GROUP BY c",
                "Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            (
                "SELECT k, sum(v) FROM t GROUP BY k, d",
                "Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            ("SELECT writetime(k) FROM t", "Cannot use selection function writetime on PRIMARY KEY part k"),
            ("SELECT ttl(c) FROM t", "Cannot use selection function ttl on PRIMARY KEY part c"),
            ("SELECT nope(v) FROM t", "Unknown function 'nope'"),
            (
                "SELECT max(min(v)) FROM t",
                "aggregate functions cannot be used as arguments of aggregate functions",
            ),
            (
                "SELECT 1 FROM t",
                "Cannot infer type for term 1 in selection clause (try using a cast to force a type)",
            ),
            (
                "SELECT cast(v as text), (bigint) v FROM t",
                "Cannot assign value (bigint)v to (bigint)v of type bigint",
            ),
            ("SELECT v + 'a' FROM t", "the '+' operation is not supported between v and 'a'"),
            (
                "SELECT v + ? FROM t",
                "Ambiguous '+' operation with args v and ?: use type hint to disambiguate, example '(int) ?'",
            ),
            ("SELECT cast(v as uuid) FROM t", "v cannot be cast to uuid"),
        ],
    );
}

#[test]
fn literals() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int PRIMARY KEY, l list<int>, s set<int>, m map<text, int>, tu tuple<int, text>, \
         ve vector<float, 3>, v int, te text)",
    );
    check(
        &mut bench,
        "
        INSERT INTO t (k, l) VALUES (1, {1})
          invalid: Invalid set literal for l of type list<int>
        INSERT INTO t (k, l) VALUES (1, ['a'])
          invalid: Invalid list literal for l: value 'a' is not of type int
        INSERT INTO t (k, s) VALUES (1, [1])
          invalid: Unexpected receiver type 'set<int>'; only list and vector are expected
        INSERT INTO t (k, m) VALUES (1, {1: 1})
          invalid: Invalid map literal for m: key 1 is not of type text
        INSERT INTO t (k, m) VALUES (1, {'a': 'b'})
          invalid: Invalid map literal for m: value 'b' is not of type int
        INSERT INTO t (k, tu) VALUES (1, (1, 'a', 2))
          invalid: Invalid tuple literal for tu: too many elements. Type frozen<tuple<int, text>> expects 2 but got 3
        INSERT INTO t (k, tu) VALUES (1, ('a', 'a'))
          invalid: Invalid tuple literal for tu: component 0 is not of type int
        INSERT INTO t (k, ve) VALUES (1, [1.0, 2.0])
          invalid: Invalid vector literal for ve of type vector<float, 3>; expected 3 elements, but given 2
        INSERT INTO t (k, l) VALUES (1, [null])
          invalid: null is not supported inside collections
        INSERT INTO t (k, v) VALUES (1, nope())
          invalid: Unknown function nope called
        INSERT INTO t (k, v) VALUES (1, now())
          invalid: Type error: cannot assign result of function system.now (type timeuuid) to v (type int)
        INSERT INTO t (k, v) VALUES (1, (text)'a')
          invalid: Cannot assign value (text)'a' to v of type int
        INSERT INTO t (k, v) VALUES (1, (int)'a')
          invalid: Cannot cast value 'a' to type int
        INSERT INTO t (k, v) VALUES (1, 1 + 2)
        SELECT v FROM t WHERE k = 1
          3
    ",
    );
}
