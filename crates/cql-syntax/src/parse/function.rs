//! User-defined functions, aggregates and triggers. The leading words have been read by the caller.

use super::{Parse, Parser};
use crate::ast::{
    CreateAggregate, CreateFunction, CreateTrigger, DropFunction, DropTrigger, FunctionArg, NullInput,
};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn create_function(&mut self, or_replace: bool) -> Parse<CreateFunction> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.function_name()?;
        self.expect(TokenKind::LeftParen, "before the arguments")?;
        let args =
            if self.is(TokenKind::RightParen) { Vec::new() } else { self.comma_list(Self::function_arg)? };
        self.expect(TokenKind::RightParen, "after the arguments")?;
        let null_input = if self.eat_word(Keyword::Called) {
            NullInput::Called
        } else if self.eat_word(Keyword::Returns) {
            self.expect_word(Keyword::Null, "after RETURNS; what happens on null input comes first")?;
            NullInput::ReturnsNull
        } else {
            return Err(self.no_viable("expected CALLED ON NULL INPUT or RETURNS NULL ON NULL INPUT"));
        };
        self.expect_word(Keyword::On, "before NULL INPUT")?;
        self.expect_word(Keyword::Null, "after ON")?;
        self.expect_word(Keyword::Input, "after ON NULL")?;
        self.expect_word(Keyword::Returns, "before the return type")?;
        let returns = self.data_type()?;
        self.expect_word(Keyword::Language, "after the return type")?;
        if self.kind() == TokenKind::QuotedName {
            return Err(self.no_viable("expected a language without quotes"));
        }
        let language = self.name("a language")?;
        self.expect_word(Keyword::As, "before the body")?;
        let body = self.string("with the body")?;
        Ok(CreateFunction { or_replace, if_not_exists, name, args, null_input, returns, language, body })
    }

    fn function_arg(&mut self) -> Parse<FunctionArg> {
        let name = self.new_name("the name of an argument")?;
        Ok(FunctionArg { name, data_type: self.data_type()? })
    }

    pub fn create_aggregate(&mut self, or_replace: bool) -> Parse<CreateAggregate> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.function_name()?;
        let arg_types = self.type_list()?;
        self.expect_word(Keyword::Sfunc, "after the argument types")?;
        let state_function = self.function_part()?;
        self.expect_word(Keyword::Stype, "after the state function")?;
        let state_type = self.data_type()?;
        let final_function =
            if self.eat_word(Keyword::Finalfunc) { Some(self.function_part()?) } else { None };
        let initial = if self.eat_word(Keyword::Initcond) { Some(self.term()?) } else { None };
        Ok(CreateAggregate {
            or_replace,
            if_not_exists,
            name,
            arg_types,
            state_function,
            state_type,
            final_function,
            initial,
        })
    }

    pub fn drop_function(&mut self) -> Parse<DropFunction> {
        let if_exists = self.if_exists()?;
        let name = self.function_name()?;
        let arg_types = if self.is(TokenKind::LeftParen) { Some(self.type_list()?) } else { None };
        Ok(DropFunction { if_exists, name, arg_types })
    }

    pub fn create_trigger(&mut self) -> Parse<CreateTrigger> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.new_name("the name of a trigger")?;
        self.expect_word(Keyword::On, "before the table")?;
        let table = self.table_name()?;
        self.expect_word(Keyword::Using, "before the trigger class")?;
        let using = self.string("with the trigger class")?;
        Ok(CreateTrigger { if_not_exists, name, table, using })
    }

    pub fn drop_trigger(&mut self) -> Parse<DropTrigger> {
        let if_exists = self.if_exists()?;
        let name = self.name("the name of a trigger")?;
        self.expect_word(Keyword::On, "before the table")?;
        Ok(DropTrigger { if_exists, name, table: self.table_name()? })
    }
}
