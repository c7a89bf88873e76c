//! Materialized views. The leading words have been read by the caller.

use super::{Parse, Parser};
use crate::ast::{AlterView, CreateView};
use crate::lex::Keyword;

impl Parser<'_> {
    pub fn create_view(&mut self) -> Parse<CreateView> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.qualified_name("a view name")?;
        self.expect_word(Keyword::As, "after the view")?;
        self.expect_word(Keyword::Select, "after AS")?;
        let selection = self.selection()?;
        self.expect_word(Keyword::From, "after what is selected")?;
        let base = self.table_name()?;
        let relations = self.where_clause()?;
        let primary_key = self.primary_key()?;
        let options = self.table_options()?;
        let is_projection = false;
        Ok(CreateView {
            is_projection,
            if_not_exists,
            name,
            selection,
            base,
            relations,
            primary_key,
            options,
        })
    }

    pub fn alter_view(&mut self) -> Parse<AlterView> {
        let if_exists = self.if_exists()?;
        let name = self.qualified_name("a view name")?;
        let properties = self.with_properties()?;
        Ok(AlterView { if_exists, name, properties })
    }
}
