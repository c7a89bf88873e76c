//! How much functions may still do until others have their turn.
//!
//! Work is counted in units, which is the same in every run. Time is looked at as well, because one instruction of Lua may compare two
//! long strings: it is the time that this thread worked, so that a busy machine makes nothing fail.

use rt::threads::cpu_time;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Units of one step: a few milliseconds on the machines we know.
const UNITS: u64 = 2_000_000;

/// What a step may take of the processor, whatever its units say.
const CPU: Duration = Duration::from_millis(10);

/// An instruction of Lua does about as much as this many of WebAssembly.
pub const LUA_UNITS: u64 = 2;

/// See the module.
pub struct Tank {
    left: Cell<u64>,
    /// When the first call of the step began, in time of this thread.
    began: Cell<Option<Duration>>,
    stopped: Cell<bool>,
}

impl Tank {
    pub fn full() -> Rc<Tank> {
        Rc::new(Tank { left: Cell::new(UNITS), began: Cell::new(None), stopped: Cell::new(false) })
    }

    /// Begins a step.
    pub fn fill(&self) {
        self.left.set(UNITS);
        self.began.set(None);
    }

    /// A call begins: time runs from the first one of a step.
    pub fn call(&self) {
        self.stopped.set(false);
        if self.began.get().is_none() {
            self.began.set(Some(cpu_time()));
        }
    }

    pub fn left(&self) -> u64 {
        self.left.get()
    }

    pub fn used(&self) -> u64 {
        UNITS - self.left.get()
    }

    /// What is left after a call that counted by itself.
    pub fn set_left(&self, left: u64) {
        self.left.set(left.min(UNITS));
    }

    /// Whether so many units are there, and time is; they are gone now.
    #[must_use]
    pub fn take(&self, units: u64) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(units));
        if left < units {
            self.stopped.set(true);
        }
        !self.stopped.get()
    }

    /// The same, looking at the time.
    #[must_use]
    pub fn take_timed(&self, units: u64) -> bool {
        let late = self.began.get().is_some_and(|began| cpu_time().saturating_sub(began) > CPU);
        if late {
            self.stopped.set(true);
        }
        self.take(units)
    }

    /// Whether a call was stopped: then nothing that it still does counts.
    pub fn is_stopped(&self) -> bool {
        self.stopped.get()
    }
}
