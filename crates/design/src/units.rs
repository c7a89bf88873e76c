//! Numbers as people read them.

/// `120 MB`; decimal units, as the 100 MB limit is decimal.
pub fn bytes(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v < 1e3 => return format!("{v:.0} bytes"),
        v if v < 1e6 => (v / 1e3, "KB"),
        v if v < 1e9 => (v / 1e6, "MB"),
        v if v < 1e12 => (v / 1e9, "GB"),
        v => (v / 1e12, "TB"),
    };
    format!("{} {unit}", short(scaled))
}

/// `100,000`; fractions only below 10.
pub fn count(value: f64) -> String {
    if !value.is_finite() {
        return "endless".into();
    }
    if value < 10.0 && value.fract() > 0.01 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 && !out.ends_with('-') {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `17 days`, `8.2 years`, `5 hours`.
pub fn days(value: f64) -> String {
    match value {
        v if !v.is_finite() => "never".into(),
        v if v < 1.0 / 24.0 => format!("{} minutes", short(v * 1440.0)),
        v if v < 2.0 => format!("{} hours", short(v * 24.0)),
        v if v < 800.0 => format!("{} days", short(v)),
        v => format!("{} years", short(v / 365.0)),
    }
}

fn short(value: f64) -> String {
    if value < 10.0 && (value - value.round()).abs() > 0.05 {
        format!("{value:.1}")
    } else {
        count(value.round())
    }
}
