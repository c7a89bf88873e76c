//! Text to tokens.

mod keyword;
mod lexer;
mod number;
mod token;

pub use keyword::{Keyword, KeywordClass};
pub(crate) use lexer::lex;
pub use token::Comment;
pub(crate) use token::{Fault, Token, TokenKind};
