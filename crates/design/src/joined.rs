//! Words written as one: `channelid`, `dailydowntime`. Unquoted names lose their capitals, so nothing else parts them.

use crate::lexicon;
use crate::vocabulary::{self, singular};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that are parts of names and on no list of their own.
const COMMON: &[&str] = &[
    "message",
    "sender",
    "receiver",
    "recipient",
    "created",
    "updated",
    "start",
    "end",
    "date",
    "time",
    "stamp",
    "timestamp",
    "first",
    "last",
    "daily",
    "hourly",
    "weekly",
    "monthly",
    "total",
    "count",
    "user",
    "name",
    "key",
    "code",
    "uuid",
    "chat",
    "channel",
    "room",
    "downtime",
    "uptime",
    "number",
    "address",
    "text",
    "body",
    "content",
    "title",
    "value",
    "parent",
    "child",
    "source",
    "target",
    "customer",
    "product",
    "order",
    "item",
    "asset",
    "stats",
    "login",
    "access",
    "token",
    "session",
    "data",
    "info",
    "list",
    "index",
    "revenue",
    "history",
    "forecast",
    "twitter",
];
/// Words that end in `id` and are whole.
const WHOLE: &[&str] = &[
    "valid", "invalid", "paid", "unpaid", "grid", "android", "fluid", "solid", "avoid", "hybrid", "rapid",
    "liquid", "void", "raid", "covid", "centroid", "overlaid", "prepaid", "squid", "vivid", "humid",
    "forbid", "orchid",
];

static KNOWN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lists = [
        COMMON,
        lexicon::MACHINE,
        lexicon::PERSON,
        lexicon::GROUP,
        lexicon::LONG_UNIT,
        lexicon::UNIT,
        lexicon::TELEMETRY,
        lexicon::HAPPENING,
        lexicon::REFERENCE,
        lexicon::POPULATION,
        lexicon::TRANSIENT,
        lexicon::MARKER,
        vocabulary::IDENTITY_LAST,
        vocabulary::LABEL,
        vocabulary::MEASURE,
    ];
    lists.into_iter().flatten().copied().filter(|word| word.len() >= 3).collect()
});

fn is_known(word: &str) -> bool {
    KNOWN.contains(word) || KNOWN.contains(singular(word).as_str())
}

/// The words that this one is made of; none when it is whole or nothing is known of its parts.
pub fn parts(word: &str) -> Option<Vec<String>> {
    // `jobid`, `carid`: short, but the rest is a word.
    if let Some(stem) = word.strip_suffix("id").filter(|stem| stem.len() == 3 && is_known(stem)) {
        return Some(vec![stem.to_string(), "id".into()]);
    }
    if word.len() < 6
        || !word.bytes().all(|b| b.is_ascii_lowercase())
        || is_known(word)
        || WHOLE.contains(&word)
    {
        return None;
    }
    if let Some(stem) = word.strip_suffix("id").filter(|stem| stem.len() >= 4) {
        let mut all = parts(stem).unwrap_or_else(|| vec![stem.to_string()]);
        all.push("id".into());
        return Some(all);
    }
    (3..=word.len() - 3).rev().find_map(|at| {
        let (head, tail) = word.split_at(at);
        if !is_known(head) {
            return None;
        }
        if is_known(tail) {
            return Some(vec![head.to_string(), tail.to_string()]);
        }
        let mut all = vec![head.to_string()];
        all.extend(parts(tail)?);
        Some(all)
    })
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn joined_words_are_parted_and_whole_ones_are_left() {
        assert_eq!(parts("channelid").unwrap_or_default(), ["channel", "id"]);
        assert_eq!(parts("dailydowntime").unwrap_or_default(), ["daily", "downtime"]);
        assert_eq!(parts("receiverid").unwrap_or_default(), ["receiver", "id"]);
        for whole in ["android", "username", "valid", "temperature", "xylophone", "hostname"] {
            assert_eq!(parts(whole), None, "{whole}");
        }
    }
}
