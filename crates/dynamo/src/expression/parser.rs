//! Expressions to syntax trees: only what the grammar says. Names, functions and types are the checker's.

use super::lexer::{Kind, Token, Word, tokens};
use super::tree::Comparison;
use crate::error::ApiError;
use crate::messages::{Layer, Rule};

/// Bytes of an expression.
const BYTES_MAX: usize = 4096;
/// Groups and NOTs within each other. Each level that is not redundant has an operator, of which 300 are allowed.
const DEPTH_MAX: usize = 310;
const INDEX_MAX: u64 = i32::MAX as u64;

/// The parameter that an expression came in; messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionKind {
    Condition,
    Filter,
    Key,
    Update,
    Projection,
    Search,
}

impl ExpressionKind {
    pub fn name(self) -> &'static str {
        match self {
            ExpressionKind::Condition => "ConditionExpression",
            ExpressionKind::Filter => "FilterExpression",
            ExpressionKind::Key => "KeyConditionExpression",
            ExpressionKind::Update => "UpdateExpression",
            ExpressionKind::Projection => "ProjectionExpression",
            ExpressionKind::Search => "SearchConditionExpression",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum RawStep<'a> {
    /// A plain name or one behind `#`.
    Name(&'a str),
    Index(u32),
}

#[derive(Clone, Debug)]
pub(super) struct RawPath<'a> {
    pub steps: Vec<RawStep<'a>>,
}

#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    Path(RawPath<'a>),
    Value(&'a str),
    Call(&'a str, Vec<Node<'a>>),
    Group(Box<Node<'a>>),
    Compare(Comparison, Box<Node<'a>>, Box<Node<'a>>),
    Between(Box<[Node<'a>; 3]>),
    In(Box<Node<'a>>, Vec<Node<'a>>),
    Not(Box<Node<'a>>),
    And(Vec<Node<'a>>),
    Or(Vec<Node<'a>>),
    /// `+` or `-`, in updates only.
    Arithmetic(&'static str, Box<Node<'a>>, Box<Node<'a>>),
}

impl Node<'_> {
    fn is_operand(&self) -> bool {
        match self {
            Node::Path(_) | Node::Value(_) => true,
            Node::Group(inner) => inner.is_operand(),
            _ => false,
        }
    }

    /// May the node stand where an operand is wanted? A call always may; whether it should is the checker's question.
    fn may_be_operand(&self) -> bool {
        match self {
            Node::Path(_) | Node::Value(_) | Node::Call(..) => true,
            Node::Group(inner) => inner.may_be_operand(),
            _ => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct RawAction<'a> {
    pub word: Word,
    pub path: RawPath<'a>,
    /// None for REMOVE.
    pub value: Option<Node<'a>>,
}

#[derive(Debug)]
pub(super) struct RawUpdate<'a> {
    pub actions: Vec<RawAction<'a>>,
    /// The sections in their order.
    pub sections: Vec<Word>,
}

pub(super) struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    kind: ExpressionKind,
}

type Parsed<T> = Result<T, ApiError>;

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str, kind: ExpressionKind, layer: Layer) -> Parsed<Parser<'a>> {
        if source.is_empty() {
            return Err(Rule::ExpressionEmpty.refuse(&[kind.name()]));
        }
        if source.len() > BYTES_MAX {
            return Err(Rule::ExpressionSize.refuse_in(layer, &[kind.name(), &source.len().to_string()]));
        }
        Ok(Parser { source, tokens: tokens(source), at: 0, depth: 0, kind })
    }

    pub(super) fn condition(mut self) -> Parsed<Node<'a>> {
        let node = self.or()?;
        self.needs_condition(&node)?;
        self.end()?;
        Ok(node)
    }

    pub(super) fn projection(mut self) -> Parsed<Vec<RawPath<'a>>> {
        let mut paths = vec![self.path()?];
        while self.symbol(",") {
            paths.push(self.path()?);
        }
        self.end()?;
        Ok(paths)
    }

    pub(super) fn update(mut self) -> Parsed<RawUpdate<'a>> {
        let mut update = RawUpdate { actions: Vec::new(), sections: Vec::new() };
        loop {
            let Kind::Word(word @ (Word::Set | Word::Remove | Word::Add | Word::Delete)) = self.peek().kind
            else {
                return Err(self.syntax());
            };
            self.at += 1;
            update.sections.push(word);
            loop {
                update.actions.push(self.action(word)?);
                if !self.symbol(",") {
                    break;
                }
            }
            if self.peek().kind == Kind::End {
                return Ok(update);
            }
        }
    }

    fn action(&mut self, word: Word) -> Parsed<RawAction<'a>> {
        let path = self.path()?;
        let value = match word {
            Word::Set => {
                self.expect("=")?;
                Some(self.arithmetic()?)
            }
            Word::Remove => None,
            _ => match self.peek().kind {
                Kind::Value => Some(Node::Value(self.take().text)),
                _ => return Err(self.syntax()),
            },
        };
        Ok(RawAction { word, path, value })
    }

    /// What SET assigns: one sum or difference of terms; it may stand in parentheses.
    fn arithmetic(&mut self) -> Parsed<Node<'a>> {
        let left = if self.peek().kind == Kind::Symbol("(") {
            self.group(false, |parser| parser.arithmetic())?
        } else {
            self.term()?
        };
        let sign = match self.peek().kind {
            Kind::Symbol(sign @ ("+" | "-")) if left.may_be_operand() => sign,
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.term()?;
        Ok(Node::Arithmetic(sign, Box::new(left), Box::new(right)))
    }

    /// An operand: a path, a value, a call, or one of them in parentheses.
    fn term(&mut self) -> Parsed<Node<'a>> {
        match self.peek().kind {
            Kind::Symbol("(") => self.group(false, |parser| parser.term()),
            Kind::Value => Ok(Node::Value(self.take().text)),
            Kind::Identifier if self.tokens[self.at + 1].kind == Kind::Symbol("(") => self.call(),
            _ => self.path().map(Node::Path),
        }
    }

    fn call(&mut self) -> Parsed<Node<'a>> {
        let name = self.take().text;
        self.at += 1;
        let mut operands = vec![self.nested(|parser| parser.term())?];
        while self.symbol(",") {
            operands.push(self.nested(|parser| parser.term())?);
        }
        self.expect(")")?;
        Ok(Node::Call(name, operands))
    }

    fn or(&mut self) -> Parsed<Node<'a>> {
        let first = self.and()?;
        if self.peek().kind != Kind::Word(Word::Or) {
            return Ok(first);
        }
        self.needs_condition(&first)?;
        let mut all = vec![first];
        while self.word(Word::Or) {
            let next = self.and()?;
            self.needs_condition(&next)?;
            all.push(next);
        }
        Ok(Node::Or(all))
    }

    fn and(&mut self) -> Parsed<Node<'a>> {
        let first = self.not()?;
        if self.peek().kind != Kind::Word(Word::And) {
            return Ok(first);
        }
        self.needs_condition(&first)?;
        let mut all = vec![first];
        while self.word(Word::And) {
            let next = self.not()?;
            self.needs_condition(&next)?;
            all.push(next);
        }
        Ok(Node::And(all))
    }

    fn not(&mut self) -> Parsed<Node<'a>> {
        if !self.word(Word::Not) {
            return self.comparison();
        }
        let inner = self.nested(|parser| parser.not())?;
        self.needs_condition(&inner)?;
        Ok(Node::Not(Box::new(inner)))
    }

    /// A comparison, a call, a group, or a lone operand if a group around it may close next.
    fn comparison(&mut self) -> Parsed<Node<'a>> {
        let left = match self.peek().kind {
            Kind::Symbol("(") => self.group(true, |parser| parser.or())?,
            _ => self.term()?,
        };
        if !left.may_be_operand() {
            return Ok(left);
        }
        let comparison = match self.peek().kind {
            Kind::Symbol("=") => Comparison::Equal,
            Kind::Symbol("<>") => Comparison::NotEqual,
            Kind::Symbol("<") => Comparison::Less,
            Kind::Symbol("<=") => Comparison::LessOrEqual,
            Kind::Symbol(">") => Comparison::Greater,
            Kind::Symbol(">=") => Comparison::GreaterOrEqual,
            Kind::Word(Word::Between) => return self.between(left),
            Kind::Word(Word::In) => return self.in_list(left),
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.term()?;
        Ok(Node::Compare(comparison, Box::new(left), Box::new(right)))
    }

    fn between(&mut self, of: Node<'a>) -> Parsed<Node<'a>> {
        self.at += 1;
        let low = self.term()?;
        if !self.word(Word::And) {
            return Err(self.syntax());
        }
        let high = self.term()?;
        Ok(Node::Between(Box::new([of, low, high])))
    }

    fn in_list(&mut self, of: Node<'a>) -> Parsed<Node<'a>> {
        self.at += 1;
        self.expect("(")?;
        let mut list = vec![self.term()?];
        while self.symbol(",") {
            list.push(self.term()?);
        }
        self.expect(")")?;
        Ok(Node::In(Box::new(of), list))
    }

    /// `is_condition`: where a condition is wanted, or an operand that a comparison follows.
    fn group(
        &mut self,
        is_condition: bool,
        inner: impl FnOnce(&mut Self) -> Parsed<Node<'a>>,
    ) -> Parsed<Node<'a>> {
        self.expect("(")?;
        let node = self.nested(inner)?;
        self.expect(")")?;
        if matches!(node, Node::Group(_)) {
            // A group counts once what follows it may follow it: an operand is not yet a condition.
            if is_condition && node.is_operand() && !self.goes_on_with_operand() {
                return Err(self.syntax());
            }
            return Err(Rule::RedundantParentheses.refuse(&[self.kind.name()]));
        }
        Ok(Node::Group(Box::new(node)))
    }

    /// Whether what comes next can follow an operand where a condition is wanted.
    fn goes_on_with_operand(&self) -> bool {
        match self.peek().kind {
            Kind::Symbol("=" | "<>" | "<" | "<=" | ">" | ">=") => true,
            Kind::Word(Word::Between | Word::In) => true,
            // The end of a group around it.
            Kind::Symbol(")") => self.depth > 0,
            _ => false,
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH_MAX {
            return Err(Rule::TooManyOperators.refuse(&[self.kind.name(), &DEPTH_MAX.to_string()]));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn path(&mut self) -> Parsed<RawPath<'a>> {
        let mut steps = vec![self.name()?];
        loop {
            if self.symbol(".") {
                steps.push(self.name()?);
            } else if self.symbol("[") {
                if self.peek().kind != Kind::Digits {
                    return Err(self.syntax());
                }
                let digits = self.take().text;
                self.expect("]")?;
                let index = digits.parse().ok().filter(|index: &u64| *index <= INDEX_MAX);
                let Some(index) = index else {
                    return Err(Rule::IndexRange.refuse(&[self.kind.name(), digits]));
                };
                steps.push(RawStep::Index(index as u32));
            } else {
                return Ok(RawPath { steps });
            }
        }
    }

    fn name(&mut self) -> Parsed<RawStep<'a>> {
        match self.peek().kind {
            Kind::Identifier | Kind::Name => Ok(RawStep::Name(self.take().text)),
            _ => Err(self.syntax()),
        }
    }

    fn peek(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    /// Never past the last token, which is `End`.
    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn symbol(&mut self, symbol: &'static str) -> bool {
        let found = self.peek().kind == Kind::Symbol(symbol);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: Word) -> bool {
        let found = self.peek().kind == Kind::Word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Parsed<()> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.syntax()) }
    }

    fn end(&self) -> Parsed<()> {
        if self.peek().kind == Kind::End { Ok(()) } else { Err(self.syntax()) }
    }

    /// An operand alone is no condition: what follows it is wrong.
    fn needs_condition(&self, node: &Node<'_>) -> Parsed<()> {
        if node.is_operand() { Err(self.syntax()) } else { Ok(()) }
    }

    /// The token at hand is wrong; the message shows it with its neighbours.
    fn syntax(&self) -> ApiError {
        let token = self.peek();
        let text = if token.kind == Kind::End { "<EOF>" } else { token.text };
        let from = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].start);
        let to = match self.tokens.get(self.at + 1) {
            Some(next) if next.kind != Kind::End => next.start + next.text.len(),
            _ => self.source.len(),
        };
        Rule::ExpressionSyntax.refuse(&[self.kind.name(), text, &self.source[from..to]])
    }
}
