//! What a simulation says: plain data, written as text, JSON or a picture elsewhere.

use super::settings::Settings;
use serde::Serialize;

/// The whole answer.
#[derive(Debug, Serialize)]
pub struct Simulation {
    pub settings: Settings,
    /// What to know first, in sentences.
    pub verdicts: Vec<Verdict>,
    pub tables: Vec<TableReport>,
    pub patterns: Vec<PatternReport>,
    /// One per scale.
    pub rings: Vec<RingReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// `bad` or `good`.
    pub is_bad: bool,
    pub text: String,
}

/// One table at every scale.
#[derive(Debug, Serialize)]
pub struct TableReport {
    pub table: String,
    pub partition_key: String,
    pub row_bytes: f64,
    pub time_buckets: u64,
    pub hash_buckets: u64,
    pub assumptions: Vec<String>,
    pub scales: Vec<TableAt>,
}

/// One table at one scale. Sizes are of one replica.
#[derive(Debug, Serialize)]
pub struct TableAt {
    pub scale: f64,
    pub partitions: f64,
    pub rows: f64,
    pub bytes: f64,
    pub partition_bytes_p50: f64,
    pub partition_bytes_p90: f64,
    pub partition_bytes_p99: f64,
    pub partition_bytes_p999: f64,
    pub partition_bytes_max: f64,
    /// Partitions past 100 MB.
    pub over_limit: f64,
    pub largest: String,
    /// Upper bound in bytes and number of partitions, by powers of two.
    pub histogram: Vec<(f64, f64)>,
}

/// One pattern at every scale.
#[derive(Debug, Serialize)]
pub struct PatternReport {
    pub pattern: String,
    pub table: String,
    pub is_read: bool,
    /// `one partition`, `3 partitions`, `every partition`.
    pub path: String,
    pub scales: Vec<PatternAt>,
}

/// Fan-out: partitions that one operation touches, over operations (busy keys count more).
#[derive(Debug, Serialize)]
pub struct PatternAt {
    pub scale: f64,
    /// Per second at peak; none when not declared.
    pub rate: Option<f64>,
    pub partitions: f64,
    /// Nodes that one operation asks, coordinator apart.
    pub nodes: f64,
    /// Time buckets to go back until the LIMIT is full: half of the operations need at most this, 99 % that.
    pub buckets_to_fill_p50: Option<f64>,
    pub buckets_to_fill_p99: Option<f64>,
    /// Operations per second on the busiest key.
    pub busiest_key_rate: Option<f64>,
}

/// The ring at one scale.
#[derive(Debug, Serialize)]
pub struct RingReport {
    pub scale: f64,
    pub nodes: Vec<NodeLoad>,
    /// Busiest first.
    pub hottest: Vec<HotPartition>,
    /// Largest first.
    pub largest: Vec<HotPartition>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct NodeLoad {
    pub node: usize,
    /// Share of all tokens this node holds a replica of.
    pub ownership: f64,
    pub bytes: f64,
    pub reads: f64,
    pub writes: f64,
}

/// A partition worth a name.
#[derive(Debug, Clone, Serialize)]
pub struct HotPartition {
    pub table: String,
    pub key: String,
    pub bytes: f64,
    /// Per second, on the partition (every replica takes all writes).
    pub reads: f64,
    pub writes: f64,
    /// Primary replica.
    pub node: usize,
}

impl NodeLoad {
    pub fn operations(&self) -> f64 {
        self.reads + self.writes
    }
}

impl RingReport {
    /// The busiest node against the average: 1 is perfectly even; none without load.
    pub fn unevenness(&self, of: impl Fn(&NodeLoad) -> f64) -> Option<f64> {
        let sum: f64 = self.nodes.iter().map(&of).sum();
        let most = self.nodes.iter().map(&of).fold(0.0, f64::max);
        (sum > 0.0).then(|| most / (sum / self.nodes.len() as f64))
    }
}
