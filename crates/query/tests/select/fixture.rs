//! A table, contexts and identifiers for read plans.

use model::types::DataType;
use query::context::Limits;
use query::{Context, Ids, QueryError, Request, Values, VirtualTables};
use schema::{Column, ColumnKind, Table, TableKind, TableOptions};
use std::cell::RefCell;
use std::sync::Arc;
use store::Store;
use store::naive::NaiveStore;

/// Makes no identifiers and no virtual rows.
pub struct Nothing;

impl Ids for Nothing {
    fn timeuuid(&self) -> [u8; 16] {
        [0; 16]
    }
    fn uuid(&self) -> [u8; 16] {
        [0; 16]
    }
}

impl VirtualTables for Nothing {
    fn rows(&self, _: &Table, _: Option<&dyn query::tenant::Gate>) -> Result<NaiveStore, QueryError> {
        Ok(NaiveStore::new())
    }
}

pub fn context<'a, S: Store>(store: &'a S, values: Values<'a>) -> Context<'a, S> {
    Context {
        store,
        virtuals: &Nothing,
        ids: &Nothing,
        limits: Limits::default(),
        memory: None,
        request: Request::new(values, 1),
        warnings: RefCell::new(Vec::new()),
    }
}

fn column(id: u32, name: &str, data_type: DataType, kind: ColumnKind) -> Column {
    Column {
        id,
        name: name.into(),
        data_type,
        kind,
        position: 0,
        descending: false,
        mask: None,
        checks: Vec::new(),
    }
}

/// `k int, c int, s int static, v2.. text`: column `s` has id 20, regular columns the given ids.
pub fn table(regulars: std::ops::Range<u32>, regular_type: DataType, with_static: bool) -> Arc<Table> {
    let regular = |id| column(id, &format!("v{id}"), regular_type.clone(), ColumnKind::Regular);
    let statics = match with_static {
        true => vec![column(20, "s", DataType::Int, ColumnKind::Static)],
        false => Vec::new(),
    };
    Arc::new(Table {
        id: 1000,
        uuid: [0; 16],
        keyspace: "ks".into(),
        name: "t".into(),
        kind: TableKind::Stored,
        partition_key: vec![column(0, "k", DataType::Int, ColumnKind::PartitionKey)],
        clustering: vec![column(1, "c", DataType::Int, ColumnKind::Clustering)],
        statics,
        regulars: regulars.map(regular).collect(),
        options: TableOptions::default(),
        dropped: Vec::new(),
        next_column_id: 30,
        incarnation: 0,
        indexes: Vec::new(),
        view: None,
        foreign: None,
        compact: None,
        row_ttl: None,
    })
}
