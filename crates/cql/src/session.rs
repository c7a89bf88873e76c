//! Executes statements for one client: keyspace, role, dispatch by statement kind.
//!
//! One [`Dialect`] per shard: the shard's [`Runtime`] and what only CQL needs.

use crate::CqlError;
use crate::ddl::SchemaChange;
use crate::prepared::{Plan, Prepared};
use crate::system::SystemTables;
use crate::tenants::{self, Passage};
use crate::{bind::Scope, ddl, describe, explain, jobs, roles, service_level};
use cql_syntax::ast::{Statement, TableChange};
use database::Runtime;
use database::catalogue::SharedCatalogue;
use design::act_as::Profile;
use query::context::Limits;
use query::select::SelectPlan;
use query::write::{BatchKind, BatchPlan, WritePlan};
use query::{Context, Ids, Request, Rows, Values};
use rt::Budget;
use schema::Catalogue;
use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use store::{Store, StoreError, TableId};

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

impl Answer {
    /// Rows and bytes that it brings.
    pub fn size(&self) -> (u64, u64) {
        match &self.response {
            Response::Rows(rows) => (rows.count.into(), rows.body.len() as u64),
            _ => (0, 0),
        }
    }
}

/// CQL on one shard's store.
pub struct Dialect<S: Store> {
    pub runtime: Rc<Runtime<S>>,
    pub system: Arc<SystemTables>,
    pub passwords: Box<dyn roles::Passwords>,
    /// What this server refuses is refused here as well.
    pub profile: Option<Profile>,
}

/// A dialect is its shard's runtime, with a language.
impl<S: Store> Deref for Dialect<S> {
    type Target = Runtime<S>;

    fn deref(&self) -> &Runtime<S> {
        &self.runtime
    }
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
        let runtime = Rc::new(Runtime::new(store, shared, ids, limits));
        Dialect { runtime, system, passwords, profile: None }
    }

    /// Sorts and plans count against this budget. To be called before the dialect is shared.
    pub fn limited_to(mut self, memory: Budget) -> Dialect<S> {
        if let Some(runtime) = Rc::get_mut(&mut self.runtime) {
            runtime.memory = Some(memory);
        }
        self
    }

    /// Refuses what another server would refuse. To be called before the dialect is shared.
    pub fn acting_as(mut self, profile: Option<Profile>) -> Dialect<S> {
        self.profile = profile;
        self
    }

    /// Parses and binds a statement; `keyspace` overrides the session's (protocol v5).
    pub fn prepare(
        &self,
        session: &Session,
        keyspace: Option<&str>,
        text: &str,
    ) -> Result<Prepared, CqlError> {
        let (version, catalogue) = self.catalogue();
        let keyspace = chosen_keyspace(&catalogue, session, keyspace)?;
        Prepared::as_if(self.profile, Scope { catalogue: &catalogue, keyspace }, text, version)
    }

    /// What [`Dialect::prepare`] looks things up in, for a text that is parsed on another thread.
    pub fn scope(&self, session: &Session, keyspace: Option<&str>) -> Result<OwnedScope, CqlError> {
        let (version, catalogue) = self.catalogue();
        let keyspace = chosen_keyspace(&catalogue, session, keyspace)?.map(str::to_string);
        Ok(OwnedScope { version, catalogue, keyspace, profile: self.profile })
    }

    /// What a role may do now; for dialects that have no roles of their own.
    pub async fn grants(
        &self,
        role: &Arc<str>,
        now_micros: i64,
    ) -> Result<Rc<database::grants::Grants>, CqlError> {
        roles::grants(self, role, now_micros).await
    }

    /// Executes a prepared statement. The caller has checked that it is current.
    pub async fn execute(
        &self,
        session: &Session,
        prepared: &Prepared,
        request: Request<'_>,
    ) -> Result<Answer, CqlError> {
        let outcome = match &prepared.plan {
            Plan::Select(select) => self.select(session, prepared, select, request).await,
            // Apart, so that a read's future holds nothing of what schema statements and roles need: futures are moved.
            _ => Box::pin(self.execute_other(session, prepared, request)).await,
        };
        match outcome {
            Err(CqlError::Store(StoreError::UnknownTable(_))) => {
                Box::pin(self.execute_again(session, prepared, request)).await
            }
            outcome => outcome,
        }
    }

    /// A table was gone when its turn came. If its rows have only moved to another generation, the statement is bound to that and
    /// executed; nothing of it was done.
    async fn execute_again(
        &self,
        session: &Session,
        prepared: &Prepared,
        request: Request<'_>,
    ) -> Result<Answer, CqlError> {
        self.shared.changed().await;
        let gone = || {
            CqlError::Store(StoreError::UnknownTable(TableId(prepared.tables.first().map_or(0, |t| t.id))))
        };
        if !matches!(prepared.plan, Plan::Select(_) | Plan::Write(_) | Plan::Batch(_) | Plan::Transaction(_))
        {
            return Err(gone());
        }
        let session_there = Session { keyspace: prepared.keyspace.clone(), role: session.role.clone() };
        let now = self.prepare(&session_there, None, &prepared.text)?;
        // Whoever was told of other columns has to prepare again.
        let moved = now.tables.len() == prepared.tables.len()
            && now.tables.iter().zip(&prepared.tables).all(|(now, then)| now.generation(then.id).is_some());
        match moved && now.result_id == prepared.result_id {
            true => match &now.plan {
                Plan::Select(select) => self.select(session, &now, select, request).await,
                _ => self.execute_other(session, &now, request).await,
            },
            false => Err(gone()),
        }
    }

    /// Executes a SELECT.
    pub(crate) async fn select(
        &self,
        session: &Session,
        prepared: &Prepared,
        select: &SelectPlan,
        mut request: Request<'_>,
    ) -> Result<Answer, CqlError> {
        self.check_values(prepared, &request)?;
        let sight = roles::authorize(self, session, prepared, request.now_micros).await?;
        if prepared.undeclared.is_some() {
            Box::pin(self.undeclared(session, prepared, request.now_micros)).await?;
        }
        if prepared.calls_functions {
            Box::pin(self.ready(select.calls.iter())).await?;
        }
        request.masked = sight == roles::Sight::Masked;
        let select = select.for_reader(sight == roles::Sight::Clear);
        if prepared.tenanted {
            return Box::pin(self.select_tenanted(session, select, request)).await;
        }
        let ctx = self.context(request);
        let response = Response::Rows(query::select::execute(select, &ctx).await?);
        Ok(Answer { response, warnings: ctx.warnings.into_inner() })
    }

    /// A SELECT that has to pass the gate of tenants.
    async fn select_tenanted(
        &self,
        session: &Session,
        select: &SelectPlan,
        request: Request<'_>,
    ) -> Result<Answer, CqlError> {
        let passage = self.passage(session, request.now_micros).await?;
        passage.system(self, select, &request)?;
        let ctx = self.context(passage.through(request));
        let outcome = query::select::execute(select, &ctx).await;
        let warnings = ctx.warnings.into_inner();
        passage.finish(request.account);
        Ok(Answer { response: Response::Rows(outcome?), warnings })
    }

    async fn execute_other(
        &self,
        session: &Session,
        prepared: &Prepared,
        mut request: Request<'_>,
    ) -> Result<Answer, CqlError> {
        // What a statement costs can be told without its values.
        if !matches!(prepared.plan, Plan::Explain(_)) {
            self.check_values(prepared, &request)?;
        }
        if let Plan::Analyze(plan) = &prepared.plan {
            return crate::analyze::execute(self, session, plan, request).await;
        }
        let sight = roles::authorize(self, session, prepared, request.now_micros).await?;
        self.undeclared(session, prepared, request.now_micros).await?;
        self.ready(crate::prepared::calls(&prepared.plan)).await?;
        request.masked = sight == roles::Sight::Masked;
        let passage = match prepared.tenanted {
            true => Some(self.passage(session, request.now_micros).await?),
            false => None,
        };
        let outer = request.account;
        let outcome = self.dispatch(session, prepared, sight, through(&passage, request)).await;
        if let Some(passage) = passage {
            passage.finish(outer);
        }
        outcome
    }

    /// Executes a statement that may be executed.
    async fn dispatch(
        &self,
        session: &Session,
        prepared: &Prepared,
        sight: roles::Sight,
        request: Request<'_>,
    ) -> Result<Answer, CqlError> {
        let ctx = self.context(request);
        let response = match &prepared.plan {
            Plan::Select(_) | Plan::Analyze(_) => {
                return Err(CqlError::invalid("This statement is executed by itself"));
            }
            Plan::Write(plan) => rows_or_void(query::write::execute(&ctx, plan).await?),
            Plan::Batch(batch) => {
                let values = vec![ctx.request.values; batch.statements.len()];
                rows_or_void(batch.execute(&ctx, &values).await?)
            }
            Plan::Transaction(plan) => rows_or_void(plan.execute(&ctx, sight == roles::Sight::Clear).await?),
            Plan::Use(keyspace) => self.use_keyspace(keyspace)?,
            Plan::Ddl(plan) => self.ddl(session, &ctx, plan).await?,
            Plan::Describe(statement) => {
                // The whole schema may be asked for, which takes long to print.
                let (_, catalogue) = self.catalogue();
                let (system, statement, keyspace) =
                    (self.system.clone(), statement.clone(), prepared.keyspace.clone());
                let state = ctx.request.paging_state.map(<[u8]>::to_vec);
                let (now_micros, page_size) = (ctx.request.now_micros, ctx.request.page_size);
                let rows = rt::aside(move || {
                    let scope = Scope { catalogue: &catalogue, keyspace: keyspace.as_deref() };
                    let mut request = Request::new(Values::NONE, now_micros);
                    request.page_size = page_size;
                    request.paging_state = state.as_deref();
                    describe::execute(&scope, &system, &statement, &request)
                });
                Response::Rows(rows.await?)
            }
            Plan::Explain(plan) => Response::Rows(explain::execute(plan)),
            Plan::ServiceLevel(statement) => {
                let (rows, warning) = service_level::answer(statement);
                ctx.warn(warning);
                rows_or_void(rows)
            }
            Plan::Job(plan) => rows_or_void(jobs::execute(self, plan, ctx.request.now_micros).await?),
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
        mut request: Request<'_>,
    ) -> Result<Answer, CqlError> {
        let sight = roles::authorize_writes(self, session, &statements, request.now_micros).await?;
        request.masked = sight == roles::Sight::Masked;
        let plan = BatchPlan { kind, statements, timestamp: None };
        plan.check()?;
        self.ready(plan.statements.iter().flat_map(|plan| &plan.calls)).await?;
        let passage = match tenants::concerns_writes(&plan.statements) {
            true => Some(self.passage(session, request.now_micros).await?),
            false => None,
        };
        let ctx = self.context(through(&passage, request));
        let outcome = plan.execute(&ctx, values).await;
        let warnings = ctx.warnings.into_inner();
        if let Some(passage) = passage {
            passage.finish(request.account);
        }
        Ok(Answer { response: rows_or_void(outcome?), warnings })
    }

    pub(crate) fn context<'a>(&'a self, request: Request<'a>) -> Context<'a, S> {
        Context {
            store: &self.store,
            virtuals: &*self.system,
            ids: &*self.ids,
            limits: self.limits,
            memory: self.memory.as_ref(),
            request,
            warnings: RefCell::new(Vec::new()),
        }
    }

    pub(crate) fn check_values(&self, prepared: &Prepared, request: &Request<'_>) -> Result<(), CqlError> {
        let (expected, given) = (prepared.markers.len(), request.values.len());
        if expected != given {
            return Err(CqlError::invalid(format!(
                "there were {expected} markers(?) in CQL but {given} bound variables"
            )));
        }
        Ok(())
    }

    fn use_keyspace(&self, name: &Arc<str>) -> Result<Response, CqlError> {
        match self.catalogue().1.keyspace(name) {
            Some(_) => Ok(Response::SetKeyspace(name.clone())),
            None => Err(CqlError::invalid(format!("Keyspace '{name}' does not exist"))),
        }
    }

    async fn ddl(
        &self,
        session: &Session,
        ctx: &Context<'_, S>,
        plan: &Arc<ddl::DdlPlan>,
    ) -> Result<Response, CqlError> {
        let now_micros = ctx.request.now_micros;
        self.check_function(plan).await?;
        self.guard_bound(&plan.statement, &plan.keyspace, now_micros).await?;
        let outcome = ddl::execute(plan, &self.shared, &self.store, now_micros).await?;
        // A view has no permissions of its own: those of its table count.
        let is_view = matches!(plan.statement, Statement::CreateView(_) | Statement::DropView(_));
        if let Some(change) = outcome.change.as_ref().filter(|_| !is_view) {
            roles::schema_changed(self, session, change, now_micros).await?;
        }
        if let Some(change) = &outcome.change
            && let Some(name) = gone_or_new_view(&plan.statement)
        {
            roles::view_changed(self, (&plan.keyspace, name), change, now_micros).await?;
        }
        outcome.warnings.into_iter().for_each(|w| ctx.warn(w));
        Ok(outcome.change.map_or(Response::Void, Response::SchemaChange))
    }
}

/// The view or projection whose name means something else now, or nothing.
fn gone_or_new_view(statement: &Statement) -> Option<&str> {
    Some(match statement {
        Statement::CreateView(create) if create.is_projection => create.name.as_str(),
        Statement::DropView(drop) => drop.name.as_str(),
        Statement::AlterTable(alter) => match &alter.change {
            TableChange::Replace { new, .. } => new.as_str(),
            _ => return None,
        },
        _ => return None,
    })
}

/// The request with the gate that it has to pass, if there is one.
pub(crate) fn through<'r, S: Store>(
    passage: &'r Option<Passage<'_, S>>,
    request: Request<'r>,
) -> Request<'r> {
    match passage {
        Some(passage) => passage.through(request),
        None => request,
    }
}

/// A snapshot of the catalogue and a keyspace: what binding needs, and nothing of the shard.
pub struct OwnedScope {
    version: u64,
    catalogue: Arc<Catalogue>,
    keyspace: Option<String>,
    profile: Option<Profile>,
}

impl OwnedScope {
    /// Parses and binds a statement.
    pub fn prepare(&self, text: &str) -> Result<Prepared, CqlError> {
        let scope = Scope { catalogue: &self.catalogue, keyspace: self.keyspace.as_deref() };
        Prepared::as_if(self.profile, scope, text, self.version)
    }
}

/// The keyspace of the request, or the session's.
fn chosen_keyspace<'k>(
    catalogue: &Catalogue,
    session: &'k Session,
    keyspace: Option<&'k str>,
) -> Result<Option<&'k str>, CqlError> {
    match keyspace.filter(|name| catalogue.keyspace(name).is_none()) {
        Some(name) => Err(CqlError::invalid(format!("Keyspace '{name}' does not exist"))),
        None => Ok(keyspace.or(session.keyspace.as_deref())),
    }
}

fn rows_or_void(rows: Option<Rows>) -> Response {
    rows.map_or(Response::Void, Response::Rows)
}
