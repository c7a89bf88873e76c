//! Measuring a phase: wall clock, processor time of all threads, memory, what else ran on the machine.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

/// Ticks of `/proc/*/stat` in a second on Linux.
const TICKS: f64 = 100.0;

pub struct Meter {
    begun: Instant,
    own: f64,
    machine: (f64, f64),
    written: u64,
}

impl Meter {
    pub fn start() -> Meter {
        Meter { begun: Instant::now(), own: own_cpu(), machine: machine_cpu(), written: bytes_written() }
    }

    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Bytes this process sent to the device since the start.
    pub fn bytes_written(&self) -> u64 {
        bytes_written() - self.written
    }

    /// Prints the phase as one JSON line; `extra` are further fields, each starting with a comma.
    pub fn report(&self, engine: &str, phase: &str, operations: u64, extra: &str) {
        let wall = self.seconds();
        let own = own_cpu() - self.own;
        let machine = machine_cpu();
        // Cores that everything else on the machine used meanwhile (noise, and writeback).
        let others = ((machine.0 - self.machine.0 - own) / wall).max(0.0);
        let stolen = (machine.1 - self.machine.1) / wall;
        let mut line = String::new();
        let rate = operations as f64 / wall;
        let cpu = own * 1e6 / operations.max(1) as f64;
        let (memory, peak) = (status("VmRSS") / 1024, status("VmHWM") / 1024);
        let _ = write!(
            line,
            "{{\"engine\":\"{engine}\",\"phase\":\"{phase}\",\"ops\":{operations},\"wall_s\":{wall:.4}"
        );
        let _ = write!(
            line,
            ",\"ops_per_s\":{rate:.0},\"cpu_us_per_op\":{cpu:.3},\"rss_mib\":{memory},\"peak_rss_mib\":{peak}"
        );
        let _ = write!(line, ",\"other_cores\":{others:.2},\"steal\":{stolen:.2}{extra}}}");
        println!("{line}");
    }
}

fn numbers(path: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // The name of the process, in parentheses, may hold spaces.
    let text = text.rsplit(')').next().unwrap_or_default();
    text.lines().next().unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Seconds this process has had on processors, user and system, all threads.
fn own_cpu() -> f64 {
    // Behind the name: state (a letter, not a number), ppid ..., utime is the 11th number, stime the 12th.
    let fields = numbers("/proc/self/stat");
    fields.get(10..12).map_or(0.0, |times| times.iter().sum::<f64>() / TICKS)
}

/// Seconds all processors were busy, and seconds stolen by the host.
fn machine_cpu() -> (f64, f64) {
    let fields = numbers("/proc/stat");
    let at = |i: usize| fields.get(i).copied().unwrap_or(0.0) / TICKS;
    (at(0) + at(1) + at(2) + at(5) + at(6), at(7))
}

fn field(path: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn status(name: &str) -> u64 {
    field("/proc/self/status", name)
}

fn bytes_written() -> u64 {
    field("/proc/self/io", "write_bytes")
}

/// Bytes that a directory occupies on its device.
pub fn disk_bytes(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_bytes(&entry.path()),
        Ok(metadata) => metadata.blocks() * 512,
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
