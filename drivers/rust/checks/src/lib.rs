//! What both Rust clients share: where to connect, how a check succeeds, is refused or skipped, and how that is printed.
//!
//! Knows neither driver: a client's own `world.rs` adds its session.

use std::error::Error;
use std::fmt::Debug;
use std::time::Instant;

pub type Problem = Box<dyn Error + Send + Sync>;
pub type Outcome = Result<(), Problem>;

pub const SIMPLE: &str = "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// An environment variable, or what to use if it is absent or empty.
pub fn variable(name: &str, fallback: &str) -> String {
    std::env::var(name).ok().filter(|v| !v.is_empty()).unwrap_or_else(|| fallback.to_owned())
}

/// A check that does not apply; the text is the reason.
#[derive(Debug)]
pub struct Skip(pub &'static str);

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Skip {}

pub fn equal<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> Outcome {
    if found == wanted { Ok(()) } else { Err(format!("{what}: found {found:?}, wanted {wanted:?}").into()) }
}

pub fn truth(ok: bool, what: impl Debug) -> Outcome {
    if ok { Ok(()) } else { Err(format!("{what:?}").into()) }
}

/// The error of a result that must have failed; `part` must be in its debug text (which names the class).
pub fn refused<T, E: Debug>(result: Result<T, E>, part: &str) -> Outcome {
    match result {
        Ok(_) => Err(format!("no error, wanted {part}").into()),
        Err(error) => {
            let text = format!("{error:?}");
            if text.contains(part) { Ok(()) } else { Err(format!("{part} is not in {text}").into()) }
        }
    }
}

#[derive(Default)]
pub struct Report {
    failed: usize,
    last: Option<Instant>,
}

impl Report {
    pub fn check(&mut self, name: &str, outcome: Outcome) {
        let seconds = self.last.map_or(0.0, |t| t.elapsed().as_secs_f64());
        self.last = Some(Instant::now());
        match outcome {
            Ok(()) => println!("ok {name}  # {seconds:.2} s"),
            Err(error) if error.is::<Skip>() => println!("skip {name}: {error}"),
            Err(error) => {
                self.failed += 1;
                let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
                println!("FAIL {name}: {}", text.chars().take(600).collect::<String>());
            }
        }
    }

    pub fn exit_code(&self) -> i32 {
        i32::from(self.failed > 0)
    }
}
