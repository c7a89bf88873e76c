"""Turns the numbers of several repetitions into the table of ratios (Markdown), with the spread."""

from statistics import median


def spread(values):
    return f"{min(values):,.1f}-{max(values):,.1f}" if len(values) > 1 else f"{values[0]:,.1f}"


def column(runs, server, name, key):
    return [run[server][name][key] for run in runs if name in run.get(server, {})]


def ratio(runs, name, key):
    ours, theirs = column(runs, "partita", name, key), column(runs, "cassandra", name, key)
    if not ours or not theirs or not median(ours):
        return None
    return median(theirs) / median(ours)


def show_ratio(value, unit="x"):
    return "-" if value is None else f"{value:.1f}{unit}"


def saturation_table(runs, names):
    lines = [
        "| workload | Partita CPU us/op | Cassandra CPU us/op | CPU ratio | Partita op/s | Cassandra op/s | op/s ratio | Partita p99 ms | Cassandra p99 ms | client busy |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        if not column(runs, "partita", name, "rate") and not column(runs, "cassandra", name, "rate"):
            continue
        cells = [name]
        for key in ("cpu_us_per_op", "rate"):
            for server in ("partita", "cassandra"):
                values = column(runs, server, name, key)
                cells.append(f"{spread(values)}" if values else "-")
            found = ratio(runs, name, key)
            cells.append(show_ratio(found if key == "cpu_us_per_op" or found is None else 1 / found))
        for server in ("partita", "cassandra"):
            values = column(runs, server, name, "p99_ms")
            cells.append(f"{median(values):.2f}" if values else "-")
        busy = column(runs, "partita", name, "client_busy")
        cells.append(f"{median(busy) * 100:.0f} %" if busy else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def rate_table(runs, names):
    lines = ["| workload | rate, op/s | Partita p50 / p99 / p99.9 ms | Cassandra p50 / p99 / p99.9 ms | p99 ratio |", "|---|---|---|---|---|"]
    for name in names:
        key = f"{name} @"
        if not column(runs, "partita", key, "rate"):
            continue
        cells = [name, f"{median(column(runs, 'partita', key, 'rate')):,.0f}"]
        for server in ("partita", "cassandra"):
            cells.append(" / ".join(f"{median(v):.2f}" if (v := column(runs, server, key, p)) else "-" for p in ("p50_ms", "p99_ms", "p999_ms")))
        cells.append(show_ratio(ratio(runs, key, "p99_ms")))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def footprint_table(runs):
    lines = ["| | Partita | Cassandra |", "|---|---|---|"]
    rows = [("start to first answer, s", "start_seconds", 3), ("resident after start, MB", "idle_mb", 0),
            ("resident at the end, MB", "end_mb", 0), ("bytes on disk after writes and restart, MB", "disk_mb", 0)]
    for title, key, digits in rows:
        cells = [title]
        for server in ("partita", "cassandra"):
            values = [run[server]["process"][key] for run in runs if "process" in run.get(server, {})]
            cells.append(" - ".join(f"{v:,.{digits}f}" for v in sorted({min(values), max(values)})) if values else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def whole(runs, names, machine, durability):
    return "\n\n".join([
        f"Durability {durability}, {len(runs)} repetitions, {machine}",
        "At saturation (128 requests in flight, closed loop; ranges are over the repetitions, ratios are of medians):",
        saturation_table(runs, names),
        "At a fixed rate, half of what Cassandra could do at most (open loop):",
        rate_table(runs, names),
        footprint_table(runs),
    ]) + "\n"
