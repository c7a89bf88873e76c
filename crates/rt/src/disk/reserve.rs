//! Descriptors kept in reserve, so that files can still be opened when sockets have taken all others.
//!
//! The reserve is the process's, as the limit is. When opening fails because the process has no descriptor left, one of
//! the reserve is closed and the call made again; another thread may be faster, then the next one goes. What was given
//! up is taken back as soon as there are free ones. It bridges moments: whoever accepts connections must leave room.

use super::EMFILE;
use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Enough for what is open for a moment only, at the same time, on all background threads: a directory being synced, a
/// file being written, a catalogue being replaced.
const RESERVED: usize = 16;

static RESERVE: Reserve = Reserve(Mutex::new(Vec::new()));

struct Reserve(Mutex<Vec<File>>);

/// Runs something that needs a descriptor, with one of the reserve if there is no other.
pub fn with_descriptor<T>(open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    RESERVE.serve(open)
}

impl Reserve {
    fn serve<T>(&self, mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            match open() {
                Err(error) if error.raw_os_error() == Some(EMFILE) => match self.kept().pop() {
                    Some(given_up) => drop(given_up),
                    None => return Err(error),
                },
                outcome => {
                    self.refill();
                    return outcome;
                }
            }
        }
    }

    /// Takes as many as are missing and free.
    fn refill(&self) {
        let mut kept = self.kept();
        while kept.len() < RESERVED {
            match File::open("/dev/null") {
                Ok(file) => kept.push(file),
                Err(_) => return,
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_descriptors_gets_one_of_the_reserve_and_the_reserve_recovers() {
        let reserve = Reserve(Mutex::default());
        reserve.refill();
        let mut calls = 0;
        let left = reserve.serve(|| {
            calls += 1;
            if calls <= 3 { Err(io::Error::from_raw_os_error(EMFILE)) } else { Ok(reserve.kept().len()) }
        });
        assert_eq!((left.unwrap(), calls), (RESERVED - 3, 4));
        assert_eq!(reserve.kept().len(), RESERVED, "taken back");
        let mut calls = 0;
        let failed = reserve.serve(|| -> io::Result<()> {
            calls += 1;
            Err(io::Error::from_raw_os_error(EMFILE))
        });
        assert_eq!(failed.unwrap_err().raw_os_error(), Some(EMFILE));
        assert_eq!(calls, RESERVED + 1, "all of it was tried");
    }
}
