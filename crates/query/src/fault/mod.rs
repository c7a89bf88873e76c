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
pub use schema::fault::Kind;

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
            Fault::Schema(error) => error.kind(),
        }
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
