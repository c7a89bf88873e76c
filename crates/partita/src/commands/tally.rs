//! How many rows or items have gone by, shown while they do.

use super::progress::size;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

pub struct Tally {
    verb: &'static str,
    noun: &'static str,
    pub items: u64,
    pub bytes: u64,
    began: Instant,
    shown: Instant,
    pause: Duration,
    terminal: bool,
}

impl Tally {
    /// "imported … items"
    pub fn begin(verb: &'static str, noun: &'static str) -> Tally {
        let terminal = std::io::stderr().is_terminal();
        let pause = if terminal { Duration::from_millis(200) } else { Duration::from_secs(10) };
        let now = Instant::now();
        Tally { verb, noun, items: 0, bytes: 0, began: now, shown: now, pause, terminal }
    }

    pub fn add(&mut self, items: u64, bytes: u64) {
        self.items += items;
        self.bytes += bytes;
        if self.shown.elapsed() < self.pause {
            return;
        }
        self.shown = Instant::now();
        let (start, end) = if self.terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        // Progress that cannot be shown is no reason to stop.
        let _ = write!(std::io::stderr(), "{start}{}{end}", self.line());
    }

    fn line(&self) -> String {
        let seconds = self.began.elapsed().as_secs_f64().max(0.001);
        let rate = self.items as f64 / seconds;
        let Tally { verb, noun, items, .. } = self;
        format!("{verb} {items} {noun}, {}, {rate:.0} {noun}/s", size(self.bytes))
    }

    /// The last line, for people and logs.
    pub fn end(self, more: &str) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
        println!("{}{more}", self.line());
    }
}
