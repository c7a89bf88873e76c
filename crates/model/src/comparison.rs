//! How two values can be compared: one word for conditions, filters and views.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// From the first value to the second, both included.
    Between,
    In,
    NotIn,
    Contains,
    ContainsKey,
    NotContains,
    NotContainsKey,
    /// Of the bytes of a text or blob.
    Prefix,
}

impl Comparison {
    pub const ALL: [Comparison; 14] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
        Comparison::Between,
        Comparison::In,
        Comparison::NotIn,
        Comparison::Contains,
        Comparison::ContainsKey,
        Comparison::NotContains,
        Comparison::NotContainsKey,
        Comparison::Prefix,
    ];

    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::Between => "BETWEEN",
            Comparison::In => "IN",
            Comparison::NotIn => "NOT IN",
            Comparison::Contains => "CONTAINS",
            Comparison::ContainsKey => "CONTAINS KEY",
            Comparison::NotContains => "NOT CONTAINS",
            Comparison::NotContainsKey => "NOT CONTAINS KEY",
            Comparison::Prefix => "BEGINS WITH",
        }
    }

    /// Whether it needs values that can be ordered.
    pub fn is_order(self) -> bool {
        matches!(
            self,
            Comparison::Less
                | Comparison::LessOrEqual
                | Comparison::Greater
                | Comparison::GreaterOrEqual
                | Comparison::Between
        )
    }

    /// What [`Comparison::symbol`] wrote.
    pub fn of_symbol(symbol: &str) -> Option<Comparison> {
        Comparison::ALL.into_iter().find(|comparison| comparison.symbol() == symbol)
    }
}
