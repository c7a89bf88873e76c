//! Tables as DescribeTable shows them.

use super::Dynamo;
use super::settings::ACCOUNT;
use crate::table::{Facts, TableDefinition, TableStatus};
use store::Store;

impl<S: Store> Dynamo<S> {
    /// `{"member": description}`; `counted` are items and bytes, of the table and of its indexes.
    pub(super) fn description(
        &self,
        member: &str,
        definition: &TableDefinition,
        status: TableStatus,
        counted: (i64, i64),
        indexes: &[(i64, i64)],
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        let mut object = crate::json::Writer::object(&mut out);
        let facts = Facts {
            arn_prefix: &format!("arn:aws:dynamodb:{}:{ACCOUNT}:table/", self.shared.settings.region),
            status,
            items: counted.0,
            bytes: counted.1,
            indexes,
            vector_indexes: &[],
        };
        definition.describe(&facts, object.key(member));
        object.end();
        out
    }
}
