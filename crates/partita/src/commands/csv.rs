//! CSV as databases exchange it: a header, quotes where they are needed, and nothing at all for null.
//!
//! An empty text is written in quotes, so that it comes back as one.

/// Adds a record; `None` is null.
pub fn put<'f>(out: &mut Vec<u8>, fields: impl Iterator<Item = Option<&'f str>>) {
    for (place, field) in fields.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let Some(field) = field else { continue };
        let plain = !field.is_empty() && !field.contains([',', '"', '\n', '\r']) && field == field.trim();
        if plain {
            out.extend_from_slice(field.as_bytes());
            continue;
        }
        out.push(b'"');
        for part in field.split_inclusive('"') {
            out.extend_from_slice(part.as_bytes());
            if part.ends_with('"') {
                out.push(b'"');
            }
        }
        out.push(b'"');
    }
    out.push(b'\n');
}

/// Whether a record goes on behind these lines: a quote is open.
pub fn is_open(record: &str) -> bool {
    record.bytes().filter(|byte| *byte == b'"').count() % 2 == 1
}

/// The fields of a record, without its end of line; what is empty and not in quotes is null.
pub fn fields(record: &str) -> Vec<Option<String>> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let (mut quoted, mut in_quotes) = (false, false);
    let mut letters = record.chars().peekable();
    let mut end = |field: &mut String, quoted: &mut bool| {
        let text = std::mem::take(field);
        let was_quoted = std::mem::take(quoted);
        fields.push((was_quoted || !text.is_empty()).then_some(text));
    };
    while let Some(letter) = letters.next() {
        match letter {
            '"' if in_quotes && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => {
                in_quotes = !in_quotes;
                quoted = true;
            }
            ',' if !in_quotes => end(&mut field, &mut quoted),
            letter => field.push(letter),
        }
    }
    end(&mut field, &mut quoted);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let written = [
            Some("a"),
            None,
            Some(""),
            Some("b,c"),
            None,
            Some("say \"hi\""),
            Some("two\nlines"),
            Some(" blank "),
            None,
        ];
        let mut out = Vec::new();
        put(&mut out, written.iter().copied());
        let text = String::from_utf8(out).unwrap();
        assert!(!is_open(&text) && is_open(text.split_inclusive('\n').next().unwrap()));
        let read = fields(text.strip_suffix('\n').unwrap());
        assert_eq!(read.iter().map(Option::as_deref).collect::<Vec<_>>(), written);
        assert_eq!(fields(""), [None]);
    }
}
