//! Functions of the query language: what they take, what they give, how they compute.

use crate::context::Ids;
use crate::error::QueryError;
use model::types::DataType;
use std::fmt;
use std::sync::Arc;

/// What a function may look at besides its arguments.
pub struct CallContext<'c> {
    pub now_micros: i64,
    pub ids: &'c dyn Ids,
}

/// Computes one result from wire values; `None` is null.
pub type Body = fn(&Function, &[Option<&[u8]>], &CallContext<'_>) -> Result<Option<Vec<u8>>, QueryError>;

/// One scalar function with its types fixed.
#[derive(Clone)]
pub struct Function {
    /// As it appears in messages and result column names, for example `system.to_json`.
    pub name: Arc<str>,
    pub args: Vec<DataType>,
    pub returns: DataType,
    pub body: Body,
}

impl Function {
    pub fn call(
        &self,
        args: &[Option<&[u8]>],
        context: &CallContext<'_>,
    ) -> Result<Option<Vec<u8>>, QueryError> {
        (self.body)(self, args, context)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:?}) -> {}", self.name, self.args, self.returns)
    }
}
