//! `conformance record|replay --port [ADDRESS:]P [--dir conformance] [--only WORD] [--roles]`, and
//! `conformance random --port PARTITA --cassandra PORT [--seed N] [--statements N] [--round N] [--connections N]
//! [--shrink TRIES] [--found MAX] [--six]`.
//!
//! `record` runs the scenarios on a real Cassandra and writes its answers into the files; with `--check` it fails on
//! any difference instead of writing (but for those that the file of `--except` lists). `replay` runs them on Partita and compares.
//! `--address A` is where the server listens, if not on 127.0.0.1. `--six` takes the scenarios of Cassandra 6.0 (`six/`).
//! `--roles` takes the scenarios for servers with password login; `--known` shows the known differences too.
//! `random` compares the two on random statements (Partita needs `--functions`; with `--six`, what only Cassandra 6.0 has); each difference is written to `found/` as a scenario.

use conformance::run;
use conformance::scenario::{File, Item};
use conformance::{compare, known, random};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

struct Arguments {
    action: String,
    address: SocketAddr,
    dir: PathBuf,
    only: Option<String>,
    check: bool,
    /// The scenarios that need roles, on a server where they log in.
    roles: bool,
    /// The scenarios that only Cassandra 6.0 can answer.
    six: bool,
    known: bool,
    /// Differences that `record --check` does not mind.
    except: Option<PathBuf>,
    cassandra: SocketAddr,
    seed: u64,
    statements: usize,
    round: Option<u64>,
    connections: usize,
    shrink: usize,
    found_max: usize,
}

fn arguments() -> Result<Arguments, String> {
    let mut words = std::env::args().skip(1);
    let action = words.next().ok_or("say record or replay")?;
    let local = SocketAddr::from(([127, 0, 0, 1], 9042));
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let mut arguments = Arguments {
        action,
        address: local,
        cassandra: local,
        seed: clock.as_secs(),
        statements: 10_000,
        round: None,
        connections: 4,
        shrink: 60,
        found_max: 10,
        dir: PathBuf::from("conformance"),
        only: None,
        check: false,
        roles: false,
        six: false,
        known: false,
        except: None,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--port" => set_address(&mut arguments.address, &value()?)?,
            "--address" => arguments.address.set_ip(value()?.parse().map_err(|_| "not an address")?),
            "--dir" => arguments.dir = value()?.into(),
            "--only" => arguments.only = Some(value()?),
            "--cassandra" => set_address(&mut arguments.cassandra, &value()?)?,
            "--except" => arguments.except = Some(value()?.into()),
            "--seed" => arguments.seed = value()?.parse().map_err(|_| "the seed is not a number")?,
            "--statements" => arguments.statements = value()?.parse().map_err(|_| "not a number")?,
            "--round" => arguments.round = Some(value()?.parse().map_err(|_| "not a number")?),
            "--connections" => arguments.connections = value()?.parse().map_err(|_| "not a number")?,
            "--shrink" => arguments.shrink = value()?.parse().map_err(|_| "not a number")?,
            "--found" => arguments.found_max = value()?.parse().map_err(|_| "not a number")?,
            "--check" => arguments.check = true,
            "--roles" => arguments.roles = true,
            "--six" => arguments.six = true,
            "--known" => arguments.known = true,
            _ => return Err(format!("unknown option {word}")),
        }
    }
    Ok(arguments)
}

/// A port on 127.0.0.1, or `ADDRESS:PORT` where several servers each have a loopback address of their own.
fn set_address(address: &mut SocketAddr, written: &str) -> Result<(), String> {
    match (written.parse(), written.parse()) {
        (Ok(port), _) => address.set_port(port),
        (_, Ok(whole)) => *address = whole,
        _ => return Err(format!("{written} is neither a port nor ADDRESS:PORT")),
    }
    Ok(())
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| match arguments.action.as_str() {
        "record" => record(&arguments),
        "replay" => replay(&arguments),
        "random" => compare_random(&arguments),
        other => Err(format!("unknown action {other}: say record, replay or random")),
    }) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("conformance: {message}");
            ExitCode::FAILURE
        }
    }
}

fn files(arguments: &Arguments) -> Result<Vec<PathBuf>, String> {
    let dir = arguments.dir.join(match (arguments.roles, arguments.six) {
        (true, _) => "roles",
        (_, true) => "six",
        _ => "scenarios",
    });
    let entries = std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "txt"));
    if let Some(only) = &arguments.only {
        paths.retain(|p| p.to_string_lossy().contains(only.as_str()));
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<File, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    File::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
}

fn record(arguments: &Arguments) -> Result<bool, String> {
    let (mut changed, mut total) = (0, 0);
    let except = match &arguments.except {
        Some(path) => known::parse(&std::fs::read_to_string(path).map_err(|e| e.to_string())?)?,
        None => Vec::new(),
    };
    let mut met: Vec<bool> = vec![false; except.len()];
    for path in files(arguments)? {
        let mut file = read(&path)?;
        let before = changed;
        run::run_file(arguments.address, &mut file, |scenario, step, actual| {
            total += 1;
            // Errors may list signatures in the order of a hash table: they are the same when they agree.
            let lenient = step.options.shape
                || step.options.class
                || actual.iter().any(|line| line.starts_with("error "));
            let same = step.expected == actual
                || lenient && compare::agrees(&step.options, &step.expected, &actual)
                || compare::fails_alike(&step.expected, &actual)
                || arguments.check && compare::same_but_for_the_run(&step.expected, &actual);
            let expected = except.iter().position(|e| e.scenario == scenario && e.statement == step.title());
            if let Some(at) = expected.filter(|_| !same) {
                met[at] = true;
            } else if !same {
                changed += 1;
                if arguments.check {
                    println!("{scenario}: {}\n  was {:?}\n  now {actual:?}", step.title(), step.expected);
                }
                step.expected = actual;
            }
        })
        .map_err(|e| e.to_string())?;
        if !arguments.check && changed > before {
            std::fs::write(&path, file.print()).map_err(|e| e.to_string())?;
        }
        println!("{}: {} of {} statements", path.display(), changed - before, steps(&file));
    }
    if arguments.check {
        // What Cassandra itself answers now so, now so, need not differ.
        let must = |entry: &known::Entry| arguments.only.is_none() && !entry.reason.starts_with("sometimes");
        let unmet = except.iter().zip(&met).filter(|(entry, met)| !**met && must(entry));
        for (entry, _) in unmet {
            changed += 1;
            println!("NO LONGER DIFFERENT: {} :: {}", entry.scenario, entry.statement);
        }
        println!("{} passed, {changed} failed", total - changed);
        return Ok(changed == 0);
    }
    println!("{total} statements recorded, {changed} answers changed");
    Ok(true)
}

fn steps(file: &File) -> usize {
    file.items.iter().filter(|item| matches!(item, Item::Step(_))).count()
}

fn replay(arguments: &Arguments) -> Result<bool, String> {
    let path = arguments.dir.join("known.txt");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut entries = known::parse(&text)?;
    let (mut scenarios, mut statements, mut differences) = (0, 0, Vec::new());
    let mut names = Vec::new();
    for path in files(arguments)? {
        let mut file = read(&path)?;
        names.extend(file.items.iter().filter_map(|item| match item {
            Item::Scenario(name) => Some(name.clone()),
            _ => None,
        }));
        let outcome = run::replay(arguments.address, &mut file).map_err(|e| e.to_string())?;
        scenarios += outcome.scenarios;
        statements += outcome.statements;
        differences.extend(outcome.differences);
    }
    entries.retain(|e| names.contains(&e.scenario) && !arguments.known);
    let (unknown, passing) = known::judge(&entries, &differences);
    for d in &unknown {
        println!("DIFFERENT {}\n  {}", d.scenario, d.statement);
        d.expected.iter().for_each(|line| println!("    cassandra> {line}"));
        d.actual.iter().for_each(|line| println!("    partita>   {line}"));
    }
    for e in &passing {
        println!("NO LONGER DIFFERENT (remove from known.txt): {} :: {}", e.scenario, e.statement);
    }
    println!(
        "{scenarios} scenarios, {statements} statements, {} known differences, {} unknown, {} entries not needed",
        differences.len() - unknown.len(),
        unknown.len(),
        passing.len()
    );
    println!("{} passed, {} failed", statements - unknown.len(), unknown.len() + passing.len());
    Ok(unknown.is_empty() && passing.is_empty())
}

/// Statements between two lines of progress.
const PROGRESS_STATEMENTS: usize = 5_000;

fn compare_random(arguments: &Arguments) -> Result<bool, String> {
    println!("seed {}", arguments.seed);
    let servers = random::Servers { cassandra: arguments.cassandra, partita: arguments.address };
    let task = random::Task {
        seed: arguments.seed,
        statements: arguments.statements,
        found_max: arguments.found_max,
        shrink_tries: arguments.shrink,
        round: arguments.round,
        connections: arguments.connections,
        six: arguments.six,
    };
    let mut told = 0;
    let mut tell_new = |so_far: &random::Report| {
        for found in so_far.found.iter().skip(told) {
            if let Err(error) = tell(arguments, found) {
                println!("  not written: {error}");
            }
        }
        told = so_far.found.len();
    };
    let mut said = 0;
    let report = random::run(servers, task, |so_far| {
        let sent = so_far.total().sent;
        if sent >= said + PROGRESS_STATEMENTS {
            said = sent;
            println!("{sent} statements, {} tables, {} differences", so_far.rounds, so_far.found.len());
        }
        tell_new(so_far);
    })
    .map_err(|e| e.to_string())?;
    tell_new(&report);
    println!("{}", report.table());
    let (sent, found) = (report.total().sent, report.found.len());
    println!("seed {}: {sent} statements compared, {found} differences", arguments.seed);
    println!("{} passed, {found} failed", sent - found);
    Ok(found == 0)
}

/// Shows a difference and keeps it as a scenario.
fn tell(arguments: &Arguments, found: &random::Found) -> std::io::Result<()> {
    println!("DIFFERENT in round {}\n  {}", found.round, found.statement);
    found.cassandra.iter().for_each(|line| println!("    cassandra> {line}"));
    found.partita.iter().for_each(|line| println!("    partita>   {line}"));
    let folder = arguments.dir.join("found");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("random-{}-{}-{}.txt", arguments.seed, found.round, found.index));
    std::fs::write(&path, &found.scenario)?;
    println!("  written to {}", path.display());
    Ok(())
}
