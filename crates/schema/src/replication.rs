//! Replication settings: accepted as Cassandra accepts them, though there is one copy of the data.

use crate::fault::{ReplicationFault, Warning};
use std::collections::BTreeMap;

const PACKAGE: &str = "org.apache.cassandra.locator.";
const FACTOR: &str = "replication_factor";

/// Normalised settings (`class` in full, data centers instead of a bare factor) and warnings.
pub fn normalise(
    keyspace: &str,
    asked: &BTreeMap<String, String>,
    previous: Option<&BTreeMap<String, String>>,
    data_center: &str,
) -> Result<(BTreeMap<String, String>, Vec<Warning>), ReplicationFault> {
    let class = asked.get("class").ok_or(ReplicationFault::ClassMissing)?;
    let class = if class.contains('.') { class.clone() } else { format!("{PACKAGE}{class}") };
    let mut options = asked.clone();
    options.remove("class");
    match class.strip_prefix(PACKAGE) {
        Some("SimpleStrategy") => simple(keyspace, &mut options)?,
        Some("NetworkTopologyStrategy") => {
            network(keyspace, &mut options, previous.filter(|p| p.get("class") == Some(&class)), data_center)?
        }
        Some("LocalStrategy") => {
            return Err(ReplicationFault::LocalStrategy);
        }
        _ => {
            return Err(ReplicationFault::ClassUnknown { class: class.to_string() });
        }
    }
    options.insert("class".into(), class);
    let warnings = warnings(keyspace, &options);
    Ok((options, warnings))
}

/// What a keyspace whose replication promises more copies than exist is answered with.
pub fn warnings(keyspace: &str, replication: &BTreeMap<String, String>) -> Vec<Warning> {
    let factors = replication.iter().filter(|(name, _)| *name != "class");
    let above_one = factors.filter_map(|(name, value)| Some((name, value.parse::<u32>().ok()?)));
    let warning = |(name, factor): (&String, u32)| {
        let data_center = (name != FACTOR).then(|| name.clone());
        Warning::FactorAboveNodes { factor, keyspace: keyspace.to_string(), data_center }
    };
    above_one.filter(|(_, factor)| *factor > 1).map(warning).collect()
}

fn factor(text: &str) -> Result<i32, ReplicationFault> {
    if text.contains('/') {
        return Err(ReplicationFault::Transient);
    }
    let value: i32 =
        text.parse().map_err(|_| ReplicationFault::FactorMalformed { text: text.to_string() })?;
    if value < 0 {
        return Err(ReplicationFault::FactorNegative { factor: value });
    }
    Ok(value)
}

fn simple(keyspace: &str, options: &mut BTreeMap<String, String>) -> Result<(), ReplicationFault> {
    if let Some(unknown) = options.keys().find(|name| *name != FACTOR) {
        return Err(ReplicationFault::UnknownOption {
            option: unknown.to_string(),
            strategy: "SimpleStrategy",
            keyspace: keyspace.to_string(),
        });
    }
    // Without a factor Cassandra takes its configured default, which is 1.
    let value = factor(options.get(FACTOR).map_or("1", String::as_str))?;
    options.insert(FACTOR.into(), value.to_string());
    Ok(())
}

/// A bare factor stands for every data center that is not named; one that had a factor keeps it.
fn network(
    keyspace: &str,
    options: &mut BTreeMap<String, String>,
    previous: Option<&BTreeMap<String, String>>,
    data_center: &str,
) -> Result<(), ReplicationFault> {
    let bare = options.remove(FACTOR);
    let named = options.clone();
    if named.is_empty() && bare.is_none() && previous.is_none() {
        options.insert(data_center.into(), "1".into());
    }
    if let Some(bare) = bare {
        let kept = previous.and_then(|p| p.get(data_center)).cloned();
        if !options.contains_key(data_center) && bare.parse::<i32>().is_ok() {
            options.insert(data_center.into(), kept.unwrap_or(bare));
        }
    }
    if let Some(unknown) = named.keys().find(|name| *name != data_center) {
        return Err(ReplicationFault::UnknownOption {
            option: unknown.to_string(),
            strategy: "NetworkTopologyStrategy",
            keyspace: keyspace.to_string(),
        });
    }
    for value in options.values_mut() {
        *value = factor(value)?.to_string();
    }
    options.retain(|_, value| value != "0");
    if options.is_empty() {
        return Err(ReplicationFault::NoDataCenter);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    fn check(asked: &[(&str, &str)], expect: Result<&[(&str, &str)], ReplicationFault>) {
        let got = normalise("k", &map(asked), None, "datacenter1").map(|(stored, _)| stored);
        assert_eq!(got, expect.map(map));
    }

    const NTS: &str = "NetworkTopologyStrategy";
    const NTS_FULL: &str = "org.apache.cassandra.locator.NetworkTopologyStrategy";
    const SIMPLE_FULL: &str = "org.apache.cassandra.locator.SimpleStrategy";

    #[test]
    fn settings_are_normalised_as_cassandra_does() {
        let simple = &[("class", SIMPLE_FULL), ("replication_factor", "1")];
        check(&[("class", "SimpleStrategy"), ("replication_factor", "1")], Ok(simple));
        check(&[("class", SIMPLE_FULL)], Ok(simple));
        let network = &[("class", NTS_FULL), ("datacenter1", "3")];
        check(&[("class", NTS), ("replication_factor", "3")], Ok(network));
        check(&[("class", NTS), ("datacenter1", "3"), ("replication_factor", "1")], Ok(network));
        check(&[("class", NTS)], Ok(&[("class", NTS_FULL), ("datacenter1", "1")]));
    }

    #[test]
    fn wrong_settings_are_refused() {
        use ReplicationFault::*;
        let unknown = |option: &str, strategy| {
            Err(UnknownOption { option: option.into(), strategy, keyspace: "k".into() })
        };
        check(&[("replication_factor", "1")], Err(ClassMissing));
        let malformed = FactorMalformed { text: "x".into() };
        check(&[("class", "SimpleStrategy"), ("replication_factor", "x")], Err(malformed));
        check(
            &[("class", "SimpleStrategy"), ("replication_factor", "-1")],
            Err(FactorNegative { factor: -1 }),
        );
        check(&[("class", "SimpleStrategy"), ("foo", "1")], unknown("foo", "SimpleStrategy"));
        check(&[("class", NTS), ("nowhere", "1")], unknown("nowhere", NTS));
        check(&[("class", NTS), ("datacenter1", "0"), ("replication_factor", "3")], Err(NoDataCenter));
        check(&[("class", NTS), ("replication_factor", "x")], Err(NoDataCenter));
        let class = "org.apache.cassandra.locator.Nope".to_string();
        check(&[("class", "Nope")], Err(ClassUnknown { class }));
        check(&[("class", SIMPLE_FULL), ("replication_factor", "1/2")], Err(Transient));
    }

    #[test]
    fn an_existing_data_center_keeps_its_factor() {
        let before = map(&[("class", NTS_FULL), ("datacenter1", "2")]);
        let asked = map(&[("class", NTS), ("replication_factor", "1")]);
        let (now, warnings) = normalise("k", &asked, Some(&before), "datacenter1").unwrap();
        assert_eq!(now, before);
        let data_center = Some("datacenter1".to_string());
        assert_eq!(warnings, [Warning::FactorAboveNodes { factor: 2, keyspace: "k".into(), data_center }]);
    }
}
