//! Time and identifiers of one shard: microseconds that only grow, timeuuids, random uuids.

use model::timeuuid;
use query::Ids;
use rt::{Clock, Random};
use sandbox::Sandbox;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

pub struct ShardIds {
    clock: Arc<dyn Clock>,
    last_micros: Cell<i64>,
    last_ticks: Cell<i64>,
    random: RefCell<Random>,
    clock_and_node: u64,
    sandbox: Option<Sandbox>,
}

impl ShardIds {
    /// `seed` must differ between shards and between starts of the server.
    pub fn new(clock: Arc<dyn Clock>, shard: usize, seed: u64) -> ShardIds {
        let mut random = Random::seeded(seed ^ (shard as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut node = [0u8; 6];
        random.fill(&mut node);
        // The multicast bit says that the node is random, not somebody's network card.
        node[0] |= 1;
        let sequence = random.next_u64() as u16;
        let clock_and_node = timeuuid::clock_and_node(sequence, node);
        ShardIds {
            clock,
            last_micros: Cell::new(0),
            last_ticks: Cell::new(0),
            random: RefCell::new(random),
            clock_and_node,
            sandbox: None,
        }
    }

    /// Functions of users run on this shard, or are only kept.
    pub fn running_functions(mut self, run: bool) -> ShardIds {
        self.sandbox = run.then(Sandbox::default);
        self
    }

    /// Microseconds since 1970, strictly increasing on this shard even if the clock steps back.
    pub fn now_micros(&self) -> i64 {
        let now = self.clock.micros().max(self.last_micros.get() + 1);
        self.last_micros.set(now);
        now
    }
}

impl Ids for ShardIds {
    fn timeuuid(&self) -> [u8; 16] {
        let ticks = (self.clock.micros() * 10).max(self.last_ticks.get() + 1);
        self.last_ticks.set(ticks);
        timeuuid::from_unix_ticks(ticks, self.clock_and_node)
    }

    fn uuid(&self) -> [u8; 16] {
        let mut bytes = [0u8; 16];
        self.random.borrow_mut().fill(&mut bytes);
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        bytes
    }

    fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_only_grows_and_ids_differ() {
        let clock = Arc::new(rt::ManualClock::at_micros(1_700_000_000_000_000));
        let ids = ShardIds::new(clock.clone(), 0, 7);
        let (a, b) = (ids.now_micros(), ids.now_micros());
        clock.set_micros(1_600_000_000_000_000);
        assert!(a < b && b < ids.now_micros());
        let (first, second) = (ids.timeuuid(), ids.timeuuid());
        assert!(timeuuid::unix_ticks(&first) < timeuuid::unix_ticks(&second));
        assert_eq!(timeuuid::version(&first), 1);
        assert_ne!(ids.uuid(), ids.uuid());
        assert_eq!(timeuuid::version(&ids.uuid()), 4);
        let other = ShardIds::new(clock, 1, 7);
        assert_ne!(other.timeuuid(), first);
    }
}
