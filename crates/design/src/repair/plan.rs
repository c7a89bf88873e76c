//! A new key for a table, planned from all that is wrong with the old one.

use crate::catalogue::{Bucketing, Catalogue, Column, HashBuckets, Table, TimeBuckets, every};
use crate::entry::Target;
use crate::facts::Facts;
use crate::fix::Draft;
use crate::growth::{PARTITION_BYTES_MAX, PARTITION_WRITES_MAX};
use crate::rules::tie_breaker;
use crate::vocabulary::{Grain, Meaning};
use cql_syntax::ast::{CreateTable, NativeType};
use std::collections::{BTreeSet, HashSet};

/// Names of tables are no longer than this in Cassandra.
const NAME_MAX: usize = 48;

/// A table that is to be made, and where the values of its new columns come from.
#[derive(Debug, Clone)]
pub struct Plan {
    draft: Draft,
    /// The table as it stands now, judged again after each change.
    table: Table,
    facts: Facts,
    /// The column that the old key lacks to tell rows apart.
    breaker: Option<(String, NativeType)>,
    /// Column and how it is computed.
    pub computed: Vec<(String, String)>,
    target: Target,
    /// Rows are read from the old end, as in a queue: their order stays.
    keeps_order: bool,
}

impl Plan {
    /// A plan that begins with this definition, or with the table as it is.
    pub fn of(table: &Table, facts: &Facts, start: Option<CreateTable>, target: Target) -> Plan {
        let draft = Draft::of(table);
        let breaker = tie_breaker::missing(table, facts);
        let mut plan = Plan {
            draft,
            table: table.clone(),
            facts: facts.clone(),
            breaker,
            computed: Vec::new(),
            target,
            keeps_order: false,
        };
        if let Some(start) = start {
            let known: HashSet<String> = table.columns.iter().map(|c| c.name.clone()).collect();
            for column in start.columns.iter().filter(|c| !known.contains(&c.name.name)) {
                plan.computed.push((column.name.name.clone(), "by the application".into()));
            }
            if let Ok(table) = Table::new(&start, table.keyspace.clone(), 0, "") {
                plan.draft = Draft::of(&table);
                plan.table = table;
            }
        }
        plan
    }

    /// The table with a key that answers these rules.
    pub fn rekeyed(mut self, rules: &BTreeSet<&str>) -> Plan {
        let has = |rule: &str| rules.contains(rule);
        self.keeps_order |= has("queue-like");
        self.drop_constants(has("constant-key"));
        if has("missing-tenant") {
            self.lead_with_tenant();
        }
        if has("no-tie-breaker") {
            self.break_ties();
        }
        self.free_instants();
        if has("bucket-size") {
            self.hand_over_buckets();
        }
        let spread =
            ["constant-key", "low-cardinality-key", "time-only-key", "hot-key"].iter().any(|r| has(r));
        let growth = &self.facts.growth;
        let is_bounded = growth.is_declared && growth.full_bytes(2) <= PARTITION_BYTES_MAX;
        let grows = ["unbounded-partition", "constant-key", "low-cardinality-key", "wide-ttl-reads"]
            .iter()
            .any(|r| has(r))
            || (has("hot-key") && !is_bounded);
        if (spread || has("unbounded-partition")) && self.take_what_reads_know() {
            return self.judged();
        }
        if has("hot-key") {
            self.spread_over("bucket");
        }
        if has("queue-like") {
            self.bucket_by(Grain::Hour);
            self.spread_over("shard");
        } else if grows {
            self.cut_growth();
        }
        if spread && self.is_weak() {
            self.spread_over("bucket");
        }
        self.judged()
    }

    /// A table for one query, whose rows are told apart where those of the old one are not.
    pub fn parted(mut self, rules: &BTreeSet<&str>) -> Plan {
        if rules.contains("no-tie-breaker") {
            self.break_ties();
        }
        self.judged()
    }

    /// Another round after the review objected to what was planned.
    pub fn again(self, rules: &BTreeSet<&'static str>) -> Plan {
        let before = self.key_text();
        let mut plan = self.rekeyed(rules);
        if plan.key_text() == before {
            plan.spread_over("bucket");
            plan = plan.judged();
        }
        plan
    }

    /// Facts of the table as it is planned now, with the usage of the old one.
    fn judged(mut self) -> Plan {
        if let Ok(table) = Table::new(&self.draft.statement(), self.table.keyspace.clone(), 0, "") {
            let usage = std::mem::take(&mut self.facts.usage);
            let known: Vec<String> = usage.known_by_reads.clone();
            self.facts = Facts::of(&Catalogue::default(), 0, &table);
            self.facts.usage.known_by_reads = known;
            self.table = table;
        }
        self
    }

    fn partition(&self) -> Vec<String> {
        self.draft.partition().to_vec()
    }

    fn clustering(&self) -> Vec<(String, bool)> {
        self.draft.clustering().to_vec()
    }

    fn rekey(&mut self, partition: Vec<String>, clustering: Vec<(String, bool)>) {
        self.draft = self.draft.clone().keyed(partition, clustering);
    }

    /// Columns of the key that have one value leave it; a key needs a column, which will be a bucket if nothing is left.
    fn drop_constants(&mut self, all: bool) {
        let constants: Vec<String> =
            self.facts.usage.constants.iter().map(|(name, _)| name.clone()).collect();
        let mut partition = self.partition();
        partition.retain(|name| !constants.contains(name));
        if all || !partition.is_empty() {
            let clustering = self.clustering();
            self.rekey(partition, clustering);
        }
    }

    fn lead_with_tenant(&mut self) {
        if let Some(tenant) = crate::rules::tenant::tenant_column(&self.table) {
            let mut partition = vec![tenant.name.clone()];
            partition.extend(self.partition().into_iter().filter(|name| *name != tenant.name));
            let clustering = self.clustering();
            self.rekey(partition, clustering);
        }
    }

    fn break_ties(&mut self) {
        let Some((name, native)) =
            self.breaker.clone().or_else(|| tie_breaker::missing(&self.table, &self.facts))
        else {
            return;
        };
        if self.table.column(&name).is_none() {
            self.computed.push((name.clone(), "a new id per row".into()));
        }
        self.draft = self.draft.clone().clustering_with(&name, native);
    }

    /// An instant makes no partition: it sorts rows.
    fn free_instants(&mut self) {
        let is_instant = |name: &String| self.table.column(name).is_some_and(|c| c.meaning == Meaning::Time);
        let (instants, partition): (Vec<String>, Vec<String>) =
            self.partition().into_iter().partition(is_instant);
        if instants.is_empty() {
            return;
        }
        let mut clustering: Vec<(String, bool)> = instants.into_iter().map(|name| (name, true)).collect();
        clustering.extend(self.clustering());
        self.rekey(partition, clustering);
        self.bucket_by(Grain::Day);
    }

    /// What every read knows belongs into the key: no bucket is needed then.
    fn take_what_reads_know(&mut self) -> bool {
        // The id of the row itself would make every row a partition.
        let is_own =
            |name: &String| self.table.column(name).is_some_and(|c| tie_breaker::is_own_id(&self.table, c));
        let known: Vec<String> =
            self.facts.usage.known_by_reads.iter().filter(|name| !is_own(name)).cloned().collect();
        let parts = |name: &String| {
            self.table.column(name).is_some_and(|c| {
                matches!(c.meaning, Meaning::Identity | Meaning::Other | Meaning::Label | Meaning::Sequence)
            })
        };
        if !known.iter().any(parts) {
            return false;
        }
        let mut partition = self.partition();
        let mut clustering = self.clustering();
        for name in known {
            clustering.retain(|(c, _)| *c != name);
            if !partition.contains(&name) {
                partition.push(name);
            }
        }
        self.rekey(partition, clustering);
        true
    }

    /// A bucket of time that the application computes becomes one of the server, as long as the growth wants it.
    fn hand_over_buckets(&mut self) {
        let is_time = |name: &String| {
            self.table.column(name).is_some_and(|c| matches!(c.meaning, Meaning::TimeBucket(_)))
        };
        let (buckets, others): (Vec<String>, Vec<String>) = self.partition().into_iter().partition(is_time);
        let growth = &self.facts.growth;
        if self.target == Target::Cassandra
            || buckets.is_empty()
            || others.is_empty()
            || growth.rows_per_day[2] <= 0.0
        {
            return;
        }
        let (advised, before) = (growth.bucket_advice(), self.draft.clone());
        self.rekey(others, self.clustering());
        if self.serve_time(advised) {
            for bucket in buckets {
                self.draft = self.draft.clone().without_column(&bucket);
                self.computed.retain(|(name, _)| *name != bucket);
            }
        } else {
            self.draft = before;
        }
    }

    /// Buckets of time that the server makes, where rows are sorted by one that it can cut.
    fn serve_time(&mut self, grain: Grain) -> bool {
        let can_cut = |c: &Column| {
            matches!(
                crate::vocabulary::native(&c.data_type),
                Some(NativeType::Timestamp | NativeType::Timeuuid | NativeType::Date)
            )
        };
        let by = self.clustering().into_iter().find(|(name, _)| self.table.column(name).is_some_and(can_cut));
        let Some((by, _)) = by.filter(|_| self.can_serve()) else { return false };
        let days = grain.days().unwrap_or(1.0);
        let time = Some(TimeBuckets { by: by.clone(), every: every(grain).into(), days, spill: None });
        let known = self.table.bucketing.clone().filter(|_| self.draft.has_bucketing());
        let (hash, column) = known.map_or((None, None), |plan| (plan.hash, plan.column));
        self.serve(Bucketing { time, hash, column });
        self.newest_first(&by);
        true
    }

    /// Hash buckets that the server makes, as many as the declared writes want.
    fn serve_hash(&mut self) -> bool {
        let known = self.table.bucketing.clone().filter(|_| self.draft.has_bucketing());
        let (time, hash, column) =
            known.map_or((None, None, None), |plan| (plan.time, plan.hash, plan.column));
        if hash.is_some() {
            return true;
        }
        let cut = time.as_ref().map(|time| time.by.clone());
        let by =
            self.clustering().into_iter().rev().map(|(name, _)| name).find(|name| Some(name) != cut.as_ref());
        let Some(by) = by.or(cut).filter(|_| self.can_serve()) else { return false };
        let rate = self.facts.numbers.partition_rate.or_else(|| {
            self.facts.write_rate.zip(self.facts.numbers.hot_share).map(|(rate, share)| rate * share)
        });
        let wanted = rate.map_or(16.0, |rate| (2.0 * rate / PARTITION_WRITES_MAX).ceil());
        let into = (wanted.clamp(2.0, 256.0) as u32).next_power_of_two();
        self.serve(Bucketing { time, hash: Some(HashBuckets { by, into }), column });
        true
    }

    /// Whether the server can make buckets for the key as it is planned.
    fn can_serve(&self) -> bool {
        let has_statics = self.table.columns.iter().any(|c| c.is_static);
        self.target == Target::Partita && !self.partition().is_empty() && !has_statics
    }

    fn serve(&mut self, mut plan: Bucketing) {
        // The table may have a column of that name itself.
        let is_free = |name: &&&str| {
            let hash = format!("{name}_hash");
            !self
                .table
                .columns
                .iter()
                .any(|c| (c.name == **name || c.name == hash) && !self.table.is_server_bucket(&c.name))
        };
        let free = ["bucket", "server_bucket", "partita_bucket"].iter().find(is_free).copied();
        if plan.column.is_none() {
            plan.column = free.filter(|name| *name != "bucket").map(str::to_string);
        }
        self.draft = self.draft.clone().with_bucketing(&plan);
        self.table.bucketing = Some(plan);
    }

    /// A bucket in the partition key that closes it: of time where rows have a time, of numbers where they are numbered,
    /// else of a hash.
    fn cut_growth(&mut self) {
        let has_bucket = self.partition().iter().any(|name| {
            self.table
                .column(name)
                .is_some_and(|c| matches!(c.meaning, Meaning::TimeBucket(_)) || self.table.is_run(c))
        });
        if has_bucket || (self.draft.has_bucketing() && self.table.has_time_buckets()) {
            return;
        }
        let clustered = |wanted: fn(&Column) -> bool| {
            let names = self.clustering();
            names
                .into_iter()
                .find(|(name, _)| self.table.column(name).is_some_and(wanted))
                .map(|(name, _)| name)
        };
        if clustered(|c| c.is_chronological() || matches!(c.meaning, Meaning::TimeBucket(_))).is_some() {
            self.bucket_by(self.advised_grain());
        } else if let Some(sequence) = clustered(|c| c.meaning == Meaning::Sequence) {
            let native = self.table.column(&sequence).and_then(|c| crate::vocabulary::native(&c.data_type));
            match native {
                Some(NativeType::Int | NativeType::Bigint) => {
                    let name = format!("{sequence}_block");
                    self.computed.push((name.clone(), format!("{sequence} / 100000")));
                    self.draft = self.draft.clone().partition_with(&name, NativeType::Bigint);
                }
                None => {
                    let name = format!("{sequence}_block");
                    self.computed.push((name.clone(), format!("the first part of {sequence} / 100000")));
                    self.draft = self.draft.clone().partition_with(&name, NativeType::Bigint);
                }
                _ => self.spread_over("bucket"),
            }
        } else {
            self.spread_over("bucket");
        }
    }

    /// The coarsest bucket of time that stays small, in each of the hash buckets that there are.
    fn advised_grain(&self) -> Grain {
        let mut growth = self.facts.growth.clone();
        if growth.rows_per_day[2] <= 0.0 {
            return Grain::Month;
        }
        let planned = self.table.bucketing.as_ref().filter(|_| self.draft.has_bucketing());
        let spread = planned.map_or(1.0, Bucketing::fan_out);
        growth.rows_per_day = growth.rows_per_day.map(|rate| rate / spread);
        growth.bucket_advice()
    }

    /// A bucket of time, from the time that rows have.
    fn bucket_by(&mut self, grain: Grain) {
        if self.serve_time(grain) {
            return;
        }
        let times = |c: &&Column| c.is_chronological();
        let clustered =
            self.clustering().into_iter().find_map(|(name, _)| self.table.column(&name).filter(times));
        let written = ["created", "inserted", "time", "timestamp", "at"];
        let dated = || {
            let mut columns = self.table.columns.iter().filter(times);
            columns
                .clone()
                .find(|c| c.words.iter().any(|w| written.contains(&w.as_str())))
                .or_else(|| columns.next())
        };
        let calendar = self.clustering().into_iter().find(|(name, _)| {
            self.table.column(name).is_some_and(|c| matches!(c.meaning, Meaning::TimeBucket(_)))
        });
        if let (None, Some((name, _))) = (clustered, calendar) {
            // A day or year that already sorts the rows can part them.
            let mut partition = self.partition();
            partition.push(name);
            let clustering = self.clustering();
            self.rekey(partition, clustering);
            return;
        }
        let Some(time) = clustered.or_else(dated) else {
            // No time, no bucket of it.
            self.spread_over("bucket");
            return;
        };
        let source = time.name.clone();
        let (word, native) = match grain {
            Grain::Hour | Grain::Minute => (grain.word(), NativeType::Timestamp),
            Grain::Day | Grain::Unknown => ("day", NativeType::Date),
            _ => (grain.word(), NativeType::Text),
        };
        let taken = |name: &str| {
            self.table.column(name).is_some() || self.draft.partition().iter().any(|p| p == name)
        };
        let name = if taken(word) { format!("{word}_bucket") } else { word.to_string() };
        if taken(&name) {
            return;
        }
        self.computed.push((name.clone(), format!("the {word} of {source}")));
        self.draft = self.draft.clone().partition_with(&name, native);
        self.newest_first(&source);
    }

    fn newest_first(&mut self, column: &str) {
        if !self.keeps_order {
            self.draft = self.draft.clone().newest_first(column);
        }
    }

    fn spread_over(&mut self, name: &str) {
        let names = [name, "bucket", "shard", "slot"];
        let is_free = |name: &&&str| {
            self.table.column(name).is_none() && !self.draft.partition().iter().any(|p| p == **name)
        };
        let has_hash = self.partition().iter().any(|p| {
            match self.table.column(p) {
                Some(column) => column.meaning == Meaning::HashBucket,
                // Added by this plan.
                None => names.contains(&p.as_str()),
            }
        });
        let free = names.iter().find(is_free);
        let is_computed =
            |p: &String| self.computed.iter().any(|(c, how)| c == p && how.starts_with("a hash of"));
        // Spread by this plan already, or by the server, or by the table as it was.
        if self.partition().iter().any(is_computed) || self.serve_hash() || has_hash {
            return;
        }
        let Some(free) = free else { return };
        let of = self
            .clustering()
            .last()
            .map(|(name, _)| name.clone())
            .or_else(|| self.partition().first().cloned())
            .unwrap_or_default();
        self.computed.push(((*free).to_string(), format!("a hash of {of}, modulo 16")));
        self.draft = self.draft.clone().partition_with(free, NativeType::Int);
    }

    /// Whether nothing in the partition key tells one owner from another.
    fn is_weak(&self) -> bool {
        if self.draft.has_bucketing() && self.table.has_hash_buckets() {
            return false;
        }
        self.partition().iter().all(|name| {
            self.table
                .column(name)
                .is_none_or(|c| matches!(c.meaning, Meaning::Few(_) | Meaning::TimeBucket(_) | Meaning::Time))
        })
    }

    /// A name that says the key, is free and short enough.
    pub fn fresh_name(mut self, old: &Table, names: &mut HashSet<String>) -> Plan {
        let base = old.name.split("_by_").next().unwrap_or(&old.name);
        let by = format!("{base}_by_{}", self.partition().join("_"));
        let short: String = old.name.chars().take(NAME_MAX - 4).collect();
        let others = (2..).map(|n| format!("{short}_v{n}"));
        let name = std::iter::once(by)
            .chain(others)
            .find(|name| name.len() <= NAME_MAX && is_plain(name) && !names.contains(name))
            .unwrap_or_else(|| format!("{short}_v2"));
        names.insert(name.clone());
        self.draft = self.draft.named(&name);
        self
    }

    pub fn key_text(&self) -> String {
        let buckets =
            self.table.bucketing.as_ref().filter(|_| self.draft.has_bucketing()).map(Bucketing::text);
        format!("{:?} {:?} {buckets:?}", self.draft.partition(), self.draft.clustering())
    }

    pub fn print(&self) -> String {
        self.draft.clone().print()
    }

    pub fn statement(&self) -> CreateTable {
        self.draft.statement()
    }
}

/// A name that needs no quotes.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        || !name.contains(|c: char| !c.is_alphanumeric() && c != '_')
}
