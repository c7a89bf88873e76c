//! `colliding-prefix`: in one table with several kinds of items, a prefix that also begins another kind.

use super::{Rule, on_operation, views};
use crate::dynamo::expression::Comparison;
use crate::dynamo::facts::{Entity, View};
use crate::dynamo::template::{Piece, Template};
use crate::dynamo::{Action, Operation, fix, meaning_of};
use crate::finding::{Findings, Severity};
use crate::rules::Context;
use crate::vocabulary::{Meaning, any_word, words};

pub static RULE: Rule = Rule {
    id: "colliding-prefix",
    title: "begins_with asks for one kind of item and also finds another",
    why: "In a table that holds several kinds of items the sort key's prefix is the kind. `begins_with(sk, 'ORDER')` finds ORDER#1 and ORDERITEM#1 \
          alike, and `begins_with(sk, 'ORDER#1')` finds ORDER#1 and ORDER#12. End every part with a delimiter, and ask with it.",
    bad: r##"{"tables": [{"table": "app", "hash": "PK", "range": "SK"}],
 "operations": [{"op": "PutItem", "table": "app", "item": {"PK": "USER#<user_id>", "SK": "ORDER#<order_id>"}},
  {"op": "PutItem", "table": "app", "item": {"PK": "USER#<user_id>", "SK": "ORDERITEM#<order_id>#<item_id>"}},
  {"op": "Query", "table": "app", "key": "PK = :p AND begins_with(SK, 'ORDER')"}]}"##,
    good: r##"{"tables": [{"table": "app", "hash": "PK", "range": "SK"}],
 "operations": [{"op": "PutItem", "table": "app", "item": {"PK": "USER#<user_id>", "SK": "ORDER#<order_id>"}},
  {"op": "PutItem", "table": "app", "item": {"PK": "USER#<user_id>", "SK": "ORDERITEM#<order_id>#<item_id>"}},
  {"op": "Query", "table": "app", "key": "PK = :p AND begins_with(SK, 'ORDER#')"}]}"##,
    seen: super::seen::GRAMMAR,
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let queries: Vec<&Operation> =
            view.operations.iter().copied().filter(|o| o.action == Action::Query).collect();
        if queries.is_empty() {
            continue;
        }
        let entities = view.entities();
        for query in queries {
            for term in query.key_terms().iter().filter(|t| t.comparison == Comparison::BeginsWith) {
                let Some(asked) = &term.value else { continue };
                let found =
                    fixed(&view, &entities, query, &term.attribute, asked).or_else(|| numbered(asked));
                let Some((severity, message)) = found else { continue };
                let message = format!("{}: {message}", query.title());
                let lines = [format!(
                    "End it with the delimiter: begins_with({}, \"{}#\").",
                    term.attribute,
                    asked.text.trim_end_matches('#')
                )];
                let span = query.key.as_ref().map(|k| k.span);
                findings
                    .push(on_operation(&RULE, severity, &view, query, span).say(message, fix::said(&lines)));
            }
        }
    }
}

/// The value that a kind of item has for a key attribute.
fn value_of<'m>(view: &View<'m>, entity: &Entity<'m>, attribute: &str) -> Option<&'m Template> {
    if attribute == view.table.hash.name {
        entity.hash
    } else if view.table.range.as_ref().is_some_and(|range| range.name == attribute) {
        entity.range
    } else {
        entity.attributes.iter().find(|(name, _)| *name == attribute).map(|(_, value)| *value)
    }
}

/// A constant prefix that goes on with letters in another kind of item.
fn fixed(
    view: &View<'_>,
    entities: &[Entity<'_>],
    query: &Operation,
    attribute: &str,
    asked: &Template,
) -> Option<(Severity, String)> {
    if !asked.is_constant() || asked.text.is_empty() || asked.text.ends_with(|c: char| !c.is_alphanumeric()) {
        return None;
    }
    let index = query.index.as_ref().and_then(|name| view.table.index(name));
    let hash_name = index.map_or(view.table.hash.name.as_str(), |i| i.hash.name.as_str());
    let asked_hash =
        query.key_terms().iter().find(|t| t.attribute == hash_name).and_then(|t| t.value.as_ref());
    let (mut meant, mut other): (Option<&str>, Option<&str>) = (None, None);
    for entity in entities {
        let Some(value) = value_of(view, entity, attribute) else { continue };
        let hash = value_of(view, entity, hash_name);
        if let (Some(asked), Some(has)) = (asked_hash, hash)
            && !asked.is_bare()
            && asked.prefix() != has.prefix()
        {
            continue;
        }
        let Some(rest) = value.prefix().strip_prefix(asked.text.as_str()) else { continue };
        match rest.chars().next() {
            Some(c) if c.is_alphanumeric() => other = other.or(Some(&value.text)),
            _ => meant = meant.or(Some(&value.text)),
        }
    }
    let (meant, other) = (meant?, other?);
    Some((
        Severity::Error,
        format!("the prefix {} asks for {meant} and also finds {other}, under the same hash key", asked.text),
    ))
}

/// A prefix that ends in a number: 1 also begins 12.
fn numbered(asked: &Template) -> Option<(Severity, String)> {
    let [.., Piece::Fixed(_), Piece::Hole(last)] = asked.pieces.as_slice() else { return None };
    let names = words(last);
    let is_number = meaning_of(&names, Some('N')) == Meaning::Sequence
        || any_word(&names, &["number", "no", "seq", "index", "version"]);
    let padded = last.contains("pad") || last.contains('0');
    (is_number && !padded).then(|| {
        (Severity::Warning, format!("the prefix {} ends in a number without a delimiter: asking for 1 also finds 10 to 19; unless numbers are padded to one length", asked.text))
    })
}
