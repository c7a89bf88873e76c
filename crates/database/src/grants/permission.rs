//! Permissions and sets of them.

/// What may be done to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Permission {
    Create,
    Alter,
    Drop,
    Select,
    Modify,
    Authorize,
    Describe,
    Execute,
    Unmask,
    SelectMasked,
}

impl Permission {
    /// Every permission, in Cassandra's order.
    pub const ALL: [Permission; 10] = [
        Permission::Create,
        Permission::Alter,
        Permission::Drop,
        Permission::Select,
        Permission::Modify,
        Permission::Authorize,
        Permission::Describe,
        Permission::Execute,
        Permission::Unmask,
        Permission::SelectMasked,
    ];

    /// The name in capitals, as stored in `system_auth`.
    pub const fn name(self) -> &'static str {
        match self {
            Permission::Create => "CREATE",
            Permission::Alter => "ALTER",
            Permission::Drop => "DROP",
            Permission::Select => "SELECT",
            Permission::Modify => "MODIFY",
            Permission::Authorize => "AUTHORIZE",
            Permission::Describe => "DESCRIBE",
            Permission::Execute => "EXECUTE",
            Permission::Unmask => "UNMASK",
            Permission::SelectMasked => "SELECT_MASKED",
        }
    }
}

/// A set of permissions; iterates in Cassandra's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PermissionSet(u16);

impl PermissionSet {
    pub const ALL: PermissionSet = PermissionSet::of(&Permission::ALL);

    pub const fn of(permissions: &[Permission]) -> PermissionSet {
        let mut bits = 0;
        let mut at = 0;
        while at < permissions.len() {
            bits |= 1 << permissions[at] as u16;
            at += 1;
        }
        PermissionSet(bits)
    }

    /// What a stored name means; nothing if it is not known.
    pub fn stored(name: &str) -> PermissionSet {
        let known = Permission::ALL.iter().find(|permission| permission.name() == name);
        known.map_or(PermissionSet::default(), |permission| PermissionSet::of(&[*permission]))
    }

    pub fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u16) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn with(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 | other.0)
    }

    pub fn both(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 & other.0)
    }

    pub fn without(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 & !other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |permission| self.contains(*permission))
    }
}

impl std::fmt::Display for PermissionSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.iter().map(Permission::name).collect();
        f.write_str(&names.join(", "))
    }
}
