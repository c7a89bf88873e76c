//! `partita migrate run` and its fellows: a database moves while it is being written, and back (docs/moving-data.md).

mod cells;
mod compare;
mod counters;
mod front;
mod mend;
mod pace;
mod record;
mod work;

use super::schema::{self, Schema};
use super::{Failure, Server, failed};
use crate::commands::transfer::table::{Column, Kind, Table, quoted_text};
use clap::{Args, Subcommand};
use client::Client;
use cql_wire::Consistency;
use front::{Front, Side};
use pace::Pace;
use record::{PARTS, Record};
use serde_json::{Value, json};
use server::config::ClusterTls;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use work::Work;

/// Writes are held so long at most while sides are exchanged.
const HOLD: Duration = Duration::from_secs(60);
const FRONT_STARTS: Duration = Duration::from_secs(15);

#[derive(Subcommand)]
pub enum LiveCommand {
    /// Copy, mend and compare until the migration is finished; if killed, it continues from where it was
    Run(RunOptions),
    /// Show how far the migration is
    Status(FrontAt),
    /// Pause copying and comparing; writes still go to both sides
    Pause(FrontAt),
    /// Continue copying
    Resume(FrontAt),
    /// Ask both sides for a share of the reads, and count answers that differ
    Shadow(ShadowOptions),
    /// Let the target answer; the source follows
    CutOver(TurnOptions),
    /// Let the source answer again; the target follows
    RollBack(TurnOptions),
    /// End the migration: from now on only the side that answers is used
    Finish(FinishOptions),
}

#[derive(Args)]
pub struct FrontAt {
    /// The folder of the front end, as its --mirror-state says
    #[arg(long, value_name = "DIR", env = "PARTITA_MIRROR_STATE")]
    state: PathBuf,
}

#[derive(Args)]
pub struct Logins {
    #[command(flatten)]
    at: FrontAt,
    /// A file that holds the password of the role on the target [default: PARTITA_TO_PASSWORD, or PARTITA_PASSWORD]
    #[arg(long, value_name = "FILE")]
    to_password_file: Option<PathBuf>,
    /// Authorities (PEM) that sign the source's certificate; with it, the source is reached over TLS
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// The same of the target
    #[arg(long, value_name = "FILE")]
    to_tls_ca: Option<PathBuf>,
    /// Connections to each side that work side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    connections: u16,
}

#[derive(Args)]
pub struct RunOptions {
    #[command(flatten)]
    logins: Logins,
    /// The server that has the data: what --engine of the front end names. Needed the first time
    #[arg(long, value_name = "HOST:PORT")]
    from: Option<String>,
    /// The server that gets it: what --mirror of the front end names. Needed the first time
    #[arg(long, value_name = "HOST:PORT")]
    to: Option<String>,
    /// A keyspace, with all that is in it; may be given several times
    #[arg(long, value_name = "NAME")]
    keyspace: Vec<String>,
    /// A table: keyspace.table; may be given several times. It must exist on the target
    #[arg(long, value_name = "TABLE", conflicts_with = "keyspace")]
    table: Vec<String>,
    /// Replication of the keyspaces on the target [default: that of the source]
    #[arg(long, value_name = "MAP")]
    replication: Option<String>,
    /// Copy no more rows per second than this
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rows_per_second: Option<u64>,
    /// Copy more slowly while one in a hundred writes of the front end's clients takes longer than this
    #[arg(long, value_name = "MILLISECONDS")]
    p99_ms: Option<u64>,
    /// The role on the source. The password is PARTITA_PASSWORD
    #[arg(long, value_name = "ROLE", env = "PARTITA_USER", default_value = client::FIRST_LOGIN.0)]
    user: String,
    /// The role on the target [default: that on the source]
    #[arg(long, value_name = "ROLE")]
    to_user: Option<String>,
    /// Only say what would be done
    #[arg(long)]
    plan: bool,
    /// End when everything is copied and compared, instead of when the migration is finished
    #[arg(long)]
    until_verified: bool,
}

#[derive(Args)]
pub struct ShadowOptions {
    #[command(flatten)]
    at: FrontAt,
    /// Percent of the reads; 0 ends it
    #[arg(value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    percent: u32,
}

#[derive(Args)]
pub struct TurnOptions {
    #[command(flatten)]
    logins: Logins,
    /// Turn even if something may differ, because the side that answers now is lost
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
pub struct FinishOptions {
    #[command(flatten)]
    logins: Logins,
}

pub fn live(command: &LiveCommand) -> Result<(), Failure> {
    match command {
        LiveCommand::Run(options) => run(options),
        LiveCommand::Status(at) => status(&Front::at(&at.state)),
        LiveCommand::Pause(at) => record::pause(&at.state, true),
        LiveCommand::Resume(at) => record::pause(&at.state, false),
        LiveCommand::Shadow(options) => {
            Front::at(&options.at.state).order(&json!({ "do": "shadow", "share": options.percent * 100 }))
        }
        LiveCommand::CutOver(options) => turn(options, Side::Target),
        LiveCommand::RollBack(options) => turn(options, Side::Source),
        LiveCommand::Finish(options) => finish(options),
    }
}

/// What the sides are reached with besides their addresses.
struct Means {
    to_password: Option<String>,
    tls: [Option<ClusterTls>; 2],
}

impl Means {
    fn of(logins: &Logins) -> Result<Means, Failure> {
        let tls = [&logins.tls_ca, &logins.to_tls_ca].map(|ca| super::tls(ca.as_ref()));
        Ok(Means { to_password: super::password_of(logins.to_password_file.as_deref())?, tls })
    }

    /// The two sides of a record.
    fn sides<'o>(&'o self, record: &'o Record) -> (Server<'o>, Server<'o>) {
        let consistency = Consistency::LocalQuorum;
        let [tls, to_tls] = &self.tls;
        let source = Server { consistency, tls: tls.as_ref(), ..Server::new(&record.from, &record.user) };
        let password = self.to_password.as_deref();
        let target = Server {
            consistency,
            password,
            tls: to_tls.as_ref(),
            ..Server::new(&record.to, &record.to_user)
        };
        (source, target)
    }
}

fn run(options: &RunOptions) -> Result<(), Failure> {
    let front = Front::at(&options.logins.at.state);
    let status = first_status(&front)?;
    let _lock = record::take(front.folder())?;
    let mut record = match Record::open(front.folder())? {
        Some(record) => record,
        None => first_record(options)?,
    };
    record.runs += 1;
    (record.since_millis, record.parts_before) = (now_millis(), record.parts_copied());
    let (known, means) = (record.clone(), Means::of(&options.logins)?);
    let (source, target) = means.sides(&known);
    let (mut from, mut to) = (source.connect()?, target.connect()?);
    let schema = Schema::read(&mut from, &known.keyspaces)?;
    if record.tables.is_empty() {
        record.tables = schema.tables();
    }
    if record.tables.is_empty() {
        return Err(Failure::Failed("there is no table to migrate".into()));
    }
    let found: Result<Vec<Table>, Failure> =
        record.tables.iter().map(|name| Table::find(&mut from, name)).collect();
    let tables = found?;
    plan(&tables, &mut from, &mut to)?;
    if options.plan {
        return Ok(());
    }
    if !status.dual {
        schema.make_tables(&mut to, options.replication.as_deref())?;
    }
    for table in &tables {
        let there = Table::find(&mut to, &format!("{}.{}", quoted(&table.keyspace), quoted(&table.name)))?;
        schema::same_columns(table, &there)?;
        if !status.dual && record.copied.is_empty() && schema::has_rows(&mut to, &there)? {
            return Err(Failure::Failed(format!(
                "{}: the target has rows in it already. Empty it first",
                table.path()
            )));
        }
    }
    hold_tombstones(&mut record, &tables, [(Side::Source, &mut from), (Side::Target, &mut to)])?;
    record.parts = tables.iter().filter(|table| !table.is_counter()).count() * PARTS;
    record.store(front.folder())?;
    drop((from, to));
    if !status.dual && status.phase != "ended" {
        front.order(&json!({ "do": "dual", "tables": tables.iter().map(entry).collect::<Vec<_>>() }))?;
        println!("writes go to both sides from now on");
    }
    let p99 = options.p99_ms.map(Duration::from_millis);
    let work = Work {
        source,
        target,
        connections: usize::from(options.logins.connections),
        tables,
        schema,
        pace: Pace::new(front.folder().to_owned(), options.rows_per_second, p99),
        record: Mutex::new(record),
        front,
        until_verified: options.until_verified,
    };
    work.run()
}

/// The front end may be starting, too.
fn first_status(front: &Front) -> Result<front::Status, Failure> {
    let began = Instant::now();
    loop {
        match front.status() {
            Err(_) if began.elapsed() < FRONT_STARTS => std::thread::sleep(Duration::from_millis(200)),
            status => return status,
        }
    }
}

fn quoted(name: &str) -> String {
    crate::commands::transfer::table::quoted_name(name)
}

fn first_record(options: &RunOptions) -> Result<Record, Failure> {
    let (Some(from), Some(to)) = (options.from.clone(), options.to.clone()) else {
        return Err(Failure::Usage("say --from and --to the first time".into()));
    };
    if options.keyspace.is_empty() && options.table.is_empty() {
        return Err(Failure::Usage("say which --keyspace (or --table) the first time".into()));
    }
    let mut record = Record::default();
    (record.from, record.to) = (from, to);
    record.to_user = options.to_user.clone().unwrap_or_else(|| options.user.clone());
    record.user = options.user.clone();
    record.keyspaces = options.keyspace.clone();
    record.tables = options.table.clone();
    Ok(record)
}

/// What the front end must know of a table.
fn entry(table: &Table) -> Value {
    let columns = |kind| -> Vec<Value> {
        let all = table.of_kind(kind).map(|column| json!({ "name": column.name, "type": column.type_text }));
        all.collect()
    };
    let named = |which: fn(&Column) -> bool| -> Vec<&str> {
        table.columns.iter().filter(|column| which(column)).map(|column| column.name.as_str()).collect()
    };
    let is_set_or_map =
        |column: &Column| column.type_text.starts_with("set<") || column.type_text.starts_with("map<");
    json!({
        "keyspace": table.keyspace,
        "name": table.name,
        "partition": columns(Kind::Partition),
        "clustering": columns(Kind::Clustering),
        "sets_and_maps": named(is_set_or_map),
        "lists": named(Column::is_list),
        "counter": table.is_counter(),
    })
}

/// Says what is to be done and what cannot be kept.
fn plan(tables: &[Table], from: &mut Client, to: &mut Client) -> Result<(), Failure> {
    println!("{} tables are migrated:", tables.len());
    for table in tables {
        let mut notes = Vec::new();
        if table.is_counter() {
            notes.push("counters: brought over while writes are held, when you cut over");
            if table.of_kind(Kind::Static).next().is_some() {
                return Err(Failure::Failed(format!("{}: static counters cannot be migrated", table.path())));
            }
        } else {
            notes.push(
                "rows that were made by INSERT and by UPDATE alone are not told apart: each has a marker",
            );
        }
        if table.columns.iter().any(Column::is_list) {
            notes.push("lists: their elements get the time of the newest");
        }
        println!("  {}: {}", table.path(), notes.join("; "));
    }
    for (side, client) in [("source", from), ("target", to)] {
        if is_partita(client) {
            println!("  the {side} is Partita: it keeps its tombstones until the migration is finished");
            continue;
        }
        for table in tables {
            let (keyspace, name) = (quoted_text(&table.keyspace), quoted_text(&table.name));
            let query = format!(
                "SELECT gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = {keyspace} AND table_name = {name}"
            );
            let rows = client.texts(&query).map_err(failed)?;
            let seconds = rows.first().and_then(|row| row.get("gc_grace_seconds")?.parse::<u64>().ok());
            if let Some(seconds) = seconds.filter(|seconds| *seconds < 86_400) {
                println!(
                    "  warning: {} on the {side} forgets deletions after {seconds} s (gc_grace_seconds). If the migration takes longer, \
                     what was deleted may come back: raise it first",
                    table.path()
                );
            }
        }
    }
    Ok(())
}

/// Only Partita has this table.
fn is_partita(client: &mut Client) -> bool {
    client.texts("SELECT finding FROM system_views.findings LIMIT 1").is_ok()
}

/// A backfill brings cells that are older than deletions that are there already. Partita forgets deletions early where nothing older
/// can come, so it must be told that something can.
fn hold_tombstones(
    record: &mut Record,
    tables: &[Table],
    sides: [(Side, &mut Client); 2],
) -> Result<(), Failure> {
    for (side, client) in sides {
        if record.held.iter().any(|held| held == side.name()) || !is_partita(client) {
            continue;
        }
        hold(client, tables, &today())?;
        record.held.push(side.name().to_string());
    }
    Ok(())
}

fn hold(client: &mut Client, tables: &[Table], since: &str) -> Result<(), Failure> {
    for table in tables.iter().filter(|table| !table.is_counter()) {
        let text = format!("ALTER TABLE {} WITH hold_tombstones = '{since}'", table.path());
        client.must(&text).map_err(failed)?;
    }
    Ok(())
}

fn today() -> String {
    model::temporal::format_date(model::temporal::millis_to_date_days(now_millis()))
}

fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn status(front: &Front) -> Result<(), Failure> {
    let status = front.status()?;
    let time = |millis: i64| model::temporal::format_timestamp(millis);
    println!("phase: {}", status.phase);
    println!("answers: {}{}", status.answers.name(), if status.held { " (writes are held)" } else { "" });
    if let Some(record) = Record::open(front.folder())? {
        let (done, all) = (record.parts_copied(), record.parts);
        println!("from {} to {}: {}", record.from, record.to, record.tables.join(", "));
        let paused = if record::is_paused(front.folder()) { ", paused" } else { "" };
        let left = record.seconds_left(all, now_millis()).filter(|_| done < all);
        let left = left.map(|seconds| format!(", about {seconds} s to go")).unwrap_or_default();
        println!("copied: {done} of {all} parts, {} rows{paused}{left}", record.rows);
        if !record.compared.is_empty() {
            println!("last comparison: {}", record.compared);
        }
    }
    println!(
        "writes on both sides: {}; keys marked: {}, waiting: {}; refused: {}",
        status.both, status.marked, status.marks, status.refused
    );
    match (status.unverified, status.verified) {
        (Some(since), _) => println!("not compared since {}: something may differ", time(since)),
        (None, Some(began)) => {
            println!("verified: everything was equal in a comparison that began {}", time(began))
        }
        (None, None) => println!("not compared yet"),
    }
    for (from, to) in &status.interruptions {
        println!("dual writes were interrupted from {} to {}", time(*from), time(*to));
    }
    let share = f64::from(status.shadow) / 100.0;
    println!("shadow reads: {share} %, {} so far, {} different", status.shadowed, status.different);
    status.differing.iter().for_each(|statement| println!("  differed: {statement}"));
    Ok(())
}

/// What an order of an operator needs of the record.
fn with_work<T>(logins: &Logins, act: impl FnOnce(&Work<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    let front = Front::at(&logins.at.state);
    let record = Record::open(front.folder())?.ok_or_else(|| {
        Failure::Failed("no migration has begun here; partita migrate run begins one".into())
    })?;
    let (known, means) = (record.clone(), Means::of(logins)?);
    let (source, target) = means.sides(&known);
    let mut from = source.connect().or_else(|_| target.connect())?;
    let tables: Result<Vec<Table>, Failure> =
        known.tables.iter().map(|name| Table::find(&mut from, name)).collect();
    let work = Work {
        pace: Pace::new(front.folder().to_owned(), None, None),
        source,
        target,
        connections: usize::from(logins.connections),
        tables: tables?,
        schema: Schema::default(),
        record: Mutex::new(record),
        front,
        until_verified: false,
    };
    act(&work)
}

/// Cut over, and roll back.
fn turn(options: &TurnOptions, to: Side) -> Result<(), Failure> {
    with_work(&options.logins, |work| {
        let status = work.front.status()?;
        if status.answers == to {
            println!("the {} answers already", to.name());
            return Ok(());
        }
        if !status.dual {
            return Err(Failure::Failed("no migration is under way".into()));
        }
        if !options.force && !status.is_verified() {
            return Err(Failure::Failed(
                "the two sides were not compared since something may have come to differ. Let partita migrate run finish first \
                 (partita migrate status says how far it is)"
                    .into(),
            ));
        }
        // Most of the counters before writes are held, so that they are not held for long.
        if !options.force {
            work.counters(status.answers)?;
        }
        let began = Instant::now();
        let millis = u64::try_from(HOLD.as_millis()).unwrap_or(0);
        work.front.order(&json!({ "do": "hold", "millis": millis }))?;
        let turned = exchange(work, status.answers, options.force, began);
        // Whatever happened, nobody waits longer.
        work.front.order(&json!({ "do": "release" }))?;
        turned?;
        println!(
            "the {} answers since now; writes were held for {} ms",
            to.name(),
            began.elapsed().as_millis()
        );
        Ok(())
    })
}

fn exchange(work: &Work<'_>, answers: Side, force: bool, began: Instant) -> Result<(), Failure> {
    if !force {
        while work.front.status()?.marks > 0 {
            if began.elapsed() > HOLD / 2 {
                let text = "keys wait to be looked at again and do not become fewer; is partita migrate run at work? Nothing was changed";
                return Err(Failure::Failed(text.into()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        work.counters(answers)?;
    }
    work.front.order(&json!({ "do": "switch", "to": answers.other().name(), "force": force }))
}

fn finish(options: &FinishOptions) -> Result<(), Failure> {
    with_work(&options.logins, |work| {
        let status = work.front.status()?;
        if status.phase != "ended" {
            work.front.order(&json!({ "do": "finish" }))?;
        }
        for (side, server) in [(Side::Source, work.source), (Side::Target, work.target)] {
            let mut record = work.record.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if !record.held.iter().any(|held| held == side.name()) {
                continue;
            }
            hold(&mut server.connect()?, &work.tables, "")?;
            record.held.retain(|held| held != side.name());
            record.store(work.front.folder())?;
        }
        println!(
            "finished: the {} answers, alone. Point the applications at it and stop the front end",
            status.answers.name()
        );
        Ok(())
    })
}
