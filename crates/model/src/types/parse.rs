//! Reads the CQL text of a type, the inverse of `Display`; the catalogue stores types as that text.
//!
//! User-defined types are named only, so the caller passes a lookup. Nesting is bounded, so a hostile text
//! cannot exhaust the stack.

use std::fmt;
use std::sync::Arc;

use super::{DataType, UdtType, VECTOR_DIMENSIONS_MAX};

/// Levels of `<` a type text may have.
const DEPTH_MAX: usize = 64;

/// Finds a user-defined type by optional keyspace and name.
pub type UdtLookup<'a> = &'a dyn Fn(Option<&str>, &str) -> Option<Arc<UdtType>>;

/// Why a type text could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeParseError {
    Syntax { text: String, at: usize },
    UnknownType { name: String },
    TooDeep,
    BadDimensions { found: String },
}

impl fmt::Display for TypeParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeParseError::Syntax { text, at } => write!(f, "cannot read type \"{text}\" at character {at}"),
            TypeParseError::UnknownType { name } => write!(f, "Unknown type {name}"),
            TypeParseError::TooDeep => write!(f, "types are nested more than {DEPTH_MAX} deep"),
            TypeParseError::BadDimensions { found } => {
                write!(
                    f,
                    "vectors may only have positive dimensions up to {VECTOR_DIMENSIONS_MAX}; given {found}"
                )
            }
        }
    }
}

impl std::error::Error for TypeParseError {}

impl DataType {
    /// Reads a type text such as `frozen<map<text, int>>`.
    pub fn parse(text: &str, lookup: UdtLookup<'_>) -> Result<DataType, TypeParseError> {
        let mut parser = Parser { text, at: 0, depth: 0, lookup };
        let found = parser.data_type()?;
        parser.skip_blanks();
        if parser.at == text.len() { Ok(found) } else { Err(parser.syntax()) }
    }

    /// Reads a type text that names no user-defined type.
    pub fn parse_native(text: &str) -> Result<DataType, TypeParseError> {
        DataType::parse(text, &|_, _| None)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    lookup: UdtLookup<'a>,
}

/// An identifier and whether it was quoted: a quoted `"list"` is a user-defined type, not a list.
struct Word {
    text: String,
    quoted: bool,
}

impl Parser<'_> {
    fn syntax(&self) -> TypeParseError {
        TypeParseError::Syntax { text: self.text.to_string(), at: self.at }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn accept(&mut self, symbol: char) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len_utf8();
        }
        found
    }

    fn expect(&mut self, symbol: char) -> Result<(), TypeParseError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.syntax()) }
    }

    fn quoted(&mut self, quote: char) -> Result<String, TypeParseError> {
        let mut word = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find(quote).ok_or_else(|| self.syntax())?;
            word.push_str(rest.get(..end).unwrap_or(""));
            self.at += end + quote.len_utf8();
            if self.rest().starts_with(quote) {
                word.push(quote);
                self.at += quote.len_utf8();
            } else {
                return Ok(word);
            }
        }
    }

    fn word(&mut self) -> Result<Word, TypeParseError> {
        if self.accept('"') {
            return Ok(Word { text: self.quoted('"')?, quoted: true });
        }
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if len == 0 {
            return Err(self.syntax());
        }
        let text = rest.get(..len).unwrap_or("").to_ascii_lowercase();
        self.at += len;
        Ok(Word { text, quoted: false })
    }

    fn data_type(&mut self) -> Result<DataType, TypeParseError> {
        if self.depth >= DEPTH_MAX {
            return Err(TypeParseError::TooDeep);
        }
        self.depth += 1;
        let found = self.data_type_inside();
        self.depth -= 1;
        found
    }

    fn data_type_inside(&mut self) -> Result<DataType, TypeParseError> {
        if self.accept('\'') {
            return Ok(DataType::Custom(self.quoted('\'')?.into()));
        }
        let word = self.word()?;
        if !word.quoted {
            self.skip_blanks();
            if self.rest().starts_with('<') {
                return self.parameterised(&word.text);
            }
            if let Some(native) = DataType::from_native_name(&word.text) {
                return Ok(native);
            }
        }
        let (keyspace, name) =
            if self.accept('.') { (Some(word.text), self.word()?.text) } else { (None, word.text) };
        let found = (self.lookup)(keyspace.as_deref(), &name);
        found.map(DataType::Udt).ok_or(TypeParseError::UnknownType { name })
    }

    fn parameterised(&mut self, word: &str) -> Result<DataType, TypeParseError> {
        self.expect('<')?;
        let found = match word {
            "frozen" => self.data_type()?.freeze(),
            "list" => DataType::list(self.data_type()?),
            "set" => DataType::set(self.data_type()?),
            "map" => {
                let key = self.data_type()?;
                self.expect(',')?;
                DataType::map(key, self.data_type()?)
            }
            "tuple" => {
                let mut components = vec![self.data_type()?];
                while self.accept(',') {
                    components.push(self.data_type()?);
                }
                DataType::tuple(components)
            }
            "vector" => {
                let element = self.data_type()?;
                self.expect(',')?;
                DataType::vector(element, self.dimensions()?)
            }
            _ => return Err(self.syntax()),
        };
        self.expect('>')?;
        Ok(found)
    }

    fn dimensions(&mut self) -> Result<u32, TypeParseError> {
        self.skip_blanks();
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest.get(..len).unwrap_or("").to_string();
        self.at += len;
        match digits.parse::<u32>() {
            Ok(n) if n > 0 && n <= VECTOR_DIMENSIONS_MAX => Ok(n),
            _ => Err(TypeParseError::BadDimensions { found: digits }),
        }
    }
}
