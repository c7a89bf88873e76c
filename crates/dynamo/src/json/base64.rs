//! Base 64 with padding, strict as the service is, with its words for what is wrong.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BAD: u8 = 0xff;

const VALUES: [u8; 256] = {
    let mut values = [BAD; 256];
    let mut at = 0;
    while at < 64 {
        values[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    values
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base64Fault {
    /// The length is no multiple of four.
    Length(usize),
    /// Bits behind the last byte are set.
    LastCharacter,
    /// A character that is not of the alphabet.
    Character,
}

pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    let mut chunks = bytes.chunks_exact(3);
    for chunk in &mut chunks {
        let bits = u32::from(chunk[0]) << 16 | u32::from(chunk[1]) << 8 | u32::from(chunk[2]);
        out.extend([18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift) as usize & 63]));
    }
    match *chunks.remainder() {
        [a] => {
            let bits = u32::from(a) << 16;
            out.extend([ALPHABET[(bits >> 18) as usize], ALPHABET[(bits >> 12) as usize & 63], b'=', b'=']);
        }
        [a, b] => {
            let bits = u32::from(a) << 16 | u32::from(b) << 8;
            out.extend([18, 12, 6].map(|shift| ALPHABET[(bits >> shift) as usize & 63]));
            out.push(b'=');
        }
        _ => {}
    }
}

pub fn decode(text: &[u8]) -> Result<Vec<u8>, Base64Fault> {
    if !text.len().is_multiple_of(4) {
        return Err(Base64Fault::Length(text.len()));
    }
    let padding = text.iter().rev().take(2).take_while(|&&c| c == b'=').count();
    let digits = &text[..text.len() - padding];
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits = 0u32;
    for (at, &character) in digits.iter().enumerate() {
        let value = VALUES[usize::from(character)];
        if value == BAD {
            return Err(Base64Fault::Character);
        }
        bits = bits << 6 | u32::from(value);
        if at % 4 == 3 {
            bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
            bits = 0;
        }
    }
    match padding {
        1 if bits & 0b11 != 0 => return Err(Base64Fault::LastCharacter),
        2 if bits & 0b1111 != 0 => return Err(Base64Fault::LastCharacter),
        1 => bytes.extend_from_slice(&((bits >> 2) as u16).to_be_bytes()),
        2 => bytes.push((bits >> 4) as u8),
        _ => {}
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_texts() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let mut out = Vec::new();
            encode(bytes.as_bytes(), &mut out);
            assert_eq!(out, text.as_bytes());
            assert_eq!(decode(text.as_bytes()), Ok(bytes.as_bytes().to_vec()));
        }
    }

    #[test]
    fn faults() {
        assert_eq!(decode(b"Zg="), Err(Base64Fault::Length(3)));
        assert_eq!(decode(b"Zh=="), Err(Base64Fault::LastCharacter));
        assert_eq!(decode(b"Z!=="), Err(Base64Fault::Character));
        assert_eq!(decode(b"===="), Err(Base64Fault::Character));
    }

    proptest! {
        #[test]
        fn round_trip(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut out = Vec::new();
            encode(&bytes, &mut out);
            prop_assert_eq!(decode(&out), Ok(bytes));
        }
    }
}
