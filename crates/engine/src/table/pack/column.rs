//! The values of one column in a block, in the shortest of a few simple forms.
//!
//! ```text
//! column     ::= 00 lengths bytes                                     one value behind the other
//!              | 01 vint length  bytes                                 values of 2 to 8 bytes: all first bytes, all second bytes, ...
//!              | 02 1 byte d  d strings  indices                       at most 16 different values
//!              | 03 lengths  1 byte a  a bytes  nibbles                at most 16 different bytes: four bits each
//! lengths    ::= 00 vint length | 01 n vints
//! ```
//! Indices take 0, 1, 2 or 4 bits (the fewest that tell `d` values apart), low bits first; nibbles likewise, each
//! value padded to a whole byte.

use model::vint;

const PLAIN: u8 = 0;
const PLANES: u8 = 1;
const DICTIONARY: u8 = 2;
const NIBBLES: u8 = 3;

const LENGTH_FIXED: u8 = 0;
const LENGTH_EACH: u8 = 1;

/// What four bits can tell apart.
const SYMBOLS_MAX: usize = 16;
/// Values this short are cut into planes of bytes: numbers share their high bytes.
const PLANES_MAX: usize = 8;
/// Shorter values are not worth a nibble's detour.
const NIBBLES_MIN: usize = 4;

/// Appends a column. `values` is not empty.
pub fn put(out: &mut Vec<u8>, values: &[&[u8]]) {
    let len = values.first().map_or(0, |value| value.len());
    let fixed = values.iter().all(|value| value.len() == len);
    if let Some(different) = few_values(values) {
        return put_dictionary(out, values, &different);
    }
    if fixed && (2..=PLANES_MAX).contains(&len) {
        out.push(PLANES);
        vint::put(out, len as u64);
        for plane in 0..len {
            out.extend(values.iter().map(|value| value[plane]));
        }
        return;
    }
    match few_bytes(values) {
        Some(alphabet) => put_nibbles(out, values, &alphabet),
        None => {
            out.push(PLAIN);
            put_lengths(out, values, fixed);
            values.iter().for_each(|value| out.extend_from_slice(value));
        }
    }
}

fn put_lengths(out: &mut Vec<u8>, values: &[&[u8]], fixed: bool) {
    if fixed {
        out.push(LENGTH_FIXED);
        vint::put(out, values.first().map_or(0, |value| value.len()) as u64);
    } else {
        out.push(LENGTH_EACH);
        values.iter().for_each(|value| vint::put(out, value.len() as u64));
    }
}

/// The different values, if a dictionary of them pays.
fn few_values<'a>(values: &[&'a [u8]]) -> Option<Vec<&'a [u8]>> {
    let mut different: Vec<&[u8]> = vec![];
    for value in values {
        if !different.contains(value) {
            if different.len() == SYMBOLS_MAX {
                return None;
            }
            different.push(value);
        }
    }
    (different.len() == 1 || different.len() * 2 <= values.len()).then_some(different)
}

fn bits_for(symbols: usize) -> u32 {
    match symbols {
        0 | 1 => 0,
        2 => 1,
        3 | 4 => 2,
        _ => 4,
    }
}

fn put_dictionary(out: &mut Vec<u8>, values: &[&[u8]], different: &[&[u8]]) {
    out.push(DICTIONARY);
    out.push(different.len() as u8);
    different.iter().for_each(|value| vint::put_slice(out, value));
    let bits = bits_for(different.len());
    if bits == 0 {
        return;
    }
    for chunk in values.chunks(8 / bits as usize) {
        let index = |value: &&[u8]| different.iter().position(|known| known == value).unwrap_or(0) as u32;
        let packed = chunk.iter().rev().fold(0, |byte, value| byte << bits | index(value));
        out.push(packed as u8);
    }
}

/// The bytes that occur, if they are few and packing them pays.
fn few_bytes(values: &[&[u8]]) -> Option<Vec<u8>> {
    let mut seen = [false; 256];
    let mut alphabet = vec![];
    let mut total = 0;
    for value in values {
        total += value.len();
        for &byte in *value {
            if !std::mem::replace(&mut seen[byte as usize], true) {
                if alphabet.len() == SYMBOLS_MAX {
                    return None;
                }
                alphabet.push(byte);
            }
        }
    }
    // A handful of symbols in long runs is what the compressor is for.
    (alphabet.len() > 4 && total >= NIBBLES_MIN * values.len()).then_some(alphabet)
}

fn put_nibbles(out: &mut Vec<u8>, values: &[&[u8]], alphabet: &[u8]) {
    let len = values.first().map_or(0, |value| value.len());
    out.push(NIBBLES);
    put_lengths(out, values, values.iter().all(|value| value.len() == len));
    out.push(alphabet.len() as u8);
    out.extend_from_slice(alphabet);
    let mut codes = [0u8; 256];
    for (code, byte) in alphabet.iter().enumerate() {
        codes[*byte as usize] = code as u8;
    }
    for value in values {
        let (pairs, rest) = value.as_chunks::<2>();
        out.extend(pairs.iter().map(|[low, high]| codes[*low as usize] | codes[*high as usize] << 4));
        out.extend(rest.iter().map(|byte| codes[*byte as usize]));
    }
}

/// The values of a column, handed out in order.
pub struct Values<'a> {
    lengths: Lengths<'a>,
    form: Form<'a>,
}

enum Lengths<'a> {
    Fixed(usize),
    Each(&'a [u8]),
}

enum Form<'a> {
    Plain(&'a [u8]),
    Planes { bytes: &'a [u8], count: usize, next: usize },
    Dictionary { values: Vec<&'a [u8]>, bits: u32, indices: &'a [u8], next: usize },
    Nibbles { pairs: Box<[[u8; 2]; 256]>, bytes: &'a [u8] },
}

impl<'a> Values<'a> {
    /// Takes a column of `count` values from the front.
    pub fn take(bytes: &mut &'a [u8], count: usize) -> Option<Values<'a>> {
        let (&form, rest) = bytes.split_first()?;
        *bytes = rest;
        match form {
            PLAIN => {
                let (lengths, total) = take_lengths(bytes, count, |len| len)?;
                Some(Values { lengths, form: Form::Plain(take(bytes, total)?) })
            }
            PLANES => {
                let len = usize::try_from(vint::take(bytes)?).ok().filter(|len| *len <= PLANES_MAX)?;
                let bytes = take(bytes, count.checked_mul(len)?)?;
                Some(Values { lengths: Lengths::Fixed(len), form: Form::Planes { bytes, count, next: 0 } })
            }
            DICTIONARY => {
                let (&size, rest) = bytes.split_first()?;
                *bytes = rest;
                let values: Option<Vec<&[u8]>> = (0..size).map(|_| vint::take_slice(bytes)).collect();
                let values = values.filter(|values| (1..=SYMBOLS_MAX).contains(&values.len()))?;
                let bits = bits_for(values.len());
                let indices = take(bytes, (count * bits as usize).div_ceil(8))?;
                let form = Form::Dictionary { values, bits, indices, next: 0 };
                Some(Values { lengths: Lengths::Fixed(0), form })
            }
            NIBBLES => {
                let (lengths, total) = take_lengths(bytes, count, |len| len.div_ceil(2))?;
                let (&size, rest) = bytes.split_first().filter(|(size, _)| **size as usize <= SYMBOLS_MAX)?;
                *bytes = rest;
                let mut alphabet = [0; SYMBOLS_MAX];
                alphabet[..size as usize].copy_from_slice(take(bytes, size as usize)?);
                let pair = |i: usize| [alphabet[i & 15], alphabet[i >> 4]];
                let pairs = Box::new(std::array::from_fn(pair));
                Some(Values { lengths, form: Form::Nibbles { pairs, bytes: take(bytes, total)? } })
            }
            _ => None,
        }
    }

    /// Appends the next value to `out`, behind its length if `with_length`. `None` when there are no more.
    #[inline]
    pub fn put_next(&mut self, out: &mut Vec<u8>, with_length: bool) -> Option<()> {
        if let Form::Dictionary { values, bits, indices, next } = &mut self.form {
            let index = match *bits {
                0 => 0,
                bits => {
                    let at = *next * bits as usize;
                    usize::from(indices.get(at / 8)? >> (at % 8)) & ((1 << bits) - 1)
                }
            };
            *next += 1;
            let value = values.get(index)?;
            if with_length {
                vint::put(out, value.len() as u64);
            }
            out.extend_from_slice(value);
            return Some(());
        }
        let len = match &mut self.lengths {
            Lengths::Fixed(len) => *len,
            Lengths::Each(lengths) => usize::try_from(vint::take(lengths)?).ok()?,
        };
        if with_length {
            vint::put(out, len as u64);
        }
        match &mut self.form {
            Form::Plain(bytes) => out.extend_from_slice(take(bytes, len)?),
            Form::Planes { bytes, count, next } => {
                if *next >= *count {
                    return None;
                }
                out.extend((0..len).map(|plane| bytes.get(plane * *count + *next).copied().unwrap_or(0)));
                *next += 1;
            }
            Form::Nibbles { pairs, bytes } => {
                let packed = take(bytes, len.div_ceil(2))?;
                let start = out.len();
                out.resize(start + packed.len() * 2, 0);
                let (target, _) = out.get_mut(start..)?.as_chunks_mut::<2>();
                for (target, byte) in target.iter_mut().zip(packed) {
                    *target = pairs[*byte as usize];
                }
                out.truncate(start + len);
            }
            Form::Dictionary { .. } => {}
        }
        Some(())
    }
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(len)?;
    *bytes = tail;
    Some(head)
}

/// The lengths, and how many bytes the values take when one of `len` takes `stored(len)`.
fn take_lengths<'a>(
    bytes: &mut &'a [u8],
    count: usize,
    stored: impl Fn(usize) -> usize,
) -> Option<(Lengths<'a>, usize)> {
    let (&form, rest) = bytes.split_first()?;
    *bytes = rest;
    let mut next =
        || vint::take(bytes).and_then(|len| usize::try_from(len).ok()).filter(|len| *len < 1 << 30);
    match form {
        LENGTH_FIXED => {
            let len = next()?;
            Some((Lengths::Fixed(len), stored(len).checked_mul(count)?))
        }
        LENGTH_EACH => {
            let start = rest;
            let mut total = 0usize;
            for _ in 0..count {
                total = total.checked_add(stored(next()?))?;
            }
            Some((Lengths::Each(&start[..start.len() - bytes.len()]), total))
        }
        _ => None,
    }
}
