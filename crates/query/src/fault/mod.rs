//! Why a statement cannot be done: facts, sorted by topic, without words for any client.
//!
//! A dialect matches the variants for which it has words of its own, and falls back on [`Kind`] for the others. Errors of a store
//! ([`store::StoreError`]) stay beside these in [`crate::QueryError`].

mod access;
mod bucket;
mod condition;
mod foreign;
mod function;
mod job;
mod key;
mod read;
mod restriction;
mod value;
mod write;

pub use access::AccessFault;
pub use bucket::BucketFault;
pub use condition::ConditionFault;
pub use foreign::ForeignFault;
pub use function::FunctionFault;
pub use job::JobFault;
pub use key::KeyFault;
pub use read::ReadFault;
pub use restriction::RestrictionFault;
pub use value::{NullIn, UnsetIn, ValueFault};
pub use write::WriteFault;

use schema::SchemaError;

/// What the caller must do next, whatever the facts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ask in another way: the statement or its values break a rule.
    Invalid,
    /// Ask for less at a time.
    TooLarge,
    /// Create it first, or look for the right name.
    NotFound,
    /// It is there already.
    AlreadyExists,
    /// A setting has a value that makes no sense.
    Misconfigured,
    /// The words themselves are wrong.
    Syntax,
    /// Bytes that only this server makes were changed on the way, such as a paging state.
    Malformed,
    /// A function failed on its arguments.
    FunctionFailed,
    /// Somebody else may, this role may not.
    Unauthorized,
    /// The same may succeed later.
    Overloaded,
    /// Nobody can read it: an operator must look.
    Corrupt,
    /// Nobody can tell whether it was done; look before asking again.
    Unknown,
    /// The server is not in a state to do this, and says why in its log.
    Unavailable,
}

/// One refusal. Each topic has a type of its own, so that a function says in its signature what can be wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    Key(KeyFault),
    Value(ValueFault),
    Function(FunctionFault),
    Restriction(RestrictionFault),
    Read(ReadFault),
    Write(WriteFault),
    Condition(ConditionFault),
    Bucket(BucketFault),
    Access(AccessFault),
    Job(JobFault),
    Foreign(ForeignFault),
    Schema(SchemaError),
}

impl Fault {
    pub fn kind(&self) -> Kind {
        match self {
            Fault::Key(fault) => fault.kind(),
            Fault::Value(_) | Fault::Condition(_) => Kind::Invalid,
            Fault::Function(fault) => fault.kind(),
            Fault::Restriction(fault) => fault.kind(),
            Fault::Read(fault) => fault.kind(),
            Fault::Write(fault) => fault.kind(),
            Fault::Bucket(fault) => fault.kind(),
            Fault::Access(fault) => fault.kind(),
            Fault::Job(fault) => fault.kind(),
            Fault::Foreign(fault) => fault.kind(),
            Fault::Schema(error) => schema_kind(error),
        }
    }
}

fn schema_kind(error: &SchemaError) -> Kind {
    match error {
        SchemaError::KeyspaceExists(_)
        | SchemaError::TableExists { .. }
        | SchemaError::TypeExists { .. }
        | SchemaError::PatternExists { .. } => Kind::AlreadyExists,
        SchemaError::KeyspaceMissing(_)
        | SchemaError::TableMissing { .. }
        | SchemaError::TypeMissing { .. }
        | SchemaError::PatternMissing { .. } => Kind::NotFound,
        SchemaError::Invalid(_) => Kind::Invalid,
        SchemaError::Config(_) => Kind::Misconfigured,
        SchemaError::Syntax(_) => Kind::Syntax,
        SchemaError::Unauthorized(_) => Kind::Unauthorized,
        SchemaError::Damaged(_) => Kind::Corrupt,
    }
}

macro_rules! from_topics {
    ($($topic:ident($fault:ty)),+ $(,)?) => {$(
        impl From<$fault> for Fault {
            fn from(fault: $fault) -> Fault {
                Fault::$topic(fault)
            }
        }

        impl From<$fault> for crate::QueryError {
            #[cold]
            fn from(fault: $fault) -> crate::QueryError {
                crate::QueryError::Fault(Box::new(Fault::$topic(fault)))
            }
        }
    )+};
}

from_topics!(
    Key(KeyFault),
    Value(ValueFault),
    Function(FunctionFault),
    Restriction(RestrictionFault),
    Read(ReadFault),
    Write(WriteFault),
    Condition(ConditionFault),
    Bucket(BucketFault),
    Access(AccessFault),
    Job(JobFault),
    Foreign(ForeignFault),
    Schema(SchemaError),
);
