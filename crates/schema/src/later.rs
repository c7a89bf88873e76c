//! Freshness of projections: in the commit of their table, or later, within a bound.

use crate::table::Table;

/// How soon a projection that follows later may be expected to, and what happens when it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    pub bound_millis: u32,
    pub on_lag: LagRule,
    /// The id of the table of what is pending.
    pub pending: u32,
    /// The id of the table of where it has rows.
    pub places: u32,
}

/// What happens to writers of the table when the bound is about to break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LagRule {
    #[default]
    Wait,
    Refuse,
    Late,
}

impl LagRule {
    pub const ALL: [LagRule; 3] = [LagRule::Wait, LagRule::Refuse, LagRule::Late];

    pub fn word(self) -> &'static str {
        match self {
            LagRule::Wait => "wait",
            LagRule::Refuse => "refuse",
            LagRule::Late => "late",
        }
    }

    pub fn of_word(word: &str) -> Option<LagRule> {
        LagRule::ALL.into_iter().find(|rule| rule.word() == word)
    }
}

/// Bounds that make sense: below, every write would be held back; above, nobody would call it fresh.
pub(crate) const BOUND_MILLIS: std::ops::RangeInclusive<u64> = 100..=24 * 3_600_000;

/// A length of time: `'500ms'`, `'5s'`, `'2 minutes'`, `'1h'`.
pub(crate) fn parse_millis(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let unit = match text.get(digits..)?.trim() {
        "ms" | "milliseconds" | "millisecond" => 1,
        "s" | "second" | "seconds" => 1_000,
        "m" | "min" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// The shortest text that says so many milliseconds.
pub fn millis_text(millis: u32) -> String {
    match millis {
        _ if millis.is_multiple_of(3_600_000) => format!("{}h", millis / 3_600_000),
        _ if millis.is_multiple_of(60_000) => format!("{}m", millis / 60_000),
        _ if millis.is_multiple_of(1_000) => format!("{}s", millis / 1_000),
        _ => format!("{millis}ms"),
    }
}

impl Table {
    /// How it follows its table, if it is a projection that follows later.
    pub fn later(&self) -> Option<&Later> {
        self.view.as_ref()?.projection.as_ref()?.later.as_ref()
    }

    /// What freshness is promised of a copy, as it is declared.
    pub fn freshness(&self) -> String {
        self.later().map_or_else(|| "atomic".to_string(), |later| millis_text(later.bound_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_and_printed() {
        let read =
            [("500ms", 500), ("5s", 5_000), (" 2 minutes ", 120_000), ("1h", 3_600_000), ("1500ms", 1_500)];
        for (text, millis) in read {
            assert_eq!(parse_millis(text), Some(millis), "{text}");
            let printed = millis_text(millis as u32);
            assert_eq!(parse_millis(&printed), Some(millis), "{printed}");
        }
        for text in
            ["", "5", "s", "-5s", "5 parsecs", "5.5s", "99999999999999999999s", "9999999999999999999h"]
        {
            assert_eq!(parse_millis(text), None, "{text}");
        }
        assert_eq!(millis_text(90_000), "90s");
    }
}
