//! Slots of time put together: the last minute, hour and day, each from coarser slots, in bounded memory.

use crate::hot::{HotKey, Load, Slot, add_heat};
use std::collections::{HashMap, VecDeque};

/// How long a slot is that [`Windows::push`] takes.
pub const SLOT_MILLIS: u64 = 10_000;

const SLOTS_PER_MINUTE: usize = 6;
const MINUTES_PER_HOUR: usize = 60;
const HOURS_PER_DAY: usize = 24;
/// Of minutes and hours.
const KEYS_MAX: usize = 128;

/// How far one looks back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    Minute,
    Hour,
    Day,
}

impl Window {
    pub const ALL: [Window; 3] = [Window::Minute, Window::Hour, Window::Day];

    /// As tables and pages call it.
    pub fn word(self) -> &'static str {
        match self {
            Window::Minute => "minute",
            Window::Hour => "hour",
            Window::Day => "day",
        }
    }
}

/// The slots of one shard.
#[derive(Debug, Default)]
pub struct Windows {
    /// Not over yet.
    current: Slot,
    /// The newest last; as many as a minute has.
    slots: VecDeque<Slot>,
    minutes: VecDeque<Slot>,
    hours: VecDeque<Slot>,
    /// Slots that have not become a minute, and minutes that have not become an hour.
    loose_slots: usize,
    loose_minutes: usize,
}

impl Windows {
    /// The slot that is not over, as it is now.
    pub fn show(&mut self, slot: Slot) {
        self.current = slot;
    }

    /// A slot is over.
    pub fn push(&mut self, slot: Slot) {
        self.current = Slot::default();
        push(&mut self.slots, slot, SLOTS_PER_MINUTE);
        self.loose_slots += 1;
        if self.loose_slots < SLOTS_PER_MINUTE {
            return;
        }
        self.loose_slots = 0;
        push(&mut self.minutes, together(self.slots.iter()), MINUTES_PER_HOUR);
        self.loose_minutes += 1;
        if self.loose_minutes < MINUTES_PER_HOUR {
            return;
        }
        self.loose_minutes = 0;
        // The heat map goes back for an hour.
        let hour = Slot { heat: Vec::new(), ..together(self.minutes.iter()) };
        push(&mut self.hours, hour, HOURS_PER_DAY);
    }

    /// All that was counted in the window, as far back as there is anything.
    pub fn over(&self, window: Window) -> Slot {
        let last = |slots: &VecDeque<Slot>, count: usize| slots.len().saturating_sub(count);
        let slots = self.slots.iter();
        let loose_slots = self.slots.iter().skip(last(&self.slots, self.loose_slots));
        let loose_minutes = self.minutes.iter().skip(last(&self.minutes, self.loose_minutes));
        let current = std::iter::once(&self.current);
        match window {
            Window::Minute => together(slots.chain(current)),
            Window::Hour => together(self.minutes.iter().chain(loose_slots).chain(current)),
            Window::Day => together(self.hours.iter().chain(loose_minutes).chain(loose_slots).chain(current)),
        }
    }

    /// The last hour, minute by minute, the oldest first, for the heat map: minutes, then the loose slots as one.
    pub fn minutes(&self) -> Vec<Slot> {
        let loose = self.slots.iter().skip(self.slots.len().saturating_sub(self.loose_slots));
        let now = together(loose.chain([&self.current]));
        self.minutes.iter().cloned().chain([now]).collect()
    }
}

fn push(slots: &mut VecDeque<Slot>, slot: Slot, max: usize) {
    if slots.len() == max {
        slots.pop_front();
    }
    slots.push_back(slot);
}

/// The sum of slots.
fn together<'s>(slots: impl Iterator<Item = &'s Slot>) -> Slot {
    let mut sum = Slot::default();
    let mut keys: HashMap<(u32, &[u8]), HotKey> = HashMap::new();
    let mut tables: HashMap<u32, Load> = HashMap::new();
    for slot in slots {
        sum.millis += slot.millis;
        for (table, load) in &slot.tables {
            tables.entry(*table).or_default().add(load);
        }
        add_heat(&mut sum.heat, &slot.heat);
        for key in &slot.keys {
            match keys.get_mut(&(key.table, &*key.key)) {
                Some(known) => {
                    known.load.add(&key.load);
                    known.weight += key.weight;
                    known.missed += key.missed;
                }
                None => drop(keys.insert((key.table, &*key.key), key.clone())),
            }
        }
    }
    sum.tables = tables.into_iter().collect();
    sum.tables.sort_unstable_by_key(|(table, _)| *table);
    sum.keys = keys.into_values().collect();
    let rank = |key: &HotKey| (std::cmp::Reverse(key.weight), key.table);
    sum.keys.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.key.cmp(&b.key)));
    sum.keys.truncate(KEYS_MAX);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::Heat;

    fn slot(key: u8, reads: u64) -> Slot {
        let load = Load { reads, ..Load::default() };
        let keys = vec![HotKey { table: 1, token: 0, key: [key].into(), load, weight: reads, missed: 1 }];
        Slot {
            millis: SLOT_MILLIS,
            keys,
            tables: vec![(1, load)],
            heat: vec![Heat { reads, ..Heat::default() }],
        }
    }

    #[test]
    fn windows_forget_what_is_older_and_sum_the_rest() {
        let mut windows = Windows::default();
        // Two hours of one key, then a minute of another.
        (0..720).for_each(|_| windows.push(slot(1, 10)));
        (0..6).for_each(|_| windows.push(slot(2, 1000)));
        windows.show(slot(2, 5));
        let minute = windows.over(Window::Minute);
        assert_eq!((minute.millis, minute.keys.len()), (70_000, 1));
        assert_eq!((minute.keys[0].load.reads, minute.keys[0].missed), (6005, 7));
        let hour = windows.over(Window::Hour);
        assert_eq!(hour.millis, 3_600_000 + 10_000);
        assert_eq!(hour.keys.iter().map(|key| key.load.reads).collect::<Vec<_>>(), [6005, 59 * 60]);
        let day = windows.over(Window::Day);
        assert_eq!(day.tables[0].1.reads, 7200 + 6005);
        assert_eq!(day.millis, 726 * SLOT_MILLIS + 10_000);
        let minutes = windows.minutes();
        let reads = |minute: usize| minutes[minute].heat[0].reads;
        assert_eq!((minutes.len(), reads(59), reads(60)), (61, 6000, 5));
        assert_eq!(minutes[59].keys[0].load.reads, 6000);
    }
}
