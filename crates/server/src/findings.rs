//! What is wrong, found out every few seconds: since when, told once in the log and to the webhook.

use crate::alerts::Alert;
use crate::shard::{Shard, Shared};
use cql::system::{Evidence, Finding, SeenForFindings, Standing, Status};
use database::traffic::RATE_SECONDS;
use observe::Window;
use schema::Catalogue;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A finding that is gone for so long and comes again is a new one. Shorter, and load that goes up and down would be told again
/// and again.
const FORGET_MILLIS: i64 = 5 * 60 * 1000;
/// Findings that are kept and told; a server with more has one problem, which is not in the list.
const FINDINGS_MAX: usize = 500;

/// A server that nobody uses is looked at this often, and one where something is wrong this often.
const IDLE_MAX: Duration = Duration::from_secs(60);
const STANDING_MAX: Duration = Duration::from_secs(5);

/// Keyspace, pattern, number.
type Breach = (Arc<str>, Arc<str>, &'static str);

/// What is wrong, by what it is about.
#[derive(Default)]
pub struct Findings {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    standing: BTreeMap<Identity, Kept>,
    /// Since when (milliseconds) numbers of patterns are exceeded.
    breaches: HashMap<Breach, i64>,
}

/// Keyspace, table, rule, subject.
type Identity = (String, String, &'static str, String);

struct Kept {
    standing: Standing,
    seen_millis: i64,
    /// It holds now.
    holds: bool,
}

impl Findings {
    /// What holds now, the worst first.
    pub fn now(&self) -> Vec<Standing> {
        let known = self.lock();
        let mut found: Vec<Standing> =
            known.standing.values().filter(|kept| kept.holds).map(|kept| kept.standing.clone()).collect();
        found.sort_by_key(|standing| (std::cmp::Reverse(standing.finding.severity), standing.since_millis));
        found
    }

    /// Nothing is wrong.
    fn is_quiet(&self) -> bool {
        let known = self.lock();
        known.standing.values().all(|kept| !kept.holds) && known.breaches.is_empty()
    }

    /// Since when this number of a pattern is exceeded, or any.
    pub fn breached_since(&self, keyspace: &str, pattern: &str, number: Option<&str>) -> Option<i64> {
        let known = self.lock();
        let of_pattern = known.breaches.iter().filter(|((k, p, n), _)| {
            **k == *keyspace && **p == *pattern && number.is_none_or(|number| number == *n)
        });
        of_pattern.map(|(_, since)| *since).min()
    }

    /// Takes note of what holds now; what is new.
    fn note(&self, found: Vec<Finding>, now_millis: i64) -> Vec<Standing> {
        let mut known = self.lock();
        known.standing.values_mut().for_each(|kept| kept.holds = false);
        let mut new = Vec::new();
        for finding in found.into_iter().take(FINDINGS_MAX) {
            let subject = finding.subject.clone();
            let identity = (finding.keyspace.clone(), finding.table.clone(), finding.rule, subject);
            let since_millis =
                known.standing.get(&identity).map_or(now_millis, |kept| kept.standing.since_millis);
            let standing = Standing { finding, since_millis };
            if !known.standing.contains_key(&identity) {
                new.push(standing.clone());
            }
            known.standing.insert(identity, Kept { standing, seen_millis: now_millis, holds: true });
        }
        known.standing.retain(|_, kept| now_millis - kept.seen_millis < FORGET_MILLIS);
        new
    }

    fn note_breaches(&self, breached: impl Iterator<Item = Breach>, now_millis: i64) {
        let mut known = self.lock();
        let before = std::mem::take(&mut known.breaches);
        known.breaches = breached
            .map(|breach| (breach.clone(), before.get(&breach).copied().unwrap_or(now_millis)))
            .collect();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Measures how often statements are called, and finds out what is wrong, until the shard ends.
pub async fn watch(shard: Rc<Shard>) {
    let started = Instant::now();
    let mut last = Look::default();
    let mut again = false;
    loop {
        let (version, catalogue) = shard.dialect.catalogue();
        let now = Look::of(&shard.shared, version, started.elapsed());
        let same = last.is_same(&now);
        // Rates fall to nothing with the first look after the last request, so there is always one more.
        if same && again && !last.is_old(&now, shard.shared.findings.is_quiet()) {
            tokio::time::sleep(Duration::from_secs(RATE_SECONDS)).await;
            continue;
        }
        (last, again) = (now, same);
        let millis = started.elapsed().as_millis() as u64;
        let shared = shard.shared.clone();
        let now_micros = shard.ids.now_micros();
        // Every pattern is bound again, and there may be many.
        rt::aside(move || {
            shared.traffic.measure(millis);
            look(&shared, &catalogue, now_micros);
        })
        .await;
        tokio::time::sleep(Duration::from_secs(RATE_SECONDS)).await;
    }
}

/// What a look was about. Where nothing has moved, another one would find the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    catalogue: u64,
    /// Bytes that clients have sent: no request comes without some.
    received: u64,
    commits: u64,
    at: Duration,
}

impl Look {
    fn of(shared: &Shared, catalogue: u64, at: Duration) -> Look {
        let received = shared.metrics.iter().map(|shard| shard.bytes_read.get()).sum();
        Look { catalogue, received, commits: shared.engine.metrics().commits.get(), at }
    }

    fn is_same(&self, now: &Look) -> bool {
        Look { at: self.at, ..*now } == *self
    }

    /// Sizes change by themselves, when files are merged and data expires; and what was found ends.
    fn is_old(&self, now: &Look, is_quiet: bool) -> bool {
        let idle = now.at.saturating_sub(self.at);
        idle >= if is_quiet { IDLE_MAX } else { STANDING_MAX }
    }
}

fn look(shared: &Shared, catalogue: &Catalogue, now_micros: i64) {
    let (traffic, sizes) = (shared.traffic.all(), shared.engine.table_sizes());
    let partition_bytes = shared.config.partition_bytes.unwrap_or(u64::MAX);
    let usages = Some(&shared.catalogue.usages);
    let evidence =
        || Evidence { catalogue, traffic: &traffic, sizes: &sizes, partition_bytes, usages, now_micros };
    let now_millis = now_micros / 1000;
    let judged = cql::system::judge(&evidence());
    let breached = judged.iter().flat_map(|pattern| {
        let numbers = pattern.numbers.iter().filter(|number| number.status == Status::Breached);
        numbers.map(|number| (pattern.keyspace.clone(), pattern.name.clone(), number.name))
    });
    shared.findings.note_breaches(breached, now_millis);
    let (minute, day) =
        (shared.engine.hot_partitions(Window::Minute), shared.engine.hot_partitions(Window::Day));
    let seen = SeenForFindings { evidence: evidence(), minute: &minute, day: &day };
    for Standing { finding, since_millis } in shared.findings.note(cql::system::findings(&seen), now_millis) {
        let Finding { rule, severity, keyspace, table, message, fix, .. } = &finding;
        tracing::warn!(rule, %severity, keyspace, table, fix, "{message}");
        if let Some(alerts) = &shared.alerts {
            alerts.send(Alert { finding, since_millis });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(subject: &str) -> Finding {
        let text = String::new;
        Finding {
            rule: "r",
            severity: design::Severity::Warning,
            keyspace: "k".into(),
            table: "t".into(),
            subject: subject.into(),
            message: text(),
            fix: text(),
            confidence: text(),
        }
    }

    #[test]
    fn a_finding_is_new_once_and_keeps_its_beginning() {
        let findings = Findings::default();
        assert_eq!(findings.note(vec![finding("a")], 1000).len(), 1);
        assert_eq!(findings.note(vec![finding("a"), finding("b")], 6000).len(), 1);
        assert_eq!(findings.now().iter().map(|s| s.since_millis).collect::<Vec<_>>(), [1000, 6000]);
        assert!(findings.note(Vec::new(), 11_000).is_empty());
        assert!(findings.now().is_empty(), "what does not hold is not shown");
        assert!(findings.note(vec![finding("a")], 16_000).is_empty(), "it was told a moment ago");
        assert_eq!(findings.now()[0].since_millis, 1000);
        findings.note(Vec::new(), 16_000 + FORGET_MILLIS);
        assert_eq!(findings.note(vec![finding("a")], 20_000 + FORGET_MILLIS).len(), 1);
    }

    #[test]
    fn another_look_is_worth_it_when_something_moved() {
        let first = Look { catalogue: 1, received: 10, commits: 2, at: Duration::from_secs(5) };
        let later = |seconds, received| Look { received, at: Duration::from_secs(seconds), ..first };
        assert!(first.is_same(&later(10, 10)) && !first.is_same(&later(10, 11)));
        assert!(!first.is_old(&later(60, 10), true) && first.is_old(&later(65, 10), true));
        assert!(first.is_old(&later(10, 10), false), "what is wrong may end");
    }

    #[test]
    fn breaches_of_a_number_keep_their_beginning() {
        let findings = Findings::default();
        let breach = |number| ("k".into(), "p".into(), number);
        findings.note_breaches([breach("p99_ms")].into_iter(), 5);
        findings.note_breaches([breach("p99_ms"), breach("peak_rate")].into_iter(), 9);
        assert_eq!(findings.breached_since("k", "p", Some("peak_rate")), Some(9));
        assert_eq!(findings.breached_since("k", "p", None), Some(5));
        findings.note_breaches(std::iter::empty(), 12);
        assert_eq!(findings.breached_since("k", "p", None), None);
    }
}
