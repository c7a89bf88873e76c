//! CHECK and REPAIR PROJECTION, and orders to jobs.

use crate::CqlError;
use crate::bind::Scope;
use crate::session::Dialect;
use crate::system::key_text;
use cql_syntax::ast::{CheckProjection, JobOrder, OrderJob, Property, Statement};
use database::builds;
use database::check::{self, Drift};
use database::grants::{Permission, Resource};
use database::jobs::{Limits, NewLimits, Order};
use model::types::DataType;
use query::spec::put_value;
use query::{ColumnSpec, Rows};
use schema::Catalogue;
use store::Store;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum JobPlan {
    Check { keyspace: String, name: String, repair: bool },
    Order { id: u64, order: Order },
}

/// `None`: the statement is about something else.
pub fn bind(scope: Scope<'_>, statement: &Statement) -> Result<Option<JobPlan>, CqlError> {
    Ok(Some(match statement {
        Statement::CheckProjection(CheckProjection { repair, name }) => JobPlan::Check {
            keyspace: scope.keyspace_name(name.keyspace_str())?.to_string(),
            name: name.as_str().to_string(),
            repair: *repair,
        },
        Statement::OrderJob(OrderJob { id, order }) => JobPlan::Order {
            id: *id,
            order: match order {
                JobOrder::Pause => Order::Pause,
                JobOrder::Resume => Order::Resume,
                JobOrder::Cancel => Order::Cancel,
                JobOrder::With(properties) => Order::Limit(limits(properties)?),
            },
        },
        _ => return Ok(None),
    }))
}

/// The settings of a job; 0 for no limit.
fn limits(properties: &[Property]) -> Result<NewLimits, CqlError> {
    let mut limits = NewLimits::default();
    for property in properties {
        let name = property.name.as_str();
        let limit = match name {
            "rows_per_second" => &mut limits.rows_per_second,
            "mb_per_second" => &mut limits.mb_per_second,
            "p99_ms" => &mut limits.p99_millis,
            _ => {
                return Err(CqlError::Invalid(format!(
                    "A job has no setting {name}; it has rows_per_second, mb_per_second and p99_ms"
                )));
            }
        };
        let text = property.value.to_string();
        let number: u32 = text.trim_matches('\'').parse().map_err(|_| {
            CqlError::Invalid(format!("{name} is a whole number, 0 for no limit, not {text}"))
        })?;
        *limit = Some((number > 0).then_some(number));
    }
    Ok(limits)
}

impl JobPlan {
    /// The permission that it takes, on the table that the copy is made of. `None`: executing will say that there is no such thing.
    pub fn needs<S: Store>(&self, dialect: &Dialect<S>) -> Option<(Permission, Resource)> {
        match self {
            JobPlan::Check { keyspace, name, repair } => {
                let base = check::base_of(&dialect.catalogue().1, keyspace, name)?;
                let permission = if *repair { Permission::Alter } else { Permission::Select };
                Some((permission, Resource::Table(keyspace.clone(), base.to_string())))
            }
            JobPlan::Order { id, .. } => {
                let job = dialect.shared.jobs().find(*id)?;
                let table = Resource::Table(job.subject.keyspace.to_string(), job.subject.table.to_string());
                Some((Permission::Alter, table))
            }
        }
    }
}

/// Rows for a check, nothing for an order.
pub async fn execute<S: Store>(
    dialect: &Dialect<S>,
    plan: &JobPlan,
    now_micros: i64,
) -> Result<Option<Rows>, CqlError> {
    match plan {
        JobPlan::Order { id, order } => {
            builds::order(*id, *order, &dialect.shared, &dialect.store, now_micros).await?;
            Ok(None)
        }
        JobPlan::Check { keyspace, name, repair } => {
            let place = (keyspace.as_str(), name.as_str());
            let report =
                check::run(&dialect.shared, &dialect.store, place, *repair, now_micros, Limits::default())
                    .await?;
            Ok(Some(rows(&dialect.catalogue().1, keyspace, name, &report)))
        }
    }
}

/// One row: what differs, and the keys of the first few.
fn rows(catalogue: &Catalogue, keyspace: &str, name: &str, report: &check::Report) -> Rows {
    let base = check::base_of(catalogue, keyspace, name).and_then(|base| catalogue.table(keyspace, &base));
    let example = |(drift, key): &(Drift, model::key::PartitionKey)| {
        let word = match drift {
            Drift::Missing => "missing",
            Drift::Extra => "extra",
            Drift::Stale => "stale",
        };
        let key = base.map_or_else(String::new, |base| key_text(base, key.bytes()));
        format!("{word}: {key}")
    };
    let examples = report.examples.iter().map(example).collect::<Vec<_>>().join("; ");
    let numbers = [
        ("missing", report.missing),
        ("extra", report.extra),
        ("stale", report.stale),
        ("repaired", report.repaired),
        ("rows", report.rows),
        ("copies", report.copies),
    ];
    let column = |name: &str, data_type: DataType| ColumnSpec {
        keyspace: "system_views".into(),
        table: "projections".into(),
        name: name.into(),
        data_type,
    };
    let mut columns: Vec<ColumnSpec> =
        numbers.iter().map(|(name, _)| column(name, DataType::BigInt)).collect();
    columns.push(column("examples", DataType::Text));
    let mut rows = Rows::empty(columns.into());
    for (_, number) in numbers {
        put_value(&mut rows.body, Some(&(number as i64).to_be_bytes()));
    }
    put_value(&mut rows.body, Some(examples.as_bytes()));
    rows.count = 1;
    rows
}
