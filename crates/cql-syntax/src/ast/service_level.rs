//! ScyllaDB's statements on service levels.

use super::name::Ident;
use super::property::Property;

/// `CREATE SERVICE LEVEL ...` and the like; the two words may be one, `SERVICE_LEVEL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceLevel {
    /// `CREATE SERVICE LEVEL [IF NOT EXISTS] name [WITH ...]`
    Create { if_not_exists: bool, name: Ident, properties: Vec<Property> },
    /// `ALTER SERVICE LEVEL name [WITH ...]`
    Alter { name: Ident, properties: Vec<Property> },
    /// `DROP SERVICE LEVEL [IF EXISTS] name`
    Drop { if_exists: bool, name: Ident },
    /// `ATTACH SERVICE LEVEL name TO role`
    Attach { name: Ident, role: Ident },
    /// `DETACH SERVICE LEVEL FROM role`
    Detach { role: Ident },
    /// `LIST SERVICE LEVEL name`, or without one `LIST ALL SERVICE LEVELS`
    List(Option<Ident>),
    /// `LIST ATTACHED SERVICE LEVEL OF role`, or without one `LIST ALL ATTACHED SERVICE LEVELS`
    ListAttached(Option<Ident>),
    /// `LIST EFFECTIVE SERVICE LEVEL OF role`
    ListEffective(Ident),
}
