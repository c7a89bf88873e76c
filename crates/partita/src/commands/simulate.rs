//! `partita simulate`: what the keys of a schema will cost at 1x, 10x, 100x, before any hardware is bought.
//!
//! Only reads the named files; needs no server. Exit 0 with a report, 2 when the files or settings cannot be simulated.

use super::Failure;
use super::files::{read, write_out};
use clap::{Args, ValueEnum};
use design::output::text::Colour;
use design::simulate::{self, Consistency, Grows, Large, Progress, Settings};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A simulation that is done before this needs no progress.
const PATIENCE: Duration = Duration::from_millis(700);

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct SimulateOptions {
    /// CQL files with CREATE TABLE and CREATE ACCESS PATTERN statements; `-` reads standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How to write the report.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Skew of tenants and of the keys inside one: 0 is even, 1 is usual, above 1.2 is harsh.
    #[arg(long, value_name = "EXPONENT", default_value_t = 1.0)]
    zipf: f64,
    /// A named key with its share of rows and traffic, on top of the others: `acme=40%`, `sensor_id:hub=0.1`. Repeatable.
    #[arg(long, value_name = "NAME=SHARE")]
    large: Vec<Large>,
    /// Tenants, for tables whose key has a tenant column.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    tenants: u64,
    /// Keys of a table that does not declare `partitions`.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    keys: u64,
    /// Nodes of the ring.
    #[arg(long, value_name = "N", default_value_t = 6)]
    nodes: usize,
    /// Tokens of each node.
    #[arg(long, value_name = "N", default_value_t = 16)]
    vnodes: usize,
    /// Copies of each partition.
    #[arg(long, value_name = "N", default_value_t = 3)]
    replication: usize,
    /// How many replicas a read asks.
    #[arg(long, value_enum, default_value_t = ReadConsistency::Quorum)]
    consistency: ReadConsistency,
    /// Sizes of the business to look at.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,10,100")]
    scale: Vec<f64>,
    /// What grows with the scale: the rows and traffic of each key (the harder case), or the number of keys.
    #[arg(long, value_enum, default_value_t = Growing::Rows)]
    grow: Growing,
    /// Days of writing, if the retention is longer.
    #[arg(long, value_name = "N", default_value_t = 365.0)]
    days: f64,
    /// The same seed gives the same report on every machine.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

const HELP: &str = "\
Declared numbers are used: peak_rate, partitions, rows_per_partition, rows_per_day, row_bytes, retention, lookback, hot_share and
buckets of CREATE ACCESS PATTERN. Numbers that are not declared are assumed, and the report ends with every assumption.

  partita simulate schema.cql --large acme=40%                     one tenant is 40 % of everything
  partita simulate schema.cql --zipf 0 --nodes 12 --scale 1,50     even keys, a larger ring
  partita simulate schema.cql --format svg -o cost.svg             the picture
  partita simulate schema.cql --format json | jq .verdicts         for programs

docs/simulate.md says how it is computed and how it was checked.";

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Svg,
}

#[derive(Clone, Copy, ValueEnum)]
enum Growing {
    Rows,
    Keys,
}

#[derive(Clone, Copy, ValueEnum)]
enum ReadConsistency {
    One,
    Quorum,
    All,
}

pub fn run(options: SimulateOptions) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in &options.files {
        files.push((path.display().to_string(), read(path)?));
    }
    let review = design::review(files);
    if !review.errors().is_empty() {
        for error in review.errors() {
            let file = review.catalogue.files.get(error.place.file);
            let place = file.map_or(String::new(), |file| {
                let position = file.position(error.place.span.start);
                format!("{}:{}:{}: ", file.name, position.line, position.column)
            });
            eprintln!("{place}{}", error.message);
        }
        let text = "statements that cannot be read cannot be simulated; `partita review` shows them in place";
        return Err(Failure::Usage(text.into()));
    }
    let settings = settings(&options);
    let mut progress = ProgressLine::new();
    let simulation = simulate::simulate(&review, &settings, &mut |step| progress.show(step))
        .map_err(|e| Failure::Usage(e.to_string()))?;
    progress.clear();
    let is_terminal = options.output.is_none() && std::io::stdout().is_terminal();
    let colour = if is_terminal { Colour::Always } else { Colour::Never };
    let written = match options.format {
        Format::Text => simulate::write_text(&simulation, colour),
        Format::Json => simulate::write_json(&simulation) + "\n",
        Format::Svg => simulate::write_svg(&simulation),
    };
    write_out(&options.output, &written)
}

fn settings(options: &SimulateOptions) -> Settings {
    Settings {
        nodes: options.nodes,
        vnodes: options.vnodes,
        replication: options.replication,
        consistency: match options.consistency {
            ReadConsistency::One => Consistency::One,
            ReadConsistency::Quorum => Consistency::Quorum,
            ReadConsistency::All => Consistency::All,
        },
        zipf: options.zipf,
        tenants: options.tenants,
        keys: options.keys,
        large: options.large.clone(),
        scales: options.scale.clone(),
        days: options.days,
        grows: match options.grow {
            Growing::Rows => Grows::Rows,
            Growing::Keys => Grows::Keys,
        },
        seed: options.seed,
    }
}

/// One line on standard error, once the work takes long; rewritten in place on a terminal.
struct ProgressLine {
    begun: Instant,
    shown: Option<Instant>,
    is_terminal: bool,
}

impl ProgressLine {
    fn new() -> ProgressLine {
        ProgressLine { begun: Instant::now(), shown: None, is_terminal: std::io::stderr().is_terminal() }
    }

    fn show(&mut self, step: Progress<'_>) {
        // A log file gets a line every few seconds, a terminal a moving one.
        let pause = Duration::from_millis(if self.is_terminal { 100 } else { 5_000 });
        if self.begun.elapsed() < PATIENCE || self.shown.is_some_and(|at| at.elapsed() < pause) {
            return;
        }
        self.shown = Some(Instant::now());
        let text = format!("simulating {} of {}: {}", step.done + 1, step.total, step.table);
        let mut err = std::io::stderr();
        // Nobody may be looking: that is no error.
        let _ = match self.is_terminal {
            true => write!(err, "\r\x1b[2K{text}").and_then(|()| err.flush()),
            false => writeln!(err, "{text}"),
        };
    }

    fn clear(&self) {
        if self.is_terminal && self.shown.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
