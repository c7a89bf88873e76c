//! Java's text of floating-point numbers (`Double.toString`), and reading such text.
//!
//! The digits are the shortest that identify the number. Java before 19 printed one digit too many for a few
//! numbers; those few differ from a Cassandra that runs on Java 11 or 17.

/// As `Double.toString`: 1.0, 1.0E10, NaN, -Infinity.
pub fn java_double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_string();
    }
    let shortest = format!("{value:e}");
    let two_digits = format!("{value:.1e}");
    let exact = two_digits.parse() == Ok(value);
    java_form(&shortest, &two_digits, exact, value.abs() >= 1e-3 && value.abs() < 1e7)
}

/// As `Float.toString`.
pub fn java_float(value: f32) -> String {
    if value.is_nan() || value.is_infinite() {
        return java_double(f64::from(value));
    }
    let shortest = format!("{value:e}");
    let two_digits = format!("{value:.1e}");
    let exact = two_digits.parse() == Ok(value);
    java_form(&shortest, &two_digits, exact, value.abs() >= 1e-3 && value.abs() < 1e7)
}

/// Java always looks at two digits at least, so the smallest double is 4.9E-324 and not 5.0E-324.
fn java_form(shortest: &str, two_digits: &str, two_digits_exact: bool, plain: bool) -> String {
    let one_digit = !shortest.contains('.');
    let scientific = if one_digit && two_digits_exact { two_digits } else { shortest };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = if fraction == "0" { "" } else { fraction };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if whole == "0" {
        return format!("{sign}0.0");
    }
    if !plain {
        let fraction = if fraction.is_empty() { "0" } else { fraction };
        return format!("{sign}{whole}.{fraction}E{exponent}");
    }
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        return format!("{sign}0.{zeros}{whole}{fraction}");
    }
    let exponent = exponent as usize;
    let mut digits = format!("{whole}{fraction}");
    while digits.len() <= exponent {
        digits.push('0');
    }
    let (whole, fraction) = digits.split_at(exponent + 1);
    format!("{sign}{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
}

/// Text that Java's parser takes, in the form Rust's parser takes; `None` for what only one of them knows.
fn java_number_text(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.eq_ignore_ascii_case("nan") || unsigned.eq_ignore_ascii_case("infinity") {
        return Some(text);
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    // Java takes the type suffixes of its own literals.
    Some(text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text))
}

pub fn parse_java_double(text: &str) -> Option<f64> {
    java_number_text(text)?.parse().ok()
}

pub fn parse_java_float(text: &str) -> Option<f32> {
    java_number_text(text)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_java() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (100.0, "100.0"),
            (1234567.0, "1234567.0"),
            (9999999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.5e10, "1.5E10"),
            (0.001, "0.001"),
            (0.00099, "9.9E-4"),
            (0.1, "0.1"),
            (-123.456, "-123.456"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::from_bits(1), "4.9E-324"),
            (1e23, "1.0E23"),
            (2e-3, "0.002"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(java_double(value), text);
        }
    }

    #[test]
    fn floats_print_as_in_java() {
        for (value, text) in [
            (1.1f32, "1.1"),
            (16777216.0, "1.6777216E7"),
            (f32::MAX, "3.4028235E38"),
            (f32::from_bits(1), "1.4E-45"),
            (0.5, "0.5"),
            (f32::INFINITY, "Infinity"),
        ] {
            assert_eq!(java_float(value), text);
        }
    }

    #[test]
    fn parsing_takes_java_forms_only() {
        assert_eq!(parse_java_double(" 1.5e3 "), Some(1500.0));
        assert_eq!(parse_java_double("1."), Some(1.0));
        assert_eq!(parse_java_double("1f"), Some(1.0));
        assert_eq!(parse_java_double("-Infinity"), Some(f64::NEG_INFINITY));
        assert!(parse_java_double("NaN").is_some_and(f64::is_nan));
        for text in ["inf", "", "abc", "1e", "--1", "-", "1_0"] {
            assert_eq!(parse_java_double(text), None, "{text}");
        }
        assert_eq!(parse_java_float("1e40"), Some(f32::INFINITY));
    }
}
