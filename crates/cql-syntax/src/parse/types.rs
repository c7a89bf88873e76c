//! Types.

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{DataType, NativeType, TypeKind};
use crate::lex::{Keyword, KeywordClass, TokenKind};

/// The native type a keyword names.
pub(super) fn native(kind: TokenKind) -> Option<NativeType> {
    let TokenKind::Keyword(keyword) = kind else { return None };
    Some(match keyword {
        Keyword::Ascii => NativeType::Ascii,
        Keyword::Bigint => NativeType::Bigint,
        Keyword::Blob => NativeType::Blob,
        Keyword::Boolean => NativeType::Boolean,
        Keyword::Counter => NativeType::Counter,
        Keyword::Date => NativeType::Date,
        Keyword::Decimal => NativeType::Decimal,
        Keyword::Double => NativeType::Double,
        Keyword::Duration => NativeType::Duration,
        Keyword::Float => NativeType::Float,
        Keyword::Inet => NativeType::Inet,
        Keyword::Int => NativeType::Int,
        Keyword::Smallint => NativeType::Smallint,
        Keyword::Text | Keyword::Varchar => NativeType::Text,
        Keyword::Time => NativeType::Time,
        Keyword::Timestamp => NativeType::Timestamp,
        Keyword::Timeuuid => NativeType::Timeuuid,
        Keyword::Tinyint => NativeType::Tinyint,
        Keyword::Uuid => NativeType::Uuid,
        Keyword::Varint => NativeType::Varint,
        _ => return None,
    })
}

impl Parser<'_> {
    pub fn data_type(&mut self) -> Parse<DataType> {
        let start = self.start();
        let kind = self.nested(Self::type_kind)?;
        Ok(DataType { kind, span: self.since(start) })
    }

    /// `(type, ...)`, possibly empty, behind the name of a function.
    pub fn type_list(&mut self) -> Parse<Vec<DataType>> {
        self.expect(TokenKind::LeftParen, "before the argument types")?;
        if self.eat(TokenKind::RightParen) {
            return Ok(Vec::new());
        }
        let types = self.comma_list(Self::data_type)?;
        self.expect(TokenKind::RightParen, "after the argument types")?;
        Ok(types)
    }

    /// A native type, as CAST wants it.
    pub fn native_type(&mut self) -> Parse<DataType> {
        match native(self.kind()) {
            Some(native) => {
                let span = self.bump().span();
                Ok(DataType { kind: TypeKind::Native(native), span })
            }
            None => Err(self.no_viable("expected a native type to cast to")),
        }
    }

    fn type_kind(&mut self) -> Parse<TypeKind> {
        // A native type's name before a dot is the name of a keyspace.
        if let Some(native) = native(self.kind())
            && !self.is_at(1, TokenKind::Dot)
        {
            self.bump();
            return Ok(TypeKind::Native(native));
        }
        match self.kind() {
            TokenKind::String | TokenKind::DollarString => {
                let token = self.bump();
                Ok(TypeKind::Custom(self.string_value(token)))
            }
            TokenKind::Keyword(keyword) if self.is_at(1, TokenKind::Lt) && is_generic(keyword) => {
                self.generic(keyword)
            }
            TokenKind::Keyword(Keyword::Set) => {
                self.bump();
                Err(self.mismatched(TokenKind::Lt, "after SET in a type"))
            }
            _ => Ok(TypeKind::User(self.type_name("a type")?)),
        }
    }

    fn generic(&mut self, keyword: Keyword) -> Parse<TypeKind> {
        self.bump();
        self.bump();
        let kind = match keyword {
            Keyword::List => TypeKind::List(Box::new(self.data_type()?)),
            Keyword::Set => TypeKind::Set(Box::new(self.data_type()?)),
            Keyword::Frozen => TypeKind::Frozen(Box::new(self.freezable()?)),
            Keyword::Map => {
                let key = self.data_type()?;
                self.expect(TokenKind::Comma, "between the key and value types of a map")?;
                TypeKind::Map(Box::new(key), Box::new(self.data_type()?))
            }
            Keyword::Vector => {
                let element = self.data_type()?;
                self.expect(TokenKind::Comma, "before the dimension of a vector")?;
                TypeKind::Vector(Box::new(element), self.dimension()?)
            }
            _ => TypeKind::Tuple(self.comma_list(Self::data_type)?),
        };
        self.expect(TokenKind::Gt, "to close the type")?;
        Ok(kind)
    }

    fn freezable(&mut self) -> Parse<DataType> {
        let inner = self.data_type()?;
        match inner.kind {
            TypeKind::Native(native) => {
                let message = format!(
                    "frozen<> is only allowed on collections, tuples, and user-defined types (got {})",
                    native.name()
                );
                Err(self.refused(inner.span, message))
            }
            _ => Ok(inner),
        }
    }

    fn dimension(&mut self) -> Parse<u32> {
        if !self.is(TokenKind::Integer) {
            return Err(self.mismatched(TokenKind::Integer, "as the dimension of a vector"));
        }
        let parsed =
            self.text_of(self.token()).parse::<i32>().ok().and_then(|value| u32::try_from(value).ok());
        match parsed {
            Some(value) => {
                self.bump();
                Ok(value)
            }
            None => Err(self.no_viable("the dimension of a vector is a whole number from 1 to 2147483647")),
        }
    }

    /// How many tokens ahead a type that begins `ahead` tokens on ends, without building it. Used to tell a type hint
    /// from parentheses.
    pub fn skip_type(&self, ahead: usize, depth: u32) -> Option<usize> {
        if depth == 0 {
            return None;
        }
        match self.kind_at(ahead) {
            TokenKind::String | TokenKind::DollarString => Some(ahead + 1),
            TokenKind::Keyword(keyword) if is_generic(keyword) && self.is_at(ahead + 1, TokenKind::Lt) => {
                let mut end = self.skip_type(ahead + 2, depth - 1)?;
                while self.is_at(end, TokenKind::Comma) {
                    end = match self.kind_at(end + 1) {
                        TokenKind::Integer => end + 2,
                        _ => self.skip_type(end + 1, depth - 1)?,
                    };
                }
                self.is_at(end, TokenKind::Gt).then_some(end + 1)
            }
            kind if !is_name(kind) => None,
            _ if self.is_at(ahead + 1, TokenKind::Dot) => {
                is_type_name(self.kind_at(ahead + 2)).then_some(ahead + 3)
            }
            kind => (native(kind).is_some() || is_type_name(kind)).then_some(ahead + 1),
        }
    }
}

fn is_generic(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(keyword, List | Set | Map | Tuple | Vector | Frozen)
}

fn is_type_name(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Keyword(keyword) => keyword.class() == KeywordClass::Free || keyword == Keyword::Key,
        other => is_name(other),
    }
}
