//! Executes statements for one client: keyspace, role, dispatch by statement kind.
//!
//! One [`Dialect`] per shard. It holds no locks: the catalogue is a snapshot that is refreshed when
//! its version number has moved on.

use crate::catalogue::SharedCatalogue;
use crate::ddl::SchemaChange;
use crate::prepared::{Plan, Prepared};
use crate::system::SystemTables;
use crate::{bind::Scope, ddl, describe, explain, roles};
use cql_syntax::ast::Statement;
use query::context::Limits;
use query::write::{BatchKind, BatchPlan, WritePlan};
use query::{Context, Ids, QueryError, Request, Rows, Values};
use schema::Catalogue;
use std::cell::RefCell;
use std::sync::Arc;
use store::Store;

/// Who asks, and where.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Set by USE.
    pub keyspace: Option<Arc<str>>,
    /// The authenticated role; `None` when authentication is off: everything is allowed.
    pub role: Option<Arc<str>>,
}

/// What a statement answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    Void,
    Rows(Rows),
    SetKeyspace(Arc<str>),
    SchemaChange(SchemaChange),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub response: Response,
    pub warnings: Vec<String>,
}

/// CQL on one shard's store.
pub struct Dialect<S: Store> {
    pub store: S,
    pub shared: Arc<SharedCatalogue>,
    pub system: Arc<SystemTables>,
    pub ids: Box<dyn Ids>,
    pub limits: Limits,
    pub passwords: Box<dyn roles::Passwords>,
    pub(crate) grants: roles::Cache,
    snapshot: RefCell<(u64, Arc<Catalogue>)>,
}

impl<S: Store> Dialect<S> {
    pub fn new(
        store: S,
        shared: Arc<SharedCatalogue>,
        system: Arc<SystemTables>,
        ids: Box<dyn Ids>,
        limits: Limits,
        passwords: Box<dyn roles::Passwords>,
    ) -> Dialect<S> {
        let snapshot = RefCell::new(shared.load());
        Dialect { store, shared, system, ids, limits, passwords, grants: roles::Cache::default(), snapshot }
    }

    /// The current catalogue and its version; one atomic load when nothing has changed.
    pub fn catalogue(&self) -> (u64, Arc<Catalogue>) {
        let version = self.shared.version();
        let mut snapshot = self.snapshot.borrow_mut();
        if snapshot.0 != version {
            *snapshot = self.shared.load();
        }
        snapshot.clone()
    }

    /// Parses and binds a statement; `keyspace` overrides the session's (protocol v5).
    pub fn prepare(
        &self,
        session: &Session,
        keyspace: Option<&str>,
        text: &str,
    ) -> Result<Prepared, QueryError> {
        let (version, catalogue) = self.catalogue();
        if let Some(name) = keyspace.filter(|name| catalogue.keyspace(name).is_none()) {
            return Err(QueryError::invalid(format!("Keyspace '{name}' does not exist")));
        }
        let keyspace = keyspace.or(session.keyspace.as_deref());
        Prepared::new(Scope { catalogue: &catalogue, keyspace }, text, version)
    }

    /// Executes a prepared statement. The caller has checked that it is current.
    pub async fn execute(
        &self,
        session: &Session,
        prepared: &Prepared,
        request: Request<'_>,
    ) -> Result<Answer, QueryError> {
        // What a statement costs can be told without its values.
        if !matches!(prepared.plan, Plan::Explain(_)) {
            self.check_values(prepared, &request)?;
        }
        let sight = roles::authorize(self, session, prepared, request.now_micros).await?;
        let ctx = self.context(request);
        let response = match &prepared.plan {
            Plan::Select(select) => {
                let select = select.for_reader(sight == roles::Sight::Clear);
                Response::Rows(query::select::execute(select, &ctx).await?)
            }
            Plan::Write(plan) => rows_or_void(query::write::execute(&ctx, plan).await?),
            Plan::Batch(batch) => {
                let values = vec![ctx.request.values; batch.statements.len()];
                rows_or_void(batch.execute(&ctx, &values).await?)
            }
            Plan::Use(keyspace) => self.use_keyspace(keyspace)?,
            Plan::Ddl(plan) => self.ddl(session, &ctx, plan).await?,
            Plan::Describe(statement) => {
                let (_, catalogue) = self.catalogue();
                let scope = Scope { catalogue: &catalogue, keyspace: prepared.keyspace.as_deref() };
                Response::Rows(describe::execute(&scope, &self.system, statement, &ctx.request)?)
            }
            Plan::Explain(plan) => Response::Rows(explain::execute(plan)),
            Plan::Role(plan) => rows_or_void(roles::execute(self, session, plan, &ctx).await?),
        };
        Ok(Answer { response, warnings: ctx.warnings.into_inner() })
    }

    /// Executes the protocol's BATCH message: prepared or parsed writes, each with its own values.
    pub async fn batch(
        &self,
        session: &Session,
        kind: BatchKind,
        statements: Vec<Arc<WritePlan>>,
        values: &[Values<'_>],
        request: Request<'_>,
    ) -> Result<Answer, QueryError> {
        roles::authorize_writes(self, session, &statements, request.now_micros).await?;
        let plan = BatchPlan { kind, statements, timestamp: None };
        plan.check()?;
        let ctx = self.context(request);
        let response = rows_or_void(plan.execute(&ctx, values).await?);
        Ok(Answer { response, warnings: ctx.warnings.into_inner() })
    }

    pub(crate) fn context<'a>(&'a self, request: Request<'a>) -> Context<'a, S> {
        Context {
            store: &self.store,
            virtuals: &*self.system,
            ids: &*self.ids,
            limits: self.limits,
            request,
            warnings: RefCell::new(Vec::new()),
        }
    }

    pub(crate) fn check_values(&self, prepared: &Prepared, request: &Request<'_>) -> Result<(), QueryError> {
        let (expected, given) = (prepared.markers.len(), request.values.len());
        if expected != given {
            return Err(QueryError::invalid(format!(
                "there were {expected} markers(?) in CQL but {given} bound variables"
            )));
        }
        Ok(())
    }

    fn use_keyspace(&self, name: &Arc<str>) -> Result<Response, QueryError> {
        match self.catalogue().1.keyspace(name) {
            Some(_) => Ok(Response::SetKeyspace(name.clone())),
            None => Err(QueryError::invalid(format!("Keyspace '{name}' does not exist"))),
        }
    }

    async fn ddl(
        &self,
        session: &Session,
        ctx: &Context<'_, S>,
        plan: &ddl::DdlPlan,
    ) -> Result<Response, QueryError> {
        let now_micros = ctx.request.now_micros;
        let outcome = ddl::execute(plan, &self.shared, &self.store, now_micros).await?;
        // A view has no permissions of its own: those of its table count.
        let is_view = matches!(plan.statement, Statement::CreateView(_) | Statement::DropView(_));
        if let Some(change) = outcome.change.as_ref().filter(|_| !is_view) {
            roles::schema_changed(self, session, change, now_micros).await?;
        }
        outcome.warnings.into_iter().for_each(|w| ctx.warn(w));
        Ok(outcome.change.map_or(Response::Void, Response::SchemaChange))
    }
}

fn rows_or_void(rows: Option<Rows>) -> Response {
    rows.map_or(Response::Void, Response::Rows)
}
