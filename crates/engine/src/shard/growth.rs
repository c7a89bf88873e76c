//! How partitions have grown, kept over a restart.
//!
//! Samples are an hour apart, so a small file per shard that is written now and then is enough: a crash loses the last
//! minutes' samples, which are taken again. If the file is missing or damaged, growth is not known yet; nothing else happens.
//!
//! ```text
//! <dir>/GROWTH-<shard> ::= "PTGROW01"  crc32c of the rest (4 bytes LE)  vint partitions  partition*
//! partition ::= vint table  slice key  vint samples  (vint milliseconds since the sample before  vint bytes)*
//! ```

use super::Shard;
use crate::jobs::Lane;
use model::key::PartitionKey;
use model::vint;
use observe::{Growth, Samples};
use rt::Disk;
use std::io;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"PTGROW01";
const HEADER_LEN: usize = 12;
const PREFIX: &str = "GROWTH-";
const TEMPORARY: &str = "GROWTH-NEW-";
/// Between two times that the file is written, if anything has changed.
const KEEP_EVERY_MILLIS: u64 = 60_000;
/// What 2,000 partitions with a week of samples each can have.
const BYTES_MAX: u64 = 64 << 20;

impl Shard {
    /// Writes down how partitions have grown, if a minute has passed and there is something new. The moment is of the clock of the shard.
    pub fn keep_growth(&self) {
        let now = self.now_millis();
        let mut growth = self.growth.borrow_mut();
        if now < self.growth_kept.get() + KEEP_EVERY_MILLIS || !growth.take_changed() {
            return;
        }
        self.growth_kept.set(now);
        let bytes = encode(&growth);
        let (disk, dir, index) = (self.shared.disk.clone(), self.shared.layout.dir.clone(), self.index);
        self.shared.jobs.submit(Lane::Chores, move || {
            if let Err(error) = write(&*disk, &dir, index, &bytes) {
                tracing::warn!(%error, "how partitions have grown cannot be written down for now");
            }
        });
    }

    /// Milliseconds since 1970: samples are compared with those of an earlier run.
    pub(super) fn now_millis(&self) -> u64 {
        u64::try_from(self.shared.clock.micros() / 1000).unwrap_or(0)
    }
}

/// What earlier runs have written down of the partitions for which `owned` holds, whichever shard they were on.
pub(super) fn load(disk: &dyn Disk, dir: &Path, owned: impl Fn(&PartitionKey) -> bool) -> Growth {
    let mut growth = Growth::default();
    for name in disk.list(dir).unwrap_or_default() {
        let is_growth =
            name.to_str().is_some_and(|name| name.starts_with(PREFIX) && !name.starts_with(TEMPORARY));
        if !is_growth {
            continue;
        }
        let read = || -> io::Result<Vec<u8>> { disk.open(&dir.join(&name))?.read_all_up_to(BYTES_MAX) };
        match read().map(|bytes| decode(&bytes)) {
            Ok(Some(found)) => {
                let known = |key: &[u8]| PartitionKey::of(key).is_some_and(|key| owned(&key));
                found.into_iter().filter(|(_, key, _)| known(key)).for_each(|(table, key, samples)| {
                    growth.restore(table, &key, samples);
                });
            }
            Ok(None) => {
                tracing::warn!(file = %name.display(), "is damaged: how partitions have grown is found out again")
            }
            Err(error) => tracing::warn!(file = %name.display(), %error, "cannot be read"),
        }
    }
    growth
}

fn path(dir: &Path, prefix: &str, shard: usize) -> PathBuf {
    dir.join(format!("{prefix}{shard}"))
}

fn write(disk: &dyn Disk, dir: &Path, shard: usize, bytes: &[u8]) -> io::Result<()> {
    let temporary = path(dir, TEMPORARY, shard);
    if disk.exists(&temporary)? {
        disk.remove(&temporary)?;
    }
    let file = disk.create(&temporary)?;
    file.write_at(0, bytes)?;
    file.sync_data()?;
    disk.rename(&temporary, &path(dir, PREFIX, shard))
}

fn encode(growth: &Growth) -> Vec<u8> {
    let mut body = Vec::new();
    vint::put(&mut body, growth.partitions().count() as u64);
    for (table, key, samples) in growth.partitions() {
        vint::put(&mut body, u64::from(table));
        vint::put_slice(&mut body, key);
        vint::put(&mut body, samples.len() as u64);
        let mut before = 0;
        for (at, bytes) in samples {
            vint::put(&mut body, at.saturating_sub(before));
            vint::put(&mut body, *bytes);
            before = *at;
        }
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&crc32c::crc32c(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

fn decode(bytes: &[u8]) -> Option<Vec<(u32, Vec<u8>, Samples)>> {
    let (header, mut body) = bytes.split_at_checked(HEADER_LEN)?;
    let crc = u32::from_le_bytes(header.get(8..)?.try_into().ok()?);
    if !header.starts_with(MAGIC) || crc != crc32c::crc32c(body) {
        return None;
    }
    let count = vint::take(&mut body)?;
    let partition = |_| {
        let table = u32::try_from(vint::take(&mut body)?).ok()?;
        let key = vint::take_slice(&mut body)?.to_vec();
        let mut at = 0u64;
        let samples = (0..vint::take(&mut body)?).map(|_| {
            at = at.checked_add(vint::take(&mut body)?)?;
            Some((at, vint::take(&mut body)?))
        });
        let samples = samples.collect::<Option<Samples>>()?;
        Some((table, key, samples))
    };
    (0..count).map(partition).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::DAY_MILLIS;
    use rt::SimDisk;

    #[test]
    fn growth_is_known_again_and_damage_is_not_believed() {
        let (disk, dir) = (SimDisk::new(), Path::new("/db"));
        disk.create_dir_all(dir).unwrap();
        let mut growth = Growth::default();
        let hour = 3_600_000;
        (0..5).for_each(|n| growth.note(7, b"a", n * hour, n * 1000));
        growth.note(7, b"b", 0, 5);
        assert!(growth.take_changed() && !growth.take_changed());
        write(&disk, dir, 3, &encode(&growth)).unwrap();
        write(&disk, dir, 3, &encode(&growth)).unwrap();
        let per_day = |growth: &Growth, key: &[u8]| growth.per_day(7, key, 5 * hour, 5000, DAY_MILLIS);
        let all = load(&disk, dir, |_| true);
        assert_eq!(per_day(&all, b"a"), Some(24_000));
        assert_eq!(per_day(&all, b"a"), per_day(&growth, b"a"));
        assert!(per_day(&all, b"b").is_some());
        let some = load(&disk, dir, |key| key.bytes() == b"b");
        assert_eq!((per_day(&some, b"a"), per_day(&some, b"b")), (None, per_day(&growth, b"b")));
        let good = encode(&growth);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert_eq!(decode(&bad), None, "byte {at}");
            assert_eq!(decode(&good[..at]), None, "cut at {at}");
        }
    }
}
