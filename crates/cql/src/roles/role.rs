//! CREATE, ALTER and DROP of roles; identities.
//!
//! As in Cassandra, whether the asker may do it is decided before whether it makes sense.

use super::Asked;
use super::bind::{AlterRole, CreateRole, Options};
use super::list;
use super::tables::{Role, Write, text_set};
use crate::CqlError;
use cql_syntax::ast::{AddIdentity, DropIdentity};
use database::grants::{Permission, Resource};
use query::Rows;
use store::Store;

/// bcrypt looks at no more of a password.
const PASSWORD_BYTES_MAX: usize = 72;

/// The highest cost of a hash that is given ready-made: about a second per login. More would let a role's owner
/// occupy the server with every attempt to log in.
const HASH_COST_MAX: u32 = 14;

fn unauthorized(text: &str) -> CqlError {
    CqlError::Unauthorized(text.into())
}

/// Longest name of a role.
const NAME_BYTES_MAX: usize = 255;

/// Length of a password that the server makes: 24 letters of 64 are more than bcrypt's salt has.
pub const GENERATED_LETTERS: usize = 24;

/// What such a password is made of; 64, so that every random byte stands for one without favour.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(super) async fn create<S: Store>(
    asked: &Asked<'_, S>,
    create: &CreateRole,
) -> Result<Option<Rows>, CqlError> {
    let options = &create.options;
    if let Some(grants) = &asked.grants {
        grants.require_on_roles(Permission::Create, &Resource::Roles)?;
    }
    if options.superuser == Some(true) && !asked.is_superuser() {
        return Err(unauthorized("Only superusers can create a role with superuser status"));
    }
    options.check(asked)?;
    if create.name.is_empty() {
        return Err(CqlError::invalid("Role name can't be an empty string"));
    }
    // The name is part of the keys of several tables, some of them longer: refused before any of them is written.
    if create.name.len() > NAME_BYTES_MAX {
        return Err(CqlError::invalid(format!(
            "A role name may have at most {NAME_BYTES_MAX} bytes, this one has {}",
            create.name.len()
        )));
    }
    let creator = asked.grants()?.role.to_string();
    let exists = || CqlError::invalid(format!("{} already exists", create.name));
    if asked.tables.role(&create.name).await?.is_some() {
        return if create.if_not_exists { Ok(None) } else { Err(exists()) };
    }
    let role = Role {
        name: create.name.clone(),
        can_login: options.login.unwrap_or(false),
        is_superuser: options.superuser.unwrap_or(false),
        member_of: Vec::new(),
    };
    let generated = options.generate(asked)?;
    let hash = options.hash(asked, generated.as_deref()).await?;
    // Somebody may have created it while the password was hashed.
    if !asked.tables.create(&role, hash).await? {
        return if create.if_not_exists { Ok(None) } else { Err(exists()) };
    }
    let resource = Resource::Role(create.name.clone());
    asked.tables.write(super::permissions::granting(&creator, &resource, resource.applicable())).await?;
    Ok(generated.map(|password| list::generated(&password)))
}

pub(super) async fn alter<S: Store>(
    asked: &Asked<'_, S>,
    alter: &AlterRole,
) -> Result<Option<Rows>, CqlError> {
    let options = &alter.options;
    may_alter(asked, alter)?;
    options.check(asked)?;
    if options.is_empty() {
        return Err(CqlError::invalid("ALTER [ROLE|USER] can't be empty"));
    }
    asked.grants()?;
    if asked.tables.role(&alter.name).await?.is_none() {
        return match alter.if_exists {
            true => Ok(None),
            false => Err(CqlError::invalid(format!("Role {} doesn't exist", alter.name))),
        };
    }
    if options.datacenters.is_some() {
        let text = "ACCESS TO DATACENTERS operations not supported by AllowAllNetworkAuthorizer";
        return Err(CqlError::invalid(text));
    }
    let flag = |value: bool| Some(vec![u8::from(value)]);
    let mut writes = Vec::new();
    if let Some(superuser) = options.superuser {
        let text = "UPDATE system_auth.roles SET is_superuser = ? WHERE role = ?";
        writes.push(Write::new(text, &[&alter.name]).first(flag(superuser)));
    }
    if let Some(login) = options.login {
        let text = "UPDATE system_auth.roles SET can_login = ? WHERE role = ?";
        writes.push(Write::new(text, &[&alter.name]).first(flag(login)));
    }
    let generated = options.generate(asked)?;
    if let Some(hash) = options.hash(asked, generated.as_deref()).await? {
        let text = "UPDATE system_auth.roles SET salted_hash = ? WHERE role = ?";
        writes.push(Write::new(text, &[&hash, &alter.name]));
    }
    asked.tables.write(writes).await?;
    Ok(generated.map(|password| list::generated(&password)))
}

fn may_alter<S: Store>(asked: &Asked<'_, S>, alter: &AlterRole) -> Result<(), CqlError> {
    let options = &alter.options;
    let is_own = |name| asked.grants.as_ref().is_some_and(|grants| grants.roles.contains(name));
    if options.superuser.is_some() && is_own(&alter.name) {
        return Err(unauthorized(
            "You aren't allowed to alter your own superuser status or that of a role granted to you",
        ));
    }
    if asked.is_superuser() {
        return Ok(());
    }
    if options.superuser.is_some() {
        return Err(unauthorized("Only superusers are allowed to alter superuser status"));
    }
    if options.datacenters.is_some() {
        return Err(unauthorized("Only superusers are allowed to alter access to datacenters."));
    }
    if options.cidrs.is_some() {
        return Err(unauthorized("Only superusers are allowed to alter access from CIDR groups."));
    }
    let Some(grants) = &asked.grants else { return Ok(()) };
    if *grants.role != *alter.name {
        return Ok(grants.require_on_roles(Permission::Alter, &Resource::Role(alter.name.clone()))?);
    }
    // Of itself a role may change the password only.
    match (options.login.is_some(), options.custom) {
        (true, _) => Err(unauthorized("You aren't allowed to alter LOGIN")),
        (_, true) => Err(unauthorized("You aren't allowed to alter OPTIONS")),
        _ => Ok(()),
    }
}

impl Options {
    fn is_empty(&self) -> bool {
        let Options {
            password,
            hashed_password,
            generated_password,
            superuser,
            login,
            custom,
            datacenters,
            cidrs,
        } = self;
        password.is_none()
            && !generated_password
            && hashed_password.is_none()
            && superuser.is_none()
            && login.is_none()
            && !custom
            && datacenters.is_none()
            && cidrs.is_none()
    }

    /// Whether the values make sense, apart from who asks.
    fn check<S: Store>(&self, asked: &Asked<'_, S>) -> Result<(), CqlError> {
        let unsupported = match self {
            Options { custom: true, .. } => Some("OPTIONS"),
            // Nobody logs in, so there are no passwords.
            Options { password: Some(_), .. } if asked.grants.is_none() => Some("PASSWORD"),
            Options { hashed_password: Some(_), .. } if asked.grants.is_none() => Some("HASHED_PASSWORD"),
            Options { generated_password: true, .. } if asked.grants.is_none() => Some("GENERATED_PASSWORD"),
            _ => None,
        };
        if let Some(option) = unsupported {
            // The sentence of Cassandra's own role manager.
            let text = format!("org.apache.cassandra.auth.CassandraRoleManager doesn't support {option}");
            return Err(CqlError::Invalid(text));
        }
        if self.hashed_password.as_ref().is_some_and(|hash| !is_hash(&hash.0)) {
            return Err(CqlError::invalid("Invalid hashed password value. Please use jBcrypt."));
        }
        let here = asked.dialect.shared.data_center();
        let elsewhere = |name: &&String| name.as_str() != here;
        if self.datacenters.iter().flatten().any(|name| elsewhere(&name)) {
            let names: Vec<&str> =
                self.datacenters.iter().flatten().filter(elsewhere).map(String::as_str).collect();
            return Err(CqlError::invalid(format!(
                "Invalid value(s) for DATACENTERS '[{}]',All values must be valid datacenters",
                names.join(", ")
            )));
        }
        if let Some(groups) = self.cidrs.as_ref().filter(|groups| !groups.is_empty()) {
            return Err(CqlError::invalid(format!(
                "Invalid CIDR group(s): [{}]. Available CIDR Groups are: []",
                groups.join(", ")
            )));
        }
        Ok(())
    }

    /// A password, if the server is to make one.
    fn generate<S: Store>(&self, asked: &Asked<'_, S>) -> Result<Option<String>, CqlError> {
        if !self.generated_password {
            return Ok(None);
        }
        let bytes = asked.dialect.passwords.random()?;
        let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
        Ok(Some(bytes.iter().map(letter).collect()))
    }

    /// The hash to store, if the statement says anything about the password.
    async fn hash<S: Store>(
        &self,
        asked: &Asked<'_, S>,
        generated: Option<&str>,
    ) -> Result<Option<String>, CqlError> {
        if let Some(password) = generated {
            return asked.dialect.passwords.hash(password.to_string()).await.map(Some);
        }
        if let Some(hash) = &self.hashed_password {
            return Ok(Some(hash.0.clone()));
        }
        let Some(password) = &self.password else { return Ok(None) };
        if password.0.len() > PASSWORD_BYTES_MAX {
            let text = format!("Only the first {PASSWORD_BYTES_MAX} bytes of the password count");
            asked.ctx.warn(text);
        }
        asked.dialect.passwords.hash(password.0.clone()).await.map(Some)
    }
}

/// Whether this is a bcrypt hash that a login can be checked against: `$2a$10$`, 22 characters of salt, 31 of hash.
fn is_hash(text: &str) -> bool {
    let mut parts = text.split('$');
    let (empty, version, cost, rest) = (parts.next(), parts.next(), parts.next(), parts.next());
    let cost_fits = |cost: &str| {
        cost.len() == 2 && cost.parse::<u32>().is_ok_and(|cost| (4..=HASH_COST_MAX).contains(&cost))
    };
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '/';
    parts.next().is_none()
        && empty == Some("")
        && version.is_some_and(|version| matches!(version, "2a" | "2b" | "2y"))
        && cost.is_some_and(cost_fits)
        && rest.is_some_and(|rest| rest.len() == 53 && rest.chars().all(letter))
}

pub(super) async fn drop<S: Store>(
    asked: &Asked<'_, S>,
    name: &str,
    if_exists: bool,
) -> Result<(), CqlError> {
    let itself = Resource::Role(name.to_string());
    let found = asked.tables.role(name).await?;
    if let Some(grants) = &asked.grants {
        grants.require_on_roles(Permission::Drop, &itself)?;
    }
    if found.is_some() && !asked.is_superuser() {
        let roles = asked.tables.with_parents(name, true).await?;
        if roles.values().any(|role| role.is_superuser) {
            return Err(unauthorized("Only superusers can drop a role with superuser status"));
        }
    }
    let asker = asked.grants()?;
    let role = match found {
        Some(role) => role,
        None if if_exists => return Ok(()),
        None => return Err(CqlError::invalid(format!("{name} doesn't exist"))),
    };
    if *asker.role == *name {
        return Err(CqlError::invalid("Cannot DROP primary role for current login"));
    }
    let tables = &asked.tables;
    let mut writes = super::permissions::revoking_all_on(tables, &itself).await?;
    for (resource, _) in tables.permissions(name).await? {
        let text = "DELETE FROM system_auth.resource_role_permissons_index WHERE resource = ? AND role = ?";
        writes.push(Write::new(text, &[&resource, name]));
    }
    writes.push(Write::new("DELETE FROM system_auth.role_permissions WHERE role = ?", &[name]));
    for member in tables.members(name).await? {
        let text = "UPDATE system_auth.roles SET member_of = member_of - ? WHERE role = ?";
        writes.push(Write::new(text, &[&member]).first(text_set([name])));
    }
    writes.push(Write::new("DELETE FROM system_auth.role_members WHERE role = ?", &[name]));
    for parent in &role.member_of {
        let text = "DELETE FROM system_auth.role_members WHERE role = ? AND member = ?";
        writes.push(Write::new(text, &[parent, name]));
    }
    for identity in tables.identities_of(name).await? {
        writes.push(Write::new("DELETE FROM system_auth.identity_to_role WHERE identity = ?", &[&identity]));
    }
    for key in tables.access_keys_of(name).await? {
        writes.push(Write::new("DELETE FROM system_auth.access_keys WHERE access_key = ?", &[&key]));
    }
    // Last: should a crash fall between two commits, the role is still there to be dropped again.
    writes.push(Write::new("DELETE FROM system_auth.roles WHERE role = ?", &[name]));
    tables.write(writes).await
}

/// Identities are kept for tools; logging in by certificate is not supported, as with Cassandra's password logins.
pub(super) async fn add_identity<S: Store>(asked: &Asked<'_, S>, add: &AddIdentity) -> Result<(), CqlError> {
    if let Some(grants) = &asked.grants {
        grants.require_on_roles(Permission::Create, &Resource::Roles)?;
    }
    asked.grants()?;
    let (identity, role) = (&add.identity.value, &add.role.value);
    if asked.tables.role(role).await?.is_none() {
        return Err(CqlError::invalid(format!("Can not add identity for non-existent role '{role}'")));
    }
    if asked.tables.identity(identity).await?.is_some() {
        return match add.if_not_exists {
            true => Ok(()),
            false => Err(CqlError::invalid(format!("{identity} already exists"))),
        };
    }
    let text = "INSERT INTO system_auth.identity_to_role (identity, role) VALUES (?, ?)";
    asked.tables.write(vec![Write::new(text, &[identity, role])]).await
}

pub(super) async fn drop_identity<S: Store>(
    asked: &Asked<'_, S>,
    drop: &DropIdentity,
) -> Result<(), CqlError> {
    if let Some(grants) = &asked.grants {
        grants.require_on_roles(Permission::Drop, &Resource::Roles)?;
    }
    asked.grants()?;
    let identity = &drop.identity.value;
    if asked.tables.identity(identity).await?.is_none() {
        return match drop.if_exists {
            true => Ok(()),
            false => Err(CqlError::invalid(format!("identity '{identity}' doesn't exist"))),
        };
    }
    let text = "DELETE FROM system_auth.identity_to_role WHERE identity = ?";
    asked.tables.write(vec![Write::new(text, &[identity])]).await
}

#[cfg(test)]
mod tests {
    use super::is_hash;

    #[test]
    fn hashes_are_recognised() {
        let good = "$2a$10$JSJEMFm6GeaW9XxT5JIheuEtPvat6i7uKbnTcxX3c1wshIIsGyUtG";
        assert!(is_hash(good));
        assert!(is_hash(&good.replace("2a", "2b")));
        let wrong = [
            good.replace("2a", "2z"),
            good.replace("$10$", "$17$"),
            good.replace("$10$", "$03$"),
            good.replace("$10$", "$1$"),
            good.replace("JSJ", "J*J"),
            good[..59].to_string(),
            format!("{good}x"),
            format!("{good}$"),
            "plain".to_string(),
            String::new(),
        ];
        for text in wrong {
            assert!(!is_hash(&text), "{text}");
        }
    }
}
