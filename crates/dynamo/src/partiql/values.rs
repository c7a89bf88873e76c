//! Literals of PartiQL: scalars, lists, structures, sets, and parameters in their place.

use super::lexer::Kind;
use super::parser::Parser;
use crate::error::ApiError;
use crate::messages::Rule;
use crate::number::{Number, NumberFault};
use crate::value::{Item, NESTING_MAX, Value};

impl Parser<'_> {
    /// Is a literal next?
    pub(super) fn at_literal(&self) -> bool {
        match &self.peek().kind {
            Kind::Text(_) | Kind::Number | Kind::Parameter | Kind::Symbol("[" | "{" | "<<" | "-" | "+") => {
                true
            }
            Kind::Word => self.is_word("TRUE") || self.is_word("FALSE") || self.is_word("NULL"),
            _ => false,
        }
    }

    pub(super) fn literal(&mut self) -> Result<Value, ApiError> {
        self.nested(|parser| parser.literal_here())
    }

    fn literal_here(&mut self) -> Result<Value, ApiError> {
        let token = self.take();
        match token.kind {
            Kind::Text(text) => Ok(Value::S(text)),
            Kind::Number => number(token.text),
            Kind::Symbol(sign @ ("-" | "+")) if self.peek().kind == Kind::Number => {
                let digits = self.take().text;
                number(&format!("{sign}{digits}"))
            }
            Kind::Parameter => self.parameter(),
            Kind::Symbol("[") => self.elements("]").map(Value::L),
            Kind::Symbol("<<") => set(self.elements(">>")?),
            Kind::Symbol("{") => self.structure().map(Value::M),
            Kind::Word if token.text.eq_ignore_ascii_case("TRUE") => Ok(Value::Bool(true)),
            Kind::Word if token.text.eq_ignore_ascii_case("FALSE") => Ok(Value::Bool(false)),
            Kind::Word if token.text.eq_ignore_ascii_case("NULL") => Ok(Value::Null),
            _ => Err(self.malformed()),
        }
    }

    /// Values up to the closing bracket.
    pub(super) fn elements(&mut self, close: &'static str) -> Result<Vec<Value>, ApiError> {
        let mut values = Vec::new();
        if self.symbol(close) {
            return Ok(values);
        }
        loop {
            values.push(self.literal()?);
            if self.symbol(close) {
                return Ok(values);
            }
            self.expect(",")?;
        }
    }

    fn structure(&mut self) -> Result<Item, ApiError> {
        let mut item = Item::new();
        if self.symbol("}") {
            return Ok(item);
        }
        loop {
            let name = match self.take().kind {
                Kind::Text(name) | Kind::Quoted(name) => name,
                _ => return Err(self.malformed()),
            };
            if name.is_empty() {
                return Err(Rule::EmptyAttributeName.refuse(&[]));
            }
            self.expect(":")?;
            let value = self.literal()?;
            if value.nesting() > NESTING_MAX {
                return Err(Rule::Nesting.refuse(&[]));
            }
            item.insert(name, value);
            if self.symbol("}") {
                return Ok(item);
            }
            self.expect(",")?;
        }
    }
}

fn number(text: &str) -> Result<Value, ApiError> {
    Number::parse(text).map(Value::N).map_err(|fault| match fault {
        NumberFault::NotANumber => Rule::NotANumber.refuse(&[text]),
        NumberFault::Overflow => Rule::NumberOverflow.refuse(&[]),
        NumberFault::Underflow => Rule::NumberUnderflow.refuse(&[]),
        NumberFault::TooManyDigits => Rule::NumberPrecision.refuse(&[]),
    })
}

/// Members of one type, each once.
fn set(members: Vec<Value>) -> Result<Value, ApiError> {
    fn sorted<T: Ord>(members: Option<Vec<T>>) -> Option<Vec<T>> {
        let mut members = members?;
        members.sort();
        let count = members.len();
        members.dedup();
        (members.len() == count).then_some(members)
    }
    let of = |value: &Value| value.kind();
    let Some(first) = members.first().map(of) else { return Err(Rule::EmptyStringSet.refuse(&[])) };
    let all: Vec<Value> = members;
    let value = match first {
        crate::value::Type::S => {
            let texts = all.into_iter().map(|v| if let Value::S(text) = v { Some(text) } else { None });
            sorted(texts.collect()).map(Value::Ss)
        }
        crate::value::Type::N => {
            let numbers = all.into_iter().map(|v| if let Value::N(number) = v { Some(number) } else { None });
            sorted(numbers.collect()).map(Value::Ns)
        }
        _ => {
            let blobs = all.into_iter().map(|v| if let Value::B(bytes) = v { Some(bytes) } else { None });
            sorted(blobs.collect()).map(Value::Bs)
        }
    };
    value.ok_or_else(|| {
        ApiError::validation(
            "One or more parameter values were invalid: a set must hold strings, numbers or binaries only, each once",
        )
    })
}
