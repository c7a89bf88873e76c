//! The stored tables of `system_auth`, read and written by ordinary statements that the server runs itself.
//!
//! Every change is one commit, so no crash leaves a permission without its index entry.

use crate::CqlError;
use crate::prepared::Plan;
use crate::session::{Dialect, Response, Session};
use database::grants::{PermissionSet, StoredRole};
use model::types::DataType;
use model::value::elements::elements;
use model::value::encode_set;
use query::write::BatchKind;
use query::{Bound, Request, Values};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use store::Store;

/// Writes per commit: keeps a batch below the size at which it is refused.
const WRITES_PER_COMMIT: usize = 100;

/// Rows read at a time.
const PAGE_ROWS: u32 = 5_000;

type Cells = Vec<Option<Vec<u8>>>;

/// One row of `system_auth.roles`, without the password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    pub can_login: bool,
    pub is_superuser: bool,
    pub member_of: Vec<String>,
}

/// A change to one row, with its values.
pub struct Write {
    text: &'static str,
    values: Vec<Option<Vec<u8>>>,
}

impl Write {
    pub fn new(text: &'static str, values: &[&str]) -> Write {
        Write { text, values: values.iter().map(|v| Some(v.as_bytes().to_vec())).collect() }
    }

    /// The same with a value in front.
    pub fn first(mut self, value: Option<Vec<u8>>) -> Write {
        self.values.insert(0, value);
        self
    }
}

pub fn text_set(values: impl IntoIterator<Item = impl Into<String>>) -> Option<Vec<u8>> {
    let values: Vec<String> = values.into_iter().map(Into::into).collect();
    Some(encode_set(&DataType::Text, values))
}

/// See the module. Lives for one statement.
pub struct Tables<'d, S: Store> {
    dialect: &'d Dialect<S>,
    now_micros: i64,
}

impl<'d, S: Store> Tables<'d, S> {
    pub fn new(dialect: &'d Dialect<S>, now_micros: i64) -> Tables<'d, S> {
        Tables { dialect, now_micros }
    }

    pub async fn role(&self, name: &str) -> Result<Option<Role>, CqlError> {
        let text = "SELECT role, can_login, is_superuser, member_of FROM system_auth.roles WHERE role = ?";
        Ok(self.rows(text, &[name]).await?.into_iter().next().map(as_role))
    }

    /// A role with everything granted to it and to the roles it is a member of.
    pub async fn stored(&self, role: &str) -> Result<StoredRole, CqlError> {
        let roles = self.with_parents(role, true).await?;
        let mut granted = Vec::new();
        for name in roles.keys() {
            granted.extend(self.permissions(name).await?);
        }
        let superuser = roles.values().any(|role| role.is_superuser);
        Ok(StoredRole { superuser, roles: roles.into_keys().collect(), granted })
    }

    pub async fn all_roles(&self) -> Result<Vec<Role>, CqlError> {
        let text = "SELECT role, can_login, is_superuser, member_of FROM system_auth.roles";
        Ok(self.rows(text, &[]).await?.into_iter().map(as_role).collect())
    }

    /// A role and all that it is a member of, directly or through others; empty if it does not exist.
    pub async fn with_parents(
        &self,
        name: &str,
        recursive: bool,
    ) -> Result<BTreeMap<String, Role>, CqlError> {
        let mut found = BTreeMap::new();
        let mut seen = BTreeSet::from([name.to_string()]);
        let mut open = vec![name.to_string()];
        while let Some(next) = open.pop() {
            let Some(role) = self.role(&next).await? else { continue };
            let expand = recursive || next == name;
            for parent in role.member_of.iter().filter(|_| expand) {
                if seen.insert(parent.clone()) {
                    open.push(parent.clone());
                }
            }
            found.insert(next, role);
        }
        Ok(found)
    }

    /// The roles that were granted this one.
    pub async fn members(&self, role: &str) -> Result<Vec<String>, CqlError> {
        let text = "SELECT member FROM system_auth.role_members WHERE role = ?";
        Ok(self.rows(text, &[role]).await?.iter().map(|row| text_at(row, 0)).collect())
    }

    /// What a role was granted itself: resource names and permissions.
    pub async fn permissions(&self, role: &str) -> Result<Vec<(String, PermissionSet)>, CqlError> {
        let text = "SELECT resource, permissions FROM system_auth.role_permissions WHERE role = ?";
        let rows = self.rows(text, &[role]).await?;
        Ok(rows.iter().map(|row| (text_at(row, 0), set_at(row, 1))).collect())
    }

    pub async fn permissions_on(&self, role: &str, resource: &str) -> Result<PermissionSet, CqlError> {
        let text = "SELECT permissions FROM system_auth.role_permissions WHERE role = ? AND resource = ?";
        let rows = self.rows(text, &[role, resource]).await?;
        Ok(rows.first().map_or(PermissionSet::default(), |row| set_at(row, 0)))
    }

    /// Role, resource name and permissions of everybody.
    pub async fn all_permissions(&self) -> Result<Vec<(String, String, PermissionSet)>, CqlError> {
        let text = "SELECT role, resource, permissions FROM system_auth.role_permissions";
        let rows = self.rows(text, &[]).await?;
        Ok(rows.iter().map(|row| (text_at(row, 0), text_at(row, 1), set_at(row, 2))).collect())
    }

    /// The roles that have a permission on exactly this resource.
    pub async fn holders(&self, resource: &str) -> Result<Vec<String>, CqlError> {
        let text = "SELECT role FROM system_auth.resource_role_permissons_index WHERE resource = ?";
        Ok(self.rows(text, &[resource]).await?.iter().map(|row| text_at(row, 0)).collect())
    }

    /// Every resource that somebody has a permission on.
    pub async fn granted_resources(&self) -> Result<BTreeSet<String>, CqlError> {
        let text = "SELECT resource, role FROM system_auth.resource_role_permissons_index";
        Ok(self.rows(text, &[]).await?.iter().map(|row| text_at(row, 0)).collect())
    }

    /// The role an identity stands for.
    pub async fn identity(&self, identity: &str) -> Result<Option<String>, CqlError> {
        let text = "SELECT role FROM system_auth.identity_to_role WHERE identity = ?";
        Ok(self.rows(text, &[identity]).await?.first().map(|row| text_at(row, 0)))
    }

    pub async fn identities_of(&self, role: &str) -> Result<Vec<String>, CqlError> {
        let rows = self.rows("SELECT identity, role FROM system_auth.identity_to_role", &[]).await?;
        Ok(rows.iter().filter(|row| text_at(row, 1) == role).map(|row| text_at(row, 0)).collect())
    }

    /// Keys that sign requests of the DynamoDB API.
    pub async fn access_keys_of(&self, role: &str) -> Result<Vec<String>, CqlError> {
        let rows = self.rows("SELECT access_key, role FROM system_auth.access_keys", &[]).await?;
        Ok(rows.iter().filter(|row| text_at(row, 1) == role).map(|row| text_at(row, 0)).collect())
    }

    /// Creates a role unless it exists; `false` if it does.
    pub async fn create(&self, role: &Role, hash: Option<String>) -> Result<bool, CqlError> {
        let text = "INSERT INTO system_auth.roles (role, can_login, is_superuser, salted_hash) \
                    VALUES (?, ?, ?, ?) IF NOT EXISTS";
        let flag = |value: bool| Some(vec![u8::from(value)]);
        let values = [
            Some(role.name.clone().into_bytes()),
            flag(role.can_login),
            flag(role.is_superuser),
            hash.map(String::into_bytes),
        ];
        let rows = self.run(text, &values).await?;
        self.changed();
        Ok(rows.first().and_then(|row| row.first()).is_some_and(|applied| applied.as_deref() == Some(&[1])))
    }

    /// Makes the changes, all at once (very many: in groups, in this order), and lets every shard see them.
    pub async fn write(&self, writes: Vec<Write>) -> Result<(), CqlError> {
        self.write_at(writes, self.now_micros).await
    }

    /// The same as of another time.
    pub async fn write_at(&self, writes: Vec<Write>, micros: i64) -> Result<(), CqlError> {
        for group in writes.chunks(WRITES_PER_COMMIT) {
            let mut plans = Vec::with_capacity(group.len());
            for write in group {
                let prepared = self.dialect.prepare(&Session::default(), None, write.text)?;
                if let Plan::Write(plan) = prepared.plan {
                    plans.push(plan);
                }
            }
            let bound: Vec<Vec<Bound<'_>>> = group.iter().map(|write| bound(&write.values)).collect();
            let values: Vec<Values<'_>> = bound.iter().map(|values| Values(values)).collect();
            let request = Request::new(Values::NONE, micros);
            self.dialect.batch(&Session::default(), BatchKind::Logged, plans, &values, request).await?;
            self.changed();
        }
        Ok(())
    }

    fn changed(&self) {
        self.dialect.shared.grants.advance();
    }

    async fn rows(&self, text: &str, values: &[&str]) -> Result<Vec<Cells>, CqlError> {
        let values: Vec<_> = values.iter().map(|value| Some(value.as_bytes().to_vec())).collect();
        self.run(text, &values).await
    }

    /// All rows of a statement. Boxed: a role statement is itself run by what this calls.
    fn run<'f>(
        &'f self,
        text: &'f str,
        values: &'f [Option<Vec<u8>>],
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Cells>, CqlError>> + 'f>> {
        Box::pin(async move {
            let session = Session::default();
            let prepared = self.dialect.prepare(&session, None, text)?;
            let bound = bound(values);
            let mut all = Vec::new();
            let mut state: Option<Vec<u8>> = None;
            loop {
                let mut request = Request::new(Values(&bound), self.now_micros);
                request.page_size = Some(PAGE_ROWS);
                request.paging_state = state.as_deref();
                let answer = self.dialect.execute(&session, &prepared, request).await?;
                let Response::Rows(rows) = answer.response else { return Ok(all) };
                let owned =
                    |row: Vec<Option<&[u8]>>| row.into_iter().map(|cell| cell.map(<[u8]>::to_vec)).collect();
                all.extend(rows.values().map(owned));
                match rows.paging_state {
                    Some(next) => state = Some(next),
                    None => return Ok(all),
                }
            }
        })
    }
}

fn bound(values: &[Option<Vec<u8>>]) -> Vec<Bound<'_>> {
    values.iter().map(|value| value.as_deref().map_or(Bound::Null, Bound::Value)).collect()
}

fn cell(row: &Cells, index: usize) -> Option<&[u8]> {
    row.get(index).and_then(|cell| cell.as_deref())
}

fn text_at(row: &Cells, index: usize) -> String {
    String::from_utf8_lossy(cell(row, index).unwrap_or_default()).into_owned()
}

fn texts_at(row: &Cells, index: usize) -> Vec<String> {
    let parts =
        cell(row, index).and_then(|bytes| elements(bytes).ok()).into_iter().flatten().flatten().flatten();
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

fn set_at(row: &Cells, index: usize) -> PermissionSet {
    let sets = texts_at(row, index).into_iter().map(|name| PermissionSet::stored(&name));
    sets.fold(PermissionSet::default(), PermissionSet::with)
}

fn as_role(row: Cells) -> Role {
    Role {
        name: text_at(&row, 0),
        can_login: cell(&row, 1) == Some(&[1]),
        is_superuser: cell(&row, 2) == Some(&[1]),
        member_of: texts_at(&row, 3),
    }
}
