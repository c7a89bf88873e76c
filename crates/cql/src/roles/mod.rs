//! Roles and permissions, as Cassandra 5.0 has them with its password authenticator, role manager and authorizer.
//!
//! Everything is stored in the tables of `system_auth` and nowhere else. Whether a statement is allowed is decided from
//! a short-lived copy per shard (`grants`). Verifying passwords at login is the server's business.
//!
//! A session without a role is the server itself or a client of a server without authentication: it may do everything
//! except manage roles.

mod authorize;
mod bind;
mod lifecycle;
mod list;
mod member;
mod named;
mod permissions;
mod role;
mod secret;
mod tables;

pub use authorize::{Sight, authorize, authorize_writes};
pub use bind::{RolePlan, bind};
pub(crate) use lifecycle::{schema_changed, view_changed};
pub use secret::{without_secrets, without_values};

use crate::CqlError;
use crate::session::{Dialect, Session};
use database::grants::Grants;
use query::{Context, Rows};
pub use role::GENERATED_LETTERS;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use store::Store;
pub(crate) use tables::Tables;

/// Makes password hashes. It is slow on purpose, so it must not run on a shard's thread.
pub trait Passwords {
    fn hash(&self, password: String) -> Pin<Box<dyn Future<Output = Result<String, CqlError>>>>;

    /// Bytes that nobody can foresee, for a password that the server makes.
    fn random(&self) -> Result<[u8; GENERATED_LETTERS], CqlError>;
}

/// For databases that nobody logs in to: there, statements on roles are refused before a password matters.
pub struct NoPasswords;

impl Passwords for NoPasswords {
    fn hash(&self, _: String) -> Pin<Box<dyn Future<Output = Result<String, CqlError>>>> {
        Box::pin(std::future::ready(Err(CqlError::invalid("This database has no passwords"))))
    }

    fn random(&self) -> Result<[u8; GENERATED_LETTERS], CqlError> {
        Err(CqlError::invalid("This database has no passwords"))
    }
}

/// One statement on roles under way: who asks, and the tables.
struct Asked<'a, S: Store> {
    dialect: &'a Dialect<S>,
    ctx: &'a Context<'a, S>,
    tables: Tables<'a, S>,
    /// `None`: nobody is logged in.
    grants: Option<Rc<Grants>>,
}

impl<S: Store> Asked<'_, S> {
    fn is_superuser(&self) -> bool {
        self.grants.as_ref().is_some_and(|grants| grants.superuser)
    }

    /// Who asks. Nobody may manage roles without being somebody.
    fn grants(&self) -> Result<&Grants, CqlError> {
        self.grants.as_deref().ok_or_else(|| {
            let text = "You have to be logged in and not anonymous to perform this request";
            CqlError::Unauthorized(text.into())
        })
    }
}

/// What a role may do now.
pub(crate) async fn grants<S: Store>(
    dialect: &Dialect<S>,
    role: &Arc<str>,
    now_micros: i64,
) -> Result<Rc<Grants>, CqlError> {
    // In a box: it is needed rarely, and every request's future would have room for it.
    let read = async || Box::pin(async { Tables::new(dialect, now_micros).stored(role).await }).await;
    database::grants::grants(&dialect.runtime, role, now_micros, read).await
}

/// Executes a statement on roles.
pub async fn execute<S: Store>(
    dialect: &Dialect<S>,
    session: &Session,
    plan: &RolePlan,
    ctx: &Context<'_, S>,
) -> Result<Option<Rows>, CqlError> {
    let now_micros = ctx.request.now_micros;
    let grants = match &session.role {
        Some(role) => Some(grants(dialect, role, now_micros).await?),
        None => None,
    };
    let asked = Asked { dialect, ctx, tables: Tables::new(dialect, now_micros), grants };
    match plan {
        RolePlan::Create(create) => role::create(&asked, create).await,
        RolePlan::Alter(alter) => role::alter(&asked, alter).await,
        RolePlan::Drop { name, if_exists } => role::drop(&asked, name, *if_exists).await.map(|()| None),
        RolePlan::GrantRole { role, member } => member::grant(&asked, role, member).await.map(|()| None),
        RolePlan::RevokeRole { role, member } => member::revoke(&asked, role, member).await.map(|()| None),
        RolePlan::Grant(change) => permissions::grant(&asked, change).await.map(|()| None),
        RolePlan::Revoke(change) => permissions::revoke(&asked, change).await.map(|()| None),
        RolePlan::AddIdentity(add) => role::add_identity(&asked, add).await.map(|()| None),
        RolePlan::DropIdentity(drop) => role::drop_identity(&asked, drop).await.map(|()| None),
        RolePlan::ListRoles(query) => list::roles(&asked, query).await.map(Some),
        RolePlan::ListUsers => list::users(&asked).await.map(Some),
        RolePlan::ListSuperusers => list::superusers(&asked).await.map(Some),
        RolePlan::ListPermissions(query) => list::permissions(&asked, query).await,
    }
}
