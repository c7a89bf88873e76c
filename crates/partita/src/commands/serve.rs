//! `partita serve`: starts the server, prints one line per listener, stops on SIGTERM or Ctrl-C.

use super::Failure;
use crate::options::ServeOptions;
use server::Server;
use std::io::{IsTerminal, Write};

pub fn run(options: ServeOptions) -> Result<(), Failure> {
    let settings = options.resolve().map_err(Failure::Usage)?;
    init_logging(&settings.log, settings.log_json)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::Failed(format!("cannot start the runtime: {e}")))?;
    let signals =
        runtime.block_on(async { Signals::listen() }).map_err(|e| Failure::Failed(e.to_string()))?;
    let server = Server::start(settings.server).map_err(|e| Failure::Failed(e.to_string()))?;
    let mut out = std::io::stdout();
    for (name, address) in server.listeners() {
        // Tools wait for these lines; a closed pipe is their business, not an error of ours.
        let _ = writeln!(out, "listening {name} {address}");
    }
    let _ = out.flush();
    runtime.block_on(signals.wait());
    tracing::info!("stopping: finishing requests and flushing memtables");
    server.stop().map_err(|e| Failure::Failed(e.to_string()))
}

struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn wait(mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

fn init_logging(level: &str, json: bool) -> Result<(), Failure> {
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::prelude::*;
    let targets: Targets = level
        .parse()
        .map_err(|e| Failure::Usage(format!("--log {level}: {e}; try error, warn, info, debug or trace")))?;
    // Colours are for people: a file or a collector gets the bare text.
    let colours =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colours);
    let registry = tracing_subscriber::registry();
    if json {
        registry.with(layer.json().with_filter(targets)).init();
    } else {
        registry.with(layer.with_filter(targets)).init();
    }
    Ok(())
}
