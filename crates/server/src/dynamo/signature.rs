//! Signature version 4: who sent a request, proved by a key that the sender and this server know.
//!
//! Checks and sentences come in the service's order. The region and the service in the scope are taken as they are: clients sign for
//! whatever region they were told. Comparison takes the same time wherever signatures differ.

use super::head::Head;
use dynamo::{ApiError, ErrorName};
use ring::{digest, hmac};

/// How far the clocks of client and server may be apart.
const SKEW_SECONDS_MAX: i64 = 15 * 60;
/// Headers that a client may sign; SDKs sign seven.
const SIGNED_HEADERS_MAX: usize = 64;

/// What the Authorization header says.
#[derive(Debug, PartialEq, Eq)]
pub struct Claim<'h> {
    pub key_id: &'h str,
    /// `date/region/service/aws4_request`.
    scope: &'h str,
    signed_headers: &'h str,
    signature: &'h str,
    /// As the client wrote it.
    time: &'h str,
}

fn refuse(name: ErrorName, message: impl Into<String>) -> ApiError {
    ApiError::new(name, message)
}

/// The parts of the Authorization header, and the time, as the client wrote them.
pub struct Parts<'h> {
    credential: &'h str,
    signature: &'h str,
    signed_headers: &'h str,
    time: &'h str,
}

/// Are all parts there? Whether they are right is another question.
pub fn parts<'h>(head: &Head<'h>) -> Result<Parts<'h>, ApiError> {
    let in_query = head.target.contains("X-Amz-Algorithm");
    let header = head.text("authorization");
    if in_query && header.is_some() {
        let text = "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.";
        return Err(refuse(ErrorName::InvalidSignature, text));
    }
    let Some(header) = header.filter(|header| header.starts_with("AWS4-")) else {
        return Err(refuse(ErrorName::MissingAuthenticationToken, "Request is missing Authentication Token"));
    };
    let (_, rest) = header.split_once(' ').unwrap_or((header, ""));
    let (mut credential, mut signature, mut signed_headers) = (None, None, None);
    for part in rest.split(',') {
        let Some((name, value)) = part.trim_ascii().split_once('=') else { continue };
        let place = match name {
            "Credential" => &mut credential,
            "Signature" => &mut signature,
            "SignedHeaders" => &mut signed_headers,
            _ => continue,
        };
        // The first that says something counts.
        if place.is_none() && !value.is_empty() {
            *place = Some(value);
        }
    }
    let time = head.text("x-amz-date").or_else(|| head.text("date"));
    let mut missing = String::new();
    for (value, name) in
        [(credential, "Credential"), (signature, "Signature"), (signed_headers, "SignedHeaders")]
    {
        if value.is_none() {
            missing.push_str(&format!("Authorization header requires '{name}' parameter. "));
        }
    }
    if time.is_none() {
        missing.push_str(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ",
        );
    }
    let (Some(credential), Some(signature), Some(signed_headers), Some(time)) =
        (credential, signature, signed_headers, time)
    else {
        let text = format!("{missing}Authorization={header}");
        return Err(refuse(ErrorName::IncompleteSignature, text));
    };
    Ok(Parts { credential, signature, signed_headers, time })
}

/// Everything that can be said without the key.
pub fn claim<'h>(head: &Head<'h>, now_seconds: i64) -> Result<Claim<'h>, ApiError> {
    let Parts { credential, signature, signed_headers, time } = parts(head)?;
    check_time(time, now_seconds)?;
    if !signed_headers.split(';').any(|name| name == "host") {
        let text = "'Host' must be a 'SignedHeader' in the AWS Authorization.";
        return Err(refuse(ErrorName::InvalidSignature, text));
    }
    let elements = credential.split('/').count();
    let Some((key_id, scope)) = credential.split_once('/').filter(|_| elements == 5) else {
        let text = format!(
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got \
             '{credential}'"
        );
        return Err(refuse(ErrorName::IncompleteSignature, text));
    };
    Ok(Claim { key_id, scope, signed_headers, signature, time })
}

fn check_time(time: &str, now_seconds: i64) -> Result<(), ApiError> {
    let Some(seconds) = basic_time(time) else {
        let text = format!(
            "Date must be in ISO-8601 'basic format'. Got '{time}'. See http://en.wikipedia.org/wiki/ISO_8601"
        );
        return Err(refuse(ErrorName::IncompleteSignature, text));
    };
    let (now, early, late) =
        (format_time(now_seconds), now_seconds - SKEW_SECONDS_MAX, now_seconds + SKEW_SECONDS_MAX);
    if seconds < early {
        let early = format_time(early);
        let text = format!("Signature expired: {time} is now earlier than {early} ({now} - 15 min.)");
        return Err(refuse(ErrorName::InvalidSignature, text));
    }
    if seconds > late {
        let late = format_time(late);
        let text = format!("Signature not yet current: {time} is still later than {late} ({now} + 15 min.)");
        return Err(refuse(ErrorName::InvalidSignature, text));
    }
    Ok(())
}

/// `20260102T030405Z` as seconds since 1970.
fn basic_time(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 16 || bytes[8] != b'T' || bytes[15] != b'Z' {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(11, 13)?, number(13, 15)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// Days since 1970 of a date of the common calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn format_time(seconds: i64) -> String {
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// Signs a request of our own: adds the headers of its time and its signature. `headers` have lower-case names, in order.
pub fn sign(
    headers: &mut Vec<(&'static str, String)>,
    body: &[u8],
    keys: (&str, &str),
    region: &str,
    now_seconds: i64,
) {
    let time = format_time(now_seconds);
    headers.push(("x-amz-date", time.clone()));
    headers.sort();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let mut canonical = String::from("POST\n/\n\n");
    for (name, value) in headers.iter() {
        canonical.push_str(&format!("{name}:{}\n", value.trim()));
    }
    canonical.push_str(&format!("\n{names}\n{}", hex(digest::digest(&digest::SHA256, body).as_ref())));
    let scope = format!("{}/{region}/dynamodb/aws4_request", &time[..8]);
    let digest = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
    let signature = hex(hmac::sign(&signing_key(keys.1, &scope), to_sign.as_bytes()).as_ref());
    headers.push((
        "authorization",
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            keys.0
        ),
    ));
}

fn signing_key(secret: &str, scope: &str) -> hmac::Key {
    let mut key = hmac::Key::new(hmac::HMAC_SHA256, format!("AWS4{secret}").as_bytes());
    for part in scope.split('/') {
        key = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, part.as_bytes()).as_ref());
    }
    key
}

/// Whether the request was signed with this secret.
pub fn verify(claim: &Claim<'_>, head: &Head<'_>, body: &[u8], secret: &str) -> Result<(), ApiError> {
    let canonical = canonical_request(claim, head, body)?;
    let to_sign = format!(
        "AWS4-HMAC-SHA256\n{}\n{}\n{}",
        claim.time,
        claim.scope,
        hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref())
    );
    let key = signing_key(secret, claim.scope);
    let signature = unhex(claim.signature).unwrap_or_default();
    // Compares in constant time.
    hmac::verify(&key, to_sign.as_bytes(), &signature).map_err(|_| {
        let text = "The request signature we calculated does not match the signature you provided. Check your AWS Secret \
                    Access Key and signing method. Consult the service documentation for details.";
        refuse(ErrorName::InvalidSignature, text)
    })
}

fn canonical_request(claim: &Claim<'_>, head: &Head<'_>, body: &[u8]) -> Result<String, ApiError> {
    let (path, query) = head.target.split_once('?').unwrap_or((head.target, ""));
    let mut out = format!("{}\n{path}\n", head.method);
    let mut pairs: Vec<(&str, &str)> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .collect();
    pairs.sort_unstable();
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    out.push_str(&pairs.join("&"));
    out.push('\n');
    let names: Vec<&str> = claim.signed_headers.split(';').collect();
    if names.len() > SIGNED_HEADERS_MAX {
        return Err(refuse(ErrorName::IncompleteSignature, "Too many signed headers"));
    }
    for name in &names {
        out.push_str(name);
        out.push(':');
        let mut first = true;
        for (_, value) in head.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)) {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            let value = String::from_utf8_lossy(value);
            let words: Vec<&str> = value.split_ascii_whitespace().collect();
            out.push_str(&words.join(" "));
        }
        out.push('\n');
    }
    out.push('\n');
    out.push_str(claim.signed_headers);
    out.push('\n');
    out.push_str(&hex(digest::digest(&digest::SHA256, body).as_ref()));
    Ok(out)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    (0..64).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_440_938_160;

    #[test]
    fn times_are_read_and_written() {
        assert_eq!(basic_time("20150830T123600Z"), Some(NOW));
        assert_eq!(format_time(NOW), "20150830T123600Z");
        for seconds in [0, 951_782_399, 951_868_800, 4_102_444_800, NOW] {
            assert_eq!(basic_time(&format_time(seconds)), Some(seconds));
        }
        for wrong in ["", "2015-08-30T12:36:00Z", "20151330T123600Z", "20150830T243600Z", "20150830T1236+0Z"]
        {
            assert_eq!(basic_time(wrong), None, "{wrong}");
        }
    }

    /// A request as an SDK signs it: the signature was computed by botocore 1.x with these keys and this time.
    fn signed(signature: &str) -> String {
        format!(
            "POST / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Date: \
             20150830T123600Z\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={signature}\r\nContent-Length: 2\r\n\r\n"
        )
    }

    #[test]
    fn faults_are_told_in_the_service_s_words() {
        let check = |from: &str, to: &str, expect: &str| {
            let text = signed(&"0".repeat(64)).replacen(from, to, 1);
            let head = Head::parse(text.as_bytes()).unwrap().unwrap();
            let error = claim(&head, NOW).map(|_| ()).unwrap_err();
            assert!(error.to_string().contains(expect), "{error}");
        };
        check("AWS4-HMAC-SHA256", "Basic", "Request is missing Authentication Token");
        check("Credential=", "Kredential=", "requires 'Credential' parameter. Authorization=AWS4");
        check("X-Amz-Date: ", "X-Other: ", "either a 'X-Amz-Date' or a 'Date' header");
        check(
            "20150830T123600Z",
            "20150830T120000Z",
            "Signature expired: 20150830T120000Z is now earlier than 20150830T122100Z (20150830T123600Z - 15 min.)",
        );
        check("20150830T123600Z", "yesterday", "basic format'. Got 'yesterday'");
        check(";host;", ";", "'Host' must be a 'SignedHeader'");
        check("/dynamodb/", "/", "exactly 5 slash-delimited elements");
    }

    #[test]
    fn only_the_right_secret_and_the_right_body_verify() {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        let text = signed(SIGNATURE);
        let head = Head::parse(text.as_bytes()).unwrap().unwrap();
        let claimed = claim(&head, NOW).unwrap();
        assert_eq!(claimed.key_id, "AKIDEXAMPLE");
        assert_eq!(verify(&claimed, &head, b"{}", secret), Ok(()));
        assert!(verify(&claimed, &head, b"{ }", secret).is_err());
        assert!(verify(&claimed, &head, b"{}", "other").is_err());
        let other = signed(&"0".repeat(64));
        let head = Head::parse(other.as_bytes()).unwrap().unwrap();
        assert!(verify(&claim(&head, NOW).unwrap(), &head, b"{}", secret).is_err());
    }

    /// Our own signature of the same request is botocore's.
    #[test]
    fn what_we_sign_is_what_botocore_signs() {
        let mut headers = vec![
            ("content-type", "application/x-amz-json-1.0".to_string()),
            ("host", "127.0.0.1:8000".to_string()),
            ("x-amz-target", "DynamoDB_20120810.ListTables".to_string()),
        ];
        let keys = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        sign(&mut headers, b"{}", keys, "us-east-1", NOW);
        assert!(headers.last().is_some_and(|(_, value)| value.ends_with(SIGNATURE)), "{headers:?}");
    }

    const SIGNATURE: &str = "ed4d26ecc5b84a2e7026dbbc02c70e1fc0132f8eb32a500a6a406bb64efda3ce";
}
