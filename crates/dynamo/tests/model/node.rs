//! One shard on a simulated disk, with what the server does when it starts.

use super::Client;
use database::Runtime;
use database::catalogue::SharedCatalogue;
use database::ids::ShardIds;
use dynamo::run::{AllShards, Caller, Dynamo, Settings};
use engine::{Engine, EngineOptions};
use query::context::Limits;
use rt::{Clock, ManualClock, SimDisk};
use std::rc::Rc;
use std::sync::Arc;

pub const START_MICROS: i64 = 1_700_000_000_000_000;

pub struct Node {
    pub engine: Engine,
    pub client: Rc<Client>,
}

impl Node {
    /// `starts`: how often the machine was started, as far as its clock can tell.
    pub async fn start(disk: &SimDisk, starts: i64) -> Node {
        Node::start_with(disk, starts, Settings::default()).await
    }

    pub async fn start_with(disk: &SimDisk, starts: i64, settings: Settings) -> Node {
        let mut options = EngineOptions::new("/db");
        options.shards = 1;
        options.inline = true;
        // Segments are written whole: small ones make the test quick, and end within it.
        options.log_segment_bytes = 16 << 10;
        let clock = Arc::new(ManualClock::at_micros(START_MICROS + starts * 1_000_000));
        let (engine, opened) = Engine::open(Arc::new(disk.clone()), clock.clone(), options).unwrap();
        let catalogue = SharedCatalogue::open(opened.catalogue.as_deref(), clock.micros(), Ok).unwrap();
        let store = engine.store(0).unwrap();
        let catalogue = Arc::new(catalogue);
        catalogue.bootstrap(&store).await.unwrap();
        let ids = Rc::new(ShardIds::new(clock, 0, 7));
        let runtime = Rc::new(Runtime::new(store, catalogue, Box::new(ids.clone()), Limits::default()));
        let dynamo = Dynamo::new(runtime, Arc::new(AllShards::new(settings)));
        let node = Node { engine, client: Rc::new(Client { dynamo: Rc::new(dynamo), ids }) };
        // As the server does before the first request, and beside them.
        node.client.dynamo.remove_unfinished(&node.caller()).await;
        node.client.dynamo.recall_transfers(&node.caller()).await;
        node.client.dynamo.build_indexes(&node.caller()).await;
        node
    }

    pub fn caller(&self) -> Caller<'static> {
        Caller::new(None, self.client.ids.now_micros(), "")
    }

    pub async fn flush(&self) {
        self.engine.flush().await;
        // A job that fails is queued again.
        for _ in 0..4 {
            self.engine.run_jobs();
        }
    }
}

pub fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}
