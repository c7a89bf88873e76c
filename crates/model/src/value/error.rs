//! Why bytes, a literal or a JSON text are not a value of a type.
//!
//! The message is Cassandra's sentence where clients can see it, because tools match on it. Every such error is
//! the client's fault (kind Invalid); there are no other kinds here.

use std::borrow::Cow;
use std::fmt;

/// A value does not fit its type. `Display` is the sentence for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    message: Cow<'static, str>,
}

impl ValueError {
    pub fn new(message: impl Into<Cow<'static, str>>) -> ValueError {
        ValueError { message: message.into() }
    }

    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ValueError {}

/// `Err` with a formatted message; keeps the formatting out of the callers' hot paths.
macro_rules! invalid {
    ($literal:literal) => { Err($crate::value::ValueError::new(format!($literal))) };
    ($($arguments:tt)*) => { Err($crate::value::ValueError::new(format!($($arguments)*))) };
}
pub(crate) use invalid;
