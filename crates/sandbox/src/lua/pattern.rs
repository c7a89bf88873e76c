//! Lua's patterns, matched with a count of the steps: a short pattern can take time that grows with a high power of the text's length.

use crate::tank::Tank;

/// Captures of one pattern, and how deep its items nest, as in Lua.
const CAPTURES_MAX: usize = 32;
const DEPTH_MAX: u32 = 200;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    Stopped,
    Malformed(&'static str),
}

type Outcome<T> = Result<T, Problem>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// `()`: the place itself is captured.
    Here,
    /// Its parenthesis is not closed yet.
    Open,
    At(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Capture {
    pub start: usize,
    pub end: Position,
}

/// A pattern on its text.
pub struct Pattern<'a> {
    pub text: &'a [u8],
    pattern: &'a [u8],
    anchored: bool,
    captures: Vec<Capture>,
    depth: u32,
    tank: &'a Tank,
}

/// Whether it is more than a text to look for.
pub fn is_special(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| b"^$*+?.([%-".contains(byte))
}

impl<'a> Pattern<'a> {
    pub fn new(text: &'a [u8], pattern: &'a [u8], tank: &'a Tank) -> Pattern<'a> {
        let (anchored, pattern) = match pattern.strip_prefix(b"^") {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        Pattern { text, pattern, anchored, captures: Vec::new(), depth: 0, tank }
    }

    pub fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// What the last match captured.
    pub fn captures(&self) -> &[Capture] {
        &self.captures
    }

    /// The first match that begins at `from` or behind.
    pub fn search(&mut self, from: usize) -> Outcome<Option<(usize, usize)>> {
        let mut start = from;
        loop {
            if let Some(end) = self.at(start)? {
                return Ok(Some((start, end)));
            }
            start += 1;
            if self.anchored || start > self.text.len() {
                return Ok(None);
            }
        }
    }

    /// The end of the match that begins here.
    pub fn at(&mut self, start: usize) -> Outcome<Option<usize>> {
        self.captures.clear();
        self.depth = 0;
        self.matches(start, 0)
    }

    fn step(&self) -> Outcome<()> {
        if self.tank.take(2) { Ok(()) } else { Err(Problem::Stopped) }
    }

    fn matches(&mut self, at: usize, item: usize) -> Outcome<Option<usize>> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Problem::Malformed("pattern too complex"));
        }
        let found = self.items(at, item);
        self.depth -= 1;
        found
    }

    /// Matches the items from one on, without going deeper where there is nothing to come back to.
    fn items(&mut self, at: usize, item: usize) -> Outcome<Option<usize>> {
        let (mut at, mut item) = (at, item);
        loop {
            self.step()?;
            let Some(first) = self.pattern.get(item) else { return Ok(Some(at)) };
            match (first, self.pattern.get(item + 1)) {
                (b'(', Some(b')')) => return self.capture(at, item + 2, Position::Here),
                (b'(', _) => return self.capture(at, item + 1, Position::Open),
                (b')', _) => return self.close(at, item + 1),
                (b'$', None) => return Ok((at == self.text.len()).then_some(at)),
                (b'%', Some(b'b')) => match self.balanced(at, item + 2)? {
                    Some(end) => (at, item) = (end, item + 4),
                    None => return Ok(None),
                },
                (b'%', Some(b'f')) => {
                    let set = item + 2;
                    if self.pattern.get(set) != Some(&b'[') {
                        return Err(Problem::Malformed("missing '[' after '%f' in pattern"));
                    }
                    let end = self.class_end(set)?;
                    let before = if at == 0 { 0 } else { self.text[at - 1] };
                    let here = self.text.get(at).copied().unwrap_or(0);
                    if self.in_set(before, set, end - 1) || !self.in_set(here, set, end - 1) {
                        return Ok(None);
                    }
                    item = end;
                }
                (b'%', Some(digit)) if digit.is_ascii_digit() => match self.again(at, *digit)? {
                    Some(end) => (at, item) = (end, item + 2),
                    None => return Ok(None),
                },
                _ => {
                    let end = self.class_end(item)?;
                    match self.pattern.get(end) {
                        Some(b'?') => {
                            if self.single(at, item, end)
                                && let Some(found) = self.matches(at + 1, end + 1)?
                            {
                                return Ok(Some(found));
                            }
                            item = end + 1;
                        }
                        Some(b'+') => {
                            return match self.single(at, item, end) {
                                true => self.most(at + 1, item, end),
                                false => Ok(None),
                            };
                        }
                        Some(b'*') => return self.most(at, item, end),
                        Some(b'-') => return self.fewest(at, item, end),
                        _ if self.single(at, item, end) => (at, item) = (at + 1, end),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    fn most(&mut self, at: usize, item: usize, end: usize) -> Outcome<Option<usize>> {
        let mut count = 0;
        while self.single(at + count, item, end) {
            self.step()?;
            count += 1;
        }
        loop {
            if let Some(found) = self.matches(at + count, end + 1)? {
                return Ok(Some(found));
            }
            if count == 0 {
                return Ok(None);
            }
            count -= 1;
        }
    }

    fn fewest(&mut self, at: usize, item: usize, end: usize) -> Outcome<Option<usize>> {
        let mut at = at;
        loop {
            if let Some(found) = self.matches(at, end + 1)? {
                return Ok(Some(found));
            }
            if !self.single(at, item, end) {
                return Ok(None);
            }
            at += 1;
        }
    }

    fn capture(&mut self, at: usize, item: usize, end: Position) -> Outcome<Option<usize>> {
        if self.captures.len() >= CAPTURES_MAX {
            return Err(Problem::Malformed("too many captures"));
        }
        let level = self.captures.len();
        self.captures.push(Capture { start: at, end });
        let found = self.matches(at, item)?;
        if found.is_none() {
            self.captures.truncate(level);
        }
        Ok(found)
    }

    fn close(&mut self, at: usize, item: usize) -> Outcome<Option<usize>> {
        let open = self.captures.iter().rposition(|capture| capture.end == Position::Open);
        let Some(open) = open else { return Err(Problem::Malformed("invalid pattern capture")) };
        self.captures[open].end = Position::At(at);
        let found = self.matches(at, item)?;
        if found.is_none()
            && let Some(capture) = self.captures.get_mut(open)
        {
            capture.end = Position::Open;
        }
        Ok(found)
    }

    /// `%bxy`: from an x to the y that belongs to it.
    fn balanced(&self, at: usize, item: usize) -> Outcome<Option<usize>> {
        let (Some(opens), Some(closes)) = (self.pattern.get(item), self.pattern.get(item + 1)) else {
            return Err(Problem::Malformed("malformed pattern (missing arguments to '%b')"));
        };
        if self.text.get(at) != Some(opens) {
            return Ok(None);
        }
        let mut level = 1;
        for (place, byte) in self.text.iter().enumerate().skip(at + 1) {
            self.step()?;
            if byte == closes {
                level -= 1;
                if level == 0 {
                    return Ok(Some(place + 1));
                }
            } else if byte == opens {
                level += 1;
            }
        }
        Ok(None)
    }

    /// `%1`: what was captured, once more.
    fn again(&self, at: usize, digit: u8) -> Outcome<Option<usize>> {
        let number = usize::from(digit).wrapping_sub(usize::from(b'1'));
        let Some(Capture { start, end: Position::At(end) }) = self.captures.get(number) else {
            return Err(Problem::Malformed("invalid capture index in pattern"));
        };
        let captured = &self.text[*start..*end];
        if !self.tank.take(captured.len() as u64 / 8) {
            return Err(Problem::Stopped);
        }
        Ok(self.text[at..].starts_with(captured).then_some(at + captured.len()))
    }

    /// Behind a single class: a letter, `%a`, `[…]`.
    fn class_end(&self, item: usize) -> Outcome<usize> {
        match self.pattern.get(item) {
            Some(b'%') if item + 1 >= self.pattern.len() => {
                Err(Problem::Malformed("malformed pattern (ends with '%')"))
            }
            Some(b'%') => Ok(item + 2),
            Some(b'[') => {
                let mut at = item + 1;
                if self.pattern.get(at) == Some(&b'^') {
                    at += 1;
                }
                // The first letter of a set is one of it, even `]`.
                let mut first = true;
                loop {
                    match self.pattern.get(at) {
                        None => return Err(Problem::Malformed("malformed pattern (missing ']')")),
                        Some(b']') if !first => return Ok(at + 1),
                        Some(b'%') => at += 2,
                        Some(_) => at += 1,
                    }
                    first = false;
                }
            }
            _ => Ok(item + 1),
        }
    }

    fn single(&self, at: usize, item: usize, end: usize) -> bool {
        let Some(byte) = self.text.get(at).copied() else { return false };
        match self.pattern[item] {
            b'.' => true,
            b'%' => in_class(byte, self.pattern[item + 1]),
            b'[' => self.in_set(byte, item, end - 1),
            letter => letter == byte,
        }
    }

    /// Whether a byte is of the set between `[` at `from` and `]` at `to`.
    fn in_set(&self, byte: u8, from: usize, to: usize) -> bool {
        let negated = self.pattern.get(from + 1) == Some(&b'^');
        let mut at = from + 1 + usize::from(negated);
        while at < to {
            let letter = self.pattern[at];
            if letter == b'%' && at < to {
                if in_class(byte, self.pattern[at + 1]) {
                    return !negated;
                }
                at += 2;
            } else if self.pattern.get(at + 1) == Some(&b'-') && at + 2 < to {
                if (letter..=self.pattern[at + 2]).contains(&byte) {
                    return !negated;
                }
                at += 3;
            } else {
                if letter == byte {
                    return !negated;
                }
                at += 1;
            }
        }
        negated
    }
}

fn in_class(byte: u8, class: u8) -> bool {
    let is = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'g' => byte.is_ascii_graphic(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => byte.is_ascii_whitespace() || byte == 0x0b,
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => return class == byte,
    };
    is != class.is_ascii_uppercase()
}
