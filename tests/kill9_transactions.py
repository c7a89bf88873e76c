"""kill -9 under load of transactions: their history, over all restarts, must be one that could have happened one after the other.

Run by `./test crash` inside the Python driver's environment: `kill9_transactions.py BINARY ROUNDS`. Each round starts the server on the
same folder (by turns with durability `sync` and `periodic`), checks what is there, runs transactions of several clients, and kills
the server at a random moment. A key holds a text to which transactions append their number, so the text says in which order its
writers came, and what a transaction read says between which two writers it stood. Checked: what was acknowledged is there, once, on all
its keys; what was not acknowledged is there on all its keys or on none; nobody appended to what he had not read; the orders of all
keys, what was read, and the clock (who was answered before another began came before him) do not go in a circle.
Prints one line per round and, last, `N passed, N failed`. `SEED=n` repeats a run's choices.
"""
import os
import random
import signal
import sys
import tempfile
import threading
import time

from cassandra import InvalidRequest
from cassandra.query import SimpleStatement

from kill9 import connect, start

CLIENTS = 4
# Of each round: few, so that transactions meet. They are spread over two tables and, having different hashes, over shards.
KEYS = 5
SCHEMA = [
    "CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE IF NOT EXISTS k.a (k int PRIMARY KEY, v text)",
    "CREATE TABLE IF NOT EXISTS k.b (p int, c int, v text, PRIMARY KEY (p, c))",
]


class Key:
    """One text: its table, and how a statement names it."""

    def __init__(self, round_number, number):
        self.id = round_number * KEYS + number
        odd = self.id % 2
        self.table = "k.b" if odd else "k.a"
        self.where = f"p = {self.id} AND c = 1" if odd else f"k = {self.id}"


class Done:
    """A transaction: which keys it read and found (in the order of `read`), which it appended to, and when."""

    def __init__(self, name, read, wrote):
        self.name, self.read, self.wrote = name, read, wrote
        self.found = None
        self.began, self.ended = time.monotonic(), None
        # Not answered: it may have happened or not.
        self.unknown = False


def split(text):
    return [part for part in (text or "").split(",") if part]


def text_of(done):
    lines = ["BEGIN TRANSACTION"]
    for key in done.read:
        lines.append(f"LET r{key.id} = (SELECT v FROM {key.table} WHERE {key.where});")
    lines.append("SELECT " + ", ".join(f"r{key.id}.v" for key in done.read) + ";")
    for key in done.wrote:
        lines.append(f"UPDATE {key.table} SET v += '{done.name},' WHERE {key.where};")
    return " ".join(lines) + " COMMIT TRANSACTION"


class Client:
    def __init__(self, number):
        self.number, self.count, self.history = number, 0, []

    def run(self, session, keys, stop, rng):
        while not stop.is_set():
            self.count += 1
            read = rng.sample(keys, rng.randint(1, 3))
            wrote = read[:rng.randint(0, 2)]
            done = Done(f"{self.number}x{self.count}", read, wrote)
            try:
                row = session.execute(SimpleStatement(text_of(done))).one()
                done.found = [split(value) for value in row]
                done.ended = time.monotonic()
                self.history.append(done)
            except InvalidRequest as error:
                print(f"refused: {error}\n{text_of(done)}")
                raise
            except Exception:
                # The connection or the server is gone.
                done.unknown = True
                self.history.append(done)
                return


def circle(edges):
    """Names that are before themselves, found by taking away whoever has nobody before."""
    before = {}
    for name, after in edges.items():
        before.setdefault(name, 0)
        for other in after:
            before[other] = before.get(other, 0) + 1
    free = [name for name, count in before.items() if not count]
    while free:
        name = free.pop()
        del before[name]
        for other in edges.get(name, ()):
            before[other] -= 1
            if not before[other]:
                free.append(other)
    return sorted(map(str, before))


def check(history, last):
    """What is wrong with a history, given the numbers that each key has in the end."""
    problems, edges = [], {}
    known = {done.name: done for done in history}

    def edge(first, then):
        if first != then:
            edges.setdefault(first, set()).add(then)

    for key, order in last.items():
        if len(set(order)) != len(order):
            problems.append(f"key {key} has a number twice")
        for name in order:
            if name not in known or key not in {k.id for k in known[name].wrote}:
                problems.append(f"key {key} has {name}, which nobody appended to it")
        for first, then in zip(order, order[1:]):
            edge(first, then)
    for done in history:
        there = [key for key in done.wrote if done.name in last[key.id]]
        if done.unknown:
            if there and len(there) != len(done.wrote):
                problems.append(f"half of {done.name} is there")
            continue
        if len(there) != len(done.wrote):
            problems.append(f"{done.name} was acknowledged and is not there")
            continue
        for key, found in zip(done.read, done.found):
            order = last[key.id]
            if order[:len(found)] != found:
                problems.append(f"{done.name} read {found[-3:]} of {key.id}, which came to be {order}")
                continue
            if found:
                edge(found[-1], done.name)
            after = order[len(found)] if len(found) < len(order) else None
            if key in done.wrote:
                if after != done.name:
                    problems.append(f"{done.name} appended to {key.id} what it had not read")
            elif after:
                edge(done.name, after)
    # The clock, as a chain of moments: who ended is before every later moment, and that before who begins behind it.
    moments = sorted([(done.began, 1, done.name) for done in history] +
                     [(done.ended, 0, done.name) for done in history if done.ended])
    for place, (_, begins, name) in enumerate(moments):
        edge(("moment", place), ("moment", place + 1))
        if begins:
            edge(("moment", place), name)
        else:
            edge(name, ("moment", place + 1))
    around = circle(edges)
    if around:
        problems.append(f"{len(around)} transactions and moments go in a circle: {around[:8]}")
    return problems


def check_the_checker():
    """Histories with one fault each must be found out."""
    a, b = Key(0, 0), Key(0, 1)

    def made(name, reads, wrote, began, ended):
        done = Done(name, [key for key, _ in reads], wrote)
        done.found, done.began, done.ended = [found for _, found in reads], began, ended
        done.unknown = ended is None
        return done

    x = made("x", [(a, []), (b, [])], [a, b], 0, 1)
    y = made("y", [(a, ["x"])], [a], 2, 3)
    good = {a.id: ["x", "y"], b.id: ["x"]}
    assert check([x, y], good) == [], check([x, y], good)
    assert check([x, y], {a.id: ["x"], b.id: ["x"]}), "a lost append"
    assert check([x, y], {a.id: ["x", "y", "y"], b.id: ["x"]}), "an append done twice"
    assert check([made("x", [(a, [])], [a, b], 0, None), y], {a.id: ["x", "y"], b.id: []}), "half a transaction"
    assert check([x, made("y", [(a, [])], [], 2, 3)], {a.id: ["x"], b.id: ["x"]}), "a read of the past"
    assert check([x, made("y", [(a, [])], [a], 0, 3)], good), "an append to what was not read"
    # Each has read what the other had not written yet.
    skew = [made("x", [(a, []), (b, [])], [a], 0, 5), made("y", [(b, []), (a, [])], [b], 0, 5)]
    assert check(skew, {a.id: ["x"], b.id: ["y"]}), "write skew"


def main(binary, rounds):
    check_the_checker()
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"seed {seed}, {rounds} rounds", flush=True)
    clients, keys, seen, passed, failed = [Client(number) for number in range(CLIENTS)], [], {}, 0, 0
    with tempfile.TemporaryDirectory(prefix="partita-kill9-transactions-") as base:
        folder = os.path.join(base, "data")
        for number in range(rounds + 1):
            server, port = start(binary, folder, ["sync", "periodic"][number % 2], ["--shards", "3"])
            cluster, session = connect(port, SCHEMA)
            history = [done for client in clients for done in client.history]
            last = {}
            for key in keys:
                row = session.execute(f"SELECT v FROM {key.table} WHERE {key.where}").one()
                last[key.id] = split(row.v if row else "")
            problems = check(history, last)
            problems += [f"key {key} has lost what it had" for key, order in seen.items() if last[key] != order]
            seen = last
            unknown = [done for done in history if done.unknown]
            happened = sum(any(done.name in last[key.id] for key in done.wrote) for done in unknown)
            print(f"round {number}: {len(history)} transactions, {sum(map(len, last.values()))} appends on {len(keys)} keys, "
                  f"{len(unknown)} without an answer of which {happened} happened"
                  f"{': ' + '; '.join(problems[:5]) if problems else ''}", flush=True)
            failed += bool(problems)
            passed += not problems
            if number < rounds:
                fresh = [Key(number, key) for key in range(KEYS)]
                keys += fresh
                for key in fresh:
                    into = "(p, c, v) VALUES (%d, 1, '')" if key.table == "k.b" else "(k, v) VALUES (%d, '')"
                    session.execute(f"INSERT INTO {key.table} {into % key.id}")
                stop = threading.Event()
                threads = [threading.Thread(target=client.run, args=(session, fresh, stop, random.Random(rng.random())))
                           for client in clients]
                for thread in threads:
                    thread.start()
                time.sleep(rng.uniform(0.2, 1.2))
                server.send_signal(signal.SIGKILL)
                server.wait()
                stop.set()
                for thread in threads:
                    thread.join()
            else:
                server.send_signal(signal.SIGTERM)
                if server.wait(timeout=60) != 0:
                    print(f"SIGTERM: the server ended with {server.returncode}")
                    failed += 1
            cluster.shutdown()
    if not any(done.unknown for client in clients for done in client.history) or not seen:
        print("no transaction was cut short: the load proves nothing")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
