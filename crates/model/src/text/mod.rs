//! Text as an index with options sees it: without regard to case, in one normal form, with letters that look like ASCII as ASCII.

mod fold;

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// How a text is changed before it is compared; in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextChange {
    /// To small letters.
    pub lower: bool,
    /// To the composed normal form (NFC).
    pub normal: bool,
    /// To ASCII, where there is something alike.
    pub ascii: bool,
}

impl TextChange {
    pub fn is_none(self) -> bool {
        self == TextChange::default()
    }

    /// The text that counts. Bytes that are no text stay as they are.
    pub fn apply(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.is_none() {
            return Cow::Borrowed(text);
        }
        let Ok(text) = std::str::from_utf8(text) else { return Cow::Borrowed(text) };
        let mut changed = Cow::Borrowed(text);
        if self.lower {
            changed = Cow::Owned(changed.to_lowercase());
        }
        if self.normal {
            changed = Cow::Owned(changed.nfc().collect());
        }
        if self.ascii && !changed.is_ascii() {
            changed = Cow::Owned(ascii(&changed));
        }
        match changed {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }
}

fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match fold::folded(character) {
            Some(folded) => out.push_str(folded),
            None => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: TextChange, text: &str, expected: &str) {
        assert_eq!(change.apply(text.as_bytes()), expected.as_bytes(), "{text}");
    }

    #[test]
    fn what_counts_of_a_text() {
        let none = TextChange::default();
        check(none, "ÀB\u{301}", "ÀB\u{301}");
        check(TextChange { lower: true, ..none }, "ΣΑΣ ABC \u{130}", "σας abc i\u{307}");
        check(TextChange { normal: true, ..none }, "e\u{301}É", "éÉ");
        check(TextChange { ascii: true, ..none }, "Æther ﬁn ß ①ＡＢ é 中", "AEther fin ss 1AB e 中");
        // A mark that stands alone is no letter: it has to be put together with one before.
        check(TextChange { ascii: true, ..none }, "e\u{301}", "e\u{301}");
        check(TextChange { normal: true, ascii: true, ..none }, "e\u{301}", "e");
        check(TextChange { lower: true, normal: true, ascii: true }, "ÀE\u{301}Î", "aei");
        assert_eq!(TextChange { lower: true, ..none }.apply(&[0xff, b'A']), &[0xff, b'A'][..]);
    }
}
