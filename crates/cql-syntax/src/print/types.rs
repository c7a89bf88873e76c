//! Types.

use std::fmt::{Display, Formatter, Result};

use super::{join, name};
use crate::ast::{DataType, NativeType, TypeKind};
use crate::quote;

impl Display for NativeType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name())
    }
}

impl Display for DataType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            TypeKind::Native(native) => write!(f, "{native}"),
            TypeKind::List(element) => write!(f, "list<{element}>"),
            TypeKind::Set(element) => write!(f, "set<{element}>"),
            TypeKind::Map(key, value) => write!(f, "map<{key}, {value}>"),
            TypeKind::Tuple(elements) => {
                f.write_str("tuple<")?;
                join(f, elements, ", ")?;
                f.write_str(">")
            }
            TypeKind::Vector(element, dimension) => write!(f, "vector<{element}, {dimension}>"),
            TypeKind::Frozen(inner) => write!(f, "frozen<{inner}>"),
            TypeKind::User(user) => name::user_type(f, user),
            TypeKind::Custom(class) => f.write_str(&quote::string(class)),
        }
    }
}
