//! Streams: what is there, where to begin reading, and the records.
//!
//! A stream has one shard, open for as long as the stream is enabled. GetRecords reads up to the store's horizon: everything up to it is
//! applied and nothing will come below it, so a reader that goes on from there misses nothing.

use super::buried::{self, streams};
use super::counting::ENTRIES_PER_TURN;
use super::record::{self, RETENTION_SECONDS};
use super::table::{KEYSPACE, is_shown, stream_store};
use super::{Caller, Dynamo, layout::internal, store_error};
use crate::document::Document;
use crate::error::{ApiError, ErrorName};
use crate::json::Writer;
use crate::messages::Rule;
use crate::request::{DescribeStream, GetRecords, GetShardIterator, IteratorStart, ListStreams};
use crate::table::{KeySchema, StreamDefinition, TableDefinition};
use database::grants::{Permission, Resource};
use model::key::PartitionKey;
use model::row::RowView;
use schema::Table;
use store::{Flow, Partitions, Read, ReadEnd, Sink, Slice, Store, TableId};

/// What one GetRecords gives back, at most.
const RECORDS_BYTES_MAX: usize = 1 << 20;
/// How long an iterator can be used.
const ITERATOR_MS_MAX: i64 = 15 * 60 * 1_000;

/// A stream of a table that is there, or was until lately.
struct Found {
    table: String,
    key: KeySchema,
    /// Of the table, also after it is gone.
    id: u32,
    stream: StreamDefinition,
    store: TableId,
    created_ms: i64,
}

impl Found {
    fn of(definition: &TableDefinition, table: &Table, id: u32, label: &str) -> Option<Found> {
        let stream = streams(definition).find(|stream| stream.label == label)?.clone();
        let store = table.foreign.as_deref()?.store(&stream_store(label))?;
        Some(Found {
            table: definition.name.clone(),
            key: definition.key.clone(),
            id,
            // The label says when the stream was enabled.
            created_ms: label_ms(label).unwrap_or(definition.created_ms),
            stream,
            store: TableId(store.id),
        })
    }

    fn shard(&self) -> String {
        format!("shardId-{:020}-{:08x}", self.created_ms, self.id)
    }
}

impl<S: Store> Dynamo<S> {
    fn stream(&self, caller: &Caller<'_>, arn: &str) -> Result<Found, ApiError> {
        let missing = || {
            let text = format!("Requested resource not found: Stream: {arn} not found");
            ApiError::new(ErrorName::ResourceNotFound, text)
        };
        let (_, rest) = arn.split_once(":table/").ok_or_else(missing)?;
        let (table, label) = rest.split_once("/stream/").ok_or_else(missing)?;
        let found = match self.open_for(caller, Permission::Select, table) {
            Ok(open) => Found::of(&open.definition, &open.table, open.table.id, label),
            Err(error) if error.name() == ErrorName::ResourceNotFound => None,
            Err(error) => return Err(error),
        };
        // Nobody can tell any more whose the records of a deleted table were.
        let is_bound = caller.grants.is_some_and(|grants| grants.is_bound());
        let buried = || self.buried_stream(table, label).filter(|_| !is_bound);
        found.or_else(buried).ok_or_else(missing)
    }

    /// A stream of a table of this name that was deleted; whether the caller may read such a table was looked at.
    fn buried_stream(&self, table: &str, label: &str) -> Option<Found> {
        let buried = self.buried().into_iter().filter(|buried| buried.definition.name == table);
        buried.filter_map(|buried| Found::of(&buried.definition, &buried.table, buried.id, label)).next()
    }

    pub(super) fn list_streams(&self, caller: &Caller<'_>, list: &ListStreams) -> Result<Vec<u8>, ApiError> {
        let (_, catalogue) = self.runtime.catalogue();
        let keyspace = catalogue.keyspace(KEYSPACE);
        let tables = keyspace.iter().flat_map(|keyspace| keyspace.tables.values());
        let mut found: Vec<(String, String, String)> = Vec::new();
        let mut add = |definition: &TableDefinition| {
            if list.table.as_ref().is_some_and(|wanted| *wanted != definition.name) {
                return;
            }
            for stream in buried::streams(definition) {
                let arn = self.shared.stream_arn(&definition.name, &stream.label);
                found.push((arn, definition.name.clone(), stream.label.clone()));
            }
        };
        for table in tables.filter(|table| is_shown(table)) {
            if caller.grants.is_none_or(|grants| grants.may_on_table(Permission::Select, table)) {
                add(&self.open(&table.name)?.definition);
            }
        }
        for buried in self.buried() {
            let resource = Resource::Table(KEYSPACE.into(), buried.definition.name.as_str().into());
            if caller.grants.is_none_or(|grants| grants.require(Permission::Select, &resource).is_ok()) {
                add(&buried.definition);
            }
        }
        found.sort();
        found.retain(|(arn, _, _)| list.start.as_ref().is_none_or(|start| arn > start));
        let more = found.len() > list.limit;
        found.truncate(list.limit);
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        object.list("Streams", &found, |(arn, table, label), out| {
            let mut stream = Writer::object(out);
            stream.string("StreamArn", arn);
            stream.string("TableName", table);
            stream.string("StreamLabel", label);
            stream.end();
        });
        if let Some((last, _, _)) = found.last().filter(|_| more) {
            object.string("LastEvaluatedStreamArn", last);
        }
        object.end();
        Ok(out)
    }

    pub(super) async fn describe_stream(
        &self,
        caller: &Caller<'_>,
        describe: &DescribeStream,
    ) -> Result<Vec<u8>, ApiError> {
        let found = self.stream(caller, &describe.arn)?;
        let stream = &found.stream;
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let mut description = object.nested("StreamDescription");
        description.string("StreamArn", &describe.arn);
        description.string("StreamLabel", &stream.label);
        description.string("StreamStatus", if stream.enabled { "ENABLED" } else { "DISABLED" });
        description.string("StreamViewType", stream.view.name());
        description.time("CreationRequestDateTime", found.created_ms);
        description.string("TableName", &found.table);
        crate::table::key_schema(&found.key, &mut description);
        let shard = found.shard();
        // There is one shard and it has no children.
        let shown = describe.start_shard.is_none() && describe.children_of.is_none();
        let shards: Vec<&str> = if shown { vec![&shard] } else { Vec::new() };
        let last = match stream.enabled {
            true => None,
            false => Some(self.last_sequence(caller, &found).await?),
        };
        let first = record::sequence_at(found.created_ms * 1_000);
        description.list("Shards", &shards, |shard, out| {
            let mut object = Writer::object(out);
            object.string("ShardId", shard);
            let mut range = object.nested("SequenceNumberRange");
            range.string("StartingSequenceNumber", &sequence_text(first));
            if let Some(last) = last {
                range.string("EndingSequenceNumber", &sequence_text(last.unwrap_or(first)));
            }
            range.end();
            object.end();
        });
        description.end();
        object.end();
        Ok(out)
    }

    async fn last_sequence(&self, caller: &Caller<'_>, found: &Found) -> Result<Option<u128>, ApiError> {
        let mut read = records_read(found.store, 0, u128::MAX, caller.now_seconds());
        read.reverse = true;
        let mut last = LastOne(None);
        read.to_end(&self.runtime.store, &mut last).await.map_err(store_error)?;
        Ok(last.0)
    }

    pub(super) async fn shard_iterator(
        &self,
        caller: &Caller<'_>,
        get: &GetShardIterator,
    ) -> Result<Vec<u8>, ApiError> {
        let found = self.stream(caller, &get.arn)?;
        if get.shard != found.shard() {
            let text = format!("Requested resource not found: Shard does not exist: {}", get.shard);
            return Err(ApiError::new(ErrorName::ResourceNotFound, text));
        }
        let oldest = oldest_sequence(caller);
        let next = match get.start {
            IteratorStart::TrimHorizon => oldest,
            IteratorStart::Latest => {
                let given = self.runtime.store.horizon().await.map_err(store_error)?.given;
                record::sequence_at(given.saturating_add(1))
            }
            IteratorStart::At(sequence) => not_trimmed(sequence, oldest)?,
            IteratorStart::After(sequence) => not_trimmed(sequence, oldest)?.saturating_add(1),
            IteratorStart::AtTimestamp(ms) if ms > caller.now_ms() => {
                return Err(Rule::TimestampFuture.refuse(&[]));
            }
            IteratorStart::AtTimestamp(ms) => record::sequence_at(ms.saturating_mul(1_000)).max(oldest),
        };
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        object.string("ShardIterator", &iterator_text(&get.arn, next, caller));
        object.end();
        Ok(out)
    }

    pub(super) async fn records(&self, caller: &Caller<'_>, get: &GetRecords) -> Result<Vec<u8>, ApiError> {
        let (arn, next, issued_ms) =
            iterator_parts(&get.iterator).ok_or_else(|| Rule::IteratorInvalid.refuse(&[]))?;
        if caller.now_ms() - issued_ms > ITERATOR_MS_MAX {
            return Err(Rule::IteratorExpired.refuse(&[]));
        }
        let found = self.stream(caller, arn)?;
        let horizon = self.runtime.store.horizon().await.map_err(store_error)?;
        let end = record::sequence_at(horizon.settled.saturating_add(1));
        let start = next.max(oldest_sequence(caller));
        let mut reader = Reader {
            dynamo: &self.shared.settings.region,
            found: &found,
            now_seconds: caller.now_seconds(),
            limit: get.limit,
            out: Vec::new(),
            count: 0,
            last: None,
            fault: None,
            full: false,
        };
        if start < end {
            let mut read = records_read(found.store, start, end, caller.now_seconds());
            loop {
                match self.runtime.store.read(&read, &mut reader).await.map_err(store_error)?.end {
                    ReadEnd::Paused(position) => read.after = Some(position),
                    ReadEnd::Complete | ReadEnd::Stopped => break,
                }
                tokio::task::yield_now().await;
            }
        }
        if let Some(fault) = reader.fault {
            return Err(fault);
        }
        let mut out = Vec::with_capacity(reader.out.len() + 256);
        let mut object = Writer::object(&mut out);
        let list = object.key("Records");
        list.push(b'[');
        list.extend_from_slice(&reader.out);
        list.push(b']');
        // A closed shard ends with its last record, also when a page is full with it.
        let (full, last) = (reader.full, reader.last);
        let ended = !found.stream.enabled && full && self.last_sequence(caller, &found).await? == last;
        let next = match (full, last) {
            _ if ended => None,
            (true, Some(last)) => Some(last.saturating_add(1)),
            // A closed shard ends.
            _ if !found.stream.enabled => None,
            _ => Some(end.max(start)),
        };
        if let Some(next) = next {
            object.string("NextShardIterator", &iterator_text(arn, next, caller));
        }
        object.end();
        Ok(out)
    }
}

fn oldest_sequence(caller: &Caller<'_>) -> u128 {
    record::sequence_at(caller.now_micros - i64::from(RETENTION_SECONDS) * 1_000_000)
}

fn not_trimmed(sequence: u128, oldest: u128) -> Result<u128, ApiError> {
    if sequence < oldest {
        return Err(Rule::IteratorTrimmed.refuse(&[]));
    }
    Ok(sequence)
}

/// 21 digits, as many as the service's have.
pub(super) fn sequence_text(sequence: u128) -> String {
    format!("{sequence:021}")
}

fn iterator_text(arn: &str, next: u128, caller: &Caller<'_>) -> String {
    format!("{arn}|1|{next}|{}", caller.now_ms())
}

fn iterator_parts(text: &str) -> Option<(&str, u128, i64)> {
    let (rest, issued) = text.rsplit_once('|')?;
    let (rest, next) = rest.rsplit_once('|')?;
    let (arn, version) = rest.rsplit_once('|')?;
    (version == "1").then_some(())?;
    Some((arn, next.parse().ok()?, issued.parse().ok()?))
}

/// `2026-11-18T00:37:34.851` as milliseconds since 1970.
fn label_ms(label: &str) -> Option<i64> {
    let number = |from: usize, to: usize| label.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second, ms) = (number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 23)?);
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days =
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000 + ms)
}

fn records_read(store: TableId, start: u128, end: u128, now_seconds: u32) -> Read {
    Read {
        scan_limit: ENTRIES_PER_TURN,
        ..Read::of(
            store,
            Partitions::One(record::partition()),
            vec![Slice { start: record::position(start), end: record::position(end) }],
            now_seconds,
        )
    }
}

struct Reader<'r> {
    dynamo: &'r str,
    found: &'r Found,
    now_seconds: u32,
    limit: usize,
    out: Vec<u8>,
    count: usize,
    last: Option<u128>,
    full: bool,
    fault: Option<ApiError>,
}

impl Reader<'_> {
    fn write(&mut self, position: &[u8], row: &RowView<'_>) -> Result<(), ApiError> {
        let sequence = record::sequence(position).ok_or_else(|| internal("a record lies where none can"))?;
        self.last = Some(sequence);
        let Some(record) = record::read(row, self.now_seconds) else { return Ok(()) };
        if self.count > 0 {
            self.out.push(b',');
        }
        self.count += 1;
        let mut object = Writer::object(&mut self.out);
        object.string("eventID", &format!("{:08x}{:024x}", self.found.id, sequence & ((1 << 96) - 1)));
        object.string("eventName", record.event);
        object.string("eventVersion", "1.1");
        object.string("eventSource", "aws:dynamodb");
        object.string("awsRegion", self.dynamo);
        let mut body = object.nested("dynamodb");
        // Whole seconds, as the service gives them.
        body.integer("ApproximateCreationDateTime", record::micros_of(sequence) / 1_000_000);
        let mut size = 0;
        for (name, bytes) in [("Keys", Some(record.keys)), ("NewImage", record.new), ("OldImage", record.old)]
        {
            let Some(bytes) = bytes else { continue };
            let document = Document::new(bytes).map_err(internal)?;
            size += document.size();
            document.write_json(body.key(name)).map_err(internal)?;
        }
        body.string("SequenceNumber", &sequence_text(sequence));
        body.integer("SizeBytes", size as i64);
        body.string("StreamViewType", self.found.stream.view.name());
        body.end();
        if record.by_expiry {
            let mut identity = object.nested("userIdentity");
            identity.string("PrincipalId", "dynamodb.amazonaws.com");
            identity.string("Type", "Service");
            identity.end();
        }
        object.end();
        Ok(())
    }
}

impl Sink for Reader<'_> {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, position: &[u8], row: RowView<'_>) -> Flow {
        if let Err(fault) = self.write(position, &row) {
            self.fault = Some(fault);
            return Flow::Stop;
        }
        self.full = self.count >= self.limit || self.out.len() >= RECORDS_BYTES_MAX;
        if self.full { Flow::Stop } else { Flow::Continue }
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Where the first row of a read lies.
struct LastOne(Option<u128>);

impl Sink for LastOne {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, position: &[u8], _: RowView<'_>) -> Flow {
        self.0 = record::sequence(position);
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
