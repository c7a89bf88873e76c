//! How far a long command has come: a line that renews itself on a terminal, a line now and then elsewhere.

use engine::VerifyProgress;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const ON_A_TERMINAL: Duration = Duration::from_millis(200);
const ELSEWHERE: Duration = Duration::from_secs(10);

pub struct Progress {
    verb: &'static str,
    began: Instant,
    shown: Option<Instant>,
    terminal: bool,
}

impl Progress {
    pub fn begin(verb: &'static str) -> Progress {
        Progress { verb, began: Instant::now(), shown: None, terminal: std::io::stderr().is_terminal() }
    }

    pub fn show(&mut self, now: VerifyProgress) {
        let pause = if self.terminal { ON_A_TERMINAL } else { ELSEWHERE };
        let last = now.files_done == now.files;
        if !last && self.shown.is_some_and(|shown| shown.elapsed() < pause) {
            return;
        }
        self.shown = Some(Instant::now());
        let line = line(self.verb, now, self.began.elapsed());
        let (start, end) = if self.terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        // Progress that cannot be shown is no reason to stop.
        let _ = write!(std::io::stderr(), "{start}{line}{end}");
    }

    /// Ends the line; how long it all took.
    pub fn end(self) -> String {
        if self.terminal && self.shown.is_some() {
            eprintln!();
        }
        format!("{:.1} s", self.began.elapsed().as_secs_f64())
    }
}

fn line(verb: &str, now: VerifyProgress, elapsed: Duration) -> String {
    let percent = (now.bytes_done * 100).checked_div(now.bytes).unwrap_or(100);
    let rate = now.bytes_done as f64 / elapsed.as_secs_f64().max(0.001);
    format!(
        "{verb} {percent:3} %  {} of {}, {} of {} files, {}/s",
        size(now.bytes_done),
        size(now.bytes),
        now.files_done,
        now.files,
        size(rate as u64)
    )
}

/// Bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.2} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_how_fast() {
        let now = VerifyProgress { files_done: 1, files: 4, bytes_done: 3 << 20, bytes: 12 << 20 };
        let text = line("copying", now, Duration::from_secs(2));
        assert_eq!(text, "copying  25 %  3.0 MiB of 12.0 MiB, 1 of 4 files, 1.5 MiB/s");
        let empty = line("copying", VerifyProgress::default(), Duration::ZERO);
        assert_eq!(empty, "copying 100 %  0 B of 0 B, 0 of 0 files, 0 B/s");
    }
}
