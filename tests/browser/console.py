#!/usr/bin/env python3
"""The console in a real browser, used as a person uses it.

usage: console.py PARTITA-BINARY. A server with passwords is started and given work in which one customer takes a third. Then somebody logs in (and
is refused with a wrong password), sees what is wrong, reads the name of the hot key off the heat map, looks at a breached pattern, runs a
query and reads what it cost, pauses a backfill, and logs out, after which nothing is shown. In light and dark, 320 to 2560 wide, with the keyboard. Screenshots
are left in $PARTITA_CACHE/browser. Last line: N passed, N failed, N skipped.
"""
import json
import os
import random
import struct
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "attack"))
import chromium  # noqa: E402
import client  # noqa: E402

HOT = "customer-acme"
BYTES_MAX = 300 << 10
SCHEMA = [
    "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE shop.orders (customer text, at timeuuid, total int, PRIMARY KEY (customer, at)) WITH CLUSTERING ORDER BY (at DESC)",
    "CREATE ACCESS PATTERN shop.recent_orders AS SELECT * FROM orders WHERE customer = ? LIMIT 20 WITH peak_rate = 5 AND p99_ms = 60000",
    "CREATE ACCESS PATTERN shop.place_order AS INSERT INTO orders (customer, at, total) VALUES (?, ?, ?) WITH peak_rate = 1000000",
    "CREATE TABLE shop.carts (id int PRIMARY KEY, v text)",
]


class Load(threading.Thread):
    """Reads and writes of customers, a third of them of one; counts what it did."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.connection, self.stopping, self.count = client.Connection(port, "cassandra"), False, 0
        for statement in SCHEMA:
            self.connection.query(statement)

    def run(self):
        dice = random.Random(17)
        write = self.connection.prepare("INSERT INTO shop.orders (customer, at, total) VALUES (?, now(), ?)")
        read = self.connection.prepare("SELECT * FROM shop.orders WHERE customer = ? LIMIT 10")
        cart = self.connection.prepare("SELECT * FROM shop.carts WHERE id = ?")
        while not self.stopping:
            customer = HOT.encode() if dice.random() < 1 / 3 else b"customer-%d" % dice.randrange(500)
            if dice.random() < 0.5:
                self.connection.execute(write, [customer, struct.pack(">i", self.count)])
            else:
                self.connection.execute(read, [customer])
            self.connection.execute(cart, [struct.pack(">i", dice.randrange(100))])
            self.count += 1


class Person:
    """Looks at the page and does things with it, by mouse and keyboard."""

    def __init__(self, browser, url):
        self.browser, self.url = browser, url

    def open(self, tab, width=1280, scheme="light"):
        # From elsewhere: a change of the part behind # alone loads nothing.
        self.browser.open("about:blank", width, scheme)
        self.browser.open(self.url + tab, width, scheme)

    def script(self, source, argument=None):
        return self.browser.evaluate(f"(argument) => JSON.stringify((({source}))(argument) ?? null)", argument)

    def wait(self, what, source, argument=None, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            found = self.script(source, argument)
            if found:
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"waited for {what}; the page says: {self.script('() => document.body.innerText')[:600]}")
            time.sleep(0.1)

    def sees(self, text, seconds=30):
        return self.wait(text, "(text) => document.body.innerText.includes(text)", text, seconds)

    def click(self, selector):
        box = self.script("(selector) => { const e = document.querySelector(selector); e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }", selector)
        self.mouse(*box)

    def mouse(self, x, y, press=True):
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if press else ():
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector, text):
        self.script("(selector) => { const e = document.querySelector(selector); e.focus(); e.select(); return true; }", selector)
        self.browser.call("Input.insertText", text=text)

    def key(self, key, code=0, modifiers=0):
        for kind in ("keyDown", "keyUp"):
            more = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            if key == "Enter" and kind == "keyDown":
                more = {"text": "\r"}
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code or ord(key[0].upper()), modifiers=modifiers, **more)


def logs_in(person):
    person.sees("Log in")
    assert not person.script("() => !document.getElementById('console').hidden"), "the console is shown before the login"
    for password, wrong in (("wrong", True), ("cassandra", False)):
        person.type("#role", "cassandra")
        person.type("#password", password)
        person.key("Enter", 13)
        if wrong:
            person.wait("a refusal", "() => !document.getElementById('trouble').hidden && document.getElementById('trouble').textContent")
    person.sees("as cassandra")


def sees_what_is_wrong(person):
    person.sees("no number of machines will help", 60)
    text = person.script("() => document.getElementById('findings').innerText")
    assert HOT in text and "shop.recent_orders exceeds" in text, text
    assert person.script("() => document.querySelectorAll('#tables tbody tr').length") >= 2


def reads_the_hot_key_off_the_map(person):
    person.click("nav button[data-tab=keys]")
    for rows in ("keys", "ring"):
        person.script("(rows) => { const s = document.getElementById('rows-are'); s.value = rows; s.dispatchEvent(new Event('change')); return true; }", rows)
        person.wait("the map", "(rows) => document.getElementById('rows-are').value === rows && heat.rows.length > 0 && heat.rows.length === (rows === 'ring' ? 128 : heat.rows.length) && heat.top > 1 && heat.rows.some((row) => row.names[0])", rows)
        time.sleep(0.3)
        # The brightest cell of the last column, as the eye finds it: by its pixels.
        x, y = person.script("""() => {
          const canvas = document.getElementById('heat');
          canvas.scrollIntoView({block: 'center'});
          const box = canvas.getBoundingClientRect();
          const column = canvas.getContext('2d').getImageData(canvas.width - 3, 0, 1, canvas.height).data;
          let best = 0, top = -1;
          for (let y = 0; y < canvas.height; y++) { const light = column[4 * y] + column[4 * y + 1] + column[4 * y + 2]; if (light > top) { top = light; best = y; } }
          return [box.right - 3, box.top + canvas.clientTop + (best + 1) * canvas.clientHeight / canvas.height];
        }""")
        person.mouse(x, y, press=False)
        told = person.wait("what the cell is", "() => document.getElementById('cell').textContent.includes('this minute') && document.getElementById('cell').textContent")
        assert HOT in told, f"{rows}: {told}"
    first = person.script("() => document.querySelector('#hottest tbody tr').innerText")
    assert HOT in first, first
    # By keyboard too.
    person.script("() => { document.getElementById('heat').focus(); return true; }")
    before = person.script("() => document.getElementById('cell').textContent")
    person.key("ArrowUp", 38)
    assert person.script("() => document.getElementById('cell').textContent") != before
    person.key("+")
    assert person.script("() => shownRows().length") == 64


def sees_a_breach(person):
    person.script("() => { document.activeElement.blur(); return true; }")
    person.key("3")
    text = person.wait("the patterns", "() => { const t = document.getElementById('declared').innerText; return t.includes('breached since') && t; }")
    assert "recent_orders" in text and "place_order" in text and "within" in text, text
    assert "CREATE ACCESS PATTERN shop.read_carts_by_id" in person.script("() => document.getElementById('unmatched').innerText")


def reads_the_schema(person):
    person.click("nav button[data-tab=schema]")
    person.wait("diagrams", "() => document.querySelectorAll('.diagram').length === 2")
    text = person.script("() => [...document.querySelectorAll('.diagram')].find((d) => d.innerText.includes('shop.orders')).innerText")
    assert "customer" in text and "C↓" in text and "no number of machines" in text, text


def runs_a_query(person):
    person.click("nav button[data-tab=statements]")
    person.type("#statement", f"SELECT customer, total FROM shop.orders WHERE customer = '{HOT}' LIMIT 5")
    person.key("Enter", 13, modifiers=2)
    person.wait("five rows", "() => document.querySelectorAll('#answer tbody tr').length === 5")
    cost = person.wait("the cost", "() => { const t = document.getElementById('explained').innerText; return t.includes('time: total') && t; }")
    assert "single partition" in cost and "partitions read" in cost, cost
    person.type("#statement", "SELECT * FROM shop.orders WHERE total = 3")
    person.click("#statement-form button")
    person.sees("ALLOW FILTERING")
    # What is stored is shown, never run.
    evil = "<img src=x onerror=document.title=1>"
    person.type("#statement", f"INSERT INTO shop.carts (id, v) VALUES (1, '{evil}')")
    person.click("#statement-form button")
    person.sees("done; no rows")
    person.type("#statement", "SELECT v FROM shop.carts WHERE id = 1")
    person.click("#statement-form button")
    person.wait("the text itself", "(evil) => document.getElementById('answer').innerText.includes(evil)", evil)
    assert person.script("() => document.title") == "Partita"


def pauses_a_backfill(person):
    connection = client.Connection(person.port, "cassandra")
    connection.query("CREATE TABLE shop.items (id int PRIMARY KEY, kind text, price int)")
    for n in range(400):
        connection.query(f"INSERT INTO shop.items (id, kind, price) VALUES ({n}, 'kind-{n % 7}', {n})")
    connection.query("CREATE PROJECTION shop.items_by_kind ON shop.items AS SELECT price PRIMARY KEY (kind, id) WITH owner = 'sales' AND backfill = {'rows_per_second': '20'}")
    person.click("nav button[data-tab=copies]")
    row = "(state) => { const r = [...document.querySelectorAll('#jobs tbody tr')].find((r) => r.innerText.includes('items_by_kind')); return r && r.innerText.includes(state) && r.innerText; }"
    job = person.wait("the job", row, "").split()[0]
    for label, state in (("Pause", "paused"), ("Resume", "running")):
        person.click(f"#jobs button[aria-label='{label} job {job}']")
        person.wait(state, row, state)
    assert "sales" in person.script("() => document.getElementById('projections').innerText")
    person.click(f"#jobs button[aria-label='Pause job {job}']")
    person.wait("paused", row, "paused")


def stays_logged_in(person):
    person.open("#patterns")
    person.sees("as cassandra")
    person.sees("recent_orders")


def looks_right_everywhere(person, folder, check):
    wrong = []
    for width, scheme in ((320, "light"), (320, "dark"), (768, "light"), (1280, "dark"), (2560, "light")):
        for tab in ("overview", "keys", "patterns", "copies", "schema", "statements"):
            person.open(f"#{tab}", width, scheme)
            person.wait(tab, "(tab) => !document.getElementById('console').hidden && !document.getElementById(tab).hidden", tab)
            time.sleep(1.2)
            person.browser.screenshot(folder / f"console-{tab}-{width}-{scheme}.png")
            found = person.browser.evaluate(check, {}) + [c for c in person.browser.complaints(person.url) if not c.startswith(f"asks for {person.url}")]
            # Tables may scroll inside their own frame; the page may not.
            wrong += [f"{tab} {width} {scheme}: {one}" for one in found if not one.startswith("overflows its box")]
    assert not wrong, "\n     ".join(wrong[:12])


def logs_out(person):
    person.open("")
    person.sees("as cassandra")
    person.click("#logout")
    person.sees("Log in")
    assert not person.script("() => !document.getElementById('console').hidden")
    person.open("#keys")
    person.sees("Log in")
    status = person.script("() => { const r = new XMLHttpRequest(); r.open('POST', '/api/query', false); r.setRequestHeader('X-Partita-Console', '1'); r.send('{\"cql\": \"SELECT * FROM shop.orders\"}'); return [r.status, r.responseText]; }")
    assert status[0] == 401 and "customer" not in status[1], status


def is_small_and_cannot_be_framed(person):
    sizes, began = 0, time.monotonic()
    for path in ("", "console.js", "console.css"):
        with urllib.request.urlopen(person.url + path) as answer:
            sizes += len(answer.read())
    assert sizes < BYTES_MAX, sizes
    took = time.monotonic() - began
    print(f"     the page is {sizes} bytes, fetched in {took * 1000:.0f} ms")
    frame = Path(tempfile.mkdtemp()) / "frame.html"
    frame.write_text(f"<iframe id=f src='{person.url}'></iframe>")
    person.browser.open(frame.as_uri(), 800, "light")
    time.sleep(0.5)
    framed = [event for event in person.browser.events if "frame-ancestors" in json.dumps(event) or "X-Frame-Options" in json.dumps(event)]
    assert framed, "a page of another origin could frame the console"


def main():
    binary = sys.argv[1]
    program = chromium.find() or chromium.install()
    if not program:
        print("no Chromium here and none could be installed; set PARTITA_CHROMIUM to one\n0 passed, 0 failed, 1 skipped")
        return 0
    folder = Path(os.environ.get("PARTITA_CACHE", HERE.parent.parent / ".cache")).resolve() / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    check = (HERE / "check.js").read_text()
    check = check[check.index("(expected)"):]
    data = tempfile.mkdtemp(prefix="partita-console-")
    server, ports = client.start(binary, data, "--auth", "password", "--no-dynamo")
    passed = failed = 0
    browser = chromium.Browser(program)
    load = None
    try:
        load = Load(ports["cql"])
        load.start()
        person = Person(browser, f"http://127.0.0.1:{ports['http']}/")
        person.port = ports["cql"]
        browser.open(person.url, 1280, "light")
        steps = [logs_in, sees_what_is_wrong, reads_the_hot_key_off_the_map, sees_a_breach, reads_the_schema, runs_a_query, pauses_a_backfill, stays_logged_in,
                 lambda p: looks_right_everywhere(p, folder, check), logs_out, is_small_and_cannot_be_framed]
        names = [step.__name__.replace("_", " ") for step in steps]
        names[8] = "looks right everywhere"
        for name, step in zip(names, steps):
            try:
                step(person)
                print(f"ok   {name}", flush=True)
                passed += 1
            except (AssertionError, RuntimeError, TimeoutError) as error:
                print(f"FAIL {name}\n     {error}", flush=True)
                browser.screenshot(folder / f"console-failed-{failed}.png")
                failed += 1
    finally:
        if load:
            load.stopping = True
            load.join(10)
        browser.close()
        server.terminate()
        server.wait(30)
    print(f"screenshots in {folder}; the load generator did {load.count} operations")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
