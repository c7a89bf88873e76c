//! Relations on the same columns, merged; what contradicts or repeats is refused.

use super::indexes::supports_test;
use super::relation::{BoundRelation, BoundSubject, Test};
use super::{Rules, StatementKind};
use crate::CqlError;
use query::expr::Expr;
use query::restrict::{Item, RangeBound, Terms, TokenRange};
use schema::{Column, ColumnKind, Table};
use std::collections::BTreeMap;
use store::Comparison;

/// Everything that is said about one column, or about the columns from one on.
#[derive(Debug, Default)]
pub struct Restriction {
    /// Columns covered, from the first; more than one for a tuple.
    pub columns: Vec<Column>,
    /// Written as a tuple.
    pub tuple: bool,
    pub among: Option<Terms>,
    pub start: Option<RangeBound>,
    pub end: Option<RangeBound>,
    /// NOT IN on clustering columns, each with the number of columns it is on.
    pub except: Vec<(usize, Terms)>,
    /// CONTAINS, `!=` and the like, each with the number of columns it is on.
    pub others: Vec<(usize, Comparison, Terms)>,
}

impl Restriction {
    pub fn is_range(&self) -> bool {
        self.start.is_some() || self.end.is_some() || !self.except.is_empty()
    }
}

/// All relations of a clause by what they are about.
pub struct Merged<'a> {
    table: &'a Table,
    rules: Rules,
    pub tokens: TokenRange,
    pub on_token: bool,
    on_token_equal: bool,
    /// By position in the partition key.
    pub partition: BTreeMap<usize, Restriction>,
    /// By position of the first column.
    pub clustering: BTreeMap<usize, Restriction>,
    /// Static and regular columns, in order of first mention.
    pub others: Vec<Restriction>,
    /// Map entries and fields.
    pub parts: Vec<(Column, Expr, Test)>,
}

impl<'a> Merged<'a> {
    pub fn new(table: &'a Table, rules: Rules) -> Merged<'a> {
        Merged {
            table,
            rules,
            tokens: TokenRange::default(),
            on_token: false,
            on_token_equal: false,
            partition: BTreeMap::new(),
            clustering: BTreeMap::new(),
            others: Vec::new(),
            parts: Vec::new(),
        }
    }

    pub fn add(&mut self, relation: BoundRelation) -> Result<(), CqlError> {
        match relation.subject {
            BoundSubject::Token => self.add_token(relation.test),
            BoundSubject::Part(column, part) => {
                self.parts.push((column, part, relation.test));
                Ok(())
            }
            BoundSubject::Tuple(columns) => self.add_clustering(columns, true, relation.test),
            BoundSubject::Column(column) => match column.kind {
                ColumnKind::PartitionKey => {
                    let at = column.position;
                    merge_into(
                        self.partition.entry(at).or_default(),
                        vec![column],
                        false,
                        false,
                        relation.test,
                    )
                }
                ColumnKind::Clustering => self.add_clustering(vec![column], false, relation.test),
                ColumnKind::Static | ColumnKind::Regular => {
                    let at = self.others.iter().position(|r| r.columns.iter().any(|c| c.id == column.id));
                    let at = at.unwrap_or_else(|| {
                        self.others.push(Restriction::default());
                        self.others.len() - 1
                    });
                    merge_into(&mut self.others[at], vec![column], false, false, relation.test)
                }
            },
        }
    }

    fn add_token(&mut self, test: Test) -> Result<(), CqlError> {
        self.on_token = true;
        let names: Vec<&str> = self.table.partition_key.iter().map(|c| &*c.name).collect();
        let names = names.join(", ");
        let only = |item: Item| match item {
            Item::Parts(parts) => parts.into_iter().next(),
            Item::Tuple(expr) => Some(expr),
        };
        let twice = |what: &str| {
            CqlError::invalid(format!("More than one restriction was found for the {what} bound on {names}"))
        };
        let equal = matches!(test, Test::Among(_));
        if self.on_token_equal || (equal && !self.tokens.is_all()) {
            let text =
                format!("{names} cannot be restricted by more than one relation if it includes an Equal");
            return Err(CqlError::invalid(text));
        }
        match test {
            Test::Among(Terms::One(item)) => {
                self.on_token_equal = true;
                let value = only(item).map(|expr| (expr, true));
                self.tokens = TokenRange { start: value.clone(), end: value };
            }
            Test::Bound { start, inclusive, item } => {
                let slot = if start { &mut self.tokens.start } else { &mut self.tokens.end };
                if slot.is_some() {
                    return Err(twice(if start { "start" } else { "end" }));
                }
                *slot = only(item).map(|expr| (expr, inclusive));
            }
            Test::Among(_) | Test::Other(..) => {
                return Err(CqlError::invalid("The token function accepts only =, <, <=, > and >="));
            }
        }
        Ok(())
    }

    fn add_clustering(&mut self, columns: Vec<Column>, tuple: bool, test: Test) -> Result<(), CqlError> {
        let Some(first) = columns.first().map(|c| c.position) else { return Ok(()) };
        self.check_overlap(&columns, &test)?;
        // What the columns already have to say comes first, then the order of the columns.
        let out_of_order = self.check_order(&columns, &test);
        let least = self.rules.kind == StatementKind::Select && !tuple;
        let known = self.clustering.entry(first).or_default();
        let test = match test {
            // What is excluded makes ranges of the rest, unless the column has its values already.
            Test::Other(Comparison::NotIn, terms) if known.among.is_none() => {
                known.except.push((columns.len(), terms));
                known.tuple |= tuple;
                if columns.len() > known.columns.len() {
                    known.columns = columns;
                }
                return out_of_order;
            }
            test => test,
        };
        merge_into(self.clustering.entry(first).or_default(), columns, tuple, least, test)?;
        out_of_order
    }

    /// Relations that share columns must start with the same one.
    fn check_overlap(&self, columns: &[Column], test: &Test) -> Result<(), CqlError> {
        let start = |columns: &[Column]| columns.first().map(|c| c.position);
        for other in self.clustering.values() {
            let names = in_common(&other.columns, columns);
            let only_filters =
                matches!(test, Test::Other(..)) || (other.among.is_none() && !other.is_range());
            if names.is_empty() || only_filters || start(&other.columns) == start(columns) {
                continue;
            }
            return Err(CqlError::Invalid(match (&other.among, test) {
                (Some(terms), _) => format!(
                    "{names} cannot be restricted by more than one relation if it includes {}",
                    equality_name(terms)
                ),
                (None, Test::Bound { .. }) => format!(
                    "Column \"{names}\" cannot be restricted by two inequalities not starting with the same column"
                ),
                (None, _) => format!(
                    "Column \"{names}\" cannot be restricted by both an equality and an inequality relation"
                ),
            }));
        }
        Ok(())
    }

    /// Without filtering nothing may follow a range.
    fn check_order(&self, columns: &[Column], test: &Test) -> Result<(), CqlError> {
        let filtering = match self.rules.kind {
            StatementKind::Select => self.rules.allow_filtering || supports_test(self.table, columns, test),
            StatementKind::View => true,
            StatementKind::Update | StatementKind::Delete => false,
        };
        let Some((&last_at, last)) = self.clustering.last_key_value().filter(|_| !filtering) else {
            return Ok(());
        };
        let first = columns.first().map_or(0, |c| c.position);
        let name = |columns: &[Column]| columns.first().map_or(String::new(), |c| c.name.to_string());
        if last.is_range() && first > last_at {
            return Err(CqlError::invalid(format!(
                "Clustering column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ \
                 relation)",
                name(columns),
                name(&last.columns)
            )));
        }
        let is_range = matches!(test, Test::Bound { .. } | Test::Other(Comparison::NotIn, _));
        if first < last_at && is_range {
            let next = self.clustering.range(first + 1..).next();
            let next = next.map_or(String::new(), |(_, r)| name(&r.columns));
            return Err(CqlError::invalid(format!(
                "PRIMARY KEY column \"{next}\" cannot be restricted (preceding column \"{}\" is restricted by a \
                 non-EQ relation)",
                name(columns)
            )));
        }
        Ok(())
    }
}

/// The names of the columns that two relations share.
fn in_common(a: &[Column], b: &[Column]) -> String {
    let shared = a.iter().filter(|c| b.iter().any(|other| other.id == c.id));
    shared.map(|c| &*c.name).collect::<Vec<_>>().join(",")
}

/// An IN with one alternative is an equality.
fn equality_name(terms: &Terms) -> &'static str {
    if terms.is_equality() { "an Equal" } else { "a IN" }
}

fn merge_into(
    into: &mut Restriction,
    columns: Vec<Column>,
    tuple: bool,
    null_is_least: bool,
    test: Test,
) -> Result<(), CqlError> {
    let names = match into.columns.is_empty() {
        true => columns.iter().map(|c| &*c.name).collect::<Vec<_>>().join(", "),
        false => in_common(&into.columns, &columns),
    };
    let refuse = |text: String| Err(CqlError::Invalid(text));
    match test {
        Test::Other(op, terms) => {
            let contains = matches!(op, Comparison::Contains | Comparison::ContainsKey);
            if let Some(existing) = into.among.as_ref().filter(|_| contains) {
                let how = equality_name(existing);
                return refuse(format!(
                    "{names} cannot be restricted by more than one relation if it includes {how}"
                ));
            }
            if contains && into.is_range() {
                return refuse(format!(
                    "Collection column {names} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality"
                ));
            }
            into.others.push((columns.len(), op, terms));
        }
        Test::Among(terms) => {
            if let Some(existing) = &into.among {
                let how = equality_name(existing);
                return refuse(format!(
                    "{names} cannot be restricted by more than one relation if it includes {how}"
                ));
            }
            if into.is_range() {
                return refuse(format!(
                    "Column \"{names}\" cannot be restricted by both an equality and an inequality relation"
                ));
            }
            if into
                .others
                .iter()
                .any(|(_, op, _)| matches!(op, Comparison::Contains | Comparison::ContainsKey))
            {
                return refuse(format!(
                    "Collection column {names} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality"
                ));
            }
            into.among = Some(terms);
        }
        Test::Bound { start, inclusive, item } => {
            if let Some(existing) = &into.among {
                let how = equality_name(existing);
                return refuse(format!(
                    "{names} cannot be restricted by more than one relation if it includes {how}"
                ));
            }
            let (slot, what) = match start {
                true => (&mut into.start, "start"),
                false => (&mut into.end, "end"),
            };
            if slot.is_some() {
                return refuse(format!(
                    "More than one restriction was found for the {what} bound on {names}"
                ));
            }
            *slot = Some(RangeBound { columns: columns.len(), item, inclusive, null_is_least });
        }
    }
    into.tuple |= tuple;
    if columns.len() > into.columns.len() {
        into.columns = columns;
    }
    Ok(())
}
