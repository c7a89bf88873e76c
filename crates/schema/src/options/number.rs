//! Floating-point numbers as Java prints them, because Cassandra's DESCRIBE and messages do.

/// At least one fractional digit; an exponent below 10^-3 and from 10^7 on.
pub fn java_double(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size.is_finite() && !(1e-3..1e7).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        return format!("{digits}{point}E{exponent}");
    }
    let text = format!("{value}");
    if text.contains('.') || !value.is_finite() { text } else { format!("{text}.0") }
}

#[cfg(test)]
mod tests {
    use super::java_double;

    #[test]
    fn numbers_look_like_javas() {
        for (value, text) in [
            (0.01, "0.01"),
            (1.0, "1.0"),
            (0.0, "0.0"),
            (1e-5, "1.0E-5"),
            (6.71e-5, "6.71E-5"),
            (1.5e8, "1.5E8"),
            (-0.5, "-0.5"),
            (123456.0, "123456.0"),
        ] {
            assert_eq!(java_double(value), text);
        }
    }
}
