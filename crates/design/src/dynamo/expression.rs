//! DynamoDB's expressions, as far as a review needs them: which attributes are compared how, and which are changed how.

use super::template::Template;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Range,
    BeginsWith,
    Contains,
    NotEqual,
    In,
    Exists,
    NotExists,
    Other,
}

/// One comparison of an attribute.
#[derive(Debug, Clone)]
pub struct Term {
    pub attribute: String,
    pub comparison: Comparison,
    pub value: Option<Template>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Set,
    Append,
    Increment,
    Decrement,
    Remove,
    Add,
    DeleteFrom,
}

/// One change of an attribute.
#[derive(Debug, Clone)]
pub struct Change {
    pub attribute: String,
    /// The last name of its path: `attachments` of `payload.attachments`.
    pub leaf: String,
    pub kind: ChangeKind,
    pub value: Option<Template>,
}

/// What `#name` and `:value` stand for.
#[derive(Debug, Default)]
pub struct Bindings {
    pub names: HashMap<String, String>,
    pub values: HashMap<String, Template>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(String),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_whitespace() {
            c.len_utf8()
        } else if c == '\'' || c == '"' {
            let inside = &rest[1..];
            let end = inside.find(c).unwrap_or(inside.len());
            out.push(Token::Text(inside[..end].to_string()));
            (end + 2).min(rest.len())
        } else if is_word(c) {
            let end =
                rest.find(|c: char| !is_word(c) && !matches!(c, '.' | '[' | ']' | '-')).unwrap_or(rest.len());
            out.push(Token::Word(rest[..end].to_string()));
            end
        } else {
            let two = ["<=", ">=", "<>", "!=", "=="].iter().find(|sign| rest.starts_with(**sign));
            let sign = two.map_or_else(|| c.to_string(), |sign| (*sign).to_string());
            let length = sign.len();
            out.push(Token::Sign(sign));
            length
        };
        rest = &rest[length..];
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '#' | ':' | '$' | '?')
}

impl Bindings {
    fn name(&self, word: &str) -> String {
        // `#m.#c` and `a.b[0]`: the attribute is the first.
        let first = word.split(['.', '[']).next().unwrap_or(word);
        let known = self.names.get(first).or_else(|| self.names.get(first.trim_start_matches('#')));
        known.cloned().unwrap_or_else(|| first.trim_start_matches('#').to_string())
    }

    fn value(&self, token: &Token) -> Option<Template> {
        match token {
            Token::Text(text) => Some(Template::read(text)),
            Token::Word(word) if word.starts_with(':') => {
                let known = self.values.get(word).or_else(|| self.values.get(word.trim_start_matches(':')));
                Some(known.cloned().unwrap_or_else(|| Template::read(word)))
            }
            Token::Word(word) if word == "?" || word.starts_with(|c: char| c.is_ascii_digit()) => {
                Some(Template::read(word))
            }
            Token::Word(word) if matches!(word.as_str(), "true" | "false") => Some(Template::read(word)),
            _ => None,
        }
    }

    /// The comparisons of a condition, and whether any are joined by OR.
    pub fn terms(&self, text: &str) -> (Vec<Term>, bool) {
        let tokens = tokens(text);
        let is = |at: usize, word: &str| matches!(tokens.get(at), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word));
        let sign = |at: usize, text: &str| matches!(tokens.get(at), Some(Token::Sign(s)) if s == text);
        let mut terms: Vec<Term> = Vec::new();
        let mut has_or = false;
        let mut at = 0;
        while at < tokens.len() {
            let Some(Token::Word(word)) = tokens.get(at) else {
                at += 1;
                continue;
            };
            has_or |= word.eq_ignore_ascii_case("or");
            if ["and", "or", "not"].iter().any(|w| word.eq_ignore_ascii_case(w)) {
                at += 1;
                continue;
            }
            if sign(at + 1, "(") && !is(at, "in") {
                let comparison = match word.to_ascii_lowercase().as_str() {
                    "begins_with" => Comparison::BeginsWith,
                    "contains" => Comparison::Contains,
                    "attribute_exists" => Comparison::Exists,
                    "attribute_not_exists" => Comparison::NotExists,
                    _ => Comparison::Other,
                };
                if let Some(Token::Word(attribute)) = tokens.get(at + 2) {
                    let value =
                        if sign(at + 3, ",") { tokens.get(at + 4).and_then(|t| self.value(t)) } else { None };
                    terms.push(Term { attribute: self.name(attribute), comparison, value });
                }
                while at < tokens.len() && !sign(at, ")") {
                    at += 1;
                }
                // `size(a) > :n`: the comparison belongs to the function.
                if matches!(tokens.get(at + 1), Some(Token::Sign(s)) if s != "(" && s != ")") {
                    at += 2;
                }
                at += 1;
                continue;
            }
            let attribute = self.name(word);
            if is(at + 1, "between") {
                let value = tokens.get(at + 2).and_then(|t| self.value(t));
                terms.push(Term { attribute, comparison: Comparison::Range, value });
                at += 5;
                continue;
            }
            if is(at + 1, "in") {
                terms.push(Term { attribute, comparison: Comparison::In, value: None });
                while at < tokens.len() && !sign(at, ")") {
                    at += 1;
                }
                continue;
            }
            let comparison = match tokens.get(at + 1) {
                Some(Token::Sign(s)) if s == "=" || s == "==" => Comparison::Equal,
                Some(Token::Sign(s)) if matches!(s.as_str(), "<" | ">" | "<=" | ">=") => Comparison::Range,
                Some(Token::Sign(s)) if s == "<>" || s == "!=" => Comparison::NotEqual,
                _ => {
                    at += 1;
                    continue;
                }
            };
            let value = tokens.get(at + 2).and_then(|t| self.value(t));
            terms.push(Term { attribute, comparison, value });
            at += 3;
        }
        (terms, has_or)
    }

    /// The changes of an update expression.
    pub fn changes(&self, text: &str) -> Vec<Change> {
        let tokens = tokens(text);
        let mut changes: Vec<Change> = Vec::new();
        let mut clause = "set".to_string();
        let mut part: Vec<&Token> = Vec::new();
        let mut open = 0_i32;
        let is_clause =
            |w: &str| ["set", "remove", "add", "delete"].contains(&w.to_ascii_lowercase().as_str());
        for token in &tokens {
            match token {
                Token::Word(word) if open == 0 && is_clause(word) => {
                    changes.extend(self.change(&clause, &part));
                    part.clear();
                    clause = word.to_ascii_lowercase();
                    continue;
                }
                Token::Sign(sign) if sign == "," && open == 0 => {
                    changes.extend(self.change(&clause, &part));
                    part.clear();
                    continue;
                }
                Token::Sign(sign) if sign == "(" => open += 1,
                Token::Sign(sign) if sign == ")" => open -= 1,
                _ => {}
            }
            part.push(token);
        }
        changes.extend(self.change(&clause, &part));
        changes
    }

    fn change(&self, clause: &str, part: &[&Token]) -> Option<Change> {
        let Some(Token::Word(first)) = part.first() else { return None };
        let attribute = self.name(first);
        let last = first.split('.').next_back().unwrap_or(first);
        let leaf = self.name(last);
        let has = |sign: &str| part.iter().any(|t| matches!(t, Token::Sign(s) if s == sign));
        let calls =
            |name: &str| part.iter().any(|t| matches!(t, Token::Word(w) if w.eq_ignore_ascii_case(name)));
        // `a = a + :n`, also `if_not_exists(a, :zero) + :n`: computed by the server from what is there.
        let own = part.iter().skip(1).any(|t| matches!(t, Token::Word(w) if self.name(w) == attribute));
        let kind = match clause {
            "remove" => ChangeKind::Remove,
            "add" => ChangeKind::Add,
            "delete" => ChangeKind::DeleteFrom,
            _ if calls("list_append") => ChangeKind::Append,
            _ if has("+") && own => ChangeKind::Increment,
            _ if has("-") && own => ChangeKind::Decrement,
            _ => ChangeKind::Set,
        };
        let value = part.iter().skip(1).find_map(|t| self.value(t));
        Some(Change { attribute, leaf, kind, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_in_their_parts() {
        let mut bindings = Bindings::default();
        bindings.names.insert("#s".into(), "status".into());
        bindings.values.insert(":s".into(), Template::read("ORDER#"));
        let (terms, has_or) = bindings.terms("pk = :p AND begins_with(sk, :s)");
        assert!(!has_or && terms.len() == 2);
        assert_eq!(terms[0].comparison, Comparison::Equal);
        assert_eq!((terms[1].attribute.as_str(), terms[1].comparison), ("sk", Comparison::BeginsWith));
        assert_eq!(terms[1].value.as_ref().map(|v| v.text.as_str()), Some("ORDER#"));
        let (terms, has_or) = bindings.terms("(#s = :x OR at BETWEEN :a AND :b) AND NOT contains(tags, 'x') and size(l) > :n and k in (:a, :b)");
        assert!(has_or);
        let shown: Vec<(&str, Comparison)> =
            terms.iter().map(|t| (t.attribute.as_str(), t.comparison)).collect();
        assert_eq!(
            shown,
            [
                ("status", Comparison::Equal),
                ("at", Comparison::Range),
                ("tags", Comparison::Contains),
                ("l", Comparison::Other),
                ("k", Comparison::In)
            ]
        );
        for odd in ["", "=", "a", "a =", "f(", "a between", "in (", "'", "\"", "a.b[", "🦀 = :x"] {
            let _ = bindings.terms(odd);
            let _ = bindings.changes(odd);
        }
    }

    #[test]
    fn updates_are_read_in_their_parts() {
        let changes = Bindings::default().changes(
            "SET #l = list_append(if_not_exists(#l, :e), :x), stock = stock - :n, a.b = :v REMOVE gone ADD total :one DELETE tags :t",
        );
        let shown: Vec<(&str, ChangeKind)> = changes.iter().map(|c| (c.attribute.as_str(), c.kind)).collect();
        assert_eq!(
            shown,
            [
                ("l", ChangeKind::Append),
                ("stock", ChangeKind::Decrement),
                ("a", ChangeKind::Set),
                ("gone", ChangeKind::Remove),
                ("total", ChangeKind::Add),
                ("tags", ChangeKind::DeleteFrom)
            ]
        );
    }
}
