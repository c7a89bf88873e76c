//! A statement that was parsed and bound once: plan, marker specs, result columns, ids.
//!
//! Ids follow Cassandra: the MD5 of the keyspace and the text, so they are the same on every shard,
//! every node and after every restart.

use crate::CqlError;
use crate::analyze::AnalyzePlan;
use crate::bind::markers::Markers;
use crate::bind::{self, Scope};
use crate::ddl::DdlPlan;
use crate::declared::{self, Undeclared};
use crate::roles::RolePlan;
use crate::shape::{Shaped, shapes};
use crate::tenants;
use cql_syntax::ast::{self, Statement};
use design::act_as::{self, Profile};
use md5::{Digest, Md5};
use query::ColumnSpec;
use query::function::Choice;
use query::select::SelectPlan;
use query::write::{AssignmentKind, BatchPlan, Keys, Returned, TransactionPlan, WritePlan};
use rt::Clock;
use schema::Table;
use std::sync::Arc;

/// What executing a statement does.
pub enum Plan {
    Select(Box<SelectPlan>),
    Write(Arc<WritePlan>),
    Batch(BatchPlan),
    Use(Arc<str>),
    Ddl(Arc<DdlPlan>),
    Describe(Box<ast::Describe>),
    Explain(Box<crate::explain::ExplainPlan>),
    Analyze(Box<AnalyzePlan>),
    Role(Box<RolePlan>),
    Job(crate::jobs::JobPlan),
    ServiceLevel(Box<ast::ServiceLevel>),
    Transaction(Box<TransactionPlan>),
}

/// See the module.
pub struct Prepared {
    pub text: Arc<str>,
    /// The keyspace that unqualified names were looked up in.
    pub keyspace: Option<Arc<str>>,
    pub plan: Plan,
    pub markers: Arc<[ColumnSpec]>,
    /// For each partition key column, the marker that carries it; empty when not all have one.
    pub partition_markers: Vec<u16>,
    /// The columns of a SELECT; empty for statements whose result shape is not known in advance.
    pub columns: Arc<[ColumnSpec]>,
    pub id: [u8; 16],
    pub result_id: [u8; 16],
    /// The catalogue version (see `SharedCatalogue`) this was bound against.
    pub catalogue_version: u64,
    /// What it depends on: if one of these is no longer the catalogue's, the plan is stale.
    pub tables: Vec<Arc<Table>>,
    /// What it does, without its values; several of a batch.
    pub shapes: Vec<Shaped>,
    /// It is of no declared pattern, and its keyspace minds.
    pub undeclared: Option<Box<Undeclared>>,
    /// It has to pass the gate of tenants.
    pub tenanted: bool,
    /// It calls functions that somebody made: they have to be ready, and are nothing for the short ways.
    pub calls_functions: bool,
    /// What that was judged by.
    rules: declared::Rules,
}

impl Prepared {
    pub fn new(scope: Scope<'_>, text: &str, catalogue_version: u64) -> Result<Prepared, CqlError> {
        let parsed = cql_syntax::parse_statement(text).map_err(|e| CqlError::Syntax(e.to_string()))?;
        Prepared::bind(scope, text, &parsed, catalogue_version)
    }

    /// The same, where what another server refuses is refused as well.
    pub fn as_if(
        profile: Option<Profile>,
        scope: Scope<'_>,
        text: &str,
        catalogue_version: u64,
    ) -> Result<Prepared, CqlError> {
        let Some(profile) = profile else { return Prepared::new(scope, text, catalogue_version) };
        let parsed = cql_syntax::parse_statement(text).map_err(|e| CqlError::Syntax(e.to_string()))?;
        if let Some(refusal) = act_as::refused(profile, &parsed.statement, text) {
            return Err(refusal.into());
        }
        let prepared = Prepared::bind(scope, text, &parsed, catalogue_version)?;
        let refusal = match &prepared.plan {
            Plan::Write(plan) => computed(profile, plan),
            Plan::Batch(batch) => batch.statements.iter().find_map(|plan| computed(profile, plan)),
            _ => None,
        };
        match refusal {
            Some(refusal) => Err(refusal.into()),
            None => Ok(prepared),
        }
    }

    fn bind(
        scope: Scope<'_>,
        text: &str,
        parsed: &ast::ParsedStatement,
        catalogue_version: u64,
    ) -> Result<Prepared, CqlError> {
        // The markers of a declared pattern are part of what it declares: nobody binds them.
        let declares = matches!(&parsed.statement, Statement::CreatePattern(_) | Statement::AlterPattern(_));
        let mut markers = Markers::new(if declares { 0 } else { parsed.markers.len() });
        if matches!(&parsed.statement, Statement::CreateView(_)) && !parsed.markers.is_empty() {
            return Err(CqlError::invalid(
                "Bind variables are not allowed in CREATE MATERIALIZED VIEW statements",
            ));
        }
        bind::limits::check(&parsed.statement)?;
        let mut plan = match &parsed.statement {
            Statement::Explain(explain) if explain.analyze => {
                Plan::Analyze(Box::new(analyzed(scope, text, parsed, explain, &mut markers)?))
            }
            statement => bind_plan(scope, statement, &mut markers)?,
        };
        if let Plan::Ddl(ddl) = &mut plan
            && let Some(ddl) = Arc::get_mut(ddl)
        {
            ddl.text = text.to_string();
        }
        let markers: Arc<[ColumnSpec]> = markers
            .finish()
            .ok_or_else(|| CqlError::invalid("A bind marker stands where no value can be bound"))?
            .into();
        let columns: Arc<[ColumnSpec]> = match &plan {
            Plan::Select(select) => select.columns.clone(),
            Plan::Transaction(plan) => plan.columns().unwrap_or_else(|| Arc::new([])),
            _ => Arc::new([]),
        };
        let qualified = is_qualified(&parsed.statement);
        let keyspace = scope.keyspace.map(Arc::from);
        let shapes = shapes(&parsed.statement, &plan);
        let rules = declared::rules(scope.catalogue, &shapes);
        let tables = tables(&plan);
        let calls_functions = calls(&plan).next().is_some();
        Ok(Prepared {
            text: text.into(),
            id: statement_id(if qualified { None } else { scope.keyspace }, text),
            result_id: columns_id(&columns),
            partition_markers: partition_markers(&plan),
            tenanted: tenants::concerns(&tables),
            tables,
            calls_functions,
            undeclared: declared::judge(scope.catalogue, &shapes, &rules),
            rules,
            shapes,
            keyspace,
            plan,
            markers,
            columns,
            catalogue_version,
        })
    }

    /// Whether the statement answers with `[applied]`.
    pub fn is_conditional(&self) -> bool {
        match &self.plan {
            Plan::Write(plan) => plan.is_conditional(),
            Plan::Batch(batch) => batch.statements.iter().any(|s| s.is_conditional()),
            _ => false,
        }
    }

    /// Whether everything the plan was made from is still in `catalogue`, unchanged.
    pub fn is_current(&self, catalogue: &schema::Catalogue) -> bool {
        if let Plan::Analyze(plan) = &self.plan {
            return plan.inner.is_current(catalogue);
        }
        let tables = self.tables.iter().all(|t| {
            catalogue.table(&t.keyspace, &t.name).is_some_and(|now| Arc::ptr_eq(now, t) || **now == **t)
        });
        let calls = !self.calls_functions || calls(&self.plan).all(|choice| choice.is_current(catalogue));
        calls && tables && declared::rules(catalogue, &self.shapes) == self.rules
    }
}

/// Arithmetic on a column that is no counter, where the profile has none.
fn computed(profile: Profile, plan: &WritePlan) -> Option<act_as::Refusal> {
    let computed = plan.assignments.iter().find(|set| matches!(set.kind, AssignmentKind::Compute { .. }))?;
    act_as::refused_arithmetic(profile, &computed.name, plan.is_conditional())
}

/// The id a client gets for this text in this keyspace.
pub fn statement_id(keyspace: Option<&str>, text: &str) -> [u8; 16] {
    let mut hash = Md5::new();
    hash.update(keyspace.unwrap_or_default());
    hash.update(text);
    hash.finalize().into()
}

/// What columns look like to a client; it changes with their names and types.
pub fn columns_id(columns: &[ColumnSpec]) -> [u8; 16] {
    let mut hash = Md5::new();
    for column in columns {
        hash.update(&*column.name);
        hash.update([0]);
        hash.update(column.data_type.to_string());
        hash.update([0, 0]);
    }
    hash.finalize().into()
}

/// EXPLAIN ANALYZE: the statement is bound twice, to be told and to be executed.
fn analyzed(
    scope: Scope<'_>,
    text: &str,
    parsed: &ast::ParsedStatement,
    explain: &ast::Explain,
    markers: &mut Markers,
) -> Result<AnalyzePlan, CqlError> {
    let clock = rt::SystemClock;
    let began = clock.micros();
    let inner = ast::ParsedStatement {
        statement: (*explain.statement).clone(),
        markers: parsed.markers.clone(),
        span: explain.span,
    };
    let inner = Prepared::bind(scope, text, &inner, 0)?;
    let bind_micros = clock.micros() - began;
    if !matches!(inner.plan, Plan::Select(_) | Plan::Write(_) | Plan::Batch(_)) {
        return Err(CqlError::invalid("EXPLAIN ANALYZE takes SELECT, INSERT, UPDATE, DELETE or BATCH"));
    }
    let explain = crate::explain::bind(scope, explain, markers)?;
    Ok(AnalyzePlan { explain, inner, bind_micros })
}

pub(crate) fn bind_plan(
    scope: Scope<'_>,
    statement: &Statement,
    markers: &mut Markers,
) -> Result<Plan, CqlError> {
    let write = |plan| Plan::Write(Arc::new(plan));
    Ok(match statement {
        Statement::Select(select) => Plan::Select(Box::new(bind::select::bind(scope, select, markers)?)),
        Statement::Insert(insert) => write(bind::write::bind_insert(scope, insert, markers)?),
        Statement::Update(update) => write(bind::write::bind_update(scope, update, markers)?),
        Statement::Delete(delete) => write(bind::write::bind_delete(scope, delete, markers)?),
        Statement::Batch(batch) => Plan::Batch(bind::write::bind_batch(scope, batch, markers)?),
        Statement::Transaction(transaction) => {
            Plan::Transaction(Box::new(bind::transaction::bind(scope, transaction, markers)?))
        }
        Statement::Use(keyspace) => Plan::Use(keyspace.as_str().into()),
        Statement::Describe(describe) => Plan::Describe(Box::new(describe.clone())),
        Statement::Explain(explain) => {
            Plan::Explain(Box::new(crate::explain::bind(scope, explain, markers)?))
        }
        Statement::ServiceLevel(level) => Plan::ServiceLevel(level.clone()),
        Statement::CheckProjection(_) | Statement::OrderJob(_) => {
            match crate::jobs::bind(scope, statement)? {
                Some(job) => Plan::Job(job),
                None => return Err(CqlError::invalid("This is no statement about jobs")),
            }
        }
        other => match crate::roles::bind(scope, other)? {
            Some(role) => Plan::Role(Box::new(role)),
            None => Plan::Ddl(Arc::new(crate::ddl::bind(scope, other)?)),
        },
    })
}

/// Whether every table the statement names has its keyspace written out.
fn is_qualified(statement: &Statement) -> bool {
    match statement {
        Statement::Select(s) => s.table.keyspace.is_some(),
        Statement::Insert(s) => s.table.keyspace.is_some(),
        Statement::Update(s) => s.table.keyspace.is_some(),
        Statement::Delete(s) => s.table.keyspace.is_some(),
        Statement::Batch(batch) => batch.statements.iter().all(|s| s.table().keyspace.is_some()),
        _ => false,
    }
}

/// Functions that somebody made, and that executing the statement calls.
pub(crate) fn calls(plan: &Plan) -> Box<dyn Iterator<Item = &Choice> + '_> {
    match plan {
        Plan::Select(select) => Box::new(select.calls.iter()),
        Plan::Write(plan) => Box::new(plan.calls.iter()),
        Plan::Batch(batch) => Box::new(batch.statements.iter().flat_map(|plan| &plan.calls)),
        Plan::Analyze(plan) => calls(&plan.inner.plan),
        Plan::Transaction(plan) => {
            let reads = transaction_reads(plan).flat_map(|select| &select.calls);
            Box::new(reads.chain(plan.writes.iter().flat_map(|write| &write.calls)))
        }
        _ => Box::new(std::iter::empty()),
    }
}

fn tables(plan: &Plan) -> Vec<Arc<Table>> {
    match plan {
        Plan::Select(select) => vec![select.table.clone()],
        Plan::Write(plan) => vec![plan.table.clone()],
        Plan::Batch(batch) => batch.statements.iter().map(|s| s.table.clone()).collect(),
        Plan::Analyze(plan) => plan.inner.tables.clone(),
        Plan::Transaction(plan) => {
            let reads = transaction_reads(plan).map(|select| select.table.clone());
            reads.chain(plan.writes.iter().map(|write| write.table.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// The SELECTs of a transaction, the one that answers last.
pub(crate) fn transaction_reads(plan: &TransactionPlan) -> impl Iterator<Item = &SelectPlan> {
    let returned = match &plan.returning {
        Returned::Rows(select) => Some(&**select),
        _ => None,
    };
    plan.lets.iter().chain(returned)
}

fn partition_markers(plan: &Plan) -> Vec<u16> {
    let found: Option<Vec<u16>> = match plan {
        Plan::Select(select) => select.restrictions.partition_markers(),
        Plan::Write(plan) => write_partition_markers(plan).into_iter().collect(),
        Plan::Batch(batch) => batch_partition_markers(&batch.statements),
        Plan::Transaction(plan) if plan.writes.is_empty() => {
            transaction_reads(plan).last().and_then(|select| select.restrictions.partition_markers())
        }
        Plan::Transaction(plan) => batch_partition_markers(&plan.writes),
        _ => None,
    };
    found.unwrap_or_default()
}

/// In a batch on one table the last marker for each key column counts, as in Cassandra.
fn batch_partition_markers(statements: &[Arc<WritePlan>]) -> Option<Vec<u16>> {
    let first = statements.first()?;
    if statements.iter().any(|s| s.table.id != first.table.id) {
        return None;
    }
    let mut last: Vec<Option<u16>> = vec![None; first.table.partition_key.len()];
    for statement in statements {
        for (slot, marker) in last.iter_mut().zip(write_partition_markers(statement)) {
            *slot = marker.or(*slot);
        }
    }
    last.into_iter().collect()
}

/// The marker of each partition key column that has one.
fn write_partition_markers(plan: &WritePlan) -> Vec<Option<u16>> {
    let none = || vec![None; plan.table.partition_key.len()];
    match &plan.keys {
        _ if plan.json.is_some() => none(),
        // Drivers would make a key of the columns that there are; the bucket is computed.
        Keys::Values { partition, .. } if partition.len() < plan.table.partition_key.len() => none(),
        Keys::Values { partition, .. } => {
            partition.iter().map(|e| e.as_marker().and_then(|m| u16::try_from(m).ok())).collect()
        }
        Keys::Where(restrictions) => restrictions
            .partition_markers()
            .map_or_else(none, |markers| markers.into_iter().map(Some).collect()),
    }
}
