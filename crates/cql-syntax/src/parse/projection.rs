//! Our own statements about copies and jobs. The leading word has been read by the caller.

use super::{Parse, Parser};
use crate::ast::{CheckProjection, CreateView, JobOrder, OrderJob};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    /// `name ON base AS SELECT columns [FROM base] [WHERE ...] PRIMARY KEY (...) [WITH ...]`
    pub fn create_projection(&mut self) -> Parse<CreateView> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.qualified_name("the name of a projection")?;
        self.expect_word(Keyword::On, "after the name of the projection")?;
        let base = self.table_name()?;
        self.expect_word(Keyword::As, "after the table")?;
        self.expect_word(Keyword::Select, "after AS")?;
        let selection = self.selection()?;
        if self.eat_word(Keyword::From) {
            let start = self.start();
            let from = self.table_name()?;
            if from != base {
                let message = format!("FROM {from} must name the table of the projection, {base}");
                return Err(self.refused(self.since(start), message));
            }
        }
        let relations = self.where_clause()?;
        let primary_key = self.primary_key()?;
        let options = self.table_options()?;
        let is_projection = true;
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

    pub fn check_projection(&mut self, repair: bool) -> Parse<CheckProjection> {
        self.expect_word(Keyword::Projection, if repair { "after REPAIR" } else { "after CHECK" })?;
        Ok(CheckProjection { repair, name: self.qualified_name("the name of an index, view or projection")? })
    }

    pub fn order_job(&mut self, order: JobOrder) -> Parse<OrderJob> {
        self.expect_word(Keyword::Job, "to say what it is about")?;
        Ok(OrderJob { id: self.job_id()?, order })
    }

    /// Behind ALTER JOB.
    pub fn alter_job(&mut self) -> Parse<OrderJob> {
        let id = self.job_id()?;
        Ok(OrderJob { id, order: JobOrder::With(self.with_properties()?) })
    }

    fn job_id(&mut self) -> Parse<u64> {
        let token = self.token();
        if token.kind != TokenKind::Integer {
            return Err(
                self.mismatched(TokenKind::Integer, "the number of a job; system_views.jobs lists them")
            );
        }
        let Ok(id) = self.text_of(token).parse() else {
            return Err(self.refused(token.span(), "a job has a positive number".to_string()));
        };
        self.bump();
        Ok(id)
    }
}
