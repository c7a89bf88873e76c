"""Paging over 10,000 rows, in one partition and over the ring, and a paging state handed to another session."""

import subprocess
import sys

from cassandra.cluster import NoHostAvailable
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.protocol import ProtocolException
from cassandra.query import SimpleStatement

from scenario import HOST, KEYSPACE, PORT, check, eq, eventually, raises

PARTITIONS, ROWS = 10, 1000


@check("concurrent: 10,000 inserts")
def fill(world):
    s = world.session
    s.execute("CREATE TABLE paged (p int, c int, v text, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC)")
    insert = s.prepare("INSERT INTO paged (p, c, v) VALUES (?, ?, ?)")
    args = [(p, c, f"value {p} {c}") for c in range(ROWS) for p in range(PARTITIONS)]
    results = execute_concurrent_with_args(s, insert, args, concurrency=100)
    eq(sum(1 for ok, _ in results if ok), PARTITIONS * ROWS)


@check("paging: 10,000 rows, 100 a page")
def whole(world):
    seen = {}
    result = world.session.execute(SimpleStatement("SELECT p, c, v FROM paged", fetch_size=100))
    pages = 0
    while True:
        rows = result.current_rows
        eq(len(rows) <= 100, True, "page size")
        pages += 1
        for row in rows:
            seen.setdefault(row.p, []).append(row.c)
        if not result.has_more_pages:
            break
        result.fetch_next_page()
    assert pages >= 100, pages
    eq(set(seen), set(range(PARTITIONS)))
    for p, found in seen.items():
        eq(found, list(range(ROWS - 1, -1, -1)), f"partition {p}")


@check("paging: one partition, prepared, with LIMIT and order turned round")
def single(world):
    s = world.session
    select = s.prepare("SELECT c FROM paged WHERE p = ? ORDER BY c ASC LIMIT 777")
    select.fetch_size = 50
    eq([r.c for r in s.execute(select, [3])], list(range(777)))
    some = s.prepare("SELECT c FROM paged WHERE p = ? AND c > ? AND c <= ?")
    some.fetch_size = 7
    eq([r.c for r in s.execute(some, [4, 100, 200])], list(range(200, 100, -1)))


@check("paging: IN, PER PARTITION LIMIT, DISTINCT")
def shapes(world):
    s = world.session
    rows = s.execute(SimpleStatement("SELECT p, c FROM paged WHERE p IN (7, 2, 5)", fetch_size=99)).all()
    eq([r.p for r in rows], [2] * ROWS + [5] * ROWS + [7] * ROWS)
    rows = s.execute(SimpleStatement("SELECT p, c FROM paged PER PARTITION LIMIT 3", fetch_size=4)).all()
    eq(len(rows), 3 * PARTITIONS)
    rows = s.execute(SimpleStatement("SELECT DISTINCT p FROM paged", fetch_size=3)).all()
    eq(sorted(r.p for r in rows), list(range(PARTITIONS)))
    eq(len(s.execute(SimpleStatement("SELECT * FROM paged", fetch_size=None)).current_rows), PARTITIONS * ROWS, "unpaged")


@check("paging: state handed to another session")
def handed_over(world):
    first = world.session.execute(SimpleStatement("SELECT p, c FROM paged", fetch_size=123))
    found = [tuple(r) for r in first.current_rows]
    state = first.paging_state
    assert isinstance(state, bytes) and state
    while state:
        cluster, session = world.connect(keyspace=KEYSPACE) if len(found) == 123 else (cluster, session)
        result = session.execute(SimpleStatement("SELECT p, c FROM paged", fetch_size=1234), paging_state=state)
        found += [tuple(r) for r in result.current_rows]
        state = result.paging_state
    eq(len(found), PARTITIONS * ROWS)
    eq(len(set(found)), PARTITIONS * ROWS, "distinct rows")
    cluster.shutdown()


OTHER_PROCESS = """
import sys
from cassandra.cluster import Cluster
from cassandra.query import SimpleStatement
host, port, keyspace, state = sys.argv[1:]
cluster = Cluster([host], port=int(port), connect_timeout=20)
session = cluster.connect(keyspace)
statement = SimpleStatement("SELECT p, c FROM paged", fetch_size=1234)
result = session.execute(statement, paging_state=bytes.fromhex(state), timeout=60)
print(sum(1 for _ in result))
cluster.shutdown()
"""


@check("paging: state handed to another process")
def other_process(world):
    first = world.session.execute(SimpleStatement("SELECT p, c FROM paged", fetch_size=123))
    command = [sys.executable, "-c", OTHER_PROCESS, HOST, str(PORT), KEYSPACE, first.paging_state.hex()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    eq(done.returncode, 0, done.stderr[-300:])
    eq(int(done.stdout), PARTITIONS * ROWS - 123)


@check("paging: a spoilt state is refused")
def spoilt(world):
    # The driver closes a connection that brought a protocol error, so this one is not shared.
    cluster, session = world.connect(keyspace=KEYSPACE)
    raises(ProtocolException, session.execute, SimpleStatement("SELECT * FROM paged", fetch_size=10), paging_state=b"not a state")
    # scylla-driver marks a sharded host down for it and hangs when it is shut down in the middle of that: let it recover.
    eventually(lambda: answers(session), what="an answer after the protocol error")
    cluster.shutdown()


def answers(session):
    try:
        return session.execute("SELECT key FROM system.local").one() is not None
    except NoHostAvailable:
        return False


@check("paging: asynchronous pages")
def callbacks(world):
    from threading import Event
    done, seen, problem = Event(), [], []
    future = world.session.execute_async(SimpleStatement("SELECT c FROM paged WHERE p = 1", fetch_size=90))

    def page(rows):
        seen.extend(r.c for r in rows)
        if future.has_more_pages:
            future.start_fetching_next_page()
        else:
            done.set()

    future.add_callbacks(callback=page, errback=lambda e: (problem.append(e), done.set()))
    assert done.wait(30), "pages did not arrive"
    eq(problem, [])
    eq(seen, list(range(ROWS - 1, -1, -1)))
