"""A bucketed table: statements without buckets, pages over many of them, and a paging state handed to another process."""

import subprocess
import sys
from datetime import datetime, timedelta

from cassandra.concurrent import execute_concurrent_with_args
from cassandra.query import SimpleStatement

from scenario import HOST, KEYSPACE, PORT, check, eq

DAYS, PER_DAY = 30, 20
START = datetime(2026, 1, 1)
SELECT = "SELECT n FROM bucketed WHERE tenant = 'acme' AND case_id = 7"


@check("buckets: 600 rows in 30 days and 4 hash buckets")
def fill(world):
    s = world.session
    s.execute("CREATE TABLE bucketed (tenant text, case_id int, at timestamp, n int, PRIMARY KEY ((tenant, case_id), at, n)) "
              "WITH CLUSTERING ORDER BY (at DESC, n DESC) AND bucketing = {'by': 'at', 'every': '1d', 'hash': 'n', 'into': 4}")
    insert = s.prepare("INSERT INTO bucketed (tenant, case_id, at, n) VALUES (?, ?, ?, ?)")
    moment = lambda n: START + timedelta(days=n // PER_DAY, minutes=n % PER_DAY)
    args = [("acme", 7, moment(n), n) for n in range(DAYS * PER_DAY)]
    eq(sum(1 for ok, _ in execute_concurrent_with_args(s, insert, args, concurrency=50) if ok), DAYS * PER_DAY)
    table = world.cluster.metadata.keyspaces[KEYSPACE].tables["bucketed"]
    eq([c.name for c in table.partition_key], ["tenant", "case_id", "bucket", "bucket_hash"])


@check("buckets: pages of any size, both ways")
def pages(world):
    s = world.session
    for size in (7, 100, 5000):
        eq([r.n for r in s.execute(SimpleStatement(SELECT, fetch_size=size))], list(range(DAYS * PER_DAY - 1, -1, -1)))
    up = s.prepare(SELECT + " AND at >= ? ORDER BY at ASC LIMIT 50")
    up.fetch_size = 11
    eq([r.n for r in s.execute(up, [START + timedelta(days=10)])], list(range(200, 250)))
    eq(s.execute(SELECT.replace("SELECT n", "SELECT bucket") + " LIMIT 1").one().bucket, START + timedelta(days=DAYS - 1))


@check("buckets: a state goes to another process")
def another_process(world):
    first = world.session.execute(SimpleStatement(SELECT, fetch_size=123))
    state = first.paging_state
    assert len(state) < 100, len(state)
    program = (
        "import sys\n"
        "from cassandra.cluster import Cluster\n"
        "from cassandra.query import SimpleStatement\n"
        f"s = Cluster([{HOST!r}], port={PORT}).connect({KEYSPACE!r})\n"
        f"rows = s.execute(SimpleStatement({SELECT!r}, fetch_size=50), paging_state=bytes.fromhex(sys.argv[1]))\n"
        "print(*[r.n for r in rows])\n"
    )
    done = subprocess.run([sys.executable, "-c", program, state.hex()], capture_output=True, text=True, timeout=120)
    eq(done.returncode, 0, done.stderr[-300:])
    eq([r.n for r in first.current_rows] + [int(n) for n in done.stdout.split()], list(range(DAYS * PER_DAY - 1, -1, -1)))
