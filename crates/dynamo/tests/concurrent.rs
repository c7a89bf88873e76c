//! Requests of several clients at once on two shards of a real engine, held against `model`. Then the same again after the server ended
//! without a word.

mod model;

use database::Runtime;
use database::catalogue::SharedCatalogue;
use database::ids::ShardIds;
use dynamo::run::{AllShards, Dynamo, Settings};
use engine::{Durability, Engine, EngineOptions};
use model::{Client, Told, Worker, check, create};
use query::context::Limits;
use rt::{Clock, RealDisk, ShardThreads, SystemClock};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

const SHARDS: usize = 2;
const TASKS: u64 = 5;
const TURNS: u64 = 60;

fn on_threads(dir: &Path, first: bool, told: &Arc<Mutex<Told>>) {
    let mut options = EngineOptions::new(dir);
    options.shards = SHARDS;
    options.durability = Durability::Sync;
    options.log_segment_bytes = 256 << 10;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let (engine, opened) = Engine::open(Arc::new(RealDisk), clock.clone(), options).unwrap();
    let catalogue = SharedCatalogue::open(opened.catalogue.as_deref(), clock.micros(), Ok).unwrap();
    let (catalogue, shared) = (Arc::new(catalogue), Arc::new(AllShards::new(Settings::default())));
    let (told, ready) = (told.clone(), Arc::new(tokio::sync::Barrier::new(SHARDS)));
    let main = move |index: usize| {
        let (engine, catalogue, shared) = (engine.clone(), catalogue.clone(), shared.clone());
        let (told, ready, clock) = (told.clone(), ready.clone(), clock.clone());
        async move {
            let store = engine.store(index).unwrap();
            if index == 0 {
                catalogue.bootstrap(&store).await.unwrap();
            }
            ready.wait().await;
            let ids = Rc::new(ShardIds::new(clock, index, 7));
            let runtime = Rc::new(Runtime::new(store, catalogue, Box::new(ids.clone()), Limits::default()));
            let client = Rc::new(Client { dynamo: Rc::new(Dynamo::new(runtime, shared)), ids });
            if index == 0 && first {
                create(&client).await;
            }
            ready.wait().await;
            if first {
                let worker = |n| Worker::new(&client, index as u64 * TASKS + n, TURNS, &told);
                let tasks: Vec<_> = (0..TASKS).map(|n| tokio::task::spawn_local(worker(n).work())).collect();
                for task in tasks {
                    task.await.unwrap();
                }
            }
            ready.wait().await;
            if index == 0 {
                // Taken out, so that no lock is held while waiting, and put back for the next round.
                let told_now = std::mem::take(&mut *told.lock().unwrap());
                assert!(told_now.acknowledged() > 200);
                check(&client, &told_now).await;
                *told.lock().unwrap() = told_now;
            }
            ready.wait().await;
        }
    };
    ShardThreads::start(SHARDS, main).unwrap().join().unwrap();
}

#[test]
fn what_clients_were_told_is_what_table_index_and_stream_say() {
    let dir = tempfile::tempdir().unwrap();
    let told = Arc::new(Mutex::new(Told::default()));
    on_threads(dir.path(), true, &told);
    // The log has it all.
    on_threads(dir.path(), false, &told);
}
