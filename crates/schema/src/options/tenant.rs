//! The `tenant_limits` map, ours: what each tenant, or a single one, may use in a second.

use super::limit::bytes;
use crate::fault::TenantFault;
use std::collections::BTreeMap;

const REQUESTS: &str = "requests_per_second";
const BYTES: &str = "bytes_per_second";
const UNLIMITED: &str = "unlimited";
/// So many tenants may have limits of their own: the map is part of the schema.
const ENTRIES_MAX: usize = 1000;

/// What one tenant may use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TenantLimit {
    pub requests_per_second: Option<f64>,
    pub bytes_per_second: Option<f64>,
}

/// A map as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct TenantLimits<'o>(pub(crate) &'o BTreeMap<String, String>);

impl TenantLimits<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What this tenant may use: what is said of it alone, else what is said of all.
    pub fn of(&self, tenant: &str) -> TenantLimit {
        let limit = |name: &str| {
            let own = self.0.get(&format!("{tenant}.{name}"));
            own.or_else(|| self.0.get(name)).and_then(|text| number(name, text)).flatten()
        };
        TenantLimit { requests_per_second: limit(REQUESTS), bytes_per_second: limit(BYTES) }
    }
}

/// The map as it is stored; an empty one takes the limits away.
pub(crate) fn normalise(asked: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, TenantFault> {
    if asked.len() > ENTRIES_MAX {
        return Err(TenantFault::TooManyLimits { entries: asked.len(), most: ENTRIES_MAX });
    }
    let mut stored = BTreeMap::new();
    for (name, value) in asked {
        let (tenant, limit) = match name.rsplit_once('.') {
            Some((tenant, limit)) => (Some(tenant), limit),
            None => (None, name.as_str()),
        };
        let limit = limit.to_ascii_lowercase();
        if ![REQUESTS, BYTES].contains(&limit.as_str()) {
            return Err(TenantFault::UnknownLimit { name: name.to_string() });
        }
        let value = value.trim().to_ascii_lowercase();
        if number(&limit, &value).is_none() {
            return Err(TenantFault::Limit { value: value.to_string(), name: name.to_string() });
        }
        let name = tenant.map_or(limit.clone(), |tenant| format!("{tenant}.{limit}"));
        stored.insert(name, value);
    }
    Ok(stored)
}

/// `None`: no such number; `Some(None)`: as much as it likes.
fn number(name: &str, text: &str) -> Option<Option<f64>> {
    if text.eq_ignore_ascii_case(UNLIMITED) {
        return Some(None);
    }
    let value = match name {
        BYTES => bytes(text)? as f64,
        _ => text.parse::<f64>().ok()?,
    };
    (value.is_finite() && value > 0.0).then_some(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn a_tenant_has_its_own_limits_or_those_of_all() {
        let stored = normalise(&map(&[
            ("Requests_Per_Second", " 100"),
            ("bytes_per_second", "1MB"),
            ("a.b.requests_per_second", "5000"),
            ("a.b.bytes_per_second", "UNLIMITED"),
        ]))
        .unwrap();
        let limits = TenantLimits(&stored);
        let all = TenantLimit { requests_per_second: Some(100.0), bytes_per_second: Some(1e6) };
        assert_eq!(limits.of("acme"), all);
        assert_eq!(limits.of("a"), all);
        assert_eq!(
            limits.of("a.b"),
            TenantLimit { requests_per_second: Some(5000.0), bytes_per_second: None }
        );
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for (name, value) in [
            ("rows_per_second", "1"),
            ("requests_per_second", "0"),
            ("requests_per_second", "-5"),
            ("requests_per_second", "NaN"),
            ("requests_per_second", "many"),
            ("bytes_per_second", "1 parsec"),
            ("acme.limit", "1"),
        ] {
            let fault = normalise(&map(&[(name, value)])).unwrap_err();
            let is_told = match &fault {
                TenantFault::UnknownLimit { name: told } => told == name,
                TenantFault::Limit { name: told, value: with } => {
                    told == name && *with == value.to_ascii_lowercase()
                }
                _ => false,
            };
            assert!(is_told, "{name} {value}: {fault:?}");
        }
        let many: BTreeMap<String, String> =
            (0..=ENTRIES_MAX).map(|n| (format!("t{n}.{REQUESTS}"), "1".into())).collect();
        assert!(matches!(normalise(&many), Err(TenantFault::TooManyLimits { .. })));
    }
}
