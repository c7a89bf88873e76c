"""What is measured, in which order: the same plan for both servers.

A plan is played in two sittings. The first writes (and so warms the write path), the second starts the server again,
so that reads come from files on both sides, warms up, and reads. Cycle numbers never repeat within a sitting, so that
an insert is always a new row.
"""

SENSORS, ROWS = 500, 1000
BIG_PARTITIONS, BIG_ROWS = 2, 100_000
QUEUE_TURNS = 20_000
EXPIRY_RATE = 1000

# name -> (script, functions, rows per request or None, parameters)
WORKLOADS = {
    "insert": ("ts_write.rn", ["insert"], 0, {}),
    "lwt insert": ("lwt.rn", ["claim_new"], 1, {}),
    "lwt swap": ("lwt.rn", ["swap"], 1, {}),
    "logged batch": ("batch2.rn", ["logged"], 0, {}),
    "point read": ("ts_read.rn", ["point"], 1, {"sensors": SENSORS, "rows": ROWS}),
    "newest 100": ("ts_read.rn", ["latest100"], 100, {"sensors": SENSORS, "rows": ROWS}),
    "mixed": ("ts_read.rn", ["point", "insert"], None, {"sensors": SENSORS, "rows": ROWS}),
    "reverse slice": ("big_partition.rn", ["below"], 100, {"partitions": BIG_PARTITIONS, "rows": BIG_ROWS}),
}
WRITES = ["insert", "lwt insert", "lwt swap", "logged batch"]
READS = ["point read", "newest 100", "mixed", "reverse slice"]
# Measured by a fixed amount or rate of work instead of saturation: see the workloads' own words.
FIXED = ["queue", "expiry"]


class Sitting:
    """Plays parts of the plan on one server that is already running."""

    def __init__(self, server, client, options, say):
        self.server, self.client, self.options, self.say = server, client, options, say
        self.cycle = 1_000_000_000
        self.numbers = {}

    def wanted(self, name):
        return not self.options.only or name in self.options.only

    def next_cycles(self):
        self.cycle += 100_000_000
        return self.cycle

    def load_tables(self):
        for script in ("ts_write.rn", "lwt.rn", "batch2.rn", "ts_read.rn", "big_partition.rn", "queue.rn", "expiry.rn"):
            self.client.schema(script)
        self.client.load("lwt.rn")
        if any(map(self.wanted, READS)):
            self.say(f"loading {SENSORS * ROWS} + {BIG_PARTITIONS * BIG_ROWS} rows")
            self.client.load("ts_read.rn", sensors=SENSORS, rows=ROWS)
            self.client.load("big_partition.rn", partitions=BIG_PARTITIONS, rows=BIG_ROWS)

    def saturate(self, names, warmup):
        for name in filter(self.wanted, names):
            script, functions, rows, params = WORKLOADS[name]
            tag = name.replace(" ", "-")
            self.client.run(f"{tag}-warm", script, functions, f"{warmup}s", start_cycle=self.next_cycles(), params=params)
            got = self.client.run(tag, script, functions, f"{self.options.seconds}s", start_cycle=self.next_cycles(), rows=rows, params=params)
            self.numbers[name] = got
            self.say(f"{name}: {got['rate']:,.0f} op/s, {got['cpu_us_per_op']:.1f} us CPU, p99 {got['p99_ms']:.2f} ms")

    def at_rate(self, rates):
        """Open loop at the given rate per workload: the latency a user would see beside a fixed load."""
        for name, rate in rates.items():
            script, functions, rows, params = WORKLOADS[name]
            tag = name.replace(" ", "-") + "-rate"
            got = self.client.run(tag, script, functions, f"{self.options.seconds}s", rate=rate, start_cycle=self.next_cycles(), rows=rows, params=params)
            self.numbers[f"{name} @"] = got
            self.say(f"{name} at {rate:,.0f}/s: p50 {got['p50_ms']:.2f} p99 {got['p99_ms']:.2f} p99.9 {got['p999_ms']:.2f} ms")

    def fixed(self):
        if self.wanted("queue"):
            self.client.load("queue.rn")
            self.numbers["queue"] = self.client.run("queue", "queue.rn", ["turn"], QUEUE_TURNS, concurrency=16)
        if self.wanted("expiry"):
            self.numbers["expiry"] = self.client.run("expiry", "expiry.rn", ["turn"], f"{self.options.seconds}s", rate=EXPIRY_RATE)
        for name in filter(self.wanted, FIXED):
            got = self.numbers[name]
            self.say(f"{name}: {got['rate']:,.0f} turns/s, {got['cpu_us_per_op']:.1f} us CPU, p99 {got['p99_ms']:.2f} ms")
