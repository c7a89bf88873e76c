//! PartiQL statements to trees.

use super::keywords::is_keyword;
use super::lexer::{Kind, Token, tokens};
use super::statement::{Columns, Parsed, Returning, SelectStatement, WriteStatement};
use crate::error::ApiError;
use crate::expression::{
    Action, Comparison, Condition, Operand, Path, Step, Term, Update, judge_clause, meeting_paths,
};
use crate::messages::Rule;
use crate::shape::{table_name_faults, table_of};
use crate::value::{Type, Value};

/// Parentheses and literals within each other.
const DEPTH_MAX: usize = 100;
const IN_MAX: usize = 100;

type Done<T> = Result<T, ApiError>;

pub(super) fn parse(source: &str, parameters: &[Value]) -> Done<Parsed> {
    let mut parser =
        Parser { source, tokens: tokens(source), at: 0, depth: 0, parameters, next_parameter: 0 };
    // What cannot be read is told before anything that is wrong with the rest.
    if !parser.is_readable() {
        return Err(parser.malformed());
    }
    let parsed = parser.statement()?;
    parser.symbol(";");
    if parser.peek().kind != Kind::End {
        return Err(parser.malformed());
    }
    // An INSERT into a table of no such name finds none.
    let table = parsed.table();
    let wrong = !table_name_faults(table).is_empty() && table_of(table) == table;
    match wrong && !matches!(parsed, Parsed::Insert { .. }) {
        true => Err(Rule::StatementTableName.refuse(&[])),
        false => Ok(parsed),
    }
}

pub(super) struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    parameters: &'a [Value],
    next_parameter: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> &Token<'a> {
        &self.tokens[self.at]
    }

    pub(super) fn take(&mut self) -> Token<'a> {
        let token = self.peek().clone();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    pub(super) fn malformed(&self) -> ApiError {
        Rule::StatementMalformed.refuse(&[self.source])
    }

    /// Whether all of it is made of tokens, and every bracket is closed.
    fn is_readable(&self) -> bool {
        let mut open = Vec::new();
        for token in &self.tokens {
            match token.kind {
                Kind::Unreadable => return false,
                Kind::Symbol(symbol @ ("(" | "[" | "{")) => open.push(symbol),
                Kind::Symbol(close @ (")" | "]" | "}")) => {
                    let wanted = match close {
                        ")" => "(",
                        "]" => "[",
                        _ => "{",
                    };
                    if open.pop() != Some(wanted) {
                        return false;
                    }
                }
                _ => {}
            }
        }
        open.is_empty()
    }

    pub(super) fn symbol(&mut self, symbol: &'static str) -> bool {
        let found = self.peek().kind == Kind::Symbol(symbol);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, symbol: &'static str) -> Done<()> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.malformed()) }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Word && token.text.eq_ignore_ascii_case(word)
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect_word(&mut self, word: &str) -> Done<()> {
        if self.word(word) { Ok(()) } else { Err(self.malformed()) }
    }

    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        if self.depth == DEPTH_MAX {
            return Err(self.malformed());
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub(super) fn parameter(&mut self) -> Done<Value> {
        let value = self.parameters.get(self.next_parameter).cloned();
        self.next_parameter += 1;
        value.ok_or_else(|| Rule::StatementParameters.refuse(&[]))
    }

    fn statement(&mut self) -> Done<Parsed> {
        if self.word("SELECT") {
            return self.select().map(Parsed::Select);
        }
        if self.word("INSERT") {
            return self.insert();
        }
        if self.word("UPDATE") {
            return self.update();
        }
        if self.word("DELETE") {
            self.expect_word("FROM")?;
            let (table, _) = self.table()?;
            let condition = self.where_clause()?;
            let returning = self.returning()?;
            return Ok(Parsed::Delete(WriteStatement {
                table,
                condition,
                update: Update::default(),
                returning,
            }));
        }
        if self.word("EXISTS") {
            self.expect("(")?;
            self.expect_word("SELECT")?;
            let select = self.select()?;
            self.expect(")")?;
            return Ok(Parsed::Exists(select));
        }
        for (first, second, name) in [
            ("DROP", "TABLE", "DropTable"),
            ("CREATE", "TABLE", "CreateTable"),
            ("CREATE", "INDEX", "CreateIndex"),
        ] {
            let next =
                self.tokens.get(self.at + 1).is_some_and(|token| token.text.eq_ignore_ascii_case(second));
            if self.is_word(first) && next {
                return Err(ApiError::validation(format!("Unsupported operation: {name}")));
            }
        }
        Err(self.malformed())
    }

    fn name(&mut self) -> Done<String> {
        let token = self.take();
        match token.kind {
            Kind::Quoted(name) => Ok(name),
            Kind::Word if !is_keyword(token.text) => Ok(token.text.to_string()),
            _ => {
                self.at = self.at.saturating_sub(1);
                Err(self.malformed())
            }
        }
    }

    /// `t`, `"t"` or `"t"."index"`.
    fn table(&mut self) -> Done<(String, Option<String>)> {
        // FROM is never a name of its own.
        if self.is_word("FROM") {
            return Err(self.malformed());
        }
        let table = self.name()?;
        let index = if self.symbol(".") { Some(self.name()?) } else { None };
        if self.is_word("AS") || matches!(self.peek().kind, Kind::Quoted(_)) {
            return Err(Rule::StatementAlias.refuse(&[]));
        }
        Ok((table, index))
    }

    fn select(&mut self) -> Done<SelectStatement> {
        if self.is_word("DISTINCT") {
            return Err(ApiError::validation("Unsupported token in expression: DISTINCT"));
        }
        let columns = if self.symbol("*") { None } else { Some(self.columns()?) };
        self.expect_word("FROM")?;
        let (table, index) = self.table()?;
        let known = ["WHERE", "ORDER", "LIMIT", "GROUP", "HAVING", "OFFSET"];
        if self.peek().kind == Kind::Word && !known.iter().any(|word| self.is_word(word)) {
            return Err(Rule::StatementAlias.refuse(&[]));
        }
        if self.peek().kind == Kind::Symbol(",") {
            return Err(Rule::StatementOneTable.refuse(&[]));
        }
        let condition = self.where_clause()?;
        let order = self.order()?;
        for clause in ["LIMIT", "GROUP", "HAVING", "OFFSET"] {
            if self.is_word(clause) {
                let next = self.tokens.get(self.at + 1).unwrap_or_else(|| self.peek());
                let (line, column, length) = (next.line, next.column, next.text.chars().count());
                return Err(ApiError::validation(format!(
                    "Unsupported clause: {clause} at {line}:{column}:{length}"
                )));
            }
        }
        if !order.is_empty() && condition.is_none() {
            return Err(Rule::StatementOrderBy.refuse(&[]));
        }
        Ok(SelectStatement { table, index, columns, condition, order })
    }

    fn columns(&mut self) -> Done<Columns> {
        let mut columns = Vec::new();
        loop {
            let token = self.peek().clone();
            let call = token.kind == Kind::Word
                && self.tokens.get(self.at + 1).is_some_and(|next| next.kind == Kind::Symbol("("));
            if call || self.at_literal() {
                let place = [token.line, token.column, token.text.chars().count()].map(|n| n.to_string());
                return Err(Rule::StatementPath.refuse(&[&place[0], &place[1], &place[2]]));
            }
            if self.is_word("FROM") {
                return Err(self.malformed());
            }
            let path = self.path()?;
            if self.is_word("AS") {
                return Err(Rule::StatementAlias.refuse(&[]));
            }
            columns.push((Columns::name_of(&path), path));
            if !self.symbol(",") {
                return Ok(Columns(columns));
            }
        }
    }

    fn order(&mut self) -> Done<Vec<(String, bool)>> {
        let mut order = Vec::new();
        if !self.word("ORDER") {
            return Ok(order);
        }
        self.expect_word("BY")?;
        loop {
            let name = self.name()?;
            let descending = self.word("DESC");
            if !descending {
                self.word("ASC");
            }
            order.push((name, !descending));
            if !self.symbol(",") {
                return Ok(order);
            }
        }
    }

    fn insert(&mut self) -> Done<Parsed> {
        self.expect_word("INTO")?;
        let (table, _) = self.table()?;
        self.expect_word("VALUE")?;
        match self.literal()? {
            Value::M(item) => Ok(Parsed::Insert { table, item }),
            _ => Err(self.malformed()),
        }
    }

    fn update(&mut self) -> Done<Parsed> {
        let (table, _) = self.table()?;
        let mut actions: Vec<Action> = Vec::new();
        loop {
            if self.word("SET") {
                loop {
                    actions.push(self.assignment()?);
                    if !self.symbol(",") {
                        break;
                    }
                }
            } else if self.word("REMOVE") {
                loop {
                    actions.push(Action::Remove(self.path()?));
                    if !self.symbol(",") {
                        break;
                    }
                }
            } else {
                break;
            }
        }
        if actions.is_empty() {
            return Err(self.malformed());
        }
        let condition = self.where_clause()?;
        let returning = self.returning()?;
        let update = Update { actions, legacy: false };
        if let Some(text) = meeting_paths(&update) {
            return Err(ApiError::validation(text));
        }
        Ok(Parsed::Update(WriteStatement { table, condition, update, returning }))
    }

    fn assignment(&mut self) -> Done<Action> {
        let path = self.path()?;
        self.expect("=")?;
        for (function, add) in [("set_add", true), ("set_delete", false)] {
            if !self.is_call(function) {
                continue;
            }
            self.at += 2;
            let of = self.path()?;
            self.expect(",")?;
            let value = self.literal()?;
            self.expect(")")?;
            if of != path {
                let function = function.to_uppercase();
                let text = format!("The first argument to {function} must equal the assignment value");
                return Err(ApiError::validation(text));
            }
            return Ok(if add { Action::Add(path, value) } else { Action::Delete(path, value) });
        }
        let left = self.term()?;
        let term = if self.symbol("+") {
            Term::Add(Box::new(left), Box::new(self.term()?))
        } else if self.symbol("-") {
            Term::Subtract(Box::new(left), Box::new(self.term()?))
        } else {
            left
        };
        Ok(Action::Set(path, term))
    }

    fn is_call(&self, function: &str) -> bool {
        let named = match &self.peek().kind {
            Kind::Word => self.peek().text.eq_ignore_ascii_case(function),
            Kind::Quoted(name) => name == function,
            _ => false,
        };
        named && self.tokens.get(self.at + 1).is_some_and(|next| next.kind == Kind::Symbol("("))
    }

    fn term(&mut self) -> Done<Term> {
        if self.is_call("list_append") {
            self.at += 2;
            let first = self.nested(|parser| parser.term())?;
            self.expect(",")?;
            let second = self.nested(|parser| parser.term())?;
            self.expect(")")?;
            return Ok(Term::ListAppend(Box::new(first), Box::new(second)));
        }
        if self.is_call("if_not_exists") {
            self.at += 2;
            let path = self.path()?;
            self.expect(",")?;
            let otherwise = self.nested(|parser| parser.term())?;
            self.expect(")")?;
            return Ok(Term::IfNotExists(path, Box::new(otherwise)));
        }
        if self.symbol("(") {
            let term = self.nested(|parser| parser.term())?;
            self.expect(")")?;
            return Ok(term);
        }
        if self.at_literal() { self.literal().map(Term::Value) } else { self.path().map(Term::Path) }
    }

    fn returning(&mut self) -> Done<Option<Returning>> {
        if !self.word("RETURNING") {
            return Ok(None);
        }
        let all = self.word("ALL");
        if !all {
            self.expect_word("MODIFIED")?;
        }
        let old = self.word("OLD");
        if !old {
            self.expect_word("NEW")?;
        }
        if self.peek().kind != Kind::End && self.peek().kind != Kind::Symbol("*") {
            return Err(Rule::StatementReturning.refuse(&[]));
        }
        self.expect("*")?;
        Ok(Some(match (all, old) {
            (true, true) => Returning::AllOld,
            (true, false) => Returning::AllNew,
            (false, true) => Returning::ModifiedOld,
            (false, false) => Returning::ModifiedNew,
        }))
    }

    fn path(&mut self) -> Done<Path> {
        let name = self.name()?;
        let mut steps = Vec::new();
        loop {
            if self.symbol(".") {
                steps.push(Step::Name(self.name()?));
            } else if self.symbol("[") {
                let token = self.take();
                let index = match &token.kind {
                    Kind::Number => token.text.parse().ok().map(Step::Index),
                    Kind::Text(name) => Some(Step::Name(name.clone())),
                    _ => None,
                };
                steps.push(index.ok_or_else(|| self.malformed())?);
                self.expect("]")?;
            } else {
                let empty = |step: &Step| matches!(step, Step::Name(name) if name.is_empty());
                return match name.is_empty() || steps.iter().any(empty) {
                    true => Err(Rule::StatementEmptyPath.refuse(&[])),
                    false => Ok(Path { name, steps }),
                };
            }
        }
    }

    fn where_clause(&mut self) -> Done<Option<Condition>> {
        if !self.word("WHERE") {
            return Ok(None);
        }
        let condition = self.or()?;
        judge_clause(&condition)?;
        Ok(Some(condition))
    }

    fn or(&mut self) -> Done<Condition> {
        let mut all = vec![self.and()?];
        while self.word("OR") {
            all.push(self.and()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Condition::Or(all) })
    }

    fn and(&mut self) -> Done<Condition> {
        let mut all = vec![self.not()?];
        while self.word("AND") {
            all.push(self.not()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Condition::And(all) })
    }

    fn not(&mut self) -> Done<Condition> {
        if self.word("NOT") {
            return self.nested(|parser| parser.not()).map(|inner| Condition::Not(Box::new(inner)));
        }
        if self.peek().kind == Kind::Symbol("(") && !self.group_is_operand() {
            self.at += 1;
            let condition = self.nested(|parser| parser.or())?;
            self.expect(")")?;
            return Ok(condition);
        }
        self.predicate()
    }

    /// What follows the parenthesis that closes tells what it holds. Looking ahead, not back: trying both would double
    /// the work with every level.
    fn group_is_operand(&self) -> bool {
        let mut open = 0usize;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.kind {
                Kind::Symbol("(") => open += 1,
                Kind::Symbol(")") => {
                    open -= 1;
                    if open == 0 {
                        let Some(next) = self.tokens.get(at + 1) else { return false };
                        let word = |word: &str| next.text.eq_ignore_ascii_case(word);
                        return matches!(
                            next.kind,
                            Kind::Symbol("=" | "<>" | "!=" | "<" | "<=" | ">" | ">=")
                        ) || (next.kind == Kind::Word
                            && ["BETWEEN", "IN", "IS", "NOT"].into_iter().any(word));
                    }
                }
                _ => {}
            }
        }
        false
    }

    fn predicate(&mut self) -> Done<Condition> {
        if let Some(condition) = self.function()? {
            return Ok(condition);
        }
        let left = self.operand()?;
        let negated = self.word("NOT");
        let condition = if self.word("BETWEEN") {
            let low = self.operand()?;
            self.expect_word("AND")?;
            Condition::Between(left, low, self.operand()?)
        } else if self.word("IN") {
            self.in_list(left)?
        } else if negated {
            return Err(self.malformed());
        } else if self.word("IS") {
            return self.is(left);
        } else {
            return self.comparison(left);
        };
        Ok(if negated { Condition::Not(Box::new(condition)) } else { condition })
    }

    fn in_list(&mut self, left: Operand) -> Done<Condition> {
        let close = match self.take().kind {
            Kind::Symbol("[") => "]",
            Kind::Symbol("(") => ")",
            Kind::Symbol("<<") => ">>",
            _ => return Err(self.malformed()),
        };
        let mut list = Vec::new();
        loop {
            list.push(self.operand()?);
            if self.symbol(close) {
                break;
            }
            self.expect(",")?;
        }
        if list.len() > IN_MAX {
            let text = format!(
                "The IN operator is provided with too many operands; number of operands: {}",
                list.len()
            );
            return Err(ApiError::validation(text));
        }
        Ok(Condition::In(left, list))
    }

    /// Whether the next word goes on with the statement rather than with an operand.
    fn ends_clause(&self) -> bool {
        ["AND", "OR", "ORDER", "RETURNING", "LIMIT", "GROUP", "HAVING"].iter().any(|word| self.is_word(word))
    }

    fn comparison(&mut self, left: Operand) -> Done<Condition> {
        let comparison = match self.peek().kind {
            Kind::Symbol("=") => Comparison::Equal,
            Kind::Symbol("<>" | "!=") => Comparison::NotEqual,
            Kind::Symbol("<") => Comparison::Less,
            Kind::Symbol("<=") => Comparison::LessOrEqual,
            Kind::Symbol(">") => Comparison::Greater,
            Kind::Symbol(">=") => Comparison::GreaterOrEqual,
            Kind::Symbol(sign @ ("+" | "-" | "*" | "/" | "||")) => {
                let text = format!("Unsupported operator in Condition Expression. Operator: {sign}");
                return Err(ApiError::validation(text));
            }
            Kind::Word if !self.ends_clause() => return Err(self.malformed()),
            Kind::End | Kind::Word => {
                return Err(ApiError::validation(
                    "WHERE clause must contain an expression that resolves to a boolean",
                ));
            }
            _ => return Err(self.malformed()),
        };
        self.at += 1;
        let right = self.operand()?;
        if let Kind::Symbol(sign @ ("+" | "-" | "*" | "/" | "||")) = self.peek().kind {
            let text = format!("Unsupported operator in Condition Expression. Operator: {sign}");
            return Err(ApiError::validation(text));
        }
        Ok(Condition::Compare(comparison, left, right))
    }

    /// `IS [NOT] MISSING`, `NULL`, or the name of a type.
    fn is(&mut self, left: Operand) -> Done<Condition> {
        let Operand::Path(path) = left else { return Err(self.malformed()) };
        let negated = self.word("NOT");
        let token = self.take();
        let kind = match token.text.to_ascii_uppercase().as_str() {
            "MISSING" => {
                return Ok(if negated { Condition::Exists(path) } else { Condition::NotExists(path) });
            }
            "NULL" => Type::Null,
            "BOOLEAN" | "BOOL" => Type::Bool,
            "STRING" => Type::S,
            "NUMERIC" => Type::N,
            "BLOB" | "BINARY" => Type::B,
            "STRUCT" | "TUPLE" | "MAP" => Type::M,
            "LIST" => Type::L,
            _ => return Err(self.malformed()),
        };
        let condition = Condition::HasType(path, kind);
        Ok(if negated { Condition::Not(Box::new(condition)) } else { condition })
    }

    /// A call that is a condition.
    fn function(&mut self) -> Done<Option<Condition>> {
        for name in ["begins_with", "contains", "attribute_type", "attribute_exists", "attribute_not_exists"]
        {
            if !self.is_call(name) {
                continue;
            }
            self.at += 2;
            let first = self.operand()?;
            let second = if self.symbol(",") { Some(self.operand()?) } else { None };
            self.expect(")")?;
            return match (name, first, second) {
                ("begins_with", of, Some(prefix)) => Ok(Some(Condition::BeginsWith(of, prefix))),
                ("contains", of, Some(part)) => Ok(Some(Condition::Contains(of, part))),
                ("attribute_exists", Operand::Path(path), None) => Ok(Some(Condition::Exists(path))),
                ("attribute_not_exists", Operand::Path(path), None) => Ok(Some(Condition::NotExists(path))),
                ("attribute_type", Operand::Path(path), Some(Operand::Value(Value::S(kind)))) => {
                    let kind = Type::of_name(&kind).ok_or_else(|| self.malformed())?;
                    Ok(Some(Condition::HasType(path, kind)))
                }
                _ => Err(ApiError::validation(format!("Incorrect operands for function: {name}"))),
            };
        }
        let token = self.peek();
        let call = token.kind == Kind::Word
            && self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Kind::Symbol("("));
        if call && !self.is_call("size") && !self.is_word("NOT") {
            return Err(ApiError::validation(format!("Unrecognized function: {}", token.text)));
        }
        Ok(None)
    }

    fn operand(&mut self) -> Done<Operand> {
        if self.is_call("size") {
            self.at += 2;
            let of = self.nested(|parser| parser.operand())?;
            self.expect(")")?;
            return Ok(Operand::Size(Box::new(of)));
        }
        if self.symbol("(") {
            let inner = self.nested(|parser| parser.operand())?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.at_literal() { self.literal().map(Operand::Value) } else { self.path().map(Operand::Path) }
    }
}
