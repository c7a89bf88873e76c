//! SELECT.

use super::expr::Names;
use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind, IndexHints, Literal, Ordering, Select, Selection, Selector, SortOrder};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn select(&mut self) -> Parse<Select> {
        let start = self.start();
        self.expect_word(Keyword::Select, "to begin a SELECT")?;
        let json = self.eat_modifier(Keyword::Json);
        let distinct = self.eat_modifier(Keyword::Distinct);
        let selection = self.selection()?;
        self.expect_word(Keyword::From, "after what is selected")?;
        let table = self.table_name()?;
        let relations = self.where_clause()?;
        let group_by = self.group_by()?;
        let order_by = self.order_by()?;
        let per_partition_limit = if self.eat_words(&[Keyword::Per, Keyword::Partition]) {
            self.expect_word(Keyword::Limit, "after PER PARTITION")?;
            Some(self.int_value("after PER PARTITION LIMIT")?)
        } else {
            None
        };
        let limit = if self.eat_word(Keyword::Limit) { Some(self.int_value("after LIMIT")?) } else { None };
        let allow_filtering = self.allow_filtering()?;
        let bypass_cache = self.eat_words(&[Keyword::Bypass, Keyword::Cache]);
        let timeout = self.select_timeout()?;
        // WITH may also begin what follows a SELECT, as in an access pattern.
        let hint = self.text_of(self.token_at(1)).to_ascii_lowercase();
        let has_hints =
            self.is_word(Keyword::With) && matches!(hint.as_str(), "included_indexes" | "excluded_indexes");
        let hints = match has_hints {
            true => {
                self.bump();
                self.index_hints()?
            }
            false => IndexHints::default(),
        };
        let hints = (hints != IndexHints::default()).then_some(hints);
        Ok(Select {
            json,
            distinct,
            selection,
            table,
            relations,
            group_by,
            order_by,
            per_partition_limit,
            limit,
            allow_filtering,
            bypass_cache,
            timeout,
            hints,
            span: self.since(start),
        })
    }

    fn index_hints(&mut self) -> Parse<IndexHints> {
        let mut hints = IndexHints::default();
        let mut seen: Vec<String> = Vec::new();
        loop {
            let option = self.name("included_indexes or excluded_indexes")?;
            let slot = match option.name.as_str() {
                "included_indexes" => &mut hints.included,
                "excluded_indexes" => &mut hints.excluded,
                _ => {
                    return Err(
                        self.no_viable("a SELECT has the options included_indexes and excluded_indexes")
                    );
                }
            };
            if seen.contains(&option.name) {
                let message = format!("Multiple definitions for property '{}'", option.name);
                return Err(self.refused(option.span, message));
            }
            self.expect(TokenKind::Eq, "after the option")?;
            self.expect(TokenKind::LeftBrace, "before the names of indexes")?;
            if !self.is(TokenKind::RightBrace) {
                *slot = self.comma_list(|parser| parser.name("the name of an index"))?;
            }
            self.expect(TokenKind::RightBrace, "after the names of indexes")?;
            seen.push(option.name);
            if !self.eat_word(Keyword::And) {
                return Ok(hints);
            }
        }
    }

    /// JSON or DISTINCT, unless it is a column here: both may be names.
    fn eat_modifier(&mut self, keyword: Keyword) -> bool {
        let next = self.kind_at(1);
        let is_column = match next {
            TokenKind::Comma | TokenKind::Dot | TokenKind::Plus | TokenKind::Slash | TokenKind::Percent => {
                true
            }
            TokenKind::Keyword(Keyword::From) => true,
            // `json AS x` names a column, `JSON as FROM t` selects the column `as`.
            TokenKind::Keyword(Keyword::As) => is_name(self.kind_at(2)),
            _ => false,
        };
        !is_column && self.eat_word(keyword)
    }

    pub fn selection(&mut self) -> Parse<Selection> {
        if self.is(TokenKind::Star) {
            return Ok(Selection::All(self.bump().span()));
        }
        Ok(Selection::Items(self.comma_list(Self::selector)?))
    }

    fn selector(&mut self) -> Parse<Selector> {
        let start = self.start();
        if self.is_word(Keyword::From) {
            return Err(self.no_viable("expected a column, a function or '*' after SELECT"));
        }
        let expr = self.expr(Names::Columns)?;
        let alias = if self.eat_word(Keyword::As) { Some(self.name("a name after AS")?) } else { None };
        Ok(Selector { expr, alias, span: self.since(start) })
    }

    fn group_by(&mut self) -> Parse<Vec<Expr>> {
        if !self.eat_word(Keyword::Group) {
            return Ok(Vec::new());
        }
        self.expect_word(Keyword::By, "after GROUP")?;
        self.comma_list(|parser| parser.expr(Names::Columns))
    }

    fn order_by(&mut self) -> Parse<Vec<Ordering>> {
        if !self.eat_word(Keyword::Order) {
            return Ok(Vec::new());
        }
        self.expect_word(Keyword::By, "after ORDER")?;
        self.comma_list(Self::ordering)
    }

    fn ordering(&mut self) -> Parse<Ordering> {
        let start = self.start();
        let column = self.name("a column to order by")?;
        let ann_of = if self.eat_words(&[Keyword::Ann, Keyword::Of]) { Some(self.term()?) } else { None };
        let order = self.sort_order().unwrap_or_default();
        Ok(Ordering { column, ann_of, order, span: self.since(start) })
    }

    /// `[ASC|DESC]`
    pub fn sort_order(&mut self) -> Option<SortOrder> {
        if self.eat_word(Keyword::Asc) {
            return Some(SortOrder::Asc);
        }
        self.eat_word(Keyword::Desc).then_some(SortOrder::Desc)
    }

    fn allow_filtering(&mut self) -> Parse<Option<crate::Span>> {
        let start = self.start();
        if !self.eat_word(Keyword::Allow) {
            return Ok(None);
        }
        self.expect_word(Keyword::Filtering, "after ALLOW")?;
        Ok(Some(self.since(start)))
    }

    fn select_timeout(&mut self) -> Parse<Option<Expr>> {
        if !self.eat_word(Keyword::Using) {
            return Ok(None);
        }
        self.expect_word(Keyword::Timeout, "after USING in a SELECT")?;
        Ok(Some(self.timeout()?))
    }

    /// The value of TIMEOUT: a duration or a marker.
    pub fn timeout(&mut self) -> Parse<Expr> {
        let start = self.start();
        if self.is_marker() {
            let marker = self.marker()?;
            return Ok(Expr { kind: ExprKind::Marker(marker), span: self.since(start) });
        }
        let token = self.token();
        if token.kind != TokenKind::Duration {
            return Err(self.no_viable("expected a duration such as 500ms, or a bind marker, after TIMEOUT"));
        }
        self.bump();
        let literal = Literal::Duration(self.text_of(token).to_string());
        Ok(Expr { kind: ExprKind::Literal(literal), span: token.span() })
    }
}
