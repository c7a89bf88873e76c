//! Requests under way on one connection, by the stream that they were given there.

use crate::job::Job;

/// Requests under way on one connection at most: half of what Cassandra lets a client have by default in one queue, and far
/// below the protocol's 32,768 streams.
pub const IN_FLIGHT_MAX: usize = 1024;

#[derive(Debug)]
enum Slot {
    Free,
    /// The request, and the tick at which it was sent.
    Waiting(Box<Job>, u32),
    /// Its asker was told that there is no answer; the stream is used again when one comes all the same.
    GivenUp,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Pending {
    slots: Vec<Slot>,
    free: Vec<u16>,
    waiting: usize,
}

impl Pending {
    /// Requests whose streams are taken.
    pub fn taken(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// A stream for the request; gives it back if there is none.
    pub fn add(&mut self, job: Box<Job>, tick: u32) -> Result<i16, Box<Job>> {
        let index = match self.free.pop() {
            Some(index) => usize::from(index),
            None if self.slots.len() < IN_FLIGHT_MAX => {
                self.slots.push(Slot::Free);
                self.slots.len() - 1
            }
            None => return Err(job),
        };
        self.slots[index] = Slot::Waiting(job, tick);
        self.waiting += 1;
        Ok(index as i16)
    }

    /// The answer on this stream has come. `None`: nobody waits for it any more.
    pub fn take(&mut self, stream: i16) -> Option<Box<Job>> {
        let index = usize::try_from(stream).ok()?;
        let slot = self.slots.get_mut(index)?;
        match std::mem::replace(slot, Slot::Free) {
            Slot::Free => None,
            Slot::GivenUp => {
                self.free.push(index as u16);
                None
            }
            Slot::Waiting(job, _) => {
                self.free.push(index as u16);
                self.waiting -= 1;
                Some(job)
            }
        }
    }

    /// Takes what was sent before this tick; late answers to it are dropped.
    pub fn give_up(&mut self, before: u32) -> Vec<Job> {
        let mut given_up = Vec::new();
        for slot in &mut self.slots {
            if matches!(slot, Slot::Waiting(_, tick) if *tick < before)
                && let Slot::Waiting(job, _) = std::mem::replace(slot, Slot::GivenUp)
            {
                self.waiting -= 1;
                given_up.push(*job);
            }
        }
        given_up
    }

    /// Everything that waits; the connection is gone.
    pub fn drain(&mut self) -> Vec<Job> {
        self.waiting = 0;
        self.free.clear();
        let jobs = self.slots.drain(..).filter_map(|slot| match slot {
            Slot::Waiting(job, _) => Some(*job),
            Slot::Free | Slot::GivenUp => None,
        });
        jobs.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Answer, Asker, Task};
    use cql_wire::Opcode;
    use std::rc::Rc;

    struct Nobody;

    impl Asker for Nobody {
        fn answered(&self, _: Job, _: Answer<'_>) {}
    }

    fn job(stream: i16) -> Box<Job> {
        Box::new(Job {
            opcode: Opcode::Query,
            flags: 0,
            body: Vec::new(),
            task: Task::Ask,
            asker: Rc::new(Nobody),
            stream,
            token: None,
            again: 0,
        })
    }

    #[test]
    fn streams_are_used_again_only_when_their_answer_has_come() {
        let mut pending = Pending::default();
        let streams: Vec<i16> = (0..IN_FLIGHT_MAX as i16).map(|n| pending.add(job(n), 1).unwrap()).collect();
        assert!(pending.add(job(0), 1).is_err(), "full");
        assert_eq!(pending.take(streams[5]).unwrap().stream, 5);
        assert_eq!(pending.add(job(7000), 9).unwrap(), streams[5]);
        assert_eq!(pending.give_up(5).len(), IN_FLIGHT_MAX - 1);
        assert_eq!((pending.waiting(), pending.taken()), (1, IN_FLIGHT_MAX));
        assert!(pending.add(job(0), 10).is_err(), "late answers must not meet new requests");
        assert!(pending.take(streams[0]).is_none(), "nobody waits for it");
        assert_eq!(pending.add(job(1), 10).unwrap(), streams[0]);
        assert!(pending.take(-1).is_none() && pending.take(i16::MAX).is_none());
        assert_eq!(pending.drain().len(), 2);
        assert_eq!(pending.taken(), 0);
    }
}
