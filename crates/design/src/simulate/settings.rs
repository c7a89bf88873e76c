//! What a simulation is asked: the ring, the skew, the scales. Checked before anything runs.

use std::fmt;

/// The questions of one simulation.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Settings {
    pub nodes: usize,
    pub vnodes: usize,
    pub replication: usize,
    pub consistency: Consistency,
    /// Zipf exponent of tenants and of keys inside a tenant: 0 is even, 1 is usual, above 1.2 is harsh.
    pub zipf: f64,
    /// Tenants, for tables whose key has one.
    pub tenants: u64,
    /// Keys of a table that does not declare `partitions`.
    pub keys: u64,
    pub large: Vec<Large>,
    pub scales: Vec<f64>,
    /// Days of writing that are simulated, where the retention is longer.
    pub days: f64,
    pub grows: Grows,
    pub seed: u64,
}

/// What is larger at 10x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grows {
    /// The same keys, each with more rows: the harder case.
    Rows,
    /// More keys of the same size.
    Keys,
}

/// How many replicas a read asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Consistency {
    One,
    Quorum,
    All,
}

impl Consistency {
    pub fn replicas(self, replication: usize) -> usize {
        match self {
            Consistency::One => 1,
            Consistency::Quorum => replication / 2 + 1,
            Consistency::All => replication,
        }
    }
}

/// A named key that takes a fixed share of rows and traffic: `acme=40%`, `sensor_id:hub=0.1`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Large {
    /// The column; without one, the tenant.
    pub column: Option<String>,
    pub name: String,
    pub share: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            nodes: 6,
            vnodes: 16,
            replication: 3,
            consistency: Consistency::Quorum,
            zipf: 1.0,
            tenants: 1_000,
            keys: 100_000,
            large: Vec::new(),
            scales: vec![1.0, 10.0, 100.0],
            days: 365.0,
            grows: Grows::Rows,
            seed: 1,
        }
    }
}

/// What is wrong with a setting, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError(pub String);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingError {}

/// Node numbers are two bytes, and a picture of more nodes is no picture.
const NODES_MAX: usize = 1_000;
const VNODES_MAX: usize = 1_024;
const SCALE_MAX: f64 = 1e6;

impl Settings {
    /// Refuses what cannot be simulated, with the reason.
    pub fn check(&self) -> Result<(), SettingError> {
        let fail = |text: String| Err(SettingError(text));
        if self.nodes == 0 || self.nodes > NODES_MAX {
            return fail(format!("{} nodes: a ring has 1 to {NODES_MAX}", self.nodes));
        }
        if self.vnodes == 0 || self.vnodes > VNODES_MAX {
            return fail(format!(
                "{} vnodes: a node has 1 to {VNODES_MAX} tokens (Cassandra's default is 16)",
                self.vnodes
            ));
        }
        if self.replication == 0 || self.replication > self.nodes {
            return fail(format!(
                "replication {} on {} nodes: every replica needs a node of its own; raise the nodes or lower the replication",
                self.replication, self.nodes
            ));
        }
        if !(0.0..=5.0).contains(&self.zipf) {
            return fail(format!("Zipf exponent {}: between 0 (all equal) and 5; 1 is usual", self.zipf));
        }
        if self.tenants == 0 || self.keys == 0 {
            return fail("there must be at least one tenant and one key".into());
        }
        if self.scales.is_empty() || self.scales.iter().any(|s| !(*s > 0.0 && *s <= SCALE_MAX)) {
            return fail(format!("scales are numbers above 0 and up to {SCALE_MAX}, such as 1,10,100"));
        }
        if !(self.days >= 1.0 && self.days <= 36_500.0) {
            return fail(format!("{} days: simulate between 1 day and 100 years", self.days));
        }
        let mut columns: Vec<&Option<String>> = self.large.iter().map(|l| &l.column).collect();
        columns.dedup();
        for column in columns {
            let sum: f64 = self.large.iter().filter(|l| l.column == *column).map(|l| l.share).sum();
            if sum >= 1.0 {
                return fail(format!(
                    "the named keys take {:.0} % together: something must be left for all others",
                    sum * 100.0
                ));
            }
        }
        Ok(())
    }
}

impl std::str::FromStr for Large {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Large, SettingError> {
        let wrong = |why: &str| {
            SettingError(format!("{text:?} {why}; write NAME=SHARE, such as acme=40% or sensor_id:hub=0.1"))
        };
        let (name, share) = text.rsplit_once('=').ok_or_else(|| wrong("has no share"))?;
        let (column, name) = match name.split_once(':') {
            Some((column, name)) => (Some(column.trim().to_string()), name.trim()),
            None => (None, name.trim()),
        };
        let share = share.trim();
        let number =
            |text: &str| text.trim().parse::<f64>().map_err(|_| wrong("has a share that is no number"));
        let share = match share.strip_suffix('%') {
            Some(per_cent) => number(per_cent)? / 100.0,
            None => number(share)?,
        };
        if name.is_empty() || column.as_deref() == Some("") {
            return Err(wrong("has no name"));
        }
        if !(share > 0.0 && share < 1.0) {
            return Err(wrong("must take more than nothing and less than everything"));
        }
        Ok(Large { column, name: name.to_string(), share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_keys_read_as_people_write_them() {
        let large = |text: &str| text.parse::<Large>();
        assert_eq!(large("acme=40%").unwrap(), Large { column: None, name: "acme".into(), share: 0.4 });
        assert_eq!(large("sensor_id:hub = 0.1").unwrap().column.as_deref(), Some("sensor_id"));
        for (bad, why) in [
            ("acme", "no share"),
            ("acme=lots", "no number"),
            ("=0.4", "no name"),
            ("acme=140%", "less than everything"),
            ("acme=NaN", "less than everything"),
        ] {
            let error = large(bad).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("acme=40%"), "{bad}: {error}");
        }
    }

    #[test]
    fn impossible_rings_are_refused_with_the_reason() {
        assert!(Settings::default().check().is_ok());
        let few = Settings { nodes: 2, ..Settings::default() };
        assert!(few.check().unwrap_err().to_string().contains("node of its own"));
        let all = vec!["a=60%".parse().unwrap(), "b=40%".parse().unwrap()];
        assert!(
            Settings { large: all, ..Settings::default() }.check().unwrap_err().to_string().contains("100 %")
        );
        assert!(Settings { scales: vec![f64::NAN], ..Settings::default() }.check().is_err());
        assert!(Settings { zipf: f64::NAN, ..Settings::default() }.check().is_err());
    }
}
