//! `partita top`: the hottest partitions of a running server, live in a terminal.

use super::Failure;
use super::server_at::ServerAt;
use clap::{Args, ValueEnum};
use client::Client;
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

const HELP: &str = "\
Rates are per second. `share` is the part of the table's operations that this one partition takes; `error` is how many more
operations per second it may have had than shown. While it runs, type one of r w b s t c (reads, writes, bytes, rows
scanned, tombstones, refused conditions) and Enter to sort by it, or q and Enter to end.

The same in CQL: SELECT * FROM system_views.hot_partitions. system_views.table_load shows how evenly each table is used.";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The heaviest by all together
    Load,
    Reads,
    Writes,
    Bytes,
    /// Rows scanned
    Rows,
    Tombstones,
    /// Conditions that did not hold
    Refused,
}

impl By {
    fn column(self) -> &'static str {
        match self {
            By::Load => "rank",
            By::Reads => "reads_per_s",
            By::Writes => "writes_per_s",
            By::Bytes => "bytes_per_s",
            By::Rows => "rows_per_s",
            By::Tombstones => "tombstones_per_s",
            By::Refused => "refused_per_s",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Window {
    Minute,
    Hour,
    Day,
}

#[derive(Args)]
#[command(after_help = HELP)]
pub struct TopOptions {
    #[command(flatten)]
    server: ServerAt,
    /// What the list is sorted by
    #[arg(long, value_enum, default_value_t = By::Load)]
    by: By,
    /// How far back
    #[arg(long, value_enum, default_value_t = Window::Minute)]
    window: Window,
    /// Partitions that are shown
    #[arg(long, value_name = "N", default_value_t = 20)]
    rows: usize,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    every: u64,
    /// Look once and end; the default if the output is not a terminal
    #[arg(long)]
    once: bool,
}

type Row = BTreeMap<String, String>;

pub fn run(options: TopOptions) -> Result<(), Failure> {
    let mut client = options.server.connect()?;
    let mut by = options.by;
    if options.once || !std::io::stdout().is_terminal() {
        print!("{}", page(&mut client, &options, by)?);
        return Ok(());
    }
    let keys = keys();
    loop {
        let page = page(&mut client, &options, by)?;
        // Home, the page with every line cleared behind its end, and nothing of the last page below it.
        let drawn = format!("\x1b[H{}\x1b[J", page.replace('\n', "\x1b[K\n"));
        let mut out = std::io::stdout().lock();
        out.write_all(drawn.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|e| Failure::Failed(e.to_string()))?;
        match keys.recv_timeout(Duration::from_secs(options.every.max(1))) {
            Ok('q') | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(key) => by = sorted_by(key).unwrap_or(by),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn sorted_by(key: char) -> Option<By> {
    Some(match key {
        'l' => By::Load,
        'r' => By::Reads,
        'w' => By::Writes,
        'b' => By::Bytes,
        's' => By::Rows,
        't' => By::Tombstones,
        'c' => By::Refused,
        _ => return None,
    })
}

/// First letters of the lines that are typed.
fn keys() -> Receiver<char> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            let sent = line.chars().next().map(|key| sender.send(key.to_ascii_lowercase()));
            if sent.is_some_and(|sent| sent.is_err()) {
                return;
            }
        }
        // The input has ended: the page goes on until it is interrupted.
        loop {
            std::thread::park();
        }
    });
    receiver
}

fn number(row: &Row, column: &str) -> f64 {
    row.get(column).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

fn page(client: &mut Client, options: &TopOptions, by: By) -> Result<String, Failure> {
    let window = match options.window {
        Window::Minute => "minute",
        Window::Hour => "hour",
        Window::Day => "day",
    };
    let failed = |error: client::ClientError| Failure::Failed(error.to_string());
    let mut rows = client
        .texts(&format!("SELECT * FROM system_views.hot_partitions WHERE window = '{window}'"))
        .map_err(failed)?;
    let tables = client.texts("SELECT window, finding FROM system_views.table_load").map_err(failed)?;
    if by != By::Load {
        rows.sort_by(|a, b| number(b, by.column()).total_cmp(&number(a, by.column())));
    }
    rows.truncate(options.rows);
    let mut text =
        format!("{}  hottest partitions of the last {window}, by {}\n\n", options.server.name(), by.column());
    text += &lines(&rows);
    if rows.is_empty() {
        text += "nothing was read or written\n";
    }
    let of_window = |row: &&Row| row.get("window").is_some_and(|w| w == window);
    for finding in tables.iter().filter(of_window).filter_map(|row| row.get("finding")) {
        text += &format!("\n! {finding}\n");
    }
    Ok(text)
}

const KEY_WIDTH_MAX: usize = 40;

fn lines(rows: &[Row]) -> String {
    let head =
        ["table", "partition", "reads", "writes", "bytes", "rows", "tombst.", "refused", "share", "error"];
    let mut cells: Vec<Vec<String>> = vec![head.iter().map(|h| h.to_string()).collect()];
    let text = |row: &Row, column: &str| row.get(column).cloned().unwrap_or_default();
    for row in rows {
        let rate = |column: &str| short(number(row, column));
        let key: String = text(row, "partition_key").chars().filter(|c| !c.is_control()).collect();
        let key = match key.char_indices().nth(KEY_WIDTH_MAX) {
            Some((end, _)) => format!("{}…", &key[..end]),
            None => key,
        };
        cells.push(vec![
            format!("{}.{}", text(row, "keyspace_name"), text(row, "table_name")),
            key,
            rate("reads_per_s"),
            rate("writes_per_s"),
            rate("bytes_per_s"),
            rate("rows_per_s"),
            rate("tombstones_per_s"),
            rate("refused_per_s"),
            format!("{:.1} %", number(row, "share") * 100.0),
            rate("error"),
        ]);
    }
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let shown = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            if at < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        shown.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    cells.iter().map(line).collect()
}

/// Three digits or so: `0.4`, `38`, `12.5k`, `3.1M`.
fn short(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1}G", n / 1e9),
        n if n >= 1e6 => format!("{:.1}M", n / 1e6),
        n if n >= 1e4 => format!("{:.1}k", n / 1e3),
        n if n >= 10.0 => format!("{n:.0}"),
        n if n > 0.0 => format!("{n:.1}"),
        _ => "0".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_columns_stand_below_each_other() {
        let shown = [0.0, 0.44, 9.96, 38.4, 9_999.0, 12_480.0, 3_100_000.0, 2e9].map(short);
        assert_eq!(shown, ["0", "0.4", "10.0", "38", "9999", "12.5k", "3.1M", "2.0G"]);
        let row = |key: &str, reads: &str| {
            let cells = [
                ("keyspace_name", "k"),
                ("table_name", "t"),
                ("partition_key", key),
                ("reads_per_s", reads),
                ("share", "0.5"),
            ];
            cells.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        let text = lines(&[row("a\x1b[31m", "5"), row(&"é".repeat(60), "12000")]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("k.t    a[31m ") && !text.contains('\x1b'), "{text}");
        assert!(lines[2].contains(&format!("{}…  12.0k", "é".repeat(40))), "{text}");
        assert!(lines.iter().skip(1).all(|line| line.contains("50.0 %")));
    }
}
