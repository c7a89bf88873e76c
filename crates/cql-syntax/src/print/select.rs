//! SELECT.

use std::fmt::{Display, Formatter, Result};

use super::join;
use super::relation::where_clause;
use crate::ast::{Ordering, Select, Selection, Selector, SortOrder};

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("SELECT ")?;
        if self.json {
            f.write_str("JSON ")?;
        }
        if self.distinct {
            f.write_str("DISTINCT ")?;
        }
        write!(f, "{} FROM {}", self.selection, self.table)?;
        where_clause(f, &self.relations)?;
        if !self.group_by.is_empty() {
            f.write_str(" GROUP BY ")?;
            join(f, &self.group_by, ", ")?;
        }
        if !self.order_by.is_empty() {
            f.write_str(" ORDER BY ")?;
            join(f, &self.order_by, ", ")?;
        }
        if let Some(limit) = &self.per_partition_limit {
            write!(f, " PER PARTITION LIMIT {limit}")?;
        }
        if let Some(limit) = &self.limit {
            write!(f, " LIMIT {limit}")?;
        }
        if self.allow_filtering.is_some() {
            f.write_str(" ALLOW FILTERING")?;
        }
        if self.bypass_cache {
            f.write_str(" BYPASS CACHE")?;
        }
        if let Some(timeout) = &self.timeout {
            write!(f, " USING TIMEOUT {timeout}")?;
        }
        if let Some(hints) = &self.hints {
            let named = [("included_indexes", &hints.included), ("excluded_indexes", &hints.excluded)];
            let mut word = " WITH ";
            for (option, names) in named.iter().filter(|(_, names)| !names.is_empty()) {
                write!(f, "{word}{option} = {{")?;
                join(f, names, ", ")?;
                f.write_str("}")?;
                word = " AND ";
            }
        }
        Ok(())
    }
}

impl Display for Selection {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Selection::All(_) => f.write_str("*"),
            Selection::Items(items) => join(f, items, ", "),
        }
    }
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.expr)?;
        match &self.alias {
            Some(alias) => write!(f, " AS {alias}"),
            None => Ok(()),
        }
    }
}

impl Display for Ordering {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.column)?;
        if let Some(vector) = &self.ann_of {
            write!(f, " ANN OF {vector}")?;
        }
        match self.order {
            SortOrder::Asc => Ok(()),
            SortOrder::Desc => f.write_str(" DESC"),
        }
    }
}

impl Display for SortOrder {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            SortOrder::Asc => "ASC",
            SortOrder::Desc => "DESC",
        })
    }
}
