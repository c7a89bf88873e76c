//! What a column or table is, as far as its name and type tell.
//!
//! A guess from names is only ever as certain as the words: the lists hold words that mean the same in nearly every
//! schema. A name that is on no list means nothing, and the rules treat it so.

use crate::joined;
use cql_syntax::ast::{DataType, NativeType, TypeKind};

/// The length of a time bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grain {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    /// A bucket of time whose length the name does not tell.
    Unknown,
}

impl Grain {
    /// The grains with a known length, finest first.
    pub const KNOWN: [Grain; 7] =
        [Grain::Minute, Grain::Hour, Grain::Day, Grain::Week, Grain::Month, Grain::Quarter, Grain::Year];

    pub const fn days(self) -> Option<f64> {
        match self {
            Grain::Minute => Some(1.0 / 1440.0),
            Grain::Hour => Some(1.0 / 24.0),
            Grain::Day => Some(1.0),
            Grain::Week => Some(7.0),
            Grain::Month => Some(30.4),
            Grain::Quarter => Some(91.3),
            Grain::Year => Some(365.0),
            Grain::Unknown => None,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Grain::Minute => "minute",
            Grain::Hour => "hour",
            Grain::Day => "day",
            Grain::Week => "week",
            Grain::Month => "month",
            Grain::Quarter => "quarter",
            Grain::Year => "year",
            Grain::Unknown => "bucket",
        }
    }
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A stretch of time: a day, a month.
    TimeBucket(Grain),
    /// A number that spreads one key over several partitions.
    HashBucket,
    /// An instant. Two rows may share it.
    Time,
    /// Unique by nature: an id, an email address.
    Identity,
    /// A number that counts within its parent: a version, a line.
    Sequence,
    /// So many values at most.
    Few(u32),
    /// A quantity: a score, a price.
    Measure,
    /// A text that many rows may share: a name, a city.
    Label,
    /// Nothing is known.
    Other,
}

impl Meaning {
    pub const fn is_bucket(self) -> bool {
        matches!(self, Meaning::TimeBucket(_) | Meaning::HashBucket)
    }

    /// Whether two different things may well have the same value.
    pub const fn is_shared(self) -> bool {
        matches!(
            self,
            Meaning::Time | Meaning::Few(_) | Meaning::Measure | Meaning::Label | Meaning::TimeBucket(_)
        )
    }
}

/// The words of a name, in lower case: `orderItems_by_day` gives order, items, by, day.
pub fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut last_lower = false;
    let mut begin = true;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_alphanumeric() {
            begin = true;
            last_lower = false;
            continue;
        }
        // `orderItems` begins a word at I, `CQSQueue` at the second Q.
        let ends_run =
            !last_lower && c.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase());
        let long_run = out.last().is_some_and(|word| word.len() >= 2);
        if begin || (c.is_uppercase() && (last_lower || (ends_run && long_run))) {
            out.push(String::new());
            begin = false;
        }
        last_lower = c.is_lowercase() || c.is_ascii_digit();
        if let Some(word) = out.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    if out.iter().any(|word| word.len() >= 5) {
        out = out.into_iter().flat_map(|word| joined::parts(&word).unwrap_or_else(|| vec![word])).collect();
    }
    out
}

/// The word without its plural ending.
pub fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "ches", "shes", "xes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_string();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && !stem.ends_with('u') && stem.len() > 1 => stem.to_string(),
        _ => word.to_string(),
    }
}

/// Whether any word, in singular, is on the list.
pub fn any_word(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()) || list.contains(&singular(word).as_str()))
}

/// The native type below `frozen`.
pub fn native(data_type: &DataType) -> Option<NativeType> {
    match &data_type.kind {
        TypeKind::Native(native) => Some(*native),
        TypeKind::Frozen(inner) => native_of(inner),
        _ => None,
    }
}

fn native_of(data_type: &DataType) -> Option<NativeType> {
    match &data_type.kind {
        TypeKind::Native(native) => Some(*native),
        _ => None,
    }
}

const HASH_WORDS: &[&str] = &["bucket", "shard", "salt", "stripe", "bin"];
const HASH_WORDS_INT: &[&str] = &["partition", "slot", "segment"];
const FEW: &[(&str, u32)] = &[
    ("status", 10),
    ("state", 50),
    ("stage", 10),
    ("phase", 10),
    ("type", 20),
    ("kind", 20),
    ("category", 50),
    ("gender", 3),
    ("sex", 3),
    ("country", 200),
    ("region", 50),
    ("continent", 7),
    ("currency", 180),
    ("language", 200),
    ("lang", 200),
    ("locale", 300),
    ("priority", 5),
    ("severity", 5),
    ("level", 10),
    ("role", 20),
    ("tier", 5),
    ("plan", 10),
    ("grade", 10),
    ("environment", 5),
    ("env", 5),
    ("platform", 10),
    ("os", 10),
    ("color", 50),
    ("colour", 50),
    ("flag", 2),
    ("enabled", 2),
    ("active", 2),
    ("deleted", 2),
    ("weekday", 7),
    ("dow", 7),
    ("method", 10),
    ("protocol", 10),
    ("mode", 10),
    ("season", 4),
    ("department", 50),
    ("dept", 50),
    ("timezone", 400),
    ("genre", 50),
    ("direction", 2),
    ("side", 2),
    ("outcome", 10),
    ("visibility", 3),
    ("importance", 5),
    ("urgency", 5),
    ("datacenter", 20),
    ("brand", 500),
    ("continent", 7),
];
pub const IDENTITY_LAST: &[&str] = &[
    "id",
    "uuid",
    "guid",
    "uid",
    "key",
    "email",
    "mail",
    "username",
    "login",
    "handle",
    "token",
    "hash",
    "slug",
    "url",
    "uri",
    "domain",
    "hostname",
    "phone",
    "msisdn",
    "isbn",
    "sku",
    "ean",
    "upc",
    "vin",
    "iban",
    "ssn",
    "imei",
    "mac",
    "serial",
    "fingerprint",
    "checksum",
    "etag",
    "code",
    "number",
    "ref",
    "reference",
    "symbol",
    "ticker",
    "ip",
    "path",
    "sha",
    "sha256",
    "digest",
    "nonce",
    "plate",
    "pk",
    "sk",
    "shortcode",
    "host",
    "geohash",
    "cell",
];
const SEQUENCE: &[&str] = &[
    "seq",
    "sequence",
    "version",
    "revision",
    "position",
    "pos",
    "index",
    "idx",
    "line",
    "page",
    "ordinal",
    "offset",
    "chunk",
    "part",
    "step",
    "turn",
    "round",
    "attempt",
    "generation",
    "rank",
    "no",
    "nr",
    "num",
    "row",
    "place",
    "track",
    "chapter",
    "block",
    "height",
    "epoch",
    "move",
    "seat",
    "frame",
    "ver",
];
pub const MEASURE: &[&str] = &[
    "score",
    "points",
    "point",
    "price",
    "amount",
    "rating",
    "age",
    "count",
    "total",
    "weight",
    "distance",
    "value",
    "temperature",
    "balance",
    "size",
    "quantity",
    "popularity",
    "likes",
    "salary",
    "cents",
    "duration",
    "cost",
];
pub const LABEL: &[&str] = &[
    "name",
    "title",
    "city",
    "surname",
    "lastname",
    "firstname",
    "zip",
    "zipcode",
    "postcode",
    "tag",
    "label",
    "keyword",
    "author",
    "artist",
    "town",
    "street",
    "county",
    "district",
    "company",
    "model",
    "make",
    "topic",
    "hashtag",
    "subject",
    "team",
    "skill",
];

/// What is unique even when it is called a value: token_value, email_address.
const SECRET: &[&str] = &["token", "email", "mail", "mac", "ip", "hash", "wallet"];

/// What a column is.
pub fn meaning(words: &[String], data_type: &DataType) -> Meaning {
    use NativeType::*;
    let has = |list: &[&str]| any_word(words, list);
    let last = words.last().map_or("", String::as_str);
    let Some(native) = native(data_type) else {
        // (ledger, position) in one value counts as they do.
        let counts = matches!(data_type.kind, TypeKind::Tuple(_)) && has(SEQUENCE);
        return if counts { Meaning::Sequence } else { Meaning::Other };
    };
    if let Some(values) = cyclic(words) {
        return Meaning::Few(values);
    }
    let is_int = matches!(native, Tinyint | Smallint | Int | Bigint | Varint);
    let is_text = matches!(native, Text | Ascii);
    let grain = grain(words, native);
    if has(HASH_WORDS) || (is_int && has(HASH_WORDS_INT)) {
        return match grain {
            Some(grain) => Meaning::TimeBucket(grain),
            None if is_int => Meaning::HashBucket,
            None if native == Date => Meaning::TimeBucket(Grain::Day),
            None if is_text || native == Timestamp => Meaning::TimeBucket(Grain::Unknown),
            None => Meaning::Other,
        };
    }
    let is_number = is_int || matches!(native, Float | Double | Decimal);
    if is_number && is_instant(words) && grain.is_none() {
        return Meaning::Time;
    }
    match native {
        Boolean => return Meaning::Few(2),
        Uuid | Timeuuid | Inet => return Meaning::Identity,
        Date => return Meaning::TimeBucket(grain.unwrap_or(Grain::Day)),
        Timestamp | Time => return grain.map_or(Meaning::Time, Meaning::TimeBucket),
        Float | Double | Decimal | Counter => return Meaning::Measure,
        Blob | Duration => return Meaning::Other,
        _ => {}
    }
    if let Some(grain) = grain {
        return Meaning::TimeBucket(grain);
    }
    if let Some(values) = few(words, is_int) {
        return Meaning::Few(values);
    }
    if is_instant(words) {
        return Meaning::Time;
    }
    if is_int && (SEQUENCE.contains(&last) || (last == "number" && has(&["line", "page", "version", "seat"])))
    {
        return Meaning::Sequence;
    }
    let begins = words.len() > 1 && matches!(words[0].as_str(), "id" | "uuid");
    let short = words.len() == 1 && last.len() == 3 && last.ends_with("id") && last != "bid";
    if begins
        || short
        || IDENTITY_LAST.contains(&last)
        || (matches!(last, "value" | "address") && has(SECRET))
    {
        return Meaning::Identity;
    }
    if is_int && has(MEASURE) {
        return Meaning::Measure;
    }
    if is_text && has(LABEL) {
        return Meaning::Label;
    }
    if native == Tinyint { Meaning::Few(256) } else { Meaning::Other }
}

/// Parts of a calendar that come round again.
fn cyclic(words: &[String]) -> Option<u32> {
    let joined = words.join("_");
    [
        ("day_of_week", 7),
        ("dayofweek", 7),
        ("weekday", 7),
        ("hour_of_day", 24),
        ("month_of_year", 12),
        ("day_of_month", 31),
        ("day_of_year", 366),
        ("week_of_year", 53),
        ("minute_of_hour", 60),
    ]
    .iter()
    .find(|(text, _)| joined.contains(text))
    .map(|(_, values)| *values)
}

fn grain(words: &[String], native: NativeType) -> Option<Grain> {
    use NativeType::*;
    if matches!(
        native,
        Boolean | Float | Double | Decimal | Counter | Blob | Inet | Duration | Uuid | Timeuuid
    ) {
        return None;
    }
    let is_kind = words
        .last()
        .is_some_and(|last| matches!(last.as_str(), "type" | "kind" | "size" | "name" | "length"));
    let is_date_text = matches!(native, Text | Ascii | Date | Int | Bigint);
    // The finest unit named is the length of the bucket: year_month is a month.
    let mut found: Option<Grain> = None;
    for word in words {
        let grain = match word.as_str() {
            "minute" => Grain::Minute,
            "hour" | "hourly" | "yyyymmddhh" | "hora" | "heure" | "stunde" => Grain::Hour,
            "day" | "daily" | "yyyymmdd" | "ymd" | "dia" | "jour" => Grain::Day,
            "date" | "dt" | "fecha" if is_date_text => Grain::Day,
            "week" | "weekly" | "yyyyww" | "isoweek" | "semana" | "semaine" | "woche" => Grain::Week,
            "month" | "monthly" | "yyyymm" | "ym" | "yearmonth" | "mes" | "mois" | "monat" => Grain::Month,
            "quarter" => Grain::Quarter,
            "year" | "yearly" | "yyyy" | "anio" | "annee" | "jahr" => Grain::Year,
            "period" | "window" | "epoch" if words.len() <= 2 && native != Time && !is_kind => Grain::Unknown,
            // `time_bucket`, and as one word: a bucket of time, however it is counted.
            "time" if any_word(words, HASH_WORDS) => Grain::Unknown,
            "timebucket" => Grain::Unknown,
            _ => continue,
        };
        found = Some(found.map_or(grain, |known| known.min(grain)));
    }
    found
}

const ATTRIBUTE: &[&str] =
    &["attribute", "property", "field", "tag", "label", "param", "parameter", "option"];

fn few(words: &[String], is_int: bool) -> Option<u32> {
    let first = words.first()?;
    let last = words.last()?;
    if words.len() > 1 && (first == "is" || first == "has") {
        return Some(2);
    }
    // The name of an attribute is one of a few dozen, its value is not.
    if words.len() > 1 && last == "name" && words.iter().any(|word| ATTRIBUTE.contains(&word.as_str())) {
        return Some(50);
    }
    let listed = |word: &String| FEW.iter().find(|(text, _)| text == word).map(|(_, values)| *values);
    if let Some(values) = listed(last) {
        return Some(values);
    }
    let code = last == "code" || (is_int && last == "id");
    if code && words.len() > 1 { listed(words.get(words.len() - 2)?) } else { None }
}

fn is_instant(words: &[String]) -> bool {
    let Some(last) = words.last() else { return false };
    (words.len() > 1 && matches!(last.as_str(), "at" | "on" | "ms" | "millis" | "micros"))
        || matches!(
            last.as_str(),
            "time"
                | "ts"
                | "timestamp"
                | "datetime"
                | "instant"
                | "when"
                | "since"
                | "until"
                | "created"
                | "received"
                | "occurred"
                | "recorded"
                | "acquired"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_may_count_buckets_of_time_or_spread_by_hash() {
        let of = |name| meaning(&words(name), &DataType::native(NativeType::Bigint));
        for name in ["timebucket", "time_bucket", "bucket_time"] {
            assert_eq!(of(name), Meaning::TimeBucket(Grain::Unknown), "{name}");
        }
        assert_eq!(of("hour_bucket"), Meaning::TimeBucket(Grain::Hour));
        assert_eq!(of("bucket"), Meaning::HashBucket);
    }
}
