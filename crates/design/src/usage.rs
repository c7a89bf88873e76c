//! How the statements use a table: literals that are the same everywhere, what expires, what is deleted, what reads know.

use crate::catalogue::{Access, Catalogue, Column, Limit, Table, Verb};
use crate::vocabulary::Meaning;
use cql_syntax::ast::RelationOp;

/// What all statements on one table have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Columns of the partition key that every statement here gives one and the same constant.
    pub constants: Vec<(String, String)>,
    /// A column of the partition key that one INSERT gives a constant and another binds: a copy of everything under one key.
    pub copied_under: Option<(String, String)>,
    /// Every INSERT has a TTL.
    pub always_expires: bool,
    /// The longest TTL of the statements, when all are numbers.
    pub ttl_days: Option<f64>,
    pub inserts: usize,
    pub reads: usize,
    pub updates: usize,
    /// A read takes all rows of a partition.
    pub reads_whole: bool,
    /// Whole partitions, single rows, or ranges of rows are deleted.
    pub drops_partitions: bool,
    pub drops_rows: bool,
    pub drops_ranges: bool,
    /// Reads only ask whether a key is there: they return nothing but key columns.
    pub only_asks: bool,
    /// A read counts or sums all rows of a partition.
    pub sums_whole: bool,
    /// Single rows get other values later.
    pub edits_rows: bool,
    /// Columns outside the partition key to which every read of it gives one value.
    pub known_by_reads: Vec<String>,
    /// Rows are only ever added, and readers take them in the order in which they came: a log, whatever it is called.
    pub appends: bool,
    /// A clustering column that counts, by what statements do: readers go on behind a number, or take the highest.
    pub counts_by: Option<String>,
    /// The columns of the partition key that statements only ever give constants, with the number of them (two or more).
    pub choices: Vec<(String, usize)>,
}

impl Usage {
    pub fn of(catalogue: &Catalogue, at: usize, table: &Table) -> Usage {
        let accesses: Vec<&Access> = catalogue.accesses_of(at).collect();
        let count = |verb: Verb| accesses.iter().filter(|a| a.verb == verb).count();
        let inserts: Vec<&&Access> = accesses.iter().filter(|a| a.verb == Verb::Insert).collect();
        let mut usage = Usage {
            inserts: inserts.len(),
            reads: count(Verb::Select),
            updates: count(Verb::Update),
            always_expires: !inserts.is_empty() && inserts.iter().all(|a| a.has_ttl),
            known_by_reads: known_by_reads(table, &accesses),
            sums_whole: accesses.iter().any(|a| {
                (a.is_aggregate || a.is_grouped)
                    && table.partition_columns().all(|c| a.point(&c.name).is_some())
                    && !table
                        .clustering_columns()
                        .any(|c| a.point(&c.name).is_some() || a.slice(&c.name).is_some())
            }),
            only_asks: only_asks(table, &accesses),
            edits_rows: accesses.iter().any(|a| edits_row(table, a)),
            reads_whole: accesses.iter().any(|a| reads_whole(table, a)),
            ..Usage::default()
        };
        if usage.always_expires {
            let days: Option<Vec<f64>> = inserts.iter().map(|a| a.ttl_days).collect();
            usage.ttl_days = days.and_then(|days| days.into_iter().reduce(f64::max));
        }
        for access in accesses.iter().filter(|a| a.verb == Verb::Delete && a.deletes_rows) {
            match deleted(table, access) {
                Deleted::Partition => usage.drops_partitions = true,
                Deleted::Row => usage.drops_rows = true,
                Deleted::Range => usage.drops_ranges = true,
            }
        }
        usage.literals(table, &accesses);
        usage.counts_by = counts_by(table, &accesses);
        usage.appends = usage.is_appended(table, &accesses);
        usage
    }

    /// Added, never changed or removed, and read as one reads what is long: the newest, a page, a stretch.
    fn is_appended(&self, table: &Table, accesses: &[&Access]) -> bool {
        let kept = self.drops_partitions || self.drops_rows || self.drops_ranges || self.edits_rows;
        let order = table
            .clustering_columns()
            .find(|c| c.is_chronological() || self.counts_by.as_ref() == Some(&c.name));
        let Some(order) = order else { return false };
        let in_part = |a: &&&Access| {
            a.is_read()
                && table.partition_columns().all(|c| a.point(&c.name).is_some())
                && a.point(&order.name).is_none()
        };
        let mut reads = accesses.iter().filter(in_part).peekable();
        let as_long = |a: &&Access| a.limit != Limit::None || a.slice(&order.name).is_some();
        self.inserts > 0 && !kept && !self.always_expires && reads.peek().is_some() && reads.any(as_long)
    }

    /// What literals say about the partition key.
    fn literals(&mut self, table: &Table, accesses: &[&Access]) {
        for column in table.partition_columns() {
            if matches!(column.meaning, Meaning::Time | Meaning::TimeBucket(_)) {
                continue;
            }
            let mut values: Vec<&str> = Vec::new();
            let mut bound = false;
            // A statement that binds its other values is the application's; one of literals only is an example.
            let mut built_in = false;
            let mut bound_insert = false;
            let mut built_in_insert = None;
            for access in accesses {
                let given = access.point(&column.name).is_some()
                    || access.assigned.iter().any(|(name, _)| *name == column.name);
                match access.constant_of(&column.name) {
                    Some(value) => {
                        values.push(value);
                        let binds = access.binds_beside(&column.name);
                        // Without a write in sight a read says it, where the value is no name of something.
                        let is_read_only = self.inserts + self.updates == 0
                            && !matches!(column.meaning, Meaning::Identity | Meaning::Label)
                            && table.clustering_columns().any(|c| access.point(&c.name).is_some());
                        built_in |= binds && (!access.is_read() || is_read_only);
                        if access.verb == Verb::Insert && binds {
                            built_in_insert = Some(value);
                        }
                    }
                    None => {
                        bound |= given;
                        bound_insert |= given && access.verb == Verb::Insert;
                    }
                }
            }
            values.sort_unstable();
            values.dedup();
            if let ([value], false, true) = (values.as_slice(), bound, built_in) {
                self.constants.push((column.name.clone(), (*value).to_string()));
            } else if let ([_, _, ..], false, true) = (values.as_slice(), bound, built_in) {
                self.choices.push((column.name.clone(), values.len()));
            } else if let (Some(value), true) = (built_in_insert, bound_insert) {
                self.copied_under = Some((column.name.clone(), value.to_string()));
            }
        }
    }

    pub fn is_constant(&self, column: &str) -> bool {
        self.constants.iter().any(|(name, _)| name == column)
    }
}

fn only_asks(table: &Table, accesses: &[&Access]) -> bool {
    let mut reads = accesses.iter().filter(|a| a.is_read()).peekable();
    let by_key = |a: &&&Access| table.partition_columns().all(|c| a.point(&c.name).is_some());
    let is_key =
        |name: &str| table.partition_columns().chain(table.clustering_columns()).any(|c| c.name == name);
    reads.peek().is_some()
        && reads
            .all(|a| by_key(&a) && a.returned().is_some_and(|names| names.iter().all(|name| is_key(name))))
}

/// An UPDATE of one row that sets plain columns, and not only a mark that it was seen.
fn edits_row(table: &Table, access: &Access) -> bool {
    let mark = |name: &str| {
        table
            .column(name)
            .is_none_or(|c| matches!(c.meaning, Meaning::Few(_) | Meaning::Time) || c.is_collection())
    };
    access.verb == Verb::Update
        && !table.is_counter()
        && table.clustering_columns().all(|c| access.point(&c.name).is_some())
        && access.assigned.iter().any(|(name, _)| !mark(name))
}

enum Deleted {
    Partition,
    Row,
    Range,
}

fn deleted(table: &Table, access: &Access) -> Deleted {
    if table.clustering.is_empty() || table.clustering_columns().all(|c| access.point(&c.name).is_some()) {
        return Deleted::Row;
    }
    let inside = table.clustering_columns().any(|c| {
        access.restrictions.iter().any(|r| r.columns.contains(&c.name) && r.op != RelationOp::IsNotNull)
    });
    if inside { Deleted::Range } else { Deleted::Partition }
}

fn reads_whole(table: &Table, access: &Access) -> bool {
    let by_key = table.partition_columns().all(|c| access.point(&c.name).is_some());
    access.is_read()
        && by_key
        && access.limit == Limit::None
        && !table
            .clustering_columns()
            .any(|c| c.meaning == Meaning::Identity && access.point(&c.name).is_some())
}

fn known_by_reads(table: &Table, accesses: &[&Access]) -> Vec<String> {
    let reads: Vec<&&Access> = accesses
        .iter()
        .filter(|a| a.is_read() && table.partition_columns().all(|c| a.point(&c.name).is_some()))
        .collect();
    if reads.is_empty() {
        return Vec::new();
    }
    let is_known = |name: &str| {
        reads.iter().all(|a| a.point(name).is_some_and(|r| r.op == RelationOp::Eq && r.columns.len() == 1))
    };
    table.clustering_columns().filter(|c| is_known(&c.name)).map(|c| c.name.clone()).collect()
}

/// Rows that are numbered as they come, by the reads: on from a number, or the highest first.
fn counts_by(table: &Table, accesses: &[&Access]) -> Option<String> {
    use cql_syntax::ast::{NativeType, SortOrder};
    let is_number = |c: &&Column| {
        let native = crate::vocabulary::native(&c.data_type);
        matches!(native, Some(NativeType::Int | NativeType::Bigint | NativeType::Varint))
            && matches!(c.meaning, Meaning::Other | Meaning::Sequence | Meaning::Identity)
    };
    let is_counted = |c: &&Column| {
        accesses.iter().filter(|a| a.is_read()).any(|a| {
            let onward = a.restrictions.iter().any(|r| {
                matches!(r.op, RelationOp::Gt | RelationOp::Ge) && r.columns.contains(&c.name) && !r.is_token
            });
            let at = table
                .clustering
                .iter()
                .find(|item| table.columns.get(item.column).is_some_and(|k| k.name == c.name));
            let stored_down = at.is_some_and(|item| item.descending);
            let down = a.order_by.iter().any(|(name, order, _)| *name == c.name && *order == SortOrder::Desc)
                || (stored_down && a.order_by.is_empty());
            onward || (down && a.limit != Limit::None)
        })
    };
    table.clustering_columns().filter(is_number).find(is_counted).map(|c| c.name.clone())
}
