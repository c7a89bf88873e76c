//! Replication settings: accepted as Cassandra accepts them, though there is one copy of the data.

use crate::error::SchemaError;
use std::collections::BTreeMap;

const PACKAGE: &str = "org.apache.cassandra.locator.";
const FACTOR: &str = "replication_factor";

/// Normalised settings (`class` in full, data centers instead of a bare factor) and warnings.
pub fn normalise(
    keyspace: &str,
    asked: &BTreeMap<String, String>,
    previous: Option<&BTreeMap<String, String>>,
    data_center: &str,
) -> Result<(BTreeMap<String, String>, Vec<String>), SchemaError> {
    let class =
        asked.get("class").ok_or_else(|| SchemaError::config("Missing replication strategy class"))?;
    let class = if class.contains('.') { class.clone() } else { format!("{PACKAGE}{class}") };
    let mut options = asked.clone();
    options.remove("class");
    match class.strip_prefix(PACKAGE) {
        Some("SimpleStrategy") => simple(keyspace, &mut options)?,
        Some("NetworkTopologyStrategy") => {
            network(keyspace, &mut options, previous.filter(|p| p.get("class") == Some(&class)), data_center)?
        }
        Some("LocalStrategy") => {
            return Err(SchemaError::invalid(
                "Unable to use given strategy class: LocalStrategy is reserved for internal use.",
            ));
        }
        _ => {
            return Err(SchemaError::Config(format!("Unable to find replication strategy class '{class}'")));
        }
    }
    options.insert("class".into(), class);
    let warnings = warnings(keyspace, &options);
    Ok((options, warnings))
}

/// What a keyspace whose replication promises more copies than exist is answered with.
pub fn warnings(keyspace: &str, replication: &BTreeMap<String, String>) -> Vec<String> {
    let factors = replication.iter().filter(|(name, _)| *name != "class");
    let above_one = factors.filter_map(|(name, value)| Some((name, value.parse::<u32>().ok()?)));
    let text = |(name, factor): (&String, u32)| {
        let place = if name == FACTOR { String::new() } else { format!(" for datacenter {name}") };
        format!(
            "Your replication factor {factor} for keyspace {keyspace} is higher than the number of nodes 1{place}. \
             Partita keeps one copy of the data and serves every consistency level from it."
        )
    };
    above_one.filter(|(_, factor)| *factor > 1).map(text).collect()
}

fn factor(text: &str) -> Result<i32, SchemaError> {
    if text.contains('/') {
        return Err(SchemaError::config("Transient replication is not enabled on this node"));
    }
    let value: i32 =
        text.parse().map_err(|_| SchemaError::Config(format!("For input string: \"{text}\"")))?;
    if value < 0 {
        return Err(SchemaError::Config(format!("Replication factor must be non-negative, found {value}")));
    }
    Ok(value)
}

fn simple(keyspace: &str, options: &mut BTreeMap<String, String>) -> Result<(), SchemaError> {
    if let Some(unknown) = options.keys().find(|name| *name != FACTOR) {
        return Err(SchemaError::Config(format!(
            "Unrecognized strategy option {{{unknown}}} passed to SimpleStrategy for keyspace {keyspace}"
        )));
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
) -> Result<(), SchemaError> {
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
        return Err(SchemaError::Config(format!(
            "Unrecognized strategy option {{{unknown}}} passed to NetworkTopologyStrategy for keyspace {keyspace}"
        )));
    }
    for value in options.values_mut() {
        *value = factor(value)?.to_string();
    }
    options.retain(|_, value| value != "0");
    if options.is_empty() {
        return Err(SchemaError::config("Configuration for at least one datacenter must be present"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    fn check(asked: &[(&str, &str)], expect: Result<&[(&str, &str)], &str>) {
        let got = normalise("k", &map(asked), None, "datacenter1");
        match expect {
            Ok(pairs) => assert_eq!(got.unwrap().0, map(pairs)),
            Err(text) => assert_eq!(got.unwrap_err().to_string(), text),
        }
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
    fn wrong_settings_are_refused_in_cassandras_words() {
        check(&[("replication_factor", "1")], Err("Missing replication strategy class"));
        check(&[("class", "SimpleStrategy"), ("replication_factor", "x")], Err("For input string: \"x\""));
        check(
            &[("class", "SimpleStrategy"), ("replication_factor", "-1")],
            Err("Replication factor must be non-negative, found -1"),
        );
        check(
            &[("class", "SimpleStrategy"), ("foo", "1")],
            Err("Unrecognized strategy option {foo} passed to SimpleStrategy for keyspace k"),
        );
        check(
            &[("class", NTS), ("nowhere", "1")],
            Err("Unrecognized strategy option {nowhere} passed to NetworkTopologyStrategy for keyspace k"),
        );
        let none = "Configuration for at least one datacenter must be present";
        check(&[("class", NTS), ("datacenter1", "0"), ("replication_factor", "3")], Err(none));
        check(&[("class", NTS), ("replication_factor", "x")], Err(none));
        check(
            &[("class", "Nope")],
            Err("Unable to find replication strategy class 'org.apache.cassandra.locator.Nope'"),
        );
        check(
            &[("class", SIMPLE_FULL), ("replication_factor", "1/2")],
            Err("Transient replication is not enabled on this node"),
        );
    }

    #[test]
    fn an_existing_data_center_keeps_its_factor() {
        let before = map(&[("class", NTS_FULL), ("datacenter1", "2")]);
        let asked = map(&[("class", NTS), ("replication_factor", "1")]);
        let (now, warnings) = normalise("k", &asked, Some(&before), "datacenter1").unwrap();
        assert_eq!(now, before);
        assert!(warnings[0].starts_with(
            "Your replication factor 2 for keyspace k is higher than the number of nodes 1 for datacenter datacenter1"
        ));
    }
}
