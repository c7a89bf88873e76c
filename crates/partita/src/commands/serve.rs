//! `partita serve`: starts the server, prints one line per listener, reloads on SIGHUP, stops on SIGTERM or Ctrl-C.

use super::Failure;
use crate::options::ServeOptions;
use server::config::Config;
use server::{FrontEnd, Server, StartError};
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use tracing_subscriber::filter::Targets;

pub fn run(options: ServeOptions) -> Result<(), Failure> {
    let settings = options.clone().resolve().map_err(Failure::Usage)?;
    let set_level = init_logging(&settings.log, settings.log_json)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::Failed(format!("cannot start the runtime: {e}")))?;
    let mut signals =
        runtime.block_on(async { Signals::listen() }).map_err(|e| Failure::Failed(e.to_string()))?;
    let server = Running::start(settings.server).map_err(|e| Failure::Failed(e.to_string()))?;
    let mut out = std::io::stdout();
    for (name, address) in server.listeners() {
        // Tools wait for these lines; a closed pipe is their business, not an error of ours.
        let _ = writeln!(out, "listening {name} {address}");
    }
    let _ = out.flush();
    while runtime.block_on(signals.next()) == Asked::Reload {
        reload_log_level(options.clone(), &set_level);
        server.reload();
    }
    tracing::info!("stopping: finishing requests");
    server.stop().map_err(|e| Failure::Failed(e.to_string()))
}

/// A database, or a front end of one.
enum Running {
    Embedded(Server),
    Front(FrontEnd),
}

impl Running {
    fn start(mut config: Config) -> Result<Running, StartError> {
        match config.cluster.take() {
            None => Server::start(config).map(Running::Embedded),
            Some(cluster) => FrontEnd::start(config, cluster).map(Running::Front),
        }
    }

    fn listeners(&self) -> &[(&'static str, SocketAddr)] {
        match self {
            Running::Embedded(server) => server.listeners(),
            Running::Front(front) => front.listeners(),
        }
    }

    fn reload(&self) {
        match self {
            Running::Embedded(server) => server.reload(),
            Running::Front(front) => front.reload(),
        }
    }

    fn stop(self) -> Result<(), StartError> {
        match self {
            Running::Embedded(server) => server.stop(),
            Running::Front(front) => front.stop(),
        }
    }
}

/// The level may stand in the configuration file, which may have changed; whatever else it says takes a restart.
fn reload_log_level(options: ServeOptions, set_level: &SetLevel) {
    let resolved = options.resolve().and_then(|settings| parse_level(&settings.log));
    match resolved {
        Ok(targets) => set_level(targets),
        Err(error) => tracing::error!(error, "the log level was not reloaded"),
    }
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Reload,
    Stop,
}

struct Signals {
    hang_up: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            hang_up: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::Stop,
            _ = self.interrupt.recv() => Asked::Stop,
            _ = self.hang_up.recv() => Asked::Reload,
        }
    }
}

/// Changes what is logged from now on.
type SetLevel = Box<dyn Fn(Targets)>;

fn parse_level(level: &str) -> Result<Targets, String> {
    level.parse().map_err(|e| format!("--log {level}: {e}; try error, warn, info, debug or trace"))
}

fn init_logging(level: &str, json: bool) -> Result<SetLevel, Failure> {
    use tracing_subscriber::prelude::*;
    let targets = parse_level(level).map_err(Failure::Usage)?;
    // Colours are for people: a file or a collector gets the bare text.
    let colours =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colours);
    let (filter, handle) = tracing_subscriber::reload::Layer::new(targets);
    let registry = tracing_subscriber::registry();
    if json {
        registry.with(layer.json().with_filter(filter)).init();
    } else {
        registry.with(layer.with_filter(filter)).init();
    }
    Ok(Box::new(move |targets| {
        // It fails only when there is no log any more.
        let _ = handle.reload(targets);
    }))
}
