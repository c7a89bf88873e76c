//! IP addresses as text, the way Java reads and prints them. Host names are not resolved.

use std::net::Ipv6Addr;

/// Address bytes of a text: IPv4 in one to four decimal parts, IPv6 with or without brackets. An IPv4 address
/// mapped into IPv6 becomes IPv4, as in Java.
pub fn parse(text: &str) -> Option<Vec<u8>> {
    if let Some(address) = parse_v4(text) {
        return Some(address.to_be_bytes().to_vec());
    }
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    // A scope such as %eth0 names an interface of the client; it is not part of the value.
    let inner = inner.split_once('%').map_or(inner, |(address, _)| address);
    let address: Ipv6Addr = inner.parse().ok()?;
    Some(match address.to_ipv4_mapped() {
        Some(mapped) => mapped.octets().to_vec(),
        None => address.octets().to_vec(),
    })
}

/// `a`, `a.b`, `a.b.c` or `a.b.c.d`: the last part fills the remaining bytes.
fn parse_v4(text: &str) -> Option<u32> {
    let parts: Vec<&str> = text.split('.').collect();
    let (last, leading) = parts.split_last()?;
    if leading.len() > 3 {
        return None;
    }
    let number = |part: &str| -> Option<u64> {
        let plain = !part.is_empty() && part.len() <= 10 && part.bytes().all(|byte| byte.is_ascii_digit());
        if plain { part.parse().ok() } else { None }
    };
    let mut address = 0u64;
    for part in leading {
        address = address << 8 | number(part).filter(|value| *value <= 255)?;
    }
    let bits = 8 * (4 - leading.len());
    let last = number(last).filter(|value| *value < 1 << bits)?;
    u32::try_from(address << bits | last).ok()
}

/// As Java prints an address: IPv6 as eight groups without `::`. `None` unless there are 4 or 16 bytes.
pub fn format(bytes: &[u8]) -> Option<String> {
    if let Ok([a, b, c, d]) = <[u8; 4]>::try_from(bytes) {
        return Some(format!("{a}.{b}.{c}.{d}"));
    }
    let address = Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?);
    if let Some(mapped) = address.to_ipv4_mapped() {
        return Some(mapped.to_string());
    }
    let groups: Vec<String> = address.segments().iter().map(|group| format!("{group:x}")).collect();
    Some(groups.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        assert_eq!(parse("127.0.0.1"), Some(vec![127, 0, 0, 1]));
        assert_eq!(parse("127.1"), Some(vec![127, 0, 0, 1]));
        assert_eq!(parse("::ffff:1.2.3.4"), Some(vec![1, 2, 3, 4]));
        assert_eq!(format(&parse("2001:db8::1").unwrap()).unwrap(), "2001:db8:0:0:0:0:0:1");
        assert_eq!(format(&parse("[::1]").unwrap()).unwrap(), "0:0:0:0:0:0:0:1");
        assert_eq!(format(&[10, 0, 0, 255]).unwrap(), "10.0.0.255");
        for text in ["", "localhost", "1.2.3.4.5", "256.1.1.1", "1.2.3.256", "1..2", "-1", "::g"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(format(&[1, 2, 3]), None);
    }
}
