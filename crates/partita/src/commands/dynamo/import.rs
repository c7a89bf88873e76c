//! `partita dynamo import`: items of files into a table, in batches, on several connections.
//!
//! Items with the same key always take the same connection, so of several the last one counts.

use super::endpoint::{CallError, Endpoint};
use super::source::{self, Source};
use super::{Failure, ImportOptions, described, key_names};
use crate::commands::tally::Tally;
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// As many as BatchWriteItem takes.
const BATCH_ITEMS: usize = 25;
/// A batch has at most 16 MB; items are counted as their records.
const BATCH_BYTES: usize = 8 << 20;
/// Faults that are shown one by one.
const FAULTS_SHOWN: u64 = 10;
const TABLE_PATIENCE: u32 = 600;

/// An item on its way, with where it came from.
struct Loaded {
    item: Value,
    bytes: usize,
    from: String,
}

enum News {
    Done {
        items: u64,
        bytes: u64,
    },
    Fault(String),
    /// Nothing more can be done.
    Broken(String),
}

pub fn run(options: &ImportOptions) -> Result<(), Failure> {
    let mut endpoint = options.at.connect()?;
    if options.create || options.definition.is_some() {
        create(options, &mut endpoint)?;
    }
    let table = described(&mut endpoint, &options.at.table)?;
    let keys = key_names(&table);
    let mut types = Map::new();
    for attribute in table["AttributeDefinitions"].as_array().into_iter().flatten() {
        if let Some(name) = attribute["AttributeName"].as_str() {
            types.insert(name.to_string(), attribute["AttributeType"].clone());
        }
    }
    let files = source::files(&options.from, options.format)?;
    let connections = options.connections.clamp(1, 64);
    let (news, told) = channel();
    std::thread::scope(|scope| {
        let mut lanes = Vec::new();
        for _ in 0..connections {
            let (lane, items) = sync_channel(4 * BATCH_ITEMS);
            let writer =
                Writer { endpoint: endpoint.again(), table: options.at.table.clone(), keys: keys.clone() };
            let news = news.clone();
            scope.spawn(move || writer.run(&items, &news));
            lanes.push(lane);
        }
        let reader = Reader { options, keys: &keys, types: &types, lanes, news };
        scope.spawn(move || reader.run(&files));
        watch(&told)
    })
}

/// Shows how far it is; the end when all have ended.
fn watch(told: &Receiver<News>) -> Result<(), Failure> {
    let mut tally = Tally::begin("imported", "items");
    let mut faults = 0;
    let mut broken = None;
    for news in told {
        match news {
            News::Done { items, bytes } => tally.add(items, bytes),
            News::Fault(text) => {
                faults += 1;
                if faults <= FAULTS_SHOWN {
                    eprintln!("{text}");
                }
            }
            News::Broken(text) => broken = broken.or(Some(text)),
        }
    }
    let more = if faults > 0 { format!(", {faults} refused") } else { String::new() };
    tally.end(&more);
    match (broken, faults) {
        (Some(text), _) => Err(Failure::Failed(text)),
        (None, 0) => Ok(()),
        (None, _) => {
            Err(Failure::Failed(format!("{faults} items were refused; the others are in the table")))
        }
    }
}

struct Reader<'o> {
    options: &'o ImportOptions,
    keys: &'o [String],
    types: &'o Map<String, Value>,
    lanes: Vec<SyncSender<Loaded>>,
    news: Sender<News>,
}

impl Reader<'_> {
    fn run(self, files: &[std::path::PathBuf]) {
        for file in files {
            if let Err(error) = self.read(file) {
                // Who listened may have ended.
                let _ = self.news.send(News::Broken(format!("{}: {error}", file.display())));
                return;
            }
        }
    }

    fn read(&self, file: &Path) -> std::io::Result<()> {
        let mut source = Source::open(file, self.options.format, self.types)?;
        while let Some((item, bytes)) = source.next()? {
            let from = format!("{}:{}", file.display(), source.line);
            match item {
                Ok(item) => {
                    let mut hasher = DefaultHasher::new();
                    key_text(&item, self.keys).hash(&mut hasher);
                    let lane = (hasher.finish() % self.lanes.len() as u64) as usize;
                    // A lane that has ended has said why.
                    if self.lanes[lane].send(Loaded { item, bytes, from }).is_err() {
                        return Ok(());
                    }
                }
                Err(reason) => {
                    let _ = self.news.send(News::Fault(format!("{from}: {reason}")));
                }
            }
        }
        Ok(())
    }
}

fn key_text(item: &Value, keys: &[String]) -> String {
    keys.iter().map(|key| format!("{}\n", item[key.as_str()])).collect()
}

struct Writer {
    endpoint: Endpoint,
    table: String,
    keys: Vec<String>,
}

impl Writer {
    fn run(mut self, items: &Receiver<Loaded>, news: &Sender<News>) {
        let mut batch: Vec<Loaded> = Vec::new();
        let mut open = true;
        while open {
            match items.recv() {
                Ok(loaded) => {
                    let key = key_text(&loaded.item, &self.keys);
                    let same = |known: &Loaded| key_text(&known.item, &self.keys) == key;
                    let bytes: usize = batch.iter().map(|loaded| loaded.bytes).sum();
                    if batch.len() >= BATCH_ITEMS || bytes >= BATCH_BYTES || batch.iter().any(same) {
                        open = self.send(std::mem::take(&mut batch), news);
                    }
                    batch.push(loaded);
                }
                Err(_) => break,
            }
        }
        if open {
            self.send(batch, news);
        }
    }

    /// Whether to go on.
    fn send(&mut self, batch: Vec<Loaded>, news: &Sender<News>) -> bool {
        if batch.is_empty() {
            return true;
        }
        let put = |loaded: &Loaded| json!({"PutRequest": {"Item": loaded.item}});
        let mut requests: Value = batch.iter().map(put).collect();
        let mut pause = Duration::from_millis(20);
        loop {
            let body = json!({"RequestItems": {&self.table: requests}});
            match self.endpoint.call("BatchWriteItem", &body) {
                Ok(mut answer) => match answer["UnprocessedItems"][&self.table].take() {
                    Value::Array(rest) if !rest.is_empty() => requests = Value::Array(rest),
                    _ => break,
                },
                // One of them is at fault, or the table takes no batches: one by one.
                Err(CallError::Refused(..)) => return self.send_each(batch, news),
                Err(error) => {
                    let _ = news.send(News::Broken(error.to_string()));
                    return false;
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(5));
        }
        let bytes = batch.iter().map(|loaded| loaded.bytes as u64).sum();
        news.send(News::Done { items: batch.len() as u64, bytes }).is_ok()
    }

    fn send_each(&mut self, batch: Vec<Loaded>, news: &Sender<News>) -> bool {
        for loaded in batch {
            let body = json!({"TableName": self.table, "Item": loaded.item});
            let told = match self.endpoint.call("PutItem", &body) {
                Ok(_) => News::Done { items: 1, bytes: loaded.bytes as u64 },
                Err(error @ CallError::Refused(..)) => News::Fault(format!("{}: {error}", loaded.from)),
                Err(error) => {
                    let _ = news.send(News::Broken(error.to_string()));
                    return false;
                }
            };
            if news.send(told).is_err() {
                return false;
            }
        }
        true
    }
}

/// Makes the table, and waits until it is there.
fn create(options: &ImportOptions, endpoint: &mut Endpoint) -> Result<(), Failure> {
    let found = options.definition.clone().or_else(|| source::definition(&options.from));
    let Some(path) = found else {
        return Err(Failure::Usage(
            "--create: there is no table.json beside the files; name a file with --definition".into(),
        ));
    };
    let failed = |error: String| Failure::Failed(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    let mut request: Value = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    if request["Table"].is_object() {
        request = super::export::definition(&request["Table"]);
    }
    request["TableName"] = Value::String(options.at.table.clone());
    endpoint.call("CreateTable", &request).map_err(|error| failed(error.to_string()))?;
    for _ in 0..TABLE_PATIENCE {
        let table = described(endpoint, &options.at.table)?;
        if table["TableStatus"] == "ACTIVE" {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(Failure::Failed(format!("{} did not become ACTIVE within a minute", options.at.table)))
}
