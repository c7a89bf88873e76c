//! Which statement it is.

use super::{Parse, Parser};
use crate::ast::{JobOrder, ParsedStatement, RoleKeyword, Statement};
use crate::error::SyntaxError;
use crate::lex::{Keyword, TokenKind, lex};
use crate::span::Span;

/// One statement, closed by any number of semicolons, and nothing behind it.
pub(crate) fn parse_one(text: &str) -> Result<ParsedStatement, SyntaxError> {
    check_length(text)?;
    let mut parser = Parser::new(text, lex(text, None));
    let start = parser.start();
    let statement = parser.statement()?;
    let span = parser.since(start);
    while parser.eat(TokenKind::Semicolon) {}
    if !parser.is(TokenKind::Eof) {
        return Err(parser.not_the_end(&statement));
    }
    Ok(ParsedStatement { statement, markers: parser.markers, span })
}

/// Offsets have 32 bits.
pub(super) fn check_length(text: &str) -> Result<(), SyntaxError> {
    if u32::try_from(text.len()).is_ok_and(|length| length < u32::MAX) {
        return Ok(());
    }
    let message = "line 1:0 the text is too long: 4 GiB is the limit".to_string();
    Err(SyntaxError { span: Span::default(), line: 1, column: 1, message })
}

impl Parser<'_> {
    pub fn statement(&mut self) -> Parse<Statement> {
        let TokenKind::Keyword(keyword) = self.kind() else {
            return match self.attach_service_level()? {
                Some(level) => Ok(Statement::ServiceLevel(Box::new(level))),
                None => Err(self.not_a_statement()),
            };
        };
        Ok(match keyword {
            Keyword::Select => Statement::Select(Box::new(self.select()?)),
            Keyword::Insert => Statement::Insert(Box::new(self.insert()?)),
            Keyword::Update => Statement::Update(Box::new(self.update()?)),
            Keyword::Delete => Statement::Delete(Box::new(self.delete()?)),
            Keyword::Begin if self.is_word_at(1, Keyword::Transaction) => {
                Statement::Transaction(Box::new(self.transaction()?))
            }
            Keyword::Begin => Statement::Batch(self.batch()?),
            Keyword::Use
            | Keyword::Truncate
            | Keyword::Create
            | Keyword::Alter
            | Keyword::Drop
            | Keyword::Grant
            | Keyword::Revoke
            | Keyword::List
            | Keyword::Add
            | Keyword::Describe
            | Keyword::Desc
            | Keyword::Explain
            | Keyword::Check
            | Keyword::Repair
            | Keyword::Pause
            | Keyword::Resume
            | Keyword::Comment
            | Keyword::Security
            | Keyword::Cancel => {
                self.bump();
                self.statement_after(keyword)?
            }
            _ => return Err(self.not_a_statement()),
        })
    }

    fn statement_after(&mut self, keyword: Keyword) -> Parse<Statement> {
        match keyword {
            Keyword::Use => Ok(Statement::Use(self.keyspace_name()?)),
            Keyword::Truncate => Ok(Statement::Truncate(self.truncate()?)),
            Keyword::Create => self.create(),
            Keyword::Alter => self.alter(),
            Keyword::Drop => self.drop_statement(),
            Keyword::Grant => self.grant(),
            Keyword::Revoke => self.revoke(),
            Keyword::List => self.list(),
            Keyword::Add => {
                self.expect_word(Keyword::Identity, "after ADD")?;
                Ok(Statement::AddIdentity(self.add_identity()?))
            }
            Keyword::Check => Ok(Statement::CheckProjection(self.check_projection(false)?)),
            Keyword::Repair => Ok(Statement::CheckProjection(self.check_projection(true)?)),
            Keyword::Pause => Ok(Statement::OrderJob(self.order_job(JobOrder::Pause)?)),
            Keyword::Resume => Ok(Statement::OrderJob(self.order_job(JobOrder::Resume)?)),
            Keyword::Cancel => Ok(Statement::OrderJob(self.order_job(JobOrder::Cancel)?)),
            Keyword::Explain => Ok(Statement::Explain(self.explain()?)),
            Keyword::Comment => Ok(Statement::SetNote(Box::new(self.set_note(false)?))),
            Keyword::Security => Ok(Statement::SetNote(Box::new(self.set_note(true)?))),
            _ => Ok(Statement::Describe(self.describe()?)),
        }
    }

    fn not_a_statement(&self) -> SyntaxError {
        const FIRST_WORDS: [&str; 16] = [
            "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "CREATE", "ALTER", "DROP", "TRUNCATE", "USE",
            "GRANT", "REVOKE", "LIST", "DESCRIBE", "EXPLAIN", "ADD",
        ];
        let word = self.text_of(self.token()).to_uppercase();
        if let Some(meant) = FIRST_WORDS.iter().find(|first| is_one_slip(&word, first)) {
            return self.no_viable(&format!("expected a statement; did you mean {meant}?"));
        }
        self.no_viable(
            "expected a statement, such as SELECT, INSERT, UPDATE, DELETE, BEGIN BATCH or CREATE TABLE",
        )
    }

    /// Something follows a whole statement.
    fn not_the_end(&self, statement: &Statement) -> SyntaxError {
        use Keyword::*;
        let before =
            self.at.checked_sub(1).and_then(|before| self.tokens.get(before)).map(|token| token.kind);
        let hint = match (statement, self.kind()) {
            _ if before == Some(TokenKind::Semicolon) => "only one statement is expected",
            (Statement::Select(_), TokenKind::Keyword(Where | Group | Order | Per | Limit | Allow)) => {
                "the clauses of a SELECT stand in this order: WHERE, GROUP BY, ORDER BY, PER PARTITION LIMIT, \
                 LIMIT, ALLOW FILTERING"
            }
            _ => "the statement is complete before this",
        };
        self.mismatched_hint(TokenKind::Eof, hint)
    }

    fn create(&mut self) -> Parse<Statement> {
        let or_replace = self.eat_words(&[Keyword::Or, Keyword::Replace]);
        if !or_replace && self.is_service_level() {
            return Ok(Statement::ServiceLevel(Box::new(self.create_service_level()?)));
        }
        let before = self.at;
        let TokenKind::Keyword(keyword) = self.bump().kind else { return Err(self.cannot("create", before)) };
        Ok(match keyword {
            Keyword::Function => Statement::CreateFunction(Box::new(self.create_function(or_replace)?)),
            Keyword::Aggregate => Statement::CreateAggregate(Box::new(self.create_aggregate(or_replace)?)),
            _ if or_replace => return Err(self.only_functions_are_replaced(before)),
            Keyword::Keyspace | Keyword::Schema => Statement::CreateKeyspace(self.create_keyspace()?),
            Keyword::Table => self.create_table_or_copy()?,
            Keyword::Type => Statement::CreateType(self.create_type()?),
            Keyword::Index => Statement::CreateIndex(Box::new(self.create_index(false)?)),
            Keyword::Custom => {
                self.expect_word(Keyword::Index, "after CUSTOM")?;
                Statement::CreateIndex(Box::new(self.create_index(true)?))
            }
            Keyword::Materialized => {
                self.expect_word(Keyword::View, "after MATERIALIZED")?;
                Statement::CreateView(Box::new(self.create_view()?))
            }
            Keyword::Projection => Statement::CreateView(Box::new(self.create_projection()?)),
            Keyword::Trigger => Statement::CreateTrigger(self.create_trigger()?),
            Keyword::Role => Statement::CreateRole(self.create_role(RoleKeyword::Role)?),
            Keyword::User => Statement::CreateRole(self.create_role(RoleKeyword::User)?),
            Keyword::Access => {
                self.expect_word(Keyword::Pattern, "after ACCESS")?;
                Statement::CreatePattern(Box::new(self.create_pattern()?))
            }
            _ => return Err(self.cannot("create", before)),
        })
    }

    fn alter(&mut self) -> Parse<Statement> {
        if self.is_service_level() {
            return Ok(Statement::ServiceLevel(Box::new(self.alter_service_level()?)));
        }
        let before = self.at;
        let TokenKind::Keyword(keyword) = self.bump().kind else { return Err(self.cannot("alter", before)) };
        Ok(match keyword {
            Keyword::Keyspace | Keyword::Schema => Statement::AlterKeyspace(self.alter_keyspace()?),
            Keyword::Table => Statement::AlterTable(self.alter_table()?),
            Keyword::Type => Statement::AlterType(self.alter_type()?),
            Keyword::Materialized => {
                self.expect_word(Keyword::View, "after MATERIALIZED")?;
                Statement::AlterView(self.alter_view()?)
            }
            Keyword::Access => {
                self.expect_word(Keyword::Pattern, "after ACCESS")?;
                Statement::AlterPattern(Box::new(self.alter_pattern()?))
            }
            Keyword::Job => Statement::OrderJob(self.alter_job()?),
            Keyword::Projection => Statement::AlterView(self.alter_view()?),
            Keyword::Role => Statement::AlterRole(self.alter_role(RoleKeyword::Role)?),
            Keyword::User => Statement::AlterRole(self.alter_role(RoleKeyword::User)?),
            _ => return Err(self.cannot("alter", before)),
        })
    }

    fn drop_statement(&mut self) -> Parse<Statement> {
        if self.is_service_level() {
            return Ok(Statement::ServiceLevel(Box::new(self.drop_service_level()?)));
        }
        let before = self.at;
        let TokenKind::Keyword(keyword) = self.bump().kind else { return Err(self.cannot("drop", before)) };
        Ok(match keyword {
            Keyword::Keyspace | Keyword::Schema => Statement::DropKeyspace(self.drop_keyspace()?),
            Keyword::Table => Statement::DropTable(self.drop_named("a table name")?),
            Keyword::Type => Statement::DropType(self.drop_type()?),
            Keyword::Index => Statement::DropIndex(self.drop_named("the name of an index")?),
            Keyword::Materialized => {
                self.expect_word(Keyword::View, "after MATERIALIZED")?;
                Statement::DropView(self.drop_named("a view name")?)
            }
            Keyword::Projection => Statement::DropView(self.drop_named("the name of a projection")?),
            Keyword::Function => Statement::DropFunction(self.drop_function()?),
            Keyword::Aggregate => Statement::DropAggregate(self.drop_function()?),
            Keyword::Trigger => Statement::DropTrigger(self.drop_trigger()?),
            Keyword::Role => Statement::DropRole(self.drop_role(RoleKeyword::Role)?),
            Keyword::User => Statement::DropRole(self.drop_role(RoleKeyword::User)?),
            Keyword::Identity => Statement::DropIdentity(self.drop_identity()?),
            Keyword::Access => {
                self.expect_word(Keyword::Pattern, "after ACCESS")?;
                Statement::DropPattern(self.drop_named("the name of an access pattern")?)
            }
            _ => return Err(self.cannot("drop", before)),
        })
    }

    /// The token at `before` names nothing that can be created, altered or dropped.
    fn cannot(&mut self, what: &str, before: usize) -> SyntaxError {
        self.at = before;
        let kinds = match what {
            "alter" => "KEYSPACE, TABLE, TYPE, MATERIALIZED VIEW, ROLE or USER",
            _ => "KEYSPACE, TABLE, TYPE, INDEX, MATERIALIZED VIEW or ROLE",
        };
        self.no_viable(&format!("expected what to {what}, such as {kinds}"))
    }

    fn only_functions_are_replaced(&mut self, before: usize) -> SyntaxError {
        self.at = before;
        self.no_viable("only a FUNCTION or an AGGREGATE can be replaced")
    }
}

/// Whether `word` is `meant` with one letter wrong, missing, doubled or swapped with its neighbour.
fn is_one_slip(word: &str, meant: &str) -> bool {
    let (word, meant) = (word.as_bytes(), meant.as_bytes());
    let same_start = word.iter().zip(meant).take_while(|(a, b)| a == b).count();
    let (word, meant) = (&word[same_start..], &meant[same_start..]);
    match (word, meant) {
        ([_, word @ ..], [_, meant @ ..]) if word == meant => true,
        ([_, rest @ ..], meant) if rest == meant => true,
        (word, [_, rest @ ..]) if word == rest => true,
        ([a, b, word @ ..], [c, d, meant @ ..]) => a == d && b == c && word == meant,
        _ => false,
    }
}
